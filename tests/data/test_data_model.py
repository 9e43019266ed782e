"""KnowledgeGraph, Groups and Task: their content, the input they refuse, and that order has no meaning."""

import numpy as np
import polars as pl
import pytest

from multiea import Groups, InputError, KnowledgeGraph, SettingError, Task

ENGLISH = [("Oslo", "capital of", "Norway"), ("Bergen", "city in", "Norway"), ("Oslo", "city in", "Norway")]
FRENCH = [("Oslo", "capitale de", "Norvège"), ("Paris", "capitale de", "France")]


def english() -> KnowledgeGraph:
    return KnowledgeGraph.from_triples("en", ENGLISH, entities=["Atlantis"])


def french() -> KnowledgeGraph:
    return KnowledgeGraph.from_triples("fr", FRENCH)


def many_groups(count: int = 200, kgs: int = 3, seed: int = 0) -> tuple[list[KnowledgeGraph], list[dict[str, str]]]:
    rng = np.random.default_rng(seed)
    names = [f"kg{number}" for number in range(kgs)]
    graphs = [
        KnowledgeGraph.from_triples(name, [(f"{name}-{i}", "next", f"{name}-{i + 1}") for i in range(count)])
        for name in names
    ]
    rows = [{name: f"{name}-{i}" for name in names if rng.random() < 0.8 or name in names[:2]} for i in range(count)]
    return graphs, rows


def test_repr_shows_names_and_counts() -> None:
    assert repr(english()) == "KnowledgeGraph('en': 4 entities, 2 relations, 3 triples)"
    task = Task([english(), french()], Groups.from_names([english(), french()], [{"en": "Norway", "fr": "Norvège"}]))
    assert "1 seed," in repr(task)
    assert "KnowledgeGraph('fr'" in repr(task)
    assert repr(task.seeds) == "Groups(en, fr: 1 groups, 1 complete)"


def test_triples_are_positions_of_ids() -> None:
    assert sorted(english().named_triples().rows()) == sorted(ENGLISH)
    assert english().triples.dtype == np.int32


def test_the_order_of_triples_does_not_matter() -> None:
    forward, backward = english(), KnowledgeGraph.from_triples("en", ENGLISH[::-1], entities=["Atlantis"])
    assert forward.entities.equals(backward.entities)
    assert forward.relations.equals(backward.relations)
    assert np.array_equal(forward.triples, backward.triples)


def test_entities_are_neither_in_file_order_nor_alphabetical() -> None:
    names = [f"entity {number:04}" for number in range(1000)]
    kg = KnowledgeGraph.from_triples("en", [(name, "is", "a thing") for name in names])
    order = np.array([int(name[7:]) for name in kg.entities if name != "a thing"])
    assert abs(np.corrcoef(order, np.arange(1000))[0, 1]) < 0.1
    other = KnowledgeGraph.from_triples("fr", [(name, "is", "a thing") for name in names])
    assert not kg.entities.equals(other.entities)


def test_duplicate_triples_are_counted_and_kept_once() -> None:
    kg = KnowledgeGraph.from_triples("en", [*ENGLISH, ENGLISH[0], ENGLISH[0]])
    assert (len(kg.triples), kg.duplicates) == (3, 2)


def test_degrees_count_heads_and_tails_and_are_zero_for_isolated_entities() -> None:
    degrees = dict(zip(english().entities, english().degrees.tolist(), strict=True))
    assert degrees == {"Oslo": 2, "Norway": 3, "Bergen": 1, "Atlantis": 0}


def test_positions_of_unknown_entities_are_negative() -> None:
    kg = english()
    positions = kg.positions(pl.Series(["Oslo", "Mordor", None, "Oslo"]))
    assert kg.entities[int(positions[0])] == "Oslo"
    assert positions[0] == positions[3]
    assert positions[1] == positions[2] == -1


def test_restricting_a_kg_keeps_the_triples_among_the_remaining_entities() -> None:
    kg = english()
    kept = np.array([name in ("Oslo", "Norway", "Atlantis") for name in kg.entities])
    small = kg.restricted_to(kept)
    assert sorted(small.entities) == ["Atlantis", "Norway", "Oslo"]
    assert sorted(small.named_triples().rows()) == [("Oslo", "capital of", "Norway"), ("Oslo", "city in", "Norway")]


def test_ten_million_triples_fit_in_a_gibibyte() -> None:
    count = 200_000
    numbers = np.random.default_rng(0).integers(0, count // 3, (count, 2))
    heads = pl.Series(numbers[:, 0]).cast(pl.String)
    tails = pl.Series(numbers[:, 1]).cast(pl.String)
    prefix = "http://dbpedia.org/resource/A_name_of_common_length_"
    table = pl.DataFrame({"h": prefix + heads, "r": pl.repeat("r", count, eager=True), "t": prefix + tails})
    kg = KnowledgeGraph.from_triples("en", table)
    size = kg.triples.nbytes + kg.entities.estimated_size() + kg.relations.estimated_size()
    assert size / count * 10_000_000 < 2**30


@pytest.mark.parametrize("triples", [[("a", "b")], [("a", "b", "c", "d")], ["abc"]])
def test_a_triple_with_a_wrong_length_is_refused(triples: list[tuple[str, ...]]) -> None:
    with pytest.raises(InputError, match="head, relation, tail"):
        KnowledgeGraph.from_triples("en", triples)


def test_an_empty_kg_is_refused() -> None:
    with pytest.raises(InputError, match="'en' is empty"):
        KnowledgeGraph.from_triples("en", [])


def test_groups_may_be_partial() -> None:
    kgs, rows = many_groups()
    groups = Groups.from_names(kgs, rows)
    assert len(groups) == 200
    assert len(groups.complete) == sum(len(row) == 3 for row in rows)
    assert groups.by_size() == {2: 200 - len(groups.complete), 3: len(groups.complete)}
    assert groups.overlap()[0, 1] == 200
    assert groups.overlap()[0, 2] == sum("kg2" in row for row in rows) == groups.overlap()[2, 2]
    named = [
        {kg: name for kg, name in row.items() if name is not None} for row in groups.to_table(kgs).iter_rows(named=True)
    ]
    assert sorted(named, key=str) == sorted(rows, key=str)


def test_pairs_are_the_groups_that_join_two_kgs() -> None:
    kgs, rows = many_groups()
    for a, b, members in Groups.from_names(kgs, rows).pairs():
        assert len(members) == sum(a in row and b in row for row in rows)


def test_an_entity_in_two_groups_is_refused() -> None:
    with pytest.raises(InputError, match=r"'Norway' of KG 'en' is in two groups"):
        Groups.from_names([english(), french()], [{"en": "Norway", "fr": "Norvège"}, {"en": "Norway", "fr": "France"}])


def test_an_entity_in_a_seed_and_a_held_out_group_is_refused() -> None:
    kgs = [english(), french()]
    seeds = Groups.from_names(kgs, [{"en": "Norway", "fr": "Norvège"}])
    held_out = Groups.from_names(kgs, [{"en": "Norway", "fr": "France"}])
    with pytest.raises(InputError, match="two groups"):
        Task(kgs, seeds, held_out)


def test_a_task_needs_two_kgs_with_different_names() -> None:
    with pytest.raises(InputError, match="at least two KGs"):
        Task([english()])
    with pytest.raises(InputError, match="two KGs are named 'en'"):
        Task([english(), english()])


def test_a_split_assigns_every_group_once() -> None:
    kgs, rows = many_groups()
    task = Task(kgs, Groups.from_names(kgs, rows)).split(0.3, 0.1, random_state=3)
    assert (len(task.seeds), len(task.validation), len(task.held_out)) == (60, 20, 120)
    assert {tuple(row) for row in task.known.members} == {tuple(row) for row in Groups.from_names(kgs, rows).members}


def test_a_split_depends_on_the_random_state() -> None:
    kgs, rows = many_groups()
    task = Task(kgs, Groups.from_names(kgs, rows))
    first, again, other = task.split(random_state=1), task.split(random_state=1), task.split(random_state=2)
    assert np.array_equal(first.seeds.members, again.seeds.members)
    assert not np.array_equal(first.seeds.members, other.seeds.members)


def test_a_split_does_not_depend_on_the_order_of_groups_entities_or_kgs() -> None:
    kgs, rows = many_groups()
    task = Task(kgs, Groups.from_names(kgs, rows)).split(random_state=5)
    rng = np.random.default_rng(9)
    shuffled = []
    for kg in kgs:
        order = rng.permutation(len(kg.entities))
        back = np.argsort(order).astype(np.int32)
        triples = np.column_stack([back[kg.triples[:, 0]], kg.triples[:, 1], back[kg.triples[:, 2]]])
        shuffled.append(KnowledgeGraph(kg.name, kg.entities.gather(order), kg.relations, rng.permutation(triples)))
    shuffled = shuffled[::-1]
    moved = Task(shuffled, Groups.from_names(shuffled, [rows[at] for at in rng.permutation(len(rows))])).split(
        random_state=5
    )

    def as_sets(task: Task, groups: Groups) -> set[frozenset[str]]:
        return {frozenset(name for name in row if name) for row in groups.to_table(task.kgs).iter_rows()}

    assert as_sets(task, task.seeds) == as_sets(moved, moved.seeds)
    assert as_sets(task, task.held_out) == as_sets(moved, moved.held_out)


@pytest.mark.parametrize(("train", "validation"), [(-0.1, 0.0), (1.1, 0.0), (0.7, 0.4), (0.3, -0.2)])
def test_a_ratio_out_of_range_is_refused(train: float, validation: float) -> None:
    kgs, rows = many_groups(10)
    with pytest.raises(SettingError, match=r"ratio.*got"):
        Task(kgs, Groups.from_names(kgs, rows)).split(train, validation)


@pytest.mark.parametrize("rows", [1, 7, 1 << 18])
def test_duplicates_are_found_with_any_block_size(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multiea.data.packed_triples.BLOCK_ROWS", rows)
    rng = np.random.default_rng(0)
    triples = [(f"e{a}", f"r{b}", f"e{c}") for a, b, c in rng.integers(0, 4, (300, 3))]
    kg = KnowledgeGraph.from_triples("en", triples)
    assert set(kg.named_triples().iter_rows()) == set(triples)
    assert len(kg.triples) == len(set(triples))
    assert kg.duplicates == 300 - len(set(triples))


@pytest.mark.parametrize("members", [[[0, 99]], [[-7, 0]], [[0.5, 1.0]]])
def test_groups_with_positions_out_of_range_are_refused(members: list[list[float]]) -> None:
    kgs = [english(), french()]
    with pytest.raises(InputError):
        Task(kgs, Groups(("en", "fr"), np.array(members)))


def test_a_kg_with_invalid_triples_or_repeated_ids_is_refused() -> None:
    names, relations = pl.Series(["a", "b"]), pl.Series(["r"])
    for triples in ([[0, 0, 2]], [[0, 1, 1]], [[-1, 0, 0]], [[0, 0]]):
        with pytest.raises(InputError):
            KnowledgeGraph("x", names, relations, np.array(triples, dtype=np.int32))
    with pytest.raises(InputError, match="two entities with the same id"):
        KnowledgeGraph("x", pl.Series(["a", "a"]), relations, np.array([[0, 0, 1]], dtype=np.int32))


def test_the_order_of_groups_in_the_source_does_not_matter() -> None:
    kgs, rows = many_groups(50)
    assert np.array_equal(Groups.from_names(kgs, rows).members, Groups.from_names(kgs, rows[::-1]).members)


def test_unusual_kg_names_do_not_affect_a_split() -> None:
    kgs = [KnowledgeGraph.from_triples(name, [(f"{i}", "r", f"{i + 1}") for i in range(20)]) for name in ("*", "^a.*$")]
    rows = [{"*": f"{i}", "^a.*$": f"{i}"} for i in range(20)]
    first = Task(kgs, Groups.from_names(kgs, rows)).split(0.5)
    again = Task(kgs[::-1], Groups.from_names(kgs[::-1], rows[::-1])).split(0.5)
    assert set(map(tuple, first.seeds.members.tolist())) == {
        row[::-1] for row in map(tuple, again.seeds.members.tolist())
    }
