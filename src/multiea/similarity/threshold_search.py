"""Search on a GPU where KGs are so large that sorting whole rows takes longer than comparing all pairs.

All cosines are computed block by block, of embeddings in half precision. Those above the threshold of their row or of
their column are kept; thresholds are estimated from samples.
"""

from __future__ import annotations

import torch
from torch import Tensor

from multiea.engines.embeddings import Embeddings

WIDTH = 64  # GPUs multiply matrices several times faster if a row of the result has a multiple of so many numbers
NUMBERS_AT_ONCE = {"cpu": 1 << 24, "cuda": 1 << 29}  # cosines of a block
SAMPLE = 1 << 15  # candidates of the other KG from which thresholds are estimated, or more where KGs are very large
LEAST_RANK = 3  # of a threshold in the sample: with a lower one, the number of pairs above it would vary too much


def pairs_above_thresholds(left: Embeddings, right: Embeddings, count: int) -> Tensor:
    """The pairs with about the `count` highest cosines of each row or column, as keys: row * columns + column.

    Only positive ones. Where more than `count` candidates are exactly alike, none of them is kept.
    """
    rows, columns = _in_half_precision(left), _in_half_precision(right)
    of_rows, of_columns = _thresholds(rows, columns, count), _thresholds(columns, rows, count)
    columns, of_columns = _padded(columns), _padded(of_columns)  # what is zero exceeds no threshold
    size = max(1, NUMBERS_AT_ONCE[rows.device.type] // len(columns))
    keys = [torch.empty(0, dtype=torch.int64, device=rows.device)]
    for start in range(0, len(rows), size):
        block = _products(rows[start : start + size], columns)
        kept = (block > of_columns).logical_or_(block > of_rows[start : start + size, None]).view(-1).nonzero()[:, 0]
        del block  # before the next one is made
        row = torch.div(kept, len(columns), rounding_mode="floor")
        keys.append((row + start) * len(right) + kept - row * len(columns))
    return torch.cat(keys)


def _products(own: Tensor, others: Tensor) -> Tensor:
    """In single precision: in half precision, the cosines of very similar embeddings would be the same."""
    if own.device.type != "cuda":
        return own.float() @ others.float().t()
    return torch.mm(own, others.t(), out_dtype=torch.float32)


def _in_half_precision(embeddings: Embeddings) -> Tensor:
    numbers = embeddings.float()
    return (numbers if embeddings.factors is None else numbers * embeddings.factors[:, None]).half()


def _padded(rows: Tensor) -> Tensor:
    """With zeros behind."""
    missing = -len(rows) % WIDTH
    return torch.cat([rows, rows.new_zeros(missing, *rows.shape[1:])])


def _thresholds(own: Tensor, others: Tensor, count: int) -> Tensor:
    """For each of its own embeddings the cosine that about `count` others exceed, at least zero."""
    size = max(SAMPLE, LEAST_RANK * len(others) // count)
    sample = others[:: max(1, len(others) // size)]
    sample = sample[: len(sample) // WIDTH * WIDTH] if len(sample) > size else sample
    rank = min(max(LEAST_RANK, 1 + count * len(sample) // max(1, len(others))), len(sample))
    at_once = max(1, NUMBERS_AT_ONCE[own.device.type] // max(1, len(sample)))
    parts = [torch.empty(0, device=own.device)]
    for start in range(0, len(own) if rank else 0, at_once):
        block = _products(own[start : start + at_once], sample)
        parts.append(block.topk(rank, dim=1).values[:, -1].clamp(min=0))
    return torch.cat(parts)
