"""MTransE: TransE for each KG, and groups pulled together in one space (Chen et al., 2017)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from multiea.engines.encoders.base import Encoder, Translations, xavier_uniform
from multiea.graph.joint_graph import JointGraph


class MTransE(Encoder):
    r"""Knowledge model: TransE, |h + r - t| for each triple. Alignment model: |e - e'| for the members of a group.

    Chen et al., Multilingual Knowledge Graph Embeddings for Cross-lingual Knowledge Alignment, IJCAI 2017. Of their
    five alignment models this is the first, axis calibration. It needs no matrix for each pair of KGs and works with
    any number of KGs; the strategy of training defines the alignment loss.
    Differences: margin losses with negative triples and groups (the paper has no negatives); no alignment of triples.
    Output: (entities, dimensions), each of unit length. `layers` has no effect.
    """

    def __init__(self, graph: JointGraph, dimensions: int, layers: int, generator: torch.Generator) -> None:
        super().__init__()
        self.entities = nn.Parameter(xavier_uniform(graph.entities, dimensions, generator).to(graph.entity.device))
        self.translations = Translations(graph, dimensions, generator)

    def forward(self) -> Tensor:
        """The embeddings of all entities, (entities, dimensions)."""
        return normalize(self.entities)

    def own_loss(self, generator: torch.Generator) -> Tensor:
        """The loss of TransE."""
        loss: Tensor = self.translations(self(), generator)
        return loss
