"""The merged KG as a graph object of networkx or PyTorch Geometric."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import polars as pl
import torch

from multiea.exports.merged_graph import merge
from multiea.exports.representatives import MergedNames
from multiea.foundation.errors import SettingError
from multiea.runs.run import Run


def to_networkx(run: Run, names: MergedNames) -> Any:
    """A networkx MultiDiGraph: nodes by IRI with their group, edges keyed by relation with a list of sources."""
    networkx = import_extra("networkx")
    merged = merge(run, names)
    facts, stated = merged.distinct_facts()
    graph = networkx.MultiDiGraph(name=run.alignment.task.name)
    groups = pl.DataFrame({"node": merged.node, "group": names.group}).drop_nulls().unique("node")
    group_of = dict(zip(groups["node"].to_list(), groups["group"].to_list(), strict=True))
    nodes, relations = merged.nodes.to_list(), merged.relations.to_list()
    graph.add_nodes_from((iri, {"group": group_of.get(number, "")}) for number, iri in enumerate(nodes))
    kgs = np.array(run.alignment.task.kg_names)
    graph.add_edges_from(
        (nodes[head], nodes[tail], relations[relation], {"sources": kgs[states].tolist()})
        for (head, relation, tail), states in zip(facts.tolist(), stated, strict=True)
    )
    return graph


def to_pyg(run: Run, names: MergedNames) -> Any:
    """A PyTorch Geometric Data: edge_index, edge_type, sources (edges, M), node_names, relation_names, kg_names."""
    data = import_extra("torch_geometric.data")
    merged = merge(run, names)
    facts, stated = merged.distinct_facts()
    return data.Data(
        edge_index=torch.from_numpy(facts[:, [0, 2]].T.copy()),
        edge_type=torch.from_numpy(facts[:, 1].copy()),
        sources=torch.from_numpy(stated),
        num_nodes=len(merged.nodes),
        node_names=merged.nodes.to_list(),
        relation_names=merged.relations.to_list(),
        kg_names=list(run.alignment.task.kg_names),
    )


def import_extra(module: str) -> Any:
    """A module of the extra `graphs`, or an error that says how to install it."""
    try:
        return import_module(module)
    except ImportError:
        package = module.split(".")[0].replace("_", "-")
        raise SettingError(f"this needs {package}: pip install 'multiea[graphs]'") from None
