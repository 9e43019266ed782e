"""Common checks that all encoders pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import multiea
from multiea import Groups, SettingError, Task, register_encoder
from multiea.engines.encoders.base import Encoder
from multiea.engines.encoders.multiea import MultiEAEncoder
from multiea.engines.encoders.registry import ENCODERS
from multiea.engines.training import TrainingGroups, fit
from multiea.graph.joint_graph import joint_graph
from multiea.settings.engines import TRAINING_DEFAULTS
from support.quick import few_epochs_of
from support.shuffling import shuffled_task
from support.tasks import tiny_task

NAMES = sorted(ENCODERS)


def made(name: str, task: Task, seed: int = 0, dimensions: int = 8) -> Encoder:
    return ENCODERS[name](joint_graph(task), dimensions, 2, torch.Generator().manual_seed(seed))


@pytest.fixture
def early_soft_alignment(monkeypatch: pytest.MonkeyPatch) -> None:
    """IPTransE aligns pairs softly from the third epoch on, and with a lower threshold."""
    for name, value in {"SOFT_AFTER": 2, "SOFT_EVERY": 1, "NEAR": 0.1}.items():
        monkeypatch.setattr(f"multiea.engines.encoders.iptranse.{name}", value)


@pytest.mark.parametrize("kgs", [2, 3, 5])
@pytest.mark.parametrize("name", NAMES)
class TestShapeAndSeed:
    """For 2, 3 and 5 KGs."""

    def test_an_encoder_gives_each_entity_one_vector_of_unit_length(self, name: str, kgs: int) -> None:
        task = tiny_task(kgs)
        embeddings = made(name, task)()
        assert embeddings.ndim == 2
        assert len(embeddings) == sum(len(kg.entities) for kg in task.kgs)
        assert embeddings.isfinite().all()
        has_neighbours = joint_graph(task).degrees() > 0
        torch.testing.assert_close(embeddings.norm(dim=1)[has_neighbours], torch.ones(int(has_neighbours.sum())))

    def test_the_same_seed_gives_the_same_vectors_and_another_seed_others(self, name: str, kgs: int) -> None:
        task = tiny_task(kgs)
        embeddings = made(name, task)()
        assert torch.equal(embeddings, made(name, task)())
        assert not torch.equal(embeddings, made(name, task, seed=1)())

    def test_gradients_are_finite_and_some_parameter_has_one(self, name: str, kgs: int) -> None:
        task = tiny_task(kgs)
        encoder, graph = made(name, task), joint_graph(task)
        own = TRAINING_DEFAULTS[name].strategy == "own"
        encoder.begin(graph.joint_ids(task.seeds), own=own)
        generator = torch.Generator().manual_seed(0)
        weights = torch.randn(encoder().shape, generator=generator)
        loss = (encoder() * weights).sum()
        for part in (encoder.own_loss(generator), encoder.alignment_loss(generator) if own else None):
            loss = loss if part is None else loss + part
        loss.backward()
        gradients = [parameter.grad for parameter in encoder.parameters() if parameter.grad is not None]
        assert any(bool(gradient.any()) for gradient in gradients)
        assert all(bool(gradient.isfinite().all()) for gradient in gradients)


@pytest.mark.parametrize("name", NAMES)
def test_training_lowers_the_loss_and_all_gradients_are_finite(name: str) -> None:
    task = tiny_task(3, entities=12)
    graph = joint_graph(task)
    encoder = made(name, task)
    settings = replace(TRAINING_DEFAULTS[name], dimensions=8, epochs=40)
    groups = TrainingGroups(graph.joint_ids(task.seeds), graph.entity_offsets, anchor=0)
    _, history = fit(encoder, groups, settings, epochs=40, generator=torch.Generator().manual_seed(0))
    assert np.mean(history.losses[-5:]) < np.mean(history.losses[:5])
    for parameter in encoder.parameters():
        assert parameter.grad is None or parameter.grad.isfinite().all()
        assert parameter.isfinite().all()
    assert history.parameters == sum(parameter.numel() for parameter in encoder.parameters())
    assert history.peak_memory_mb > 0


@pytest.mark.parametrize("pairwise", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_entities_kgs_and_groups_changes_no_score(
    small: Task, name: str, pairwise: bool, early_soft_alignment: None
) -> None:
    training = few_epochs_of(name)
    scores, again = (
        multiea.align(task, engine=name, training=training, enhancement="none", pairwise=pairwise).evaluate()
        for task in (small, shuffled_task(small))
    )
    for pool in ("test", "all"):
        assert again["m_hits"][pool] == pytest.approx(scores["m_hits"][pool], abs=1e-6)
        assert again["mrr"][pool]["overall"] == pytest.approx(scores["mrr"][pool]["overall"], abs=1e-6)


@pytest.mark.parametrize("pairwise", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_held_out_groups_do_not_influence_training(
    small: Task, name: str, pairwise: bool, early_soft_alignment: None
) -> None:
    settings: dict[str, Any] = {"engine": name, "training": few_epochs_of(name), "pairwise": pairwise}
    permuted = np.random.default_rng(0).permuted(small.held_out.complete.members, axis=0)  # wrong groups
    wrong = Task(small.kgs, small.seeds, Groups(small.kg_names, permuted))
    without = Task(small.kgs, small.seeds, Groups(small.kg_names, permuted[:0]))
    expected = multiea.align(small, **settings)
    for task in (wrong, without):
        other = multiea.align(task, **settings)
        assert torch.equal(other.embeddings, expected.embeddings)
        histories = [alignment.history.get("pairs", {"": alignment.history}) for alignment in (other, expected)]
        assert [part["validation"] for part in histories[0].values()] == [
            part["validation"] for part in histories[1].values()
        ]


@pytest.mark.parametrize("name", NAMES)
def test_every_encoder_is_better_than_chance(small: Task, name: str) -> None:
    training = replace(TRAINING_DEFAULTS[name], dimensions=32, epochs=min(TRAINING_DEFAULTS[name].epochs, 200))
    scores = multiea.align(small, engine=name, enhancement="none", training=training).evaluate()
    candidates = len(small.held_out)
    assert scores["hits"]["test"]["overall"]["10"] > 3 * 10 / candidates


@pytest.mark.parametrize("kgs", [2, 3, 5])
@pytest.mark.parametrize("name", NAMES)
def test_isolated_entities_stay_unmatched(name: str, kgs: int) -> None:
    task = tiny_task(kgs, entities=12)
    alignment = multiea.align(task, engine=name, training=few_epochs_of(name))
    assert alignment.embeddings.isfinite().all()
    isolated = [kg.entities.to_list().index("isolated") for kg in task.kgs]
    for column, position in enumerate(isolated):
        assert position not in alignment.found.groups.members[:, column]


@pytest.mark.parametrize("name", ["multiea", "propagation", "a+b", "", "two words"])
def test_an_encoder_name_that_is_taken_or_invalid_is_refused(name: str) -> None:
    with pytest.raises(SettingError, match="name"):
        register_encoder(name, MultiEAEncoder)
