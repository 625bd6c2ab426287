"""Functions that a program declares and another file of its library defines, found beside who declares them.

`dim3 grid_of(size_t n);` stands in `cuda.h`, and `cuda.c` defines it; or `camera.cu` defines what a kernel calls, to be
linked on the device. Without that neither an original nor a port can be executed, and nothing can be lowered. Only what
is called, and what that needs of its own file, is taken. A port to C++ does not have it, for it belongs to another file
of the build.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from porter.errors import PorterError
from porter.simt.kernel_slice import callee_slice
from porter.source.encoding import read_text
from porter.source.headers import sources_beside
from porter.source.lexer import significant, tokens
from porter.source.parse import parse
from porter.source.program import Program
from porter.source.prototypes import prototypes
from porter.source_text import Source

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b.*$", re.MULTILINE)
_OF_WARPS = re.compile(r"\b(?:\w+_sync|warpSize|asm|__\w*(?:shfl|ballot)\w*)\b|cooperative_groups|cg::")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_MOST_ROUNDS = 3  # functions of other files that call functions of other files
_MOST_FILES = 200  # of a folder that are looked into


@dataclass(frozen=True, slots=True)
class Taken:
    """The functions taken from a file, and the piece of it that defines them."""

    names: tuple[str, ...]
    piece: Source


def defined_elsewhere(program: Program) -> tuple[Taken, ...]:
    """Returns what other files define of the functions that `program` calls and only declares.

    A function that several files define is left alone, unless one of these is called like the header; so is one that
    launches a kernel. Of overloads all are taken.
    """
    search = _Search(program)
    found, wanted = dict[Path, set[str]](), search.lacking([program.source])
    for _ in range(_MOST_ROUNDS):
        for name, files in wanted.items():
            definition = search.definition(name, files)
            if definition is not None and search.may_be_taken(definition.path, name):
                found.setdefault(definition.path, set()).add(name)
        taken = tuple(search.taken(path, names) for path, names in found.items())
        known = {name for names in found.values() for name in names}
        wanted = {n: f for n, f in search.lacking([t.piece for t in taken]).items() if n not in known}
        if not wanted:
            break
    return taken if found else ()


@dataclass
class _Search:
    program: Program
    texts: dict[Path, Source] = field(default_factory=dict)

    def lacking(self, callers: Iterable[Source]) -> dict[str, list[Source]]:
        """Returns functions that `callers` call and the program only declares, each with the files that declare it."""
        files = list({f.path: f for f in (self.program.source, *(h for _, h in self.program.headers))}.values())
        called = frozenset(name for caller in callers for name in _called(caller.text))
        found = dict[str, list[Source]]()
        for file in files:
            for name in called.intersection(prototypes(file.text)):
                found.setdefault(name, []).append(file)
        return {n: f for n, f in found.items() if not any(_defines(other.text, n) for other in files)}

    def definition(self, name: str, declaring: Iterable[Source]) -> Source | None:
        """Returns the only file beside the source, or beside those `declaring` it, that defines the function `name`.

        Of several it is the one that is called like a file that declares it.
        """
        declaring = tuple(declaring)
        near = (*declaring, self.program.source)
        beside = {p.resolve(): p for file in near for p in sources_beside(file.path)[:_MOST_FILES]}
        own = self.program.source.path.resolve()
        texts = [t for at, p in beside.items() if at != own and (t := self._text(p)) is not None]
        found = [source for source in texts if _defines(source.text, name)]
        stems = {file.path.stem for file in declaring}
        alike = [source for source in found if source.path.stem in stems] if len(found) > 1 else found
        return alike[0] if len(alike) == 1 and _are_overloads(_defines(alike[0].text, name)) else None

    def may_be_taken(self, path: Path, name: str) -> bool:
        """Returns whether what the function `name` of the file at `path` takes launches nothing.

        On a device it must mean the same whatever the width of a warp, since nothing translates it.
        """
        piece = self.taken(path, {name}).piece
        read = parse(piece, defines=self.program.defines)
        if read.kernels or read.launches or not (read.host_functions or read.device_functions):
            return False
        return not (read.device_functions and _OF_WARPS.search(piece.text))

    def taken(self, path: Path, names: set[str]) -> Taken:
        """Returns the piece of the file at `path` that the functions `names` take."""
        source = self.texts[path]
        read = parse(source, defines=self.program.defines)
        functions = (*read.host_functions, *read.device_functions)
        qualified = frozenset(f.qualified for f in functions if f.name in names)
        (piece,) = callee_slice(qualified, source, (), self.program.defines)
        return Taken(tuple(sorted(names)), Source(path, _INCLUDE.sub("", piece.text), piece.first_line))

    def _text(self, path: Path) -> Source | None:
        if path not in self.texts:
            try:
                self.texts[path] = Source(path, read_text(path))
            except (OSError, PorterError):
                return None
        return self.texts[path]


def _called(text: str) -> Iterator[str]:
    stream = significant(tokens(text))
    return (word.text for word, behind in pairwise(stream) if behind.text == "(")


def _defines(text: str, name: str) -> list[str]:
    """Returns the heads of definitions of a function `name` in `text`."""
    if name not in text:
        return []
    head = rf"[\w*&>]\s+[*&]*(?:\w+::)*{name}\s*\((?:[^(){{}};]|\([^(){{}};]*\))*\)\s*\{{"
    return re.findall(head, _without_comments(text))


@lru_cache(maxsize=_MOST_FILES)
def _without_comments(text: str) -> str:
    return _COMMENT.sub(" ", text)


def _are_overloads(heads: Sequence[str]) -> bool:
    """Returns whether definitions of one name differ in their parameters, so that none is there instead of another."""
    return len({"".join(head.partition("(")[2].split()) for head in heads}) == len(heads)
