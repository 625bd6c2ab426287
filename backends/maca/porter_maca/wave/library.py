"""Mends warp code of libraries: cub's collectives take the whole wave unless told the size of the logical warp."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from porter.source.edit import Edit
from porter.source.lexer import Token, TokenKind
from porter.source.nesting import insert
from porter_maca.wave.calls import Stream, call_after, template_after
from porter_maca.wave.danger import Change, Danger
from porter_maca.wave.primitives import CUB_COLLECTIVES, WIDTH

# cub's own names for the lane and the masks of the lanes around it.
_CUB_LANES: Mapping[str, str] = {
    "LaneId": "warp32::lane()",
    "LaneMaskLt": "((1u << warp32::lane()) - 1)",
    "LaneMaskLe": "(~0u >> (31 - warp32::lane()))",
    "LaneMaskGt": "(~1u << warp32::lane())",
    "LaneMaskGe": "(~0u << warp32::lane())",
}
_NO_USE = frozenset({".", "->", "struct", "class"})


@dataclass(frozen=True, slots=True)
class CubNames:
    """The names that a file has for cub's things: namespaces, and names that need none after `using`."""

    spaces: frozenset[str]
    bare: frozenset[str]

    def means(self, tokens: Sequence[Token], position: int) -> bool:
        """Returns whether the name at `position` is cub's."""
        before = tokens[position - 1].text if position else ""
        if before == "::":
            return position >= 2 and tokens[position - 2].text in self.spaces
        return before not in _NO_USE and tokens[position].text in self.bare


def cub_names(file: Stream) -> CubNames:
    """Returns what `file` says about names: `namespace c = cub`, `using namespace cub`, `using cub::WarpReduce`."""
    spaces, bare = {"cub"}, set[str]()
    words = [t.text for t in file.tokens]
    for first, second, third, fourth in zip(words, words[1:], words[2:], words[3:], strict=False):
        if first == "namespace" and (third, fourth) == ("=", "cub"):
            spaces.add(second)
        elif (first, second) == ("using", "namespace") and third in spaces:
            bare |= CUB_COLLECTIVES.keys() | _CUB_LANES.keys()
        elif first == "using" and second in spaces and third == "::":
            bare.add(fourth)
    return CubNames(frozenset(spaces), frozenset(bare))


def library_changes(stream: Stream, cub: CubNames) -> Iterator[Change]:
    """Yields uses of names that `cub` says are cub's, and of cooperative groups of the lanes that are active."""
    for position, token in enumerate(stream.tokens):
        if token.kind is not TokenKind.IDENTIFIER:
            continue
        if token.text in CUB_COLLECTIVES and cub.means(stream.tokens, position):
            yield from _collective(stream, position)
        elif token.text in _CUB_LANES and cub.means(stream.tokens, position):
            yield from _lane(stream, position)
        elif token.text == "coalesced_threads" and call_after(stream.tokens, position):
            yield Change(Danger.COALESCED_GROUP, token.start, token.end, "coalesced_threads()")
        elif token.text == "wmma":
            yield Change(Danger.TENSOR_CORE, token.start, token.end, "wmma", reason="its fragments span the whole wave")


def _collective(stream: Stream, position: int) -> Iterator[Change]:
    """Yields `cub::WarpReduce<T>` with the size of the logical warp."""
    name = stream.tokens[position]
    template = template_after(stream.tokens, position)
    if template is not None and len(template.arguments) == CUB_COLLECTIVES[name.text]:
        wrap = insert(template.close, f", {WIDTH}")
        yield Change(Danger.LIBRARY, name.start, template.close + 1, f"cub::{name.text}", (wrap,))


def _lane(stream: Stream, position: int) -> Iterator[Change]:
    name = stream.tokens[position]
    start = stream.tokens[position - 2].start if stream.tokens[position - 1].text == "::" else name.start
    call = call_after(stream.tokens, position)
    if call is not None:
        edit = Edit(start, call.close + 1, _CUB_LANES[name.text])
        yield Change(Danger.LIBRARY, start, call.close + 1, f"cub::{name.text}()", edits=(edit,))
