"""Commands about data sets: inspect, build, synth."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from multiea.cli.console import command, out, print_json, print_table
from multiea.cli.options import AsJson, Dataset, Force, Lenient, Out, RandomState, Seeds, ShowProgress
from multiea.cli.tables import show_inspection
from multiea.foundation.atomic_files import new_folder
from multiea.foundation.errors import SettingError


class Benchmark(StrEnum):
    """The benchmarks that can be built."""

    dbp_4 = "dbp-4"
    dwy_3 = "dwy-3"


class Graphs(StrEnum):
    """How much of each KG to keep."""

    popular = "popular"
    whole = "whole"


class GroupsKept(StrEnum):
    """Which groups to keep."""

    complete = "complete"
    all = "all"


@command
def inspect(
    dataset: Dataset,
    seeds: Seeds = None,
    lenient: Lenient = False,
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Show what is in a data set and what is wrong with it."""
    from multiea.data.inspection import inspect as inspect_task
    from multiea.data.load import load

    task = load(dataset, seeds=seeds, lenient=lenient)
    inspection = inspect_task(task)
    if as_json:
        print_json(inspection.as_dict())
    else:
        show_inspection(inspection, already_shown=len(task.origin.warnings))


@command
def build(
    benchmark: Annotated[Benchmark, typer.Argument(help="Which benchmark.", show_default=False)],
    source: Annotated[
        Path, typer.Option("--source", help="Where DBP15K or DWY100K lies: a folder or an archive.", show_default=False)
    ],
    out_folder: Out,
    degree: Annotated[int, typer.Option(help="Keep a group's neighbours whose degree exceeds this.")] = 15,
    graphs: Annotated[
        Graphs | None, typer.Option(help="Keep what lies around the groups (popular), or whole graphs.")
    ] = None,
    groups: Annotated[GroupsKept | None, typer.Option(help="Keep complete groups, or partial ones too (all).")] = None,
    full: Annotated[bool, typer.Option("--full", help="Whole graphs and all groups.")] = False,
    force: Force = False,
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Build a multi-KG benchmark from pair benchmarks, by the paper's recipe."""
    from multiea.data.benchmarks import RECIPES, Build, build_benchmark, differences
    from multiea.data.inspection import inspect as inspect_task
    from multiea.data.write import write_task

    if full and (graphs is Graphs.popular or groups is GroupsKept.complete):
        raise SettingError("--full means --graphs whole and --groups all; leave out what says otherwise")
    choices = Build(
        benchmark.value,
        degree=degree,
        whole_graphs=full or graphs is Graphs.whole,
        all_groups=full or groups is GroupsKept.all,
    )
    with new_folder(out_folder, "data set", force=force) as folder:
        task = build_benchmark(choices, source)
        write_task(task, folder)
        (folder / "dataset.toml").write_text(f'name = "{task.name}"\n', encoding="utf-8")
    recipe, notes = RECIPES[benchmark.value], differences(choices, task)
    if as_json:
        published = {name: vars(row) for name, row in recipe.published.items()}
        answer = inspect_task(task).as_dict() | {"published": published, "published_groups": recipe.published_groups}
        print_json(answer | {"notes": notes, "out": str(out_folder)})
        return
    rows = [
        [kg.name, len(kg.entities), row.entities, len(kg.relations), row.relations, len(kg.triples), row.triples]
        for kg in task.kgs
        for row in [recipe.published[kg.name]]
    ]
    header = ["KG", "entities", "paper", "relations", "paper", "triples", "paper"]
    print_table(f"{task.name}, beside the paper's Table 1 for {benchmark.value}", header, rows)
    out.print(
        f"\ngroups: {len(task.known):,}, complete: {len(task.known.complete):,} (paper: {recipe.published_groups:,})"
    )
    for note in notes:
        out.print(f"- {note}")
    out.print(f"\nwritten to {out_folder}; next: multiea inspect {shlex.quote(str(out_folder))}")


@command
def synth(
    out_folder: Out,
    kgs: Annotated[int, typer.Option(help="How many KGs, 2 to 1,000.")] = 3,
    entities: Annotated[int, typer.Option(help="Entities of each KG, from 100 on.")] = 10_000,
    triples_per_entity: Annotated[float, typer.Option(help="Triples a KG has for each entity, about; 2 to 100.")] = 5.0,
    relations: Annotated[int, typer.Option(help="Relations of the hidden graph; small KGs see fewer.")] = 200,
    overlap: Annotated[
        float, typer.Option(help="Share of a KG's entities that any other KG has too, from 0.05 on.")
    ] = 0.7,
    triple_share: Annotated[
        float, typer.Option(help="Chance that a KG states a triple it could state, from 0.1 on.")
    ] = 0.7,
    noise: Annotated[float, typer.Option(help="Share of a KG's triples that are made up, up to 0.5.")] = 0.05,
    random_state: RandomState = 0,
    force: Force = False,
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Generate KGs of any size with known groups: views of one hidden graph, under names of their own."""
    from multiea.data.synthetic import Synthesis, write_synthetic

    settings = Synthesis(kgs, entities, triples_per_entity, relations, overlap, triple_share, noise, random_state)
    with new_folder(out_folder, "data set", force=force) as folder:
        counts = write_synthetic(settings, folder)
    if as_json:
        print_json(counts | {"out": str(out_folder)})
        return
    rows = [[name, *kg.values()] for name, kg in counts["kgs"].items()]
    print_table("Synthetic KGs", ["KG", "entities", "relations", "triples"], rows)
    out.print(
        f"\ngroups: {counts['groups']:,}\nwritten to {out_folder}; next: multiea inspect {shlex.quote(str(out_folder))}"
    )
