"""Names and attributes of synthetic KGs: as noisy as requested, right about the groups, and read back by load()."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import multiea
from multiea import SettingError
from multiea.data import synthetic_literals
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.data.synthetic_names import ALTERNATIVE_NAME, NAME, SCRIPTS, with_typos

ALL = {"names": True, "attributes": True}
NO_NOISE = {"name_noise": 0.0, "missing": 0.0}
SIGMAS = ("\u03c2", "\u03c3")  # at the end of a word, lower case has another sigma


def files_in(folder: Path, **settings: Any) -> dict[str, bytes]:
    folder.mkdir(parents=True)
    write_synthetic(Synthesis(**settings), folder)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def generated(folder: Path, **settings: Any) -> multiea.Task:
    files_in(folder / "data", **settings)
    return multiea.load(folder / "data")


@pytest.fixture(scope="module")
def default(tmp_path_factory: pytest.TempPathFactory) -> multiea.Task:
    return generated(tmp_path_factory.mktemp("default"), entities=4_000, kgs=4, **ALL)


def values(kg: multiea.KnowledgeGraph, property_name: str) -> pl.Series:
    """The value of a property for each entity of a KG, null where it has none; entities have at most one."""
    facts = kg.literals.filter(pl.col("property").cast(pl.String) == property_name)
    assert facts["entity"].is_unique().all()
    row_of = np.full(len(kg.entities), -1)
    row_of[facts["entity"].to_numpy()] = np.arange(facts.height)
    return pl.select(
        pl.when(pl.Series(row_of >= 0)).then(facts["value"].extend_constant("", 1).gather(row_of))
    ).to_series()


def properties(kg: multiea.KnowledgeGraph) -> list[str]:
    return sorted(kg.literals["property"].cast(pl.String).unique())


def attributes(kg: multiea.KnowledgeGraph) -> list[str]:
    return [name for name in properties(kg) if name not in (NAME, ALTERNATIVE_NAME)]


def property_where(kg: multiea.KnowledgeGraph, pattern: str) -> str:
    """The attribute whose values all match a pattern, the only one or the first."""
    return next(name for name in attributes(kg) if values(kg, name).drop_nulls().str.contains(pattern).all())


def pairs_of(task: multiea.Task) -> Iterator[tuple[multiea.KnowledgeGraph, multiea.KnowledgeGraph, np.ndarray]]:
    for left, right, pairs in task.known.pairs():
        yield task.kgs[task.kg_names.index(left)], task.kgs[task.kg_names.index(right)], pairs


def of_first_pair(task: multiea.Task, left: str, right: str) -> tuple[pl.Series, pl.Series]:
    """The values of two properties for the entities that kg1 and kg2 share, in the same order."""
    kg_a, kg_b, pairs = next(pair for pair in pairs_of(task) if {pair[0].name, pair[1].name} == {"kg1", "kg2"})
    if kg_a.name == "kg2":
        kg_a, kg_b, pairs = kg_b, kg_a, pairs[:, ::-1]
    return values(kg_a, left).gather(pairs[:, 0]), values(kg_b, right).gather(pairs[:, 1])


def test_triples_and_groups_are_those_of_the_same_settings_without_literals(tmp_path: Path) -> None:
    plain = files_in(tmp_path / "plain", entities=500)
    full = files_in(tmp_path / "full", entities=500, **ALL)
    assert plain.items() <= full.items()
    assert set(full) - set(plain) == {"dataset.toml", "kg1-literals.nt", "kg2-literals.nt", "kg3-literals.nt"}


def test_names_do_not_change_when_attributes_are_added(tmp_path: Path) -> None:
    alone = generated(tmp_path / "alone", entities=500, names=True)
    both = generated(tmp_path / "both", entities=500, **ALL)
    for kg, other in zip(alone.kgs, both.kgs, strict=True):
        assert properties(kg) == [NAME, ALTERNATIVE_NAME]
        for name in properties(kg):
            assert values(kg, name).equals(values(other, name), null_equal=True)


def test_equal_random_states_give_equal_literals_and_different_ones_different_literals(tmp_path: Path) -> None:
    first, again, other = (
        files_in(tmp_path / str(number), entities=500, random_state=state, **ALL)
        for number, state in enumerate((7, 7, 8))
    )
    assert first == again
    assert all(first[name] != other[name] for name in first if name.endswith(".nt"))


def test_the_size_of_blocks_keeps_every_entity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthetic_literals, "BLOCK_ENTITIES", 77)
    task = generated(tmp_path, entities=500, missing=0.0, **ALL)
    for kg in task.kgs:
        assert len(kg.entities) == 500
        assert values(kg, NAME).null_count() == 0


def test_the_returned_counts_are_those_of_the_files(tmp_path: Path) -> None:
    counts = write_synthetic(Synthesis(entities=500, **ALL), tmp_path)
    for kg in multiea.load(tmp_path).kgs:
        assert counts["kgs"][kg.name]["literals"] == kg.literals.height


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_missing_is_the_share_of_entities_without_a_name_and_without_each_attribute(
    tmp_path: Path, missing: float
) -> None:
    for kg in generated(tmp_path, entities=4_000, missing=missing, **ALL).kgs:
        code = property_where(kg, "^ID-")
        for name in [NAME, *attributes(kg)]:
            expected = 1 - 0.7 * (1 - missing) if name == code else missing
            assert values(kg, name).null_count() / 4_000 == pytest.approx(expected, abs=0.03)


def same_name(task: multiea.Task) -> float:
    """The share of equal names among the entities that two KGs in Latin script share and both name."""
    ours, theirs = of_first_pair(task, NAME, NAME)
    return float((ours == theirs).drop_nulls().mean())  # type: ignore[arg-type]


def test_name_noise_is_the_share_of_names_with_a_typo(tmp_path: Path) -> None:
    clean = generated(tmp_path / "clean", entities=4_000, kgs=2, names=True, name_noise=0.0)
    noisy = generated(tmp_path / "noisy", entities=4_000, kgs=2, names=True, name_noise=0.3)
    changed = [
        float((values(kg, NAME) != values(other, NAME)).drop_nulls().mean())  # type: ignore[arg-type]
        for kg, other in zip(clean.kgs, noisy.kgs, strict=True)
    ]
    assert changed == pytest.approx([0.3, 0.3], abs=0.04)  # some letters are replaced by themselves
    assert same_name(noisy) < 0.6 < same_name(clean)


def test_a_typo_changes_one_letter_or_two_neighbours() -> None:
    texts = pl.Series(["Oslo Bergen"] * 500)
    changed = with_typos(texts, 1.0, pl.Series(list("xyz")), np.random.default_rng(0))
    assert set(texts) == {"Oslo Bergen"}
    assert set(changed.str.len_chars()) == {10, 11, 12}
    assert (changed != "Oslo Bergen").mean() > 0.9  # type: ignore[operator]
    for word in changed.unique():
        prefix = sum(1 for _ in iter_common(word, "Oslo Bergen"))
        suffix = sum(1 for _ in iter_common(word[::-1], "Oslo Bergen"[::-1]))
        assert prefix + suffix >= 9


def iter_common(left: str, right: str) -> Iterator[str]:
    for a, b in zip(left, right, strict=False):
        if a != b:
            return
        yield a


def test_synonyms_and_alternative_names_make_names_of_one_entity_differ_without_any_typo(tmp_path: Path) -> None:
    assert 0.7 < same_name(generated(tmp_path, entities=4_000, kgs=2, names=True, **NO_NOISE)) < 0.95


def test_kgs_write_in_different_scripts_letter_by_letter(default: multiea.Task) -> None:
    kgs = {kg.name: kg for kg in default.kgs}
    latin, _, greek, cyrillic = SCRIPTS
    for name, script in (("kg1", latin), ("kg2", latin), ("kg3", greek), ("kg4", cyrillic)):
        letters = set("".join(values(kgs[name], NAME).drop_nulls().str.to_lowercase()).replace(*SIGMAS)) - {" "}
        assert letters == set(script)
    pairs = next(pairs for a, b, pairs in pairs_of(default) if (a.name, b.name) == ("kg1", "kg3"))
    ours = values(kgs["kg1"], NAME).gather(pairs[:, 0]).str.to_lowercase()
    theirs = values(kgs["kg3"], NAME).gather(pairs[:, 1]).str.to_lowercase().str.replace_all(*SIGMAS)
    romanised = theirs.str.replace_many(dict(zip(greek, latin, strict=True)))
    assert (ours == romanised).drop_nulls().mean() > 0.4  # type: ignore[operator]


def test_some_names_belong_to_several_entities_and_some_words_are_in_many_names(default: multiea.Task) -> None:
    for kg in default.kgs:
        names = values(kg, NAME).drop_nulls()
        assert 0.75 < names.is_unique().mean() < 0.97  # type: ignore[operator]
        words = names.str.split(" ").explode().value_counts(sort=True)["count"]
        assert words[0] > 20 * words.median()  # type: ignore[operator]
        assert 1.5 < names.str.split(" ").list.len().mean() < 3  # type: ignore[operator]
        assert values(kg, ALTERNATIVE_NAME).is_not_null().mean() == pytest.approx(0.18, abs=0.03)


def test_names_of_different_entities_are_not_more_alike_in_a_group_of_another(default: multiea.Task) -> None:
    """The order of rows and the ids carry no information: only the groups lead from one name to the other."""
    kg_a, kg_b, _ = next(pairs_of(default))
    ours, theirs = (kg.literals.filter(pl.col("property").cast(pl.String) == NAME)["value"] for kg in (kg_a, kg_b))
    length = min(len(ours), len(theirs))
    assert (ours[:length] == theirs[:length]).mean() < 0.01  # type: ignore[operator]


def test_properties_have_other_names_in_each_kg(default: multiea.Task) -> None:
    names = [attributes(kg) for kg in default.kgs]
    assert all(len(of_kg) == 5 for of_kg in names)
    assert len(set().union(*names)) == 20
    assert len({property_where(kg, "^ID-").split(":")[1] for kg in default.kgs}) > 1


def test_codes_agree_exactly(default: multiea.Task) -> None:
    for kg_a, kg_b, pairs in pairs_of(default):
        ours = values(kg_a, property_where(kg_a, "^ID-")).gather(pairs[:, 0])
        theirs = values(kg_b, property_where(kg_b, "^ID-")).gather(pairs[:, 1])
        equal = (ours == theirs).drop_nulls()
        assert len(equal) > 500
        assert equal.all()


def test_one_kg_has_full_dates_and_another_only_years(default: multiea.Task) -> None:
    kgs = {kg.name: kg for kg in default.kgs}
    full, year = property_where(kgs["kg1"], r"^\d{4}-\d\d-\d\d$"), property_where(kgs["kg2"], r"^(18|19|20)\d\d$")
    ours, theirs = of_first_pair(default, full, year)
    equal = (ours.str.slice(0, 4) == theirs).drop_nulls()
    assert len(equal) > 500
    assert equal.all()


def test_numbers_agree_up_to_errors_rounding_and_units(default: multiea.Task) -> None:
    kgs = {kg.name: kg for kg in default.kgs}
    stated = {name: property_where(kg, r"^\d+\.\d+$") for name, kg in kgs.items()}
    ours, theirs = (side.cast(pl.Float64) for side in of_first_pair(default, stated["kg1"], stated["kg2"]))
    ratio = (theirs / ours).filter(ours > 10).drop_nulls()
    assert ratio.median() == pytest.approx(1, abs=0.01)
    assert 0.01 < ratio.std() < 0.03  # type: ignore[operator]
    pairs = next(pairs for a, b, pairs in pairs_of(default) if (a.name, b.name) == ("kg1", "kg3"))
    in_unit = values(kgs["kg3"], stated["kg3"]).cast(pl.Float64).gather(pairs[:, 1])
    plain = values(kgs["kg1"], stated["kg1"]).cast(pl.Float64).gather(pairs[:, 0])
    ratio = (in_unit / plain).filter(plain > 10).drop_nulls()
    assert ratio.median() == pytest.approx(0.3861, abs=0.002)


def test_texts_of_one_entity_share_most_words(default: multiea.Task) -> None:
    kgs = {kg.name: kg for kg in default.kgs}
    texts = {name: property_where(kgs[name], "^[A-Z][a-z]+( [A-Z][a-z]+){0,9}$") for name in ("kg1", "kg2")}
    ours, theirs = of_first_pair(default, texts["kg1"], texts["kg2"])
    both = pl.DataFrame({"ours": ours.str.split(" "), "theirs": theirs.str.split(" ")}).drop_nulls()
    shared = both.select(pl.col("ours").list.set_intersection("theirs").list.len() / pl.col("ours").list.len())
    assert 0.4 < float(shared.to_series().mean()) < 0.9  # type: ignore[arg-type]


def test_one_property_has_no_counterpart(default: multiea.Task) -> None:
    kgs = {kg.name: kg for kg in default.kgs}
    own = {name: property_where(kgs[name], r"^\d{1,3}$") for name in ("kg1", "kg2")}
    ours, theirs = of_first_pair(default, own["kg1"], own["kg2"])
    assert (ours == theirs).drop_nulls().mean() < 0.01  # type: ignore[operator]


@pytest.mark.parametrize("kinds", [{"names": True}, {"attributes": True}, ALL], ids=["names", "attributes", "both"])
def test_kgs_without_triples_have_all_their_entities(tmp_path: Path, kinds: dict[str, bool]) -> None:
    task = generated(tmp_path, entities=500, triples=False, missing=0.5, **kinds)
    with_triples = generated(tmp_path / "triples", entities=500, missing=0.5, **kinds)
    assert len(task.known) == len(with_triples.known) > 300
    for kg in task.kgs:
        assert (len(kg.entities), len(kg.triples)) == (500, 0)
        assert 0 < kg.literals.height == with_triples.kgs[task.kg_names.index(kg.name)].literals.height


@pytest.mark.parametrize(("name", "value"), [("name_noise", 1.5), ("missing", -0.1), ("missing", 0.95)])
def test_an_invalid_share_is_named_with_its_bounds(name: str, value: float) -> None:
    with pytest.raises(SettingError, match=rf"{name} must be a number between \S+ and \S+, got {value}"):
        Synthesis(**{name: value})  # type: ignore[arg-type]


def test_kgs_without_any_facts_are_refused() -> None:
    with pytest.raises(SettingError, match="add names or attributes"):
        Synthesis(triples=False)
