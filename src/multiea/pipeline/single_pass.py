"""The stages of one alignment in their order: embed, calibrate, compare, group."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor

from multiea.data.seed_split import SeedSplit, split_seeds
from multiea.data.task import Task
from multiea.engines.devices import resolve_device
from multiea.engines.embeddings import Embeddings
from multiea.engines.encoder_embeddings import EncoderEmbeddings, train_encoder, train_encoder_pairwise
from multiea.engines.training import Score
from multiea.evaluation.ranks import mean_reciprocal_rank
from multiea.evaluation.scores import ranks_of_groups, scores_by_rank
from multiea.evidence.evidence import STRUCTURE, Evidence, collect_evidence
from multiea.evidence.name_model import load_name_model
from multiea.foundation.errors import MultiEAError
from multiea.graph.canonical_order import CanonicalOrder, sorted_groups
from multiea.grouping.alignment import AlignmentResult, scores_in_given_order
from multiea.grouping.calibration import Calibration, calibrate
from multiea.grouping.find_groups import chosen_duplicates, find_groups
from multiea.grouping.matching import join_matches, mutual_matches, scores_inside
from multiea.pipeline.bootstrapping import propagate
from multiea.pipeline.checks import check_encoder_has_seeds, check_task, warn_of_unreached_entities
from multiea.pipeline.known_groups import VALIDATION_RATIO
from multiea.pipeline.learned import LearnedEmbeddings
from multiea.pipeline.propagator import SecondView
from multiea.pipeline.warm_start import WarmStart
from multiea.settings.enhancement import Enhancement
from multiea.settings.tree import AUTO, AlignSettings
from multiea.similarity.pools import Comparable, candidate_pools, pool_similarities
from multiea.tasks.runner import Runner

log = logging.getLogger("multiea")
Result = TypeVar("Result", bound=AlignmentResult)


def align_once(
    order: CanonicalOrder, settings: AlignSettings, start: WarmStart | None = None, runner: Runner | None = None
) -> AlignmentResult:
    """All stages of an alignment; start: in canonical order. runner: for stages that are made of tasks."""
    canonical, seconds = order.canonical, dict[str, float]()
    evidence = None
    if settings.evidence_kinds != (STRUCTURE,):
        with memory_errors_explained(), timed(seconds, "evidence"):
            evidence = _collect_evidence(canonical, settings)
    check_task(canonical, settings.evidence_kinds, evidence)
    if settings.encoder is not None:
        check_encoder_has_seeds(canonical, settings.encoder)
    with memory_errors_explained(), timed(seconds, "engine"):
        learned = _learn_embeddings(canonical, settings, start, evidence, runner)
    warn_of_unreached_entities(canonical, learned.embeddings, evidence)
    known = canonical.seeds if start is None else canonical.seeds.joined(start.completed.groups)
    to_compare = Task(canonical.kgs, known, name=canonical.name)
    with memory_errors_explained(), timed(seconds, "similarity"):
        calibration = _calibration(to_compare, learned, settings.enhancement)
        pools = candidate_pools("all", to_compare, known, to_compare.held_out)
        compared = Comparable(
            learned.embeddings, learned.signatures, learned.evidence, learned.weights, runner=learned.runner
        )
        with_uncontested = not calibration.examples
        scores = pool_similarities(to_compare, compared, pools, settings.enhancement, with_uncontested=with_uncontested)
        calibration = calibration.lowering(scores)
    with memory_errors_explained(), timed(seconds, "grouping"):
        repeating = chosen_duplicates(to_compare, compared, scores, pools, settings.duplicates)
        found, duplicates = find_groups(to_compare, compared, scores, pools, calibration, repeating)
    to_given = order.given_numbering
    has_open_seeds = len(order.given.open_seeds) > 0
    signatures = learned.signatures
    return AlignmentResult(
        order.given,
        found.renumbered(*to_given, order.given.kg_names),
        learned.embeddings,
        settings,
        calibration,
        None if signatures is None else signatures[order.canonical_ids()],
        learned.evidence,
        learned.weights,
        learned.history
        | {"evidence": _kinds(evidence)}
        | ({"duplicates": repeating} if AUTO in settings.duplicates else {})
        | ({} if start is None else _open_seed_counts(canonical, start)),
        seconds,
        duplicates.renumbered(*to_given),
        completed_seeds=None
        if start is None or not has_open_seeds
        else start.completed.renumbered(*to_given, order.given.kg_names),
        _scores_of_all=None if has_open_seeds else scores_in_given_order(scores, pools, order),
    )


def regroup(alignment: Result, enhancement: Enhancement) -> Result:
    """The same embeddings, compared and grouped in another way."""
    order = alignment.order
    known = Task(order.canonical.kgs, order.groups_to_canonical(alignment.known.groups))
    compared = alignment.compared()
    pools = candidate_pools("all", known, known.seeds, known.held_out)
    scores = pool_similarities(known, compared, pools, enhancement, with_uncontested=True)
    settings = replace(alignment.settings, enhancement=enhancement)
    repeating = chosen_duplicates(known, compared, scores, pools, settings.duplicates)
    calibration = Calibration.unjudged(with_evidence=compared.evidence is not None).lowering(scores)
    found, duplicates = find_groups(known, compared, scores, pools, calibration, repeating)
    to_given = order.given_numbering
    return replace(
        alignment,
        settings=settings,
        calibration=calibration,
        found=found.renumbered(*to_given, order.given.kg_names),
        duplicates=duplicates.renumbered(*to_given),
        ids=None,
        _scores_of_all=None,
    )


def _collect_evidence(canonical: Task, settings: AlignSettings) -> Evidence | None:
    """What names and attributes say; None where no two KGs have any, so that structure alone is compared."""
    model = None if settings.name_model is None else load_name_model(Path(settings.name_model))
    seeds = split_seeds(canonical, VALIDATION_RATIO, settings.random_state).seeds  # validation seeds judge the result
    known = seeds.take(seeds.apart_from(canonical.open_seeds.groups)).joined(canonical.open_seeds.groups)
    names = canonical.kg_names
    repeating = range(len(names)) if AUTO in settings.duplicates else map(names.index, settings.duplicates)
    evidence = collect_evidence(canonical.kgs, settings.evidence_kinds, known, model, sorted(repeating))
    return evidence if evidence.kinds else None


def _kinds(evidence: Evidence | None) -> list[str]:
    """The kinds of evidence that were used."""
    if evidence is None:
        return [STRUCTURE]
    return [*([STRUCTURE] if evidence.has_triples else []), *evidence.beside_structure]


def _learn_embeddings(
    canonical: Task,
    settings: AlignSettings,
    start: WarmStart | None,
    evidence: Evidence | None,
    runner: Runner | None,
) -> LearnedEmbeddings:
    """The embeddings of the engine; of held-out groups it sees the members, never the links between them."""
    task = Task(canonical.kgs, canonical.seeds, None, canonical.validation, canonical.open_seeds, name=canonical.name)
    device = resolve_device(settings.device)
    trained = None
    if settings.encoder is not None:
        trained, split = _train(task, settings, device)
        if not settings.uses_propagation:
            validated = None if trained.without_validation is None else Embeddings(trained.without_validation)
            return LearnedEmbeddings(Embeddings(trained.final), trained.history, split, validated)
    propagated = propagate(
        task,
        settings,
        second_view=None if trained is None else _second_view(trained, settings.fusion_weight),
        warm_start=start,
        test_entities=canonical.held_out,
        evidence=evidence,
        device=device,
        runner=runner,
    )
    return propagated if trained is None else replace(propagated, history=trained.history | propagated.history)


def _train(task: Task, settings: AlignSettings, device: torch.device) -> tuple[EncoderEmbeddings, SeedSplit]:
    """The embeddings of the encoder, and the split of the seeds that it was trained with."""
    known = sorted_groups(task.seeds.joined(task.open_seeds.groups))
    to_train = Task(task.kgs, known, None, task.validation, name=task.name)
    ratio = settings.training.validation_ratio
    if settings.uses_propagation:  # propagation must not be judged by seeds that the encoder has learned
        ratio = max(ratio, VALIDATION_RATIO)
    split = split_seeds(to_train, ratio, settings.random_state)
    train = train_encoder_pairwise if settings.pairwise else train_encoder
    trained = train(to_train, split, settings, validate=_validation_score, device=device)
    if trained.history.get("interrupted"):
        log.warning("training was interrupted: the best embeddings so far are used")
    return trained, split


def _second_view(trained: EncoderEmbeddings, weight: float) -> SecondView:
    validated = trained.final if trained.without_validation is None else trained.without_validation
    return SecondView(Embeddings(validated), Embeddings(trained.final), weight)


def _calibration(task: Task, learned: LearnedEmbeddings, enhancement: Enhancement) -> Calibration:
    """Learned from the groups that embeddings without the validation seeds give."""
    if learned.calibration is not None:
        return learned.calibration
    split = learned.split
    if split is None or learned.without_validation is None or not len(split.validation):
        return Calibration()
    pools = candidate_pools("all", task, split.seeds, split.validation)
    scores = pool_similarities(task, Comparable(learned.without_validation), pools, enhancement)
    groups = join_matches(mutual_matches(scores, pools), task.kg_names)
    return calibrate(groups, scores_inside(groups, scores, pools), split.validation)


def _validation_score(embeddings: Tensor, task: Task) -> Score:
    """M-Hits@1 among all non-seed entities, then the mean reciprocal rank; from direct similarities."""
    pools = candidate_pools("all", task, task.seeds, task.held_out)
    scores = pool_similarities(task, Comparable(Embeddings(embeddings)), pools, Enhancement(mode="none"))
    ranks = ranks_of_groups(scores, pools, task.held_out)
    m_hits_at_1 = scores_by_rank(ranks, task.kg_names)["m_hits"]["1"]
    known = torch.cat([of_pair[~of_pair.isnan()] for of_pair in ranks.values()])
    return (m_hits_at_1 or 0.0, mean_reciprocal_rank(known))


def _open_seed_counts(canonical: Task, start: WarmStart) -> dict[str, Any]:
    """For each KG in which members of open seeds were searched: for how many seeds, and how many were found."""
    looked_in, completed = canonical.open_seeds.looked_in, start.completed.groups
    found = completed.present & ~completed.members_in(canonical.open_seeds.groups)
    counts = {
        kg: {"looked_for": int(looked_in[:, column].sum()), "found": int(found[:, column].sum())}
        for column, kg in enumerate(canonical.kg_names)
        if looked_in[:, column].any()
    }
    return {"open_seeds": counts} if counts else {}


@contextmanager
def memory_errors_explained() -> Iterator[None]:
    """Turns an error for lack of memory into one that says what to lower."""
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
        text = str(error)
        if isinstance(error, RuntimeError) and not any(
            word in text.lower() for word in ("memory", "overflowed", "alloc")
        ):
            raise
        raise MultiEAError(
            "out of memory; lower training.dimensions, propagation.dimensions or enhancement.candidates (with --set), "
            "or use a machine with more memory; a GPU with too little is left out by --device cpu"
        ) from None


@contextmanager
def timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    """Adds the seconds that a stage takes."""
    start = time.perf_counter()
    yield
    seconds[stage] = seconds.get(stage, 0.0) + time.perf_counter() - start
