"""PTX as Triton has LLVM print it: the instructions of one kernel, in order, with their labels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_GUARD = re.compile(r"@(!?)(%\w+)\s+")
_LABEL = re.compile(r"([$\w]+):$")
_PARAMETER = re.compile(r"\.param\s+.*?(\w+_param_(\d+))")
_OPERANDS = re.compile(r"\{[^}]*\}|\[[^\]]*\]|[^,\s][^,]*")
_WORDS = re.compile(r"%[\w.]+|-?[\w$.]+")


@dataclass(frozen=True, slots=True)
class Instruction:
    """`@guard op operands`; `negated` where the guard is `!%p`. `name` is the first word of `op`, `type` the last."""

    op: str
    operands: tuple[str, ...]
    guard: str = ""
    negated: bool = False

    @property
    def name(self) -> str:
        """`ld` of `ld.global.b32`."""
        return self.op.split(".", 1)[0]

    @property
    def type(self) -> str:
        """`b32` of `ld.global.b32`."""
        return self.op.rsplit(".", 1)[-1]


@dataclass(frozen=True)
class Code:
    """The instructions of a kernel; `labels` are places in them, `parameters` the kernel's, by name, in order."""

    instructions: tuple[Instruction, ...]
    labels: Mapping[str, int]
    parameters: Mapping[str, int] = field(default_factory=dict)


def parse(text: str) -> Code:
    """Returns the first kernel of `text`. A line that is not understood becomes an unknown instruction."""
    instructions: list[Instruction] = []
    labels: dict[str, int] = {}
    parameters: dict[str, int] = {}
    inside = False
    for raw in text.splitlines():
        line = raw.split("//", 1)[0].strip()
        if not inside:
            if found := _PARAMETER.search(line):
                parameters[found[1]] = int(found[2])
            inside = line == "{"
            continue
        if raw.startswith("}"):
            break
        if label := _LABEL.match(line):
            labels[label[1]] = len(instructions)
            continue
        instructions += [one for part in line.split(";") if (one := _instruction(part.strip().strip("{}").strip()))]
    return Code(tuple(instructions), labels, parameters)


def _instruction(text: str) -> Instruction | None:
    guard = _GUARD.match(text)
    body = text[guard.end() :] if guard else text
    op, _, rest = body.replace("\t", " ").partition(" ")
    if not op or op.startswith(".") or not op[0].isalpha():
        return None
    operands = tuple(found.strip() for found in _OPERANDS.findall(rest))
    return Instruction(op, operands, guard[2] if guard else "", bool(guard and guard[1]))


def words(operand: str) -> tuple[str, ...]:
    """Returns registers and numbers of an operand: of `{ %r1, %r2 }` both, of `[ %rd1 + 16 ]` both parts."""
    return tuple(_WORDS.findall(operand))
