"""Writes inline PTX that reads a register of the warp as C++ for 32 lanes.

Other PTX about the warp becomes intrinsics by the port's table of instructions and is rewritten as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from porter.source.edit import Edit
from porter.source.lexer import TokenKind
from porter.source.vocabulary import ASM
from porter_maca.wave.calls import Brackets, Stream, call_after
from porter_maca.wave.danger import Change, Danger

_REGISTERS: Mapping[str, str] = {
    "laneid": "warp32::lane()",
    "lanemask_eq": "1u << warp32::lane()",
    "lanemask_lt": "(1u << warp32::lane()) - 1",
    "lanemask_le": "~0u >> (31 - warp32::lane())",
    "lanemask_gt": "~1u << warp32::lane()",
    "lanemask_ge": "~0u << warp32::lane()",
    "warpid": "(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32",
}
_QUALIFIERS = frozenset({"volatile", "__volatile__", "__volatile"})
_MOVE = re.compile(r"\s*mov\.[usb]32\s+%0\s*,\s*%%?(\w+)\s*;?\s*")
_WARP_WORDS = re.compile(r"\bwarpSize\b|\b__[a-z]")
_STATEMENT = re.compile(r'"(?P<ptx>[^"]*)"\s*:\s*"=r"\s*\((?P<target>.*)\)\s*', re.DOTALL)


def register_changes(stream: Stream, text: str) -> Iterator[Change]:
    """Yields every `asm` of `stream` that moves a register of the warp to a variable, and does nothing else."""
    for position, token in enumerate(stream.tokens):
        if token.text not in ASM or token.kind is not TokenKind.IDENTIFIER:
            continue
        last = position
        while last + 1 < len(stream.tokens) and stream.tokens[last + 1].text in _QUALIFIERS:
            last += 1
        call = call_after(stream.tokens, last)
        if call is not None and (read := _register_read(call, text)):
            register, target = read
            edit = Edit(token.start, call.close + 1, f"{target} = {_REGISTERS[register]}")
            yield Change(Danger.LANE_REGISTER, token.start, call.close + 1, f"%{register}", edits=(edit,))


def _register_read(call: Brackets, text: str) -> tuple[str, str] | None:
    """Returns the register that the statement reads and its target; None for any other statement."""
    statement = _STATEMENT.fullmatch(text[call.open + 1 : call.close].strip())
    if statement is None or _WARP_WORDS.search(statement["target"]):
        return None
    move = _MOVE.fullmatch(re.sub(r"\\[nt]", " ", statement["ptx"]))
    return (move[1], statement["target"].strip()) if move and move[1] in _REGISTERS else None
