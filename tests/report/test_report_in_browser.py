"""The report in a real browser: it fits any screen, by day and by night, works by keyboard, and loads nothing."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import multiea
from multiea import Groups, Task
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.grouping.duplicates import Duplicates

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
CHECKS = Path(__file__).with_name("in_browser.js").read_text(encoding="utf-8")
PAGES, WIDTHS, SCHEMES = ("world", "hostile"), (1280, 400), ("light", "dark")
WIDE, NARROW = WIDTHS
HEIGHT = 800
MOST_STOPS = 500
LONGEST_WAIT = 10  # seconds
HOSTILE = (
    "<script>document.title = 'planted'</script>",
    '"><img src=x onerror="document.title = \'planted\'">',
    "Donaudampfschifffahrtsgesellschaft" * 8,
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    pytest.importorskip("playwright", reason="playwright is not installed; the extra dev has it")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed; on Debian: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def reports(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The page of a usual run, and one where every name is hostile and everything is told that a page can tell."""
    folder = tmp_path_factory.mktemp("reports")
    alignment = multiea.align(multiea.load("world"), bootstrap="none")
    alignment.report(folder / "world.html", metrics=alignment.evaluate())

    write_synthetic(Synthesis(kgs=3, entities=100, relations=6, overlap=0.8), folder)
    alignment = multiea.align(with_hostile_names(multiea.load(folder)), bootstrap="none")
    curves = {"losses": [4e-4 / epoch for epoch in range(1, 5001)], "validation": {2500: [0.5, 0.6], 5000: [1, 1]}}
    rounds = [{"labels": 70_000, "f1_held_back": 1.0}, {"labels": 120_000, "f1_held_back": 0.0}]
    replace(
        alignment,
        history={"rounds": rounds, **curves, "pairs": dict.fromkeys(HOSTILE, curves), "interrupted": True},
        settings={"engine": HOSTILE[0], "data": {"source": list(HOSTILE), "name": HOSTILE[1]}},
        duplicates=Duplicates(np.array([0]), np.array([2]), np.array([3], dtype=np.int32), np.array([0.5])),
    ).report(folder / "hostile.html", metrics=alignment.evaluate())
    return {name: folder / f"{name}.html" for name in PAGES}


def with_hostile_names(task: Task) -> Task:
    """The same KGs, but whatever has a name is called markup, a script or one endless word."""

    def renamed(names: pl.Series) -> pl.Series:
        return pl.Series([f"{HOSTILE[at % 3]} {name}" for at, name in enumerate(names)])

    kgs = [
        replace(
            kg,
            name=f"{HOSTILE[number % 3]}{kg.name}",
            entities=renamed(kg.entities),
            relations=renamed(kg.relations),
            names=renamed(kg.entities.reverse()),
        )
        for number, kg in enumerate(task.kgs)
    ]
    names = tuple(kg.name for kg in kgs)
    return Task(kgs, Groups(names, task.seeds.members), Groups(names, task.held_out.members), name=HOSTILE[0])


@dataclass
class View:
    """A page in a window, what it asked for and what it complained of."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def wait_until(self, condition: str) -> None:
        """Asks from outside, again and again: the policy of the page lets nothing inside it do so."""
        last = time.monotonic() + LONGEST_WAIT
        while not self.page.evaluate(condition):
            assert time.monotonic() < last, f"never came true: {condition}"
            self.page.wait_for_timeout(20)


@contextmanager
def opened(browser: Browser, report: Path, width: int, **settings: Any) -> Iterator[View]:
    """A view without a network."""
    with browser.new_context(viewport={"width": width, "height": HEIGHT}, offline=True, **settings) as context:
        view = View(context.new_page())
        context.on("request", lambda request: view.requests.append(request.url))
        context.on("console", lambda message: view.complaints.append(message.text))
        context.on("weberror", lambda error: view.complaints.append(str(error.error)))
        view.page.goto(report.as_uri())
        view.page.evaluate(CHECKS)
        yield view


@pytest.fixture(scope="module", params=[*product(PAGES, WIDTHS, SCHEMES)], ids=lambda param: "-".join(map(str, param)))
def unfolded(request: pytest.FixtureRequest, browser: Browser, reports: dict[str, Path]) -> Iterator[View]:
    name, width, scheme = request.param
    with opened(browser, reports[name], width, color_scheme=scheme) as view:
        view.page.evaluate("unfold()")
        yield view


def test_no_words_stick_out_of_the_page_or_of_their_box(unfolded: View) -> None:
    assert unfolded.page.evaluate("stickingOut()") == []


def test_all_words_and_marks_stand_out_from_what_lies_behind_them(unfolded: View) -> None:
    assert unfolded.page.evaluate("faint()") == []


def test_words_in_charts_are_whole_and_apart(unfolded: View) -> None:
    assert unfolded.page.evaluate("crowdedCharts()") == []


def test_the_page_asks_for_nothing_and_complains_of_nothing(unfolded: View) -> None:
    assert unfolded.requests == [unfolded.page.url]
    assert unfolded.complaints == []


@pytest.mark.parametrize("name", PAGES)
def test_the_page_can_be_understood_by_ear(browser: Browser, reports: dict[str, Path], name: str) -> None:
    with opened(browser, reports[name], WIDE) as view:
        assert view.page.evaluate("unclearToTheEar()") == []


def test_planted_scripts_stay_words_even_where_the_policy_is_not_heeded(
    browser: Browser, reports: dict[str, Path]
) -> None:
    with opened(browser, reports["hostile"], WIDE, bypass_csp=True) as view:
        assert view.page.title() == f"Alignment of {HOSTILE[0]}"
        assert view.page.locator("script, img, iframe, object, [onerror]").count() == 0
        for name in HOSTILE[:2]:
            assert view.page.get_by_text(name).count() > 10
        assert view.requests == [view.page.url]


def test_the_policy_keeps_any_script_from_running(browser: Browser, reports: dict[str, Path]) -> None:
    with opened(browser, reports["world"], WIDE) as view:
        view.page.evaluate(
            "document.body.append(Object.assign(document.createElement('script'), {text: 'planted = 1'}))"
        )
        assert view.page.evaluate("typeof planted") == "undefined"
        assert len(view.complaints) == 1


@pytest.mark.parametrize(("name", "width"), [("world", WIDE), ("hostile", NARROW)])
def test_tab_and_enter_reach_and_open_everything_in_the_order_of_the_page(
    browser: Browser, reports: dict[str, Path], name: str, width: int
) -> None:
    with opened(browser, reports[name], width) as view:
        stops: list[dict[str, Any]] = []
        for _ in range(MOST_STOPS):
            view.press("Tab")
            stop = view.page.evaluate("focused()")
            if stop is None or stop in stops[:1]:
                break  # past the last one
            stops.append(stop)
            if stop["closed"]:
                view.press("Enter")
        assert view.page.locator("details:not([open])").count() == 0
        assert [stop["place"] for stop in stops] == list(range(view.page.evaluate("stops().length")))
        assert [stop["name"] for stop in stops if not stop["outlined"]] == []
        assert [stop["name"] for stop in stops if not stop["onScreen"]] == []
        back = [after["name"] for before, after in pairwise(stops[1:])
                if after["top"] < before["top"] and after["left"] < before["right"]]  # fmt: skip
        assert back == []
        assert view.page.evaluate("scrollersOutOfReach()") == []


def test_keys_jump_past_the_contents_and_from_them_to_a_part(browser: Browser, reports: dict[str, Path]) -> None:
    with opened(browser, reports["world"], WIDE) as view:
        view.press("Tab")
        first = view.page.evaluate("focused()")
        assert (first["name"], first["onScreen"]) == ("Skip to the summary", True)
        view.press("Enter")
        view.wait_until("location.hash === '#summary'")
        view.press("Tab")
        assert view.page.evaluate("document.activeElement.closest('section')?.id") == "kgs"  # the first table
        view.press("Shift+Tab", "Shift+Tab", "Enter")
        view.wait_until("location.hash === '#left-alone'")
        view.press("Tab")
        assert view.page.evaluate("document.activeElement.closest('section')?.id") == "left-alone"


def test_a_wide_table_scrolls_by_arrow_keys(browser: Browser, reports: dict[str, Path]) -> None:
    with opened(browser, reports["hostile"], NARROW) as view:
        view.page.locator("#overlap .scroll").first.focus()
        view.press("ArrowRight")
        view.wait_until("document.querySelector('#overlap .scroll').scrollLeft > 0")
