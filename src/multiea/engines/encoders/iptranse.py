"""IPTransE: TransE with paths, one vector per seed group, iterative soft alignment (Zhu et al., 2017)."""

from __future__ import annotations

from itertools import combinations, pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, relu

from multiea.data.groups import ABSENT
from multiea.engines.encoders.base import Encoder, Translations, xavier_uniform
from multiea.graph.joint_graph import JointGraph
from multiea.graph.sparse import gather_rows

MOST_PATHS_SEARCHED = 1 << 22  # paths of two triples that are tested for a triple with the same ends
PATHS = 1 << 15  # the sample of an epoch
SOFT_AFTER, SOFT_EVERY = 100, 25  # epochs
BLOCK = 1 << 24  # cosines computed at once
NEAR = 0.7  # the least cosine of softly aligned entities


class IpTransE(Encoder):
    r"""Knowledge model, PTransE: TransE, and paths of two relations whose vectors sum to that of a direct relation,

        L_path = sum over paths h -r1-> e -r2-> t for which a triple (h, r, t) exists of
                 R max( |r1 + r2 - r| - |r1 + r2 - r'| + margin, 0 ),    R = 1 / ( |(h, r1, .)| |(e, r2, .)| ).

    Joint model, parameter sharing: the members of a seed group have one common vector. Iterative soft alignment:
    mutual nearest neighbours of two KGs with a high cosine are pulled together by |e - e'|, weighted by the cosine.
    Zhu et al., Iterative Entity Alignment via Joint Knowledge Embeddings, IJCAI 2017.
    Differences: paths have two triples in forward direction, and only one direct triple each; soft alignment starts
    after some epochs and is computed again every few epochs; the margin loss of training separates seeds from other
    entities. Soft alignment uses all non-seed entities, never the held-out ones in particular.
    Output: (entities, dimensions), each of unit length. `layers` has no effect.
    """

    def __init__(self, graph: JointGraph, dimensions: int, layers: int, generator: torch.Generator) -> None:
        super().__init__()
        device = graph.entity.device
        self._offsets, self._epoch, self._margin = graph.entity_offsets, 0, 1.0
        self._vector_of = torch.arange(graph.entities, device=device)
        self._free = torch.ones(graph.entities, dtype=torch.bool, device=device)
        self._paths, self._reliability = _paths(graph, generator)
        self._soft = torch.empty(0, 2, dtype=torch.int64, device=device)
        self.entities = nn.Parameter(xavier_uniform(graph.entities, dimensions, generator).to(device))
        self.translations = Translations(graph, dimensions, generator)

    def begin(self, groups: Tensor, *, own: bool) -> None:
        """Makes the members of a group share the vector of its first member."""
        first = torch.where(groups == ABSENT, len(self._vector_of), groups).amin(1, keepdim=True).expand_as(groups)
        present = groups != ABSENT
        self._vector_of[groups[present]] = first[present]
        self._free[groups[present]] = False

    def forward(self) -> Tensor:
        """The embeddings of all entities, (entities, dimensions)."""
        return normalize(gather_rows(self.entities, self._vector_of))

    def own_loss(self, generator: torch.Generator) -> Tensor:
        """The losses of TransE, of paths, and of soft alignment."""
        embeddings = self()
        loss: Tensor = self.translations(embeddings, generator) + self._path_loss(generator)
        if self._epoch >= SOFT_AFTER and self._epoch % SOFT_EVERY == 0:
            self._soft = self._near_each_other(embeddings.detach())
        self._epoch += 1
        one, other = (gather_rows(embeddings, ends) for ends in self._soft.t())
        weight = (one * other).sum(1).detach().clamp(min=0)
        loss += (weight * (one - other).norm(dim=1)).sum()
        return loss

    def _path_loss(self, generator: torch.Generator) -> Tensor:
        relations = normalize(self.translations.relations)
        if not len(self._paths):
            return relations.sum() * 0
        device = relations.device
        some = torch.randint(len(self._paths), (min(PATHS, len(self._paths)),), generator=generator, device=device)
        first, second, direct = self._paths[some].unbind(1)
        false = torch.randint(len(relations), (len(some),), generator=generator, device=device)
        path = gather_rows(relations, first) + gather_rows(relations, second)
        right, wrong = ((path - gather_rows(relations, end)).norm(dim=1) for end in (direct, false))
        return (self._reliability[some] * relu(right - wrong + self._margin)).sum()

    def _near_each_other(self, embeddings: Tensor) -> Tensor:
        """Mutual nearest neighbours among non-seed entities of two KGs, (pairs, 2)."""
        free = [torch.nonzero(self._free[start:stop])[:, 0] + start for start, stop in pairwise(self._offsets)]
        pairs = [self._soft[:0]]
        for one, other in combinations(free, 2):
            if not len(one) or not len(other):
                continue
            nearest, cosine = _nearest(embeddings[one], embeddings[other])
            back, _ = _nearest(embeddings[other], embeddings[one])
            mutual = (back[nearest] == torch.arange(len(one), device=nearest.device)) & (cosine >= NEAR)
            pairs.append(torch.stack([one[mutual], other[nearest[mutual]]], dim=1))
        return torch.cat(pairs)


def _nearest(one: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    """For each row of one the row of the other with the highest cosine, and that cosine."""
    size = max(1, BLOCK // len(other))
    best = [(one[start : start + size] @ other.t()).max(1) for start in range(0, len(one), size)]
    return torch.cat([block.indices for block in best]), torch.cat([block.values for block in best])


def _paths(graph: JointGraph, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Paths of two relations with the relation of a triple with the same ends, (paths, 3), and their reliability R."""
    triples = graph.triples[torch.argsort(graph.triples[:, 0], stable=True)]
    head, relation, tail = triples.unbind(1)
    leaving = torch.bincount(head, minlength=graph.entities)
    steps = leaving[tail]  # the number of triples that continue a triple
    order = torch.randperm(len(triples), generator=generator).to(triples.device)
    first = order[steps[order].cumsum(0) <= MOST_PATHS_SEARCHED]
    starts = leaving.cumsum(0) - leaving
    into = torch.repeat_interleave(torch.arange(len(first), device=first.device), steps[first])
    within = torch.arange(len(into), device=first.device) - (steps[first].cumsum(0) - steps[first])[into]
    first = first[into]
    second = starts[tail[first]] + within
    ends = torch.sort(head * graph.entities + tail, stable=True)
    wanted = head[first] * graph.entities + tail[second]
    place = torch.searchsorted(ends.values, wanted).clamp(max=max(len(triples) - 1, 0))
    closed = ends.values[place] == wanted if len(triples) else wanted > 0
    first, second, direct = first[closed], second[closed], ends.indices[place[closed]]
    _, kind, count = torch.unique(head * graph.relations + relation, return_inverse=True, return_counts=True)
    reliability = 1.0 / (count[kind[first]] * count[kind[second]])
    return torch.stack([relation[first], relation[second], relation[direct]], dim=1), reliability
