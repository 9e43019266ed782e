"""The equations of each encoder against a literal, slow version."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
import torch

from multiea import Task
from multiea.engines.encoders.base import Translations
from multiea.engines.encoders.gcn_align import GcnAlign
from multiea.engines.encoders.iptranse import IpTransE
from multiea.engines.encoders.kecg import HEADS, Kecg
from multiea.engines.encoders.naea import Naea
from multiea.engines.encoders.psr import Psr
from multiea.graph.joint_graph import joint_graph
from support.numerics import elu, leaky_relu, softmax, unit_rows
from support.tasks import tiny_task


def tuples_of(task: Task, *, itself: bool) -> list[list[tuple[int, int]]]:
    """For each entity its tuples <relation, neighbour>."""
    graph = joint_graph(task)
    result: list[list[tuple[int, int]]] = [[] for _ in range(graph.entities)]
    for i, k, j in zip(graph.entity.tolist(), graph.relation.tolist(), graph.neighbour.tolist(), strict=True):
        if itself or k != graph.relations - 1:
            result[i].append((k, j))
    return result


def test_gcn_align_matches_its_equation() -> None:
    task = tiny_task(2)
    encoder, graph = GcnAlign(joint_graph(task), 8, 2, torch.Generator().manual_seed(0)), joint_graph(task)
    with torch.no_grad():
        encoder.weights.uniform_(0.5, 1.5)
    first, second = encoder.weights.detach().numpy()
    triples = [tuple(triple) for triple in graph.triples.tolist()]
    adjacency = np.eye(graph.entities)
    for head, relation, tail in triples:
        of_relation = [triple for triple in triples if triple[1] == relation]
        adjacency[head, tail] += len({t for _, _, t in of_relation}) / len(of_relation)
        adjacency[tail, head] += len({h for h, _, _ in of_relation}) / len(of_relation)
    scale = np.diag(adjacency.sum(1) ** -0.5)
    influence = scale @ adjacency @ scale
    h = encoder.entities.detach().numpy()
    h = h / np.linalg.norm(h, axis=1, keepdims=True)
    h = influence @ (np.maximum(influence @ (h * first), 0) * second)
    expected = h / np.linalg.norm(h, axis=1, keepdims=True)
    np.testing.assert_allclose(encoder().detach().numpy(), expected, atol=1e-5)


def test_kecg_matches_its_equation() -> None:
    task = tiny_task(2)
    encoder = Kecg(joint_graph(task), 8, 2, torch.Generator().manual_seed(0))
    with torch.no_grad():
        encoder.weights.uniform_(0.5, 1.5)
    neighbours = [sorted({j for _, j in of_i}) for of_i in tuples_of(task, itself=True)]
    h = unit_rows(encoder.entities.detach().numpy())
    for layer, attention in enumerate(encoder.attention):
        heads = []
        for head in range(HEADS):
            w = encoder.weights[layer, head].detach().numpy()
            p, q = attention.detach().numpy().reshape(HEADS, 2, -1)[head]
            rows = []
            for i, of_i in enumerate(neighbours):
                alpha = softmax(leaky_relu(np.array([p @ (w * h[i]) + q @ (w * h[j]) for j in of_i])))
                rows.append(sum(weight * w * h[j] for weight, j in zip(alpha, of_i, strict=True)))
            heads.append(np.array(rows))
        h = np.mean(heads, axis=0)
        h = elu(h) if layer == 0 else h
    np.testing.assert_allclose(encoder().detach().numpy(), unit_rows(h), atol=1e-5)


def test_naea_matches_its_equation() -> None:
    task = tiny_task(2)
    encoder = Naea(joint_graph(task), 8, 2, torch.Generator().manual_seed(0))
    with torch.no_grad():
        for projection in encoder.projections:
            projection += torch.randn(projection.shape, generator=torch.Generator().manual_seed(3))
    h, g = (unit_rows(part.detach().numpy()) for part in (encoder.entities, encoder.translations.relations))
    for projections, attention in zip(encoder.projections, encoder.attention, strict=True):
        w, v = np.eye(8) + projections.detach().numpy() / np.sqrt(8)
        a, b, c = attention.detach().numpy()
        projected, relations = h @ w, g @ v
        rows = []
        for i, of_i in enumerate(tuples_of(task, itself=True)):
            logits = np.array([a @ projected[i] + b @ projected[j] + c @ relations[k] for k, j in of_i])
            alpha = softmax(leaky_relu(logits))
            rows.append(sum(x * (projected[j] + relations[k]) for x, (k, j) in zip(alpha, of_i, strict=True)))
        h = unit_rows(h + elu(np.array(rows)))
    np.testing.assert_allclose(encoder().detach().numpy(), h, atol=1e-5)


def test_psr_matches_its_equation() -> None:
    task = tiny_task(2)
    encoder = Psr(joint_graph(task), 8, 2, torch.Generator().manual_seed(0))
    entities, relations = encoder.entities.detach().numpy(), encoder.relations.detach().numpy()
    g = unit_rows(relations)
    around = tuples_of(task, itself=False)

    def means(rows: np.ndarray, which: int) -> np.ndarray:
        return np.array([np.mean([rows[of[which]] for of in of_i], axis=0) if of_i else 0 * rows[0] for of_i in around])

    views = [elu(means(entities, 1)), elu(means(relations, 0))]
    hops = list(views)
    for attention in encoder.attention.detach().numpy().reshape(-1, 2, 8):
        after = []
        for h, v in zip(views, attention, strict=True):
            rows = np.zeros_like(h)
            for i, of_i in enumerate(around):
                alpha = softmax(np.array([relations[k] @ v for k, _ in of_i]))
                for x, (k, j) in zip(alpha, of_i, strict=True):
                    rows[i] += x * (h[j] - 2 * (g[k] @ h[j]) * g[k])
            after.append(elu(rows))
        views = after
        hops += views
    np.testing.assert_allclose(encoder().detach().numpy(), unit_rows(np.concatenate(hops, axis=1)), atol=1e-5)


def test_psr_learns_the_untrained_embeddings_of_counterparts_and_compares_both() -> None:
    task = tiny_task(3)
    graph = joint_graph(task)
    encoder = Psr(joint_graph(task), 8, 2, torch.Generator().manual_seed(0))
    ids = graph.joint_ids(task.seeds)
    encoder.begin(ids, own=True)
    with torch.no_grad():
        encoder.entities.add_(
            torch.randn(encoder.entities.shape, generator=torch.Generator().manual_seed(5)), alpha=0.5
        )

    def standard(rows: np.ndarray) -> np.ndarray:
        return unit_rows((rows - rows.mean(0)) / np.maximum(rows.std(0, ddof=1), 1e-6))

    assert encoder._untrained is not None
    z, f = encoder._hops().detach().numpy(), encoder._untrained.numpy()
    np.testing.assert_allclose(encoder().detach().numpy(), unit_rows(standard(z) + standard(f)), atol=1e-4)
    draws, expected = torch.Generator().manual_seed(7), 0.0
    for a, b in permutations(ids.t().numpy(), 2):
        both = (a >= 0) & (b >= 0)
        kept = [(torch.rand(both.sum(), z.shape[1], generator=draws) >= 0.3).numpy() for _ in range(2)]
        learned, target = standard(z[a[both]] * kept[0] / 0.7), standard(f[b[both]] * kept[1] / 0.7)
        expected -= ((learned * target).sum(1) ** 3).sum()
    loss = float(encoder.alignment_loss(torch.Generator().manual_seed(7)).detach())
    assert loss == pytest.approx(expected, rel=1e-3)


def test_negative_triples_replace_one_end_within_the_kg_and_the_loss_is_that_of_transe() -> None:
    task = tiny_task(3)
    graph = joint_graph(task)
    model = Translations(graph, 4, torch.Generator().manual_seed(0))
    entities = torch.nn.functional.normalize(torch.randn(graph.entities, 4, generator=torch.Generator().manual_seed(1)))
    loss = float(model(entities, torch.Generator().manual_seed(2)).detach())
    draws = torch.Generator().manual_seed(2)
    count = len(graph.triples)
    some = torch.randint(count, (count,), generator=draws).tolist()
    share = torch.rand(count, generator=draws, dtype=torch.float64).tolist()
    at_head = (torch.rand(count, generator=draws) < 0.5).tolist()
    e, r, expected = entities.numpy(), unit_rows(model.relations.detach().numpy()), 0.0
    for number, part, replaces_head in zip(some, share, at_head, strict=True):
        head, relation, tail = graph.triples[number].tolist()
        kg = next(kg for kg in range(3) if head < graph.entity_offsets[kg + 1])
        start, stop = graph.entity_offsets[kg : kg + 2]
        false = start + int(part * (stop - start - 1))
        false += false >= (head if replaces_head else tail)
        wrong = (false, tail) if replaces_head else (head, false)
        right_length = float(np.linalg.norm(e[head] + r[relation] - e[tail]))
        wrong_length = float(np.linalg.norm(e[wrong[0]] + r[relation] - e[wrong[1]]))
        expected += max(right_length - wrong_length + 1, 0)
    assert loss == pytest.approx(expected, rel=1e-4)


def test_iptranse_shares_the_vectors_of_seeds_and_finds_all_closed_paths() -> None:
    task = tiny_task(2)
    graph = joint_graph(task)
    encoder = IpTransE(joint_graph(task), 8, 2, torch.Generator().manual_seed(0))
    encoder.begin(graph.joint_ids(task.seeds), own=False)
    embeddings = encoder()
    for a, b in graph.joint_ids(task.seeds).tolist():
        assert torch.equal(embeddings[a], embeddings[b])
    triples = [tuple(triple) for triple in graph.triples.tolist()]
    by_ends = {(h, t): r for h, r, t in sorted(triples, reverse=True)}  # of several the first relation
    leaving = Counter((h, r) for h, r, _ in triples)
    closed = [
        (r1, r2, by_ends[h, t], 1 / (leaving[h, r1] * leaving[e, r2]))
        for h, r1, e in triples
        for e2, r2, t in triples
        if e == e2 and (h, t) in by_ends
    ]
    found = zip(*encoder._paths.t().tolist(), encoder._reliability.tolist(), strict=True)
    np.testing.assert_allclose(np.array(sorted(found)), np.array(sorted(closed)), rtol=1e-6)


def test_iptranse_aligns_mutual_nearest_neighbours_that_are_not_seeds() -> None:
    task = tiny_task(2)
    graph = joint_graph(task)
    encoder = IpTransE(joint_graph(task), 8, 2, torch.Generator().manual_seed(0))
    ids = graph.joint_ids(task.seeds)
    encoder.begin(ids, own=False)
    size = graph.entity_offsets[1]
    embeddings = torch.eye(2 * size)
    free = [entity for entity in range(size) if entity not in ids and entity + size not in ids]
    embeddings[torch.tensor(free) + size] = embeddings[free]  # equal to their counterparts
    embeddings[ids[:, 1]] = embeddings[ids[:, 0]]  # seeds are equal too, but do not count
    assert sorted(map(tuple, encoder._near_each_other(embeddings).tolist())) == [(e, e + size) for e in free]
