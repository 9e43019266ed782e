"""Sizes of memory as users write them, and what is refused."""

from __future__ import annotations

import pytest

from multiea.foundation.errors import SettingError
from multiea.foundation.memory_budget import (
    LEAST,
    available_memory,
    memory_budget,
    parse_memory,
    refuse_too_little,
    shown_size,
    total_memory,
)


@pytest.mark.parametrize(
    ("words", "size"),
    [
        ("8GiB", 8 << 30),
        ("8gib", 8 << 30),
        (" 1.5 GiB ", 3 << 29),
        ("4G", 4 << 30),
        ("2T", 2 << 40),
        ("500MB", 500_000_000),
        ("300000KB", 300_000_000),
        ("2Gi", 2 << 30),
        ("1000000000", 1_000_000_000),
        ("1000000000B", 1_000_000_000),
        (1 << 30, 1 << 30),
    ],
)
def test_sizes_are_read(words: str | int, size: int) -> None:
    assert parse_memory(words) == size


@pytest.mark.parametrize("words", ["", "8 apples", "GiB", "-4GiB", "8GiBs", "1e9", "8iB", "8,5GiB", True, 1.5, None])
def test_what_is_no_size_is_refused(words: object) -> None:
    with pytest.raises(SettingError, match="memory must be a size such as 8GiB"):
        parse_memory(words)  # type: ignore[arg-type]


def test_too_little_and_too_much_are_refused() -> None:
    with pytest.raises(SettingError, match="memory must be at least 256 MiB, got 10MB"):
        parse_memory("10MB")
    with pytest.raises(SettingError, match="memory 9000TiB is more than this machine has: "):
        memory_budget("9000TiB")
    with pytest.raises(SettingError, match=r"1 GiB of memory is too little for one block of scores, which needs 2 GiB"):
        refuse_too_little(1 << 30, 2 << 30, "scores")
    refuse_too_little(1 << 30, 1 << 30, "scores")


def test_the_default_is_a_share_of_what_is_free() -> None:
    assert LEAST <= memory_budget(None) <= total_memory()
    assert 0 < available_memory() <= total_memory()


def test_sizes_are_shown_as_people_write_them() -> None:
    assert [shown_size(size) for size in (3 << 29, 256 << 20, 2048, 5)] == ["1.5 GiB", "256 MiB", "2 KiB", "5 bytes"]
