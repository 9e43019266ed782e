"""Opens plain, gzipped and zipped files, reads them in blocks of complete lines; failures become an InputError."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from multiea.data.file_kinds import binary_data, has_controls, refuse_binary
from multiea.data.zip_files import opened_zip
from multiea.foundation import progress
from multiea.foundation.errors import InputError

BLOCK_BYTES = 8 << 20
LONGEST_RECORD = 64 << 20
NEWLINE, QUOTE = ord("\n"), ord('"')
GZIP_MAGIC = b"\x1f\x8b"
LOOKED_AT = 200  # bytes, to recognise UTF-16
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class _ProgressReader(io.RawIOBase):
    """A raw file that reports the bytes read from it as progress."""

    def __init__(self, raw: io.FileIO, advance: progress.Advance) -> None:
        self._raw, self._advance = raw, advance

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        count = self._raw.readinto(buffer) or 0
        self._advance(count)
        return count


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, decompressed if its name ends in .gz or .zip. Failures become an InputError."""
    if path.suffix == ".zip":
        with opened_zip(path) as stream:
            yield stream
        return
    try:
        if "\0" in str(path):
            raise InputError("a zero byte in the name", path=str(path).replace("\0", "\\0"), expected="a file name")
        if path.is_dir():
            raise InputError("this is a folder", path=path, expected="a file")
        with (
            path.open("rb", buffering=0) as raw,
            progress.stage(f"reading {path.name}", path.stat().st_size) as advance,
        ):
            buffered = io.BufferedReader(_ProgressReader(raw, advance), 1 << 20)
            packed = path.suffix == ".gz"
            if not packed and buffered.peek(2).startswith(GZIP_MAGIC):
                raise InputError("compressed data", path=path, hint="It looks gzipped: add .gz to its name")
            yield cast(BinaryIO, gzip.GzipFile(fileobj=buffered) if packed else buffered)
    except FileNotFoundError:
        raise InputError("no such file", path=path, hint="Check the spelling and the folder") from None
    except (EOFError, zlib.error) as error:
        raise InputError(
            f"the gzip data is cut off or damaged ({error})", path=path, hint="Download or compress the file again"
        ) from None
    except gzip.BadGzipFile as error:
        with path.open("rb") as raw:
            packed = raw.read(2) == GZIP_MAGIC
        found = f"the gzip data is damaged ({error})" if packed else "the name ends in .gz but the file is not gzipped"
        hint = "Download or compress the file again" if packed else "Rename it, or compress it with gzip"
        raise InputError(found, path=path, hint=hint) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from None


@dataclass(frozen=True)
class Block:
    """Complete lines of a file; first_line is the number of the first one, counted from 1."""

    first_line: int
    data: bytes

    def line_at(self, byte: int) -> int:
        """The number of the line that contains this byte."""
        return self.first_line + self.data.count(b"\n", 0, byte)


def line_blocks(path: Path, *, quoted: bool = False) -> Generator[Block]:
    """The file in blocks of complete UTF-8 lines, each ending in a newline. Quoted fields may contain newlines."""
    line = 1
    with opened(path) as stream:
        start = stream.read(len(BYTE_ORDER_MARK))
        rest = b"" if start == BYTE_ORDER_MARK else start
        while True:
            chunk = stream.read(BLOCK_BYTES)
            data = rest + chunk
            if line == 1:
                refuse_binary(path, data)
            if not chunk and data and not data.endswith(b"\n"):
                data += b"\n"
            end = end_of_last_record(data, quoted=quoted) if chunk else len(data)
            rest = data[end:]
            if chunk and len(rest) > LONGEST_RECORD:
                raise InputError(
                    f"a record longer than {LONGEST_RECORD >> 20} MiB",
                    path=path,
                    line=line,
                    expected="lines of text",
                    hint="An unclosed quote can cause this" if quoted else None,
                )
            if end:
                block = Block(line, data[:end])
                _refuse_other_encodings(path, block)
                yield block
                line += block.data.count(b"\n")
            if not chunk:
                return


def end_of_last_record(data: bytes, *, quoted: bool) -> int:
    """The end of the last complete record: after the last newline that is not inside quotes."""
    if not quoted or b'"' not in data:
        return data.rfind(b"\n") + 1
    codes = np.frombuffer(data, dtype=np.uint8)
    quotes, newlines = np.flatnonzero(codes == QUOTE), np.flatnonzero(codes == NEWLINE)
    outside = newlines[np.searchsorted(quotes, newlines) % 2 == 0]
    return int(outside[-1]) + 1 if len(outside) else 0


def _utf_16(start: bytes) -> str:
    """The name of a UTF-16 encoding that a file begins with; empty if it does not.

    It is known by its first bytes, or without them by the zero bytes of letters.
    """
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    zeros = [start[first:LOOKED_AT:2].count(0) for first in (0, 1)]
    least = min(len(start), LOOKED_AT) // 4
    if least and max(zeros) > least and not min(zeros):
        return "utf-16be" if zeros[0] else "utf-16le"
    return ""


def _refuse_other_encodings(path: Path, block: Block) -> None:
    if block.first_line == 1 and (utf_16 := _utf_16(block.data)):
        raise InputError(
            f"not UTF-8 but {utf_16.upper()}",
            path=path,
            line=1,
            expected="UTF-8 text",
            hint=f"Convert it, for example with iconv -f {utf_16} -t utf-8; in Excel, save it as CSV UTF-8",
        )
    if block.data.isascii():
        return
    try:
        block.data.decode("utf-8")
    except UnicodeDecodeError as error:
        if has_controls(block.data):
            raise binary_data(path) from None
        raise InputError(
            f"not UTF-8 (byte 0x{block.data[error.start]:02x})",
            path=path,
            line=block.line_at(error.start),
            expected="UTF-8 text",
            hint="Convert it, for example with iconv -f latin1 -t utf-8",
        ) from None
