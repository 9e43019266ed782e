"""Pseudo-labels: which of the groups found in a round are certain enough to learn from in the next."""

from __future__ import annotations

import numpy as np

from multiea.data.groups import Groups
from multiea.grouping.judging import judged_groups
from multiea.grouping.matching import Matches, join_matches
from multiea.settings.bootstrapping import Bootstrapping

FEWEST_JUDGED = 5
ROUNDING = 1e-9  # a precision that equals the threshold is enough, whatever the last bit of a sum
LEAST_SCORE = 0.1  # of a match that becomes a pseudo-label where names or attributes are compared as well
ANCHOR_SCORE, ANCHOR_SHARE, MOST_ANCHORS = 0.5, 0.2, 500  # of matches that are held back to judge structure
LEAST_SCORE_UNJUDGED = 0.15  # the weakest score of a complete group where too few groups can be judged


def select_matches(matches: Matches, kg_names: tuple[str, ...]) -> Groups:
    """Groups of all matches that are not too weak, complete or not: the next round may find more members.

    Waiting for complete groups would stop where most groups are partial, and a wrong mark does little harm where names
    or attributes are compared as well.
    """
    return join_matches(matches.above(LEAST_SCORE), kg_names)


def select_anchors(matches: Matches, kg_names: tuple[str, ...], random_state: int) -> Groups:
    """Some of the strong matches, as groups: of those found without structure, these will judge it."""
    strong = join_matches(matches.above(ANCHOR_SCORE), kg_names)
    count = min(int(len(strong) * ANCHOR_SHARE), MOST_ANCHORS)
    return strong.take(np.sort(np.random.default_rng(random_state).permutation(len(strong))[:count]))


def select_pseudo_labels(
    cliques: Groups, weakest: np.ndarray, confident: Groups, validation: Groups, settings: Bootstrapping
) -> Groups:
    """Complete cliques that are probably right, then confident partial groups that probably lack no member.

    cliques: groups in which every pair is a match; weakest: the weakest score of each. confident: groups whose members
    are confident enough. validation: the validation seeds, which estimate precision.
    """
    complete = _probably_right(cliques, weakest, validation, settings.trust_in_complete)
    partial = _probably_whole(confident, validation, settings.trust_in_kinds)
    return complete.joined(partial.take(partial.apart_from(complete)))


def _probably_right(groups: Groups, weakest: np.ndarray, validation: Groups, least: float) -> Groups:
    """The complete groups whose estimated precision, a monotone function of the weakest score, is high enough."""
    from scipy.optimize import isotonic_regression  # deferred: needed only where structure is compared alone

    is_complete = groups.sizes == len(groups.kg_names)
    groups, weakest = groups.take(is_complete), weakest[is_complete]
    judged, right = judged_groups(groups, validation)
    if judged.sum() < FEWEST_JUDGED:
        return groups.take(weakest >= LEAST_SCORE_UNJUDGED)
    order = np.flatnonzero(judged)
    order = order[np.argsort(-weakest[order], kind="stable")]
    level = weakest[order]
    precision = isotonic_regression(right[order].astype(float), weights=judged[order], increasing=False).x
    enough = np.count_nonzero(precision >= least - ROUNDING)
    too_low = np.inf if not enough else level[enough] if enough < len(level) else 0.0  # the first that is too imprecise
    return groups.take(weakest > too_low)


def _probably_whole(groups: Groups, validation: Groups, least: float) -> Groups:
    """The partial groups over sets of KGs for which, judged by validation seeds, such groups mostly lack no member.

    Where a counterpart is merely not found yet, a mark without it would keep its neighbours from being found.
    """
    groups = groups.take(groups.sizes < len(groups.kg_names))
    judged, right = judged_groups(groups, validation, whole=True)
    _, kind = np.unique(groups.present, axis=0, return_inverse=True)
    kind = kind.ravel()
    count = np.bincount(kind, judged, minlength=kind.max(initial=-1) + 1)
    share = (np.bincount(kind, judged * right, minlength=len(count)) + 0.5) / (count + 1)
    lower_bound = share - np.sqrt(share * (1 - share) / (count + 1))  # one standard error below
    return groups.take((lower_bound >= least)[kind])
