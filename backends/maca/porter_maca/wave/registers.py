"""Inline PTX that speaks of the warp: its special registers, shuffles, votes, matches and reductions.

A statement is rewritten when every instruction in it is one of these and its operands are plain; what remains is
reported by the port's own PTX rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from porter.source.edit import Edit
from porter.source.lexer import Token, TokenKind
from porter_maca.wave.calls import Stream
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
_SHUFFLES: Mapping[str, str] = {"idx": "__shfl", "up": "__shfl_up", "down": "__shfl_down", "bfly": "__shfl_xor"}
# The last operand of shfl holds the segment mask and the clamp; these two are what whole-warp shuffles write.
_WHOLE_WARP_CLAMP: Mapping[str, int] = {"idx": 0x1F, "up": 0, "down": 0x1F, "bfly": 0x1F}
_ASM = ("asm", "__asm__", "__asm")
_WARP_WORDS = re.compile(r"\b(warpSize|__(shfl|ballot|any|all|activemask|match|reduce)\w*)")
_QUALIFIERS = ("volatile", "__volatile__", "__volatile")


@dataclass(frozen=True, slots=True)
class Assembly:
    """An `asm` statement: its PTX, and the expressions `%0`, `%1`, ... stand for, outputs first."""

    start: int
    end: int
    ptx: str
    outputs: int
    operands: tuple[str, ...]


def register_changes(stream: Stream, text: str) -> Iterator[Change]:
    """Every `asm` of `stream` that is about the warp and can be said in C++."""
    for position, token in enumerate(stream.tokens):
        if token.text not in _ASM:
            continue
        assembly = _assembly(stream, position, text)
        said = _translated(assembly) if assembly and not _WARP_WORDS.search("".join(assembly.operands)) else None
        if assembly and said is not None:
            edit = Edit(assembly.start, assembly.end, said)
            yield Change(Danger.LANE_REGISTER, assembly.start, assembly.end, _first_word(assembly.ptx), edits=(edit,))


def _assembly(stream: Stream, position: int, text: str) -> Assembly | None:
    """The statement that begins with token `position`, without its semicolon; None when it does not close."""
    opening = position + 1
    while opening < len(stream.tokens) and stream.tokens[opening].text in _QUALIFIERS:
        opening += 1
    sections = _sections(stream.tokens[opening:])
    if not sections:
        return None
    *parts, closing = sections
    ptx = "".join(_unquoted(t.text) for t in parts[0] if t.kind is TokenKind.STRING)
    outputs = _operands(parts[1], text) if len(parts) > 1 else ()
    inputs = _operands(parts[2], text) if len(parts) > 2 else ()
    return Assembly(stream.tokens[position].start, closing[0].end, ptx, len(outputs), outputs + inputs)


def _sections(tokens: tuple[Token, ...]) -> list[tuple[Token, ...]]:
    """The tokens of `( a : b : c )` between the colons, then the closing parenthesis; empty without one."""
    sections: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in {"(", "["}) - (token.text in {")", "]"})
        if depth == 0:
            return [*map(tuple, sections), (token,)] if token.text == ")" else []
        if depth == 1 and token.text in {":", "::"}:
            sections.extend([] for _ in token.text)
        elif not (depth == 1 and token.text == "("):
            sections[-1].append(token)
    return []


def _operands(section: tuple[Token, ...], text: str) -> tuple[str, ...]:
    """The expressions in `"=r"(x), "r"(y)`; a section that holds anything else gives what it can."""
    found: list[str] = []
    depth, start = 0, 0
    for token in section:
        if token.text == "(":
            depth += 1
            start = token.end if depth == 1 else start
        elif token.text == ")":
            depth -= 1
            if depth == 0:
                found.append(text[start : token.start].strip())
    return tuple(found)


def _unquoted(literal: str) -> str:
    return literal[literal.index('"') + 1 : -1].replace("\\n", "\n").replace("\\t", " ")


def _first_word(ptx: str) -> str:
    words = re.findall(r"%?%?lanemask_\w+|%?%?laneid|%?%?warpid|[a-z]+\.[\w.]+", ptx)
    return next((w.lstrip("%") for w in words if w.lstrip("%") in _REGISTERS), words[0] if words else "asm")


def _translated(assembly: Assembly) -> str | None:
    """The C++ for all instructions of `assembly`, joined by `; `; None when one of them is something else."""
    instructions = [line for line in re.split(r"[;\n{}]+", assembly.ptx) if line.strip()]
    said = [_instruction(line.strip(), assembly) for line in instructions]
    if not said or any(s is None for s in said):
        return None
    return "; ".join(s for s in said if s is not None)


def _instruction(line: str, assembly: Assembly) -> str | None:
    opcode, _, rest = line.partition(" ")
    operands = [_operand(word.strip(), assembly) for word in rest.split(",")]
    if any(o is None for o in operands):
        return None
    if opcode == "bar.warp.sync":
        return f"__syncwarp(warp32::lanes({operands[0]}))"
    target, *values = (o for o in operands if o is not None)
    value = _value(opcode.split("."), values)
    return None if value is None else f"{target} = {value}"


def _operand(word: str, assembly: Assembly) -> str | None:
    """What `word` is in C++: an operand of the statement, a special register, a number; None for anything else."""
    if re.fullmatch(r"%\d+", word):
        index = int(word[1:])
        return assembly.operands[index] if index < len(assembly.operands) else None
    register = word.lstrip("%")
    if word.startswith("%") and register in _REGISTERS:
        return _REGISTERS[register]
    return word if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)U?", word) else None


def _value(opcode: list[str], values: list[str]) -> str | None:
    """The expression of a warp instruction over its source operands; None for other instructions."""
    match opcode:
        case ["mov", "u32" | "s32" | "b32"] if values[0] in _REGISTERS.values():
            return values[0]
        case ["activemask", "b32"]:
            return "warp32::bits(__activemask())"
        case ["shfl", "sync", way, "b32"] if way in _SHUFFLES and len(values) == 4 and _is_whole_warp(way, values[2]):
            return f"{_SHUFFLES[way]}_sync(warp32::lanes({values[3]}), {values[0]}, {values[1]}, 32)"
        case ["shfl", way, "b32"] if way in _SHUFFLES and len(values) == 3 and _is_whole_warp(way, values[2]):
            return f"{_SHUFFLES[way]}({values[0]}, {values[1]}, 32)"
        case ["redux", "sync", operator, "u32" | "s32" | "b32"]:
            return f"__reduce_{operator}_sync(warp32::lanes({values[1]}), {values[0]})"
        case ["match", "any", "sync", "b32" | "b64"]:
            return f"warp32::bits(__match_any_sync(warp32::lanes({values[1]}), {values[0]}))"
    return None


def _is_whole_warp(way: str, clamp: str) -> bool:
    return re.fullmatch(r"0[xX][0-9a-fA-F]+|\d+", clamp) is not None and int(clamp, 0) == _WHOLE_WARP_CLAMP[way]
