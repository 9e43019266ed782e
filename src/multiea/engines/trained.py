"""Embeddings from a trained encoder: validation groups carved from the seeds, early stopping, training again on all."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import asdict, replace

import torch
from torch import Tensor, nn

from multiea.data.groups import Groups
from multiea.data.task import Task
from multiea.engines.encoders.multiea import MultiEAEncoder
from multiea.engines.rehearsal import Learned, hold_back
from multiea.engines.training import History, Score, Training, fit
from multiea.errors import InputError, unknown
from multiea.graph import JointGraph, canonical, joint_graph

log = logging.getLogger("multiea")

MakeEncoder = Callable[[JointGraph, int, int, torch.Generator], nn.Module]
Validate = Callable[[Tensor, Task], Score]  # embeddings, and a task whose held-out groups are those to validate on

ENCODERS: dict[str, MakeEncoder] = {"multiea": MultiEAEncoder}


def learn(
    task: Task, encoder: str, settings: Training, *, validate: Validate, device: torch.device, random_state: int
) -> Learned:
    """Trains on the task's seeds alone; its held-out groups are not looked at.

    Where there are seeds enough, some (or the task's own validation groups) tell after how many epochs to stop; then
    the encoder is trained anew on all seeds for as long. The order of entities, KGs and groups changes nothing.
    """
    task, places = canonical(Task(task.kgs, task.seeds, validation=task.validation))
    graph = joint_graph(task, device)
    anchor = _anchor(task, settings)

    def run(
        groups: Groups, epochs: int, score: Callable[[Tensor], Score] | None, what: str = "training"
    ) -> tuple[Tensor, History]:
        start = torch.Generator().manual_seed(random_state)
        model = ENCODERS[encoder](graph, settings.dimensions, settings.layers, start)
        draws = torch.Generator(device=graph.entity.device).manual_seed(random_state)
        ids = graph.joint_ids(groups)
        return fit(
            model,
            ids,
            graph.entity_offsets,
            settings,
            anchor=anchor,
            epochs=epochs,
            generator=draws,
            validate=score,
            what=what,
        )

    connected = graph.degrees() > 0
    seeds, validation = hold_back(task, settings.validation_ratio, random_state)

    def learned(embeddings: Tensor, history: History, validated: Tensor | None = None) -> Learned:
        def in_given_order(part: Tensor) -> Tensor:
            return (part * connected[:, None])[places.to(part.device)]  # an isolated entity is like no other

        rehearsed = None if validated is None else in_given_order(validated)
        return Learned(in_given_order(embeddings), asdict(history), seeds, validation, rehearsed)

    if not len(validation):
        if settings.validation_ratio:
            log.warning(
                "too few seeds to set some aside for validation: training takes %s epochs, and fewer may do better",
                settings.epochs,
            )
        return learned(*run(seeds, settings.epochs, None))
    validated, history = run(
        seeds, settings.epochs, lambda current: validate(current, Task(task.kgs, seeds, validation))
    )
    if len(seeds) == len(task.seeds) or history.interrupted:
        return learned(validated, history, validated)
    embeddings, again = run(task.seeds, history.best_epoch, None, "training again on all seeds")
    history = replace(history, seconds=history.seconds + again.seconds, interrupted=again.interrupted)
    return learned(validated if again.interrupted else embeddings, history, validated)


def _anchor(task: Task, settings: Training) -> int:
    """The anchor KG's position: the one asked for, else the one with most triples."""
    if settings.anchor is None:
        return max(range(len(task.kgs)), key=lambda kg: (len(task.kgs[kg].triples), task.kgs[kg].name))
    if settings.anchor not in task.kg_names:
        raise InputError(unknown(settings.anchor, task.kg_names, what="anchor KG"))
    return task.kg_names.index(settings.anchor)
