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
    five alignment models this is the first, calibration of axes, which needs no matrix for each pair of KGs and so goes
    with any number of them; training's strategy says which members are pulled where.
    Simplified: triples and groups have false ones to compare with, by a margin (the paper's losses have none); no
    alignment of triples.
    Output: (entities, dimensions), each of unit length; `layers` has no meaning here.
    """

    def __init__(self, graph: JointGraph, dimensions: int, layers: int, generator: torch.Generator) -> None:
        super().__init__()
        self.entities = nn.Parameter(xavier_uniform(graph.entities, dimensions, generator).to(graph.entity.device))
        self.translations = Translations(graph, dimensions, generator)

    def forward(self) -> Tensor:
        """All entities' embeddings, (entities, dimensions)."""
        return normalize(self.entities)

    def own_loss(self, generator: torch.Generator) -> Tensor:
        """TransE's."""
        loss: Tensor = self.translations(self(), generator)
        return loss
