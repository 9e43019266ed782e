"""align by propagation and bootstrapping: repeatable, independent of order, never influenced by held-out groups."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.nn.functional import normalize

import multiea
from multiea import Alignment, Bootstrapping, Groups, InputError, SettingError, Task
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.engines.embeddings import Embeddings
from multiea.pipeline.bootstrapping import PRECISE, _standard_error
from multiea.pipeline.propagator import fuse
from multiea.similarity import search
from support.metrics import flat_scores
from support.quick import FEW_EPOCHS, align
from support.shuffling import shuffled_task
from support.tasks import ring


@pytest.fixture(scope="module")
def aligned(small: Task) -> Alignment:
    return align(small)


def test_most_held_out_groups_are_found(small: Task, aligned: Alignment) -> None:
    scores = aligned.evaluate()
    assert scores["m_hits"]["all"]["1"] > 0.5
    assert scores["pairs"]["f1"] > 0.6
    assert scores["confidence"]["ece"] < 0.15


def test_the_same_random_state_gives_the_same_groups(small: Task, aligned: Alignment) -> None:
    again = align(small)
    assert torch.equal(again.embeddings, aligned.embeddings)
    assert again.groups.equals(aligned.groups)


@pytest.mark.parametrize("bootstrap", ["all", "test", "none"])
@pytest.mark.parametrize("exact_pairs", [2e8, 0.0])
def test_the_order_of_entities_kgs_and_groups_changes_no_score(
    small: Task, bootstrap: str, exact_pairs: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(search.EXACT_PAIRS, "cpu", exact_pairs)
    shuffled = shuffled_task(small)
    assert shuffled.kg_names != small.kg_names
    one, other = (align(task, bootstrap=bootstrap) for task in (small, shuffled))
    assert flat_scores(other) == pytest.approx(flat_scores(one), abs=1e-9)
    assert set(other.groups["group_id"]) == set(one.groups["group_id"])
    assert one.history["search"] == ("exact" if exact_pairs else "restricted")


def test_held_out_groups_do_not_influence_the_result(small: Task, aligned: Alignment, other_answers: Groups) -> None:
    """With other held-out groups, or none, exactly the same is found."""
    for held_out in (other_answers, Groups.empty(small.kg_names)):
        other = align(Task(small.kgs, small.seeds, held_out))
        assert torch.equal(other.embeddings, aligned.embeddings)
        assert other.groups.equals(aligned.groups)


def test_bootstrapping_within_test_entities_uses_no_link_between_them(small: Task, other_answers: Groups) -> None:
    one = align(small, bootstrap="test")
    other = align(Task(small.kgs, small.seeds, other_answers), bootstrap="test")
    assert torch.equal(one.embeddings, other.embeddings)


def test_bootstrapping_improves_the_result_and_records_its_rounds(small: Task, aligned: Alignment) -> None:
    plain = align(small, bootstrap="none")
    assert aligned.evaluate()["m_hits"]["all"]["1"] > plain.evaluate()["m_hits"]["all"]["1"]
    assert len(plain.history["rounds"]) == 1
    assert len(aligned.history["rounds"]) > 1
    assert aligned.history["marks"] > plain.history["marks"] == len(small.seeds)


def test_a_run_opened_again_scores_the_same(small: Task, aligned: Alignment, tmp_path: Path) -> None:
    aligned.save(tmp_path / "run")
    opened = multiea.open(tmp_path / "run")
    assert torch.equal(opened.embeddings, aligned.embeddings)
    assert opened.calibration == aligned.calibration
    assert flat_scores(opened) == pytest.approx(flat_scores(aligned), abs=1e-9)


def test_cosines_of_fused_embeddings_are_weighted_sums() -> None:
    generator = torch.Generator().manual_seed(0)
    one, other = (normalize(torch.randn(5, size, generator=generator)) for size in (8, 3))
    both = fuse(Embeddings(one), Embeddings(other), 0.25)
    torch.testing.assert_close(both.cosines(both), 0.75 * one @ one.t() + 0.25 * other @ other.t())


def test_fusion_has_the_dimensions_of_both_engines(small: Task, aligned: Alignment) -> None:
    alignment = align(small, engine="propagation+multiea", training=FEW_EPOCHS)
    assert alignment.embeddings.shape[1] == aligned.embeddings.shape[1] + FEW_EPOCHS.dimensions
    assert alignment.evaluate()["m_hits"]["all"]["1"] > 0.4


@pytest.mark.parametrize("kgs", [2, 5])
def test_any_number_of_kgs_and_partial_seeds(kgs: int, tmp_path: Path) -> None:
    write_synthetic(Synthesis(kgs=kgs, entities=150, relations=10, overlap=0.7), tmp_path)
    alignment = align(multiea.load(tmp_path))
    assert alignment.evaluate()["pairs"]["f1"] > 0.2


def test_entities_that_no_mark_reaches_stay_unmatched_and_are_reported(caplog: pytest.LogCaptureFixture) -> None:
    kgs = [ring(name) for name in "abc"]
    seeds = Groups.from_names(kgs, [{kg.name: f"{i}" for kg in kgs} for i in range(20)])
    with caplog.at_level(logging.WARNING, "multiea"):
        alignment = align(Task(kgs, seeds))
    assert "2 entities of a, 2 entities of b, 2 entities of c: no triples that lead to a known entity" in caplog.text
    assert not {"isolated", "isolated too"} & set(alignment.groups["entity"])
    trained = align(Task(kgs, seeds), engine="multiea", training=FEW_EPOCHS)
    assert not {"isolated", "isolated too"} & set(trained.groups["entity"])


def test_seeds_without_neighbours_are_an_error_that_names_the_kgs() -> None:
    kgs = [ring("a"), ring("b")]
    seeds = Groups.from_names(kgs, [{"a": "isolated", "b": "1"}, {"a": "isolated too", "b": "2"}])
    with pytest.raises(
        InputError, match="the seeds have no neighbours in a: none of their members there is in a triple"
    ):
        align(Task(kgs, seeds))


def test_a_kg_without_seeds_is_reported_and_stays_unmatched(caplog: pytest.LogCaptureFixture) -> None:
    kgs = [ring("a"), ring("b"), ring("c")]
    seeds = Groups.from_names(kgs, [{"a": f"{i}", "b": f"{i}"} for i in range(20)])
    with caplog.at_level(logging.WARNING, "multiea"):
        alignment = align(Task(kgs, seeds))
    assert "no seed has a member in c" in caplog.text
    assert "c" not in set(alignment.groups["kg"])


def test_a_fusion_weight_out_of_range_or_two_encoders_are_refused(small: Task) -> None:
    with pytest.raises(SettingError, match="fusion_weight must be between 0 and 1, got 2"):
        align(small, engine="propagation+multiea", fusion_weight=2)
    with pytest.raises(SettingError, match="is not a valid combination"):
        align(small, engine="multiea+multiea")
    with pytest.raises(SettingError, match="needs held-out groups"):
        align(Task(small.kgs, small.seeds), bootstrap="test")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Bootstrapping(pool="some"), "unknown bootstrap 'some'; choose one of: all, test, none"),
        (lambda: Bootstrapping(rounds=0), "rounds must be at least 1"),
        (lambda: Bootstrapping(trust_in_kinds=2), "trust_in_kinds must be between 0 and 1"),
        (lambda: Bootstrapping(partial_weight=-1), "partial_weight must be between 0 and 1"),
    ],
)
def test_settings_out_of_range_are_refused(wrong: Callable[[], object], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        wrong()


def test_the_error_of_a_share_is_never_zero_and_falls_with_the_number_of_examples() -> None:
    assert _standard_error(1.0, 5) > PRECISE
    assert _standard_error(0.995, 10_000) < PRECISE < _standard_error(0.9, 1_000)
