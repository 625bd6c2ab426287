"""Bytes of a file to text, in the encodings real sources come in."""

from __future__ import annotations

import codecs
from pathlib import Path

from porter.errors import InputError

MOST_BYTES = 16 << 20  # no source written or generated for a compiler is larger
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_FALLBACKS = ("gb18030", "latin-1")  # comments in Chinese come in the first; the second takes any byte


def read_text(path: Path) -> str:
    """The text of `path`, its line ends as they are, a byte order mark dropped.

    Raises `InputError` for a file that cannot be read, is too large, or no text.
    """
    try:
        size = path.stat().st_size
        if path.is_dir():
            raise InputError(f"{path}: is a folder", "name a source file")
        if size > MOST_BYTES:
            raise InputError(f"{path}: {size} bytes are too many for a source", f"the limit is {MOST_BYTES} bytes")
        raw = path.read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file", "check the path") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}", "check its permissions") from error
    return _decoded(path, raw)


def _decoded(path: Path, raw: bytes) -> str:
    if raw.startswith(_UTF16):
        return raw.decode("utf-16", errors="replace")
    if b"\0" in raw:
        raise InputError(f"{path}: is a binary file", "name a source file, not what a compiler made of it")
    return _first_that_fits(raw)


def _first_that_fits(raw: bytes) -> str:
    for encoding in ("utf-8-sig", *_FALLBACKS):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise AssertionError("latin-1 decodes any bytes")
