"""NAEA: attention over an entity's neighbours and the relations that lead to them (Zhu et al., 2019)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import elu, leaky_relu, normalize

from multiea.engines.encoders.base import Encoder, Translations, xavier_uniform
from multiea.graph.joint_graph import JointGraph
from multiea.graph.sparse import SparsityPattern, multiply, softmax_over_rows


class Naea(Encoder):
    r"""Neighbour-level embeddings, layers of attention over tuples <r_k, e_j> in N_i:

        h'_i = h_i + ELU( sum over N_i of  alpha_ikj ( W h_j + V g_k ) ),     made of unit length,
        alpha_ikj = softmax over N_i of LeakyReLU( a . W h_i + b . W h_j + c . V g_k ).

    Relation-level embeddings are the entities' own vectors, from which the layers start and on which TransE is learned.
    Entities are compared by the last layer, which by its sums holds both levels.
    Zhu et al., Neighborhood-Aware Attentional Representation for Multilingual Knowledge Graphs, IJCAI 2019.
    Simplified: one head; relations enter the sum as well as the attention; TransE on one level and the levels added up
    (with TransE on both and the last layer alone, training on four KGs at once collapses); groups are pulled together
    by training's strategy instead of swapping members in triples; no iteration over newly aligned entities.
    N_i holds i itself, by the self-relation. W = I + P / sqrt(d) with P, (d, d), learned from zero; so is V.
    Output: (entities, dimensions), each of unit length.
    """

    def __init__(self, graph: JointGraph, dimensions: int, layers: int, generator: torch.Generator) -> None:
        super().__init__()
        self._graph = graph
        device, size = graph.entity.device, graph.entities
        self._to_neighbour = SparsityPattern(graph.entity, graph.neighbour, (size, size))
        self._to_relation = SparsityPattern(graph.entity, graph.relation, (size, graph.relations))
        self.entities = nn.Parameter(xavier_uniform(size, dimensions, generator).to(device))
        self.projections = nn.ParameterList(  # of W and V of each layer
            nn.Parameter(torch.zeros(2, dimensions, dimensions, device=device)) for _ in range(layers)
        )
        self.attention = nn.ParameterList(  # a, b and c of each layer
            nn.Parameter(xavier_uniform(3, dimensions, generator).to(device)) for _ in range(layers)
        )
        self.translations = Translations(graph, dimensions, generator)

    def forward(self) -> Tensor:
        """All entities' embeddings, (entities, dimensions)."""
        h, g = normalize(self.entities), normalize(self.translations.relations)
        for projections, attention in zip(self.projections, self.attention, strict=True):
            of_entities, of_relations = projections / math.sqrt(h.shape[1])
            h = normalize(h + elu(self._layer(h + h @ of_entities, g + g @ of_relations, *attention)))
        return h

    def _layer(self, h: Tensor, g: Tensor, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        i, k, j = self._graph.entity, self._graph.relation, self._graph.neighbour
        alpha = softmax_over_rows(i, leaky_relu((h @ a)[i] + (h @ b)[j] + (g @ c)[k], 0.2), len(h))
        of_neighbours = multiply(self._to_neighbour, self._to_neighbour.sum_edges(alpha), h)
        return of_neighbours + multiply(self._to_relation, self._to_relation.sum_edges(alpha), g)  # (N, d)

    def own_loss(self, generator: torch.Generator) -> Tensor:
        """TransE's, on the entities' own vectors."""
        loss: Tensor = self.translations(normalize(self.entities), generator)
        return loss
