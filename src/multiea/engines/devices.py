"""The device that tensors are on."""

from __future__ import annotations

import torch

from multiea.foundation.errors import SettingError, resolve
from multiea.settings.tree import DEVICES


def resolve_device(name: str) -> torch.device:
    """The device of a setting: auto, cpu or cuda; an error where there is no such device."""
    resolve(name, dict.fromkeys(DEVICES), what="device")
    if name == "cuda" and not torch.cuda.is_available():
        raise SettingError("device 'cuda' is not available: torch finds no CUDA device; use --device cpu or auto")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")
