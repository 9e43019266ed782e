"""Ids become IRIs that every RDF reader accepts, and come back unchanged."""

from __future__ import annotations

import polars as pl
import pyoxigraph

from multiea.data.iris import entity_iris, is_iri, kgs_of, names_of, relation_iris

UNUSUAL = [
    "a b", "<x>", 'q"uote', "100%", "tab\there", "new\nline", "http://x.org/a b", "urn:multiea:entity:k:x",
    "ü/ñ", "_:blank", "http://ok.org/Ä#1", "http://ok.org/a%20b", "http://bad.org/100%", "back\\slash", "\ue000", "{}",
    "a:b:c", "[x]", "'", "&amp;",
]  # fmt: skip


def test_ids_become_iris_and_come_back() -> None:
    names = pl.Series(UNUSUAL)
    iris = entity_iris(names, "k&g:1")
    for iri in iris:
        pyoxigraph.NamedNode(iri)
        assert next(pyoxigraph.parse(f"<{iri}> <{iri}> <{iri}> .".encode(), format=pyoxigraph.RdfFormat.N_TRIPLES))
    assert names_of(iris).to_list() == UNUSUAL
    assert iris.n_unique() == len(UNUSUAL)
    assert [iri == name for iri, name in zip(iris, names, strict=True)] == [
        name in ("http://ok.org/Ä#1", "http://ok.org/a%20b") for name in UNUSUAL
    ]
    ours = iris.filter(~is_iri(names))
    assert kgs_of(ours).to_list() == ["k&g:1"] * len(ours)
    assert names_of(relation_iris(names)).to_list() == UNUSUAL
