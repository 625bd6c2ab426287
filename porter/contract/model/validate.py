"""Checks that a contract holds together: every name it uses is a symbol, every workload satisfies its conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from porter.contract.model.contract import Contract, EntryKind, Role, ScalarArg, TensorArg, Values, Workload
from porter.contract.model.dtype import DType
from porter.contract.model.expressions import evaluate, holds, names_in, number
from porter.contract.model.syntax import ExpressionError
from porter.errors import ContractError

MAX_ELEMENTS = 1 << 26


class InvalidContractError(ContractError):
    """The contract contradicts itself; `path` leads to the field: `("argument", 2, "shape")`."""

    def __init__(self, message: str, hint: str, path: tuple[str | int, ...]) -> None:
        super().__init__(message, hint)
        self.path = path


def check(contract: Contract) -> None:
    """Raises `InvalidContractError` at the first thing that cannot be."""
    _check_entry(contract)
    _check_names(contract)
    symbols = frozenset(contract.symbols)
    for path, text in expressions(contract):
        try:
            unknown = sorted(names_in(text) - symbols)
        except ExpressionError as error:
            raise InvalidContractError(error.message, "write it as in C, over the symbols", path) from error
        if unknown:
            hint = f"add it to symbols, or use one of {', '.join(contract.symbols) or 'none'}"
            raise InvalidContractError(f"'{unknown[0]}' in '{text}' is not a symbol", hint, path)
    for index, workload in enumerate(contract.workloads):
        _check_workload(contract, workload, index)


def expressions(contract: Contract) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yields every expression of the contract with the path of its field."""
    for index, argument in enumerate(contract.arguments):
        if isinstance(argument, ScalarArg):
            yield ("argument", index, "value"), argument.value
            continue
        for extent in argument.shape:
            yield ("argument", index, "shape"), extent
        for part in argument.parts:
            if part.bound:
                yield ("argument", index, "bound"), part.bound
        if argument.used:
            yield ("argument", index, "used"), argument.used
        for element in argument.elements:
            yield ("argument", index, "elements"), element
    for condition in contract.conditions:
        yield ("conditions",), condition
    for branch in contract.branches:
        yield ("branches",), branch
    for share in contract.shares:
        yield ("shares",), share
    if contract.entry.launch is not None:
        launch = contract.entry.launch
        for text in (*launch.grid, *launch.block, launch.shared_bytes):
            yield ("entry", "launch"), text


def _check_entry(contract: Contract) -> None:
    kind, launch = contract.entry.kind, contract.entry.launch
    if (kind is EntryKind.KERNEL) != (launch is not None):
        verb = "needs" if launch is None else "has no"
        raise InvalidContractError(f"a {kind.value} entry {verb} launch", "see entry.kind", ("entry", "launch"))
    if kind is EntryKind.PROGRAM and contract.tensors:
        place = contract.arguments.index(contract.tensors[0])
        raise InvalidContractError("a program takes only numbers", "remove the tensors", ("argument", place))


def _check_names(contract: Contract) -> None:
    seen: set[str] = set()
    for index, argument in enumerate(contract.arguments):
        if argument.name in seen:
            raise InvalidContractError(f"two arguments are called '{argument.name}'", "rename one", ("argument", index))
        seen.add(argument.name)
        for part in argument.parts if isinstance(argument, TensorArg) else ():
            if part.values in (Values.INDEX, Values.SORTED) and not part.bound:
                hint = 'say what they index: bound = "n"'
                raise InvalidContractError(f"the values of '{part.name}' need a bound", hint, ("argument", index))
        if isinstance(argument, TensorArg) and argument.fields:
            _check_fields(argument, index)
        if isinstance(argument, TensorArg) and argument.elements and argument.shape != (str(len(argument.elements)),):
            hint = f'write shape = ["{len(argument.elements)}"]'
            raise InvalidContractError(f"'{argument.name}' is not as long as its elements", hint, ("argument", index))
        if isinstance(argument, TensorArg) and argument.group < 1:
            hint = "name how many elements each struct or vector has, or leave it out"
            raise InvalidContractError(
                f"'{argument.name}' comes in groups of {argument.group}", hint, ("argument", index)
            )
    for dtype in contract.tolerance:
        if not dtype.is_float:
            path = ("tolerance", dtype.value)
            raise InvalidContractError(f"{dtype.value} compares exactly", "remove its tolerance", path)


def _check_fields(tensor: TensorArg, index: int) -> None:
    """Raises where the fields of structs do not lie in them one beside the other."""
    if tensor.dtype is not DType.UINT8 or len(tensor.shape) != 1:
        hint = f'write dtype = "uint8" and shape = ["{tensor.group} * n"]'
        raise InvalidContractError(
            f"the structs of '{tensor.name}' are not counted in bytes", hint, ("argument", index)
        )
    end, seen = 0, set[str]()
    for field in sorted(tensor.fields, key=lambda field: field.at):
        if field.at < end or field.at + field.dtype.bytes > tensor.group or field.name in seen:
            hint = f"each field has a name and bytes of its own among the {tensor.group} of a group"
            raise InvalidContractError(
                f"'{tensor.name}' cannot have the field '{field.name}'", hint, ("argument", index)
            )
        end = field.at + field.dtype.bytes
        seen.add(field.name)


def _check_workload(contract: Contract, workload: Workload, index: int) -> None:
    path: tuple[str | int, ...] = ("workload", index)
    scalars = [a.name for a in contract.arguments if isinstance(a, ScalarArg)]
    optional = [t.name for t in contract.tensors if t.optional]
    for name, value in workload.scalars.items():
        if name not in (*scalars, *optional):
            hint = f"name one of {', '.join((*scalars, *optional)) or 'none'}"
            raise InvalidContractError(f"'{name}' is neither a scalar argument nor an optional tensor", hint, path)
        if name in optional and value:
            raise InvalidContractError(
                f"'{name}' is a tensor: its only other value is 0, a null pointer", f"{name} = 0", path
            )
    tensors = [t.name for t in contract.tensors]
    for name in workload.dtypes:
        if name not in tensors:
            raise InvalidContractError(f"'{name}' is not a tensor", f"name one of {', '.join(tensors) or 'none'}", path)
    views = [
        t.name for t in contract.tensors if t.role is Role.IN and t.shape and contract.entry.kind is EntryKind.TORCH
    ]
    for name in workload.layouts:
        if name not in views:
            message = f"'{name}' is not a tensor that a function on tensors reads, and has no layout"
            raise InvalidContractError(message, f"name one of {', '.join(views) or 'none'}", path)
    missing = [s for s in contract.symbols if s not in workload.sizes]
    if missing:
        hint = f"add {missing[0]} = ... to its sizes"
        raise InvalidContractError(f"workload '{workload.name}' gives no size to '{missing[0]}'", hint, path)
    for condition in contract.conditions:
        if not _value(condition, workload.sizes, path):
            sizes = ", ".join(f"{k} = {v}" for k, v in workload.sizes.items())
            message = f"workload '{workload.name}' breaks the condition '{condition}' with {sizes}"
            raise InvalidContractError(message, "change its sizes or the condition", path)
    for tensor in contract.tensors:
        extents = [_value(extent, workload.sizes, path) for extent in tensor.shape]
        too_large = _product(extents) > MAX_ELEMENTS and not workload.device_only
        if too_large or any(e < 0 or e != int(e) for e in extents):
            text = ", ".join(f"{e:g}" for e in extents)
            message = f"'{tensor.name}' would have the shape ({text}) in workload '{workload.name}'"
            hint = f"keep extents between 0 and {MAX_ELEMENTS} elements; larger ones are for device_only = true"
            raise InvalidContractError(message, hint, path)


def _value(text: str, sizes: Mapping[str, int], path: tuple[str | int, ...]) -> int | float:
    try:
        return number(text, sizes)
    except ExpressionError as error:
        raise InvalidContractError(
            f"'{text}' has no value: {error.message}", "check the sizes it is evaluated at", path
        ) from error


def _product(extents: list[int | float]) -> float:
    result = 1.0
    for extent in extents:
        result *= extent
    return result


def _can_be_filled(tensor: TensorArg, sizes: Mapping[str, int]) -> bool:
    extents = [evaluate(extent, sizes) for extent in tensor.shape]
    bounds = [part.bound for part in tensor.parts if part.values in (Values.INDEX, Values.SORTED) and part.bound]
    is_bounded = 0 in extents or all(evaluate(bound, sizes) >= 1 for bound in bounds)
    return min(extents, default=0) >= 0 and is_bounded


def satisfies(contract: Contract, sizes: Mapping[str, int]) -> bool:
    """Returns whether `sizes` meet every condition, no extent is negative, and bounds of indices have a value."""
    try:
        return all(holds(c, sizes) for c in contract.conditions) and all(
            _can_be_filled(tensor, sizes) for tensor in contract.tensors
        )
    except ExpressionError:
        return False
