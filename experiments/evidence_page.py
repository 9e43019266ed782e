"""The page about evidence, made from the stored results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import mean

from evidence_cases import CASES, HITS, Case
from stored_rows import Row

KS = ("1", "10", "20")
BUSY = 1.5  # processes per core before a run; a run that follows another one sees about one


def page(rows: list[Row], results: str) -> str:
    """The page; results: the name of the file of stored results."""
    shown = [name for name in CASES if any(row["case"] == name for row in rows)]
    missing = [CASES[name].title for name in CASES if name not in shown]
    lines = [line for name in shown for seeds in CASES[name].seeds for line in _lines(rows, name, seeds)]
    published = [line for name in CASES for line in _published(name, rows)]
    return TEXT.format(
        table="\n".join(lines),
        published="\n".join(published),
        missing=f"\nNot run yet: {'; '.join(missing)}.\n" if missing else "",
        devices=", ".join(sorted({row["device"] for row in rows})) or "-",
        results=results,
    )


def _lines(rows: Sequence[Row], name: str, seeds: float) -> list[str]:
    """The rows of the table for a data set and a share of seeds: one per kind of evidence."""
    lines = []
    for kind in CASES[name].kinds:
        cell = [row for row in rows if (row["case"], row["seeds"], row["kinds"]) == (name, seeds, kind)]
        if cell:
            cells = [CASES[name].title, _share(seeds), kind, *_measured(CASES[name], cell), str(len(cell))]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def _measured(case: Case, cell: Sequence[Row]) -> list[str]:
    """The evidence used, F1, precision and recall, ranks, calibration error, seconds and memory of some runs."""
    used = sorted({", ".join(row["evidence"]) for row in cell})
    pairs = " / ".join(f"{_mean(cell, _pair_score(score)):.3f}" for score in ("f1", "precision", "recall"))
    memory = max(row["peak_rss_mb"] for row in cell) / 1024
    return [
        " or ".join(used),
        pairs,
        _rank(case, cell),
        f"{_mean(cell, lambda row: row['ece']):.3f}",
        _seconds(cell),
        f"{memory:.1f} GiB",
    ]


def _seconds(cell: Sequence[Row]) -> str:
    """The mean seconds of the runs on a machine without other work; "-" where there are none."""
    idle = [row for row in cell if row.get("load", BUSY) < BUSY]
    return f"{_mean(idle, lambda row: row['seconds']):.0f}" if idle else "-"


def _pair_score(score: str) -> Callable[[Row], float]:
    return lambda row: row["pairs"][score]


def _rank(case: Case, cell: Sequence[Row]) -> str:
    """Hits@1, or M-Hits@1, 10 and 20 in percent, among the held-out entities."""
    if case.rank == HITS:
        return f"Hits@1 {_mean(cell, lambda row: row['hits']['test']['1']):.3f}"
    scores = [_mean(cell, lambda row, k=k: row["m_hits"]["test"][k]) for k in KS]  # type: ignore[misc]
    return "M-Hits " + " / ".join(f"{100 * score:.1f}" for score in scores)


def _published(name: str, rows: Sequence[Row]) -> list[str]:
    """The published numbers for a data set, with ours beside them."""
    case = CASES[name]
    return [
        f"| {case.title} | {one.method} | {one.score} | {one.value} | {_ours(name, one.method, one.score, rows)} | "
        f"{one.comparable} |"
        for one in case.published
    ]


def _ours(name: str, method: str, score: str, rows: Sequence[Row]) -> str:
    """Our score that is nearest to a published one: without seeds where that has none."""
    case = CASES[name]
    is_seedless = score == "pair F1" or "no seeds" in method
    seeds, kind = 0.0 if is_seedless else max(case.seeds), "structure" if name == "dbp-4" else "all"
    cell = [row for row in rows if (row["case"], row["seeds"], row["kinds"]) == (name, seeds, kind)]
    if not cell:
        return "-"
    ours = f"F1 {_mean(cell, _pair_score('f1')):.3f}" if score == "pair F1" else _rank(case, cell)
    return f"{ours} ({kind}, {_share(seeds)} seeds)"


def _share(seeds: float) -> str:
    return f"{seeds:.0%}" if seeds else "no"


def _mean(cell: Sequence[Row], value: Callable[[Row], float]) -> float:
    return float(mean(value(row) for row in cell))


TEXT = """# Evidence: structure, names, attributes, all

`multiea align` with default settings except `--evidence`, `--train-ratio` (the share of seeds) and `--random-state`.
[Evidence](../evidence.md) explains the model. *Evidence* is what was asked for, *used* is what the run says it used. Pairs
are those of all groups found, at the threshold that the run chose itself. Ranks are among the held-out entities (pool
`test`), in percent for M-Hits. Without seeds all known groups are held out. ECE is the expected calibration error of the
confidences. Scores are means over random states, memory is the maximum. Seconds are those of whole commands; a dash stands
for runs side by side with others on one machine.

| data | seeds | evidence | used | pairs: F1 / precision / recall | ranks, `test` | ECE | seconds | memory | runs |
|---|---|---|---|---|---|---|---|---|---|
{table}
{missing}
Structure alone cannot start without seeds, and the tables have no relations.

## Published numbers
Numbers of others on the same data, and whether they can be compared with ours. Those of Splink are not published: the
project measured them.

| data | method | score | theirs | ours | comparable? |
|---|---|---|---|---|---|
{published}

Names make DBP15K and DWY15K much easier: DBpedia and YAGO take their names from the same Wikipedia titles. Results with names
are therefore never compared with methods that use structure alone, and the paper's tables in this documentation stay
with structure alone.

Run on: {devices}.
Made by `python experiments/evidence.py`; stored results: `experiments/results/{results}`.
"""  # noqa: E501 (rows of tables)
