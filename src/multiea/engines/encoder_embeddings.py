"""Embeddings from a trained encoder: validation groups carved from the seeds, early stopping, training again on all."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch import Tensor

from multiea.data.groups import ABSENT, Groups
from multiea.data.task import Task
from multiea.engines.encoders.base import Encoder
from multiea.engines.encoders.gcn_align import GcnAlign
from multiea.engines.encoders.iptranse import IpTransE
from multiea.engines.encoders.kecg import Kecg
from multiea.engines.encoders.mtranse import MTransE
from multiea.engines.encoders.multiea import MultiEAEncoder
from multiea.engines.encoders.naea import Naea
from multiea.engines.encoders.psr import Psr
from multiea.engines.strategies import OWN
from multiea.engines.training import History, Score, Training, fit
from multiea.foundation.errors import InputError, SettingError, unknown
from multiea.graph.joint_graph import JointGraph, canonical, joint_graph
from multiea.pipeline.rehearsal import Learned, hold_back

log = logging.getLogger("multiea")

MakeEncoder = Callable[[JointGraph, int, int, torch.Generator], Encoder]
Validate = Callable[[Tensor, Task], Score]  # embeddings, and a task whose held-out groups are those to validate on


@dataclass(frozen=True)
class Method:
    """An encoder, and the settings it is trained with unless others are given."""

    make: MakeEncoder
    usual: Training


TRANSLATING = Training(strategy="each", epochs=300, look_every=25)
ATTENDING = Training(strategy="each", epochs=300)
ENCODERS: dict[str, Method] = {
    "multiea": Method(MultiEAEncoder, Training()),
    "mtranse": Method(MTransE, TRANSLATING),
    "iptranse": Method(IpTransE, TRANSLATING),
    "gcn-align": Method(GcnAlign, ATTENDING),
    "kecg": Method(Kecg, ATTENDING),
    "naea": Method(Naea, ATTENDING),
    "psr": Method(Psr, replace(ATTENDING, strategy=OWN)),
}
PROPAGATION = "propagation"  # the engine that is no encoder


def register_encoder(name: str, make: MakeEncoder, usual: Training | None = None) -> None:
    """Makes an encoder of your own an engine, under this name: `align(task, engine=name)`.

    make: an Encoder subclass, or what makes one from (graph, dimensions, layers, generator). usual: the settings it is
    trained with unless others are given.
    """
    if not isinstance(name, str) or not re.fullmatch(r"[\w-]+", name):
        raise SettingError(f"an engine's name must be letters, digits, - and _; got {name!r}")
    if name in (PROPAGATION, *ENCODERS):
        raise SettingError(f"there is an engine '{name}' already; choose another name")
    ENCODERS[name] = Method(make, Training() if usual is None else usual)


def learn(
    task: Task,
    encoder: str,
    settings: Training,
    *,
    validate: Validate,
    device: torch.device,
    random_state: int,
    split: tuple[Groups, Groups] | None = None,
    what: str = "training",
) -> Learned:
    """Trains on the task's seeds alone; its held-out groups are not looked at.

    Where there are seeds enough, some (or the task's own validation groups) tell after how many epochs to stop; then
    the encoder is trained anew on all seeds for as long. The order of entities, KGs and groups changes nothing.
    split: which seeds to learn from at first and which to hold back, where that is settled; of a canonical task.
    what: how its progress is called.
    """
    task, places = canonical(Task(task.kgs, task.seeds, validation=task.validation))
    graph = joint_graph(task, device)
    anchor = _anchor(task, settings)

    def run(
        groups: Groups, epochs: int, score: Callable[[Tensor], Score] | None, stage: str = what
    ) -> tuple[Tensor, History]:
        start = torch.Generator().manual_seed(random_state)
        model = ENCODERS[encoder].make(graph, settings.dimensions, settings.layers, start)
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
            what=stage,
        )

    connected = graph.degrees() > 0
    seeds, validation = hold_back(task, settings.validation_ratio, random_state) if split is None else split

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
    embeddings, again = run(task.seeds, history.best_epoch, None, f"{what} again on all seeds")
    history = replace(
        history,
        seconds=history.seconds + again.seconds,
        peak_memory_mb=max(history.peak_memory_mb, again.peak_memory_mb),
        interrupted=again.interrupted,
    )
    return learned(validated if again.interrupted else embeddings, history, validated)


def learn_pairwise(
    task: Task, encoder: str, settings: Training, *, validate: Validate, device: torch.device, random_state: int
) -> Learned:
    """Trains each pair of KGs alone, as methods for two KGs must, and joins what comes of it.

    The embeddings of all pairs stand side by side, zero in the pairs a KG is not of: the product of two entities'
    embeddings is then their cosine in the one pair both are of. task: in its canonical order.
    """
    if settings.anchor is not None:
        raise SettingError("an anchor KG has no meaning pair by pair; leave it out")
    seeds, validation = hold_back(task, settings.validation_ratio, random_state)
    final, rehearsed, histories = [], [], {}
    all_pairs = list(combinations(range(len(task.kgs)), 2))
    for number, pair in enumerate(all_pairs, 1):
        names = [task.kg_names[kg] for kg in pair]
        of_seeds, of_validation, of_all = (_between(groups, pair) for groups in (seeds, validation, task.seeds))
        if not len(of_seeds):
            log.warning("too few seeds are in both %s and %s: pair by pair nothing is learned of them", *names)
            continue
        part = learn(
            Task([task.kgs[kg] for kg in pair], of_all),
            encoder,
            settings,
            validate=validate,
            device=device,
            random_state=random_state,
            split=(of_seeds, of_validation),
            what=f"training {names[0]} with {names[1]} ({number} of {len(all_pairs)})",
        )
        final.append(_placed(part.embeddings, task, pair))
        rehearsed.append(_placed(part.embeddings if part.rehearsed is None else part.rehearsed, task, pair))
        histories["-".join(names)] = part.history
        if part.history["interrupted"] and number < len(all_pairs):
            raise KeyboardInterrupt  # without the other pairs this is no result
    if not final:
        raise InputError("no seed has members in two KGs: nothing can be learned pair by pair")
    history: dict[str, Any] = {"pairs": histories}
    combined: dict[str, Callable[[list[Any]], Any]] = {"parameters": sum, "seconds": sum, "peak_memory_mb": max}
    for name, combine in (combined | {"interrupted": any}).items():
        history[name] = combine([of_pair[name] for of_pair in histories.values()])
    return Learned(
        torch.cat(final, 1), history, seeds, validation, torch.cat(rehearsed, 1) if len(validation) else None
    )


def _between(groups: Groups, pair: tuple[int, ...]) -> Groups:
    """The parts of groups that lie in two KGs, in the canonical order."""
    members = groups.members[:, list(pair)]
    members = members[(members != ABSENT).all(axis=1)]
    order = np.lexsort(list(members.T))
    return Groups(tuple(groups.kg_names[kg] for kg in pair), members[order])


def _placed(embeddings: Tensor, task: Task, pair: tuple[int, ...]) -> Tensor:
    """Embeddings of two KGs among those of all, zero elsewhere."""
    sizes = [len(kg.entities) for kg in task.kgs]
    parts = dict(zip(pair, torch.split(embeddings, [sizes[kg] for kg in pair]), strict=True))
    width = embeddings.shape[1]
    return torch.cat([parts.get(kg, embeddings.new_zeros(size, width)) for kg, size in enumerate(sizes)])


def _anchor(task: Task, settings: Training) -> int:
    """The anchor KG's position: the one asked for, else the one with most triples."""
    if settings.anchor is None:
        return max(range(len(task.kgs)), key=lambda kg: (len(task.kgs[kg].triples), task.kgs[kg].name))
    if settings.anchor not in task.kg_names:
        raise InputError(unknown(settings.anchor, task.kg_names, what="anchor KG"))
    return task.kg_names.index(settings.anchor)
