"""Where a data set lies, said so that it is found again from any folder."""

from __future__ import annotations

from pathlib import Path

EMBEDDED = {"world": Path(__file__).parent / "world"}


def lasting(source: str | Path) -> str:
    """The name of an embedded data set, or a path that does not depend on the folder one is in.

    Links are not followed: a KG is named after the file that was named.
    """
    return str(source) if str(source) in EMBEDDED else str(Path(source).absolute())
