"""Neither the order of lines nor the size of blocks changes what is read."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import multiea
from support.datasets import Triple, assert_same_kg, facts, named
from support.reading import FRENCH, RDF_FILES, X, kg_of, load_with

ROWS = [(f"e{i % 37}é", f"r{i % 5}", f"e{(i * i + 1) % 41}") for i in range(200)]
NASTY_ROWS = [(f'{h}, "x"\n{t}', r, f'{t}\r\n"') for h, r, t in ROWS]


def csv_lines(rows: list[Triple]) -> list[str]:
    return [",".join('"' + field.replace('"', '""') + '"' for field in row) for row in rows]


def tsv_lines(rows: list[Triple]) -> list[str]:
    return ["\t".join(row) for row in rows]


LINES = {
    "a.tsv": tsv_lines(ROWS),
    "a.csv": csv_lines(NASTY_ROWS),
    "a.nt": [f"<{X}{h}> <{X}{r}> <{X}{t}> ." for h, r, t in ROWS]
    + [f'<{X}e{i % 37}é> <http://www.w3.org/2000/01/rdf-schema#label> "label {i}"@en .' for i in range(90)],
}


@pytest.mark.parametrize("gz", ["", ".gz"])
@pytest.mark.parametrize("name", LINES)
def test_the_order_of_lines_does_not_change_what_is_read(tmp_path: Path, name: str, gz: str) -> None:
    lines = list(LINES[name])
    straight = kg_of(tmp_path, {f"{name}{gz}": "\n".join(lines) + "\n"})
    random.Random(0).shuffle(lines)
    assert_same_kg(straight, kg_of(tmp_path, {f"{name}{gz}": "\n".join(lines) + "\n"}))
    assert straight.duplicates == len(ROWS) - len(straight.triples) > 0


def test_the_order_of_lines_in_entities_tsv_does_not_change_what_is_read(tmp_path: Path) -> None:
    lines = [f"en\te{i}\tlabel {i}\n" for i in range(30)] + [f"en\te{i}\tanother label\n" for i in range(30)]
    tasks = []
    for folder, order in (("one", lines), ("two", lines[::-1])):
        files = {"en.tsv": "e1\tr\te2\n", "fr.tsv": FRENCH, "entities.tsv": "kg\tentity\tlabel\n" + "".join(order)}
        tasks.append(load_with(tmp_path / folder, files))
    assert_same_kg(tasks[0].kgs[0], tasks[1].kgs[0])


@pytest.mark.parametrize("block_bytes", [1, 7, 64, 1000])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\n\n"])
@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.csv.gz"])
def test_small_blocks_give_the_same_kg_as_one_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, line_end: str, block_bytes: int
) -> None:
    lines = csv_lines(NASTY_ROWS[:60]) if "csv" in name else tsv_lines(ROWS[:60])
    header = "head,relation,tail" if "csv" in name else "head\trelation\ttail"
    files: dict[str, str | bytes] = {name: "\ufeff" + line_end.join([header, *lines])}
    monkeypatch.setattr("multiea.data.files.BLOCK_BYTES", block_bytes)
    kg = kg_of(tmp_path, files)
    assert facts(kg) == set(NASTY_ROWS[:60] if "csv" in name else ROWS[:60])
    monkeypatch.undo()
    assert_same_kg(kg, kg_of(tmp_path, files))


@pytest.mark.parametrize("block_bytes", [7, 64])
@pytest.mark.parametrize("start", ["\ufeff", "x^2 ", "x\x01", "xک"])
def test_the_start_of_a_block_does_not_change_the_ids_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str, block_bytes: int
) -> None:
    rows = [("a", "r", "b")] + [(f"{start}{i}", "r", f"{start}{i + 1}") for i in range(30)]
    monkeypatch.setattr("multiea.data.files.BLOCK_BYTES", block_bytes)
    assert facts(kg_of(tmp_path, {"a.tsv": "\n".join(tsv_lines(rows))})) == set(rows)


@pytest.mark.parametrize("block_bytes", [5, 64])
def test_small_blocks_of_groups_and_entities_give_the_same_as_one_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int
) -> None:
    files = {f"{kg}.tsv": "".join(f"{kg}{i}\tr\t{kg}{i + 1}\n" for i in range(30)) for kg in ("en", "fr")}
    files["groups.tsv"] = "en\tfr\n" + "".join(f"en{i}\tfr{i}\n" for i in range(30))
    files["entities.tsv"] = "kg\tentity\tlabel\n" + "".join(f"fr\tfr{i + 20}\tnuméro {i}\n" for i in range(30))
    whole = load_with(tmp_path, {**files})
    monkeypatch.setattr("multiea.data.files.BLOCK_BYTES", block_bytes)
    blocks = multiea.load(tmp_path)
    for one, other in zip(whole.kgs, blocks.kgs, strict=True):
        assert_same_kg(one, other)
    assert named(whole.seeds, whole) == named(blocks.seeds, blocks)


@pytest.mark.parametrize("name", RDF_FILES)
@pytest.mark.parametrize("batch", [1, 2])
def test_small_batches_of_rdf_give_the_same_kg_as_one_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, batch: int
) -> None:
    whole = kg_of(tmp_path, {name: RDF_FILES[name]})
    monkeypatch.setattr("multiea.data.readers.rdf.BATCH", batch)
    assert_same_kg(whole, kg_of(tmp_path, {name: RDF_FILES[name]}))


def test_quoted_line_breaks_are_read_correctly_in_a_table_read_by_several_threads(tmp_path: Path) -> None:
    rows = [(f'a\n{i},x"', "r", f'b{i}\r\n"",r,\n') for i in range(30_000)]
    kg = kg_of(tmp_path, {"a.csv": "\n".join(csv_lines(rows))})
    assert facts(kg) == set(rows)
