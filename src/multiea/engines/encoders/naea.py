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

        h'_i = h_i + ELU( sum over N_i of  alpha_ikj ( W h_j + V g_k ) ),     scaled to unit length,
        alpha_ikj = softmax over N_i of LeakyReLU( a . W h_i + b . W h_j + c . V g_k ).

    where N_i includes i itself, by the self-relation. Relation-level embeddings are the input vectors of the first
    layer; TransE is trained on them. The output of the last layer contains both levels, since each layer adds to h.
    Zhu et al., Neighborhood-Aware Attentional Representation for Multilingual Knowledge Graphs, IJCAI 2019.
    Differences: one attention head; relations enter the sum as well as the attention; TransE on one level, and both
    levels added (with TransE on both levels and only the last layer as output, training on four KGs collapses); the
    strategy of training aligns groups, instead of swapping members in triples; no iteration over newly aligned
    entities. W = I + P / sqrt(d), where P, (d, d), is initialised with zeros; V likewise.
    Output: (entities, dimensions), each of unit length.
    """

    def __init__(self, graph: JointGraph, dimensions: int, layers: int, generator: torch.Generator) -> None:
        super().__init__()
        self._graph = graph
        device, size = graph.entity.device, graph.entities
        self._to_neighbour = SparsityPattern(graph.entity, graph.neighbour, (size, size))
        self._to_relation = SparsityPattern(graph.entity, graph.relation, (size, graph.relations))
        self.entities = nn.Parameter(xavier_uniform(size, dimensions, generator).to(device))
        self.projections = nn.ParameterList(  # P of W and of V of each layer
            nn.Parameter(torch.zeros(2, dimensions, dimensions, device=device)) for _ in range(layers)
        )
        self.attention = nn.ParameterList(  # a, b and c of each layer
            nn.Parameter(xavier_uniform(3, dimensions, generator).to(device)) for _ in range(layers)
        )
        self.translations = Translations(graph, dimensions, generator)

    def forward(self) -> Tensor:
        """The embeddings of all entities, (entities, dimensions)."""
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
        """The loss of TransE, on the input vectors."""
        loss: Tensor = self.translations(normalize(self.entities), generator)
        return loss
