"""Confines warp primitives to the caller's 32 lanes of the wave.

`__shfl_xor_sync(m, v, 16)` becomes `__shfl_xor_sync(warp32::lanes(m), v, 16, 32)`: the mask names the same lanes in the
wave, the width keeps the exchange among them. A result that is a mask comes back through `warp32::bits`. Only
insertions are made, so a call may stand in the argument of another, in a macro or in a template.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from porter.source.edit import Edit
from porter.source.lexer import Token, TokenKind
from porter.source.nesting import Wrap, insert
from porter_maca.wave.calls import Brackets, Stream, call_after
from porter_maca.wave.danger import Change, Danger
from porter_maca.wave.primitives import LEGACY_VOTES, Primitive

_NOT_A_TYPE = frozenset({"return", "else", "do", "case", "throw", "co_return"})


def intrinsic_changes(stream: Stream, text: str, known: Mapping[str, Primitive]) -> Iterator[Change]:
    """Yields every use of a primitive of `known`, and of the votes without mask, in `stream`.

    A macro that defines a primitive for old compilers is left alone: where it is not in force its body does not count.
    Of one that is a primitive without a mask, and hands on all that it is given, the mask is confined.
    """
    if stream.macro in known or stream.macro in LEGACY_VOTES:
        yield from _masks(stream, text, known)
        return
    for position, token in enumerate(stream.tokens):
        if token.kind is not TokenKind.IDENTIFIER or not (token.text in known or token.text in LEGACY_VOTES):
            continue
        start = _name_start(stream, position)
        if start is None:
            continue
        call = call_after(stream.tokens, position)
        if call is not None and _is_declared(stream, position):
            if token.text in known and known[token.text].mask is not None:
                yield _unclear(token.text, token.start, call.close + 1, "it is defined here with a mask of 32 lanes")
            continue
        if call is None:
            yield _unclear(token.text, token.start, token.end, "it is not called here but named, pasted or passed on")
        elif token.text in LEGACY_VOTES:
            yield _legacy_vote(token, start, call)
        else:
            yield from _call(token.text, start, call, text, known[token.text])


def _masks(stream: Stream, text: str, known: Mapping[str, Primitive]) -> Iterator[Change]:
    """Yields the mask in the body of `#define __shfl_down(...) __shfl_down_sync(0xffffffff, __VA_ARGS__)`: calls of the
    macro get a width.
    """
    for position, token in enumerate(stream.tokens):
        call = call_after(stream.tokens, position) if token.text == f"{stream.macro}_sync" else None
        if call is None or token.text not in known or len(call.arguments) != len(("mask", "rest")):
            continue
        mask, rest = call.arguments
        if text[rest.start : rest.end] == "__VA_ARGS__":
            confined = Wrap(mask.start, mask.end, "warp32::lanes(", ")")
            yield Change(Danger.LANE_MASK, mask.start, mask.end, text[mask.start : mask.end], (confined,))


def _name_start(stream: Stream, position: int) -> int | None:
    """Returns the start of the name, with a leading `::`; None for a member, or a name of another namespace."""
    before = stream.tokens[position - 1].text if position else ""
    if before in {".", "->"}:
        return None
    if before != "::":
        return stream.tokens[position].start
    scope = stream.tokens[position - 2] if position > 1 else None
    named = scope is not None and scope.kind is TokenKind.IDENTIFIER and scope.text not in _NOT_A_TYPE
    return None if named else stream.tokens[position - 1].start


def _is_declared(stream: Stream, position: int) -> bool:
    """Returns whether the name is that of a function being declared: a type stands before it."""
    before = stream.tokens[position - 1] if position else None
    return before is not None and before.kind is TokenKind.IDENTIFIER and before.text not in _NOT_A_TYPE


def _call(name: str, start: int, call: Brackets, text: str, primitive: Primitive) -> Iterator[Change]:
    """Yields the changes of one call: its mask, its width and its result."""
    count = len(call.arguments)
    if not primitive.required <= count <= primitive.most or _is_packed(call, text):
        yield _unclear(name, start, call.close + 1, f"it is called with {count} arguments that cannot be distinguished")
        return
    missing = primitive.defaults[count - primitive.required :]
    wraps = [insert(call.close, "".join(_appended(missing, first=count == 0)))] if missing else []
    if primitive.gives_lanes:
        wraps.append(Wrap(start, call.close + 1, "warp32::bits(", ")"))
    if primitive.mask is not None and primitive.mask < count:
        mask = call.arguments[primitive.mask]
        confined = Wrap(mask.start, mask.end, "warp32::lanes(", ")")
        yield Change(Danger.LANE_MASK, mask.start, mask.end, text[mask.start : mask.end], (confined,))
    if wraps or primitive.danger is not Danger.SHUFFLE:
        yield Change(primitive.danger, start, call.close + 1, name, tuple(wraps))


def _appended(arguments: tuple[str, ...], *, first: bool) -> Iterator[str]:
    for position, argument in enumerate(arguments):
        yield argument if first and position == 0 else f", {argument}"


def _is_packed(call: Brackets, text: str) -> bool:
    """Returns whether an argument stands for several: `__VA_ARGS__` or a pack."""
    written = (text[a.start : a.end] for a in call.arguments)
    return any("__VA_ARGS__" in argument or argument.endswith("...") for argument in written)


def _legacy_vote(name: Token, start: int, call: Brackets) -> Change:
    compared, negation = LEGACY_VOTES[name.text]
    wraps = [Wrap(start, call.close + 1, "(warp32::bits(", f") {compared} 0)")]
    if negation and call.arguments:
        wraps.append(Wrap(call.arguments[0].start, call.arguments[-1].end, f"{negation}(", ")"))
    edit = Edit(name.start, name.end, "__ballot")
    return Change(Danger.LEGACY, start, call.close + 1, name.text, tuple(wraps), (edit,))


def _unclear(name: str, start: int, end: int, reason: str) -> Change:
    return Change(Danger.UNCLEAR_PRIMITIVE, start, end, name, reason=reason)
