"""The benchmark builders: counts of the real data, and the recipe on a small case with a known result."""

import tarfile
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

import multiea
from multiea.cli.main import app
from multiea.data.benchmarks import RECIPES, Build, build_benchmark
from support.places import SHARED_DATA, needs_archives


@needs_archives
def test_dbp_4_has_the_known_counts() -> None:
    task = build_benchmark(Build("dbp-4"), SHARED_DATA)
    assert task.name == "dbp-4"
    assert len(task.known) == len(task.known.complete) == 2539
    counts = {kg.name: (len(kg.entities), len(kg.triples)) for kg in task.kgs}
    assert counts == {"en": (6738, 54011), "fr": (4048, 28551), "ja": (3179, 13305), "zh": (3085, 11597)}


@needs_archives
def test_whole_dbp15k_has_the_known_counts() -> None:
    task = build_benchmark(Build("dbp-4", whole_graphs=True, all_groups=True), SHARED_DATA / "dbp15k.tar.xz")
    assert (len(task.known), len(task.known.complete)) == (34270, 2539)
    counts = {kg.name: (len(kg.entities), len(kg.triples)) for kg in task.kgs}
    assert counts["zh"] == (19388, 70414)
    assert counts["ja"] == (19814, 77214)
    assert counts["fr"] == (19661, 105998)
    assert sum(entities for entities, _ in counts.values()) == 103914


@needs_archives
def test_whole_dwy15k_has_the_known_counts_and_a_name_of_its_own() -> None:
    task = build_benchmark(Build("dwy-3", whole_graphs=True, all_groups=True), SHARED_DATA)
    assert task.name == "dwy-3-15k-full"
    assert (len(task.known), len(task.known.complete)) == (25513, 4487)
    assert sum(len(kg.entities) for kg in task.kgs) == 55513


def test_recipes_name_a_published_row_for_each_kg() -> None:
    for recipe in RECIPES.values():
        assert set(recipe.published) == set(recipe.kg_names)


def write_pairs(folder: Path, below: str = "") -> Path:
    """Two small OpenEA pairs around a hub; d1 and d2 are in both, and h is popular in the hub."""
    spokes = {"dbp_wd": "w", "dbp_yg": "y"}
    for pair, letter in spokes.items():
        place = folder / pair / below
        place.mkdir(parents=True)
        hub = [("d1", "knows", "h"), ("d2", "knows", "h"), ("d1", "knows", "rare")]
        hub += [(f"{letter}-only-{i}", "knows", "h") for i in range(8)]
        spoke = [(f"{letter}1", "p", f"{letter}2"), (f"{letter}1", "p", f"{letter}3")]
        links = [("d1", f"{letter}1"), ("d2", f"{letter}2"), (f"{letter}-only-0", f"{letter}3")]
        for name, rows in (("rel_triples_1", hub), ("rel_triples_2", spoke), ("ent_links", links)):
            (place / name).write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def test_the_recipe_keeps_members_and_frequent_neighbours(tmp_path: Path) -> None:
    task = build_benchmark(Build("dwy-3"), write_pairs(tmp_path))
    hub = task.kgs[0]
    assert (hub.name, *task.kg_names[1:]) == ("dbp", "wiki", "yago")
    assert len(task.known) == 2  # d1 and d2 are in both pairs, the others in one
    assert sorted(hub.entities) == ["d1", "d2", "h"]  # h has degree 18 in the union, 10 in each pair; rare has 1
    assert sorted(hub.named_triples().rows()) == [("d1", "knows", "h"), ("d2", "knows", "h")]
    assert sorted(task.kgs[1].entities) == ["w1", "w2"]


def test_the_degree_is_counted_over_distinct_triples_of_the_joined_hub(tmp_path: Path) -> None:
    write_pairs(tmp_path)
    assert "h" in set(build_benchmark(Build("dwy-3", degree=17), tmp_path).kgs[0].entities)
    assert "h" not in set(build_benchmark(Build("dwy-3", degree=18), tmp_path).kgs[0].entities)


def test_whole_graphs_and_all_groups(tmp_path: Path) -> None:
    write_pairs(tmp_path)
    task = build_benchmark(Build("dwy-3", whole_graphs=True, all_groups=True), tmp_path)
    assert task.known.by_size() == {2: 2, 3: 2}
    assert len(task.kgs[0].entities) == 2 + 2 + 16
    assert build_benchmark(Build("dwy-3", all_groups=True), tmp_path).known.by_size() == {2: 2, 3: 2}


@pytest.mark.parametrize("below", ["", "mapping/0_3"])
def test_pairs_are_found_in_folders_and_archives(tmp_path: Path, below: str) -> None:
    data = write_pairs(tmp_path / "data", below)
    expected = build_benchmark(Build("dwy-3"), data).known.members.tolist()
    with tarfile.open(tmp_path / "dwy.tar.gz", "w:gz") as tar:
        tar.add(data, arcname="DWY100K")
    with zipfile.ZipFile(tmp_path / "dwy.zip", "w") as packed:
        for path in data.rglob("*"):
            packed.write(path, path.relative_to(tmp_path))
    assert build_benchmark(Build("dwy-3"), tmp_path / "dwy.tar.gz").known.members.tolist() == expected
    assert build_benchmark(Build("dwy-3"), tmp_path / "dwy.zip").known.members.tolist() == expected


def test_the_command_writes_a_data_set_that_loads_to_the_same(tmp_path: Path) -> None:
    source, out = write_pairs(tmp_path / "source"), tmp_path / "out"
    result = CliRunner().invoke(app, ["build", "dwy-3", "--source", str(source), "--out", str(out), "--full"])
    assert result.exit_code == 0, result.output
    assert "paper" in result.output
    assert "20,729" in result.output
    task = multiea.load(out)
    built = build_benchmark(Build("dwy-3", whole_graphs=True, all_groups=True), source)
    for kg, same in zip(sorted(built.kgs, key=lambda kg: kg.name), task.kgs, strict=True):
        assert kg.entities.equals(same.entities)
        assert kg.triples.tolist() == same.triples.tolist()
    again = CliRunner().invoke(app, ["build", "dwy-3", "--source", str(source), "--out", str(out)])
    assert again.exit_code == 2
    assert "--force" in again.output
    forced = CliRunner().invoke(
        app, ["build", "dwy-3", "--source", str(source), "--out", str(out), "--force", "--json"]
    )
    assert forced.exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "source"]


def test_a_damaged_archive_or_a_missing_pair_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "broken.tar.xz").write_bytes(b"\xfd7zXZ\x00 not really")
    (tmp_path / "empty").mkdir()
    for source, words in (("broken.tar.xz", "damaged"), ("empty", "dbp_wd, dbp_yg"), ("absent", "no such")):
        arguments = ["build", "dwy-3", "--source", str(tmp_path / source), "--out", str(tmp_path / "out")]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 2
        assert words in result.output
    assert not (tmp_path / "out").exists()


def test_an_error_inside_an_archive_names_the_archive(tmp_path: Path) -> None:
    data = write_pairs(tmp_path / "data")
    (data / "dbp_yg" / "ent_links").write_text("d1\n", encoding="utf-8")
    with tarfile.open(tmp_path / "dwy.tar.xz", "w:xz") as tar:
        tar.add(data, arcname="dwy")
    with pytest.raises(multiea.InputError, match=r"dwy\.tar\.xz/dwy/dbp_yg/ent_links"):
        build_benchmark(Build("dwy-3"), tmp_path / "dwy.tar.xz")


def test_a_hub_with_numbered_relations_only_is_refused(tmp_path: Path) -> None:
    for pair in ("fr_en", "ja_en", "zh_en"):
        place = tmp_path / pair
        place.mkdir()
        for name, text in {
            "ent_ids_1": "0\ta\n1\tb\n",
            "ent_ids_2": "2\tEA\n3\tEB\n",
            "triples_1": "0\t4\t1\n",
            "triples_2": "2\t5\t3\n",
            "ref_ent_ids": "0\t2\n",
        }.items():
            (place / name).write_text(text, encoding="utf-8")
    with pytest.raises(multiea.InputError, match="no rel_ids_2"):
        build_benchmark(Build("dbp-4"), tmp_path)


def test_a_build_is_the_same_every_time(tmp_path: Path) -> None:
    write_pairs(tmp_path)
    build = Build("dwy-3", whole_graphs=True, all_groups=True)
    first = build_benchmark(build, tmp_path).known.members
    assert all((build_benchmark(build, tmp_path).known.members == first).all() for _ in range(5))


def test_the_name_of_a_build_shows_its_options(tmp_path: Path) -> None:
    write_pairs(tmp_path)
    assert build_benchmark(Build("dwy-3", degree=3), tmp_path).name == "dwy-3-3-degree-3"
    assert build_benchmark(Build("dwy-3", whole_graphs=True), tmp_path).name == "dwy-3-3-whole"
