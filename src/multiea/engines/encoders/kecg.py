"""KECG: graph attention over all KGs, trained together with TransE (Li et al., 2019)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import elu, leaky_relu, normalize

from multiea.engines.encoders.base import Encoder, Translations, neighbour_pairs, xavier_uniform
from multiea.graph.joint_graph import JointGraph
from multiea.graph.sparse import SparsityPattern, multiply, softmax_over_rows

HEADS = 2


class Kecg(Encoder):
    r"""Cross-graph model, layers of graph attention with diagonal projections, averaged over heads:

        h'_i = ELU( mean over heads of  sum over j in N_i of  alpha_ij  w * h_j ),     no ELU after the last layer,
        alpha_ij = softmax over N_i of LeakyReLU( p . (w * h_i) + q . (w * h_j) ).

    where N_i includes i itself. Knowledge model: TransE on the input vectors of the first layer.
    Li et al., Semi-supervised Entity Alignment via Joint Knowledge Embedding Model and Cross-graph Model, EMNLP 2019.
    Differences: both losses are minimised in the same step instead of in turns; negative triples are drawn uniformly,
    not among the nearest entities; ELU instead of ReLU.
    Output: (entities, dimensions), each of unit length.
    """

    def __init__(self, graph: JointGraph, dimensions: int, layers: int, generator: torch.Generator) -> None:
        super().__init__()
        device, size = graph.entity.device, graph.entities
        self._entity, self._neighbour = neighbour_pairs(graph)
        self._pattern = SparsityPattern(self._entity, self._neighbour, (size, size))
        self.entities = nn.Parameter(xavier_uniform(size, dimensions, generator).to(device))
        self.weights = nn.Parameter(torch.ones(layers, HEADS, dimensions, device=device))
        self.attention = nn.ParameterList(  # p and q of each layer and head
            nn.Parameter(xavier_uniform(2 * HEADS, dimensions, generator).to(device)) for _ in range(layers)
        )
        self.translations = Translations(graph, dimensions, generator)

    def forward(self) -> Tensor:
        """The embeddings of all entities, (entities, dimensions)."""
        h: Tensor = normalize(self.entities)  # (N, d)
        last = len(self.weights) - 1
        for layer, (weights, attention) in enumerate(zip(self.weights, self.attention, strict=True)):
            heads = [
                self._head(h, weight, *vectors)
                for weight, vectors in zip(weights, attention.view(HEADS, 2, -1), strict=True)
            ]
            h = torch.stack(heads).mean(0)
            h = elu(h) if layer < last else h
        return normalize(h)

    def _head(self, h: Tensor, weight: Tensor, p: Tensor, q: Tensor) -> Tensor:
        logits = leaky_relu((h @ (weight * p))[self._entity] + (h @ (weight * q))[self._neighbour], 0.2)
        alpha = softmax_over_rows(self._entity, logits, len(h))
        return multiply(self._pattern, alpha, h) * weight  # (N, d)

    def own_loss(self, generator: torch.Generator) -> Tensor:
        """The loss of TransE, on the input vectors."""
        loss: Tensor = self.translations(normalize(self.entities), generator)
        return loss
