"""What an alignment knows about its own quality: evidence, basis of confidences, F1 on validation seeds."""

from __future__ import annotations

from typing import Any

import numpy as np

from multiea.data.seed_split import ENOUGH_VALIDATION_SEEDS
from multiea.evaluation.unmatched_kgs import FEW_MATCHED, doubts_of_kgs
from multiea.foundation.errors import counted
from multiea.grouping.alignment import AlignmentResult
from multiea.grouping.calibration import Calibration

CALIBRATED = "calibrated on validation seeds"
ESTIMATED = "estimated without seeds"
PLAIN_SCORES = "plain scores"
LOW_F1 = 0.5
FEW_PAIRS = 20
WIDE = 0.3  # an interval of F1; 50 validation seeds, of 250 seeds, never have a wider one
NORMAL = 1.96  # standard errors on either side of the mean that hold 95% of a normal distribution
ENOUGH_SEEDS = 50  # from here on some seeds are set aside for validation
MANY_SEEDS = 5 * ENOUGH_VALIDATION_SEEDS
STRUCTURE, NAMES = "structure", "names"


def evidence_used(alignment: AlignmentResult) -> list[str]:
    """The kinds of evidence that similarities came from; runs of earlier versions used structure alone."""
    return list(alignment.history.get("evidence", [STRUCTURE]))


def confidence_basis(alignment: AlignmentResult) -> str:
    """What confidences are: calibrated on validation seeds, estimated without seeds, or plain scores."""
    if alignment.calibration.examples:
        return CALIBRATED
    return PLAIN_SCORES if evidence_used(alignment) == [STRUCTURE] else ESTIMATED


def stay_unmatched(calibration: Calibration) -> str:
    """What happens to members below the threshold; shown confidences may be lower, where they were lowered later."""
    is_lowered = calibration.uncontested_share > 0
    return f"stay unmatched{', judged before confidences of lookalikes are lowered' if is_lowered else ''}"


def validation_scores(alignment: AlignmentResult) -> dict[str, Any]:
    """F1 of pairs on validation seeds, its interval, and how many found pairs and groups it rests on.

    None where it is not known.
    """
    calibration = alignment.calibration
    low, high = f1_interval(calibration) or (None, None)
    return {
        "pair_f1": calibration.validation_f1,
        "low": low,
        "high": high,
        "pairs": calibration.examples,
        "groups": calibration.validation_groups,
    }


def f1_interval(calibration: Calibration) -> tuple[float, float] | None:
    """The 95% interval of the F1 on validation seeds, None where it is not known; Wilson's, for a share of groups.

    F1 is the share of right pairs among the found and the known ones, and the pairs of one group are mostly right or
    wrong together. Wilson's interval is honest where all of a few groups are right.
    """
    f1, groups = calibration.validation_f1, calibration.validation_groups
    if f1 is None or not groups:
        return None
    extra = NORMAL**2 / groups
    centre = (f1 + extra / 2) / (1 + extra)
    margin = NORMAL / (1 + extra) * np.sqrt(f1 * (1 - f1) / groups + extra / (4 * groups))
    return max(float(centre - margin), 0.0), min(float(centre + margin), 1.0)


def doubts(alignment: AlignmentResult) -> list[str]:
    """Why the result may be bad, and what would help."""
    f1, pairs = alignment.calibration.validation_f1, alignment.calibration.examples
    task, settings = alignment.task, alignment.settings
    known = len(task.seeds) + len(task.open_seeds) + len(task.validation)
    wants_none = not settings.uses_propagation and not settings.training.validation_ratio and not len(task.validation)
    hardly_matched = doubts_of_kgs(alignment)
    if not known:
        return _doubts_without_seeds(alignment) or hardly_matched
    if wants_none:
        return hardly_matched
    words = hardly_matched
    if f1 is not None and f1 < LOW_F1:
        words.append(
            f"pair F1 on validation seeds is low, {f1:.2f} ({counted(pairs, 'pair')}): many groups are probably wrong "
            f"or missing. What helps: {', '.join(_remedies(alignment))}"
        )
    if too_little := _too_little_to_judge(alignment.calibration):
        wanted = next((f"{count} or more seeds" for count in (ENOUGH_SEEDS, MANY_SEEDS) if known < count), "more seeds")
        words.append(
            f"{too_little}, so it is not known how good the result is. What helps: "
            f"{wanted} over all KGs (now {known:,}), or check the least confident groups by hand"
        )
    return words


def _too_little_to_judge(calibration: Calibration) -> str:
    """Why the result could hardly be judged; empty where it could."""
    pairs, interval = calibration.examples, f1_interval(calibration)
    if pairs < FEW_PAIRS:
        judged = f"only {counted(pairs, 'pair')}" if pairs else "no pair"
        return f"{judged} could be judged by validation seeds"
    if interval is not None and interval[1] - interval[0] > WIDE:
        groups = counted(calibration.validation_groups, "group")
        return f"pair F1 may be anything from {interval[0]:.2f} to {interval[1]:.2f}, judged by {groups} only"
    return ""


def _doubts_without_seeds(alignment: AlignmentResult) -> list[str]:
    """Where hardly any entity found a counterpart, there may be none, and what was found may be wrong."""
    matched = alignment.found.groups.present.sum(axis=0)
    sizes = np.array([len(kg.entities) for kg in alignment.task.kgs])
    best = int(np.argmax(matched / np.maximum(sizes, 1)))
    if matched[best] >= FEW_MATCHED * sizes[best]:
        return []
    most = (
        f"{matched[best]:,} of {sizes[best]:,} entities of '{alignment.task.kg_names[best]}', elsewhere a smaller share"
    )
    what = (
        f"hardly anything was matched ({most}), and then groups are often wrong" if matched[best] else "nothing matched"
    )
    return [
        f"{what}: the KGs seem to have little in common. What helps: a few seeds, or multiea inspect, which shows "
        "what was read as names, attributes and triples"
    ]


def _remedies(alignment: AlignmentResult) -> list[str]:
    """What may raise the quality of a result."""
    remedies = ["more seeds"]
    if NAMES not in evidence_used(alignment):
        asked = alignment.settings.evidence_kinds
        remedies.append("names of the entities" if NAMES in asked else "names of the entities, with --evidence auto")
    return [*remedies, "multiea inspect, which shows what was read as names, attributes and triples"]
