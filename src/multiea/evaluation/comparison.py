"""Comparison of runs: their scores, and tests of whether they differ on the same held-out groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import binomtest

from multiea.evaluation.changes import Changes, changes_between
from multiea.evaluation.data_differences import data_differences
from multiea.evaluation.run_summary import OUTCOMES, SCORES, RunSummary

RESAMPLES = 10_000
LEVEL = 0.95
BLOCK = 1 << 22  # random numbers drawn at once


@dataclass(frozen=True)
class McNemar:
    """An exact McNemar test of one outcome: of the groups on which two runs differ, is either run right more often?

    groups: the number of held-out groups. first, second: the number of groups for which only the first, or only the
    second run has the outcome. p_holm: p corrected for all tests of the comparison by Holm's method.
    """

    outcome: str
    groups: int
    first: int
    second: int
    p: float
    p_holm: float


@dataclass(frozen=True)
class Difference:
    """The pair F1 of a run minus that of the first, with a bootstrap confidence interval over held-out groups."""

    difference: float
    low: float
    high: float
    groups: int
    resamples: int = RESAMPLES
    level: float = LEVEL


@dataclass(frozen=True)
class Tested:
    """The tests of one run against the first, or the reason why there are none."""

    run: str
    tests: tuple[McNemar, ...] = ()
    pair_f1: Difference | None = None
    why_not: str | None = None


@dataclass(frozen=True, eq=False)
class Comparison:
    """Runs, tests of each run against the first, and for two runs the changes of their groups."""

    runs: tuple[RunSummary, ...]
    tested: tuple[Tested, ...]
    changes: Changes | None

    @cached_property
    def data_differences(self) -> tuple[str, ...]:
        """One sentence for each run over other data than the first."""
        return data_differences(self.runs)

    @property
    def tests(self) -> int:
        """The number of all tests."""
        return sum(len(one.tests) for one in self.tested)

    def to_dict(self) -> dict[str, Any]:
        """As JSON-compatible values."""
        runs = [
            {"run": run.name, "kgs": list(run.kg_names), "seeds": run.seeds, "held_out": run.held_out.height}
            | {"entities": {kg: len(run.entities[kg]) for kg in run.kg_names if kg in run.entities}}
            | {"found": run.found, "scores": {".".join(SCORES[name]): value for name, value in run.scores.items()}}
            for run in self.runs
        ]
        tested = [asdict(one) | {"tests": [asdict(test) for test in one.tests]} for one in self.tested]
        answer = {"runs": runs, "against": self.runs[0].name, "outcomes": OUTCOMES, "tests": self.tests}
        changes = None if self.changes is None else self.changes.to_dict()
        return answer | {"data_differences": list(self.data_differences), "tested": tested, "changes": changes}


def compare(runs: Sequence[RunSummary], *, random_state: int = 0) -> Comparison:
    """Compares each run with the first. Intervals depend on the random state, not on the order of KGs or groups."""
    first = runs[0]
    uncorrected = {}
    for at, run in enumerate(runs[1:], start=1):
        if why_not_tested(first, run) is None:
            for outcome in OUTCOMES:
                uncorrected[at, outcome] = _mcnemar(first.outcomes[outcome], run.outcomes[outcome])
    corrected = dict(zip(uncorrected, holm([p for *_, p in uncorrected.values()]), strict=True))
    tested = []
    for at, run in enumerate(runs[1:], start=1):
        if (reason := why_not_tested(first, run)) is not None:
            tested.append(Tested(run.name, why_not=reason))
            continue
        tests = tuple(
            McNemar(outcome, len(first.pairs), *uncorrected[at, outcome], corrected[at, outcome])
            for outcome in OUTCOMES
        )
        tested.append(Tested(run.name, tests, f1_difference(first.pairs, run.pairs, random_state=random_state)))
    changes = changes_between(first, runs[1]) if len(runs) == 2 else None
    return Comparison(tuple(runs), tuple(tested), changes)


def why_not_tested(first: RunSummary, other: RunSummary) -> str | None:
    """The reason why two runs cannot be tested against each other, or None if they can."""
    if first.kg_names != other.kg_names:
        return f"it is over other KGs ({', '.join(other.kg_names)}) than the first ({', '.join(first.kg_names)})"
    if not first.held_out.height or not other.held_out.height:
        return "there are no held-out groups to test by"
    if not first.held_out.equals(other.held_out):
        columns = [pl.col(kg).alias(str(at)) for at, kg in enumerate(first.kg_names)]
        own, others = (run.held_out.select(columns) for run in (first, other))
        common = own.join(others, on=own.columns, how="semi", nulls_equal=True).height
        return (
            f"its {other.held_out.height:,} held-out groups are not the {first.held_out.height:,} of the first "
            f"({common:,} in common)"
        )
    return None


def _mcnemar(first: np.ndarray, second: np.ndarray) -> tuple[int, int, float]:
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    differing = only_first + only_second
    return only_first, only_second, float(binomtest(only_first, differing).pvalue) if differing else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for their number (Holm, 1979): the smallest of n is multiplied by n, the next by n - 1, ..."""
    p = np.array(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    result = np.empty(len(p))
    result[order] = np.minimum(stepped, 1)
    return [float(value) for value in result]


def f1_difference(
    first: np.ndarray, second: np.ndarray, *, resamples: int = RESAMPLES, level: float = LEVEL, random_state: int = 0
) -> Difference:
    """The pair F1 of the second run minus that of the first, with a percentile interval of a paired bootstrap.

    first, second: as pairs_by_group returns them, (groups, 3). Groups are drawn with replacement, the same ones for
    both runs. Half of the resamples are drawn with the runs exchanged, so that exchanging them only changes the sign.
    """
    groups = len(first)
    half = resamples // 2
    forward = _resampled_differences(first, second, half, np.random.default_rng(random_state))
    backward = _resampled_differences(second, first, half, np.random.default_rng(random_state))
    low, high = np.quantile(np.concatenate([forward, -backward]), [(1 - level) / 2, (1 + level) / 2])
    difference = float(_f1(*second.sum(axis=0)) - _f1(*first.sum(axis=0)))
    return Difference(difference, float(low) + 0.0, float(high) + 0.0, groups, 2 * half, level)  # + 0.0: no -0.0


def _resampled_differences(
    first: np.ndarray, second: np.ndarray, resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Differences of F1 over resamples of groups, (resamples,).

    Groups with the same counts are interchangeable: it is enough to draw how many groups of each kind a resample has.
    """
    kinds, frequency = np.unique(np.column_stack([first, second]), axis=0, return_counts=True)
    size = max(1, BLOCK // len(kinds))
    differences = []
    for start in range(0, resamples, size):
        drawn = rng.multinomial(len(first), frequency / len(first), size=min(size, resamples - start))
        totals = drawn.astype(float) @ kinds  # (resamples, kinds), (kinds, 6) -> (resamples, 6)
        differences.append(_f1(*totals[:, 3:].T) - _f1(*totals[:, :3].T))
    return np.concatenate(differences)


def _f1(right: np.ndarray, judged: np.ndarray, known: np.ndarray) -> np.ndarray:
    """F1 from counts: 2 / (1 / precision + 1 / recall) is 2 right / (judged + known)."""
    return np.asarray(2 * right / np.maximum(judged + known, 1))
