"""align with names and attributes: without seeds, without triples, and with structure alone where that is asked for."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch

import multiea
from multiea import Alignment, AlignSettings, Bootstrapping, Groups, InputError, SettingError, Task
from multiea.data.groups import ABSENT
from support.command_line import invoke
from support.datasets import write_files
from support.evidence import named_kg, table_kg
from support.evidence_tasks import found_members, without_names_and_attributes, without_seeds
from support.metrics import flat_scores
from support.quick import align

FIRST_WORDS = (
    "Alpen",
    "Berg",
    "Falken",
    "Gold",
    "Hansa",
    "Nord",
    "Rhein",
    "Sonnen",
    "Stern",
    "Wald",
    "Atlas",
    "Primus",
)


def random_triples(rng: np.random.Generator, entities: int, count: int) -> np.ndarray:
    heads, tails = rng.integers(entities, size=(2, count), dtype=np.int32)
    return np.unique(np.stack([heads, np.zeros(count, np.int32), tails], axis=1), axis=0)


@pytest.fixture(scope="module")
def aligned(described: Task) -> Alignment:
    return align(described)


def test_names_and_structure_align_a_real_data_set_without_seeds() -> None:
    alignment = align(without_seeds(multiea.load("world")), bootstrap=Bootstrapping(rounds=3))
    assert alignment.evaluate()["pairs"]["f1"] > 0.85
    assert alignment.history["evidence"] == ["structure", "names"]
    assert alignment.calibration.examples == 0


def test_names_and_attributes_improve_what_structure_finds(described: Task, aligned: Alignment) -> None:
    by_structure = align(described, evidence="structure")
    assert aligned.evaluate()["pairs"]["f1"] > max(0.9, by_structure.evaluate()["pairs"]["f1"] + 0.05)
    assert aligned.history["evidence"] == ["structure", "names", "attributes"]
    assert by_structure.history["evidence"] == ["structure"]
    assert aligned.weights.examples > 0


def kgs_with_unrelated_triples(size: int, kgs: int) -> Task:
    """Two KGs with similar names, others with other names of the same words; triples have nothing to do with these."""
    rng = np.random.default_rng(0)
    syllables = ["".join(pair) for pair in product("bdfgklmnprst", "aeiou")]
    words = ["".join(rng.choice(syllables, 3)) for _ in range(120)]
    names = [[" ".join(rng.choice(words, 2, replace=False)) for _ in range(size)] for _ in range(kgs - 1)]
    changed = [name if rng.random() < 0.5 else f"{name.split()[0]} {rng.choice(words)}" for name in names[0]]
    named = [named_kg(chr(ord("a") + place), [[one] for one in some]) for place, some in enumerate([changed, *names])]
    members = np.full((size, kgs), ABSENT, dtype=np.int32)
    members[:, 0] = members[:, 1] = np.arange(size)
    all_kgs = [replace(kg, relations=pl.Series(["r"]), triples=random_triples(rng, size, 3 * size)) for kg in named]
    groups = Groups(tuple(kg.name for kg in named), members)
    return Task(all_kgs, Groups.empty(groups.kg_names), groups)


@pytest.mark.parametrize("kgs", [2, 4])
def test_structure_and_kgs_that_say_nothing_do_no_harm_without_seeds(kgs: int) -> None:
    task = kgs_with_unrelated_triples(300, kgs)
    f1 = {kind: align(task, evidence=kind).evaluate()["pairs"]["f1"] for kind in ("names", "auto")}
    assert f1["auto"] > f1["names"] - 0.02


def test_tables_without_triples_are_aligned_without_seeds(tables: Task) -> None:
    alignment = align(without_seeds(tables))
    assert alignment.evaluate()["pairs"]["f1"] > 0.8
    assert alignment.history["evidence"] == ["names", "attributes"]


@pytest.mark.parametrize("kind", ["names", "attributes"])
def test_one_kind_of_evidence_is_enough(tables: Task, kind: str) -> None:
    alignment = align(without_seeds(tables), evidence=kind)
    assert alignment.evaluate()["pairs"]["f1"] > 0.4
    assert alignment.history["evidence"] == [kind]


def test_structure_alone_gives_the_same_as_kgs_without_names(described: Task) -> None:
    one = align(described, evidence="structure")
    other = align(without_names_and_attributes(described))
    assert torch.equal(one.embeddings, other.embeddings)
    assert one.groups.drop("name").equals(other.groups.drop("name"))
    assert one.calibration == other.calibration


def test_encoders_use_structure_alone_and_with_propagation_all_evidence() -> None:
    assert AlignSettings.default("multiea").evidence_kinds == ("structure",)
    assert AlignSettings.default("propagation+multiea").evidence_kinds == ("structure", "names", "attributes")


@pytest.mark.parametrize(
    "settings",
    [
        {"engine": "multiea", "evidence": "names"},
        {"engine": "kecg", "evidence": ["structure", "names"]},
        {"engine": "propagation", "enhancement": "profile", "evidence": ["names"]},
        {"engine": "multiea", "name_model": "model"},
    ],
)
def test_methods_that_compare_structure_alone_refuse_other_evidence(described: Task, settings: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match="needs an engine with propagation"):
        multiea.align(described, **settings)


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        ("name", r"unknown evidence 'name'; choose one of: auto, structure, names, attributes"),
        (["auto", "names"], "evidence 'auto' is all there is"),
        ([], "evidence must not be empty"),
    ],
)
def test_evidence_that_does_not_exist_is_refused(described: Task, evidence: str | list[str], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        multiea.align(described, evidence=evidence)


def test_evidence_may_be_a_list_in_one_word() -> None:
    assert AlignSettings.default(evidence="names, structure").evidence == ("names", "structure")
    assert AlignSettings.default(evidence=["names", "names"]).evidence == ("names",)


def test_without_seeds_names_and_attributes_the_error_says_what_to_give(described: Task) -> None:
    bare = without_seeds(without_names_and_attributes(described))
    with pytest.raises(
        InputError, match=r"has no seeds, and nothing else to start from: no KG has names and no KG has attr.*seeds="
    ):
        multiea.align(bare)


def test_structure_alone_without_seeds_is_an_error_that_says_that_names_would_do(described: Task) -> None:
    with pytest.raises(InputError, match=r'has no seeds.*evidence="auto"'):
        multiea.align(without_seeds(described), evidence="structure")


def test_names_that_no_kg_has_are_an_error_that_says_where_to_look(described: Task) -> None:
    bare = without_names_and_attributes(described)
    with pytest.raises(
        InputError, match=r'has nothing to compare: no KG has names;.*multiea\.inspect.*evidence="auto"'
    ):
        multiea.align(bare, evidence=("names",))


def test_tables_with_nothing_to_compare_are_an_error_that_says_what_to_add() -> None:
    kgs = [table_kg("a", code=["x1", "x2"]), named_kg("b", [["Oslo"], ["Bergen"]])]
    with pytest.raises(
        InputError,
        match=r"nothing to compare: no KG has triples, only b has names, and only a has attributes.*name column",
    ):
        multiea.align(Task(kgs))


def test_a_kg_without_names_and_triples_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    names = [["Oslo"], ["Bergen"], ["Paris"], ["Lyon"]]
    kgs = [named_kg("a", names), named_kg("b", names), named_kg("c", [[]] * 4)]
    alignment = align(Task(kgs))
    assert "c: no names or attributes that others have, and no seeds" in caplog.text
    assert len(found_members(alignment)) == 4
    assert set(alignment.groups["kg"]) == {"a", "b"}


def test_an_entity_without_a_name_is_found_by_its_attributes() -> None:
    cities = ["Oslo", "Bergen", "Paris", "Lyon", "Berlin", "Hamburg", "Vienna", "Graz"]
    codes = [f"K{number * 37}Z" for number in range(8)]
    kgs = [table_kg("a", name=[None, *cities[1:]], code=codes), table_kg("b", name=cities, code=codes)]
    assert found_members(align(Task(kgs))).keys() == {
        frozenset({("a", f"a{row:04}"), ("b", f"b{row:04}")}) for row in range(8)
    }


def test_a_run_opened_again_scores_the_same(aligned: Alignment, tmp_path: Path) -> None:
    aligned.save(tmp_path / "run")
    opened = multiea.open(tmp_path / "run")
    assert opened.weights == aligned.weights
    assert opened.calibration == aligned.calibration
    assert flat_scores(opened) == pytest.approx(flat_scores(aligned), abs=1e-9)
    assert opened.groups.sort("group_id", "kg").equals(aligned.groups.sort("group_id", "kg"))


def test_tables_opened_again_score_the_same(tables: Task, tmp_path: Path) -> None:
    alignment = align(without_seeds(tables))
    alignment.save(tmp_path / "run")
    assert flat_scores(multiea.open(tmp_path / "run")) == pytest.approx(flat_scores(alignment), abs=1e-9)


def test_the_command_aligns_csv_files_without_seeds(tmp_path: Path) -> None:
    cities = ["Oslo", "Bergen", "Paris", "Lyon", "Berlin", "Hamburg"]
    files: dict[str, str | bytes] = {
        f"{kg}.csv": "id,name\n" + "".join(f"{kg}{row},{change(city)}\n" for row, city in enumerate(cities))
        for kg, change in (("left", str.upper), ("right", str.lower))
    }
    write_files(tmp_path / "cities", files)
    outcome = invoke("align", tmp_path / "cities", "--evidence", "names", "--out", tmp_path / "run")
    assert outcome.code == 0, outcome.stderr
    found = pl.read_csv(tmp_path / "run" / "groups.tsv", separator="\t").sort("left")
    assert list(found.iter_rows()) == [(f"left{row}", f"right{row}") for row in range(6)]


def firms_found(seed: int) -> list[tuple[str, str]]:
    """The pairs found in two tables of 32 firms, of which they share 16; the names of the others are similar."""
    rng = np.random.default_rng(seed)
    parts = [[f"{first}{second}" for second in ("wood", "steel", "paper", "foods")] for first in FIRST_WORDS]
    names = np.array([name for some in parts for name in some])[rng.permutation(4 * len(FIRST_WORDS))]
    revenue, year = rng.lognormal(3, 1, len(names)).round(2), rng.integers(1850, 2020, len(names))
    one, other = np.arange(32), np.arange(16, 48)
    left = pl.DataFrame({"id": [f"a{i}" for i in one], "name": names[one], "revenue": revenue[one], "year": year[one]})
    right = pl.DataFrame(
        {"id": [f"b{i}" for i in other], "name": [f"{names[i]} Ltd." for i in other], "sales": revenue[other] * 1e6}
    )
    alignment = multiea.align({"left": left, "right": right})
    ids = [kg.entities.to_list() for kg in alignment.task.kgs]
    return [(ids[0][a][1:], ids[1][b][1:]) for a, b in alignment.found.groups.members]


def test_firms_that_only_one_table_has_stay_unmatched() -> None:
    seeds = 12
    pairs = [pair for seed in range(seeds) for pair in firms_found(seed)]
    right_pairs = sum(a == b for a, b in pairs)
    assert right_pairs >= 0.95 * seeds * 16
    assert right_pairs >= 0.95 * len(pairs)


def test_the_command_says_that_tables_propagate_nothing(tmp_path: Path) -> None:
    rows = "id,name\n1,Oslo\n2,Bergen\n3,Tromso\n"
    write_files(tmp_path / "towns", {"a.csv": rows, "b.csv": rows})
    printed = invoke("align", str(tmp_path / "towns"), "--out", str(tmp_path / "run")).output
    assert "nothing to propagate without triples" in printed
    assert "every pair of entities" not in printed
