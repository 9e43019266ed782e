"""The memory that an alignment may use: `8GiB` as a number of bytes, and what this machine has."""

from __future__ import annotations

import os
import re
from pathlib import Path

from multiea.foundation.errors import SettingError

DEFAULT_SHARE = 0.6  # of the free memory
LEAST = 256 << 20  # the libraries alone need this much
POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)(b?)", re.IGNORECASE)
UNLIMITED = 1 << 60  # what version 1 of control groups calls no limit is above
CONTROL_GROUPS, MEMORY_INFO, OWN_GROUPS = Path("/sys/fs/cgroup"), Path("/proc/meminfo"), Path("/proc/self/cgroup")


def parse_memory(given: str | int) -> int:
    """A size as bytes: a number, or text such as 8GiB, 500MB or 4G (the same as 4GiB)."""
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise SettingError(f"memory must be a size such as 8GiB, got {given!r}")
    found = SIZE.fullmatch(str(given).strip())
    if found is None:
        raise SettingError(f"memory must be a size such as 8GiB, 500MB or 4G, got '{given}'")
    number, prefix, binary, unit = found.groups()
    if binary and not prefix:
        raise SettingError(f"memory must be a size such as 8GiB, 500MB or 4G, got '{given}'")
    base = 1000 if unit and prefix and not binary else 1024
    size = int(min(float(number) * base ** POWERS[prefix.lower()], UNLIMITED))
    if size < LEAST:
        raise SettingError(f"memory must be at least {shown_size(LEAST)}, got {given}: one block needs this much")
    return size


def memory_budget(given: str | int | None) -> int:
    """The bytes that may be used: what was given, or 60% of the free memory; more than the machine has is refused."""
    if given is None:
        return max(LEAST, int(available_memory() * DEFAULT_SHARE))
    size, total = parse_memory(given), total_memory()
    if size > total:
        raise SettingError(f"memory {given} is more than this machine has: {shown_size(total)}")
    return size


def refuse_too_little(budget: int, needed: int, what: str) -> None:
    """Refuses a budget that is too small for one block; what: what the block holds."""
    if budget < needed:
        raise SettingError(
            f"{shown_size(budget)} of memory is too little for one block of {what}, which needs {shown_size(needed)}; "
            "give more with --memory"
        )


def shown_size(size: int) -> str:
    """A number of bytes for people: '1.5 GiB'."""
    for power, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")):
        if size >= 1024**power:
            return f"{size / 1024**power:.3g} {unit}"
    return f"{size} bytes"


def total_memory() -> int:
    """The memory of the machine, or the limit of the container that this process is in."""
    return min([_of_machine("MemTotal"), *(limit for limit, _ in _limits())])


def available_memory() -> int:
    """The memory that is free, or can be freed, now."""
    free = [max(0, limit - used) for limit, used in _limits()]
    return min([_of_machine("MemAvailable"), *free])


def _of_machine(name: str) -> int:
    if MEMORY_INFO.exists():
        line = next((line for line in MEMORY_INFO.read_text().splitlines() if line.startswith(f"{name}:")), None)
        if line is not None:
            return int(line.split()[1]) << 10
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _limits() -> list[tuple[int, int]]:
    """Limit and use of each control group that limits this process, without caches that can be freed."""
    if not OWN_GROUPS.exists():
        return []
    found = []
    for line in OWN_GROUPS.read_text().splitlines():
        _, kinds, place = line.split(":", 2)
        if kinds == "":  # version 2
            top, names = CONTROL_GROUPS, ("memory.max", "memory.current", "inactive_file")
        elif "memory" in kinds.split(","):
            top = CONTROL_GROUPS / "memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        inside = Path(place.lstrip("/"))
        for folder in (top / part for part in (inside, *inside.parents)):
            limit, used = (_number_in(folder / name) for name in names[:2])
            if limit is not None and used is not None and limit < UNLIMITED:
                found.append((limit, used - _freeable(folder / "memory.stat", names[2])))
    return found


def _number_in(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):  # "max" where there is no limit
        return None


def _freeable(file: Path, name: str) -> int:
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{name} ")), 0)
