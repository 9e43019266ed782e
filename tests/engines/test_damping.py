"""The numbers that describe relations: damped, in random or in principal directions."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from multiea.engines.damping import damp_and_project, principal_numbers

KGS, RELATIONS, DIMENSIONS = 3, 60, 64


def states_of(noise: float) -> list[list[Tensor]]:
    """For each KG the states of the same relations after two hops, with noise of its own and a common direction."""
    generator = torch.Generator().manual_seed(0)

    def drawn(rows: int) -> Tensor:
        return torch.randn(rows, DIMENSIONS, generator=generator)

    hops = [normalize(drawn(RELATIONS)) + 2 * normalize(drawn(1)) for _ in range(2)]
    return [[normalize(hop + noise * normalize(drawn(RELATIONS))) for hop in hops] for _ in range(KGS)]


def start(numbers: int) -> Tensor:
    return torch.randn(2 * DIMENSIONS, numbers, generator=torch.Generator().manual_seed(1))


def share_found(numbers: list[Tensor]) -> float:
    """How often a relation of the first KG is most similar to itself in the second."""
    return float(((numbers[0] @ numbers[1].t()).argmax(1) == torch.arange(RELATIONS)).float().mean())


def test_principal_directions_tell_relations_apart_by_fewer_numbers() -> None:
    states = states_of(0.5)
    random, principal = (
        share_found(describe(states, start(12), 0.5)) for describe in (damp_and_project, principal_numbers)
    )
    assert principal > random + 0.1


def test_with_as_many_numbers_as_dimensions_all_products_are_kept() -> None:
    states = states_of(0.5)
    numbers = principal_numbers(states, start(2 * DIMENSIONS), 0.0)
    whole = [normalize(torch.cat(of_kg, 1)) for of_kg in states]
    torch.testing.assert_close(numbers[0] @ numbers[1].t(), whole[0] @ whole[1].t(), atol=1e-3, rtol=0)


def test_damping_lets_a_common_direction_count_less() -> None:
    states = states_of(0.5)
    means = [
        float((numbers @ numbers.t()).mean())
        for numbers in (principal_numbers(states, start(24), s)[0] for s in (0.0, 0.5, 1.0))
    ]
    assert means[0] > means[1] > means[2]


def test_the_order_of_kgs_and_relations_changes_nothing() -> None:
    states, order = states_of(0.5), torch.randperm(RELATIONS, generator=torch.Generator().manual_seed(2))
    numbers = principal_numbers(states, start(16), 0.5)
    others = principal_numbers([[hop[order] for hop in of_kg] for of_kg in reversed(states)], start(16), 0.5)
    for one, other in zip(reversed(numbers), others, strict=True):
        torch.testing.assert_close(one[order], other, atol=1e-4, rtol=0)


@pytest.mark.parametrize("relations", [0, 1, 3])
def test_few_relations_and_those_without_a_state(relations: int) -> None:
    states = [[torch.zeros(relations, DIMENSIONS), torch.zeros(relations, DIMENSIONS)] for _ in range(2)]
    states[0][0][:1] = 1.0
    numbers = principal_numbers(states, start(8), 0.5)
    assert [part.shape for part in numbers] == [(relations, 8)] * 2
    assert all(part.isfinite().all() for part in numbers)
    assert not numbers[1].any()
