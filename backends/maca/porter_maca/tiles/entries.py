"""Declares the function that a port needs for an entry of the source, in MACA's names."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from porter.contract.model.contract import Argument, Contract, EntryKind, TensorArg
from porter.contract.model.dtype import DType
from porter.source.program import Function, Program
from porter_maca.api import Renamed, api_table
from porter_maca.tiles.types import UnprintableError, type_name

_OF_TORCH = {DType.FLOAT16: "at::Half", DType.BFLOAT16: "at::BFloat16"}
_OF_MACA = {DType.FLOAT16: "__half", DType.BFLOAT16: "__maca_bfloat16"}
_STREAM = "mcStream_t"


GENERIC = "T"  # the element type for which a function is instantiated


@dataclass(frozen=True, slots=True)
class ElementType:
    """The type of a tensor's elements, and how the port's text calls it."""

    dtype: DType
    name: str

    @property
    def is_generic(self) -> bool:
        """Returns whether it is the type for which a function is instantiated."""
        return self.name == GENERIC


@dataclass(frozen=True, slots=True)
class Entry:
    """A function of host code: its results, and its parameters, with the contract's names.

    `scope` are the namespaces in which it stands. An instance of a template has its arguments in `instance`, such as
    `<float>`, and `declared` is how the template itself is declared.
    """

    name: str
    returns: str
    parameters: tuple[tuple[str, str], ...]  # type and name
    arguments: tuple[Argument, ...]
    is_torch: bool
    is_extern_c: bool
    scope: tuple[str, ...] = ()
    instance: str = ""
    declared: str = ""

    @property
    def head(self) -> str:
        """Returns how the function itself begins, without its brace."""
        before = 'extern "C" ' if self.is_extern_c else "template <>\n" if self.instance else ""
        return before + self.head_of(self.name + self.instance)

    def head_of(self, name: str) -> str:
        """Returns how a function `name` with the same parameters begins."""
        return f"{self.returns} {name}({', '.join(f'{kind} {name}' for kind, name in self.parameters)})"

    def in_scope(self, text: str) -> str:
        """Returns `text` within the namespaces of the function."""
        for name in reversed(self.scope):
            text = f"namespace {name} {{\n\n{text}\n}}  // namespace {name}\n"
        return text

    @property
    def stream(self) -> str:
        """Returns the stream that the caller gives, or the default one."""
        return next((name for kind, name in self.parameters if kind == _STREAM), "0")

    def is_owned(self, tensor: str) -> bool:
        """Returns whether a tensor is a copy of the caller's, which may be given another value."""
        return any(name == tensor and "&" not in kind and "const" not in kind for kind, name in self.parameters)

    def element(self, dtype: DType) -> str:
        """Returns the type of a tensor's elements."""
        return (_OF_TORCH if self.is_torch else _OF_MACA).get(dtype) or type_name(dtype)


def entry_of(contract: Contract, program: Program, results: int) -> Entry:
    """Returns the entry of a contract, which has that many `results`.

    It is the source's entry, or one of its own where the source is not CUDA. Raises `UnprintableError` for one with
    arguments that no port of a formula can take.
    """
    if is_foreign(program):
        return _own_entry(contract, results)
    name, kind, given = contract.entry.name, contract.entry.kind, contract.entry.template
    found = [one for one in program.host_functions if name in (one.name, one.qualified)]
    if len(found) != 1:
        raise UnprintableError(f"{name} is {'overloaded' if found else 'made by a macro or in a header'}")
    (function,) = found
    if len(function.template) != len(given):
        raise UnprintableError(f"{name} is a template of which the contract gives {len(given)} arguments")
    if len(function.params) != len(contract.arguments):
        raise UnprintableError(f"{name} has other parameters than its contract")
    optional = next((one.name for one in contract.tensors if one.optional or one.elements), None)
    if optional is not None:
        raise UnprintableError(f"{optional} of {name} may be missing or is read by host code")
    is_torch = kind is EntryKind.TORCH
    if not is_torch:
        _refuse_untyped(function, contract)
    types = {one.name: text for one, text in zip(function.template, given, strict=True)}
    return Entry(
        function.name,
        _maca(_instantiated(function.returns.text, types)),
        tuple(
            (_maca(_instantiated(param.type.text, types)), argument.name)
            for param, argument in zip(function.params, contract.arguments, strict=True)
        ),
        contract.arguments,
        is_torch,
        function.extern_c,
        function.scope,
        f"<{', '.join(map(_maca, given))}>" if given else "",
        _declared(function) if given else "",
    )


def is_foreign(program: Program) -> bool:
    """Returns whether a source has no C++ at all, as the place of a PyTorch module has."""
    return not program.source.text


def _own_entry(contract: Contract, results: int) -> Entry:
    """Returns a function on tensors with the arguments of the contract."""
    returns = "torch::Tensor" if results == 1 else "std::vector<torch::Tensor>"
    types = ("torch::Tensor" if isinstance(one, TensorArg) else one.type for one in contract.arguments)
    parameters = tuple((kind, one.name) for kind, one in zip(types, contract.arguments, strict=True))
    return Entry(contract.entry.name, returns, parameters, contract.arguments, is_torch=True, is_extern_c=False)


def _instantiated(text: str, arguments: Mapping[str, str]) -> str:
    """Returns a type with what the parameters of its template are."""
    return re.sub(r"[A-Za-z_]\w*", lambda word: arguments.get(word[0], word[0]), text)


def _declared(function: Function) -> str:
    parameters = ", ".join(f"{one.kind} {one.name}" for one in function.template)
    listed = ", ".join(f"{_maca(one.type.text)} {one.name}" for one in function.params)
    return f"template <{parameters}>\n{_maca(function.returns.text)} {function.name}({listed});\n"


def _refuse_untyped(function: Function, contract: Contract) -> None:
    for param, argument in zip(function.params, contract.arguments, strict=True):
        if isinstance(argument, TensorArg) and param.type.base in ("void", "char"):
            raise UnprintableError(f"{argument.name} is a pointer to nothing in particular")


def _maca(text: str) -> str:
    """Returns a type in MACA's names."""
    table = api_table()

    def renamed(word: re.Match[str]) -> str:
        row = table.look_up(word[0])
        return row.maca if isinstance(row, Renamed) and row.maca else word[0]

    return re.sub(r"[A-Za-z_]\w*", renamed, text)


def element_types(
    entry: Entry, made: Mapping[str, DType], contract: Contract, generic: Collection[str] = ()
) -> dict[str, ElementType]:
    """Returns the types of the elements of all tensors: arguments, and those that host code makes."""
    dtypes = {**{one.name: one.dtype for one in contract.tensors}, **made}
    return {
        name: ElementType(dtype, GENERIC if name in generic else entry.element(dtype)) for name, dtype in dtypes.items()
    }
