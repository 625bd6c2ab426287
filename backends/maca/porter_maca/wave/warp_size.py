"""Finds the warp size by its names: built-in, library constant, host query. Each is 64 on MACA where code means 32."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter.source.edit import Edit
from porter.source.lexer import Token, TokenKind
from porter.source.nesting import Wrap
from porter_maca.wave.calls import Stream, call_after
from porter_maca.wave.danger import Change, Danger

_SIZE = "warp32::size"
_HOST_ONLY_SIZE = "32"  # the namespace needs a compiler that knows `__device__`

_BUILTINS = {"warpSize": Danger.WARP_SIZE, "C10_WARP_SIZE": Danger.LIBRARY, "CUB_PTX_WARP_THREADS": Danger.LIBRARY}
_PRINTERS = frozenset({"printf", "fprintf", "sprintf", "snprintf", "cout", "cerr", "LOG", "ostream"})
_OPENER_OF = {")": "(", "]": "["}
_STATEMENT_ENDS = frozenset({";", "{", "}"})


@dataclass(frozen=True, slots=True)
class WarpSizes:
    """The warp size as a source speaks of it: `own` are the offsets at which `warpSize` is a name of the user's."""

    own: frozenset[int]
    has_device_code: bool

    @property
    def spelling(self) -> str:
        """Returns what the port says instead."""
        return _SIZE if self.has_device_code else _HOST_ONLY_SIZE


def warp_size_changes(stream: Stream, text: str, sizes: WarpSizes) -> Iterator[Change]:
    """Yields every reading of the warp size in `stream`."""
    for position, token in enumerate(stream.tokens):
        if token.kind is not TokenKind.IDENTIFIER:
            continue
        before = _before(stream, position)
        if token.text in _BUILTINS and token.start not in sizes.own and before not in {".", "->", "::"}:
            yield _replaced(_BUILTINS[token.text], token.start, token.end, text, sizes)
        elif token.text == "warpSize" and before in {".", "->"} and _after(stream, position) != "=":
            yield from _device_property(stream, position, text, sizes)
        elif token.text == "warp_size" and before == "::":
            yield from _aten_query(stream, position, text, sizes)
        elif token.text == "cudaDeviceGetAttribute":
            yield from _device_attribute(stream, position, text, sizes)


def declared_warp_size(stream: Stream) -> Iterator[int]:
    """Yields the offsets at which `stream` declares a variable or parameter called `warpSize`."""
    for position, token in enumerate(stream.tokens[1:], 1):
        before = stream.tokens[position - 1]
        if token.text == "warpSize" and before.kind is TokenKind.IDENTIFIER and before.text not in {"return", "case"}:
            yield token.start


def _before(stream: Stream, position: int) -> str:
    return stream.tokens[position - 1].text if position else ""


def _after(stream: Stream, position: int) -> str:
    return stream.tokens[position + 1].text if position + 1 < len(stream.tokens) else ""


def _replaced(danger: Danger, start: int, end: int, text: str, sizes: WarpSizes) -> Change:
    return Change(danger, start, end, text[start:end], edits=(Edit(start, end, sizes.spelling),))


def _device_property(stream: Stream, position: int, text: str, sizes: WarpSizes) -> Iterator[Change]:
    """Yields `prop.warpSize`, the device's answer, where it is more than printed."""
    if not any(t.text in _PRINTERS for t in _statement_before(stream.tokens, position)):
        start = stream.tokens[_postfix_start(stream.tokens, position)].start
        yield _replaced(Danger.HOST_WARP_SIZE, start, stream.tokens[position].end, text, sizes)


def _aten_query(stream: Stream, position: int, text: str, sizes: WarpSizes) -> Iterator[Change]:
    """Yields `at::cuda::warp_size()`."""
    call = call_after(stream.tokens, position)
    start = stream.tokens[_postfix_start(stream.tokens, position)].start
    if call is not None and text[start:].startswith(("at::", "::at::")):
        yield _replaced(Danger.HOST_WARP_SIZE, start, call.close + 1, text, sizes)


def _device_attribute(stream: Stream, position: int, text: str, sizes: WarpSizes) -> Iterator[Change]:
    """Yields `cudaDeviceGetAttribute(&size, cudaDevAttrWarpSize, device)`: the call stays, its answer is replaced."""
    call = call_after(stream.tokens, position)
    if call is None or len(call.arguments) != 3:
        return
    result, attribute, _ = (text[a.start : a.end] for a in call.arguments)
    if attribute != "cudaDevAttrWarpSize":
        return
    variable = result[1:].strip() if result.startswith("&") else f"*({result})"
    start, end = stream.tokens[position].start, call.close + 1
    wrap = Wrap(start, end, "(", f", {variable} = {sizes.spelling}, mcSuccess)")
    yield Change(Danger.HOST_WARP_SIZE, start, end, attribute, (wrap,))


def _statement_before(stream: Sequence[Token], position: int) -> Iterator[Token]:
    """Yields the tokens of the statement before token `position`, backwards."""
    for token in reversed(stream[:position]):
        if token.text in _STATEMENT_ENDS:
            return
        yield token


def _postfix_start(stream: Sequence[Token], position: int) -> int:
    """Returns the start of the expression whose last name is token `position`: `a::b(c)->d[e].f`."""
    start = position
    while start > 0 and stream[start - 1].text in {".", "->", "::"}:
        start -= 1
        while start > 0 and stream[start - 1].text in _OPENER_OF:
            start = _opening(stream, start - 1)
        if start > 0 and stream[start - 1].kind is TokenKind.IDENTIFIER:
            start -= 1
    return start


def _opening(stream: Sequence[Token], closing: int) -> int:
    """Returns the index of the bracket that token `closing` closes."""
    depth = 0
    for position in range(closing, -1, -1):
        depth += (stream[position].text in {")", "]"}) - (stream[position].text in {"(", "["})
        if depth == 0:
            return position
    return 0
