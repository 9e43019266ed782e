"""Synthetic data sets have the requested properties, and their groups are correct."""

from contextlib import nullcontext
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import multiea
from multiea import SettingError
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.foundation import progress


def generated(folder: Path, **settings: Any) -> multiea.Task:
    folder.mkdir(exist_ok=True)
    write_synthetic(Synthesis(**settings), folder)
    return multiea.load(folder)


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def default(tmp_path_factory: pytest.TempPathFactory) -> multiea.Task:
    return generated(tmp_path_factory.mktemp("default"))


@pytest.mark.parametrize("kgs", [2, 3, 5, 11])
def test_each_kg_has_exactly_the_requested_number_of_entities(tmp_path: Path, kgs: int) -> None:
    task = generated(tmp_path, kgs=kgs, entities=1_000)
    assert set(task.kg_names) == {f"kg{number + 1}" for number in range(kgs)}
    assert [len(kg.entities) for kg in task.kgs] == [1_000] * kgs
    assert all(kg.degrees.min() >= 1 for kg in task.kgs)


def test_the_returned_counts_are_those_of_the_files(tmp_path: Path) -> None:
    counts = write_synthetic(Synthesis(kgs=4, entities=1_000), tmp_path)
    task = multiea.load(tmp_path)
    for kg in task.kgs:
        read = {"entities": len(kg.entities), "relations": len(kg.relations), "triples": len(kg.triples)}
        assert counts["kgs"][kg.name] == read
        assert kg.duplicates == 0
    assert counts["groups"] == len(task.known)
    assert counts["groups_by_size"] == task.known.by_size()


@pytest.mark.parametrize("triples_per_entity", [2.0, 5.0, 12.0])
def test_the_number_of_triples_is_close_to_the_requested_one(tmp_path: Path, triples_per_entity: float) -> None:
    task = generated(tmp_path, triples_per_entity=triples_per_entity)
    for kg in task.kgs:
        assert len(kg.triples) == pytest.approx(triples_per_entity * 10_000, rel=0.06)


@pytest.mark.parametrize("overlap", [0.1, 0.5, 0.9])
def test_overlap_is_the_share_of_entities_that_two_kgs_have_in_common(tmp_path: Path, overlap: float) -> None:
    task = generated(tmp_path, kgs=4, entities=5_000, overlap=overlap)
    shared = task.known.overlap()
    for a, b in combinations(range(4), 2):
        assert shared[a, b] / 5_000 == pytest.approx(overlap, abs=0.02)


def test_full_overlap_makes_every_group_complete(tmp_path: Path) -> None:
    task = generated(tmp_path, entities=500, overlap=1.0)
    assert len(task.known) == len(task.known.complete) == 500


def test_group_members_are_the_same_hidden_entity(tmp_path: Path) -> None:
    """Without noise and with all triples stated, two KGs say the same of the entities they share."""
    task = generated(tmp_path, entities=2_000, triple_share=1.0, noise=0.0)
    for left, right, pairs in task.known.pairs():
        kg_a, kg_b = (task.kgs[task.kg_names.index(name)] for name in (left, right))
        ours, theirs = triples_among(kg_a, pairs[:, 0]), triples_among(kg_b, pairs[:, 1])
        assert len(ours) > 1_000
        assert pairs_by_relation(ours) == pairs_by_relation(theirs)


def triples_among(kg: multiea.KnowledgeGraph, entities: np.ndarray) -> list[tuple[int, int, int]]:
    """The triples whose head and tail are among some entities, these given by their place in the list."""
    place = np.full(len(kg.entities), -1)
    place[entities] = np.arange(len(entities))
    head, relation, tail = kg.triples.T
    triples = np.column_stack([place[head], relation, place[tail]])
    return [(h, r, t) for h, r, t in triples[(triples[:, [0, 2]] >= 0).all(axis=1)].tolist()]


def pairs_by_relation(triples: list[tuple[int, int, int]]) -> list[list[tuple[int, int]]]:
    """The (head, tail) of each relation, whatever that is called."""
    by_relation: dict[int, list[tuple[int, int]]] = {}
    for head, relation, tail in triples:
        by_relation.setdefault(relation, []).append((head, tail))
    return sorted(sorted(pairs) for pairs in by_relation.values())


def linked_in_first_two_kgs(task: multiea.Task) -> list[set[tuple[int, int]]]:
    """For each of the first two KGs, the pairs of their shared entities that it links."""
    _, _, pairs = next(iter(task.known.pairs()))
    return [{(h, t) for h, _, t in triples_among(task.kgs[i], pairs[:, i])} for i in range(2)]


def test_kgs_agree_on_many_but_not_on_all_triples(default: multiea.Task) -> None:
    ours, theirs = linked_in_first_two_kgs(default)
    assert 0.5 < len(ours & theirs) / len(ours | theirs) < 0.7


def test_noise_is_the_share_of_triples_that_no_other_kg_confirms(tmp_path: Path) -> None:
    task = generated(tmp_path, kgs=2, overlap=1.0, triple_share=1.0, noise=0.2)
    ours, theirs = linked_in_first_two_kgs(task)
    assert 1 - len(ours & theirs) / len(ours) == pytest.approx(0.2, abs=0.02)


def test_degrees_and_relations_are_heavy_tailed(default: multiea.Task) -> None:
    for kg in default.kgs:
        degrees = np.sort(kg.degrees)[::-1]
        assert degrees[0] > 50 * np.median(degrees)
        assert degrees[:100].sum() > 0.05 * degrees.sum()  # the first 1 %; of evenly drawn triples they have about 2 %
        uses = np.bincount(kg.triples[:, 1])
        assert uses.max() > 20 * np.median(uses)
        # The types are not the only hubs: the relation that names them aside, few tails still take many triples.
        tails = kg.triples[kg.triples[:, 1] != uses.argmax(), 2]
        assert np.bincount(tails).max() > 20 * len(tails) / len(kg.entities)


def test_relations_prefer_certain_types_of_entities(default: multiea.Task) -> None:
    """The heads of a relation, and its tails, have one type more often than all entities do."""
    kg = default.kgs[0]
    head, relation, tail = kg.triples.T
    uses = np.bincount(relation)
    is_a, *others = np.argsort(-uses)
    type_of = np.arange(len(kg.entities))  # the root type is its own type
    type_of[head[relation == is_a]] = tail[relation == is_a]

    def share_of_most_frequent_type(entities: np.ndarray) -> float:
        return float(np.bincount(type_of[entities]).max() / len(entities))

    overall = share_of_most_frequent_type(np.arange(len(type_of)))
    for ends in (head, tail):
        shares = [share_of_most_frequent_type(ends[relation == other]) for other in others[:50]]
        assert np.median(shares) > 2 * overall


def test_equal_random_states_give_equal_files_and_different_ones_different_files(tmp_path: Path) -> None:
    written = []
    for number, random_state in enumerate((7, 7, 8)):
        folder = tmp_path / str(number)
        generated(folder, entities=1_000, random_state=random_state)
        written.append(files_in(folder))
    first, again, other = written
    assert list(first) == ["groups.tsv", "kg1.tsv", "kg2.tsv", "kg3.tsv"]
    assert first == again
    assert all(first[name] != other[name] for name in first)


def test_ids_and_the_order_of_groups_carry_no_information(tmp_path: Path) -> None:
    kgs = {kg.name: kg for kg in generated(tmp_path, entities=5_000).kgs}
    rows = pl.read_csv(tmp_path / "groups.tsv", separator="\t")
    pairs = rows.with_row_index("row").drop_nulls(["kg1", "kg2"])
    numbers = pairs.select("row", pl.col("kg1", "kg2").str.extract(r":(\d+)$").cast(pl.Int64)).to_numpy()
    popularity = np.log(kgs["kg1"].degrees[kgs["kg1"].positions(pairs["kg1"])])
    correlation = np.corrcoef([*numbers.T, popularity])
    assert np.abs(correlation - np.eye(4)).max() < 0.1
    assert (numbers[:, 1] == numbers[:, 2]).mean() < 0.01


def test_progress_is_reported(tmp_path: Path) -> None:
    class Reporter:
        def __init__(self) -> None:
            self.done: dict[str, list[float]] = {}

        def stage(self, description: str, total: float | None) -> Any:
            amounts = self.done.setdefault(description, [-(total or 0)])
            return nullcontext(amounts.append)

    reporter = Reporter()
    with progress.shown_by(reporter):
        write_synthetic(Synthesis(entities=1_000), tmp_path)
    assert {"generating triples", "writing kg3.tsv", "writing groups.tsv"} <= set(reporter.done)
    assert all(sum(amounts) == 0 for amounts in reporter.done.values())  # each stage advanced by its total


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kgs", 1),
        ("entities", 99),
        ("entities", 1e6),
        ("triples_per_entity", 1.5),
        ("relations", 1),
        ("overlap", 0.0),
        ("overlap", 1.01),
        ("overlap", float("nan")),
        ("triple_share", 0),
        ("noise", -0.1),
        ("noise", 0.9),
        ("noise", "much"),
        ("random_state", -1),
    ],
)
def test_an_invalid_setting_is_named_with_its_bounds(name: str, value: Any) -> None:
    with pytest.raises(SettingError, match=rf"{name} must be a .*number between \S+ and \S+, got ") as caught:
        Synthesis(**{name: value})
    assert repr(value) in str(caught.value)


def test_no_id_of_an_entity_or_relation_is_in_two_kgs(tmp_path: Path) -> None:
    write_synthetic(Synthesis(entities=500), tmp_path)
    kgs = multiea.load(tmp_path).kgs
    for names in ([kg.entities for kg in kgs], [kg.relations for kg in kgs]):
        assert sum(map(len, names)) == len(set().union(*names))
    numbers = [[int(name.split(":r")[1]) for name in sorted(kg.relations)] for kg in kgs]
    assert all(sorted(of_kg) != of_kg or len(of_kg) < 3 for of_kg in numbers)
