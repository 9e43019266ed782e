"""What goes in: knowledge graphs, known groups, tasks, and every way they are read, built or generated."""

from multiea.data.groups import Groups
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.load import load
from multiea.data.task import Task

__all__ = ["Groups", "KnowledgeGraph", "Task", "load"]
