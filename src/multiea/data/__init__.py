"""Knowledge graphs, known groups and tasks, and the readers, builders and generators that make them."""

from multiea.data.groups import Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.load import load
from multiea.data.task import Task

__all__ = ["Groups", "KnowledgeGraph", "Task", "load"]
