"""`multiea inspect`, `build` and `synth`: shows, builds and generates data sets."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from multiea.cli.console import command, out, print_json, print_table
from multiea.cli.options import AsJson, Dataset, Force, Lenient, Out, RandomState, Seeds, ShowProgress
from multiea.cli.settings_options import ROLE_OPTIONS, with_settings_options
from multiea.cli.tables import show_inspection
from multiea.foundation.atomic_files import new_folder
from multiea.foundation.errors import SettingError
from multiea.settings.data import Data


class Benchmark(StrEnum):
    """The benchmarks that can be built."""

    dbp_4 = "dbp-4"
    dwy_3 = "dwy-3"


class Graphs(StrEnum):
    """How much of each KG is kept."""

    popular = "popular"
    whole = "whole"


class GroupsKept(StrEnum):
    """Which groups are kept."""

    complete = "complete"
    all = "all"


@command
@with_settings_options(only=ROLE_OPTIONS)
def inspect(
    dataset: Dataset,
    seeds: Seeds = None,
    lenient: Lenient = False,
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
    **options: list[str] | None,
) -> None:
    """Show the content of a data set, what is taken as names and as attributes, and its problems."""
    from multiea.data.inspection import inspect as inspect_task  # deferred: imports polars
    from multiea.data.load import load
    from multiea.data.role_choices import roles_of

    names, attributes, ignore = (tuple(options.get(key) or ()) for key in ("names", "attributes", "ignore"))
    chosen = Data(names=names, attributes=attributes, ignore=ignore)
    task = load(dataset, seeds=seeds, lenient=lenient, roles=roles_of(chosen))
    inspection = inspect_task(task)
    if as_json:
        print_json(inspection.as_dict())
    else:
        show_inspection(inspection, already_shown=len(task.origin.warnings))


@command
def build(
    benchmark: Annotated[Benchmark, typer.Argument(help="The benchmark to build.", show_default=False)],
    source: Annotated[
        Path, typer.Option("--source", help="The folder or archive of DBP15K or DWY100K.", show_default=False)
    ],
    out_folder: Out,
    degree: Annotated[int, typer.Option(help="Keep neighbours of group members if their degree is above this.")] = 15,
    graphs: Annotated[
        Graphs | None, typer.Option(help="Keep group members and neighbours of high degree (popular), or whole KGs.")
    ] = None,
    groups: Annotated[
        GroupsKept | None, typer.Option(help="Keep complete groups only, or also partial ones (all).")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="The same as --graphs whole --groups all.")] = False,
    force: Force = False,
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Build a benchmark of several KGs from pair benchmarks, as described in the paper."""
    from multiea.data.benchmarks import RECIPES, Build, differences, write_benchmark  # deferred: imports polars
    from multiea.data.inspection import inspect as inspect_task

    if full and (graphs is Graphs.popular or groups is GroupsKept.complete):
        raise SettingError("--full means --graphs whole and --groups all; remove the option that contradicts it")
    choices = Build(
        benchmark.value,
        degree=degree,
        whole_graphs=full or graphs is Graphs.whole,
        all_groups=full or groups is GroupsKept.all,
    )
    with new_folder(out_folder, "data set", force=force) as folder:
        task = write_benchmark(choices, source, folder)
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
    print_table(f"{task.name}, next to Table 1 of the paper for {benchmark.value}", header, rows)
    out.print(
        f"\ngroups: {len(task.known):,}, complete: {len(task.known.complete):,} (paper: {recipe.published_groups:,})"
    )
    for note in notes:
        out.print(f"- {note}")
    out.print(f"\nwritten to {out_folder}; next: multiea inspect {shlex.quote(str(out_folder))}")


@command
def synth(
    out_folder: Out,
    kgs: Annotated[int, typer.Option(help="The number of KGs, 2 to 1,000.")] = 3,
    entities: Annotated[int, typer.Option(help="The number of entities of each KG, at least 100.")] = 10_000,
    triples_per_entity: Annotated[
        float, typer.Option(help="About how many triples a KG has per entity, 2 to 100.")
    ] = 5.0,
    relations: Annotated[
        int, typer.Option(help="The number of relations of the hidden graph; small KGs have fewer of them.")
    ] = 200,
    overlap: Annotated[
        float, typer.Option(help="Share of the entities of a KG that each other KG has too, at least 0.05.")
    ] = 0.7,
    triple_share: Annotated[
        float, typer.Option(help="Probability that a KG contains a triple of its entities, at least 0.1.")
    ] = 0.7,
    noise: Annotated[float, typer.Option(help="Share of the triples of a KG that are random, at most 0.5.")] = 0.05,
    names: Annotated[bool, typer.Option(help="Name entities; some KGs write in other scripts.")] = False,
    attributes: Annotated[bool, typer.Option(help="Give entities numbers, dates, codes and texts.")] = False,
    triples: Annotated[bool, typer.Option(help="Write triples; without, KGs are like tables.")] = True,
    name_noise: Annotated[float, typer.Option(help="Share of the names with a typo.")] = 0.1,
    missing: Annotated[
        float, typer.Option(help="Share of the names, and of the values of each attribute, that a KG lacks.")
    ] = 0.1,
    random_state: RandomState = 0,
    force: Force = False,
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Generate KGs of any size with known groups: each is a view of one hidden graph, with its own ids."""
    from multiea.data.synthetic import Synthesis, write_synthetic  # deferred: imports polars

    shape = (kgs, entities, triples_per_entity, relations, overlap, triple_share, noise, random_state)
    settings = Synthesis(*shape, names, attributes, triples, name_noise, missing)
    with new_folder(out_folder, "data set", force=force) as folder:
        counts = write_synthetic(settings, folder)
    if as_json:
        print_json(counts | {"out": str(out_folder)})
        return
    rows = [[name, *kg.values()] for name, kg in counts["kgs"].items()]
    print_table("Synthetic KGs", ["KG", *counts["kgs"]["kg1"]], rows)
    out.print(
        f"\ngroups: {counts['groups']:,}\nwritten to {out_folder}; next: multiea inspect {shlex.quote(str(out_folder))}"
    )
