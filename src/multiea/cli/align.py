"""Commands about alignments: demo, align, evaluate."""

from __future__ import annotations

import logging
import shlex
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multiea.cli.console import command, out, print_json, print_table
from multiea.cli.options import DATASET_HELP, AsJson, Device, Force, Lenient, Out, RandomState, Seeds, ShowProgress
from multiea.cli.tables import show_how, show_kgs, show_metrics
from multiea.foundation.atomic_files import refuse_existing
from multiea.foundation.errors import OutputError, counted

if TYPE_CHECKING:
    from multiea.data.task import Task
    from multiea.grouping.alignment import Alignment
    from multiea.settings.configuration import Settings

log = logging.getLogger("multiea")
OPTIONS = {  # of align, and the settings they stand for
    "dataset": "data.source",
    "seeds": "data.seeds",
    "train_ratio": "data.train_ratio",
    "lenient": "data.lenient",
    "previous": "data.previous",
    "engine": "engine",
    "random_state": "random_state",
    "device": "device",
    "pairwise": "pairwise",
    "fusion_weight": "fusion_weight",
    "duplicates": "duplicates",
    "enhancement": "enhancement.mode",
    "bootstrap": "bootstrap.pool",
    "strategy": "training.strategy",
    "anchor": "training.anchor",
    "epochs": "training.epochs",
}


@command
def demo(
    out_folder: Annotated[Path, typer.Option("--out", help="The run folder to write.")] = Path("multiea-demo"),
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Align the embedded data set, three knowledge graphs of the world, and show the result."""
    from multiea.data.inspection import inspect as inspect_task
    from multiea.data.load import load
    from multiea.grouping.judging import judged_groups

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
    out.print(f"  multiea report {folder}        a page about it, to open in a browser")
    out.print("  multiea inspect FOLDER             what is in a data set of your own, and what is wrong with it")
    out.print("  multiea align FOLDER --out RUN     align it")


@command
def align(
    context: typer.Context,
    out_folder: Out,
    dataset: Annotated[
        list[str] | None, typer.Argument(help=f"{DATASET_HELP} May be left out where --config names it.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", help="A TOML file of settings, or a run folder to run again.")
    ] = None,
    settings_words: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="A setting, such as random_state=1; may be given several times.", metavar="KEY=VALUE"
        ),
    ] = None,
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
    previous: Annotated[
        Path | None, typer.Option("--previous", help="A run folder whose group ids are carried on.")
    ] = None,
    seeds: Seeds = None,
    train_ratio: Annotated[
        float | None, typer.Option(help="Share of known groups to learn from; 0.3 where the data set does not say.")
    ] = None,
    random_state: RandomState = 0,
    device: Device = "auto",
    lenient: Lenient = False,
    force: Force = False,
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Align the KGs of a data set and write what was found to a run folder.

    Options count more than --set, and --set more than --config. `multiea config init` writes a file of all settings.
    """
    from multiea.settings.configuration import Settings, from_file, from_words
    from multiea.settings.parsing import Given

    refuse_existing(out_folder, "run", force=force)
    given = [] if config is None else from_file(config)
    given += [one for words in settings_words or () for one in from_words(words)]
    given += [Given(OPTIONS[name], value, option) for name, value, option in _given_options(context)]
    settings = Settings.of(given)
    align_as_set(settings, out_folder, force=force, as_json=as_json, like=None if dataset else config)


def align_as_set(settings: Settings, out_folder: Path, *, force: bool, as_json: bool, like: Path | None = None) -> None:
    """Aligns as the settings say, writes the run folder and shows what came of it.

    like: where settings came from; if that is a run, KGs that have changed since are named.
    """
    from multiea.data.write import refuse_unwritable_entities

    before = settings.data.grown_from
    if before is not None:
        _refuse_writing_over(out_folder, before)
    start = time.perf_counter()
    task = settings.load()
    refuse_unwritable_entities(task)
    if like is not None:
        _warn_of_changes(task, like)
    alignment, metrics = _aligned(
        task,
        out_folder,
        asdict(replace(settings.data.lasting(), name=task.name)),
        force=force,
        read_seconds=time.perf_counter() - start,
        **settings.arguments(),
    )
    found, ids = len(alignment.found.groups), alignment.ids
    looked_for = {
        kg: count for kg, count in alignment.history.get("open_seeds", {}).items() if ids and kg in ids.new_kgs
    }
    if as_json:
        answer = metrics | {"out": str(out_folder), "found": found, "duplicates": len(alignment.duplicates)}
        answer |= {"open_seeds": looked_for} if looked_for else {}
        print_json(answer if ids is None else answer | {"lineage": ids.fates(), "new_kgs": list(ids.new_kgs)})
        return
    out.print(f"{task.name}: {len(task.kgs)} KGs, {counted(len(alignment.known.groups), 'seed')}")
    out.print(f"found {counted(found, 'group')} among what is not seeds, in {metrics['seconds']['total']:.1f} s")
    for kg, count in looked_for.items():
        told = f"of {counted(count['looked_for'], 'seed')} that no line of {settings.data.seeds} ties to {kg}"
        out.print(f"{told}, {count['found']:,} found a member there")
    if settings.duplicates:
        names = ", ".join(alignment.settings["duplicates"])
        out.print(f"{counted(len(alignment.duplicates), 'duplicate')} of {names} in these groups")
    if ids is not None:
        fates = ", ".join(f"{count:,} {fate}" for fate, count in ids.fates().items() if count)
        out.print(f"ids follow {before or settings.data.previous}: {fates}; lineage.tsv says which")
    show_how(alignment)
    show_metrics(metrics)
    out.print(f"\nwritten to {out_folder}: groups.tsv has the groups found, groups.parquet these and the seeds,")
    out.print("each member with its confidence")


def _warn_of_changes(task: Task, like: Path) -> None:
    """Says where a run whose settings are used was made of other data."""
    from multiea.runs.opening import changed_since
    from multiea.runs.saving import FILES

    folder = like if like.is_dir() else like.parent
    if all((folder / name).is_file() for name in FILES):
        changed = changed_since(folder, task)
        if changed:
            log.warning(
                "not as they were when %s was made: %s; other groups may come of it", folder, ", ".join(changed)
            )


def _refuse_writing_over(out_folder: Path, run: str) -> None:
    """A run that a KG is added to is needed as long as the new one: its data set is found through it."""
    from multiea.runs.files import folders_grown_from

    if out_folder.resolve() in [folder.resolve() for folder in folders_grown_from(run)]:
        raise OutputError(f"{out_folder} is what the new run grows from; write to another folder")


def _given_options(context: typer.Context) -> Iterator[tuple[str, Any, str]]:
    """The options that someone wrote: name, value and how the option is spelt."""
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if name in OPTIONS and source is not None and source.name == "COMMANDLINE":
            value = context.params[name]
            value = str(value) if isinstance(value, Path) else tuple(value) if isinstance(value, list) else value
            yield name, value, parameter.opts[0]


def _aligned(
    task: Task, out_folder: Path, data: dict[str, Any], *, force: bool, read_seconds: float = 0.0, **settings: Any
) -> tuple[Alignment, dict[str, Any]]:
    """Aligns a task, scores it and writes the run folder, with where the data came from."""
    from multiea.foundation.memory import peak_rss_mb
    from multiea.pipeline.align import align as align_task
    from multiea.runs.saving import save

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


@command
def evaluate(
    run: Annotated[Path, typer.Argument(help="A run folder.", show_default=False)],
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Score a run against its held-out groups."""
    from multiea.runs.opening import open_run

    metrics = open_run(run).evaluate()
    if as_json:
        print_json(metrics)
    else:
        show_metrics(metrics)
