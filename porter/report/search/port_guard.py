"""Says of which calls a port was compared with its source: as conditions in Python, to stand before it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from porter.contract.model.contract import Contract, EntryKind, Role, ScalarArg, TensorArg, Tolerance, Values, Workload
from porter.contract.model.dtype import DType
from porter.contract.model.expressions import function_name, parsed
from porter.contract.model.syntax import Binary, Call, Choice, Name, Node, Number, Unary
from porter.contract.workload.materialise import retyped
from porter.contract.workload.workloads import is_innermost
from porter.errors import InputError

_SAME = {"&&": "and", "||": "or", "/": "//"}
_TAKEN = frozenset(("tensor", "tensors", "device", "torch", "os", "fits", "launched_on", "COMPARED"))  # by the guard
_FUNCTIONS = frozenset(("min", "max", "abs"))
_DRAWN = {
    Values.NORMAL: "randn", Values.POSITIVE: "positive", Values.PROBABILITY: "rand", Values.ZEROS: "zeros",
    Values.ONES: "ones",
}  # fmt: skip


@dataclass(frozen=True)
class Compared:
    """Says what a port was compared at: contracts of one entry that differ in types, and the workloads that passed."""

    contracts: tuple[Contract, ...]
    passed: frozenset[str]

    @property
    def contract(self) -> Contract:
        """Returns the contract whose arguments and sizes all have."""
        return self.contracts[0]

    @property
    def workloads(self) -> tuple[tuple[Contract, Workload], ...]:
        """Returns those of the contracts that were executed and right."""
        return tuple((c, w) for c in self.contracts for w in c.workloads if self._name(c, w.name) in self.passed)

    @property
    def dtypes(self) -> tuple[tuple[DType, ...], ...]:
        """Returns the types that the tensors had together, each once."""
        every = (tuple(t.dtype for t in retyped(c, w).tensors) for c, w in self.workloads)
        return tuple(dict.fromkeys(every))

    @property
    def sizes(self) -> tuple[Mapping[str, int], ...]:
        """Returns the sizes of the workloads, each once."""
        return tuple({tuple(sorted(w.sizes.items())): w.sizes for _, w in self.workloads}.values())

    @property
    def tolerance(self) -> Mapping[DType, Tolerance]:
        """Returns the tolerance of each type of all contracts."""
        return {dtype: one for contract in self.contracts for dtype, one in contract.tolerance.items()}

    def least(self, symbol: str) -> int:
        """Returns the smallest size that was tried; one row and one column are drawn by the judge."""
        drawn = "one column" if is_innermost(self.contract, symbol) else "one row"
        tried = [w.sizes[symbol] for _, w in self.workloads]
        return min([*tried, *(1 for c in self.contracts if self._name(c, drawn) in self.passed)])

    def numbers(self, scalar: ScalarArg) -> tuple[str, ...]:
        """Returns the values that a number had, in Python."""
        others = {repr(w.scalars[scalar.name]): None for _, w in self.workloads if scalar.name in w.scalars}
        return tuple(dict.fromkeys((in_python(parsed(scalar.value)), *others)))

    def _name(self, contract: Contract, workload: str) -> str:
        return f"{contract.name}/{workload}" if len(self.contracts) > 1 else workload


def compared(contracts: Sequence[Contract], passed: Collection[str]) -> Compared:
    """Returns what a port of these contracts was compared at.

    Raises `InputError` where it is not one function of tensors that are only read, or nothing small passed.
    """
    first = contracts[0]
    of = first.entry.name
    if any(c.entry.name != of for c in contracts):
        raise InputError("the port has several functions", "search with --entry")
    if first.entry.kind is not EntryKind.TORCH:
        raise InputError(f"{of} is called by pointers, and a function of a Python module by tensors")
    if any(tensor.role is not Role.IN for tensor in first.tensors):
        raise InputError(f"{of} changes its arguments, so it cannot be compared with the code that it replaces")
    if taken := {a.name for a in first.arguments} & _TAKEN | {t.name for t in first.tensors} & set(first.symbols):
        raise InputError(f"{of}: its arguments are named as the guard's own: {', '.join(sorted(taken))}")
    same = tuple(c for c in contracts if _alike(c, first))
    found = Compared(same, frozenset(passed))
    if not found.workloads:
        raise InputError(f"{of}: none of its contract's workloads was executed")
    return found


def _alike(one: Contract, other: Contract) -> bool:
    """Returns whether contracts differ in nothing but types."""
    shapes, others = ([(t.name, t.shape) for t in c.tensors] for c in (one, other))
    return shapes == others and (one.symbols, one.conditions) == (other.symbols, other.conditions)


def sizes_told(contract: Contract) -> dict[str, str]:
    """Returns how each size is told from the arguments, in Python. Raises `InputError` where one is not."""
    told: dict[str, str] = {}
    for text, place in (*_dimensions(contract), *_size_numbers(contract)):
        match parsed(text):
            case Name(symbol):
                told.setdefault(symbol, place)
            case Binary("*", Number(int(factor)), Name(symbol)) | Binary("*", Name(symbol), Number(int(factor))):
                told.setdefault(symbol, f"{place} // {factor}")
    if missing := [symbol for symbol in contract.symbols if symbol not in told]:
        raise InputError(f"{contract.entry.name}: {', '.join(missing)} cannot be told from its arguments")
    return told


def conditions(found: Compared) -> Iterator[str]:
    """Yields what sizes and numbers have to be, in Python over symbols and arguments."""
    contract = found.contract
    for symbol in contract.symbols:
        yield f"{symbol} >= {found.least(symbol)}"
    for tensor in contract.tensors:
        yield f"{tensor.name}.shape == {shape_in_python(tensor)}"
    yield from (in_python(parsed(condition)) for condition in contract.conditions)
    for argument in contract.arguments:
        if isinstance(argument, ScalarArg):
            values = " or ".join(f"{argument.name} == {value}" for value in found.numbers(argument))
            yield f"isinstance({argument.name}, (bool, int, float))"
            yield f"({values})"


def drawn(tensor: TensorArg) -> tuple[str, str]:
    """Returns how a test fills a tensor, and the bound below which it draws indices.

    Raises `InputError` for values that it has no words for.
    """
    if tensor.values is Values.INDEX:
        return "index", in_python(parsed(tensor.bound))
    if tensor.values not in _DRAWN or tensor.elements:
        raise InputError(f"{tensor.name}: a test of the repository cannot draw {tensor.values.value} values")
    return _DRAWN[tensor.values], ""


def shape_in_python(tensor: TensorArg) -> str:
    """Returns the shape of a tensor as a tuple in Python, over sizes."""
    axes = [in_python(parsed(text)) for text in tensor.shape]
    return f"({', '.join(axes)}{',' if len(axes) == 1 else ''})"


def in_python(node: Node) -> str:
    """Returns an expression of a contract in Python, where sizes are not negative. Raises `InputError` for others."""
    match node:
        case Number(literal):
            return repr(literal)
        case Name(name):
            return name
        case Unary("!", operand):
            return f"(not {in_python(operand)})"
        case Unary("-", operand):
            return f"(-{in_python(operand)})"
        case Binary(operator, left, right):
            return f"({in_python(left)} {_SAME.get(operator, operator)} {in_python(right)})"
        case Choice(condition, yes, no):
            return f"({in_python(yes)} if {in_python(condition)} else {in_python(no)})"
        case Call(Name(name), (left, right)) if function_name(name) == "cdiv":
            return f"(-(-{in_python(left)} // {in_python(right)}))"
        case Call(Name(name), arguments) if function_name(name) in _FUNCTIONS:
            return f"{function_name(name)}({', '.join(map(in_python, arguments))})"
    raise InputError("a condition of the contract cannot be said in Python", "state a simpler contract")


def _dimensions(contract: Contract) -> Iterator[tuple[str, str]]:
    for tensor in contract.tensors:
        yield from ((text, f"{tensor.name}.shape[{axis}]") for axis, text in enumerate(tensor.shape))


def _size_numbers(contract: Contract) -> Iterator[tuple[str, str]]:
    yield from ((a.value, a.name) for a in contract.arguments if isinstance(a, ScalarArg))
