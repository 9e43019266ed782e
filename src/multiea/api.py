"""The public API: what `multiea.align`, `multiea.add` and `multiea.open` return, and what can be done with it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from multiea.data.groups import Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.load import load
from multiea.data.task import Task
from multiea.evaluation.evaluate import evaluate
from multiea.exports.choices import Choices, Written
from multiea.foundation.atomic_files import refuse_existing
from multiea.foundation.errors import SettingError, check_kind, path_of, resolve, unknown
from multiea.grouping.alignment import AlignmentResult
from multiea.pipeline.growing import grown_task
from multiea.pipeline.large_propagator import fitting
from multiea.pipeline.single_pass import regroup
from multiea.runs.aligning import Job, aligned
from multiea.runs.files import read_ancestor
from multiea.runs.loading import load_task
from multiea.runs.opening import Source, open_run, warn_of_changes
from multiea.runs.run import Run
from multiea.runs.saving import check_can_be_saved, copy_run, refuse_replacing_earlier_runs, save_run
from multiea.settings.data import Data, absolute
from multiea.settings.engines import PROPAGATION
from multiea.settings.enhancement import Enhancement
from multiea.settings.tree import AlignSettings
from multiea.tasks.resources import Resources, refuse_overlap
from multiea.tasks.workplace import prepared

if TYPE_CHECKING:
    from multiea.explain.explainer import Explainer
    from multiea.explain.explanation import Explanation

log = logging.getLogger("multiea")


class Alignment(AlignmentResult):
    """An alignment: its groups, scores, and every way to save or export it."""

    @classmethod
    def of(cls, result: AlignmentResult) -> Alignment:
        """The same result, with all methods of the public API."""
        return cls(**{part.name: getattr(result, part.name) for part in fields(result)})

    def evaluate(self, held_out: Groups | None = None) -> dict[str, Any]:
        """Scores against held-out groups (the task's own by default), as in metrics.json."""
        check_kind(held_out, Groups | None, "held_out", "Groups")
        return evaluate(self, held_out)

    def explain(self, entity: str, other: str | None = None) -> Explanation:
        """Why two entities are in one group or not, in log-odds; of one entity, its group or its best candidates.

        An entity is given by its id, as kg/id or kg:id, or by a name that one entity has.

        >>> print(alignment.explain("en/Oslo", "fr/Oslo"))  # doctest: +SKIP
        """
        return self._explainer.explain(entity, other)

    @cached_property
    def _explainer(self) -> Explainer:
        from multiea.explain.explainer import Explainer  # deferred: aligning needs no explanations

        return Explainer(self)

    def with_enhancement(self, enhancement: Enhancement) -> Alignment:
        """The same embeddings, compared and grouped in another way."""
        check_kind(enhancement, Enhancement, "enhancement", "a multiea.Enhancement")
        return regroup(self, enhancement)

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Writes a run folder, the same as the command line writes; multiea.open reads it."""
        save_run(Run.of(self), path_of(folder, "a run folder"), force=force)

    def report(self, path: str | Path, *, metrics: Mapping[str, Any] | None = None, force: bool = False) -> None:
        """Writes one HTML page about it; metrics, as evaluate returns them, add the scores by rank."""
        from multiea.report.page import write_report  # deferred: aligning needs no report

        check_kind(metrics, Mapping | None, "metrics", "what evaluate returns")
        write_report(Run(self, metrics or {}), path_of(path, "a report"), force=force)

    def export(self, to: str, out: str | Path, *, force: bool = False, **choices: Any) -> Written:
        """Writes it in a standard format: groups, sssom, same-as, alignment-rdf, merged, networkx, pyg.

        choices: fields of Choices (closure, predicate, prefer, undo); those that a format does not use are refused.
        """
        from multiea.exports.export import FORMATS, export, refuse_unused_options  # deferred: aligning needs no exports

        names = [part.name for part in fields(Choices)]
        for name in choices:
            if name not in names:
                raise SettingError(unknown(name, names, what="choice"))
        resolve(to, FORMATS, what="format")
        refuse_unused_options(to, list(choices))
        return export(Run(self), to, path_of(out, "an export"), Choices(**choices), force=force)

    def to_groups(self, out: str | Path, *, force: bool = False) -> Written:
        """Writes all members of all groups as .tsv, .csv, .jsonl or .parquet."""
        return self.export("groups", out, force=force)

    def to_sssom(self, out: str | Path, *, predicate: str = Choices.predicate, force: bool = False) -> Written:
        """Writes mappings of all pairs as SSSOM TSV."""
        return self.export("sssom", out, predicate=predicate, force=force)

    def to_same_as(
        self, out: str | Path, *, closure: bool = False, prefer: Sequence[str] = (), force: bool = False
    ) -> Written:
        """Writes owl:sameAs triples as N-Triples."""
        return self.export("same-as", out, closure=closure, prefer=prefer, force=force)

    def to_alignment_rdf(self, out: str | Path, *, force: bool = False) -> Written:
        """Writes a folder with one file of the Alignment format per pair of KGs."""
        return self.export("alignment-rdf", out, force=force)

    def to_merged(
        self, out: str | Path, *, prefer: Sequence[str] = (), undo: bool = True, force: bool = False
    ) -> Written:
        """Writes the merged KG as .nq or .parquet, with files that lead back to the original KGs."""
        return self.export("merged", out, prefer=prefer, undo=undo, force=force)

    def to_networkx(self, *, prefer: Sequence[str] = ()) -> Any:
        """The merged KG as a networkx MultiDiGraph."""
        from multiea.exports.graph_objects import to_networkx  # deferred: aligning needs no exports
        from multiea.exports.representatives import merged_names

        run = Run(self)
        return to_networkx(run, merged_names(run, prefer))

    def to_pyg(self, *, prefer: Sequence[str] = ()) -> Any:
        """The merged KG as PyTorch Geometric's Data."""
        from multiea.exports.graph_objects import to_pyg  # deferred: aligning needs no exports
        from multiea.exports.representatives import merged_names

        run = Run(self)
        return to_pyg(run, merged_names(run, prefer))


EarlierRun = AlignmentResult | str | Path


def align(
    task: Task | Mapping[str, Any],
    settings: AlignSettings | None = None,
    *,
    previous: EarlierRun | None = None,
    grown_from: EarlierRun | None = None,
    memory: str | int | None = None,
    work_folder: str | Path | None = None,
    cluster: str | None = None,
    **shortcuts: Any,
) -> Alignment:
    """Aligns all KGs of a task in a single pass, learning from its seeds only.

    task: a Task, or one table per KG such as {"a": table, "b": table}, as `load` takes them.
    settings: an AlignSettings; its data settings are for `load_task`. shortcuts: single settings by name, such as
    engine="multiea", bootstrap="none", enhancement="none", random_state=1, device="cpu", duplicates=["en"],
    training=Training(epochs=5). previous: an alignment or a run folder whose group ids are carried on; it changes
    nothing else. grown_from: an alignment or a run folder of all KGs but a new one, from which bootstrapping starts;
    `add` makes the task for it. memory: how much may be used, such as "8GiB"; work_folder: for large arrays, and to go
    on after an interruption; cluster: "auto", "local" or the address of a Ray cluster. These three change no result.

    >>> multiea.align(multiea.load("world")).groups  # doctest: +SKIP
    """
    resources = Resources(memory, work_folder, cluster)
    job = _job(task, settings, previous, grown_from, shortcuts)
    with prepared(resources) as place:
        return Alignment.of(aligned(job, place).alignment)


def _job(
    task: Task | Mapping[str, Any],
    settings: AlignSettings | None,
    previous: EarlierRun | None,
    grown_from: EarlierRun | None,
    shortcuts: Mapping[str, Any],
) -> Job:
    """What `align` was asked to do, checked."""
    if "seeds" in shortcuts:
        raise SettingError("seeds belong to the data; use multiea.align(multiea.load(tables, seeds=seeds))")
    if isinstance(task, Mapping):
        task = load(task)
    if not isinstance(task, Task):
        raise SettingError(
            f'align takes a Task or tables by name, such as {{"a": table, "b": table}}, got {type(task).__name__}; '
            "multiea.load reads a Task from files"
        )
    settings = settings_with(settings, shortcuts)
    _warn_of_unused_data_settings(settings.data, task)
    previous = settings.data.previous if previous is None else previous
    grown_from = settings.data.grown_from if grown_from is None else grown_from
    for name, earlier in (("previous", previous), ("grown_from", grown_from)):
        if not isinstance(earlier, EarlierRun | None):
            raise SettingError(f"{name} must be an alignment or a run folder, got {type(earlier).__name__}")
    ancestor = None
    if previous is not None:
        ancestor = previous.as_ancestor() if isinstance(previous, AlignmentResult) else read_ancestor(previous)
    before = grown_from if isinstance(grown_from, AlignmentResult | None) else open_run(grown_from).alignment
    settings = replace(settings, data=recorded_data(task, settings.random_state, previous))
    return Job(task, settings, ancestor, before)


def settings_with(settings: AlignSettings | None, shortcuts: Mapping[str, Any]) -> AlignSettings:
    """The settings with single settings changed by name; those of the engine where none are given."""
    if settings is None:
        others = {name: value for name, value in shortcuts.items() if name != "engine"}
        return AlignSettings.default(shortcuts.get("engine", PROPAGATION), **others)
    if not isinstance(settings, AlignSettings):
        raise SettingError(f"settings must be an AlignSettings, got {settings!r}")
    return settings.changed(**shortcuts)


def _warn_of_unused_data_settings(data: Data, task: Task) -> None:
    """Warns of settings of the data set that the task was not loaded with."""
    given, used = data.with_absolute_paths(), task.origin.data
    for name in ("source", "seeds", "train_ratio", "validation_ratio", "lenient"):
        if getattr(given, name) and getattr(given, name) != getattr(used, name):
            log.warning("data.%s of the settings is not used: the task was loaded without it; use load_task", name)


def recorded_data(task: Task, random_state: int, previous: EarlierRun | None) -> Data:
    """The data settings that a run records: where the task comes from, and the previous run."""
    data = task.origin.data
    path = absolute(previous) if isinstance(previous, str | Path) and data.grown_from is None else None
    split_state = None if data.random_state == random_state else data.random_state
    return replace(data, name=task.name, previous=path, random_state=split_state)


def add(
    alignment: AlignmentResult,
    kg: KnowledgeGraph,
    seeds: Groups,
    settings: AlignSettings | None = None,
    *,
    held_out: Groups | None = None,
    **shortcuts: Any,
) -> Alignment:
    """Adds a KG to an alignment; old groups keep their ids.

    alignment: with triples, as `align` returns it or multiea.open(run, with_triples=True). seeds, held_out: groups over
    its KGs and, last, the new one. settings, shortcuts: as in `align`, with an engine that uses propagation.

    >>> seeds = Groups.from_names([*alignment.task.kgs, kg], [{"en": "Oslo", "no": "Oslo"}])  # doctest: +SKIP
    >>> multiea.add(alignment, kg, seeds)  # doctest: +SKIP
    """
    kinds = ((alignment, AlignmentResult), (kg, KnowledgeGraph), (seeds, Groups), (held_out, Groups | None))
    for value, kind in kinds:
        if not isinstance(value, kind):
            raise SettingError(f"add takes an alignment, a KnowledgeGraph and Groups, got {type(value).__name__}")
    task = grown_task(alignment.task, kg, seeds, held_out)
    return align(task, settings, grown_from=alignment, **shortcuts)


def open(folder: str | Path, *, with_triples: bool = False, data: Source | None = None) -> Alignment:  # noqa: A001
    """The alignment of a run folder.

    Its KGs have their entities and names. with_triples reads the triples from the data set the run was made from, or
    from `data` if that has moved; it must not have changed since.
    """
    return Alignment.of(open_run(folder, with_triples=with_triples, data=data).alignment)


def align_and_save(
    settings: AlignSettings,
    out: str | Path,
    *,
    force: bool = False,
    rerun_of: str | Path | None = None,
    task: Task | None = None,
    resources: Resources | None = None,
) -> Run:
    """Loads the task of the settings, aligns it, and writes the run folder, as `multiea align` does.

    rerun_of: where the settings came from; if that is a run, a warning names the KGs that have changed since. task: the
    one of the settings, where it is loaded already. resources: where it runs, with how much memory.
    """
    check_kind(settings, AlignSettings, "settings", "a multiea.AlignSettings")
    out = path_of(out, "a run folder")
    refuse_existing(out, "run", force=force)
    refuse_overlap(out, resources)
    if settings.data.grown_from is not None:
        refuse_replacing_earlier_runs(out, settings.data.grown_from)
    with prepared(resources or Resources(), beside=out) as place:
        task = load_task(settings) if task is None else task
        check_can_be_saved(task)
        if rerun_of is not None:
            warn_of_changes(task, Path(rerun_of))
        made = aligned(_job(task, settings, None, None, {}), place)
        run = replace(made, alignment=Alignment.of(made.alignment))
        if run.folder is not None:
            copy_run(run, out, force=force)
            return replace(run, folder=None)
        run = Run.of(run.alignment, fitting(place.runner(), task))
        save_run(run, out, force=force)
        return run
