"""MultiEA's equations against a literal, slow version: encoder, strategies, negatives, loss, gradients."""

import numpy as np
import pytest
import torch

from multiea import Groups, KnowledgeGraph, SettingError, Task, register_encoder
from multiea.engines.encoders.multiea import MultiEAEncoder
from multiea.engines.negatives import draw_negatives
from multiea.engines.strategies import STRATEGIES
from multiea.engines.training import margin_loss
from multiea.graph.joint_graph import joint_graph
from multiea.graph.sparse import Pattern, dot_products, gather_rows, multiply, softmax_over_rows


def tiny_task(kgs: int = 3, entities: int = 7, seed: int = 0) -> Task:
    rng = np.random.default_rng(seed)
    graphs = []
    for number in range(kgs):
        ends = rng.integers(0, entities, (12, 2))
        triples = [(f"e{a}", f"r{rng.integers(3)}", f"e{b}") for a, b in ends]
        triples += [("e0", "r0", "e1"), ("e1", "r0", "e0"), ("e0", "r1", "e1")]  # both ways, and by two relations
        graphs.append(
            KnowledgeGraph.from_triples(
                f"kg{number}", triples, entities=["lonely", *(f"e{i}" for i in range(entities))]
            )
        )
    rows = [{f"kg{number}": f"e{i}" for number in range(kgs) if (i + number) % 4 or number < 2} for i in range(5)]
    return Task(graphs, Groups.from_names(graphs, rows))


def elu(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, x, np.exp(np.minimum(x, 0)) - 1)


def literal_encoder(task: Task, encoder: MultiEAEncoder) -> np.ndarray:
    """Equations 1 to 8 as they stand, with a d x d matrix for each relation and a loop over neighbours."""
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
    return h / np.linalg.norm(h, axis=1, keepdims=True)


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


def test_the_graph_holds_each_neighbour_once_and_every_entity_itself() -> None:
    task = tiny_task()
    graph = joint_graph(task)
    edges = list(zip(graph.entity.tolist(), graph.relation.tolist(), graph.neighbour.tolist(), strict=True))
    assert len(edges) == len(set(edges))
    own = {(i, graph.relations - 1, i) for i in range(graph.entities)}
    assert own <= set(edges)
    assert {(j, k, i) for i, k, j in edges} == set(edges)  # undirected


def test_sparse_operators_match_dense_ones_and_have_true_gradients() -> None:
    generator = torch.Generator().manual_seed(0)
    row, column = torch.randint(0, 6, (2, 15), generator=generator)
    pattern = Pattern(row, column, (6, 6))
    values = torch.randn(pattern.entries, dtype=torch.float64, generator=generator, requires_grad=True)
    left, right = torch.randn(2, 6, 4, dtype=torch.float64, generator=generator).requires_grad_()
    dense = pattern.matrix(values).to_dense()
    torch.testing.assert_close(multiply(pattern, values, right), dense @ right)
    at = pattern.matrix(torch.ones_like(values)).to_dense().bool()
    torch.testing.assert_close(dot_products(pattern, left, right), (left @ right.t())[at])
    leaves = tuple(x.detach().requires_grad_() for x in (left, right))
    assert torch.autograd.gradcheck(lambda v, x: multiply(pattern, v, x), (values, leaves[1]))
    assert torch.autograd.gradcheck(lambda x, y: dot_products(pattern, x, y), leaves)
    index = torch.tensor([[0, 3, 3], [5, 0, 0]])
    assert torch.autograd.gradcheck(lambda x: gather_rows(x, index), (leaves[0],))
    edges = torch.randn(15, dtype=torch.float64, generator=generator, requires_grad=True)
    assert torch.autograd.gradcheck(lambda e: softmax_over_rows(row, e, 6), (edges,))


def test_the_encoders_gradients_match_finite_differences() -> None:
    encoder = encoder_of(tiny_task(2, 5), dimensions=3).double()
    names = [name for name, _ in encoder.named_parameters()]
    weights = torch.randn(encoder._graph.entities, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(2))

    def output(*parameters: torch.Tensor) -> torch.Tensor:
        return (torch.func.functional_call(encoder, dict(zip(names, parameters, strict=True)), ()) * weights).sum()

    assert torch.autograd.gradcheck(output, tuple(encoder.parameters()), atol=1e-4)


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
def test_strategies_are_the_papers_and_partial_groups_count_what_they_have(strategy: str, anchor: int) -> None:
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
                    assert set(column.tolist()) == others  # all of them come, never the true one


def test_a_kg_of_one_entity_gives_no_false_member() -> None:
    negatives = draw_negatives(torch.tensor([[0, 1]]), (0, 1, 6), 5, torch.Generator().manual_seed(0))
    assert (negatives[0, :, 1, 0] == -1).all()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("chunk", [1, 1 << 25])
def test_the_loss_is_the_papers_and_its_gradient_true(
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


@pytest.mark.parametrize("name", ["multiea", "propagation", "a+b", "", "two words"])
def test_a_name_that_is_taken_or_cannot_be_an_engine_is_refused(name: str) -> None:
    with pytest.raises(SettingError, match="name"):
        register_encoder(name, MultiEAEncoder)
