"""What the command line prints of a task, a run and its scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multiea.cli.console import err, out, print_table
from multiea.foundation.errors import counted

if TYPE_CHECKING:
    from multiea.data.inspection import Inspection
    from multiea.grouping.alignment import Alignment

ENOUGH_EXAMPLES = 50
WIDEST_MATRIX = 20  # of more KGs only the JSON shows all pairs


def show_how(alignment: Alignment) -> None:
    """Which engine, where labels came from, and what confidences rest on."""
    from multiea.pipeline.bootstrapping import POOLS
    from multiea.similarity.search import SEARCHES

    history, calibration = alignment.history, alignment.calibration
    how = f"engine {alignment.settings['engine']}"
    how += ", trained for each pair of KGs alone" if alignment.settings.get("pairwise") else ""
    if "bootstrap" in history:
        rounds = len(history["rounds"])
        how += f"; bootstrap {history['bootstrap']} ({POOLS[history['bootstrap']]}), {counted(rounds, 'round')}, "
        how += f"{history['labels']:,} labels at last; search {history['search']} ({SEARCHES[history['search']]})"
    out.print(how)
    if calibration.examples:
        pairs = counted(calibration.examples, "pair")
        few = "" if calibration.examples >= ENOUGH_EXAMPLES else "; that is few, so take them as a rough guide"
        out.print(
            f"confidences: learned from {pairs} with seeds held back; below {calibration.threshold:.2f} left alone{few}"
        )
    else:
        out.print(
            "confidences: plain scores, no probabilities; too few seeds could be held back and were found to learn from"
        )


def _percent(score: float | None) -> str:
    return "-" if score is None else f"{score:.2%}"


def show_metrics(metrics: dict[str, Any]) -> None:
    """Scores as tables."""
    if "m_hits" not in metrics:
        out.print("nothing could be scored: there are no held-out groups")
        return
    rows = [[pool, *(_percent(value) for value in metrics["m_hits"][pool].values())] for pool in metrics["m_hits"]]
    out.print()
    print_table("M-Hits: all counterparts of a complete group among the first K", ["pool", "@1", "@10", "@20"], rows)
    rows = [
        [pair, *(_percent(value) for value in hits.values()), _percent(metrics["mrr"][pool][pair]), pool]
        for pool in metrics["hits"]
        for pair, hits in metrics["hits"][pool].items()
    ]
    out.print()
    print_table("Hits of each pair of KGs, both directions", ["KGs", "@1", "@10", "@20", "MRR", "pool"], rows)
    rows = [[what, *(f"{value:.3f}" for value in metrics[what].values())] for what in ("pairs", "groups")]
    out.print()
    print_table("What was found", ["", "precision", "recall", "F1"], rows)


def show_kgs(inspection: Inspection) -> None:
    """What an inspection says of the KGs, in short."""
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


def show_inspection(inspection: Inspection, already_said: int = 0) -> None:
    """An inspection as tables."""
    show_kgs(inspection)
    quantiles = list(inspection.kgs[0].degree_quantiles)
    names = {"0.0": "min", "0.5": "median", "1.0": "max"}
    out.print()
    labels = [names.get(quantile, f"{float(quantile):.0%}") for quantile in quantiles]
    rows = [[kg.name, *(f"{kg.degree_quantiles[q]:,.0f}" for q in quantiles)] for kg in inspection.kgs]
    print_table("Degrees (triples an entity is in)", ["KG", *labels], rows)
    if inspection.groups and len(inspection.kgs) <= WIDEST_MATRIX:
        kgs = list(inspection.overlap)
        counts: list[list[object]] = [[a, *(inspection.overlap[a][b] for b in kgs)] for a in kgs]
        out.print()
        print_table("Groups that join each pair of KGs (diagonal: members of each KG)", ["", *kgs], counts)
    sizes = ", ".join(f"{count:,} over {size} KGs" for size, count in inspection.groups_by_size.items() if count)
    out.print(f"\ngroups by size: {sizes or 'none'}")
    for warning in inspection.warnings[already_said:]:
        err.print(f"warning: {warning}", style="yellow")
