"""Checks the parts of a run that the page shows, so that damage is reported with the name of the file."""

from __future__ import annotations

from dataclasses import replace

from pydantic import BaseModel, ValidationError

from multiea.foundation.errors import InputError
from multiea.runs.run import Run

ByRank = dict[str, float | None]


class _Metrics(BaseModel):
    """The part of metrics.json that the page shows."""

    m_hits: dict[str, ByRank] = {}
    hits: dict[str, dict[str, ByRank]] = {}
    mrr: dict[str, ByRank] = {}
    seconds: dict[str, float] = {}
    peak_rss_mb: float | None = None


class _Training(BaseModel):
    """The part of an encoder's history that the page shows."""

    losses: list[float] = []
    validation: dict[int, list[float]] = {}
    best_epoch: int = 0
    parameters: int = 0
    interrupted: bool = False


class _Round(BaseModel):
    marks: int
    validation_f1: float | None


class _History(_Training):
    rounds: list[_Round] = []
    marks: int | None = None
    pairs: dict[str, _Training] = {}


def checked_run(run: Run) -> Run:
    """The run of a folder, with metrics of the expected form; an error names the damaged file."""
    try:
        _History.model_validate(run.alignment.history)
    except ValidationError as error:
        raise _damaged(run, "manifest.json", error) from None
    try:
        metrics = _Metrics.model_validate(run.metrics).model_dump(exclude_none=True)
    except ValidationError as error:
        raise _damaged(run, "metrics.json", error) from None
    return replace(run, metrics=metrics)


def _damaged(run: Run, file: str, error: ValidationError) -> InputError:
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"])) or "the whole file"
    return InputError(f"damaged: {place}: {first['msg']}", path=run.path(file), hint="Align again")
