"""The settings that are searched unless a user names others: those that matter for the engine and the evidence."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from multiea.data.task import Task
from multiea.settings.engines import PROPAGATION_WEIGHTS
from multiea.settings.propagation import Propagation
from multiea.settings.tree import STRUCTURE, AlignSettings
from multiea.tuning.search_space import SearchSpace, search_space, value_of

KGS_WITH_PATHS = 3  # with two KGs there are no third ones
VIEW_WEIGHTS = [[7.0, 3.0, 1.3, 1.3], [14.0, 6.0, 1.3, 1.3], [14.0, 3.0, 3.0, 1.3], [14.0, 3.0, 1.3, 3.0]]
WEIGHTS = [[0.7, 0.3], [0.5, 0.5], [0.2, 0.8]]  # of direct similarities, of paths through third KGs
PROPAGATION_SEARCH: dict[str, Any] = {
    "propagation.hops": {"low": 1, "high": 3},
    "propagation.own_weight": {"low": 0.2, "high": 1.5, "log": True},
    "propagation.relation_discount": {"low": 0.2, "high": 0.8},
    "propagation.view_weights": {"choices": [list(Propagation().view_weights), *VIEW_WEIGHTS]},
}
BOOTSTRAP_SEARCH: dict[str, Any] = {
    "bootstrap.trust_in_complete": {"low": 0.2, "high": 0.7},
    "bootstrap.trust_in_members": {"low": 0.1, "high": 0.6},
    "bootstrap.trust_in_kinds": {"low": 0.3, "high": 0.8},
    "bootstrap.partial_weight": {"low": 0.2, "high": 1.0},
}
FUSION_SEARCH: dict[str, Any] = {"fusion_weight": {"low": 0.05, "high": 0.6}}
TRAINING_SEARCH: dict[str, Any] = {
    "training.learning_rate": {"low": 0.001, "high": 0.05, "log": True},
    "training.dimensions": {"choices": [128, 256, 384]},
    "training.negatives": {"low": 2, "high": 30, "log": True},
    "training.margin": {"low": 0.3, "high": 4.0, "log": True},
}


def default_search(settings: AlignSettings, task: Task, keep: Collection[str] = ()) -> SearchSpace:
    """The search space of an engine; keep: settings that stay as they are.

    What has no effect is left out: structure where there is none, paths through third KGs with two KGs. Choices contain
    the value of the given settings.
    """
    tree = dict[str, Any]()
    has_structure = STRUCTURE in settings.evidence_kinds and any(len(kg.triples) for kg in task.kgs)
    if settings.uses_propagation:
        tree |= PROPAGATION_SEARCH if has_structure else {}
        tree |= BOOTSTRAP_SEARCH if settings.bootstrap.pool != "none" else {}
    if settings.encoder is not None:
        epochs = settings.training.epochs
        tree |= TRAINING_SEARCH | {"training.epochs": {"low": max(1, epochs // 2), "high": 2 * epochs + 1}}
        tree |= FUSION_SEARCH if settings.uses_propagation else {}
    mode, candidates = settings.enhancement.mode, settings.enhancement.candidates
    if mode == "sharpened":
        tree["enhancement.temperature"] = {"low": 0.015, "high": 0.1, "log": True}
    if mode != "none" and len(task.kgs) >= KGS_WITH_PATHS:
        tree["enhancement.weights"] = {"choices": [list(PROPAGATION_WEIGHTS), *WEIGHTS]}
    if candidates is not None:
        tree["enhancement.candidates"] = {"low": max(1, candidates // 2), "high": 2 * candidates + 1, "log": True}
    tree = {key: _with_present_value(key, entry, settings) for key, entry in tree.items() if key not in keep}
    return search_space(tree, settings)


def _with_present_value(key: str, entry: dict[str, Any], settings: AlignSettings) -> dict[str, Any]:
    """Choices that contain the value of the settings."""
    if "choices" not in entry:
        return entry
    value = value_of(settings, key)
    value = list(value) if isinstance(value, tuple) else value
    return {"choices": [value, *(one for one in entry["choices"] if one != value)]}
