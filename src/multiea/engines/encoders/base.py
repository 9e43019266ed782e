"""What training asks of an encoder, and the parts several of them share."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, relu

from multiea.graph.joint_graph import JointGraph
from multiea.graph.sparse import gather_rows


class Encoder(nn.Module, ABC):
    """Maps the entities of all KGs into one space. A method overrides what it does in its own way.

    Made from (graph, dimensions, layers, generator); everything random at the start is drawn from the generator, on the
    CPU, so that every device starts from the same numbers.
    """

    @abstractmethod
    def forward(self) -> Tensor:
        """All entities' embeddings, (entities, dimensions), each of unit length."""

    def begin(self, groups: Tensor, *, own: bool) -> None:
        """Hears the groups it will be trained on, (G, M) joint ids with -1 where absent, before the first epoch.

        own: whether by its own alignment loss.
        """

    def own_loss(self, generator: torch.Generator) -> Tensor | None:
        """What the method minimises besides pulling groups together, once an epoch."""
        return None

    def alignment_loss(self, generator: torch.Generator) -> Tensor | None:
        """The method's own way of pulling groups together, for strategy `own`; None where it has none."""
        return None


class Translations(nn.Module):
    r"""TransE (Bordes et al., 2013): a relation is the step from head to tail.

        L = sum over triples of max( |h + r - t| - |h' + r - t'| + margin, 0 ),

    where h' or t' is another entity of the same KG. Entities are handed in, (N, d); relations are its own, (R, d).
    An epoch takes some of the triples, each with one false one.
    """

    TRIPLES = 1 << 15  # an epoch

    def __init__(self, graph: JointGraph, dimensions: int, generator: torch.Generator, margin: float = 1.0) -> None:
        super().__init__()
        self._triples, self._margin = graph.triples, margin
        device = graph.triples.device
        self.relations = nn.Parameter(xavier_uniform(graph.relations, dimensions, generator).to(device))
        offsets = torch.tensor(graph.entity_offsets, device=device)
        kg = torch.bucketize(self._triples[:, 0].contiguous(), offsets, right=True) - 1
        self._start, self._size = offsets[kg], offsets.diff()[kg]  # of the KG each triple is in

    def forward(self, entities: Tensor, generator: torch.Generator) -> Tensor:
        """The loss of some triples, drawn anew each time."""
        if not len(self._triples):
            return entities.sum() * 0
        count, device = min(self.TRIPLES, len(self._triples)), entities.device
        some = torch.randint(len(self._triples), (count,), generator=generator, device=device)
        head, relation, tail = self._triples[some].unbind(1)
        drawn = torch.rand(count, generator=generator, device=device, dtype=torch.float64) * (self._size[some] - 1)
        at_head = torch.rand(count, generator=generator, device=device) < 0.5
        false = self._start[some] + drawn.long()
        false += false >= torch.where(at_head, head, tail)  # steps over the one it replaces
        step = gather_rows(normalize(self.relations), relation)  # (triples, d)
        h, t, other = gather_rows(entities, torch.stack([head, tail, false]))
        right = (h + step - t).norm(dim=1)
        wrong = torch.where(at_head[:, None], other + step - t, h + step - other).norm(dim=1)
        return relu(right - wrong + self._margin).sum()


def xavier_uniform(rows: int, columns: int, generator: torch.Generator) -> Tensor:
    """Xavier's uniform initialisation, drawn on the CPU so that every device starts from the same numbers."""
    return nn.init.xavier_uniform_(torch.empty(rows, columns), generator=generator)


def neighbour_pairs(graph: JointGraph) -> tuple[Tensor, Tensor]:
    """Who is next to whom, each pair once, each entity next to itself as well: (pairs,) entities, their neighbours."""
    keys = torch.unique(graph.entity * graph.entities + graph.neighbour)
    return keys // graph.entities, keys % graph.entities
