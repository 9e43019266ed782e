"""Table 1: the numbers of entities, relations, triples and groups of the data sets."""

from __future__ import annotations

from multiea.data.benchmarks import RECIPES, Build, Recipe, differences
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.reproduction.benchmark_tasks import TRAIN_RATIO, TaskOf
from multiea.reproduction.page_parts import QUICK, made_by, table_header, table_row


def statistics_page(task_of: TaskOf, *, quick: bool) -> str:
    """Table 1, with the published counts next to ours."""
    text = "# Table 1: the data sets\n\n" + (f"{QUICK}\n\n" if quick else "")
    text += "Entities, relations and triples of each KG: the published number, then ours.\n"
    for data, recipe in RECIPES.items():
        task = task_of(data, 0, TRAIN_RATIO)
        text += f"\n## {data}\n" + table_header(("KG", "entities", "relations", "triples"))
        text += "".join(table_row([kg.name, *_counts(kg, recipe)]) for kg in task.kgs)
        text += f"\nGroups: {recipe.published_groups:,}, {len(task.known):,}.\n"
        text += "" if quick else "".join(f"\n- {note}" for note in differences(Build(data), task)) + "\n"
    return text + f"\n{made_by('table-1', quick=quick)}\n"


def _counts(kg: KnowledgeGraph, recipe: Recipe) -> list[str]:
    counts = (len(kg.entities), len(kg.relations), len(kg.triples))
    published = recipe.published.get(kg.name)
    if published is None:
        return [f"{ours:,}" for ours in counts]
    in_paper = (published.entities, published.relations, published.triples)
    return [f"{one:,}, {ours:,}" for one, ours in zip(in_paper, counts, strict=True)]
