"""The command line: each command reads its words, calls the library and shows what comes back."""

from __future__ import annotations

import shlex
import signal
import sys
import time
from dataclasses import replace
from enum import StrEnum
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multiea.console import command, out, print_json, print_table
from multiea.errors import SettingError, counted
from multiea.reproduction.command import reproduce
from multiea.showing import show_how, show_inspection, show_kgs, show_metrics
from multiea.writing import new_folder, refuse_existing

if TYPE_CHECKING:
    from multiea.alignment import Alignment
    from multiea.data.task import Task


app = typer.Typer(
    help="Aligns any number of knowledge graphs in a single pass.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Dataset = Annotated[
    list[str],
    typer.Argument(help="A folder, a dataset.toml, 'world', or several files, one a KG.", show_default=False),
]
Seeds = Annotated[
    Path | None, typer.Option("--seeds", help="A file of known groups to learn from: TSV, CSV, SSSOM or owl:sameAs.")
]
Lenient = Annotated[bool, typer.Option("--lenient", help="Drop groups' entities that their KG does not have.")]
Out = Annotated[Path, typer.Option("--out", help="The folder to write.", show_default=False)]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
ShowProgress = Annotated[bool, typer.Option("--progress/--no-progress", help="Show how far long work is.")]
RandomState = Annotated[int, typer.Option(help="The same number gives the same result.")]


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


def _version(wanted: bool) -> None:
    if wanted:
        from multiea import __version__

        out.print(f"multiea {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command()
@command
def demo(
    out_folder: Annotated[Path, typer.Option("--out", help="The run folder to write.")] = Path("multiea-demo"),
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Align the embedded data set, three knowledge graphs of the world, and show the result."""
    from multiea.data.inspection import inspect as inspect_task
    from multiea.data.load import load
    from multiea.evaluation.found import judged_groups

    refuse_existing(out_folder, "run", force=True)
    task = load("world")
    if not as_json:
        show_kgs(inspect_task(task))
        out.print(f"\naligning by structure alone, from {len(task.seeds):,} known groups ...")
    data = {"name": task.name, "source": ["world"]}
    alignment, metrics = _aligned(task, out_folder, data, force=True)
    if as_json:
        print_json(metrics | {"out": str(out_folder)})
        return
    show_how(alignment)
    out.print(f"{metrics['seconds']['total']:.1f} s in all")
    show_metrics(metrics)
    found = alignment.found
    complete = (found.groups.sizes == len(task.kgs)).nonzero()[0]
    shown = complete[:: max(1, len(complete) // 10)][:10]
    groups = found.groups.take(shown)
    labels = [kg.display(members) for kg, members in zip(task.kgs, groups.members.T, strict=True)]
    confidences = [f"{value:.2f}" for value in found.confidence[shown].mean(axis=1)]
    judged, right = judged_groups(groups, task.held_out)
    verdicts = ["no" if share and not good else "yes" if share == 1 else "not all known"
                for share, good in zip(judged, right, strict=True)]  # fmt: skip
    out.print()
    rows = list(zip(*labels, confidences, verdicts, strict=True))
    title = "Ten of the complete groups found, from the surest to the least sure; right by what was held out"
    print_table(title, [*task.kg_names, "confidence", "right"], rows, words=len(labels))
    folder = shlex.quote(str(out_folder))
    out.print(f"\nThe run is in {folder}: groups.tsv, groups.parquet, metrics.json and what made them. Next:")
    out.print(f"  multiea evaluate {folder}      its scores again")
    out.print("  multiea inspect FOLDER             what is in a data set of your own, and what is wrong with it")
    out.print("  multiea align FOLDER --out RUN     align it")


@app.command()
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
        show_inspection(inspection, already_said=len(task.notes))


@app.command()
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


@app.command()
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
    from multiea.data.synth import Synthesis, write_synthetic

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


@app.command()
@command
def align(
    context: typer.Context,
    dataset: Dataset,
    out_folder: Out,
    engine: Annotated[
        str,
        typer.Option(
            help="What turns KGs into embeddings: propagation, an encoder to train (multiea, mtranse, iptranse, "
            "gcn-align, kecg, naea, psr), or both, as propagation+multiea."
        ),
    ] = "propagation",
    bootstrap: Annotated[
        str,
        typer.Option(help="Where labels beyond the seeds may come from: all entities, test (held-out ones), none."),
    ] = "all",
    fusion_weight: Annotated[
        float, typer.Option(help="What the encoder counts in propagation+multiea, from 0 to 1.")
    ] = 0.2,
    strategy: Annotated[
        str | None,
        typer.Option(
            help="How an encoder pulls a group together: each, anchor, mean, or own (psr alone has one); "
            "by default as is usual for it."
        ),
    ] = None,
    pairwise: Annotated[bool, typer.Option("--pairwise", help="Train the encoder for each pair of KGs alone.")] = False,
    anchor: Annotated[str | None, typer.Option(help="The anchor KG; by default the one with most triples.")] = None,
    enhancement: Annotated[
        str, typer.Option(help="What third KGs add: none, product, profile, sharpened.")
    ] = "sharpened",
    epochs: Annotated[int | None, typer.Option(help="The most epochs to train; by default the encoder's.")] = None,
    duplicates: Annotated[
        list[str] | None,
        typer.Option(help="A KG that holds some things more than once; may be given several times.", metavar="<KG>"),
    ] = None,
    seeds: Seeds = None,
    train_ratio: Annotated[
        float | None, typer.Option(help="Share of known groups to learn from; 0.3 where the data set does not say.")
    ] = None,
    random_state: RandomState = 0,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    lenient: Lenient = False,
    force: Force = False,
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Align the KGs of a data set and write what was found to a run folder."""
    from multiea.data.load import load
    from multiea.pipeline import usual_training

    refuse_existing(out_folder, "run", force=force)
    _refuse_unused(context, engine)
    given: dict[str, Any] = {"strategy": strategy, "anchor": anchor, "epochs": epochs}
    training = replace(usual_training(engine), **{name: value for name, value in given.items() if value is not None})
    start = time.perf_counter()
    task = load(dataset, seeds=seeds, train_ratio=train_ratio, random_state=random_state, lenient=lenient)
    data = {"name": task.name, "source": dataset, "seeds": seeds and str(seeds), "train_ratio": train_ratio}
    alignment, metrics = _aligned(
        task,
        out_folder,
        data | {"lenient": lenient},
        force=force,
        read_seconds=time.perf_counter() - start,
        engine=engine,
        bootstrap=bootstrap,
        fusion_weight=fusion_weight,
        enhancement=enhancement,
        training=training,
        pairwise=pairwise,
        duplicates=list(dict.fromkeys(duplicates or ())),
        random_state=random_state,
        device=device,
    )
    found = len(alignment.found.groups)
    if as_json:
        print_json(metrics | {"out": str(out_folder), "found": found, "duplicates": len(alignment.duplicates)})
        return
    out.print(f"{task.name}: {len(task.kgs)} KGs, {counted(len(task.seeds), 'seed')}")
    out.print(f"found {counted(found, 'group')} among what is not seeds, in {metrics['seconds']['total']:.1f} s")
    if duplicates:
        names = ", ".join(dict.fromkeys(duplicates))
        out.print(f"{counted(len(alignment.duplicates), 'duplicate')} of {names} in these groups")
    show_how(alignment)
    show_metrics(metrics)
    out.print(f"\nwritten to {out_folder}: groups.tsv has the groups found, groups.parquet these and the seeds,")
    out.print("each member with its confidence")


def _refuse_unused(context: typer.Context, engine: str) -> None:
    """Options given for an engine that was not chosen would change nothing: said instead of ignored."""
    from multiea.pipeline import check_engine

    parts = check_engine(engine)
    of_training = {"strategy": "--strategy", "anchor": "--anchor", "epochs": "--epochs", "pairwise": "--pairwise"}
    unused = {} if len(parts) > 1 else {"fusion_weight": "--fusion-weight"}
    unused |= of_training if parts == ["propagation"] else {}
    unused |= {} if "propagation" in parts else {"bootstrap": "--bootstrap"}
    for name, option in unused.items():
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            fitting = {"bootstrap": "propagation", "pairwise": "an encoder alone, such as multiea"}
            use = fitting.get(name, "propagation+multiea")
            raise SettingError(f"{option} changes nothing with --engine {engine}; leave it out, or use {use}")


def _aligned(
    task: Task, out_folder: Path, data: dict[str, Any], *, force: bool, read_seconds: float = 0.0, **settings: Any
) -> tuple[Alignment, dict[str, Any]]:
    """Aligns a task, scores it and writes the run folder, with where the data came from."""
    from multiea.memory import peak_rss_mb
    from multiea.outputs.run_folder import save
    from multiea.pipeline import align as align_task

    start = time.perf_counter() - read_seconds
    alignment = align_task(task, **settings)
    alignment = replace(alignment, settings={"data": data, **alignment.settings})
    metrics = alignment.evaluate()
    seconds = {"read": read_seconds, **alignment.seconds, "total": time.perf_counter() - start}
    used = {"engine": alignment.settings["engine"]}
    used |= {name: alignment.history.get(name) for name in ("bootstrap", "search")}
    metrics |= {**used, "seconds": seconds, "peak_rss_mb": peak_rss_mb()}
    save(alignment, out_folder, metrics=metrics, force=force)
    return alignment, metrics


@app.command()
@command
def evaluate(
    run: Annotated[Path, typer.Argument(help="A run folder.", show_default=False)],
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Score a run against its held-out groups."""
    from multiea.outputs.run_folder import open_run

    metrics = open_run(run).evaluate()
    if as_json:
        print_json(metrics)
    else:
        show_metrics(metrics)


app.command()(reproduce)


def main() -> None:
    """The entry point."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # leaves through every `finally`, so that nothing is left
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show is no reason to stop
    app()
