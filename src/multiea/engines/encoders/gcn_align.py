"""GCN-Align: graph convolution with one weight per dimension, shared by all KGs (Wang et al., 2018)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, relu

from multiea.engines.encoders.base import Encoder, xavier_uniform
from multiea.graph.joint_graph import JointGraph
from multiea.graph.sparse import SparsityPattern, multiply


class GcnAlign(Encoder):
    r"""Layers of graph convolution:

        H' = relu( D^-1/2 (A + I) D^-1/2  H diag(w) ),      no relu after the last layer,

        a_ij = sum over <i, r, j> of ifun(r)  +  sum over <j, r, i> of fun(r),
        fun(r) = heads of r / triples of r,    ifun(r) = tails of r / triples of r.

    Wang et al., Cross-lingual Knowledge Graph Alignment via Graph Convolutional Networks, EMNLP 2018.
    Differences: structure embeddings only, no attribute embeddings; the margin loss uses Euclidean distances instead of
    Manhattan distances.
    Input of the first layer: one vector per entity, (N, d). Output: (N, d), each row of unit length.
    """

    def __init__(self, graph: JointGraph, dimensions: int, layers: int, generator: torch.Generator) -> None:
        super().__init__()
        device, size = graph.entity.device, graph.entities
        self._pattern, self._weights = _normalised_adjacency(graph)
        self.entities = nn.Parameter(xavier_uniform(size, dimensions, generator).to(device))
        self.weights = nn.Parameter(torch.ones(layers, dimensions, device=device))

    def forward(self) -> Tensor:
        """The embeddings of all entities, (entities, dimensions)."""
        h: Tensor = normalize(self.entities)  # (N, d)
        for layer, weight in enumerate(self.weights):
            h = multiply(self._pattern, self._weights, h * weight)
            h = relu(h) if layer + 1 < len(self.weights) else h
        return normalize(h)


def _normalised_adjacency(graph: JointGraph) -> tuple[SparsityPattern, Tensor]:
    """The sparsity pattern of D^-1/2 (A + I) D^-1/2, and its values, (entries,)."""
    head, relation, tail = graph.triples.unbind(1)
    triples = torch.bincount(relation, minlength=graph.relations).clamp(min=1)

    def ends(of_triples: Tensor) -> Tensor:
        pairs = torch.unique(relation * graph.entities + of_triples)
        return torch.bincount(pairs // graph.entities, minlength=graph.relations) / triples

    functional, inverse = ends(head), ends(tail)
    everyone = torch.arange(graph.entities, device=head.device)
    row, column = torch.cat([head, tail, everyone]), torch.cat([tail, head, everyone])
    values = torch.cat([inverse[relation], functional[relation], torch.ones_like(everyone, dtype=inverse.dtype)])
    pattern = SparsityPattern(row, column, (graph.entities, graph.entities))
    degree = torch.zeros(graph.entities, device=head.device).index_add_(0, row, values.float())
    scale = degree.clamp(min=1e-12).rsqrt()
    return pattern, pattern.sum_edges(values.float() * scale[row] * scale[column])
