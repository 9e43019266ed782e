"""The trials of a study in optuna's storage: SQLite in a study folder, or memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from multiea.foundation.errors import InputError, MultiEAError, OutputError
from multiea.settings.parsing import toml_value
from multiea.tuning.judging import Counts, pair_f1
from multiea.tuning.search_space import Choices, Range, SearchSpace

if TYPE_CHECKING:
    from optuna import Study
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

NAME = "multiea"
RANDOM_TRIALS = 8  # so many are drawn at random before the others are drawn where scores are high
COUNTS, SECONDS, ERROR, AGAIN = "counts", "seconds", "error", "judged again"  # attributes of trials and studies


@dataclass(frozen=True)
class Trial:
    """A finished trial. values: of the settings that are searched. counts: None where it failed, with the error."""

    number: int
    values: Mapping[str, Any]
    seconds: float
    counts: Counts | None = field(default=None, compare=False)
    error: str | None = None

    @property
    def f1(self) -> float | None:
        """Its pair F1 on validation seeds."""
        return None if self.counts is None else pair_f1(self.counts)


def require_optuna() -> None:
    """Raises an error that says how to install optuna where it is missing."""
    if find_spec("optuna") is None:
        raise MultiEAError("tuning needs the extra 'tune', which is not installed: pip install 'multiea[tune]'")


@contextmanager
def open_trials(file: Path | None, space: SearchSpace, random_state: int) -> Iterator[Trials]:
    """The trials of an SQLite file, which may be new; without one, trials in memory."""
    import optuna  # deferred: an extra
    from sqlalchemy.engine import URL
    from sqlalchemy.exc import SQLAlchemyError

    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    storage: Any = None
    try:
        if file is None:
            storage = optuna.storages.InMemoryStorage()
        else:
            _check_is_sqlite(file)
            url = URL.create("sqlite", database=str(file.absolute())).render_as_string()
            storage = optuna.storages.RDBStorage(url)
        study = optuna.create_study(storage=storage, study_name=NAME, direction="maximize", load_if_exists=True)
        yield Trials(study, space, random_state)
    except (SQLAlchemyError, optuna.exceptions.StorageInternalError) as error:
        cause = error.__cause__ if isinstance(error, optuna.exceptions.StorageInternalError) else error
        raise OutputError(f"{file}: cannot be used: {getattr(cause, 'orig', None) or cause}") from None
    finally:
        optuna.logging.set_verbosity(verbosity)
        if storage is not None and file is not None:
            storage.remove_session()
            storage.engine.dispose()


class Trials:
    """What was tried so far, and what to try next."""

    def __init__(self, study: Study, space: SearchSpace, random_state: int) -> None:
        self._study, self._space, self._random_state = study, space, random_state
        self._distributions = {name: _distribution(domain) for name, domain in space.items()}

    def finished(self) -> list[Trial]:
        """All trials that ended, numbered in order; what was interrupted is no trial and has no number."""
        ended = filter(_has_ended, self._study.get_trials(deepcopy=False))
        return [self._finished(number, one) for number, one in enumerate(ended)]

    def forget_interrupted(self) -> None:
        """Closes trials that an earlier process could not end."""
        from optuna.trial import TrialState  # deferred: an extra

        for one in self._study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            self._study.tell(one.number, state=TrialState.FAIL)

    def add_first(self, values: Mapping[str, Any], seconds: float, counts: Counts) -> None:
        """Adds the trial of the given settings; values outside the search space are left out."""
        from optuna.trial import create_trial  # deferred: an extra

        inside = {name: value for name, value in values.items() if self._space[name].contains(value)}
        trial = create_trial(
            value=pair_f1(counts),
            params={name: _stored(value, self._space[name]) for name, value in inside.items()},
            distributions={name: self._distributions[name] for name in inside},
            user_attrs={COUNTS: counts.tolist(), SECONDS: seconds},
        )
        self._study.add_trial(trial)

    @contextmanager
    def next(self) -> Iterator[NextTrial]:
        """The next trial; it ends with the context, and is forgotten if that is left by an interruption."""
        import optuna  # deferred: an extra

        # A sampler of its own for each trial: a study that was interrupted goes on as if it had not been.
        words = np.random.SeedSequence([self._random_state, len(self.finished())]).generate_state(1)
        self._study.sampler = optuna.samplers.TPESampler(seed=int(words[0]), n_startup_trials=RANDOM_TRIALS)
        asked = self._study.ask(self._distributions)
        values = {name: _given(asked.params[name], domain) for name, domain in self._space.items()}
        trial = NextTrial(values)
        try:
            yield trial
            asked.set_user_attr(SECONDS, trial.seconds)
            if trial.counts is None:
                asked.set_user_attr(ERROR, trial.error)
                self._study.tell(asked, state=optuna.trial.TrialState.FAIL)
            else:
                asked.set_user_attr(COUNTS, trial.counts.tolist())
                self._study.tell(asked, pair_f1(trial.counts))
        except BaseException:
            self.forget_interrupted()
            raise

    def counts_again(self, number: int) -> Counts | None:
        """What the last parts of the seeds said about a trial, where they were asked already."""
        counts = self._study.user_attrs.get(f"{AGAIN} {number}")
        return None if counts is None else np.array(counts)

    def keep_counts_again(self, number: int, counts: Counts) -> None:
        """Keeps what the last parts of the seeds say about a trial."""
        self._study.set_user_attr(f"{AGAIN} {number}", counts.tolist())

    def _finished(self, number: int, one: FrozenTrial) -> Trial:
        values = {name: _given(value, self._space[name]) for name, value in one.params.items()}
        counts = one.user_attrs.get(COUNTS)
        return Trial(
            number,
            values,
            one.user_attrs[SECONDS],
            None if counts is None else np.array(counts),
            one.user_attrs.get(ERROR),
        )


@dataclass
class NextTrial:
    """A trial to run: its settings are given; counts or an error are filled in."""

    values: Mapping[str, Any]
    seconds: float = 0.0
    counts: Counts | None = None
    error: str | None = None


def _has_ended(one: FrozenTrial) -> bool:
    return one.state.is_finished() and (COUNTS in one.user_attrs or ERROR in one.user_attrs)


def _distribution(domain: Range | Choices) -> BaseDistribution:
    from optuna import distributions  # deferred: an extra

    if isinstance(domain, Choices):
        return distributions.CategoricalDistribution([_stored(value, domain) for value in domain.values])
    if domain.is_whole:
        return distributions.IntDistribution(int(domain.low), int(domain.high), log=domain.log)
    return distributions.FloatDistribution(domain.low, domain.high, log=domain.log)


def _stored(value: Any, domain: Range | Choices) -> Any:
    """A value as optuna keeps it: choices as text, which may be lists."""
    return toml_value("none" if value is None else value) if isinstance(domain, Choices) else value


def _given(stored: Any, domain: Range | Choices) -> Any:
    if isinstance(domain, Choices):
        return next(value for value in domain.values if _stored(value, domain) == stored)
    return stored


def _check_is_sqlite(file: Path) -> None:
    if not file.exists():
        return
    try:
        connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
        try:
            connection.execute("SELECT name FROM sqlite_master").fetchone()
        finally:
            connection.close()
    except sqlite3.DatabaseError as error:
        hint = "Remove the folder and tune again"
        raise InputError(f"damaged: {error}", path=file, expected="the file as written", hint=hint) from None
