"""The table `grammars/ptx.toml`: what each PTX instruction is in C++."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from porter.resources import resource

_TYPES = {
    "f32": "float", "f64": "double", "u8": "unsigned char", "b8": "unsigned char", "s8": "signed char",
    "u16": "unsigned short", "b16": "unsigned short", "f16": "unsigned short", "bf16": "unsigned short", "s16": "short",
    "u32": "unsigned int", "b32": "unsigned int", "s32": "int", "u64": "unsigned long long",
    "b64": "unsigned long long", "s64": "long long", "f16x2": "unsigned int", "bf16x2": "unsigned int",
}  # fmt: skip
_VECTORS = {
    "float": "float", "double": "double", "unsigned char": "uchar", "signed char": "char", "unsigned short": "ushort",
    "short": "short", "unsigned int": "uint", "int": "int", "unsigned long long": "ulonglong", "long long": "longlong",
}  # fmt: skip
_ATOMICS = {
    "add": "atomicAdd", "min": "atomicMin", "max": "atomicMax", "and": "atomicAnd", "or": "atomicOr",
    "xor": "atomicXor", "inc": "atomicInc", "dec": "atomicDec", "exch": "atomicExch", "cas": "atomicCAS",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One form of an instruction. `columns` has the C++ of each column that has one; `why` says why another has not."""

    opcode: re.Pattern[str]
    shape: str
    kinds: str
    view: str
    columns: dict[str, str]
    why: str

    def words(self, opcode: str) -> dict[str, str]:
        """`T`: the C++ type of the opcode's last type; `V`: its vector of a `.v2` or `.v4`; `F`: an atomic function."""
        names = [part for part in opcode.split(".") if part in _TYPES]
        scalar = _TYPES[names[-1]] if names else ""
        count = next((part[1] for part in opcode.split(".") if part in ("v2", "v4")), "")
        atomic = next((_ATOMICS[part] for part in opcode.split(".") if part in _ATOMICS), "")
        return {"T": scalar, "V": f"{_VECTORS.get(scalar, '')}{count}", "F": atomic}


@dataclass(frozen=True, slots=True)
class Table:
    """Rows in the order of the file: the first that fits holds. `special` are the registers `%laneid` and so on."""

    rows: tuple[Row, ...]
    special: dict[str, dict[str, str]]

    def find(self, opcode: str, shape: str, kinds: str) -> Row | None:
        """The row for `opcode` with operands of `shape` and constraint letters `kinds`."""
        for row in self.rows:
            fits = row.shape in (shape, "*") and re.match(row.kinds, kinds) is not None
            if fits and row.opcode.fullmatch(opcode):
                return row
        return None


def shape_of(operands: Sequence[str]) -> str:
    """`["{%0, %1}", "[%2+8]"]` has the shape `{?,?},[?]`."""
    return ",".join(re.sub(r"[^{}\[\],|!]+", "?", operand.replace(" ", "")) for operand in operands)


@cache
def load_table() -> Table:
    """The table of `grammars/ptx.toml`."""
    data = tomllib.loads((resource("grammars") / "ptx.toml").read_text())
    return Table(tuple(_row(row) for row in data["instruction"]), data["special"])


def _row(row: dict[str, str]) -> Row:
    opcode, _, operands = row["form"].partition(" ")
    columns = {column: row.get(column, row.get("code")) for column in ("simt", "maca")}
    return Row(
        re.compile(opcode.replace(".", r"\.").replace(r"\.*", ".*")),
        operands if operands == "*" else re.sub(r"\$\d", "?", operands.replace(" ", "")),
        row.get("kinds", ""),
        row.get("view", ""),
        {column: code for column, code in columns.items() if code is not None},
        row.get("why", "it has no counterpart"),
    )
