"""Files of tensors in the safetensors format: written block by block, so that no second copy of a tensor is made."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from torch import Tensor

from multiea.foundation.mapped_arrays import map_array

# The data types that a run has, the first ones last in a file.
DTYPES = {
    "BOOL": torch.bool,
    "I8": torch.int8,
    "F16": torch.float16,
    "I32": torch.int32,
    "F32": torch.float32,
    "F64": torch.float64,
    "I64": torch.int64,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
BYTES_OF_LENGTH = ALIGNMENT = 8


@dataclass(frozen=True)
class Blocks:
    """A tensor that is made block by block. blocks: makes them, one after the other; together of the given shape."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    blocks: Callable[[], Iterator[Tensor]]


def write_tensors(path: Path, tensors: Mapping[str, Tensor | Blocks]) -> None:
    """Writes a file as safetensors writes it, byte for byte."""
    place = {dtype: number for number, dtype in enumerate(DTYPES.values())}
    names = sorted(tensors, key=lambda name: (-place[tensors[name].dtype], name))
    entries, start = {}, 0
    for name in names:
        dtype, shape = tensors[name].dtype, tuple(tensors[name].shape)
        end = start + math.prod(shape) * dtype.itemsize
        entries[name] = {"dtype": NAMES[dtype], "shape": shape, "data_offsets": (start, end)}
        start = end
    header = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode()
    header += b" " * (-len(header) % ALIGNMENT)
    with path.open("wb") as file:
        file.write(len(header).to_bytes(BYTES_OF_LENGTH, "little") + header)
        for name in names:
            of_name = tensors[name]
            for block in of_name.blocks() if isinstance(of_name, Blocks) else (of_name,):
                file.write(np.ascontiguousarray(block.numpy()).data)


def read_tensors(path: Path, mapped: set[str]) -> dict[str, Tensor]:
    """The tensors of a file; those in `mapped` stay in the file until they are used, and must not be written to."""
    with safe_open(path, "pt") as file:  # checks the header
        names = list(file.keys())
        tensors = {name: file.get_tensor(name).clone() for name in names if name not in mapped}
    with path.open("rb") as raw:
        length = int.from_bytes(raw.read(BYTES_OF_LENGTH), "little")
        header = json.loads(raw.read(length))
    for name in mapped.intersection(names):
        entry = header[name]
        dtype = torch.empty(0, dtype=DTYPES[entry["dtype"]]).numpy().dtype
        first = BYTES_OF_LENGTH + length + entry["data_offsets"][0]
        tensors[name] = torch.from_numpy(map_array(path, dtype, tuple(entry["shape"]), first))
    return tensors
