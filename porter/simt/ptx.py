"""Inline PTX: reads an `asm` statement and writes the C++ that does the same.

`grammars/ptx.toml` says what each instruction becomes, in a column for the executor (`simt`) and one for MACA (`maca`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from porter.simt.ptx_table import Row, Table, load_table, shape_of
from porter.simt.ptx_text import (
    AsmStatement,
    Instruction,
    Operand,
    Register,
    UnreadableAsmError,
    parse_asm,
    parse_template,
)

__all__ = ["AsmStatement", "Column", "Unsupported", "lower", "parse_asm"]

Column = Literal["simt", "maca"]

_PLACE = re.compile(r"\$(\d|[TVF])")
_OFFSET = re.compile(r"(?P<base>[^+]+)\+\s*(?P<offset>-?\w+)$")
_SIZES = {"unsigned short": "h", "unsigned int": "r", "unsigned long long": "l", "float": "f", "double": "d"}
_WORDS = {
    "__half": "unsigned short",
    "__half2": "unsigned int",
    "__nv_bfloat162": "unsigned int",
    "float2": "unsigned long long",
}


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A statement that has no C++ form in a column, and the reason."""

    instruction: str
    reason: str


class _RefusedError(Exception):
    """Carries an `Unsupported` out of the middle of a statement."""

    def __init__(self, instruction: str, reason: str) -> None:
        super().__init__(reason)
        self.unsupported = Unsupported(instruction, reason)


def lower(statement: AsmStatement, column: Column) -> str | Unsupported:
    """C++ for `statement` without the final semicolon: one statement, safe after `if (...)`."""
    try:
        registers, instructions = parse_template(statement.template)
        lines = [*_ties(statement), *(f"{r.type} {r.variable}{{}};" for r in registers)]
        names = {r.name: r for r in registers}
        table = load_table()
        lines += [_Lowering(statement, names, table, column).instruction(i) for i in instructions]
    except UnreadableAsmError as unread:
        return Unsupported(unread.instruction, unread.reason)
    except _RefusedError as refused:
        return refused.unsupported
    return f"do {{ {' '.join(lines)} }} while (0)" if lines else "((void)0)"


def _ties(statement: AsmStatement) -> Iterator[str]:
    """An input constrained by an output's number begins in that output."""
    for operand in statement.inputs:
        if operand.constraint.isdigit():
            yield f"{statement.outputs[int(operand.constraint)].expression} = {operand.expression};"


@dataclass(frozen=True, slots=True)
class _Lowering:
    statement: AsmStatement
    registers: dict[str, Register]
    table: Table
    column: Column

    def instruction(self, instruction: Instruction) -> str:
        row = self._row(instruction)
        code = row.columns.get(self.column)
        if code is None:
            raise _RefusedError(instruction.text, row.why)
        line = self._view(row, code, instruction) if row.view else self._plain(row, code, instruction)
        if not instruction.guard:
            return line
        negated = "!" if instruction.guard.startswith("!") else ""
        return f"if ({negated}{self._value(instruction.guard.lstrip('!'))}) {{ {line} }}"

    def _row(self, instruction: Instruction) -> Row:
        shape, kinds = shape_of(instruction.operands), "".join(self._kind(a) for a in _atoms(instruction))
        row = self.table.find(instruction.opcode, shape, kinds)
        if row is None:
            raise _RefusedError(
                instruction.text, f"no C++ form is known for `{instruction.opcode}` with these operands"
            )
        return row

    def _plain(self, row: Row, code: str, instruction: Instruction) -> str:
        atoms = _atoms(instruction)
        addressed = _addressed(instruction)
        words = row.words(instruction.opcode)

        def place(found: re.Match[str]) -> str:
            key = found[1]
            if not key.isdigit():
                return words[key]
            index = int(key)
            return self._address(index, atoms[index], instruction) if index in addressed else self._value(atoms[index])

        return _PLACE.sub(place, code) + ";"

    def _view(self, row: Row, code: str, instruction: Instruction) -> str:
        """`code` is a value of type `row.view`, computed from operands that hold the bits of such values."""
        word = _WORDS[row.view]
        target, *sources = _atoms(instruction)
        copies = [f"const {word} ptx_{i} = {self._value(atom)};" for i, atom in enumerate(sources, 1)]
        value = re.sub(r"\$(\d)", rf"reinterpret_cast<const {row.view}&>(ptx_\1)", code)
        store = f"const {row.view} ptx_0 = {value}; {self._value(target)} = reinterpret_cast<const {word}&>(ptx_0);"
        return f"{{ {' '.join(copies)} {store} }}"

    def _kind(self, atom: str) -> str:
        """The constraint letter of an operand, of a register by its type, or `n` for a number."""
        if atom in self.registers:
            return "p" if self.registers[atom].type == "bool" else _SIZES.get(self.registers[atom].type, "r")
        operand = self._operand(atom)
        return operand.constraint.lstrip("=+&")[:1] if operand else "n"

    def _operand(self, atom: str) -> Operand | None:
        if not re.fullmatch(r"%\d+", atom):
            return None
        operands = (*self.statement.outputs, *self.statement.inputs)
        index = int(atom[1:])
        if index >= len(operands):
            raise _RefusedError(atom, "the statement has no such operand")
        return operands[index]

    def _value(self, atom: str) -> str:
        if atom in self.registers:
            return self.registers[atom].variable
        if atom.startswith("%%") or atom in self.table.special:
            return self._special(atom.lstrip("%"))
        if operand := self._operand(atom):
            return f"({operand.expression})"
        if number := re.fullmatch(r"0[fF]([0-9a-fA-F]{8})", atom):
            return f"__uint_as_float(0x{number[1]}u)"
        if number := re.fullmatch(r"0[dD]([0-9a-fA-F]{16})", atom):
            return f"__longlong_as_double(0x{number[1]}ll)"
        if re.fullmatch(r"-?[\d.][\w.]*", atom):
            return atom
        raise _RefusedError(atom, f"`{atom}` is not an operand, register or number")

    def _special(self, name: str) -> str:
        columns = self.table.special.get(name)
        if columns is None or self.column not in columns:
            raise _RefusedError(f"%{name}", f"the special register %{name} has no counterpart")
        return columns[self.column]

    def _address(self, index: int, atom: str, instruction: Instruction) -> str:
        """A pointer to char; an address in shared memory is a 32-bit number that only the executor can take back."""
        split = _OFFSET.fullmatch(atom)
        base, offset = (split["base"].strip(), split["offset"]) if split else (atom, "")
        value = self._value(base)
        copies = instruction.opcode.startswith("cp.")  # from global memory, its second address
        shared = ".shared" in instruction.opcode and not (copies and index > 0)
        if shared and self.column == "maca":
            raise _RefusedError(
                instruction.text, "an address in shared memory has no 32-bit form on MACA; use the pointer"
            )
        pointer = f"porter::ptx::shared_address({value})" if shared else f"((char*){value})"
        return f"({pointer} + {offset})" if offset else pointer


def _atoms(instruction: Instruction) -> list[str]:
    """The operands one by one, out of their braces, brackets and bars."""
    return [piece for operand in instruction.operands for piece in _pieces(operand)]


def _addressed(instruction: Instruction) -> set[int]:
    """The indices of the atoms that stand in brackets."""
    flags = [operand.startswith("[") for operand in instruction.operands for _ in _pieces(operand)]
    return {index for index, inside in enumerate(flags) if inside}


def _pieces(operand: str) -> list[str]:
    return [piece.strip() for piece in re.split(r"[{}\[\],|]", operand.lstrip("!")) if piece.strip()]
