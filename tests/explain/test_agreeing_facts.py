"""Which names, values and neighbours of two entities agree."""

from __future__ import annotations

import polars as pl

import multiea
from multiea import Groups, Task
from multiea.data.name_words import local_name
from multiea.explain.agreeing_values import Values
from multiea.explain.facts import Entity, NamePair, NeighbourPair, ValuePair
from multiea.explain.matched_neighbours import matched_neighbours
from multiea.explain.matching_names import Names
from multiea.explain.membership import Membership
from support.handmade import alignment_of, positions

NUMBERS = range(12)


def node(task: Task, kg: int, entity: str) -> tuple[int, int]:
    return kg, positions(task.kgs[kg], entity)[0]


def songs() -> Task:
    left = {
        "id": [f"a{n}" for n in NUMBERS],
        "name": ["Oslo", *(f"left{n}" for n in NUMBERS[1:])],
        "genre": ["polka"] * 12,
        "issuer": ["Blue Note"] + ["other"] * 11,
        "seconds": [str(100 + 17 * n) for n in NUMBERS],
    }
    right = {
        "id": [f"b{n}" for n in NUMBERS],
        "name": ["Oslo", *(f"right{n}" for n in NUMBERS[1:])],
        "style": ["polka"] * 12,
        "publisher": ["blue note"] + ["another"] * 11,
        "length": [str(1000 * (100 + 17 * n)) for n in NUMBERS],
    }
    return multiea.load({"a": pl.DataFrame(left), "b": pl.DataFrame(right)})


def test_the_best_of_several_names_is_shown_as_the_data_have_it() -> None:
    tables = {
        "a": pl.DataFrame({"id": ["x", "x2"], "name": ["Christiania", "Bergen"], "alias": ["OSLO (city)", "Bjørgvin"]}),
        "b": pl.DataFrame({"id": ["y", "y2"], "name": ["Oslo", "Bergen"], "alias": ["Kristiania", "Bergen by"]}),
    }
    task = multiea.load(tables)
    names = Names(task.kgs)
    assert names.best(node(task, 0, "x"), node(task, 1, "y")) == NamePair("OSLO (city)", "Oslo")
    assert names.best(node(task, 1, "y"), node(task, 0, "x")) == NamePair("Oslo", "OSLO (city)")
    assert names.best(node(task, 0, "x2"), node(task, 1, "y2")) == NamePair("Bergen", "Bergen")


def test_an_entity_without_a_name_has_no_pair_of_names() -> None:
    table = pl.DataFrame({"id": ["x1", "x2"], "name": ["Oslo", None], "size": ["1", "2"]})
    task = multiea.load({"a": table, "b": table})
    assert Names(task.kgs).best(node(task, 0, "x2"), node(task, 1, "x2")) is None


def test_rare_values_come_first_and_common_ones_do_not_count() -> None:
    task = songs()
    values = Values(task.kgs, Groups.empty(task.kg_names), with_names=True)
    found = values.compared(node(task, 0, "a0"), node(task, 1, "b0"))
    assert (found[0].left_property, found[0].left) == ("issuer", "Blue Note")
    assert (found[0].right_property, found[0].right) == ("publisher", "blue note")
    assert set(found[0].shared) == {"blue", "note"}
    assert all(pair.agrees and pair.rarity > 0 for pair in found)
    assert ("name", "name") not in [(pair.left_property, pair.right_property) for pair in found]
    assert all(pair.left != "polka" for pair in found)


def test_numbers_of_corresponding_properties_agree_or_differ_whatever_their_units() -> None:
    task = songs()
    groups = Groups.from_names(task.kgs, [{"a": f"a{n}", "b": f"b{n}"} for n in NUMBERS])
    values = Values(task.kgs, groups, with_names=False)
    same = [
        pair for pair in values.compared(node(task, 0, "a3"), node(task, 1, "b3")) if pair.left_property == "seconds"
    ]
    assert same == [ValuePair("seconds", "151", "length", "151000", True)]
    different = [
        pair for pair in values.compared(node(task, 0, "a3"), node(task, 1, "b9")) if pair.left_property == "seconds"
    ]
    assert [(pair.left, pair.right, pair.agrees) for pair in different] == [("151", "253000", False)]
    assert "differs from" in str(different[0])


def test_matched_neighbours_are_in_one_group_and_the_rarest_come_first() -> None:
    triples = [("x", "in", "n"), ("m", "near", "x"), ("x", "by", "alone"), ("o1", "in", "n"), ("o2", "in", "n")]
    kgs = [
        multiea.KnowledgeGraph.from_triples(name, [(f"{h}{name}", r, f"{t}{name}") for h, r, t in triples])
        for name in "ab"
    ]
    at = [dict(zip(kg.entities, range(len(kg.entities)), strict=True)) for kg in kgs]
    groups = [[at[0][f"{one}a"], at[1][f"{one}b"]] for one in ("n", "m", "x")]
    alignment = alignment_of(kgs, groups[:1], groups[1:])
    membership, order = Membership(alignment), alignment.order
    pair = tuple((kg, int(order.canonical_positions[kg][at[kg][f"x{'ab'[kg]}"]])) for kg in (0, 1))

    def shown(node: tuple[int, int]) -> Entity:
        entity = order.canonical.kgs[node[0]].entities[node[1]]
        return Entity("ab"[node[0]], entity, entity)

    found, count = matched_neighbours(order.canonical.kgs, membership, (pair[0], pair[1]), shown, 5)
    near, inside = Entity("a", "ma", "ma"), Entity("a", "na", "na")
    assert count == 2
    assert [one.left for one in found] == [near, inside]
    assert found[0] == NeighbourPair("near", False, near, "near", False, Entity("b", "mb", "mb"), "found")
    assert (found[1].left_forwards, found[1].status) == (True, "seed")
    assert matched_neighbours(order.canonical.kgs, membership, (pair[0], pair[1]), shown, 1) == (found[:1], 2)


def test_properties_and_relations_are_shown_without_their_namespace() -> None:
    assert local_name("http://example.org/ns#capital") == "capital"
    assert local_name("http://example.org/ns/capital/") == "capital"
    assert local_name("capital/of") == "capital/of"
