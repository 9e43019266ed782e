"""Tuning: the result of a study, with its best settings and all trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from multiea.settings.parsing import toml_value
from multiea.settings.tree import AlignSettings
from multiea.tuning.judging import Difference
from multiea.tuning.search_space import SearchSpace, value_of
from multiea.tuning.trials import Trial


@dataclass(frozen=True, eq=False, repr=False)
class Tuning:
    """What a study found.

    best: all settings of the best trial. trials: one row per trial: trial, value (pair F1 on validation seeds),
    seconds, one column per setting that is searched, and error, which says why a trial failed. Trial 0 has the given
    settings, the defaults. default: these settings. best_trial: the number of the best trial. difference: the best
    trial and the defaults on seeds that judged no trial; None where the defaults are best.
    """

    best: AlignSettings
    trials: pl.DataFrame
    default: AlignSettings
    best_trial: int
    difference: Difference | None = None

    @property
    def is_better(self) -> bool:
        """Whether the best trial is better than the defaults by more than the standard error."""
        return self.difference is not None and self.difference.is_better

    @property
    def recommended(self) -> AlignSettings:
        """The best settings where they are better than the defaults by more than the standard error, else these."""
        return self.best if self.is_better else self.default

    @property
    def default_value(self) -> float:
        """The pair F1 of the defaults on validation seeds."""
        return float(self.trials["value"][0])

    @property
    def best_value(self) -> float:
        """The pair F1 of the best trial on validation seeds; of many trials the best one is flattered."""
        return float(self.trials.filter(trial=self.best_trial)["value"][0])

    def changes(self) -> dict[str, Any]:
        """The settings of the best trial that are not those of the defaults."""
        own, default = self.best.flat(), self.default.flat()
        return {key: value for key, value in own.items() if default.get(key) != value}

    def verdict(self) -> str:
        """What to do, in a sentence or two."""
        if self.difference is None:
            return "No trial is better than the defaults. Recommended: the defaults."
        one = self.difference
        scores = (
            f"On {one.groups:,} seeds that judged no trial, the pair F1 of trial {self.best_trial} is "
            f"{one.best_f1:.3f}, of the defaults {one.default_f1:.3f}: {one.difference:+.3f}, "
            f"standard error {one.standard_error:.3f}."
        )
        choice = "the best trial" if one.is_better else "the defaults, as this is no more than the standard error"
        return f"{scores} Recommended: {choice}."

    def __repr__(self) -> str:
        count = self.trials.height
        scores = f"best {self.best_value:.3f} (trial {self.best_trial}), defaults {self.default_value:.3f}"
        return f"Tuning({count:,} trials: {scores})\n  {self.verdict()}"


def trial_table(trials: Sequence[Trial], default: AlignSettings, space: SearchSpace) -> pl.DataFrame:
    """All trials as a table; values of settings that are lists are text."""
    columns: dict[str, Any] = {
        "trial": pl.Series([one.number for one in trials], dtype=pl.Int64),
        "value": pl.Series([one.f1 for one in trials], dtype=pl.Float64),
        "seconds": pl.Series([round(one.seconds, 3) for one in trials], dtype=pl.Float64),
    }
    for name in space:
        values = [one.values.get(name, value_of(default, name)) for one in trials]
        is_number = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        columns[name] = values if is_number else ["none" if v is None else toml_value(v).strip('"') for v in values]
    columns["error"] = pl.Series([one.error for one in trials], dtype=pl.String)
    return pl.DataFrame(columns)
