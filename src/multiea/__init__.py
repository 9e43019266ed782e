"""multiea aligns any number of knowledge graphs in a single pass.

import multiea
task = multiea.load("world")       # or a folder of your own, or multiea.Task(kgs, seeds)
task.kgs[0]                        # KnowledgeGraph('countryinfo': ... entities, ... relations, ... triples)
task.seeds, task.held_out          # Groups to learn from, Groups to score with
multiea.inspect(task).warnings     # what is wrong with the data
task.split(train_ratio=0.1)        # the same KGs with fewer seeds
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiea.data.groups import Groups
    from multiea.data.inspection import inspect
    from multiea.data.knowledge_graph import KnowledgeGraph
    from multiea.data.load import load
    from multiea.data.task import Task
    from multiea.errors import InputError, MultiEAError, OutputError, SettingError

# Loaded on first use: importing multiea must not cost the import of numpy, polars or torch.
_HOMES = {
    "Groups": "multiea.data.groups",
    "InputError": "multiea.errors",
    "KnowledgeGraph": "multiea.data.knowledge_graph",
    "MultiEAError": "multiea.errors",
    "OutputError": "multiea.errors",
    "SettingError": "multiea.errors",
    "Task": "multiea.data.task",
    "inspect": "multiea.data.inspection",
    "load": "multiea.data.load",
}
__all__ = [
    "Groups",
    "InputError",
    "KnowledgeGraph",
    "MultiEAError",
    "OutputError",
    "SettingError",
    "Task",
    "inspect",
    "load",
]
__version__ = _version("multiea")


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'multiea' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
