"""The task of adding a KG: known groups united with those of before; and the merged KG."""

from __future__ import annotations

import pytest
import torch

from multiea import Alignment, AlignSettings, Groups, InputError, KnowledgeGraph, Task
from multiea.engines.embeddings import Embeddings
from multiea.grouping.found_groups import FoundGroups
from multiea.pipeline.growing import grown_task
from multiea.pipeline.merged_kg import merge_kgs
from support.datasets import group, named


def kg(name: str, *entities: str) -> KnowledgeGraph:
    return KnowledgeGraph.from_triples(name, [(entity, "r", entities[0]) for entity in entities])


def grown_by(seeds: list[dict[str, str]], held_out: list[dict[str, str]] | None = None) -> Task:
    """Two seeds and two held-out groups over a and b, after c is added with known groups of its own."""
    kgs = [kg("a", *"stuvw"), kg("b", *"stuvw")]
    before = [[{"a": one, "b": one} for one in some] for some in ("st", "uv")]
    new = kg("c", *"stuvw")
    old_seeds, old_held_out = (Groups.from_names(kgs, groups) for groups in before)
    task = Task(kgs, old_seeds, old_held_out)
    known = [None if some is None else Groups.from_names([*kgs, new], some) for some in (seeds, held_out)]
    assert known[0] is not None
    return grown_task(task, new, known[0], known[1])


def test_seeds_are_united_with_those_of_before_where_they_share_members() -> None:
    task = grown_by([{"a": "s", "c": "s"}, {"b": "w", "c": "w"}, {"a": "u", "c": "u"}])
    assert named(task.seeds, task) == {
        group(a="s", b="s", c="s"),
        group(b="w", c="w"),
        group(a="u", c="u"),
    }
    assert named(task.open_seeds.groups, task) == {group(a="t", b="t")}  # the new seeds do not mention it
    assert named(task.held_out, task) == {group(a="v", b="v")}  # the other has a member that is in a seed now


def test_held_out_groups_get_members_in_the_new_kg_where_given() -> None:
    task = grown_by([{"a": "s", "c": "s"}], [{"a": "u", "b": "u", "c": "u"}, {"b": "w", "c": "w"}])
    assert named(task.held_out, task) == {group(a="u", b="u", c="u"), group(a="v", b="v"), group(b="w", c="w")}
    with pytest.raises(InputError, match="entity 's' of KG 'a' is in two groups, of the seeds and of the held-out"):
        grown_by([{"a": "s", "c": "s"}], [{"a": "s", "c": "u"}])
    with pytest.raises(
        InputError, match=r"held-out group \(a 'u', b 'v', c 'u'\) joins two groups that are known to differ"
    ):
        grown_by([{"a": "s", "c": "s"}], [{"a": "u", "b": "v", "c": "u"}])


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ([{"a": "s", "b": "t", "c": "s"}], r"seed \(a 's', b 't', c 's'\) joins two .*: \(a 's', b 's'\) and \(a 't'"),
        (
            [{"a": "s", "b": "w", "c": "s"}],
            r"seed \(a 's', b 'w', c 's'\) contradicts the known group \(a 's', b 's'\)",
        ),
        (
            [{"a": "s", "c": "s"}, {"b": "s", "c": "t"}],
            r"\(b 's', c 't'\) contradicts the known group \(a 's', b 's', c 's'\)",
        ),
        ([{"a": "u", "b": "u"}], "no seed has a member in the new KG 'c'"),
    ],
)
def test_seeds_that_contradict_known_groups_are_refused(seeds: list[dict[str, str]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        grown_by(seeds)


def test_only_members_of_a_group_become_one_entity_of_the_merged_kg() -> None:
    kgs = [kg("a", "x", "y"), kg("b", "x", "y")]
    nothing = FoundGroups.empty(("a", "b"))
    seeds = Groups.from_names(kgs, [{"a": "x", "b": "x"}])
    alignment = Alignment(Task(kgs, seeds), nothing, Embeddings(torch.zeros(4, 1)), AlignSettings.default())
    merged, nodes = merge_kgs(kgs, alignment)
    assert set(merged.entities) == {"a\tx", "a\ty", "b\ty"}
    named_nodes = [merged.entities.gather(own) for own in nodes]
    merged_entity = [dict(zip(one.entities, own, strict=True)) for one, own in zip(kgs, named_nodes, strict=True)]
    assert merged_entity == [{"x": "a\tx", "y": "a\ty"}, {"x": "a\tx", "y": "b\ty"}]
    assert len(merged.triples) == 4
