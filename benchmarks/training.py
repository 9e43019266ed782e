"""Seconds and peak memory of a training epoch, compared with the same encoder written with gather and index_add.

Both run in fresh processes on the same data. The ratio is what counts, because machines differ.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import elu

from measure import Measured, measure, print_table
from multiea.data.load import load
from multiea.engines.encoders.multiea import MultiEAEncoder
from multiea.engines.negatives import draw_negatives
from multiea.engines.strategies import STRATEGIES
from multiea.engines.training import margin_loss
from multiea.graph.joint_graph import joint_graph
from multiea.settings.training import Training


class GatherEncoder(MultiEAEncoder):
    """The same equations, with a tensor of shape (edges, dimensions) in every step."""

    def _layer(self, h: Tensor, g: Tensor, a_h: Tensor, a_r: Tensor, a_t: Tensor) -> Tensor:
        i, k, j = self._graph.entity, self._graph.relation, self._graph.neighbour
        reflected = h[j] - 2 * (g[k] * h[j]).sum(1, keepdim=True) * g[k]  # (edges, d)
        logits = elu((h[i] * a_h).sum(1) + (g[k] * a_r).sum(1) + (reflected * a_t).sum(1))
        weight = torch.exp(logits - logits.max())
        total = torch.zeros(len(h)).index_add(0, i, weight)
        alpha = weight / total[i]
        return elu(torch.zeros_like(h).index_add(0, i, alpha[:, None] * reflected))


def main() -> None:
    """Measures both encoders and prints the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", help="'world', or the folder of a data set such as `multiea build dbp-4` writes")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--strategy", default="mean")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    runs = {name: measure(epochs, options.dataset, name, options.epochs, options.strategy) for name in ENCODERS}
    ours, gather = (runs[name].result for name in ENCODERS)
    rows = {name: _row(run) for name, run in runs.items()} | {"ratio": {"epoch": gather["epoch"] / ours["epoch"]}}
    rows["ratio"]["encoder"] = gather["encoder"] / ours["encoder"]
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    header = ("", "encoder s", "epoch s", "peak MB")
    cells = [
        (name, f"{row['encoder']:.2f}", f"{row['epoch']:.2f}", f"{row['peak_mb']:.0f}" if "peak_mb" in row else "")
        for name, row in rows.items()
    ]
    print_table(header, cells)


def epochs(dataset: str, encoder: str, count: int, strategy: str) -> dict[str, float]:
    """Mean seconds of an epoch, and of the encoder alone (forward and backward); the first epoch is not counted."""
    task = load(dataset if dataset == "world" else Path(dataset))
    graph, settings = joint_graph(task), Training(strategy=strategy)
    generator = torch.Generator().manual_seed(0)
    model = ENCODERS[encoder](graph, settings.dimensions, settings.layers, generator)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.learning_rate)
    groups = graph.joint_ids(task.seeds)
    whole, inside = [], []
    for _ in range(count + 1):
        start = time.perf_counter()
        negatives = draw_negatives(groups, graph.entity_offsets, settings.negatives, generator)
        embeddings = model()
        forward = time.perf_counter() - start
        _, gradient = margin_loss(embeddings, groups, negatives, STRATEGIES[strategy], 0, settings.margin)
        optimizer.zero_grad()
        back = time.perf_counter()
        embeddings.backward(gradient)
        inside.append(forward + time.perf_counter() - back)
        optimizer.step()
        whole.append(time.perf_counter() - start)
    return {"epoch": sum(whole[1:]) / count, "encoder": sum(inside[1:]) / count}


def _row(run: Measured[dict[str, float]]) -> dict[str, float]:
    return run.result | {"peak_mb": run.peak_mb}


ENCODERS = {"sparse products": MultiEAEncoder, "gather + index_add": GatherEncoder}


if __name__ == "__main__":
    main()
