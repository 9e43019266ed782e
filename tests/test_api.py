"""Arguments of a wrong kind are refused with an error of multiea, which says what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import multiea
from multiea import AlignSettings, Groups, KnowledgeGraph, MultiEAError, SettingError, Task

TABLE = pl.DataFrame({"id": ["1", "2", "3"], "name": ["Oslo", "Bergen", "Paris"]})
TABLES = {"a": TABLE, "b": TABLE}
SETTINGS = ("Training", "Propagation", "Bootstrapping", "Enhancement", "Data", "AlignSettings")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: multiea.open(3), "a run folder must be a path, got 3"),  # type: ignore[arg-type]
        (lambda: multiea.open(None), "a run folder must be a path, got None"),  # type: ignore[arg-type]
        (lambda: multiea.open("run", data=[3]), "data must be a path, or a list of paths, got 3"),  # type: ignore[list-item]
        (lambda: multiea.load("world", seeds=3), "seeds given as int; expected a file"),
        (lambda: multiea.load(TABLES, seeds=3), "seeds given as int; expected Groups, a table"),
        (lambda: multiea.load(TABLES, seeds=[{3: "1", "b": "1"}]), "the group {3: '1', 'b': '1'}; expected the ids"),
        (lambda: multiea.load(TABLES, seeds=[{"a": ["1"], "b": "1"}]), "the group {'a': ['1'], 'b': '1'}"),
        (lambda: multiea.load("world", seeds=[{"a": "1"}]), "multiea.Groups.from_names(task.kgs, seeds)"),
        (lambda: multiea.inspect(TABLES), "got dict; for tables by name, multiea.inspect(multiea.load(tables))"),  # type: ignore[arg-type]
        (lambda: multiea.inspect(TABLE), "got DataFrame; multiea.load reads a Task"),  # type: ignore[arg-type]
        (lambda: multiea.read_settings(3), "a file of settings must be a path"),  # type: ignore[arg-type]
        (lambda: Task(3), "kgs must be a list of KnowledgeGraphs, got 3"),  # type: ignore[arg-type]
        (lambda: Task(["a", "b"]), "must be a KnowledgeGraph, got 'a'; multiea.load reads"),  # type: ignore[list-item]
        (lambda: Task(multiea.load(TABLES).kgs, [("1", "1")]), "the seeds must be Groups"),  # type: ignore[arg-type]
        (lambda: KnowledgeGraph.from_triples("a", 3), "triples given as int"),  # type: ignore[arg-type]
        (lambda: KnowledgeGraph.from_triples(3, []), "a KG named 3"),  # type: ignore[arg-type]
        (lambda: KnowledgeGraph("a", ["x"], [], []), "entities must be a polars Series"),  # type: ignore[arg-type]
        (lambda: Groups(("a", "b"), [[0, 0]]), "members must be a numpy array"),  # type: ignore[arg-type]
        (lambda: Groups.from_names(multiea.load(TABLES).kgs, 3), "the group 3; expected"),  # type: ignore[arg-type]
        (lambda: AlignSettings.default(evidence=3), "evidence: expected a list, each part text"),
        (lambda: AlignSettings(), "AlignSettings.default() has all"),  # type: ignore[call-arg]
        (lambda: multiea.register_encoder("mine", 3), "make must be an Encoder class"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_kind_is_named_with_what_is_allowed(call: Callable[[], object], words: str) -> None:
    with pytest.raises(MultiEAError) as error:
        call()
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", SETTINGS)
def test_unknown_settings_are_refused_with_the_known_ones(kind: str) -> None:
    with pytest.raises(SettingError, match=f"unknown setting of {kind}: 'epocs'; choose one of: "):
        getattr(multiea, kind)(epocs=3)


def test_a_similar_setting_is_suggested_and_known_ones_still_count() -> None:
    with pytest.raises(SettingError, match="Did you mean 'epochs'"):
        multiea.Training(epocs=3)  # type: ignore[call-arg]
    assert multiea.Training("each", epochs=3).epochs == 3


@pytest.mark.parametrize(
    "call",
    [
        lambda one: one.evaluate(3),
        lambda one: one.save(3),
        lambda one: one.report(3),
        lambda one: one.report("report.html", metrics=3),
        lambda one: one.export("groups", 3),
        lambda one: one.export(3, "groups.tsv"),
        lambda one: one.with_enhancement("none"),
        lambda one: one.to_same_as("links.nt", prefer=3),
        lambda one: one.to_networkx(prefer="a"),
    ],
)
def test_methods_of_an_alignment_refuse_wrong_kinds(
    call: Callable[[Any], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingError):
        call(multiea.align(TABLES))
    assert not list(tmp_path.iterdir())
