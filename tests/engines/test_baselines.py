"""All encoders pass the same checks, alone and pair by pair; each method's equations against a literal version."""

from collections import Counter
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest
import torch
from test_encoder import elu, tiny_task
from test_scores import shuffled
from typer.testing import CliRunner

import multiea
from multiea import Groups, SettingError, Task, Training
from multiea.cli.main import app
from multiea.data.groups import ABSENT
from multiea.engines.encoder_embeddings import ENCODERS
from multiea.engines.encoders.base import Encoder, Translations
from multiea.engines.encoders.gcn_align import GcnAlign
from multiea.engines.encoders.iptranse import IpTransE
from multiea.engines.encoders.kecg import HEADS, Kecg
from multiea.engines.encoders.naea import Naea
from multiea.engines.encoders.psr import Psr
from multiea.engines.training import fit
from multiea.graph.joint_graph import joint_graph

NAMES = sorted(ENCODERS)
QUICK = {"epochs": 6, "look_every": 3, "dimensions": 16}


def made(name: str, task: Task, seed: int = 0, dimensions: int = 8) -> Encoder:
    return ENCODERS[name].make(joint_graph(task), dimensions, 2, torch.Generator().manual_seed(seed))


@pytest.fixture
def soon_soft(monkeypatch: pytest.MonkeyPatch) -> None:
    """IPTransE draws found pairs together from the third epoch on, and takes more pairs for found."""
    for name, value in {"SOFT_AFTER": 2, "SOFT_EVERY": 1, "NEAR": 0.1}.items():
        monkeypatch.setattr(f"multiea.engines.encoders.iptranse.{name}", value)


@pytest.mark.parametrize("kgs", [2, 3, 5])
@pytest.mark.parametrize("name", NAMES)
def test_an_encoder_gives_each_entity_a_vector_of_unit_length(name: str, kgs: int) -> None:
    task = tiny_task(kgs)
    embeddings = made(name, task)()
    assert len(embeddings) == sum(len(kg.entities) for kg in task.kgs)
    connected = joint_graph(task).degrees() > 0
    torch.testing.assert_close(embeddings.norm(dim=1)[connected], torch.ones(int(connected.sum())))
    assert not torch.equal(embeddings, made(name, task, seed=1)())
    assert torch.equal(embeddings, made(name, task)())


@pytest.mark.parametrize("name", NAMES)
def test_training_lowers_the_loss_and_all_gradients_are_finite(name: str) -> None:
    task = tiny_task(3, entities=12)
    graph = joint_graph(task)
    encoder = made(name, task)
    settings = replace(ENCODERS[name].usual, dimensions=8, epochs=40)
    generator = torch.Generator().manual_seed(0)
    _, history = fit(encoder, graph.joint_ids(task.seeds), graph.entity_offsets, settings, anchor=0, epochs=40,
                     generator=generator)  # fmt: skip
    assert np.mean(history.losses[-5:]) < np.mean(history.losses[:5])
    for parameter in encoder.parameters():
        assert parameter.grad is None or parameter.grad.isfinite().all()
        assert parameter.isfinite().all()
    assert history.parameters == sum(parameter.numel() for parameter in encoder.parameters())
    assert history.peak_memory_mb > 0


@pytest.mark.parametrize("pairwise", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_entities_kgs_and_groups_changes_no_score(
    small: Task, name: str, pairwise: bool, soon_soft: None
) -> None:
    settings = {"engine": name, "training": replace(ENCODERS[name].usual, **QUICK), "enhancement": "none"}
    scores = multiea.align(small, pairwise=pairwise, **settings).evaluate()
    moved, _ = shuffled(small, torch.zeros(sum(len(kg.entities) for kg in small.kgs), 1), seed=1)
    again = multiea.align(moved, pairwise=pairwise, **settings).evaluate()
    for pool in ("test", "all"):
        assert again["m_hits"][pool] == pytest.approx(scores["m_hits"][pool], abs=1e-6)
        assert again["mrr"][pool]["overall"] == pytest.approx(scores["mrr"][pool]["overall"], abs=1e-6)


@pytest.mark.parametrize("pairwise", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_held_out_groups_reach_no_training(small: Task, name: str, pairwise: bool, soon_soft: None) -> None:
    settings = {"engine": name, "training": replace(ENCODERS[name].usual, **QUICK), "pairwise": pairwise}
    dealt = np.random.default_rng(0).permuted(small.held_out.complete.members, axis=0)  # who is with whom is wrong
    wrong = Task(small.kgs, small.seeds, Groups(small.kg_names, dealt))
    blind = Task(small.kgs, small.seeds, Groups(small.kg_names, dealt[:0]))
    expected = multiea.align(small, **settings)
    for task in (wrong, blind):
        other = multiea.align(task, **settings)
        assert torch.equal(other.embeddings, expected.embeddings)
        histories = [alignment.history.get("pairs", {"": alignment.history}) for alignment in (other, expected)]
        assert [part["validation"] for part in histories[0].values()] == [
            part["validation"] for part in histories[1].values()
        ]


@pytest.mark.parametrize("name", NAMES)
def test_every_encoder_is_better_than_chance(small: Task, name: str) -> None:
    training = replace(ENCODERS[name].usual, dimensions=32, epochs=min(ENCODERS[name].usual.epochs, 200))
    scores = multiea.align(small, engine=name, enhancement="none", training=training).evaluate()
    candidates = len(small.held_out)
    assert scores["hits"]["test"]["overall"]["10"] > 3 * 10 / candidates


@pytest.mark.parametrize("name", NAMES)
def test_isolated_entities_match_nothing(name: str) -> None:
    task = tiny_task(3, entities=12)
    alignment = multiea.align(task, engine=name, training=replace(ENCODERS[name].usual, **QUICK))
    lonely = [kg.entities.to_list().index("lonely") for kg in task.kgs]
    for column, place in enumerate(lonely):
        assert place not in alignment.found.groups.members[:, column]


def test_pair_by_pair_each_pair_is_what_it_would_be_alone(small: Task) -> None:
    training = replace(ENCODERS["gcn-align"].usual, **QUICK, validation_ratio=0.0)
    joined = multiea.align(small, engine="gcn-align", pairwise=True, training=training, enhancement="none")
    for a, b in combinations(range(3), 2):
        parts = [
            Groups((small.kg_names[a], small.kg_names[b]), members[(members != ABSENT).all(axis=1)])
            for members in (groups.members[:, [a, b]] for groups in (small.seeds, small.held_out))
        ]
        alone = multiea.align(
            Task([small.kgs[a], small.kgs[b]], *parts), engine="gcn-align", training=training, enhancement="none"
        )
        here, pools = joined.similarities("test")
        there, own_pools = alone.similarities("test", parts[1])
        rows = [np.isin(pool, own) for pool, own in zip((pools[a], pools[b]), own_pools, strict=True)]
        of_both = here[a, b].rows(slice(None))[rows[0]][:, rows[1]]
        torch.testing.assert_close(of_both, there[0, 1].rows(slice(None)), atol=1e-3, rtol=0)


def test_pair_by_pair_takes_more_parameters_and_says_so(small: Task) -> None:
    training = replace(ENCODERS["kecg"].usual, **QUICK)
    joint = multiea.align(small, engine="kecg", training=training)
    apart = multiea.align(small, engine="kecg", training=training, pairwise=True)
    assert set(apart.history["pairs"]) == {"kg1-kg2", "kg1-kg3", "kg2-kg3"}
    assert apart.history["parameters"] == sum(part["parameters"] for part in apart.history["pairs"].values())
    assert apart.history["parameters"] > 1.5 * joint.history["parameters"]
    assert apart.settings["pairwise"] is True


def test_a_training_pair_by_pair_that_is_interrupted_is_no_result(small: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("multiea.engines.training.margin_loss", interrupted)
    with pytest.raises(KeyboardInterrupt):
        multiea.align(small, engine="kecg", pairwise=True, training=replace(ENCODERS["kecg"].usual, **QUICK))


def test_a_pair_of_kgs_without_common_seeds_is_named_and_left_out(
    small: Task, caplog: pytest.LogCaptureFixture
) -> None:
    members = small.seeds.complete.members.copy()
    members[::2, 0], members[1::2, 1] = ABSENT, ABSENT
    task = Task(small.kgs, Groups(small.kg_names, members), small.held_out)
    training = replace(ENCODERS["gcn-align"].usual, **QUICK)
    alignment = multiea.align(task, engine="gcn-align", pairwise=True, training=training)
    assert "too few seeds are in both kg1 and kg2" in caplog.text
    assert set(alignment.history["pairs"]) == {"kg1-kg3", "kg2-kg3"}


def test_what_does_not_go_together_is_named(small: Task) -> None:
    with pytest.raises(SettingError, match="propagation has nothing to train pair by pair"):
        multiea.align(small, pairwise=True)
    with pytest.raises(SettingError, match="only psr has a way of its own to pull groups together"):
        multiea.align(small, engine="kecg", training=Training(strategy="own"))
    with pytest.raises(SettingError, match="pairwise goes with an encoder alone"):
        multiea.align(small, engine="propagation+multiea", pairwise=True)
    with pytest.raises(SettingError, match="an anchor KG has no meaning pair by pair"):
        multiea.align(small, engine="kecg", pairwise=True, training=Training(strategy="anchor", anchor="kg1"))
    result = CliRunner().invoke(app, ["align", "world", "--out", "nowhere", "--pairwise"])
    assert result.exit_code == 2
    assert "--pairwise changes nothing with --engine propagation" in result.output


def test_gcn_align_is_its_equation() -> None:
    task = tiny_task(2)
    encoder, graph = made("gcn-align", task), joint_graph(task)
    assert isinstance(encoder, GcnAlign)
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


def softmax(values: np.ndarray) -> np.ndarray:
    return np.exp(values) / np.exp(values).sum()


def leaky(values: np.ndarray) -> np.ndarray:
    return np.where(values > 0, values, 0.2 * values)


def tuples_of(task: Task, *, itself: bool) -> list[list[tuple[int, int]]]:
    """For each entity its tuples <relation, neighbour>."""
    graph = joint_graph(task)
    result: list[list[tuple[int, int]]] = [[] for _ in range(graph.entities)]
    for i, k, j in zip(graph.entity.tolist(), graph.relation.tolist(), graph.neighbour.tolist(), strict=True):
        if itself or k != graph.relations - 1:
            result[i].append((k, j))
    return result


def unit(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))


def test_kecg_is_its_equation() -> None:
    task = tiny_task(2)
    encoder = made("kecg", task)
    assert isinstance(encoder, Kecg)
    with torch.no_grad():
        encoder.weights.uniform_(0.5, 1.5)
    neighbours = [sorted({j for _, j in of_i}) for of_i in tuples_of(task, itself=True)]
    h = unit(encoder.entities.detach().numpy())
    for layer, attention in enumerate(encoder.attention):
        heads = []
        for head in range(HEADS):
            w = encoder.weights[layer, head].detach().numpy()
            p, q = attention.detach().numpy().reshape(HEADS, 2, -1)[head]
            rows = []
            for i, of_i in enumerate(neighbours):
                alpha = softmax(leaky(np.array([p @ (w * h[i]) + q @ (w * h[j]) for j in of_i])))
                rows.append(sum(weight * w * h[j] for weight, j in zip(alpha, of_i, strict=True)))
            heads.append(np.array(rows))
        h = np.mean(heads, axis=0)
        h = elu(h) if layer == 0 else h
    np.testing.assert_allclose(encoder().detach().numpy(), unit(h), atol=1e-5)


def test_naea_is_its_equation() -> None:
    task = tiny_task(2)
    encoder = made("naea", task)
    assert isinstance(encoder, Naea)
    with torch.no_grad():
        for projection in encoder.projections:
            projection += torch.randn(projection.shape, generator=torch.Generator().manual_seed(3))
    h, g = (unit(part.detach().numpy()) for part in (encoder.entities, encoder.translations.relations))
    for projections, attention in zip(encoder.projections, encoder.attention, strict=True):
        w, v = np.eye(8) + projections.detach().numpy() / np.sqrt(8)
        a, b, c = attention.detach().numpy()
        projected, relations = h @ w, g @ v
        rows = []
        for i, of_i in enumerate(tuples_of(task, itself=True)):
            logits = np.array([a @ projected[i] + b @ projected[j] + c @ relations[k] for k, j in of_i])
            alpha = softmax(leaky(logits))
            rows.append(sum(x * (projected[j] + relations[k]) for x, (k, j) in zip(alpha, of_i, strict=True)))
        h = unit(h + elu(np.array(rows)))
    np.testing.assert_allclose(encoder().detach().numpy(), h, atol=1e-5)


def test_psr_is_its_equation() -> None:
    task = tiny_task(2)
    encoder = made("psr", task)
    assert isinstance(encoder, Psr)
    entities, relations = encoder.entities.detach().numpy(), encoder.relations.detach().numpy()
    g = unit(relations)
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
                alpha = softmax(np.array([relations[k] @ v for k, _ in of_i])) if of_i else []
                for x, (k, j) in zip(alpha, of_i, strict=True):
                    rows[i] += x * (h[j] - 2 * (g[k] @ h[j]) * g[k])
            after.append(elu(rows))
        views = after
        hops += views
    np.testing.assert_allclose(encoder().detach().numpy(), unit(np.concatenate(hops, axis=1)), atol=1e-5)


def test_psr_learns_what_its_counterparts_were_and_is_told_by_both() -> None:
    task = tiny_task(3)
    graph = joint_graph(task)
    encoder = made("psr", task)
    assert isinstance(encoder, Psr)
    ids = graph.joint_ids(task.seeds)
    encoder.begin(ids, own=True)
    with torch.no_grad():
        encoder.entities += 0.5 * torch.randn(encoder.entities.shape, generator=torch.Generator().manual_seed(5))

    def standard(rows: np.ndarray) -> np.ndarray:
        return unit((rows - rows.mean(0)) / np.maximum(rows.std(0, ddof=1), 1e-6))

    z, f = encoder._hops().detach().numpy(), encoder._untrained.numpy()
    np.testing.assert_allclose(encoder().detach().numpy(), unit(standard(z) + standard(f)), atol=1e-4)
    draws, expected = torch.Generator().manual_seed(7), 0.0
    for a, b in permutations(ids.t().numpy(), 2):
        both = (a >= 0) & (b >= 0)
        kept = [(torch.rand(both.sum(), z.shape[1], generator=draws) >= 0.3).numpy() for _ in range(2)]
        learned, target = standard(z[a[both]] * kept[0] / 0.7), standard(f[b[both]] * kept[1] / 0.7)
        expected -= ((learned * target).sum(1) ** 3).sum()
    loss = float(encoder.alignment_loss(torch.Generator().manual_seed(7)).detach())
    assert loss == pytest.approx(expected, rel=1e-3)


def test_false_triples_have_one_other_end_of_the_same_kg_and_cost_what_translation_says() -> None:
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
    e, r, expected = entities.numpy(), unit(model.relations.detach().numpy()), 0.0
    for number, part, replaces_head in zip(some, share, at_head, strict=True):
        head, relation, tail = graph.triples[number].tolist()
        kg = next(kg for kg in range(3) if head < graph.entity_offsets[kg + 1])
        start, stop = graph.entity_offsets[kg : kg + 2]
        false = start + int(part * (stop - start - 1))
        false += false >= (head if replaces_head else tail)
        wrong = (false, tail) if replaces_head else (head, false)
        right_length = np.linalg.norm(e[head] + r[relation] - e[tail])
        expected += max(right_length - np.linalg.norm(e[wrong[0]] + r[relation] - e[wrong[1]]) + 1, 0)
    assert loss == pytest.approx(expected, rel=1e-4)


def test_iptranse_shares_vectors_of_seeds_and_finds_all_closed_paths() -> None:
    task = tiny_task(2)
    graph = joint_graph(task)
    encoder = made("iptranse", task)
    assert isinstance(encoder, IpTransE)
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


def test_iptranse_draws_together_what_is_each_others_nearest_and_no_seed() -> None:
    task = tiny_task(2)
    graph = joint_graph(task)
    encoder = made("iptranse", task)
    assert isinstance(encoder, IpTransE)
    ids = graph.joint_ids(task.seeds)
    encoder.begin(ids, own=False)
    size = graph.entity_offsets[1]
    embeddings = torch.eye(2 * size)
    free = [entity for entity in range(size) if entity not in ids and entity + size not in ids]
    embeddings[torch.tensor(free) + size] = embeddings[free]  # as like as can be
    embeddings[ids[:, 1]] = embeddings[ids[:, 0]]  # so are seeds, which do not count
    assert sorted(map(tuple, encoder._near_each_other(embeddings).tolist())) == [(e, e + size) for e in free]
