"""What an alignment knows about its own quality: evidence, basis of confidences, F1 on validation seeds."""

from __future__ import annotations

from typing import Any

import numpy as np

from multiea.foundation.errors import counted
from multiea.grouping.alignment import AlignmentResult

CALIBRATED = "calibrated on validation seeds"
ESTIMATED = "estimated without seeds"
PLAIN_SCORES = "plain scores"
LOW_F1 = 0.5
FEW_PAIRS = 20
FEW_MATCHED = 0.1  # share of the entities of a KG, the best matched one
ENOUGH_SEEDS = 50  # from here on some seeds are set aside for validation
STRUCTURE, NAMES = "structure", "names"


def evidence_used(alignment: AlignmentResult) -> list[str]:
    """The kinds of evidence that similarities came from; runs of earlier versions used structure alone."""
    return list(alignment.history.get("evidence", [STRUCTURE]))


def confidence_basis(alignment: AlignmentResult) -> str:
    """What confidences are: calibrated on validation seeds, estimated without seeds, or plain scores."""
    if alignment.calibration.examples:
        return CALIBRATED
    return PLAIN_SCORES if evidence_used(alignment) == [STRUCTURE] else ESTIMATED


def validation_scores(alignment: AlignmentResult) -> dict[str, Any]:
    """F1 of pairs on validation seeds, None where it is not known, and the number of found pairs that they judge."""
    calibration = alignment.calibration
    return {"pair_f1": calibration.validation_f1, "pairs": calibration.examples}


def doubts(alignment: AlignmentResult) -> list[str]:
    """Why the result may be bad, and what would help."""
    f1, pairs = alignment.calibration.validation_f1, alignment.calibration.examples
    task, settings = alignment.task, alignment.settings
    known = len(task.seeds) + len(task.open_seeds) + len(task.validation)
    wants_none = not settings.uses_propagation and not settings.training.validation_ratio and not len(task.validation)
    if not known:
        return _doubts_without_seeds(alignment)
    if wants_none:
        return []
    words = []
    if f1 is not None and f1 < LOW_F1:
        words.append(
            f"pair F1 on validation seeds is low, {f1:.2f} ({counted(pairs, 'pair')}): many groups are probably wrong "
            f"or missing. What helps: {', '.join(_remedies(alignment))}"
        )
    if pairs < FEW_PAIRS:
        wanted = f"{ENOUGH_SEEDS} or more seeds" if known < ENOUGH_SEEDS else "more seeds"
        judged = f"only {counted(pairs, 'pair')}" if pairs else "no pair"
        words.append(
            f"{judged} could be judged by validation seeds, so it is not known how good the result is. What helps: "
            f"{wanted} over all KGs (now {known:,}), or check the least confident groups by hand"
        )
    return words


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
