"""The base class of encoders, and parts that several encoders share."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, relu

from multiea.graph.joint_graph import JointGraph
from multiea.graph.sparse import gather_rows


class Encoder(nn.Module, ABC):
    """Embeds the entities of all KGs in one space. Subclasses define `forward`, and losses where they have their own.

    Made from (graph, dimensions, layers, generator). All initial values are drawn from the generator, on the CPU, so
    that every device starts with the same numbers.
    """

    @abstractmethod
    def forward(self) -> Tensor:
        """The embeddings of all entities, (entities, dimensions), each of unit length."""

    def begin(self, groups: Tensor, *, own: bool) -> None:
        """Called before the first epoch with the groups to train on, (G, M) joint ids, -1 where absent.

        own: whether training uses the encoder's own alignment loss.
        """

    def own_loss(self, generator: torch.Generator) -> Tensor | None:
        """A loss of the method besides the alignment of groups, computed once per epoch; None where it has none."""
        return None

    def alignment_loss(self, generator: torch.Generator) -> Tensor | None:
        """The method's own alignment loss of groups, for strategy `own`; None where it has none."""
        return None


class Translations(nn.Module):
    r"""TransE (Bordes et al., 2013): a relation is the step from head to tail.

        L = sum over triples of max( |h + r - t| - |h' + r - t'| + margin, 0 ),

    where h' or t' is another entity of the same KG. Entities are given, (N, d); relations are parameters, (R, d).
    Each epoch uses a sample of the triples, with one negative triple each.
    """

    TRIPLES = 1 << 15  # the sample of an epoch

    def __init__(self, graph: JointGraph, dimensions: int, generator: torch.Generator, margin: float = 1.0) -> None:
        super().__init__()
        self._triples, self._margin = graph.triples, margin
        device = graph.triples.device
        self.relations = nn.Parameter(xavier_uniform(graph.relations, dimensions, generator).to(device))
        offsets = torch.tensor(graph.entity_offsets, device=device)
        kg = torch.bucketize(self._triples[:, 0].contiguous(), offsets, right=True) - 1
        self._start, self._size = offsets[kg], offsets.diff()[kg]  # of the KG of each triple

    def forward(self, entities: Tensor, generator: torch.Generator) -> Tensor:
        """The loss of a random sample of triples."""
        if not len(self._triples):
            return entities.sum() * 0
        count, device = min(self.TRIPLES, len(self._triples)), entities.device
        some = torch.randint(len(self._triples), (count,), generator=generator, device=device)
        head, relation, tail = self._triples[some].unbind(1)
        drawn = torch.rand(count, generator=generator, device=device, dtype=torch.float64) * (self._size[some] - 1)
        at_head = torch.rand(count, generator=generator, device=device) < 0.5
        false = self._start[some] + drawn.long()
        false += false >= torch.where(at_head, head, tail)  # skips the entity that is replaced
        step = gather_rows(normalize(self.relations), relation)  # (triples, d)
        h, t, other = gather_rows(entities, torch.stack([head, tail, false]))
        right = (h + step - t).norm(dim=1)
        wrong = torch.where(at_head[:, None], other + step - t, h + step - other).norm(dim=1)
        return relu(right - wrong + self._margin).sum()


def xavier_uniform(rows: int, columns: int, generator: torch.Generator) -> Tensor:
    """Xavier uniform initialisation, drawn on the CPU so that every device starts with the same numbers."""
    return nn.init.xavier_uniform_(torch.empty(rows, columns), generator=generator)


def neighbour_pairs(graph: JointGraph) -> tuple[Tensor, Tensor]:
    """All pairs of neighbours, each once, and each entity with itself: entities and their neighbours, (pairs,) each."""
    keys = torch.unique(graph.entity * graph.entities + graph.neighbour)
    return keys // graph.entities, keys % graph.entities
