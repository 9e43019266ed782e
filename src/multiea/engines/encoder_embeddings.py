"""Embeddings from a trained encoder: early stopping on validation seeds, then training again on all seeds."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from multiea.data.groups import ABSENT, Groups
from multiea.data.seed_split import SeedSplit
from multiea.data.task import Task
from multiea.engines.encoders.registry import ENCODERS
from multiea.engines.training import History, Score, TrainingGroups, fit
from multiea.foundation.errors import InputError, SettingError, unknown
from multiea.graph.canonical_order import sorted_groups
from multiea.graph.joint_graph import joint_graph
from multiea.settings.training import Training
from multiea.settings.tree import AlignSettings

log = logging.getLogger("multiea")
Validate = Callable[[Tensor, Task], Score]  # embeddings, and a task whose held-out groups are the validation seeds


@dataclass(frozen=True)
class EncoderEmbeddings:
    """Embeddings of all entities, (N, d), and the course of the training.

    final: from all seeds. without_validation: from training without the validation seeds, None where there were none.
    """

    final: Tensor
    without_validation: Tensor | None
    history: dict[str, Any]


def train_encoder(
    task: Task,
    split: SeedSplit,
    settings: AlignSettings,
    *,
    validate: Validate,
    device: torch.device,
    what: str = "training",
) -> EncoderEmbeddings:
    """Trains the encoder of the settings on a task's seeds; held-out groups are never used.

    The validation seeds decide after how many epochs to stop; then the encoder is trained again on all seeds for as
    long. task: in canonical order. what: the name of the work in progress reports.
    """
    trainer = _Trainer(task, settings, device)
    if not len(split.validation):
        if settings.training.validation_ratio:
            log.warning(
                "too few seeds to use some for validation: training takes all %s epochs, although fewer may be better",
                settings.training.epochs,
            )
        embeddings, history = trainer.train(split.seeds, settings.training.epochs, what)
        return EncoderEmbeddings(trainer.without_isolated(embeddings), None, asdict(history))
    to_validate = Task(task.kgs, split.seeds, split.validation)
    validated, history = trainer.train(
        split.seeds, settings.training.epochs, what, lambda current: validate(current, to_validate)
    )
    final = validated
    if len(split.seeds) != len(task.seeds) and not history.interrupted:
        embeddings, again = trainer.train(task.seeds, history.best_epoch, f"{what} again on all seeds")
        final = validated if again.interrupted else embeddings
        history = replace(
            history,
            seconds=history.seconds + again.seconds,
            peak_memory_mb=max(history.peak_memory_mb, again.peak_memory_mb),
            interrupted=again.interrupted,
        )
    return EncoderEmbeddings(trainer.without_isolated(final), trainer.without_isolated(validated), asdict(history))


class _Trainer:
    """Trains one encoder on different groups of the same task."""

    def __init__(self, task: Task, settings: AlignSettings, device: torch.device) -> None:
        assert settings.encoder is not None
        self._make, self._settings = ENCODERS[settings.encoder], settings
        self._graph = joint_graph(task, device)
        self._anchor = _anchor(task, settings.training)

    def train(
        self, groups: Groups, epochs: int, what: str, validate: Callable[[Tensor], Score] | None = None
    ) -> tuple[Tensor, History]:
        """Trains a new encoder on groups for at most so many epochs."""
        training, random_state = self._settings.training, self._settings.random_state
        initial = torch.Generator().manual_seed(random_state)
        encoder = self._make(self._graph, training.dimensions, training.layers, initial)
        draws = torch.Generator(device=self._graph.entity.device).manual_seed(random_state)
        to_fit = TrainingGroups(self._graph.joint_ids(groups), self._graph.entity_offsets, self._anchor)
        return fit(encoder, to_fit, training, epochs=epochs, generator=draws, validate=validate, what=what)

    def without_isolated(self, embeddings: Tensor) -> Tensor:
        """Embeddings with zero for isolated entities, which resemble no other."""
        return embeddings * (self._graph.degrees() > 0)[:, None]


def train_encoder_pairwise(
    task: Task, split: SeedSplit, settings: AlignSettings, *, validate: Validate, device: torch.device
) -> EncoderEmbeddings:
    """Trains the encoder on each pair of KGs separately, as methods for two KGs must, and joins the embeddings.

    The embeddings of all pairs are concatenated, zero in the pairs a KG does not belong to: the dot product of two
    embeddings is then the cosine in the one pair that both belong to. task: in canonical order.
    """
    if settings.training.anchor is not None:
        raise SettingError("an anchor KG has no meaning in pairwise training; leave it out")
    final, without_validation, histories = [], [], {}
    pairs = list(combinations(range(len(task.kgs)), 2))
    for number, pair in enumerate(pairs, 1):
        names = [task.kg_names[kg] for kg in pair]
        of_pair = SeedSplit(_groups_of_pair(split.seeds, pair), _groups_of_pair(split.validation, pair))
        if not len(of_pair.seeds):
            log.warning("too few seeds have members in both %s and %s: nothing is learned about this pair", *names)
            continue
        part = train_encoder(
            Task([task.kgs[kg] for kg in pair], _groups_of_pair(task.seeds, pair)),
            of_pair,
            settings,
            validate=validate,
            device=device,
            what=f"training {names[0]} with {names[1]} ({number} of {len(pairs)})",
        )
        final.append(_among_all(part.final, task, pair))
        validated = part.final if part.without_validation is None else part.without_validation
        without_validation.append(_among_all(validated, task, pair))
        histories["-".join(names)] = part.history
        if part.history["interrupted"] and number < len(pairs):
            raise KeyboardInterrupt  # without the other pairs there is no result
    if not final:
        raise InputError("no seed has members in two KGs: pairwise training has nothing to learn from")
    validated_all = torch.cat(without_validation, 1) if len(split.validation) else None
    return EncoderEmbeddings(torch.cat(final, 1), validated_all, _joined_history(histories))


def _joined_history(histories: dict[str, dict[str, Any]]) -> dict[str, Any]:
    joined: dict[str, Any] = {"pairs": histories}
    combine: dict[str, Callable[[list[Any]], Any]] = {"parameters": sum, "seconds": sum, "peak_memory_mb": max}
    for name, combined in (combine | {"interrupted": any}).items():
        joined[name] = combined([of_pair[name] for of_pair in histories.values()])
    return joined


def _groups_of_pair(groups: Groups, pair: Sequence[int]) -> Groups:
    """The groups with members in both KGs of a pair, in canonical order."""
    members = groups.members[:, list(pair)]
    both = members[(members != ABSENT).all(axis=1)]
    return sorted_groups(Groups(tuple(groups.kg_names[kg] for kg in pair), both))


def _among_all(embeddings: Tensor, task: Task, pair: tuple[int, ...]) -> Tensor:
    """Embeddings of two KGs among those of all, zero elsewhere."""
    sizes = [len(kg.entities) for kg in task.kgs]
    parts = dict(zip(pair, torch.split(embeddings, [sizes[kg] for kg in pair]), strict=True))
    width = embeddings.shape[1]
    return torch.cat([parts.get(kg, embeddings.new_zeros(size, width)) for kg, size in enumerate(sizes)])


def _anchor(task: Task, training: Training) -> int:
    """The number of the anchor KG: the one of the settings, or the one with the most triples."""
    if training.anchor is None:
        return max(range(len(task.kgs)), key=lambda kg: (len(task.kgs[kg].triples), task.kgs[kg].name))
    if training.anchor not in task.kg_names:
        raise InputError(unknown(training.anchor, task.kg_names, what="anchor KG"))
    return task.kg_names.index(training.anchor)
