"""MultiEA's encoder against a literal, slow version of its equations."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from multiea import Task
from multiea.engines.encoders.multiea import MultiEAEncoder
from multiea.graph.joint_graph import joint_graph
from support.numerics import elu, unit_rows
from support.tasks import tiny_task


def literal_encoder(task: Task, encoder: MultiEAEncoder) -> np.ndarray:
    """Equations 1 to 8 literally, with a d x d matrix for each relation and a loop over neighbours."""
    h = encoder.entities.detach().double().numpy()
    g = encoder.relations.detach().double().numpy()
    g = g / np.linalg.norm(g, axis=1, keepdims=True)
    neighbours: list[set[tuple[int, int]]] = [set() for _ in h]
    entity_offset = relation_offset = 0
    for kg in task.kgs:
        for head, relation, tail in kg.triples.tolist():
            neighbours[head + entity_offset].add((relation + relation_offset, tail + entity_offset))
            neighbours[tail + entity_offset].add((relation + relation_offset, head + entity_offset))
        entity_offset += len(kg.entities)
        relation_offset += len(kg.relations)
    for i, of_i in enumerate(neighbours):
        of_i.add((len(g) - 1, i))  # the self-relation
    w = [np.eye(h.shape[1]) - 2 * np.outer(g_k, g_k) for g_k in g]
    for attention in encoder.attention:
        a_h, a_r, a_t = attention.detach().double().numpy()
        new = np.zeros_like(h)
        for i, of_i in enumerate(neighbours):
            pairs = sorted(of_i)
            beta = elu(np.array([a_h @ h[i] + a_r @ g[k] + a_t @ (w[k] @ h[j]) for k, j in pairs]))
            alpha = np.exp(beta) / np.exp(beta).sum()
            new[i] = elu(sum(weight * (w[k] @ h[j]) for weight, (k, j) in zip(alpha, pairs, strict=True)))
        h = new
    return unit_rows(h)


def encoder_of(task: Task, dimensions: int = 6, layers: int = 2) -> MultiEAEncoder:
    return MultiEAEncoder(joint_graph(task), dimensions, layers, torch.Generator().manual_seed(1))


@pytest.mark.parametrize("kgs", [2, 3, 5])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_the_encoder_computes_the_papers_equations(kgs: int, layers: int) -> None:
    task = tiny_task(kgs)
    encoder = encoder_of(task, layers=layers)
    output = encoder().detach().numpy()
    np.testing.assert_allclose(output, literal_encoder(task, encoder), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(output, axis=1), 1, atol=1e-5)


def test_the_encoders_gradients_match_finite_differences() -> None:
    encoder = encoder_of(tiny_task(2, 5), dimensions=3).double()
    names = [name for name, _ in encoder.named_parameters()]
    weights = torch.randn(encoder._graph.entities, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(2))

    def output(*parameters: torch.Tensor) -> torch.Tensor:
        embeddings: torch.Tensor = torch.func.functional_call(encoder, dict(zip(names, parameters, strict=True)), ())
        return (embeddings * weights).sum()

    assert torch.autograd.gradcheck(output, tuple(encoder.parameters()), atol=1e-4)
