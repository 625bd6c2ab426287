"""The text of an `asm` statement: its operands in C++ and its template in PTX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from porter.source.lexer import Token, TokenKind, match_bracket, significant, tokens
from porter.source.vocabulary import ASM

_QUALIFIERS = frozenset({"volatile", "__volatile__", "inline", "goto"})
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}
_REGISTERS = {
    "pred": "bool", "b8": "unsigned char", "u8": "unsigned char", "s8": "signed char", "b16": "unsigned short",
    "u16": "unsigned short", "s16": "short", "b32": "unsigned int", "u32": "unsigned int", "s32": "int",
    "b64": "unsigned long long", "u64": "unsigned long long", "s64": "long long", "f16": "unsigned short",
    "f16x2": "unsigned int", "f32": "float", "f64": "double",
}  # fmt: skip
# What a CPU that runs one thread at a time need not know: caches, scopes, state spaces with ordinary addresses,
# alignment of warps, and approximations (computed accurately here).
_IDLE = re.compile(
    r"\.(volatile|relaxed|weak|gpu|cta|cluster|sys|global|const|local|param|generic|ca|cg|cs|lu|cv|wb|wt|nc|ftz|noftz"
    r"|approx|full|aligned|uni|mmio|L[12]::[\w:]+|unified)(?=[.\s]|$)"
)


class UnreadableAsmError(Exception):
    """The statement's PTX cannot be taken apart."""

    def __init__(self, instruction: str, reason: str) -> None:
        super().__init__(f"{instruction}: {reason}")
        self.instruction = instruction
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Operand:
    """A C++ operand: `"=r"(x)` has constraint `=r` and expression `x`."""

    constraint: str
    expression: str


@dataclass(frozen=True, slots=True)
class AsmStatement:
    """An `asm` statement; `template` has its string literals joined and unescaped."""

    template: str
    outputs: tuple[Operand, ...] = ()
    inputs: tuple[Operand, ...] = ()
    clobbers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Register:
    """A register the template declares; `variable` cannot be a name in the operands' expressions."""

    name: str
    type: str

    @property
    def variable(self) -> str:
        """The C++ variable that stands for it."""
        return "ptx_" + self.name.replace("$", "_")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: `opcode` without what a CPU need not know, `operands` as written, `guard` like `p` or `!p`."""

    text: str
    opcode: str
    operands: tuple[str, ...]
    guard: str = ""


def parse_asm(text: str) -> AsmStatement:
    """The statement in `text`, from `asm` to its closing parenthesis.

    Raises `UnreadableAsmError` when the template is no string literal (a macro builds it) or the parts do not fit.
    """
    code = significant(tokens(text))
    start = next((i for i, t in enumerate(code) if t.text == "("), None)
    if start is None or any(t.text not in ASM | _QUALIFIERS for t in code[:start]):
        raise UnreadableAsmError(text, "this is not an asm statement")
    end = match_bracket(code, start)
    if end is None:
        raise UnreadableAsmError(text, "the statement's parenthesis is not closed")
    sections = _sections(code[start + 1 : end])
    if not sections[0] or any(t.kind is not TokenKind.STRING for t in sections[0]):
        raise UnreadableAsmError(text, "the PTX is put together by a macro or is not a string literal")
    sections.extend([] for _ in range(4 - len(sections)))
    return AsmStatement(
        "".join(_unquoted(t.text) for t in sections[0]),
        tuple(_operands(text, sections[1])),
        tuple(_operands(text, sections[2])),
        tuple(_unquoted(t.text) for t in sections[3] if t.kind is TokenKind.STRING),
    )


def _sections(code: Sequence[Token]) -> list[list[Token]]:
    """The tokens between the colons outside brackets; `::` ends two sections."""
    sections: list[list[Token]] = [[]]
    depth = 0
    for token in code:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if depth == 0 and token.text in (":", "::"):
            sections.extend([] for _ in token.text)
        else:
            sections[-1].append(token)
    return sections


def _operands(text: str, section: Sequence[Token]) -> list[Operand]:
    """`[name] "constraint"(expression)`, separated by commas."""
    found: list[Operand] = []
    index = 0
    while index < len(section):
        token = section[index]
        if token.kind is TokenKind.STRING and index + 1 < len(section) and section[index + 1].text == "(":
            close = match_bracket(section, index + 1)
            if close is None:
                raise UnreadableAsmError(text, "an operand's parenthesis is not closed")
            expression = text[section[index + 1].end : section[close].start].replace("\\\n", " ")
            found.append(Operand(_unquoted(token.text), " ".join(expression.split())))
            index = close + 1
        elif token.text == ",":
            index += 1
        else:
            raise UnreadableAsmError(text, "the operands are put together by a macro or are named")
    return found


def _unquoted(literal: str) -> str:
    if literal.startswith("R"):
        return literal[literal.index("(") + 1 : literal.rindex(")")]
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), literal[literal.index('"') + 1 : -1])


def parse_template(template: str) -> tuple[list[Register], list[Instruction]]:
    """The registers a template declares and its instructions in order.

    Raises `UnreadableAsmError` at a label: jumps have no C++ form.
    """
    registers: list[Register] = []
    instructions: list[Instruction] = []
    for part in re.sub(r"//[^\n]*|/\*.*?\*/", " ", template, flags=re.DOTALL).split(";"):
        text = " ".join(part.split())
        text = re.sub(r"^[{}\s]+", "", text)
        if not text or text == "}":
            continue
        if re.match(r"[\w$]+\s*:(?!:)", text):
            raise UnreadableAsmError(text, "labels and jumps inside PTX have no C++ form")
        if text.startswith(".reg"):
            registers.extend(_registers(text))
        else:
            instructions.append(_instruction(text))
    return registers, instructions


def _registers(text: str) -> list[Register]:
    found = re.fullmatch(r"\.reg\s+\.(\w+)\s+(.*)", text)
    if found is None or found[1] not in _REGISTERS:
        raise UnreadableAsmError(text, "registers of this kind have no C++ type")
    names: list[str] = []
    for name in found[2].split(","):
        many = re.fullmatch(r"\s*([\w$%]+)<(\d+)>\s*", name)
        names += [f"{many[1]}{i}" for i in range(int(many[2]))] if many else [name.strip()]
    return [Register(name.lstrip("%"), _REGISTERS[found[1]]) for name in names]


def _instruction(text: str) -> Instruction:
    found = re.fullmatch(r"(?:@\s*(?P<guard>!?\s*%?%?\w+)\s+)?(?P<opcode>[A-Za-z][\w.:]*)(?P<rest>.*)", text)
    if found is None:
        raise UnreadableAsmError(text, "this is not a PTX instruction")
    opcode = found["opcode"].replace(".shared::cta", ".shared")
    while _IDLE.search(opcode):
        opcode = _IDLE.sub("", opcode)
    guard = (found["guard"] or "").replace(" ", "").replace("%", "")
    return Instruction(text, opcode, tuple(map(_alone, _split(found["rest"]))), guard)


def _alone(operand: str) -> str:
    """`%0` of `{%0}`, a vector of one."""
    vector = re.fullmatch(r"\{([^{},]*)\}", operand)
    return vector[1].strip() if vector else operand


def _split(text: str) -> list[str]:
    """Operands at the commas outside brackets and braces; a declared register loses its percent sign."""
    parts: list[str] = []
    depth = 0
    for piece in re.split(r"([{}\[\],])", text):
        depth += (piece in ("{", "[")) - (piece in ("}", "]"))
        if piece == "," and depth == 0:
            parts.append("")
        elif parts:
            parts[-1] += piece
        elif piece.strip():
            parts.append(piece)
    return [re.sub(r"(?<!%)%(?=[A-Za-z])", "", part.strip()) for part in parts if part.strip()]
