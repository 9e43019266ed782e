"""Files that are not text: what they are by their first bytes, and what to do about them."""

from __future__ import annotations

from pathlib import Path

from multiea.foundation.errors import InputError

KINDS = {  # first bytes: what it is, and what to do
    b"PK\x03\x04": ("a zip archive", "Add .zip to its name if it contains one text file, or unpack it"),
    b"PAR1": ("a Parquet table", "Rename it to end in .parquet"),
    b"\xd0\xcf\x11\xe0": ("an old Excel or Office file", "Save it as .xlsx in Excel or LibreOffice, or as CSV UTF-8"),
    b"SQLite format 3": ("an SQLite database", "Save a table of it as CSV"),
    b"%PDF-": ("a PDF document", "Save its table as CSV"),
    b"BZh": ("data compressed with bzip2", "Unpack it; .gz and .zip are read"),
    b"\xfd7zXZ": ("data compressed with xz", "Unpack it; .gz and .zip are read"),
    b"\x28\xb5\x2f\xfd": ("data compressed with Zstandard", "Unpack it; .gz and .zip are read"),
    b"ARROW1": ("an Arrow file", "Save it as Parquet or CSV"),
}
EXCEL = ("an Excel file", "Rename it to end in .xlsx, or save it as CSV UTF-8 in Excel")
LOOKED_AT = 4096
NOT_IN_TEXT = bytes(code for code in range(32) if code not in b"\t\n\r\f\v\x1b")
MAX_SHARE_OF_CONTROLS = 0.01


def refuse_binary(path: Path, start: bytes) -> None:
    """Raises an error for bytes that begin another kind of file than text."""
    looked_at = start[:LOOKED_AT]
    if not has_controls(looked_at):
        return
    for magic, (kind, hint) in KINDS.items():
        if looked_at.startswith(magic):
            if b"[Content_Types].xml" in looked_at or b"xl/" in looked_at or b"docProps/" in looked_at:
                kind, hint = EXCEL
            raise InputError(f"not text but {kind}", path=path, expected="UTF-8 text", hint=hint)


def binary_data(path: Path) -> InputError:
    """The error for a file of an unknown kind that is not text."""
    return InputError("not text but binary data", path=path, expected="UTF-8 text", hint="Save it as text in UTF-8")


def has_controls(start: bytes) -> bool:
    """Whether many bytes are control characters, which text hardly has in any encoding."""
    looked_at = start[:LOOKED_AT]
    return len(looked_at) - len(looked_at.translate(None, NOT_IN_TEXT)) > MAX_SHARE_OF_CONTROLS * len(looked_at)
