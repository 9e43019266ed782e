"""multiea aligns any number of knowledge graphs in a single pass.

import multiea
task = multiea.load("world")                 # or a folder of your own, or multiea.Task(kgs, seeds)
alignment = multiea.align(task)              # learns from task.seeds alone
alignment.groups                             # a polars table: group_id, kg, entity, confidence, status
alignment.evaluate(task.held_out)            # {"m_hits": {"test": {"1": ..}}, "pairs": {"precision": ..}, ..}
alignment.save("run/")                       # multiea.open("run/") brings it back
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiea.data.groups import Groups
    from multiea.data.inspection import inspect
    from multiea.data.knowledge_graph import KnowledgeGraph
    from multiea.data.load import load
    from multiea.data.task import Task
    from multiea.engines.encoder_embeddings import register_encoder
    from multiea.engines.encoders.base import Encoder
    from multiea.engines.propagation import Propagation
    from multiea.engines.training import Training
    from multiea.foundation.errors import InputError, MultiEAError, OutputError, SettingError
    from multiea.grouping.alignment import Alignment
    from multiea.pipeline.adding import add
    from multiea.pipeline.align import align
    from multiea.pipeline.bootstrapping import Bootstrapping
    from multiea.runs.opening import open_run as open  # noqa: A004
    from multiea.settings.configuration import Settings
    from multiea.similarity.enhancement import Enhancement

# Loaded on first use: importing multiea must not cost the import of numpy, polars or torch.
_HOMES = {
    "Alignment": "multiea.grouping.alignment:Alignment",
    "Bootstrapping": "multiea.pipeline.bootstrapping:Bootstrapping",
    "Encoder": "multiea.engines.encoders.base:Encoder",
    "Enhancement": "multiea.similarity.enhancement:Enhancement",
    "Groups": "multiea.data.groups:Groups",
    "InputError": "multiea.foundation.errors:InputError",
    "KnowledgeGraph": "multiea.data.knowledge_graph:KnowledgeGraph",
    "MultiEAError": "multiea.foundation.errors:MultiEAError",
    "OutputError": "multiea.foundation.errors:OutputError",
    "Propagation": "multiea.engines.propagation:Propagation",
    "SettingError": "multiea.foundation.errors:SettingError",
    "Settings": "multiea.settings.configuration:Settings",
    "Task": "multiea.data.task:Task",
    "Training": "multiea.engines.training:Training",
    "add": "multiea.pipeline.adding:add",
    "align": "multiea.pipeline.align:align",
    "inspect": "multiea.data.inspection:inspect",
    "load": "multiea.data.load:load",
    "open": "multiea.runs.opening:open_run",
    "register_encoder": "multiea.engines.encoder_embeddings:register_encoder",
}
__all__ = [
    "Alignment",
    "Bootstrapping",
    "Encoder",
    "Enhancement",
    "Groups",
    "InputError",
    "KnowledgeGraph",
    "MultiEAError",
    "OutputError",
    "Propagation",
    "SettingError",
    "Settings",
    "Task",
    "Training",
    "add",
    "align",
    "inspect",
    "load",
    "open",
    "register_encoder",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'multiea' has no attribute '{name}'")
    module, attribute = _HOMES[name].split(":")
    value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
