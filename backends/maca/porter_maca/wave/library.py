"""Warp code of libraries: cub's collectives take the whole wave unless told the size of the logical warp."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from porter.source.edit import Edit
from porter.source.lexer import TokenKind
from porter_maca.wave.calls import Stream, call_after, template_after
from porter_maca.wave.danger import Change, Danger
from porter_maca.wave.nesting import insert
from porter_maca.wave.primitives import CUB_COLLECTIVES, WIDTH

# cub's own names for the lane and the masks of the lanes around it.
_CUB_LANES: Mapping[str, str] = {
    "LaneId": "warp32::lane()",
    "LaneMaskLt": "((1u << warp32::lane()) - 1)",
    "LaneMaskLe": "(~0u >> (31 - warp32::lane()))",
    "LaneMaskGt": "(~1u << warp32::lane())",
    "LaneMaskGe": "(~0u << warp32::lane())",
}


def library_changes(stream: Stream) -> Iterator[Change]:
    """Uses of `cub::` names, and of cooperative groups of the lanes that happen to be active."""
    for position, token in enumerate(stream.tokens):
        if token.kind is not TokenKind.IDENTIFIER:
            continue
        qualified = (
            position >= 2 and stream.tokens[position - 1].text == "::" and stream.tokens[position - 2].text == "cub"
        )
        if qualified and token.text in CUB_COLLECTIVES:
            yield from _collective(stream, position)
        elif qualified and token.text in _CUB_LANES:
            yield from _lane(stream, position)
        elif token.text == "coalesced_threads" and call_after(stream.tokens, position):
            yield Change(Danger.COALESCED_GROUP, token.start, token.end, "coalesced_threads()")
        elif token.text == "wmma":
            yield Change(Danger.TENSOR_CORE, token.start, token.end, "wmma", reason="its fragments span the whole wave")


def _collective(stream: Stream, position: int) -> Iterator[Change]:
    """`cub::WarpReduce<T>` with the logical warp said."""
    name = stream.tokens[position]
    template = template_after(stream.tokens, position)
    if template is not None and len(template.arguments) == CUB_COLLECTIVES[name.text]:
        wrap = insert(template.close, f", {WIDTH}")
        yield Change(Danger.LIBRARY, name.start, template.close + 1, f"cub::{name.text}", (wrap,))


def _lane(stream: Stream, position: int) -> Iterator[Change]:
    name, start = stream.tokens[position], stream.tokens[position - 2].start
    call = call_after(stream.tokens, position)
    if call is not None:
        edit = Edit(start, call.close + 1, _CUB_LANES[name.text])
        yield Change(Danger.LIBRARY, start, call.close + 1, f"cub::{name.text}()", edits=(edit,))
