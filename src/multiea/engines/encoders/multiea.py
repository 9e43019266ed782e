"""MultiEA's encoder: reflections by relation and attention, shared by all KGs (Yang et al., 2025, eqs. 1-8)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import elu, normalize

from multiea.engines.encoders.base import Encoder, xavier_uniform
from multiea.graph.joint_graph import JointGraph
from multiea.graph.sparse import SparsityPattern, dot_products, multiply, softmax_over_rows


class MultiEAEncoder(Encoder):
    r"""Entity embeddings through layers of

        h'_i = ELU( sum over <r_k, e_j> in N_i of  alpha_ikj W_k h_j ),     W_k = I - 2 g_k g_k^T,  |g_k| = 1,
        alpha_ikj = softmax over N_i of ELU( a_h . h_i + a_r . g_k + a_t . W_k h_j ),

    where N_i contains both directions of each triple, and i itself by the self-relation. Neither W_k nor W_k h_j is
    built: W_k h_j = h_j - 2 (g_k . h_j) g_k, so the sum is one sparse product with h and one with g.
    Output: (entities, dimensions), each of unit length.
    """

    def __init__(self, graph: JointGraph, dimensions: int, layers: int, generator: torch.Generator) -> None:
        super().__init__()
        self._graph = graph
        device = graph.entity.device
        size, relations = graph.entities, graph.relations
        self._to_neighbour = SparsityPattern(graph.entity, graph.neighbour, (size, size))
        self._to_relation = SparsityPattern(graph.entity, graph.relation, (size, relations))
        self._relation_and_neighbour = SparsityPattern(graph.relation, graph.neighbour, (relations, size))
        self.entities = nn.Parameter(xavier_uniform(size, dimensions, generator).to(device))
        self.relations = nn.Parameter(xavier_uniform(relations, dimensions, generator).to(device))
        self.attention = nn.ParameterList(  # a_h, a_r, a_t of each layer
            nn.Parameter(xavier_uniform(3, dimensions, generator).to(device)) for _ in range(layers)
        )

    def forward(self) -> Tensor:
        """The embeddings of all entities, (entities, dimensions)."""
        h: Tensor = self.entities  # (N, d)
        g = normalize(self.relations)  # (R, d)
        for attention in self.attention:
            h = self._layer(h, g, *attention)
        return normalize(h)

    def _layer(self, h: Tensor, g: Tensor, a_h: Tensor, a_r: Tensor, a_t: Tensor) -> Tensor:
        i, k, j = self._graph.entity, self._graph.relation, self._graph.neighbour
        g_dot_h = dot_products(self._relation_and_neighbour, g, h)[self._relation_and_neighbour.entry]  # (edges,)
        transformed = (h @ a_t)[j] - 2 * g_dot_h * (g @ a_t)[k]  # a_t . W_k h_j
        alpha = softmax_over_rows(i, elu((h @ a_h)[i] + (g @ a_r)[k] + transformed), len(h))
        from_neighbours = multiply(self._to_neighbour, self._to_neighbour.sum_edges(alpha), h)
        from_relations = multiply(self._to_relation, self._to_relation.sum_edges(alpha * g_dot_h), g)
        return elu(from_neighbours - 2 * from_relations)  # (N, d)
