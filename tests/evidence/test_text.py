"""Plain text: names in any script and spelling become comparable."""

from __future__ import annotations

import polars as pl
import pytest

from multiea.evidence.text import plain_text, without_brackets


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Москва", "moskva"),
        ("Αθήνα", "athina"),
        ("北京", "beijing"),
        ("서울", "seoul"),
        ("Łódź", "lodz"),
        ("Straße", "strasse"),
        ("İstanbul", "istanbul"),
        ("\uff21\uff22\uff23\uff11\uff12", "abc12"),
        ("AC/DC — Live!", "ac dc live"),
        (" \t", ""),
    ],
)
def test_any_script_becomes_lower_case_latin_letters_and_digits(text: str, plain: str) -> None:
    assert plain_text(pl.Series([text])).to_list() == [plain]


def test_an_apostrophe_inside_a_word_is_dropped_and_a_quote_around_it_separates() -> None:
    texts = pl.Series(["O'Brien", "O\u2019Brien", "OBrien", "rock 'n' roll", "d'Artagnan's"])
    assert plain_text(texts).to_list() == ["obrien", "obrien", "obrien", "rock n roll", "dartagnans"]


def test_a_text_is_the_same_whatever_stands_beside_it() -> None:
    texts = ["Cafe", "two\nlines", "Zürich", "", "線\n路", "end\n"]
    alone = [plain_text(pl.Series([text])).item() for text in texts]
    assert plain_text(pl.Series(texts)).to_list() == alone
    assert plain_text(pl.Series([], dtype=pl.String)).to_list() == []


@pytest.mark.parametrize(
    ("text", "shorter"),
    [
        ("Paris (Texas)", "Paris"),
        ("Mercury [planet]", "Mercury"),
        ("北京\uff08城市\uff09", "北京"),
        ("(I Can't Get No) Satisfaction", "Satisfaction"),
        ("(What)", "(What)"),
        ("Paris (", "Paris ("),
        ("Paris", "Paris"),
    ],
)
def test_what_is_in_brackets_is_removed_unless_nothing_else_is_left(text: str, shorter: str) -> None:
    assert without_brackets(pl.Series([text])).to_list() == [shorter]
