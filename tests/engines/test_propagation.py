"""Propagation, bootstrapping and sparse similarity: honest, repeatable, the same in any order, kind to bad input."""

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from multiea.settings.how import default_enhancement
from test_pipeline import QUICK
from test_scores import shuffled
from torch.nn.functional import normalize

import multiea
import multiea.similarity.int8_embeddings as comparing
import multiea.similarity.search as search_module
from multiea import Enhancement, Groups, InputError, KnowledgeGraph, SettingError, Task
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.engines.propagation import MOST_NUMBERS, Propagation, Wiring, embed
from multiea.grouping.judging import judged_groups, judged_pairs
from multiea.pipeline.bootstrapping import Bootstrapping, _falling, _that_lack_nothing, _trusted, fused
from multiea.similarity.enhancement import similarities
from multiea.similarity.int8_embeddings import Comparable
from multiea.similarity.matrices import blocks
from multiea.similarity.search import search
from multiea.similarity.signatures import signatures
from multiea.similarity.sparse_scores import SparseScores, balance, products

FAST = Propagation(dimensions=128, relation_numbers=32)


def align(task: Task, **settings: object) -> multiea.Alignment:
    """With short embeddings: enough for small KGs."""
    return multiea.align(task, propagation=FAST, **settings)


@pytest.fixture(scope="module")
def aligned(small: Task) -> multiea.Alignment:
    return align(small)


def flat(alignment: multiea.Alignment) -> dict[str, float]:
    """All scores by name, whatever the order of KGs."""
    result = alignment.evaluate()
    scores = {f"{pool} {k}": v for pool, by_k in result["m_hits"].items() for k, v in by_k.items()}
    for pool, by_pair in result["mrr"].items():
        scores |= {f"{pool} {' '.join(sorted(pair.split('-')))}": v for pair, v in by_pair.items()}
    for what in ("pairs", "groups"):
        scores |= {f"{what} {k}": v for k, v in result[what].items()}
    return scores | {"ece": result["confidence"]["ece"]}


def test_it_finds_most_of_what_is_held_out(small: Task, aligned: multiea.Alignment) -> None:
    scores = aligned.evaluate()
    assert scores["m_hits"]["all"]["1"] > 0.5
    assert scores["pairs"]["f1"] > 0.6
    assert scores["confidence"]["ece"] < 0.15


def test_the_same_random_state_gives_the_same_groups(small: Task, aligned: multiea.Alignment) -> None:
    again = align(small)
    assert torch.equal(again.embeddings, aligned.embeddings)
    assert again.groups.equals(aligned.groups)


@pytest.mark.parametrize("bootstrap", ["all", "test", "none"])
@pytest.mark.parametrize("exact_pairs", [2e8, 0.0])
def test_the_order_of_entities_kgs_and_groups_changes_no_score(
    small: Task, bootstrap: str, exact_pairs: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(search_module.EXACT_PAIRS, "cpu", exact_pairs)
    nothing = torch.zeros(sum(len(kg.entities) for kg in small.kgs), 1)
    other, _ = shuffled(small, nothing, seed=1)
    assert other.kg_names != small.kg_names
    one, moved = (align(task, bootstrap=bootstrap) for task in (small, other))
    assert flat(moved) == pytest.approx(flat(one), abs=1e-9)
    assert set(moved.groups["group_id"]) == set(one.groups["group_id"])
    assert one.history["search"] == ("exact" if exact_pairs else "restricted")


def test_held_out_groups_do_not_reach_it(small: Task, aligned: multiea.Alignment, other_answers: Groups) -> None:
    """With other answers held out, or none, exactly the same is found."""
    for held_out in (other_answers, Groups.empty(small.kg_names)):
        other = align(Task(small.kgs, small.seeds, held_out))
        assert torch.equal(other.embeddings, aligned.embeddings)
        assert other.groups.equals(aligned.groups)


def test_bootstrapping_within_test_entities_uses_no_tie_between_them(small: Task, other_answers: Groups) -> None:
    one = align(small, bootstrap="test")
    other = align(Task(small.kgs, small.seeds, other_answers), bootstrap="test")
    assert torch.equal(one.embeddings, other.embeddings)


def test_bootstrapping_helps_and_says_how_it_went(small: Task, aligned: multiea.Alignment) -> None:
    plain = align(small, bootstrap="none")
    assert aligned.evaluate()["m_hits"]["all"]["1"] > plain.evaluate()["m_hits"]["all"]["1"]
    assert len(plain.history["rounds"]) == 1
    assert len(aligned.history["rounds"]) > 1
    assert aligned.history["labels"] > plain.history["labels"] == len(small.seeds)


def test_a_run_opened_again_scores_the_same(small: Task, aligned: multiea.Alignment, tmp_path: Path) -> None:
    aligned.save(tmp_path / "run")
    opened = multiea.open(tmp_path / "run")
    assert torch.equal(opened.embeddings, aligned.embeddings)
    assert opened.calibration == aligned.calibration
    assert flat(opened) == pytest.approx(flat(aligned), abs=1e-9)


def test_fused_engines_sum_their_cosines() -> None:
    generator = torch.Generator().manual_seed(0)
    one, other = (normalize(torch.randn(5, size, generator=generator)) for size in (8, 3))
    both = fused(one, other, 0.25)
    torch.testing.assert_close(both @ both.t(), 0.75 * one @ one.t() + 0.25 * other @ other.t())


def test_fusion_runs_and_is_neither_engine_alone(small: Task, aligned: multiea.Alignment) -> None:
    alignment = align(small, engine="propagation+multiea", training=QUICK)
    assert alignment.embeddings.shape[1] == aligned.embeddings.shape[1] + QUICK.dimensions
    assert alignment.evaluate()["m_hits"]["all"]["1"] > 0.4


@pytest.mark.parametrize("kgs", [2, 5])
def test_any_number_of_kgs_and_partial_seeds(kgs: int, tmp_path: Path) -> None:
    write_synthetic(Synthesis(kgs=kgs, entities=150, relations=10, overlap=0.7), tmp_path)
    alignment = align(multiea.load(tmp_path))
    assert alignment.evaluate()["pairs"]["f1"] > 0.2


def ring(name: str, size: int = 40) -> KnowledgeGraph:
    triples = [(f"{i}", f"r{i % 3}", f"{(i * 7 + 1) % size}") for i in range(size)]
    return KnowledgeGraph.from_triples(name, triples, entities=["alone", "alone too"])


def test_entities_that_nothing_reaches_are_left_alone_and_named(caplog: pytest.LogCaptureFixture) -> None:
    kgs = [ring(name) for name in "abc"]
    seeds = Groups.from_names(kgs, [{kg.name: f"{i}" for kg in kgs} for i in range(20)])
    with caplog.at_level(logging.WARNING, "multiea"):
        alignment = align(Task(kgs, seeds))
    assert "nothing reaches 2 of a, 2 of b, 2 of c" in caplog.text
    assert not {"alone", "alone too"} & set(alignment.groups["entity"])
    trained = align(Task(kgs, seeds), engine="multiea", training=QUICK)
    assert not {"alone", "alone too"} & set(trained.groups["entity"])


def test_seeds_that_reach_nothing_name_the_kgs() -> None:
    kgs = [ring("a"), ring("b")]
    seeds = Groups.from_names(kgs, [{"a": "alone", "b": "1"}, {"a": "alone too", "b": "2"}])
    with pytest.raises(InputError, match="the seeds reach nothing in a: none of their members there is in a triple"):
        align(Task(kgs, seeds))


def test_a_kg_without_seeds_is_named_and_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    kgs = [ring("a"), ring("b"), ring("c")]
    seeds = Groups.from_names(kgs, [{"a": f"{i}", "b": f"{i}"} for i in range(20)])
    with caplog.at_level(logging.WARNING, "multiea"):
        alignment = align(Task(kgs, seeds))
    assert "no seed reaches c" in caplog.text
    assert "c" not in set(alignment.groups["kg"])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Propagation(dimensions=0), "propagation.dimensions must be a whole number from 1, got 0"),
        (lambda: Propagation(dimensions=100), "must be a multiple of 4 x columns"),
        (lambda: Propagation(own_weight=-1), "own_weight must be at least 0"),
        (lambda: Propagation(view_weights=(0, 0, 0, 0)), "view_weights must be four numbers from 0"),
        (lambda: Propagation(relation_discount=1.5), "relation_discount must be between 0 and 1"),
        (lambda: Bootstrapping(pool="some"), "unknown bootstrap 'some'; choose one of: all, test, none"),
        (lambda: Bootstrapping(rounds=0), "rounds must be at least 1"),
        (lambda: Bootstrapping(trust_in_kinds=2), "trust_in_kinds must be between 0 and 1"),
        (lambda: Bootstrapping(partial_weight=-1), "partial_weight must be between 0 and 1"),
        (lambda: Enhancement(candidates=0), "candidates must be at least 1"),
        (lambda: Enhancement("product", candidates=5), "'product' needs all pairs"),
        (lambda: Enhancement(candidates=5, weights=(1, 1, 1)), "give two weights"),
        (lambda: Enhancement(temperature=0), "temperature must be at least"),
    ],
)
def test_settings_out_of_range_are_named(wrong: object, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        wrong()


def test_a_fusion_weight_out_of_range_or_two_encoders_are_refused(small: Task) -> None:
    with pytest.raises(SettingError, match="fusion_weight must be between 0 and 1, got 2"):
        align(small, engine="propagation+multiea", fusion_weight=2)
    with pytest.raises(SettingError, match="cannot be"):
        align(small, engine="multiea+multiea")
    with pytest.raises(SettingError, match="needs held-out groups"):
        align(Task(small.kgs, small.seeds), bootstrap="test")


def test_an_entitys_own_label_is_no_part_of_its_embedding() -> None:
    """At one hop nothing returns to where it came from: with and without its own label an entity is the same."""
    kgs = [KnowledgeGraph.from_triples(name, [("0", "r", "1"), ("1", "r", "2"), ("2", "r", "0")]) for name in "ab"]
    groups = Groups.from_names(kgs, [{"a": "1", "b": "1"}, {"a": "0", "b": "0"}])
    first = int(kgs[0].positions(kgs[0].entities.filter(kgs[0].entities == "0"))[0])
    wirings = [Wiring(kg) for kg in kgs]
    settings = Propagation(dimensions=128, relation_numbers=8, hops=1, view_weights=(0, 0, 1, 0))
    both, one = (embed(wirings, some, settings, 0) for some in (groups, groups.take(np.array([0]))))
    torch.testing.assert_close(both[first], one[first])


def sparse(values: list[list[float]]) -> SparseScores:
    dense = torch.tensor(values)
    row, column = torch.nonzero(dense, as_tuple=True)
    return SparseScores(row, column, dense[row, column], (dense.shape[0], dense.shape[1]))


def test_sparse_scores_are_the_matrix_they_stand_for() -> None:
    values = [[0.0, 0.5, 0.2], [0.0, 0.0, 0.0], [0.9, 0.0, 0.9], [0.1, 0.3, 0.0]]
    scores, dense = sparse(values), torch.tensor(values)
    assert torch.equal(torch.cat([block for _, block in blocks(scores)]), dense)
    assert torch.equal(scores.rows(torch.tensor([2, 0])), dense[[2, 0]])
    assert torch.equal(scores.transposed().rows(slice(None)), dense.t())
    assert torch.equal(scores.at(torch.tensor([0, 1, 2]), torch.tensor([1, 1, 2])), torch.tensor([0.5, 0.0, 0.9]))
    columns, best = scores.best(2)
    assert columns.tolist() == [[1, 2], [-1, -1], [0, 2], [1, 0]]
    torch.testing.assert_close(best, torch.tensor([[0.5, 0.2], [0.0, 0.0], [0.9, 0.9], [0.3, 0.1]]))


def test_products_are_matrix_products() -> None:
    generator = torch.Generator().manual_seed(0)
    a, b = torch.rand(4, 5, generator=generator), torch.rand(5, 3, generator=generator)
    keys, values = products(sparse(a.tolist()).best(5), sparse(b.tolist()).best(3), 3)
    summed = SparseScores.summed(keys, values, (4, 3))
    torch.testing.assert_close(summed.rows(slice(None)), a @ b)


def test_balanced_rows_and_columns_sum_to_one_and_what_is_given_away_lowers_them() -> None:
    generator = torch.Generator().manual_seed(1)
    scores = sparse((torch.rand(6, 6, generator=generator) + 0.1).tolist())
    even = balance(scores, 200).rows(slice(None))
    torch.testing.assert_close(even.sum(0), torch.ones(6), atol=1e-4, rtol=0)
    torch.testing.assert_close(even.sum(1), torch.ones(6), atol=1e-4, rtol=0)
    rest = (torch.full((6,), 5.0).double(), torch.full((6,), 5.0).double())
    assert (balance(scores, 200, rest).rows(slice(None)).sum(1) < 0.9).all()


def random_vectors(*sizes: int, dimensions: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [normalize(torch.randn(size, dimensions, generator=generator)) for size in sizes]


def test_search_finds_what_a_whole_matrix_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "multiplies_whole_numbers", lambda: False)
    monkeypatch.setattr(search_module, "BLOCK_NUMBERS", 500)  # ten rows a block
    left, right = random_vectors(70, 50, dimensions=16)
    found, whole = search(Comparable(left), Comparable(right), 5).rows(slice(None)), left @ right.t()
    wanted = torch.zeros_like(whole, dtype=torch.bool)
    wanted.scatter_(1, whole.topk(5, dim=1).indices, True)
    wanted.t().scatter_(1, whole.t().topk(5, dim=1).indices, True)
    wanted &= whole > 0
    torch.testing.assert_close(found[wanted], whole[wanted])
    assert torch.count_nonzero(found) <= wanted.sum() + 5  # where rounding lets in a sixth


def test_where_rows_are_many_a_column_keeps_about_as_many_candidates_and_the_best_of_them() -> None:
    left, right = random_vectors(6000, 200, dimensions=32)
    found, whole = search(Comparable(left), Comparable(right), 50).rows(slice(None)), left @ right.t()
    of_columns = found >= whole.topk(50, dim=0).values[-1] - 1e-3
    assert 40 < of_columns.sum(0).float().mean() < 60
    best = whole.topk(10, dim=0).indices
    assert (found.gather(0, best) > 0).float().mean() > 0.99


def test_cosines_by_whole_numbers_are_nearly_right_and_alike_for_alike() -> None:
    if not comparing.multiplies_whole_numbers():
        pytest.skip("this processor has no instructions for products of bytes")
    left, right = random_vectors(300, 200, dimensions=1024)
    right[7], left[3] = right[11], 0
    cosines = Comparable(left).cosines(Comparable(right))
    assert (cosines - left @ right.t()).abs().max() < 3e-3
    assert torch.equal(cosines[:, 7], cosines[:, 11])
    assert not cosines[3].any()
    torch.testing.assert_close(Comparable(left)[5:9].cosines(Comparable(right)), cosines[5:9])


def test_search_by_signatures_finds_what_an_exact_search_matches(small: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    """With as many labels as bootstrapping comes to: of mutual best matches hardly any is missed."""
    labels = small.seeds.joined(small.held_out.take(np.arange(len(small.held_out)) % 2 == 0))
    vectors, marks = embed([Wiring(kg) for kg in small.kgs], labels, FAST, 0), signatures(small.kgs, labels)
    size = len(small.kgs[0].entities)
    one, other = slice(0, size), slice(size, size + len(small.kgs[1].entities))
    pair = Comparable(vectors[one]), Comparable(vectors[other])
    exact = search(*pair, 20)
    monkeypatch.setitem(search_module.EXACT_PAIRS, "cpu", 0.0)
    restricted = search(*pair, 20, (marks[one], marks[other]))
    there, back = exact.best(1)[0][:, 0], exact.transposed().best(1)[0][:, 0]
    rows = torch.nonzero((there >= 0) & (back[there] == torch.arange(len(there))))[:, 0]
    assert len(rows) > 100
    assert (restricted.at(rows, there[rows]) > 0).float().mean() > 0.98
    assert len(restricted.values) <= 20 * sum(restricted.shape)


def test_sparse_and_dense_sharpening_rank_alike(small: Task) -> None:
    vectors = embed([Wiring(kg) for kg in small.kgs], small.seeds, FAST, 0)
    parts = list(torch.split(vectors, [len(kg.entities) for kg in small.kgs]))
    settings = replace(default_enhancement("propagation"), candidates=400)
    few = similarities(parts, settings)[0, 1].rows(slice(None))
    all_pairs = similarities(parts, replace(settings, candidates=None))[0, 1].rows(slice(None))
    reached = parts[0].any(1)
    assert (few.argmax(1) == all_pairs.argmax(1))[reached].float().mean() > 0.9


def test_trust_falls_with_the_score() -> None:
    values, weights = np.array([1.0, 0.0, 1.0, 0.0, 0.0]), np.array([1.0, 1.0, 3.0, 1.0, 1.0])
    np.testing.assert_allclose(_falling(values, np.ones(5)), [1, 0.5, 0.5, 0, 0])
    np.testing.assert_allclose(_falling(values, weights), [1, 0.75, 0.75, 0, 0])
    names = ("a", "b", "c")
    groups = Groups(names, np.array([[i, i, i] for i in range(20)] + [[30, 30, -1]], dtype=np.int32))
    weakest = np.linspace(1, 0.1, 21)
    known = Groups(names, np.array([[i, i if i < 10 else i + 50, i] for i in range(20)], dtype=np.int32))
    assert _trusted(groups, weakest, known, 0.5).members[:, 0].tolist() == list(range(10))
    unjudged = _trusted(groups, weakest, Groups.empty(names), 0.5)
    assert unjudged.members[:, 0].tolist() == list(range(19))  # those of a score that is no accident


def test_partial_groups_become_labels_where_such_groups_prove_whole() -> None:
    names = ("a", "b", "c")
    found = Groups(names, np.array([[i, i, -1] for i in range(40)] + [[50 + i, -1, i] for i in range(40)], np.int32))
    whole_pairs = [[i, i, -1] for i in range(30)]  # pairs of a and b are all there is
    larger = [[50 + i, 60 + i, i] for i in range(30)]  # those of a and c lack a member
    chosen = _that_lack_nothing(found, Groups(names, np.array(whole_pairs + larger, np.int32)), 0.5)
    assert chosen.members.tolist() == found.members[:40].tolist()
    assert not len(_that_lack_nothing(found, Groups.empty(names), 0.51))


def test_judging_counts_by_known_ends_so_that_few_known_groups_tell_the_same_share() -> None:
    """Eighty of a hundred pairs are right; the other twenty entities of each KG are paired wrongly among themselves."""
    count, wrong = 5000, 1000
    there = np.arange(count)
    back = np.r_[there[:-wrong], np.roll(there[-wrong:], 1)]
    found = Groups(("a", "b"), np.column_stack([there, back]).astype(np.int32))
    known = Groups(("a", "b"), np.column_stack([there, there]).astype(np.int32))
    few = known.take(np.random.default_rng(0).permutation(count)[: count // 10])
    for judge in (judged_pairs, judged_groups):
        judged, right = judge(found, few)
        assert (judged * right).sum() / judged.sum() == pytest.approx(0.8, abs=0.03)
        assert right.sum() / (judged > 0).sum() < 0.72  # by pairs the wrong ones would count nearly twice


def test_embeddings_are_shorter_the_more_entities_there_are() -> None:
    settings = Propagation()
    lengths = [settings.width(*settings.sizes(entities)) for entities in (1_000, 100_000, 1_000_000, 100_000_000)]
    assert lengths[0] > lengths[1] > lengths[2] > lengths[3] > 0
    assert 1_000_000 * settings.width(*settings.sizes(1_000_000)) <= MOST_NUMBERS
    assert Propagation(dimensions=256, relation_numbers=7).sizes(1_000) == (256, 7)


def test_embeddings_of_some_entities_are_those_of_all(small: Task) -> None:
    wirings = [Wiring(kg) for kg in small.kgs]
    whole = embed(wirings, small.seeds, FAST, 0)
    chosen = [np.arange(3, len(kg.entities), 4) for kg in small.kgs]
    eyes = [wiring.eyes_of(entities) for wiring, entities in zip(wirings, chosen, strict=True)]
    some = embed(wirings, small.seeds, FAST, 0, eyes=eyes)
    starts = np.cumsum([0, *(len(kg.entities) for kg in small.kgs)])[:-1]
    rows = np.concatenate([entities + start for entities, start in zip(chosen, starts, strict=True)])
    torch.testing.assert_close(some[rows], whole[rows])
    others = np.setdiff1d(np.arange(len(whole)), rows)
    assert not some[others].any()


def test_where_single_precision_does_not_converge_double_does(small: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = align(small, bootstrap="none").embeddings
    eigh = torch.linalg.eigh

    def fails_in_single(square: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        if square.dtype == torch.float32:
            raise torch.linalg.LinAlgError("failed to converge")
        return tuple(eigh(square))

    monkeypatch.setattr(torch.linalg, "eigh", fails_in_single)
    torch.testing.assert_close(align(small, bootstrap="none").embeddings, expected, atol=2e-3, rtol=0)
