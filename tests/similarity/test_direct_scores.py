"""Direct scores with evidence: having no counterpart is possible, with structure as well as without."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch.nn.functional import normalize

from multiea.engines.embeddings import Embeddings
from multiea.evidence.evidence import NAMES, STRUCTURE, Evidence, EvidenceOfKind
from multiea.settings.enhancement import Enhancement
from multiea.similarity.block_scores import BlockScores
from multiea.similarity.direct_scores import AllCompared, Compared, Comparison, compare, direct_scores
from multiea.similarity.sparse_scores import SparseScores
from multiea.similarity.sparse_sinkhorn import OtherCandidates
from multiea.similarity.weights import UNJUDGED, Weights

SIZE, NAMED = 40, 30
ENHANCEMENT = Enhancement(mode="sharpened", candidates=10)
PAIR = (0, 1)


def comparison(weight_of_structure: float, structure: float = 0.3, isolated: int = 0) -> Comparison:
    """The first entities have equal names and agree in structure; of the others structure agrees a little, no name.

    structure: the cosine of the embeddings of each two entities at the same place. isolated: how many of the first
    entities have no triple.
    """
    generator = torch.Generator().manual_seed(0)
    shared, own, other = (normalize(torch.randn(SIZE, 64, generator=generator)) for _ in range(3))
    left, right = (normalize(structure**0.5 * shared + (1 - structure) ** 0.5 * part) for part in (own, other))
    rng = np.random.default_rng(0)
    values = np.where(rng.random((SIZE, SIZE)) < 0.2, 0.3 * rng.random((SIZE, SIZE)), 0)
    values[np.arange(NAMED), np.arange(NAMED)] = 1.0
    everyone = [np.ones(SIZE, dtype=bool)] * 2
    has_structure = np.arange(SIZE) >= isolated
    left, right = (part * torch.from_numpy(has_structure)[:, None] for part in (left, right))
    names = EvidenceOfKind({PAIR: sp.csr_array(values.astype(np.float32))}, everyone)
    evidence = Evidence({NAMES: names}, [has_structure] * 2)
    weights = Weights({PAIR: {STRUCTURE: weight_of_structure, NAMES: 15.0}})
    prepared = Embeddings(left).in_8_bits(), Embeddings(right).in_8_bits()
    return Comparison([SIZE, SIZE], torch.device("cpu"), lambda a, b: prepared, evidence=evidence, weights=weights)


def scores_of_others(given: Comparison, *, may_lack_counterpart: bool) -> float:
    """The mean of the best scores of the entities that agree in no name."""
    compared, _ = compare(given, ENHANCEMENT)
    assert compared.pairs[PAIR].doubtful is not None
    if not may_lack_counterpart:
        compared = replace(compared, pairs={PAIR: replace(compared.pairs[PAIR], doubtful=None)})
    scores = direct_scores(compared, ENHANCEMENT, UNJUDGED)[PAIR]
    return float(scores.top(1)[1][NAMED:].mean())


def test_where_structure_says_little_an_entity_without_a_similar_name_is_left_alone() -> None:
    given = comparison(3.0)
    forced = scores_of_others(given, may_lack_counterpart=False)
    assert scores_of_others(given, may_lack_counterpart=True) < 0.7 * forced


def test_where_structure_is_trusted_and_agrees_it_still_finds_a_counterpart() -> None:
    trusted = comparison(40.0, structure=0.9)
    assert scores_of_others(trusted, may_lack_counterpart=True) > 0.8


@pytest.mark.parametrize("isolated", [0, 15])
def test_weights_that_are_learned_also_decide_what_is_doubtful(isolated: int) -> None:
    known = (np.arange(NAMED), np.arange(NAMED))
    given = replace(comparison(28.0, isolated=isolated), known={PAIR: known})
    learned, weights = compare(given, ENHANCEMENT)
    again, _ = compare(replace(given, known=None, weights=weights), ENHANCEMENT)
    assert learned.pairs[PAIR].doubtful == pytest.approx(again.pairs[PAIR].doubtful, rel=1e-4)
    best, best_again = (one.similarities[PAIR].top(1)[1].flatten() for one in (learned, again))
    assert best.tolist() == pytest.approx(best_again.tolist(), abs=0.01)


@pytest.mark.parametrize("weight", [4.0, 20.0])
def test_the_more_structure_counts_the_less_is_asked_of_names(weight: float) -> None:
    levels = [compare(comparison(one), ENHANCEMENT)[0].pairs[PAIR].doubtful for one in (1e-9, weight)]
    assert None not in levels
    assert levels[1] == pytest.approx(15.0 / (15.0 + weight) * float(levels[0] or 0), rel=1e-3)


def test_what_is_doubtful_is_estimated_from_all_entities_not_from_the_candidates_alone() -> None:
    whole = comparison(1e-9)
    assert whole.evidence is not None
    rest = np.arange(NAMED, SIZE)  # where the others are seeds, only entities without counterpart are left
    left_over = replace(whole, sizes=[len(rest)] * 2, evidence=whole.evidence.within([rest, rest]))
    left, right = whole.embeddings(*PAIR)
    left_over = replace(left_over, embeddings=lambda a, b: (left[NAMED:], right[NAMED:]))
    alone, among_all = (
        compare(one, ENHANCEMENT)[0].pairs[PAIR].doubtful
        for one in (left_over, replace(left_over, all_evidence=whole.evidence))
    )
    assert among_all == compare(whole, ENHANCEMENT)[0].pairs[PAIR].doubtful
    assert (among_all or 0) > (alone or 0)


def test_what_seeds_alone_have_does_not_change_the_scale_of_what_is_doubtful() -> None:
    rest = np.arange(NAMED, SIZE)
    levels = []
    for isolated in (0, NAMED):  # whether the seeds have triples; the others have none
        whole = comparison(28.0, isolated=isolated)
        assert whole.evidence is not None
        has_triples = [np.arange(SIZE) < NAMED - isolated] * 2
        every = replace(whole.evidence, has_structure=has_triples)
        left_over = replace(whole, sizes=[len(rest)] * 2, evidence=every.within([rest, rest]), all_evidence=every)
        compared, _ = compare(left_over, ENHANCEMENT)
        assert not compared.pairs[PAIR].has_structure
        levels.append(compared.pairs[PAIR].doubtful)
    assert levels[0] == pytest.approx(levels[1])


def test_an_uncontested_score_depends_on_rivals_that_others_take() -> None:
    """Two siblings with nearly equal candidates: the better pair of one leaves the other pair to each other."""
    similarity = torch.tensor([[0.9, 0.8], [0.85, 0.84]])
    rows, columns = torch.tensor([[0, 0, 1, 1], [0, 1, 0, 1]])
    blocks = {PAIR: SparseScores(rows, columns, similarity.flatten(), (2, 2))}
    nothing = OtherCandidates(torch.full((2, 1), -9.0), torch.full((2, 1), -9.0))
    similarities = BlockScores.of(blocks, (2, 2), torch.device("cpu"))
    compared = AllCompared(similarities, {PAIR: Compared(nothing, sharpness=40.0, doubtful=0.0)})
    assert direct_scores(compared, ENHANCEMENT, UNJUDGED).uncontested is None  # where nobody asks for them
    scores = direct_scores(compared, ENHANCEMENT, UNJUDGED, with_uncontested=True)
    assert scores.uncontested is not None
    assert scores.uncontested.pairs == {PAIR}
    left_over, pair = torch.tensor([1]), (torch.tensor([1]), torch.tensor([1]))
    assert float(scores[PAIR].at(*pair)) > 0.7
    assert float(scores.uncontested.scores[PAIR].at(left_over, left_over)) == pytest.approx(
        1 / (1 + np.exp(0.4)), abs=1e-3
    )


def test_without_other_evidence_or_structure_no_uncontested_scores_are_made() -> None:
    compared, _ = compare(comparison(3.0), ENHANCEMENT)
    for changed in ({"doubtful": None}, {"has_structure": False}):
        pairs = {PAIR: replace(compared.pairs[PAIR], **changed)}
        scores = direct_scores(replace(compared, pairs=pairs), ENHANCEMENT, UNJUDGED, with_uncontested=True)
        assert scores.uncontested is None
