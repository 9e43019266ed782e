"""Which IRI represents a group."""

from __future__ import annotations

from pathlib import Path

import pytest

from multiea import Alignment, KnowledgeGraph, SettingError
from multiea.exports.representatives import merged_names
from multiea.runs.run import Run
from support.handmade import alignment_of, positions


def test_an_iri_with_another_meaning_in_another_kg_never_represents_a_group() -> None:
    one = KnowledgeGraph.from_triples("one", [("http://x/A", "r", "http://x/B"), ("http://x/C", "r", "http://x/B")])
    two = KnowledgeGraph.from_triples("two", [("http://x/A", "r", "http://x/C")])
    alignment = alignment_of(
        [one, two],
        [],
        [
            [*positions(one, "http://x/A"), *positions(two, "http://x/C")],
            [*positions(one, "http://x/C"), *positions(two, "http://x/A")],
        ],
    )
    names = merged_names(Run(alignment))
    assert all(name.startswith("urn:multiea:group:") for name in names.merged.filter(names.group.is_not_null()))
    assert names.merged.n_unique() == 3


def test_members_of_the_preferred_kg_represent_their_groups(three: Alignment) -> None:
    plain, other = merged_names(Run(three)), merged_names(Run(three), ["two"])
    assert "http://o.org/Oslo" in plain.merged.to_list()
    assert "urn:multiea:entity:two:Oslo" in other.merged.to_list()
    assert "http://o.org/Rome" in other.merged.to_list()  # two has no Rome in that group
    with pytest.raises(SettingError, match=r"unknown KG 'tow'.*Did you mean 'two'"):
        merged_names(Run(three), ["tow"])


def test_the_order_of_kgs_and_entities_changes_no_export(three: Alignment, tmp_path: Path) -> None:
    task = three.task
    moved = alignment_of(
        [task.kgs[number] for number in (2, 0, 1)],
        task.seeds.members[:, [2, 0, 1]].tolist(),
        three.found.groups.members[::-1, [2, 0, 1]].tolist(),
    )
    for name, alignment in (("one", three), ("other", moved)):
        alignment.to_same_as(tmp_path / f"{name}.nt")
        alignment.to_merged(tmp_path / f"{name}.nq")
    assert (tmp_path / "one.nt").read_bytes() == (tmp_path / "other.nt").read_bytes()
    one, other = (sorted((tmp_path / f"{name}.nq").read_text().splitlines()) for name in ("one", "other"))
    assert one == other
    assert three.fingerprint == moved.fingerprint
