"""Judging settings on seeds: parts of the seeds are held back in turn, and it is counted which pairs are found."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from multiea.api import align
from multiea.data.groups import Groups
from multiea.data.task import Task, order_by_names
from multiea.evaluation.comparison import f1_difference
from multiea.foundation import progress
from multiea.foundation.errors import InputError, SettingError, counted
from multiea.grouping.judging import pairs_by_group
from multiea.settings.data import Data
from multiea.settings.tree import AlignSettings

FEWEST_SEEDS = 20
PARTS = 5
TRIAL_PARTS = (0, 1, 2)  # they judge every trial
LAST_PARTS = (3, 4)  # no trial is judged by them: in the end they judge the best trial and the defaults
ONE_STANDARD_ERROR = 0.6827  # the share of a normal distribution within one standard error
Counts = NDArray[np.float64]  # of each group that was held back its right, judged and known pairs, (groups, 3)


@dataclass(frozen=True)
class Difference:
    """The pair F1 of the best trial and of the defaults on seeds that no trial was judged by.

    standard_error: of the difference, by a paired bootstrap over these seeds.
    """

    default_f1: float
    best_f1: float
    standard_error: float
    groups: int

    @property
    def difference(self) -> float:
        """How much better the best trial is."""
        return self.best_f1 - self.default_f1

    @property
    def is_better(self) -> bool:
        """Whether the best trial is better by more than the standard error."""
        return self.difference > self.standard_error

    @classmethod
    def between(cls, default: Counts, best: Counts, random_state: int) -> Difference:
        """The difference of two settings that were judged by the same seeds."""
        interval = f1_difference(default, best, level=ONE_STANDARD_ERROR, random_state=random_state)
        return cls(pair_f1(default), pair_f1(best), (interval.high - interval.low) / 2, len(default))


class SeedParts:
    """The seeds of a task in parts; held-out groups are dropped and can have no influence."""

    def __init__(self, task: Task, random_state: int) -> None:
        self._task = without_held_out(task)
        order = order_by_names(task.seeds, task.kgs)
        order = order[np.random.default_rng(random_state).permutation(len(order))]
        self._parts = [np.sort(part) for part in np.array_split(order, PARTS)]

    def count(
        self,
        settings: AlignSettings,
        parts: Sequence[int],
        advance: progress.Advance,
        note: str,
        *,
        warns: bool = False,
    ) -> Counts:
        """Aligns once for each part, learning from all other seeds, and counts the pairs of the part that are found."""
        settings = replace(settings, data=Data())
        with _few_warnings(warns=warns):
            return np.concatenate([self._count_one(settings, part, advance, note) for part in parts])

    def _count_one(self, settings: AlignSettings, part: int, advance: progress.Advance, note: str) -> Counts:
        is_held_back = np.zeros(len(self._task.seeds), dtype=bool)
        is_held_back[self._parts[part]] = True
        judged, learned = self._task.seeds.take(is_held_back), self._task.seeds.take(~is_held_back)
        task = Task(self._task.kgs, learned, judged, self._task.validation, name=self._task.name)
        with progress.shown_by(None):  # the study has a progress of its own
            found = _found(task, settings)
        advance(1, note)
        return pairs_by_group(found, judged)


def without_held_out(task: Task) -> Task:
    """The task as tuning sees it."""
    return Task(task.kgs, task.seeds, None, task.validation, name=task.name)


def pair_f1(counts: Counts) -> float:
    """The F1 of pairs: twice the right ones over the judged and the known ones."""
    right, judged, known = counts.sum(axis=0)
    return float(2 * right / max(judged + known, 1))


def check_can_be_tuned(task: Task) -> None:
    """Refuses a task that has too few seeds, or that a KG was added to."""
    if len(task.open_seeds) or task.origin.data.grown_from is not None:
        raise SettingError("settings cannot be tuned where a KG is added to a run; tune them on a whole data set")
    if len(task.seeds) < FEWEST_SEEDS:
        raise InputError(
            f"'{task.name}' has {counted(len(task.seeds), 'seed')}",
            expected=f"at least {FEWEST_SEEDS} seeds to tune by",
            hint="Add known groups (seeds.tsv, or --seeds FILE), raise --train-ratio where groups are split, or align "
            "with the defaults",
        )


@contextmanager
def _few_warnings(*, warns: bool) -> Iterator[None]:
    """Each warning about the defaults once, as every part of the seeds gives it; none about what is tried.

    Numbers in a warning may differ from part to part.
    """
    seen = set[str]()

    def is_new(record: logging.LogRecord) -> bool:
        message = record.getMessage()
        words = re.sub(r"[\d.,%]+", "", message)
        is_repeated = words in seen
        seen.add(words)
        record.msg, record.args = f"with the settings of trial 0: {message}", ()
        return warns and not is_repeated

    log = logging.getLogger("multiea")
    log.addFilter(is_new)
    try:
        yield
    finally:
        log.removeFilter(is_new)


def _found(task: Task, settings: AlignSettings) -> Groups:
    alignment = align(task, settings)
    if alignment.history.get("interrupted"):  # Ctrl-C ends training early; here it must end the study
        raise KeyboardInterrupt
    return alignment.found.groups
