"""Embeddings of a run folder: written in blocks as safetensors writes them, read only as far as they are needed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import multiea
from multiea import Task
from multiea.engines.embeddings import Embeddings
from multiea.runs import stored_embeddings
from multiea.runs.stored_embeddings import StoredEmbeddings
from multiea.runs.tensor_files import Blocks, read_tensors, write_tensors
from support.tasks import unaligned


def test_a_file_of_tensors_is_the_one_that_safetensors_writes(tmp_path: Path) -> None:
    rng = torch.Generator().manual_seed(0)
    wide = torch.randint(-127, 128, (50, 16), generator=rng).to(torch.int8)
    tensors = {
        "b": wide,
        "a\tü": torch.rand(3, 5, generator=rng).half(),
        "a/scale": torch.rand(50, generator=rng),
        "known": torch.tensor([True, False, True]),
        "marks": torch.arange(6, dtype=torch.int32).view(2, 3),
        "none": torch.empty(0, 4, dtype=torch.int8),
        "long": torch.arange(5),
    }
    in_blocks = tensors | {"b": Blocks(torch.int8, (50, 16), lambda: (wide[at : at + 7] for at in range(0, 50, 7)))}
    save_file(tensors, tmp_path / "expected")
    write_tensors(tmp_path / "written", in_blocks)
    assert (tmp_path / "written").read_bytes() == (tmp_path / "expected").read_bytes()
    read = read_tensors(tmp_path / "written", {"b", "none"})
    assert read.keys() == tensors.keys()
    assert all(torch.equal(read[name], tensors[name]) for name in tensors)


def in_parts(scale: torch.Tensor | None) -> tuple[StoredEmbeddings, Embeddings]:
    """Stored embeddings of three KGs in another order, and the same in memory."""
    numbers = torch.randint(-127, 128, (60, 20), generator=torch.Generator().manual_seed(1)).to(torch.int8)
    numbers[7] = 0
    parts = [part if scale is not None else part.half() for part in (numbers[:10], numbers[10:45], numbers[45:])]
    rows = torch.from_numpy(np.random.default_rng(2).permutation(60))
    whole = numbers if scale is not None else numbers.float()
    return StoredEmbeddings(parts, scale, rows), Embeddings(whole, scale)[rows]


@pytest.mark.parametrize("scale", [None, torch.rand(60) + 0.5], ids=["half precision", "8 bits"])
def test_stored_embeddings_are_used_like_those_in_memory(
    scale: torch.Tensor | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_embeddings, "ROWS_AT_ONCE", 4)
    stored, expected = in_parts(scale)
    assert (stored.shape, len(stored), stored.device) == (expected.shape, len(expected), expected.device)
    assert torch.equal(stored.are_known(), expected.are_known())
    some = torch.tensor([59, 3, 3, 0, 41])
    assert torch.equal(stored[some].float(), expected[some].float())
    factors = torch.rand(60)
    for one, other in zip(stored.times(factors).split([25, 35]), expected.times(factors).split([25, 35]), strict=True):
        assert torch.equal(one.float(), other.float())
        assert torch.equal(one.cosines(other), other.cosines(other))
    assert torch.equal(stored.float(), expected.float())


@pytest.mark.parametrize("in_8_bits", [False, True])
def test_blocks_do_not_change_what_is_saved(
    small: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_8_bits: bool
) -> None:
    embeddings = torch.nn.functional.normalize(torch.randn(int(small.entity_offsets[-1]), 32))
    alignment = unaligned(small, embeddings)
    if in_8_bits:
        numbers = Embeddings.empty_in_8_bits(*embeddings.shape)
        numbers.write(0, alignment.canonical_embeddings.float())
        alignment = replace(alignment, canonical_embeddings=numbers)
    alignment.save(tmp_path / "whole")
    monkeypatch.setattr(stored_embeddings, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(stored_embeddings, "ROWS_AT_ONCE", 3)
    multiea.open(tmp_path / "whole").save(tmp_path / "blocks")
    of_whole, of_blocks = (load_file(tmp_path / name / "embeddings.safetensors") for name in ("whole", "blocks"))
    assert all(torch.equal(of_whole[name], of_blocks[name]) for name in of_whole)
    rows = np.arange(len(embeddings))
    expected = alignment.embeddings_of(rows)
    assert torch.equal(multiea.open(tmp_path / "blocks").embeddings_of(rows), expected)
