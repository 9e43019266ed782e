"""The merged KG as an object of other libraries."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from multiea.exports.merged import merge
from multiea.foundation.errors import SettingError

if TYPE_CHECKING:
    from multiea.exports.canonical import Canonical
    from multiea.grouping.alignment import AlignmentResult


def to_networkx(alignment: AlignmentResult, names: Canonical) -> Any:
    """A networkx MultiDiGraph: nodes by IRI with their group, edges keyed by relation with a list of sources."""
    networkx = library("networkx")
    merged = merge(alignment, names)
    facts, stated = merged.joined()
    graph = networkx.MultiDiGraph(name=alignment.task.name)
    groups = pl.DataFrame({"node": merged.node, "group": names.group}).drop_nulls().unique("node")
    of_node = dict(zip(groups["node"].to_list(), groups["group"].to_list(), strict=True))
    nodes, relations = merged.nodes.to_list(), merged.relations.to_list()
    graph.add_nodes_from((name, {"group": of_node.get(number, "")}) for number, name in enumerate(nodes))
    kgs = np.array(alignment.task.kg_names)
    graph.add_edges_from(
        (nodes[head], nodes[tail], relations[relation], {"sources": kgs[here].tolist()})
        for (head, relation, tail), here in zip(facts.tolist(), stated, strict=True)
    )
    return graph


def to_pyg(alignment: AlignmentResult, names: Canonical) -> Any:
    """A PyTorch Geometric Data: edge_index, edge_type, sources (edges, M), node_names, relation_names, kg_names."""
    import torch

    data = library("torch_geometric.data")
    merged = merge(alignment, names)
    facts, stated = merged.joined()
    return data.Data(
        edge_index=torch.from_numpy(facts[:, [0, 2]].T.copy()),
        edge_type=torch.from_numpy(facts[:, 1].copy()),
        sources=torch.from_numpy(stated),
        num_nodes=len(merged.nodes),
        node_names=merged.nodes.to_list(),
        relation_names=merged.relations.to_list(),
        kg_names=list(alignment.task.kg_names),
    )


def library(module: str) -> Any:
    """A library of an extra, or an error that says how to get it."""
    try:
        return import_module(module)
    except ImportError:
        package = module.split(".")[0].replace("_", "-")
        raise SettingError(f"this needs {package}: pip install 'multiea[graphs]'") from None
