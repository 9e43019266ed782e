"""Propagation: what embeddings contain, their sizes, and embeddings of some entities only."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from multiea import Groups, KnowledgeGraph, Propagation, SettingError, Task
from multiea.engines.adjacency import Adjacency
from multiea.engines.propagation import EmbeddingSizes, embed
from support.quick import SHORT_EMBEDDINGS, align

ONE_STEP = 4e-3  # at most, of embeddings in 8 bits


def test_the_mark_of_an_entity_is_not_part_of_its_own_embedding() -> None:
    """After one hop no mark has returned: with and without its own mark an entity has the same embedding."""
    kgs = [KnowledgeGraph.from_triples(name, [("0", "r", "1"), ("1", "r", "2"), ("2", "r", "0")]) for name in "ab"]
    groups = Groups.from_names(kgs, [{"a": "1", "b": "1"}, {"a": "0", "b": "0"}])
    first = int(kgs[0].positions(kgs[0].entities.filter(kgs[0].entities == "0"))[0])
    adjacencies = [Adjacency(kg) for kg in kgs]
    settings = Propagation(dimensions=128, relation_numbers=8, hops=1, view_weights=(0, 0, 1, 0))
    both, one = (embed(adjacencies, some, settings, 0) for some in (groups, groups.take(np.array([0]))))
    torch.testing.assert_close(both[0].float()[first], one[0].float()[first])


def test_embeddings_are_shorter_the_more_entities_there_are() -> None:
    settings = Propagation()
    widths = [EmbeddingSizes.of(settings, entities).width for entities in (1_000, 100_000, 1_000_000, 100_000_000)]
    assert widths[0] > widths[1] > widths[2] == widths[3]
    assert widths[3] >= 1024  # shorter ones would find less: their size is not limited by memory
    sizes = EmbeddingSizes.of(Propagation(dimensions=256, relation_numbers=7), 1_000)
    assert (sizes.dimensions, sizes.relation_numbers) == (256, 7)


def test_embeddings_of_some_entities_equal_those_of_all(small: Task) -> None:
    adjacencies = [Adjacency(kg) for kg in small.kgs]
    whole = embed(adjacencies, small.seeds, SHORT_EMBEDDINGS, 0)
    chosen = [np.arange(3, len(kg.entities), 4) for kg in small.kgs]
    outgoing = [adjacency.outgoing_of(entities) for adjacency, entities in zip(adjacencies, chosen, strict=True)]
    some = embed(adjacencies, small.seeds, SHORT_EMBEDDINGS, 0, outgoing=outgoing)
    for own, part, of_all in zip(chosen, some, whole, strict=True):
        torch.testing.assert_close(part.float(), of_all.float()[own], atol=ONE_STEP, rtol=0)


def test_the_size_of_blocks_changes_no_embedding(small: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    adjacencies = [Adjacency(kg) for kg in small.kgs]
    outgoing = [adjacency.outgoing for adjacency in adjacencies]
    whole = embed(adjacencies, small.seeds, SHORT_EMBEDDINGS, 0, outgoing=outgoing)
    monkeypatch.setattr("multiea.engines.adjacency.ENTRIES_AT_ONCE", 100)
    monkeypatch.setattr("multiea.engines.propagation.MOST_KEPT", 0)
    assert len([*outgoing[0].blocks()]) > 3
    for part, of_all in zip(
        embed(adjacencies, small.seeds, SHORT_EMBEDDINGS, 0, outgoing=outgoing), whole, strict=True
    ):
        torch.testing.assert_close(part.float(), of_all.float(), atol=ONE_STEP, rtol=0)
        assert (part.numbers == of_all.numbers).float().mean() > 0.99


def test_where_single_precision_does_not_converge_double_is_used(small: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = align(small, bootstrap="none").embeddings
    eigh = torch.linalg.eigh

    def fails_in_single(square: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        if square.dtype == torch.float32:
            raise torch.linalg.LinAlgError("failed to converge")  # type: ignore[attr-defined]
        lengths, directions = eigh(square)
        return lengths, directions

    monkeypatch.setattr(torch.linalg, "eigh", fails_in_single)
    cosines = (align(small, bootstrap="none").embeddings * expected).sum(1) / (expected**2).sum(1).clamp(min=1e-12)
    assert (cosines[expected.any(1)] - 1).abs().max() < 5e-3


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Propagation(dimensions=0), "propagation.dimensions must be a whole number of at least 1, got 0"),
        (lambda: Propagation(dimensions=100), "must be a multiple of 4 x columns"),
        (lambda: Propagation(own_weight=-1), "own_weight must be at least 0"),
        (lambda: Propagation(view_weights=(0, 0, 0, 0)), "view_weights must be four numbers of at least 0"),
        (lambda: Propagation(relation_discount=1.5), "relation_discount must be between 0 and 1"),
    ],
)
def test_settings_out_of_range_are_refused(wrong: Callable[[], object], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        wrong()
