"""The report in a real browser: it fits any screen, in light and dark mode, works by keyboard, and loads nothing."""

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
from multiea import Data, Groups, Task
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
MAX_STOPS = 500
MAX_WAIT = 10  # seconds
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
    """The page of an ordinary run, and one where every name is hostile and every section has content."""
    folder = tmp_path_factory.mktemp("reports")
    alignment = multiea.align(multiea.load("world"), bootstrap="none")
    alignment.report(folder / "world.html", metrics=alignment.evaluate())

    write_synthetic(Synthesis(kgs=3, entities=100, relations=6, overlap=0.8), folder)
    alignment = multiea.align(with_hostile_names(multiea.load(folder)), bootstrap="none")
    curves = {"losses": [4e-4 / epoch for epoch in range(1, 5001)], "validation": {2500: [0.5, 0.6], 5000: [1, 1]}}
    rounds = [{"marks": 70_000, "validation_f1": 1.0}, {"marks": 120_000, "validation_f1": 0.0}]
    replace(
        alignment,
        history={"rounds": rounds, **curves, "pairs": dict.fromkeys(HOSTILE, curves), "interrupted": True},
        settings=replace(alignment.settings, engine=HOSTILE[0], data=Data(source=HOSTILE, name=HOSTILE[1])),
        duplicates=Duplicates(np.array([0]), np.array([2]), np.array([3], dtype=np.int32), np.array([0.5])),
    ).report(folder / "hostile.html", metrics=alignment.evaluate())
    return {name: folder / f"{name}.html" for name in PAGES}


def with_hostile_names(task: Task) -> Task:
    """The same KGs, but every name is markup, a script or a very long word."""

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
    """A page in a window, its requests, and its console messages."""

    page: Page
    requests: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def wait_until(self, condition: str) -> None:
        """Polls from outside: the content security policy of the page allows no polling inside it."""
        last = time.monotonic() + MAX_WAIT
        while not self.page.evaluate(condition):
            assert time.monotonic() < last, f"never became true: {condition}"
            self.page.wait_for_timeout(20)


@contextmanager
def opened(browser: Browser, report: Path, width: int, **settings: Any) -> Iterator[View]:
    """A view without network."""
    with browser.new_context(viewport={"width": width, "height": HEIGHT}, offline=True, **settings) as context:
        view = View(context.new_page())
        context.on("request", lambda request: view.requests.append(request.url))
        context.on("console", lambda message: view.messages.append(message.text))
        context.on("weberror", lambda error: view.messages.append(str(error.error)))
        view.page.goto(report.as_uri())
        view.page.evaluate(CHECKS)
        yield view


@pytest.fixture(scope="module", params=[*product(PAGES, WIDTHS, SCHEMES)], ids=lambda param: "-".join(map(str, param)))
def expanded(request: pytest.FixtureRequest, browser: Browser, reports: dict[str, Path]) -> Iterator[View]:
    name, width, scheme = request.param
    with opened(browser, reports[name], width, color_scheme=scheme) as view:
        view.page.evaluate("expandAll()")
        yield view


def test_no_text_overflows_the_page_or_its_box(expanded: View) -> None:
    assert expanded.page.evaluate("overflowing()") == []


def test_all_text_and_symbols_have_enough_contrast(expanded: View) -> None:
    assert expanded.page.evaluate("lowContrast()") == []


def test_text_in_charts_is_complete_and_does_not_overlap(expanded: View) -> None:
    assert expanded.page.evaluate("overlappingChartText()") == []


def test_the_page_requests_nothing_and_logs_nothing(expanded: View) -> None:
    assert expanded.requests == [expanded.page.url]
    assert expanded.messages == []


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_accessible_to_screen_readers(browser: Browser, reports: dict[str, Path], name: str) -> None:
    with opened(browser, reports[name], WIDE) as view:
        assert view.page.evaluate("accessibilityFaults()") == []


def test_scripts_in_names_stay_text_even_without_the_policy(browser: Browser, reports: dict[str, Path]) -> None:
    with opened(browser, reports["hostile"], WIDE, bypass_csp=True) as view:
        assert view.page.title() == f"Alignment of {HOSTILE[0]}"
        assert view.page.locator("script, img, iframe, object, [onerror]").count() == 0
        for name in HOSTILE[:2]:
            assert view.page.get_by_text(name).count() > 10
        assert view.requests == [view.page.url]


def test_the_policy_prevents_any_script_from_running(browser: Browser, reports: dict[str, Path]) -> None:
    with opened(browser, reports["world"], WIDE) as view:
        view.page.evaluate(
            "document.body.append(Object.assign(document.createElement('script'), {text: 'planted = 1'}))"
        )
        assert view.page.evaluate("typeof planted") == "undefined"
        assert len(view.messages) == 1


@pytest.mark.parametrize(("name", "width"), [("world", WIDE), ("hostile", NARROW)])
def test_tab_and_enter_reach_and_open_everything_in_page_order(
    browser: Browser, reports: dict[str, Path], name: str, width: int
) -> None:
    with opened(browser, reports[name], width) as view:
        stops: list[dict[str, Any]] = []
        for _ in range(MAX_STOPS):
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
        assert view.page.evaluate("unreachableScrollers()") == []


def test_keys_skip_the_contents_and_follow_their_links(browser: Browser, reports: dict[str, Path]) -> None:
    with opened(browser, reports["world"], WIDE) as view:
        view.press("Tab")
        first = view.page.evaluate("focused()")
        assert (first["name"], first["onScreen"]) == ("Skip to the summary", True)
        view.press("Enter")
        view.wait_until("location.hash === '#summary'")
        view.press("Tab")
        assert view.page.evaluate("document.activeElement.closest('section')?.id") == "kgs"  # the first table
        view.press("Shift+Tab", "Shift+Tab", "Enter")
        view.wait_until("location.hash === '#unmatched'")
        view.press("Tab")
        assert view.page.evaluate("document.activeElement.closest('section')?.id") == "unmatched"


def test_a_wide_table_scrolls_with_arrow_keys(browser: Browser, reports: dict[str, Path]) -> None:
    with opened(browser, reports["hostile"], NARROW) as view:
        view.page.locator("#overlap .scroll").first.focus()
        view.press("ArrowRight")
        view.wait_until("document.querySelector('#overlap .scroll').scrollLeft > 0")
