"""multiea aligns any number of knowledge graphs in a single pass.

import multiea
task = multiea.load("world")                 # or a folder of your own, or multiea.Task(kgs, seeds)
alignment = multiea.align(task)              # learns from task.seeds alone
alignment.groups                             # a polars table: group_id, kg, entity, name, confidence, status
alignment.evaluate(task.held_out)            # {"m_hits": {"test": {"1": ..}}, "pairs": {"precision": ..}, ..}
alignment.save("run/")                       # multiea.open("run/") brings it back
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from multiea.foundation.version import __version__

if TYPE_CHECKING:
    from multiea.api import (
        Alignment,
        add,
        align,
        open,  # noqa: A004
    )
    from multiea.data.groups import Groups
    from multiea.data.inspection import inspect
    from multiea.data.knowledge_graph import KnowledgeGraph
    from multiea.data.load import load
    from multiea.data.task import Task
    from multiea.engines.encoders.base import Encoder
    from multiea.engines.encoders.registry import register_encoder
    from multiea.foundation.errors import InputError, MultiEAError, OutputError, SettingError
    from multiea.runs.loading import load_task
    from multiea.settings.bootstrapping import Bootstrapping
    from multiea.settings.config_file import read_settings
    from multiea.settings.data import Data
    from multiea.settings.enhancement import Enhancement
    from multiea.settings.propagation import Propagation
    from multiea.settings.training import Training
    from multiea.settings.tree import AlignSettings
    from multiea.tuning.tune import tune
    from multiea.tuning.tuning import Tuning

# Loaded on first use: importing multiea must not cost the import of numpy, polars or torch.
_HOMES = {
    "AlignSettings": "multiea.settings.tree:AlignSettings",
    "Alignment": "multiea.api:Alignment",
    "Bootstrapping": "multiea.settings.bootstrapping:Bootstrapping",
    "Data": "multiea.settings.data:Data",
    "Encoder": "multiea.engines.encoders.base:Encoder",
    "Enhancement": "multiea.settings.enhancement:Enhancement",
    "Groups": "multiea.data.groups:Groups",
    "InputError": "multiea.foundation.errors:InputError",
    "KnowledgeGraph": "multiea.data.knowledge_graph:KnowledgeGraph",
    "MultiEAError": "multiea.foundation.errors:MultiEAError",
    "OutputError": "multiea.foundation.errors:OutputError",
    "Propagation": "multiea.settings.propagation:Propagation",
    "SettingError": "multiea.foundation.errors:SettingError",
    "Task": "multiea.data.task:Task",
    "Training": "multiea.settings.training:Training",
    "Tuning": "multiea.tuning.tuning:Tuning",
    "add": "multiea.api:add",
    "align": "multiea.api:align",
    "inspect": "multiea.data.inspection:inspect",
    "load": "multiea.data.load:load",
    "load_task": "multiea.runs.loading:load_task",
    "open": "multiea.api:open",
    "read_settings": "multiea.settings.config_file:read_settings",
    "register_encoder": "multiea.engines.encoders.registry:register_encoder",
    "tune": "multiea.tuning.tune:tune",
}
__all__ = [
    "AlignSettings",
    "Alignment",
    "Bootstrapping",
    "Data",
    "Encoder",
    "Enhancement",
    "Groups",
    "InputError",
    "KnowledgeGraph",
    "MultiEAError",
    "OutputError",
    "Propagation",
    "SettingError",
    "Task",
    "Training",
    "Tuning",
    "__version__",
    "add",
    "align",
    "inspect",
    "load",
    "load_task",
    "open",
    "read_settings",
    "register_encoder",
    "tune",
]


_RENAMED = {"Settings": "AlignSettings; read a file of settings with multiea.read_settings"}


def __getattr__(name: str) -> object:
    if name in _RENAMED:
        raise AttributeError(f"multiea.{name} is now multiea.{_RENAMED[name]}")
    if name not in _HOMES:
        raise AttributeError(f"module 'multiea' has no attribute '{name}'")
    module, attribute = _HOMES[name].split(":")
    value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
