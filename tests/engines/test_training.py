"""Training an encoder: early stopping, interruption, negatives, validation seeds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

import multiea
from multiea import AlignSettings, MultiEAError, Task
from multiea.data.seed_split import split_seeds
from multiea.engines import encoder_embeddings
from multiea.engines.encoders.multiea import MultiEAEncoder
from multiea.engines.negatives import draw_negatives
from multiea.engines.training import History, TrainingGroups, fit
from multiea.graph.canonical_order import CanonicalOrder
from multiea.graph.joint_graph import joint_graph
from support.quick import FEW_EPOCHS


def encoder_and_groups(task: Task) -> tuple[MultiEAEncoder, TrainingGroups, torch.Generator]:
    graph, generator = joint_graph(task), torch.Generator().manual_seed(0)
    groups = TrainingGroups(graph.joint_ids(task.seeds), graph.entity_offsets, anchor=0)
    return MultiEAEncoder(graph, 16, 2, generator), groups, generator


def test_early_stopping_keeps_the_best_evaluation_and_stops_when_patience_ends(small: Task) -> None:
    scores = iter([(0.1,), (0.5,), (0.4,), (0.3,), (0.9,)])
    encoder, groups, generator = encoder_and_groups(small)
    settings = replace(FEW_EPOCHS, epochs=50, evaluate_every=2, patience=2)
    seen = []

    def validate(embeddings: Tensor) -> tuple[float, ...]:
        seen.append(embeddings)
        return next(scores)

    best, history = fit(encoder, groups, settings, epochs=50, generator=generator, validate=validate)
    assert torch.equal(best, seen[1])
    assert history.best_epoch == 4
    assert len(history.losses) == 8


def test_ctrl_c_keeps_the_best_embeddings_so_far(small: Task) -> None:
    encoder, groups, generator = encoder_and_groups(small)
    seen: list[Tensor] = []

    def validate(embeddings: Tensor) -> tuple[float, ...]:
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(embeddings)
        return (float(-len(seen)),)

    settings = replace(FEW_EPOCHS, evaluate_every=1)
    best, history = fit(encoder, groups, settings, epochs=30, generator=generator, validate=validate)
    assert history.interrupted
    assert torch.equal(best, seen[0])


def test_ctrl_c_in_the_second_training_keeps_the_embeddings_that_validation_chose(
    small: Task, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    expected = multiea.align(small, engine="multiea", training=FEW_EPOCHS)
    calls = []

    def interrupted(*args: Any) -> Tensor:
        calls.append(1)
        if len(calls) == 12:  # ten epochs of the first training, then the second of the next
            raise KeyboardInterrupt
        return draw_negatives(*args)

    monkeypatch.setattr("multiea.engines.training.draw_negatives", interrupted)
    alignment = multiea.align(small, engine="multiea", training=FEW_EPOCHS)
    assert alignment.history["interrupted"]
    assert "interrupted" in caplog.text
    chosen = alignment.evaluate()["m_hits"]["test"]["10"]
    assert chosen > 0.6 * expected.evaluate()["m_hits"]["test"]["10"]


@pytest.mark.parametrize(("every", "draws"), [(1, 6), (3, 2), (10, 1)])
def test_negatives_are_drawn_again_as_often_as_the_settings_say(
    small: Task, monkeypatch: pytest.MonkeyPatch, every: int, draws: int
) -> None:
    encoder, groups, generator = encoder_and_groups(small)
    drawn = []

    def counting(*args: Any) -> Tensor:
        drawn.append(1)
        return draw_negatives(*args)

    monkeypatch.setattr("multiea.engines.training.draw_negatives", counting)
    fit(encoder, groups, replace(FEW_EPOCHS, refresh_every=every), epochs=6, generator=generator)
    assert len(drawn) == draws


def test_validation_groups_of_the_task_are_used_and_never_trained_on(small: Task) -> None:
    carved = Task(small.kgs, small.seeds).split(0.8, 0.2, random_state=3)
    seen = []

    def validate(_: Tensor, task: Task) -> tuple[float, ...]:
        seen.append((len(task.seeds), len(task.held_out)))
        return (0.0,)

    task = CanonicalOrder.of(Task(small.kgs, carved.seeds, validation=carved.validation)).canonical
    settings = AlignSettings.default("multiea", training=FEW_EPOCHS)
    split = split_seeds(task, FEW_EPOCHS.validation_ratio, random_state=0)
    encoder_embeddings.train_encoder(task, split, settings, validate=validate, device=torch.device("cpu"))
    assert set(seen) == {(len(carved.seeds), len(carved.validation))}


def test_after_validation_the_encoder_is_trained_on_all_seeds(small: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    trained_on = []

    def watched(encoder: MultiEAEncoder, groups: TrainingGroups, *args: Any, **kwargs: Any) -> tuple[Tensor, History]:
        trained_on.append((len(groups.ids), kwargs["epochs"]))
        return fit(encoder, groups, *args, **kwargs)

    monkeypatch.setattr(encoder_embeddings, "fit", watched)
    alignment = multiea.align(small, engine="multiea", training=FEW_EPOCHS)
    assert trained_on[0] == (len(small.seeds) - len(small.seeds) // 5, 10)
    assert trained_on[1] == (len(small.seeds), alignment.history["best_epoch"])


def test_training_that_diverges_is_an_error(small: Task) -> None:
    with pytest.raises(MultiEAError, match=r"training diverged in epoch \d+.*lower the learning rate"):
        multiea.align(small, engine="multiea", training=replace(FEW_EPOCHS, learning_rate=1e30))
