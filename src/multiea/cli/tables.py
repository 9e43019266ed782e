"""What the command line prints about a task, a run and its scores."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from multiea.cli.console import err, out, print_table
from multiea.foundation.errors import counted
from multiea.settings.bootstrapping import BOOTSTRAP_POOLS
from multiea.settings.tree import STRUCTURE

if TYPE_CHECKING:
    from multiea.data.inspection import Inspection
    from multiea.grouping.alignment import AlignmentResult
    from multiea.runs.run import Run

ENOUGH_EXAMPLES = 50
MOST_PAIRS = 45  # of KGs in a table; of more only the lowest are shown
LOWEST_PAIRS = 10
MOST_PROPERTIES = 10  # of each KG besides names; the JSON has all
LONGEST_EXAMPLE = 30
WIDEST_MATRIX = 20  # for more KGs only the JSON has all pairs


def show_process(alignment: AlignmentResult) -> None:
    """The evidence, the engine, the pseudo-labels, and what confidences are based on."""
    from multiea.evaluation.self_check import evidence_used  # deferred: imports torch
    from multiea.similarity.search import SEARCHES, SHARED_VALUES

    history, settings = alignment.history, alignment.settings
    used = evidence_used(alignment)
    out.print(f"evidence: {', '.join(used)}")
    if STRUCTURE not in used:
        out.print(f"nothing to propagate without triples; search: {SEARCHES[SHARED_VALUES]}")
        _show_confidence_basis(alignment)
        return
    words = f"engine {settings.engine}"
    words += ", trained on each pair of KGs separately" if settings.pairwise else ""
    if "bootstrap" in history:
        pool, search = history["bootstrap"], history["search"]
        words += f"; bootstrap {pool} ({BOOTSTRAP_POOLS[pool]}), {counted(len(history['rounds']), 'round')}, "
        words += f"{counted(history['marks'] - len(alignment.known.groups), 'pseudo-label')}"
        words += f"; search {search} ({SEARCHES[search]})"
    out.print(words)
    _show_confidence_basis(alignment)


def _show_confidence_basis(alignment: AlignmentResult) -> None:
    """What confidences are based on, and F1 of pairs on validation seeds."""
    from multiea.evaluation.self_check import (  # deferred: imports torch
        ESTIMATED,
        confidence_basis,
        f1_interval,
        stay_unmatched,
    )

    calibration = alignment.calibration
    unmatched = f"members below {calibration.threshold:.2f} {stay_unmatched(calibration)}"
    if not len(alignment.found.groups):
        out.print("confidences: none, since no group was found")
    elif calibration.examples:
        few = "" if calibration.examples >= ENOUGH_EXAMPLES else "; these are few, so confidences are a rough guide"
        pairs = counted(calibration.examples, "pair")
        out.print(f"confidences: calibrated on {pairs} of validation seeds; {unmatched}{few}")
    elif confidence_basis(alignment) == ESTIMATED:
        why = "since these are too few to judge by" if len(alignment.known.groups) else "from the scores alone"
        out.print(f"confidences: {ESTIMATED}, {why}; {unmatched}")
    else:
        out.print("confidences: plain scores, not probabilities; there were too few seeds to calibrate on")
    if calibration.validation_f1 is not None:
        words = f"pair F1 on validation seeds: {calibration.validation_f1:.2f}"
        if (interval := f1_interval(calibration)) is not None:
            groups = counted(calibration.validation_groups, "group")
            words += f", 95% interval {interval[0]:.2f} to {interval[1]:.2f} ({groups})"
        out.print(words)


def show_open_seeds(run: Run) -> None:
    """How many members were found for seeds that do not mention the new KG."""
    for kg, count in run.new_open_seeds().items():
        file = _short_path(run.alignment.settings.data.seeds)
        unlinked = f"{counted(count['looked_for'], 'seed')} without a link to '{kg}' in {file}"
        out.print(f"{unlinked}: a member was found for {count['found']:,}")


def show_lineage(alignment: AlignmentResult) -> None:
    """What became of the groups of the previous run, where ids are carried on."""
    if alignment.ids is not None:
        fates = ", ".join(f"{count:,} {fate}" for fate, count in alignment.ids.fates().items() if count)
        data = alignment.settings.data
        before = _short_path(data.grown_from or data.previous)
        out.print(f"ids carried on from {before}: {fates}; see lineage.tsv")


def _short_path(path: str | None) -> str:
    """A recorded, absolute path, relative to the current folder where it is inside it."""
    own, folder = Path(str(path)), Path.cwd()
    return str(own.relative_to(folder) if own.is_relative_to(folder) else own)


def _percent(score: float | None) -> str:
    return "-" if score is None else f"{score:.2%}"


def show_metrics(metrics: Mapping[str, Any]) -> None:
    """Scores as tables: pairs and groups first, then ranks."""
    if "m_hits" not in metrics:
        out.print("no scores: there are no held-out groups")
        return
    rows = [[what, *(f"{value:.3f}" for value in metrics[what].values())] for what in ("pairs", "groups")]
    out.print()
    print_table(
        "Groups found, against the held-out groups; only entities with a known counterpart are judged",
        ["", "precision", "recall", "F1"],
        rows,
    )
    rows = [[pool, *(_percent(value) for value in metrics["m_hits"][pool].values())] for pool in metrics["m_hits"]]
    out.print()
    print_table("M-Hits: all counterparts of a complete group rank in the top K", ["pool", "@1", "@10", "@20"], rows)
    rows = []
    for pool, of_pairs in metrics["hits"].items():
        for pair in _pairs_shown(of_pairs):
            hits = (_percent(value) for value in of_pairs[pair].values())
            rows.append([pair, *hits, _percent(metrics["mrr"][pool][pair]), pool])
    is_short = len(rows) < sum(map(len, metrics["hits"].values()))
    which = f"overall and the {LOWEST_PAIRS} lowest; metrics.json has all" if is_short else "both directions"
    out.print()
    print_table(f"Hits per pair of KGs, {which}", ["KGs", "@1", "@10", "@20", "MRR", "pool"], rows)


def _pairs_shown(hits: Mapping[str, Mapping[str, float | None]]) -> list[str]:
    """Overall and all pairs of KGs; where these are too many to read, the lowest by Hits@1."""
    overall, *pairs = hits
    if len(pairs) > MOST_PAIRS:
        scored = [pair for pair in pairs if hits[pair]["1"] is not None]
        pairs = sorted(scored, key=lambda pair: hits[pair]["1"] or 0.0)[:LOWEST_PAIRS]
    return [overall, *pairs]


def show_kgs(inspection: Inspection) -> None:
    """The KGs of an inspection, in short."""
    out.print(
        f"{inspection.name}: {len(inspection.kgs)} KGs, {counted(inspection.groups, 'known group')} "
        f"({counted(inspection.seeds, 'seed')}, {inspection.held_out:,} held out"
        + (f", {inspection.validation:,} for validation)" if inspection.validation else ")")
    )
    out.print()
    header = ["KG", "entities", "relations", "triples", "literals", "duplicates", "isolated", "in groups"]
    rows = [
        [kg.name, kg.entities, kg.relations, kg.triples, kg.literals, kg.duplicates, kg.isolated, kg.in_groups]
        for kg in inspection.kgs
    ]
    print_table("Knowledge graphs", header, rows)


def show_properties(inspection: Inspection) -> None:
    """Which properties are taken as names and which as attributes, the most frequent of each KG."""
    rows: list[list[object]] = []
    for kg in inspection.kgs:
        known = [one.property for one in kg.properties]
        for source in kg.names.sources:
            if source not in known:
                rows.append([kg.name, f"({source})", "name", _shortened(kg.names.example), f"{kg.names.coverage:.0%}"])
        shown = [one for one in kg.properties if one.role == "name"]
        others = [one for one in kg.properties if one.role != "name"]
        shown += others[:MOST_PROPERTIES]
        for one in shown:
            role = f"{one.role} (by its values)" if one.by_values else one.role
            rows.append([kg.name, one.property, role, _shortened(one.example), f"{one.coverage:.0%}"])
        if len(others) > MOST_PROPERTIES:
            rows.append([kg.name, f"and {len(others) - MOST_PROPERTIES:,} more (--json lists all)", "", "", ""])
        if not kg.properties and not kg.names.sources:
            rows.append([kg.name, "none", "", "", ""])
    print_table("Names and attributes", ["KG", "property", "taken as", "example", "entities"], rows, words=4)


def _shortened(value: str | None) -> str:
    text = " ".join((value or "").split())
    return text if len(text) <= LONGEST_EXAMPLE else f"{text[:LONGEST_EXAMPLE]}..."


def show_inspection(inspection: Inspection, already_shown: int = 0) -> None:
    """An inspection as tables."""
    show_kgs(inspection)
    if any(kg.triples for kg in inspection.kgs):
        _show_degrees(inspection)
    out.print()
    show_properties(inspection)
    if inspection.groups and len(inspection.kgs) <= WIDEST_MATRIX:
        kgs = list(inspection.overlap)
        counts: list[list[object]] = [[a, *(inspection.overlap[a][b] for b in kgs)] for a in kgs]
        out.print()
        print_table("Groups with members in each pair of KGs (diagonal: members of each KG)", ["", *kgs], counts)
    sizes = ", ".join(f"{count:,} over {size} KGs" for size, count in inspection.groups_by_size.items() if count)
    out.print(f"\ngroups by size: {sizes or 'none'}")
    for warning in inspection.warnings[already_shown:]:
        err.print(f"warning: {warning}", style="yellow")


def _show_degrees(inspection: Inspection) -> None:
    quantiles = list(inspection.kgs[0].degree_quantiles)
    names = {"0.0": "min", "0.5": "median", "1.0": "max"}
    out.print()
    labels = [names.get(quantile, f"{float(quantile):.0%}") for quantile in quantiles]
    rows = [[kg.name, *(f"{kg.degree_quantiles[q]:,.0f}" for q in quantiles)] for kg in inspection.kgs]
    print_table("Degrees (number of triples of an entity)", ["KG", *labels], rows)
