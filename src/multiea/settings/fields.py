"""A setting that explains itself: a field of a dataclass with its default and one line about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

ABOUT = "about"
NONE = "none"  # what stands for no value in TOML, which has no word for it


def setting(default: Any, about: str) -> Any:
    """A field with its default and what it is for."""
    return field(default=default, metadata={ABOUT: about})


def explanations(settings: DataclassInstance | type[DataclassInstance]) -> dict[str, str]:
    """What each setting is for."""
    return {part.name: part.metadata[ABOUT] for part in fields(settings) if ABOUT in part.metadata}


def told(settings: DataclassInstance, usual: DataclassInstance) -> dict[str, Any]:
    """All values by name; a value that is left out on purpose, though there usually is one, is told as 'none'."""
    normal = asdict(usual)
    return {
        name: NONE if value is None and normal[name] is not None else value for name, value in asdict(settings).items()
    }


def without_none(tree: Mapping[str, Any]) -> dict[str, Any]:
    """A tree as TOML can hold it."""
    return {
        key: without_none(value) if isinstance(value, Mapping) else value
        for key, value in tree.items()
        if value is not None
    }
