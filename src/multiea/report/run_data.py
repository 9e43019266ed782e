"""A run folder as the subject of a page: with its triples where they are still to be had, and its scores by rank."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import BaseModel, ValidationError

from multiea.foundation.errors import InputError
from multiea.report.subject import Subject
from multiea.runs.opening import Source, open_run

ByRank = dict[str, float | None]


class _Metrics(BaseModel):
    """What the page shows of metrics.json."""

    m_hits: dict[str, ByRank] = {}
    hits: dict[str, dict[str, ByRank]] = {}
    mrr: dict[str, ByRank] = {}
    seconds: dict[str, float] = {}
    peak_rss_mb: float | None = None


class _Training(BaseModel):
    """What the page shows of an encoder's history."""

    losses: list[float] = []
    validation: dict[int, list[float]] = {}
    best_epoch: int = 0
    parameters: int = 0
    interrupted: bool = False


class _Round(BaseModel):
    labels: int
    f1_held_back: float | None


class _History(_Training):
    rounds: list[_Round] = []
    labels: int | None = None
    pairs: dict[str, _Training] = {}


def subject_of_run(run: Path, data: Source | None = None) -> Subject:
    """What a page about a run folder needs; an error names the file that is not as it was written."""
    no_triples = None
    try:
        alignment = open_run(run, with_triples=True, data=data)
    except InputError as error:
        if data is not None:
            raise
        alignment = open_run(run)  # says so itself where more than the triples is missing
        no_triples = str(error)
    try:
        _History.model_validate(alignment.history)
    except ValidationError as error:
        raise _damaged(run / "manifest.json", error) from None
    path = run / "metrics.json"
    try:
        metrics = _Metrics.model_validate(json.loads(path.read_text(encoding="utf-8"))).model_dump(exclude_none=True)
    except FileNotFoundError:
        metrics = {}
    except ValidationError as error:
        raise _damaged(path, error) from None
    except ValueError:
        raise InputError("damaged: no JSON", path=path, hint="Remove it, or align again") from None
    return Subject(alignment, str(run), metrics, no_triples)


def _damaged(path: Path, error: ValidationError) -> InputError:
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"])) or "the whole"
    return InputError(f"damaged: {place}: {first['msg']}", path=path, hint="Align again")
