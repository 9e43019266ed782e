"""Aligning where the user wants it: in this process, or as a task on a cluster whose result is a run folder."""

from __future__ import annotations

import hashlib
import inspect
import pickle
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from multiea.data.task import Task
from multiea.engines.encoders.registry import ENCODERS, MakeEncoder, register_encoder
from multiea.grouping.alignment import AlignmentResult
from multiea.grouping.lineage import Ancestor
from multiea.pipeline.align import align
from multiea.pipeline.large_propagator import fitting, is_made_of_tasks
from multiea.runs.content_hashes import hash_of_content, hash_of_files, hash_of_groups
from multiea.runs.opening import open_run
from multiea.runs.run import Run
from multiea.runs.saving import check_can_be_saved, save_run
from multiea.settings.engines import TRAINING_DEFAULTS
from multiea.settings.training import Training
from multiea.settings.tree import AlignSettings
from multiea.tasks.runner import LocalRunner, Runner
from multiea.tasks.runner import Task as RunnerTask
from multiea.tasks.shards import Shards
from multiea.tasks.workplace import Workplace

GIVEN, RESULT, RUN = "given", "alignment", "run"  # shards, and the folder of the result
MAY_DIFFER = ("device",)  # settings that hardly change a result


@dataclass(frozen=True)
class Job:
    """What an alignment starts from. ancestor, grown_from: as `align` takes them."""

    task: Task
    settings: AlignSettings
    ancestor: Ancestor | None = None
    grown_from: AlignmentResult | None = None

    def identity(self) -> Mapping[str, Mapping[str, Any]]:
        """What two jobs must have in common for one to go on where the other was interrupted."""
        task = self.task
        groups = {"seeds": task.seeds, "validation groups": task.validation, "held-out groups": task.held_out}
        hashes = {name: hash_of_groups(part.to_table(task.kgs)) for name, part in groups.items()}
        hashes["open seeds"] = hash_of_groups(task.open_seeds.groups.to_table(task.kgs))
        program = {"own encoder": _source_of_own_encoder(self.settings)}
        if self.settings.name_model is not None:
            program["name model"] = hash_of_files(Path(self.settings.name_model))
        own = {k: v for k, v in self.settings.flat().items() if not k.startswith("data.") and k not in MAY_DIFFER}
        earlier = {"grown from": None if self.grown_from is None else self.grown_from.fingerprint}
        if self.ancestor is not None:
            content = self.ancestor.groups.write_csv().encode()
            earlier["previous"] = hashlib.sha256(content).hexdigest()
        return {
            "KG": {kg.name: hash_of_content(kg) for kg in task.kgs},
            "the": {"order of KGs": list(task.kg_names)} | hashes,
            "setting": own,
            "the content of": program,
            "earlier run": earlier,
        }


def aligned(job: Job, place: Workplace) -> Run:
    """The alignment; with its metrics and its run folder where a node of a cluster has made it."""
    if place.folder.is_named:
        place.folder.claim(job.identity())
    if place.cluster is not None and not is_made_of_tasks(job.task, job.settings):
        return _aligned_by_a_node(job, place)
    return Run(_align(job, place.runner()))


def _aligned_by_a_node(job: Job, place: Workplace) -> Run:
    """The whole alignment as one task: small data gains nothing from being spread."""
    from ray import cloudpickle  # deferred: an extra

    begin = time.perf_counter()
    check_can_be_saved(job.task)
    runner, folder = place.runner_of_whole(), place.folder.make() / RUN
    if RESULT not in runner.shards:
        content = cloudpickle.dumps((job, _own_encoder(job.settings)))
        runner.shards.put(GIVEN, {"pickled": np.frombuffer(content, np.uint8)})
    runner.run("aligning on the cluster", [RunnerTask(RESULT, align_on_node, (str(folder), runner.memory))])
    runner.shards.drop(GIVEN)
    run = open_run(folder)
    total = job.task.origin.seconds + time.perf_counter() - begin
    metrics = dict(run.metrics) | {"seconds": {**run.metrics["seconds"], "total": total}}
    alignment = replace(run.alignment, task=job.task, settings=job.settings)
    return Run(alignment, metrics, str(folder))


def align_on_node(shards: Shards, name: str, folder: str, memory: int) -> None:
    """Aligns what the shard `given` holds and writes a run folder."""
    job, encoder = pickle.loads(shards.get(GIVEN)["pickled"].tobytes())
    if encoder is not None:
        register_encoder(*encoder)
    runner = LocalRunner(shards, memory)
    alignment = _align(job, runner)
    save_run(Run.of(alignment, fitting(runner, job.task)), Path(folder), force=True)
    shards.put(name, {"groups": np.array(len(alignment.found.groups))})


def _align(job: Job, runner: Runner) -> AlignmentResult:
    return align(job.task, job.settings, ancestor=job.ancestor, grown_from=job.grown_from, runner=runner)


def _own_encoder(settings: AlignSettings) -> tuple[str, MakeEncoder, Training] | None:
    """An encoder that the user has registered: nodes do not know it."""
    name = settings.encoder
    if name is None or ENCODERS[name].__module__.startswith("multiea."):
        return None
    return name, ENCODERS[name], TRAINING_DEFAULTS[name]


def _source_of_own_encoder(settings: AlignSettings) -> str | None:
    """A hash of the module of an encoder that the user has registered; something new where its source is unknown."""
    encoder = _own_encoder(settings)
    if encoder is None:
        return None
    try:
        source = inspect.getsource(inspect.getmodule(encoder[1]) or encoder[1])
    except (OSError, TypeError):
        source = secrets.token_hex(8)
    return hashlib.sha256(f"{encoder[1].__qualname__} {encoder[2]} {source}".encode()).hexdigest()
