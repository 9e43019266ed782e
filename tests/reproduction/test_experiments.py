"""The scripts in `experiments`: their pages are made from the stored results, and every case is stored once."""

from pathlib import Path
from types import ModuleType

import numpy as np
import polars as pl
import pytest

from multiea import Task
from multiea.data.knowledge_graph_builder import KnowledgeGraphBuilder
from multiea.data.properties import names_of
from support.experiments import EXPERIMENTS, experiment

WORDS = ("amber", "birch", "copper", "dune", "ember", "fjord", "garnet", "heron", "island", "jasper", "kelp", "lagoon")


@pytest.fixture
def default_engine(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(EXPERIMENTS))
    return experiment("default_engine")


@pytest.fixture
def evidence(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(EXPERIMENTS))
    return experiment("evidence")


@pytest.fixture
def adding(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(EXPERIMENTS))
    return experiment("adding")


def test_the_page_of_the_default_engine_is_made_from_the_stored_results(default_engine: ModuleType) -> None:
    rows = default_engine.read_rows(default_engine.RESULTS)
    assert default_engine.PAGE.read_text(encoding="utf-8") == default_engine.page(rows, "default_engine.json")


def test_the_page_about_evidence_is_made_from_the_stored_results(evidence: ModuleType) -> None:
    rows = evidence.read_rows(evidence.RESULTS)
    assert evidence.PAGE.read_text(encoding="utf-8") == evidence.page(rows, "evidence.json")
    keys = [evidence.key_of(row) for row in rows]
    assert len(keys) == len(set(keys))
    assert {("world", 0.3, "all", 0), ("settlements", 0.0, "all", 0), ("musicbrainz", 0.0, "all", 0)} <= set(keys)


def test_a_stored_result_says_which_evidence_was_used(evidence: ModuleType) -> None:
    for row in evidence.read_rows(evidence.RESULTS):
        assert row["evidence"]
        if row["kinds"] != "all":
            assert row["evidence"] == [row["kinds"]]
        assert (row["calibration"] == "estimated without seeds") == (not row["seeds"])


def test_runs_about_evidence_are_whole_commands_and_none_is_repeated(evidence: ModuleType, tmp_path: Path) -> None:
    source = tmp_path / "data" / "settlements"
    source.mkdir(parents=True)
    for name in ("a", "b"):
        rows = [f"{name}{number},{word} hall,{number}" for number, word in enumerate(WORDS)]
        (source / f"{name}.csv").write_text("\n".join(["id,name,size", *rows]) + "\n", encoding="utf-8")
    groups = ["a\tb", *(f"a{number}\tb{number}" for number in range(len(WORDS)))]
    (source / "groups.tsv").write_text("\n".join(groups) + "\n", encoding="utf-8")
    results = tmp_path / "results.json"
    options = ["--source", str(source.parent), "--cases", "settlements", "--kinds", "all"]
    options += ["--random-states", "0", "--results", str(results)]
    for _ in range(2):
        evidence.main(["run", *options])
    (first,) = evidence.read_rows(results)
    evidence.main(["run", *options, "--again"])
    rows = evidence.read_rows(results)
    assert rows[0]["seconds"] != first["seconds"]
    assert [(row["kinds"], row["evidence"]) for row in rows] == [("all", ["names", "attributes"])]
    assert rows[0]["pairs"]["f1"] == 1
    evidence.main(["show", "--results", str(results), "--page", str(tmp_path / "page.md")])
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "| settlements | no | all | names, attributes | 1.000 / 1.000 / 1.000 |" in page
    assert "Not run yet: world;" in page


def test_translated_names_are_added_to_the_names_that_a_kg_has(evidence: ModuleType, tmp_path: Path) -> None:
    builder = KnowledgeGraphBuilder("fr")
    iris = [f"http://fr.dbpedia.org/resource/{name}" for name in ("Allemagne", "Mer_Baltique", "Pologne")]
    builder.add_triples(pl.Series(iris[:2]), pl.Series(["near", "near"]), pl.Series(iris[1:]))
    table = tmp_path / "fr.tsv"
    table.write_text(f"entity\tname\n{iris[0]}\tGermany\n{iris[1]}\tBaltic Sea\nhttp://x\tX\n", encoding="utf-8")
    kg = experiment("evidence_data").with_names(builder.build(), table)
    assert set(names_of(kg)["name"]) == {"Allemagne", "Germany", "Mer Baltique", "Baltic Sea", "Pologne"}


def test_the_page_of_adding_a_kg_is_made_from_the_stored_results(adding: ModuleType) -> None:
    rows = adding.read_rows(adding.RESULTS)
    assert adding.PAGE.read_text(encoding="utf-8") == adding.page(rows, "adding.json")
    assert len(rows) == len({adding.key_of(row) for row in rows})
    runs = {(row["data"], row["split"], row["random_state"]) for row in rows}
    kgs = {"world": 3, "dbp-4": 4}
    assert len(rows) == sum(1 + (len(adding.WAYS) - 1) * kgs[data] for data, _, _ in runs)


def test_adding_a_kg_loses_at_most_a_point_of_f1(adding: ModuleType) -> None:
    rows = adding.read_rows(adding.RESULTS)
    for data in ("world", "dbp-4"):
        assert np.mean(experiment("adding_page").differences(rows, data, None)) > -1


def test_every_case_and_part_of_the_default_engine_is_stored_once(default_engine: ModuleType) -> None:
    cases = experiment("default_engine_cases")
    rows = default_engine.read_rows(default_engine.RESULTS)
    cells = [(row["what"], row["case"], row["random_state"]) for row in rows]
    assert len(cells) == len(set(cells))
    needed = {("command", case, 0) for case in cases.CASES}
    needed |= {(part, case, 0) for part in cases.PARTS for case in cases.ABLATED}
    needed |= {("alone", case, 0) for case in cases.DANGLING}
    assert needed <= set(cells)


def test_removed_counterparts_lose_their_triples_and_no_others_do(default_engine: ModuleType, small: Task) -> None:
    task, without_counterpart = default_engine.remove_counterparts(small, 0)
    reduced = len(small.held_out) - len(task.held_out)
    assert reduced >= sum(map(len, without_counterpart)) > 0.1 * len(small.held_out)
    columns = zip(small.kgs, task.kgs, without_counterpart, small.seeds.members.T, strict=True)
    for before, kg, remaining, of_seeds in columns:
        isolated = np.setdiff1d(before.triples[:, [0, 2]], kg.triples[:, [0, 2]])
        assert len(isolated) > 0.05 * reduced
        # a seed is isolated only if all its triples lead to removed entities
        assert len(np.intersect1d(isolated, of_seeds)) < len(isolated) / 2
        assert not len(np.setdiff1d(remaining, kg.triples[:, [0, 2]]))


def test_every_row_is_stored_as_soon_as_it_is_made(adding: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "results" / "rows.json"
    stored = adding.read_rows(path)
    assert stored == []
    for number, row in enumerate(adding.store_rows(path, stored, ({"row": at} for at in range(3))), start=1):
        assert adding.read_rows(path)[-1] == row
        assert len(adding.read_rows(path)) == number
