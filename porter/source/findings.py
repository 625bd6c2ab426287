"""Reports a file's findings: what could not be read, what is missing, and kinds of code that cannot be compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from porter.diagnostics.catalogue import core_catalogue
from porter.diagnostics.findings import Finding
from porter.source.directives import outermost_macro
from porter.source.grid_barriers import grid_barriers
from porter.source.headers import in_repository, is_installed
from porter.source.lexer import Token, TokenKind
from porter.source.preprocess import Inclusion
from porter.source.program import Function, Launch, NotUnderstood
from porter.source.qualified import unqualified
from porter.source.reading import Reading
from porter.source.unfinished import CODE, Unfinished
from porter.source.vocabulary import LAMBDA_KERNELS, TEXTURES
from porter.source_text import Source, Span

_MOST_PLACES = 3  # of a header, in a hint
_LIBRARIES = frozenset(("thrust", "cub"))
KERNELS_OF_LIBRARIES = ("PORT2006", "PORT2007")


def finding(code: str, span: Span | None, message: str, hint: str = "") -> Finding:
    """The finding `code` of the catalogue at `span`."""
    return core_catalogue()[code].at(span, message, hint)


def unread(stretches: Iterable[NotUnderstood]) -> Iterator[Finding]:
    """One finding for each stretch that was not understood."""
    for stretch in stretches:
        yield finding("PORT2001", stretch.span, stretch.reason, "check that every macro used here is defined")


def unfinished(place: Unfinished | None) -> Iterator[Finding]:
    """A finding for what the file begins and never finishes."""
    if place is not None:
        span, reason = place
        yield finding(CODE, span, reason, "restore the rest of the file, or add what closes it")


def missing(source: Source, inclusions: Iterable[Inclusion]) -> Iterator[Finding]:
    """One finding for each local header that is nowhere: at its first line in `source`, else where a header asks."""
    nowhere = [i for i in inclusions if i.header is None and not i.include.angled and not is_installed(i.include.path)]
    told: set[str] = set()
    for inclusion in sorted(nowhere, key=lambda i: i.includer.path != source.path):
        asking, include = inclusion.includer, inclusion.include
        if include.path in told:
            continue
        told.add(include.path)
        own = asking.path == source.path
        message = f'"{include.path}"' + ("" if own else f", included by {asking.path.name},") + " was not found"
        hint = _folder_hint(in_repository(include.path, asking.path))
        yield finding("PORT2002", include.span if own else None, message, hint)


def _folder_hint(places: Sequence[Path]) -> str:
    listed = " or ".join(str(place.parent) for place in places[:_MOST_PLACES])
    return "name its folder with --include-dir" + (f": {listed}" if listed else "")


def skipped(reading: Reading, kernels_at: Iterable[int]) -> Iterator[Finding]:
    """One finding for each kernel, given by the offset of its `__global__` in the file, that is not compiled."""
    for at in kernels_at:
        span = reading.source.span(at, at + len("__global__"))
        macro = outermost_macro(reading.source.text, at) or "NAME=VALUE"
        yield finding("PORT2004", span, "this kernel is not compiled", f"bring it in with --define {macro}")


def exhausted(stopped: bool) -> Iterator[Finding]:
    """A finding when macro expansion had to stop."""
    if stopped:
        yield finding("PORT2012", None, "macro expansion was stopped", "compile the macros' output and port that")


def kinds(
    reading: Reading, functions: Sequence[Function], launches: Sequence[Launch], headers: Iterable[Source]
) -> Iterator[Finding]:
    """Yields what kind of code the file holds, where that decides what porter can do with it."""
    kernels = [f for f in functions if f.space == "global"]
    if not kernels and not launches and not any("__global__" in header.text for header in headers):
        yield _without_kernels(reading)
    yield from _first_use(
        reading, TEXTURES, "PORT2008", "{} reads through the texture unit", "read device memory directly"
    )
    barrier = next(grid_barriers([t.text for t in reading.words]), None)
    if barrier is not None:
        token = reading.words[barrier]
        message = f"{token.text} synchronises all blocks"
        yield finding("PORT2009", reading.span_of([token]), message, "split the kernel at the barrier")
    device = {f.qualified for f in functions if f.space in ("global", "device")}
    names = {f.name for f in kernels}
    hosts = {f.name for f in functions if f.space == "host" and not f.scope}
    for launch in launches:
        if launch.inside in device:
            yield finding(
                "PORT2010", launch.span, f"{launch.kernel} is launched from device code", "launch it from the host"
            )
        elif launch.kernel in hosts - names:
            yield finding(
                "PORT2013", launch.span, f"{launch.kernel} is launched, but is not a __global__ function", "call it"
            )
        elif kernels and unqualified(launch.kernel) not in names and _is_plain_name(launch, functions):
            yield finding(
                "PORT2011", launch.span, f"{launch.kernel} is not defined here", "port the file that defines it"
            )


def _is_plain_name(launch: Launch, functions: Sequence[Function]) -> bool:
    """Returns whether a launch names a kernel, not a variable or parameter that holds one."""
    if not launch.kernel.replace("::", "").isidentifier():
        return False
    within = [f for f in functions if f.qualified == launch.inside]
    given = rf"\b{launch.kernel}\b[^;=<]*=(?!=)"  # `auto kernel = ...;`, `void (*kernel)(int) = ...;`
    return not any(p.name == launch.kernel for f in within for p in f.params) and not any(
        re.search(given, f.body_text) for f in within
    )


def _without_kernels(reading: Reading) -> Finding:
    """Returns why a file has no kernel."""
    for i, token in enumerate(reading.words):
        if token.text in LAMBDA_KERNELS:
            return finding(
                "PORT2006",
                reading.span_of([token]),
                f"{token.text} makes the kernel of a lambda",
                "write the kernel out as a __global__ function, or call it in the PyTorch of the target",
            )
        following = reading.words[i + 1].text if i + 1 < len(reading.words) else ""
        if token.text in _LIBRARIES and token.kind is TokenKind.IDENTIFIER and following == "::":
            return finding(
                "PORT2007",
                reading.span_of([token]),
                f"only {token.text} works on the device here",
                f"use the target's counterpart of {token.text}, or write the loop as a kernel",
            )
    return finding(
        "PORT2003", None, "no __global__ function is defined or launched", "give porter the file with the kernels"
    )


def _first_use(reading: Reading, names: frozenset[str], code: str, message: str, hint: str) -> Iterator[Finding]:
    token: Token | None = next((t for t in reading.words if t.text in names), None)
    if token is not None:
        yield finding(code, reading.span_of([token]), message.format(token.text), hint)
