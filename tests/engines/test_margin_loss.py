"""Strategies, negatives and the margin loss against literal versions of the paper's equations."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from multiea.engines.negatives import draw_negatives
from multiea.engines.strategies import STRATEGIES
from multiea.engines.training import margin_loss


def literal_distance(strategy: str, members: list[np.ndarray], anchor: np.ndarray | None) -> float:
    if strategy == "mean":
        centre = sum(members) / len(members)
        return sum(float(np.linalg.norm(member - centre)) for member in members)
    if strategy == "anchor":
        target = members[0] if anchor is None else anchor
        return sum(float(np.linalg.norm(member - target)) for member in members)
    return sum(float(np.linalg.norm(a - b)) for a in members for b in members)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("anchor", [0, 2])
def test_strategies_match_the_paper_and_absent_members_do_not_count(strategy: str, anchor: int) -> None:
    rng = np.random.default_rng(0)
    members, present = rng.normal(size=(20, 4, 5)), rng.random((20, 4)) < 0.7
    present[:, 1] = True
    result = STRATEGIES[strategy](torch.from_numpy(members), torch.from_numpy(present), anchor)
    for group in range(20):
        there = [members[group, kg] for kg in range(4) if present[group, kg]]
        target = members[group, anchor] if present[group, anchor] else None
        assert float(result[group]) == pytest.approx(literal_distance(strategy, there, target))


def test_negatives_keep_one_member_and_replace_all_others_from_their_own_kg() -> None:
    groups = torch.tensor([[0, 10, 30], [9, -1, 39], [5, 29, -1]])
    offsets = (0, 10, 30, 40)
    negatives = draw_negatives(groups, offsets, 200, torch.Generator().manual_seed(0))
    assert negatives.shape == (3, 200, 3, 3)
    for group, true in enumerate(groups.tolist()):
        for kept in range(3):
            drawn = negatives[group, :, kept]
            if true[kept] == -1:
                assert (drawn == -1).all()
                continue
            for kg in range(3):
                column = drawn[:, kg]
                if kg == kept or true[kg] == -1:
                    assert (column == true[kg]).all()
                else:
                    others = set(range(offsets[kg], offsets[kg + 1])) - {true[kg]}
                    assert set(column.tolist()) == others  # every other entity is drawn, the true one never


def test_a_kg_with_one_entity_gives_no_negative_member() -> None:
    negatives = draw_negatives(torch.tensor([[0, 1]]), (0, 1, 6), 5, torch.Generator().manual_seed(0))
    assert (negatives[0, :, 1, 0] == -1).all()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("chunk", [1, 1 << 25])
def test_the_loss_matches_the_paper_and_its_gradient_is_correct(
    strategy: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("multiea.engines.training.CHUNK_NUMBERS", chunk)
    generator = torch.Generator().manual_seed(3)
    embeddings = torch.nn.functional.normalize(torch.randn(12, 4, dtype=torch.float64, generator=generator))
    groups = torch.tensor([[0, 4, 8], [1, 5, -1], [2, -1, 9]])
    negatives = draw_negatives(groups, (0, 4, 8, 12), 3, generator)
    loss, gradient = margin_loss(embeddings, groups, negatives, STRATEGIES[strategy], 1, 1.0)

    def literal(x: np.ndarray) -> float:
        def distance(ids: list[int]) -> float:
            there = [x[i] for i in ids if i >= 0]
            return literal_distance(strategy, there, x[ids[1]] if ids[1] >= 0 else None)

        total = 0.0
        for group, false in zip(groups.tolist(), negatives.tolist(), strict=True):
            for some in false:
                for kept, negative in enumerate(some):
                    if group[kept] >= 0:
                        total += max(distance(group) - distance(negative) + 1.0, 0)
        return total

    x = embeddings.numpy()
    assert loss == pytest.approx(literal(x))
    rng = np.random.default_rng(0)
    for _ in range(10):
        direction = rng.normal(size=x.shape)
        numeric = (literal(x + 1e-6 * direction) - literal(x - 1e-6 * direction)) / 2e-6
        assert float((gradient.numpy() * direction).sum()) == pytest.approx(numeric, rel=1e-4, abs=1e-5)
