"""tune: tries settings on validation seeds, and says whether the best are better than the defaults."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from multiea.api import recorded_data, settings_with
from multiea.data.task import Task
from multiea.foundation import progress
from multiea.foundation.errors import MultiEAError, SettingError, check_kind, path_of, resolve
from multiea.settings.tree import SCHEMA, AlignSettings
from multiea.tuning.default_search import default_search
from multiea.tuning.judging import (
    LAST_PARTS,
    TRIAL_PARTS,
    Counts,
    Difference,
    SeedParts,
    check_can_be_tuned,
    without_held_out,
)
from multiea.tuning.search_space import SearchSpace, read_search_file, search_space, value_of, with_values
from multiea.tuning.study_folder import check_study_folder, study_folder, write_best, write_trials
from multiea.tuning.trials import NextTrial, Trial, Trials, open_trials, require_optuna
from multiea.tuning.tuning import Tuning, trial_table

DEFAULT_TRIALS = 30
NOT_JUDGED = "Not compared with the defaults yet: tuning was not finished."


def tune(
    task: Task,
    settings: AlignSettings | None = None,
    *,
    trials: int = DEFAULT_TRIALS,
    out: str | Path | None = None,
    search: Mapping[str, Any] | str | Path | None = None,
    keep: Collection[str] = (),
    **shortcuts: Any,
) -> Tuning:
    """Searches settings with a high F1 of pairs on validation seeds; needs the extra `tune`.

    The seeds are in five parts. Three of them are held back in turn and judge every trial; the last two judge the best
    trial and the defaults once more. Held-out groups are never used. Trial 0 has the given settings.

    settings, shortcuts: as in `align`. trials: their number in all. out: a study folder; one of the same data and
    settings is continued. search: what to search instead of the default search space, as a file or as in
    {"propagation.hops": {"low": 1, "high": 3}, "enhancement.weights": {"choices": [[0.3, 0.7], [0.5, 0.5]]}}.
    keep: settings of the default search space that stay as they are.

    >>> multiea.tune(multiea.load("world"), trials=10, out="study").recommended  # doctest: +SKIP
    """
    require_optuna()
    check_kind(task, Task, "task", "a Task", "multiea.load reads one from files or tables")
    if isinstance(trials, bool) or not isinstance(trials, int) or trials < 1:
        raise SettingError(f"trials must be a whole number of at least 1, got {trials!r}")
    folder = None if out is None else path_of(out, "a study folder")
    if folder is not None:
        check_study_folder(folder)
    settings = settings_with(settings, shortcuts)
    check_can_be_tuned(task)
    space = _space(task, settings, search, keep)
    settings = replace(settings, data=recorded_data(task, settings.random_state, settings.data.previous))
    task = without_held_out(task)
    with _opened(folder, task, settings, space) as opened:
        return _Search(task, settings, space, opened, folder).run(trials)


def _space(
    task: Task, settings: AlignSettings, search: Mapping[str, Any] | str | Path | None, keep: Collection[str]
) -> SearchSpace:
    for name in keep:
        resolve(name, dict.fromkeys(SCHEMA.keys), what="setting to keep")
    if search is None:
        return default_search(settings, task, keep)
    if isinstance(search, Mapping):
        space = search_space(search, settings)
    else:
        file = path_of(search, "search")
        space = search_space(read_search_file(file), settings, f"{file}: {{}}".format)
    if both := [name for name in keep if name in space]:
        raise SettingError(f"{both[0]} is given and also searched; remove one of the two")
    return space


@contextmanager
def _opened(folder: Path | None, task: Task, settings: AlignSettings, space: SearchSpace) -> Iterator[Trials]:
    """The trials of a study folder, or new ones in memory."""
    if folder is None:
        with open_trials(None, space, settings.random_state) as trials:
            yield trials
        return
    with study_folder(folder, task, settings, space) as file, open_trials(file, space, settings.random_state) as trials:
        trials.forget_interrupted()
        yield trials


class _Search:
    """Runs trials one after the other; files in the study folder follow each of them."""

    def __init__(
        self, task: Task, settings: AlignSettings, space: SearchSpace, trials: Trials, folder: Path | None
    ) -> None:
        self._settings, self._space, self._trials, self._folder = settings, space, trials, folder
        self._parts = SeedParts(task, settings.random_state)
        self._first = {name: value_of(settings, name) for name in space}

    def run(self, count: int) -> Tuning:
        """Runs trials until there are so many, then judges the best of them once more."""
        finished = self._trials.finished()
        with progress.stage("tuning", max(0, count - len(finished)) * len(TRIAL_PARTS)) as advance:
            while len(finished) < count:
                note = self._note(finished, count)
                if finished:
                    self._run_next(finished, advance, note)
                else:
                    self._run_first(advance, note)
                finished = self._trials.finished()
                self._write(self._result(finished, None), NOT_JUDGED)
        result = self._result(finished, self._difference(finished))
        self._write(result, result.verdict())
        return result

    def _run_first(self, advance: progress.Advance, note: str) -> None:
        start = time.perf_counter()
        counts = self._parts.count(self._settings, TRIAL_PARTS, advance, note, warns=True)
        self._trials.add_first(self._first, time.perf_counter() - start, counts)

    def _run_next(self, finished: list[Trial], advance: progress.Advance, note: str) -> None:
        with self._trials.next() as trial:
            start = time.perf_counter()
            same = next((one for one in finished if self._values(one) == trial.values), None)
            if same is not None:  # in a small search space the same is proposed again
                trial.counts, trial.error = same.counts, same.error
                advance(len(TRIAL_PARTS), note)
            else:
                self._align(trial, advance, note)
            trial.seconds = time.perf_counter() - start

    def _align(self, trial: NextTrial, advance: progress.Advance, note: str) -> None:
        try:
            settings = with_values(self._settings, trial.values)
            trial.counts = self._parts.count(settings, TRIAL_PARTS, advance, note)
        except MultiEAError as error:  # values that are valid alone may not be so together
            trial.error = str(error)

    def _difference(self, finished: list[Trial]) -> Difference | None:
        """The best trial and the defaults on the last parts of the seeds; None where the defaults are best."""
        best = _best(finished)
        if best is finished[0]:
            return None
        with progress.stage("comparing the best trial with the defaults", 2 * len(LAST_PARTS)) as advance:
            default, own = (self._counts_again(one, advance) for one in (finished[0], best))
        return Difference.between(default, own, self._settings.random_state)

    def _counts_again(self, trial: Trial, advance: progress.Advance) -> Counts:
        counts = self._trials.counts_again(trial.number)
        if counts is None:
            settings = with_values(self._settings, self._values(trial))
            counts = self._parts.count(settings, LAST_PARTS, advance, f"trial {trial.number}")
            self._trials.keep_counts_again(trial.number, counts)
        return counts

    def _values(self, trial: Trial) -> dict[str, Any]:
        return self._first | dict(trial.values)

    def _result(self, finished: list[Trial], difference: Difference | None) -> Tuning:
        best = _best(finished)
        settings = with_values(self._settings, self._values(best))
        table = trial_table(finished, self._settings, self._space)
        return Tuning(settings, table, self._settings, best.number, difference)

    def _write(self, result: Tuning, verdict: str) -> None:
        if self._folder is not None:
            write_trials(self._folder, result.trials)
            count, best, default = result.trials.height, result.best_value, result.default_value
            score = f"Trial {result.best_trial}, best of {count:,}: pair F1 {best:.3f} on validation seeds; "
            score += f"the defaults have {default:.3f}."
            write_best(self._folder, result.best, f"{score}\n{verdict}")

    def _note(self, finished: list[Trial], count: int) -> str:
        note = f"trial {len(finished) + 1} of {count}"
        if finished:
            note += f", best {_best(finished).f1:.3f}, defaults {finished[0].f1:.3f}"
        return note


def _best(trials: list[Trial]) -> Trial:
    """The trial with the highest F1, the first of equal ones."""
    return max(trials, key=lambda one: -1.0 if one.f1 is None else one.f1)
