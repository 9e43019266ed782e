"""The report: one page that says what an alignment holds, loads nothing, and shows names as they are."""

import json
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from typer.testing import CliRunner

import multiea
from multiea import Alignment, Enhancement, Groups, KnowledgeGraph, OutputError, Task
from multiea.cli.main import app
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.grouping.duplicates import Duplicates
from multiea.grouping.matching import FoundGroups
from multiea.report import embedding_map
from multiea.report.certain_groups import certain_groups
from multiea.report.charts import brief, room_for, ticks
from multiea.report.evidence import shared_neighbours
from multiea.report.rerun import align_command, beyond_options
from multiea.report.subject import Subject

EVIL = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>')
SECTIONS = (
    "Summary", "Knowledge graphs", "Overlap of the KGs", "Confidences", "Scores against held-out groups",
    "Course of the run", "Map of the embeddings", "Most certain groups", "Least certain groups", "Entities left alone",
    "Settings, and how to run it again",
)  # fmt: skip
VOID = {"meta", "br"}
QUICK = ("--bootstrap", "none", "--no-progress")


class Page(HTMLParser):
    """Reads a page strictly: every tag must close, in order; keeps what a test asks for."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.headings: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"an attribute twice: {tag} {attrs}"
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"{tag} closes, but nothing is open"
        assert self.open.pop() == tag, f"{tag} closes too early"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)


def checked(path: Path) -> str:
    """A page's text, once it is known to be well-formed, to load nothing and to be readable by ear and keyboard."""
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    kinds = {tag for tag, _ in page.tags}
    assert not kinds & {"script", "link", "img", "iframe", "object", "embed", "base", "form", "image", "use"}
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes in page.tags:
        assert not {name for name in attributes if name.startswith("on")}
        assert "src" not in attributes
        if "href" in attributes:
            assert (attributes["href"] or "")[:1] == "#"
            assert (attributes["href"] or "")[1:] in ids
        if tag == "svg" and attributes.get("aria-hidden") != "true":
            assert attributes["role"] == "img"
            assert attributes["aria-label"]
        if tag == "th":
            assert attributes["scope"] in ("row", "col")
    assert not re.search(r"url\(|@import", text)
    assert {"main", "nav", "header", "footer", "h1"} <= kinds
    assert [tag for tag, _ in page.tags].count("h1") == 1
    return text


def headings(path: Path) -> list[str]:
    return Page(path.read_text(encoding="utf-8")).headings


def made(
    kgs: int, groups: int, *, held_out: bool = True, dimensions: int = 8, evil: bool = False, seeds: int = 3
) -> Alignment:
    """An alignment put together by hand: groups 0, 1, ... with the entity of the same number in each KG.

    Every third found group lacks its last KG where there are more than two. Each entity points to the next one.
    """
    entities = seeds + groups + 5
    graphs = []
    for number in range(kgs):
        names = [f"kg{number}:{entity}" for entity in range(entities)]
        if evil:
            names[:entities:2] = [f"{EVIL[entity % 4 // 2]}{number}.{entity}" for entity in range(0, entities, 2)]
        head = np.arange(entities - 1)
        triples = np.stack([head, np.zeros_like(head), head + 1], axis=1).astype(np.int32)
        labels = pl.Series([EVIL[at % 2] if evil else f"label {at}" for at in range(entities)])
        relations = pl.Series([EVIL[0] if evil else "next"])
        name = f"{EVIL[1]}{number}" if evil else f"kg{number}"
        graphs.append(KnowledgeGraph(name, pl.Series(names), relations, triples, names=labels))
    names_of_kgs = tuple(kg.name for kg in graphs)
    members = np.repeat(np.arange(seeds + groups, dtype=np.int32)[:, None], kgs, axis=1)
    found = members[seeds:].copy()
    if kgs > 2:
        found[::3, -1] = -1
    confidence = np.where(found >= 0, np.linspace(0.99, 0.4, groups)[:, None], 0.0)
    task = Task(
        graphs,
        Groups(names_of_kgs, members[:seeds]),
        Groups(names_of_kgs, members[seeds:]) if held_out else None,
        name=EVIL[0] if evil else "by hand",
    )
    embeddings = torch.from_numpy(np.random.default_rng(0).normal(size=(kgs * entities, dimensions)).astype(np.float32))
    return Alignment(task, FoundGroups.of_members(Groups(names_of_kgs, found), confidence), embeddings, Enhancement())


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    (folder / "data").mkdir()
    write_synthetic(Synthesis(kgs=3, entities=100, relations=6, overlap=0.8), folder / "data")
    result = CliRunner().invoke(app, ["align", str(folder / "data"), "--out", str(folder / "run"), *QUICK])
    assert result.exit_code == 0, result.output
    return folder / "run"


def report(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["report", *map(str, words)])
    return result.exit_code, result.output


def test_the_page_of_a_run_has_all_its_parts(run_folder: Path) -> None:
    code, output = report(run_folder, "--no-progress")
    assert code == 0, output
    assert "written to" in output
    text = checked(run_folder / "report.html")
    assert headings(run_folder / "report.html") == list(SECTIONS)
    task = multiea.open(run_folder, with_triples=True).task
    for words in (
        "M-Hits", "Labels by round", "Precision and recall of pairs", "Reliability of confidences", "Shared neighbours",
        "multiea align", "--bootstrap none", "--random-state 0", f"{len(task.kgs[0].triples):,}", str(run_folder),
    ):  # fmt: skip
        assert words in text


def test_a_page_that_exists_is_replaced_only_with_force(run_folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("mine", encoding="utf-8")
    code, output = report(run_folder, "--out", page)
    assert code == 2
    assert "--force" in output
    assert page.read_text(encoding="utf-8") == "mine"
    assert "Traceback" not in output
    for wrong in (tmp_path, run_folder / "config.toml"):
        code, output = report(run_folder, "--out", wrong, "--force")
        assert code == 2
        assert "ending in .html" in output
    code, output = report(tmp_path / "nowhere")
    assert code == 2
    assert "expected a run folder" in output
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("metrics.json", "{"),
        ("metrics.json", '{"hits": {"all": 3}}'),
        ("metrics.json", "[]"),
        ("manifest.json", '{"rounds": [1]}'),
    ],
)
def test_a_damaged_run_is_an_error_that_names_the_file(
    run_folder: Path, tmp_path: Path, file: str, content: str
) -> None:
    shutil.copytree(run_folder, tmp_path / "run")
    (tmp_path / "run" / "report.html").unlink(missing_ok=True)
    if file == "manifest.json":
        whole = json.loads((run_folder / file).read_text(encoding="utf-8"))
        content = json.dumps(whole | {"history": json.loads(content)})
    (tmp_path / "run" / file).write_text(content, encoding="utf-8")
    code, output = report(tmp_path / "run", "--no-progress")
    assert code == 2
    assert f"{file}: damaged" in output
    assert "Traceback" not in output
    assert not (tmp_path / "run" / "report.html").exists()


def test_what_stops_halfway_leaves_the_old_page_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.html"
    page.write_text("old", encoding="utf-8")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    alignment = made(2, 20)
    for where, name, stop, expected in (
        (embedding_map, "_on_a_plane", interrupted, KeyboardInterrupt),
        (Path, "write_text", full, OutputError),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(where, name, stop)
            with pytest.raises(expected):
                alignment.report(page, force=True)
        assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
        assert page.read_text(encoding="utf-8") == "old"


def test_a_run_whose_data_set_has_gone_has_a_page_without_triples(run_folder: Path, tmp_path: Path) -> None:
    moved = run_folder.parent / "moved"
    (run_folder.parent / "data").rename(moved)
    try:
        code, answer = report(run_folder, "--out", tmp_path / "page.html", "--json", "--no-progress")
    finally:
        moved.rename(run_folder.parent / "data")
    assert code == 0, answer
    told = json.loads(answer)
    assert list(told["missing"]) == ["triples"]
    assert told["sections"] == list(SECTIONS)
    assert told["bytes"] == (tmp_path / "page.html").stat().st_size
    assert told["out"] == str(tmp_path / "page.html")
    text = checked(tmp_path / "page.html")
    assert "the evidence behind groups are not shown" in text
    assert "Shared neighbours" not in text
    assert headings(tmp_path / "page.html") == list(SECTIONS)


@pytest.mark.parametrize("kgs", [2, 5])
@pytest.mark.parametrize("held_out", [True, False])
def test_any_number_of_kgs_with_and_without_held_out_groups_gives_the_same_page_twice(
    tmp_path: Path, kgs: int, held_out: bool
) -> None:
    made(kgs, 30, held_out=held_out).report(tmp_path / "page.html")
    made(kgs, 30, held_out=held_out).report(tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "page.html").read_bytes()
    text = checked(tmp_path / "page.html")
    expected = [title for title in SECTIONS if title != "Course of the run" and (held_out or "held-out" not in title)]
    assert headings(tmp_path / "page.html") == expected
    assert ("nothing could be scored" in text) is not held_out
    assert ("groups in some KGs" in text) is (kgs > 2)
    for number in range(kgs):
        assert f"kg{number}" in text


def test_names_and_labels_cannot_become_markup(tmp_path: Path) -> None:
    alignment = made(3, 40, evil=True)
    settings = {"engine": EVIL[0], "data": {"source": [EVIL[1]], "name": EVIL[0]}}
    history = {"pairs": {EVIL[1]: {"losses": [2.0, 1.0], "best_epoch": 1}}}
    further = Duplicates(np.array([0]), np.array([1]), np.array([44], dtype=np.int32), np.array([0.5]))
    alignment = replace(alignment, settings=settings, history=history, duplicates=further)
    metrics = {"hits": {EVIL[0]: {EVIL[1]: {"1": 0.5}}}, "mrr": {}, "m_hits": {EVIL[1]: {"1": None}}}
    alignment.report(tmp_path / "page.html", metrics=metrics)
    text = checked(tmp_path / "page.html")
    assert "<script" not in text
    assert "<img" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "&quot;&gt;&lt;img src=x onerror=alert(1)&gt;" in text
    assert "default-src &#x27;none&#x27;" in text  # and were it markup, nothing would run


def test_odd_letters_and_endless_names_do_no_harm(tmp_path: Path) -> None:
    alignment = made(2, 20)
    first, second = alignment.task.kgs
    labels = pl.Series(["\x00\x1b[31mred" if at % 2 else "x" * 1_000_000 for at in range(len(first.entities))])
    task = alignment.task
    task = Task([replace(first, names=labels), second], task.seeds, task.held_out, name="odd \udcff")
    replace(alignment, task=task).report(tmp_path / "page.html")
    text = checked(tmp_path / "page.html")
    assert "\x00" not in text
    assert "\x1b" not in text
    assert "x" * 200 not in text
    assert len(text) < 300_000


def test_without_the_extra_the_page_says_how_to_get_the_map(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_map, "has_tsne", lambda: False)
    made(3, 20).report(tmp_path / "page.html")
    assert "pip install &#x27;multiea[report]&#x27;" in checked(tmp_path / "page.html")


def test_embeddings_that_cannot_be_told_apart_are_not_mapped(tmp_path: Path) -> None:
    alignment = made(2, 20)
    replace(alignment, embeddings=torch.ones_like(alignment.embeddings)).report(tmp_path / "page.html")
    assert "nothing to map" in checked(tmp_path / "page.html")


def test_an_alignment_that_found_nothing_has_a_page_too(tmp_path: Path) -> None:
    alignment = made(3, 1)
    names = alignment.task.kg_names
    replace(alignment, found=FoundGroups.of_members(Groups.empty(names), np.zeros((0, 3)))).report(
        tmp_path / "page.html"
    )
    assert "No group was found" in checked(tmp_path / "page.html")


def test_the_course_of_training_is_drawn(tmp_path: Path) -> None:
    losses = [5.0 / epoch for epoch in range(1, 1001)] + [float("nan")]
    history = {
        "losses": losses,
        "validation": {"5": [0.1, 0.2], "10": [0.3, 0.4]},
        "best_epoch": 10,
        "parameters": 1234,
    }
    replace(made(2, 20), history=history).report(tmp_path / "page.html")
    text = checked(tmp_path / "page.html")
    for words in ("Loss by epoch", "Validation by epoch", "1,001 epochs; epoch 10 was best", "M-Hits@1"):
        assert words in text
    assert "nan" not in re.findall(r'points="([^"]*)"', text)[0]


def test_shared_neighbours_lead_to_members_of_one_group() -> None:
    alignment = made(3, 6, seeds=2)
    subject = Subject(alignment)
    shared = shared_neighbours(alignment.task.kgs, subject.all_groups, np.array([4]))
    # Entity 4 lies between 3 and 5; the found groups of rows 2 and 5 lack the last KG.
    told = {(kg, forwards, neighbour) for kg, forwards, neighbour in
            shared.select("kg", "forwards", "neighbour").iter_rows()}  # fmt: skip
    assert told == {(0, False, 3), (1, False, 3), (2, False, 3), (0, True, 5), (1, True, 5)}
    assert dict(shared.select("common", "kgs").iter_rows()) == {3: 3, 5: 2}
    lonely = shared_neighbours(
        alignment.task.kgs, Groups(alignment.task.kg_names, np.full((1, 3), 4, np.int32)), np.array([0])
    )
    assert lonely.is_empty()


def test_wrong_groups_are_marked_and_few_groups_come_once() -> None:
    alignment = made(2, 12)
    members = alignment.found.groups.members.copy()
    members[[0, 1], 1] = members[[1, 0], 1]
    alignment = replace(
        alignment, found=FoundGroups.of_members(Groups(alignment.task.kg_names, members), alignment.found.confidence)
    )
    most, least = certain_groups(Subject(alignment))
    assert most.body.count('<span class="verdict wrong">') == 2
    assert most.body.count('<span class="verdict right">') == 8
    assert least.body.count("<details") == 2


def test_the_command_shown_makes_the_same_run_again(run_folder: Path, tmp_path: Path) -> None:
    alignment = multiea.open(run_folder)
    words = align_command(Subject(alignment, run=str(tmp_path / "run")))
    assert words[0] == "multiea"
    result = CliRunner().invoke(app, [*words[1:], "--no-progress"])
    assert result.exit_code == 0, result.output
    again = multiea.open(tmp_path / "run-again")
    assert again.groups.equals(alignment.groups)
    assert again.settings == alignment.settings
    assert beyond_options(alignment.settings) == []
    changed = {**alignment.settings, "propagation": {**alignment.settings["propagation"], "hops": 3}}
    assert beyond_options(changed) == ["propagation.hops"]


def test_axes_have_round_values() -> None:
    assert ticks(0, 1) == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert ticks(1, 2, whole=True) == [1, 2]
    assert ticks(0, 0) == [0]
    assert room_for([3, 1134]) == (0, 1250)
    assert room_for([-1, 0.5]) == (-1, 0.5)
    assert room_for([7], whole=True) == (0, 8)
    assert [brief(value) for value in (0.25, 3, 1250, 12_500, 2_500_000)] == ["0.25", "3", "1,250", "12.5k", "2.5M"]
    assert [brief(value) for value in (0.00025, -4e-12, 0.001, 0)] == ["2.5e-4", "-4e-12", "0.001", "0"]


def test_a_hundred_thousand_groups_make_a_small_page(tmp_path: Path) -> None:
    made(4, 100_000).report(tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size < 1_000_000
    assert "A sample: 225 of 100,000 groups" in checked(tmp_path / "page.html")


def test_rounds_that_nothing_could_judge_have_no_score(tmp_path: Path) -> None:
    write_synthetic(Synthesis(kgs=3, entities=100, relations=5), tmp_path)
    task = multiea.load(tmp_path)
    few = Task(task.kgs, task.seeds.take(np.arange(6)))
    alignment = multiea.align(few)
    assert {one["f1_held_back"] for one in alignment.history["rounds"]} == {None}
    alignment.report(tmp_path / "page.html")
    page = checked(tmp_path / "page.html")
    assert "too few seeds to hold some back" in page
    assert "F1 of pairs on seeds held back" not in page
