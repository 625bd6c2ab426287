"""An operator of the tile IR as a Python module: its kernels, and a function with the arguments of its contract."""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import black

from porter import __version__
from porter.backend import PortedFile
from porter.contract.model.contract import Argument, Contract, TensorArg
from porter.contract.model.dtype import DType
from porter.ir.tensor.quantities import Quantity
from porter.ir.tile.expressions import Literal, Value, parts
from porter.ir.tile.program import (
    Await,
    Buffer,
    Host,
    Kernel,
    Launch,
    Let,
    Loop,
    Operator,
    Statement,
    Store,
    statements,
)
from porter.schedule.call_sizes import call_sizes
from porter.schedule.host_values import Names
from porter.schedule.polynomial import NotSchedulableError
from porter.source_text import Source
from porter_triton.layout import WIDTH
from porter_triton.module import module_name
from porter_triton.naming import function_of
from porter_triton.tiles.values import UnprintableError, helper_of, text, type_name

_ALIGNED = 16  # elements, 16 bytes of the shortest
_MODULES = ("tl", "torch", "triton", "libdevice", "math")
# Functions that the printed values call. A shifted load or store would lose the 16 bytes that are moved at once.
_HELPERS = {
    "divided": """\
@triton.jit
def divided(a, b):
    # Rounded as IEEE says, for what it is rounded to next: `/` is off by up to two roundings.
    return tl.div_rn(tl.cast(a, tl.float32), tl.cast(b, tl.float32))
""",
    "multiplied": """\
@triton.jit
def multiplied(a, b):
    return tl.cast(a, tl.float32) * tl.cast(b, tl.float32)
""",
    "rounded": """\
@triton.jit
def rounded(x):
    # To the nearest whole number, halves to the even one: what an addition leaves where its result has no fraction.
    even: tl.constexpr = 4503599627370496.0 if x.dtype == tl.float64 else 8388608.0
    magnitude = tl.abs(x)
    whole = tl.where(magnitude < even, (magnitude + even) - even, magnitude)
    return tl.where(x < 0, -whole, whole)
""",
    "bounded": """\
@triton.jit
def bounded(x, least: tl.constexpr, most: tl.constexpr):
    # As CUDA converts, where NaN is 0. Within bounds 32 bits do, and bounds of floats are what converts fastest.
    return tl.minimum(tl.maximum(tl.where(x == x, x, 0), least), most).to(tl.int32)
""",
    "truncated": """\
@triton.jit
def truncated(x):
    # As CUDA converts: NaN is 0, and what is too large the largest there is.
    near = tl.minimum(tl.maximum(tl.where(x == x, x, 0), -9.2e18), 9.2e18)
    return near.to(tl.int64)
""",
    "product_of_two": """\
@triton.jit
def product_of_two(a, b):
    return a * b
""",
    "previous_of": """\
@triton.jit
def previous_of(values, first: tl.constexpr):
    lanes = tl.arange(0, values.shape[0])
    return tl.where(lanes > 0, tl.gather(values, tl.maximum(lanes - 1, 0), 0), first)
""",
    "next_of": """\
@triton.jit
def next_of(values, last: tl.constexpr):
    final: tl.constexpr = values.shape[0] - 1
    lanes = tl.arange(0, values.shape[0])
    return tl.where(lanes < final, tl.gather(values, tl.minimum(lanes + 1, final), 0), last)
""",
}


def module(operators: Sequence[tuple[Operator, Contract]], source: Source) -> PortedFile:
    """Returns the module. Raises `NotSchedulableError` where no argument gives a size, or Triton lacks a word."""
    groups: dict[str, list[tuple[Operator, Contract]]] = {}
    for one, contract in operators:
        _refuse_reserved(contract.arguments)
        groups.setdefault(function_of(contract.entry), []).append((one, contract))
    kernels = _Kernels(Names(groups))
    try:
        launchers = [text_ for name, group in groups.items() for text_ in _launchers(name, group, kernels)]
    except UnprintableError as error:
        raise NotSchedulableError(str(error)) from error
    texts = [*kernels.texts.values(), *launchers]
    needed = {helper_of(value) for one, _ in operators for kernel in one.kernels for value in _values(kernel)}
    # A value within another may be part of that one's text.
    helpers = [told for name, told in _HELPERS.items() if name in needed and any(name in one for one in texts)]
    body = "\n\n".join([*helpers, *texts])
    imports = ["import math"] if "math." in body else []
    imports += ["import torch", "import triton", "import triton.language as tl"]
    if "libdevice." in body:
        imports.append("from triton.language.extra import libdevice")
    head = f'"""{source.path.name} in Triton, written from its formula and scheduled by porter {__version__}."""\n'
    told = black.format_str("\n".join([head, *imports, "\n", body]), mode=black.Mode(line_length=WIDTH))
    return PortedFile(module_name(source), told, source)


class _Kernels:
    """The texts of a module's kernels by name; equal kernels are one."""

    def __init__(self, names: Names) -> None:
        self.texts: dict[str, str] = {}
        self.names = names
        self._known: dict[tuple[Kernel, DType], str] = {}

    def named(self, operator: Operator) -> Operator:
        """Returns the operator with the names that its kernels have in the module."""
        own = {kernel.name: self._name(kernel, operator) for kernel in operator.kernels}
        return replace(
            operator,
            kernels=tuple(replace(kernel, name=own[kernel.name]) for kernel in operator.kernels),
            launches=tuple(replace(launch, kernel=own[launch.kernel]) for launch in operator.launches),
        )

    def _name(self, kernel: Kernel, operator: Operator) -> str:
        key = (replace(kernel, name=""), operator.precision)
        if key not in self._known:
            self._known[key] = name = self.names.fresh(kernel.name)
            self.texts[name] = _kernel(replace(kernel, name=name), operator)
        return self._known[key]


def _launchers(function: str, group: Sequence[tuple[Operator, Contract]], kernels: _Kernels) -> Iterator[str]:
    """Yields the function of an entry; of one that takes several element types one for each, and the one that chooses.

    Raises `NotSchedulableError` where no argument tells which.
    """
    if len(group) == 1:
        ((one, contract),) = group
        yield _launcher(kernels.named(one), contract, function)
        return
    tensors = zip(*(contract.tensors for _, contract in group), strict=True)
    telling = next((own for own in tensors if len({tensor.dtype for tensor in own}) == len(group)), None)
    if telling is None:
        raise NotSchedulableError(f"no argument of '{function}' tells its instances apart by its type")
    arguments = ", ".join(argument.name for argument in group[0][1].arguments)
    body = []
    for (one, contract), tensor in zip(group, telling, strict=True):
        own = kernels.names.fresh(f"{function}_{tensor.dtype.value}")
        yield _launcher(kernels.named(one), contract, own)
        body += [f"if {tensor.name}.dtype == torch.{tensor.dtype.value}:", f"    return {own}({arguments})"]
    name = telling[0].name
    body.append(f'raise TypeError(f"{name} must not be of {{{name}.dtype}}")')
    lines = "\n".join("    " + line for line in body)
    yield f"def {function}({arguments}):\n{lines}\n"


def _values(kernel: Kernel) -> Iterator[Value]:
    for statement in statements(kernel.body):
        if isinstance(statement, Let | Store):
            yield from parts(statement.value)


def _kernel(kernel: Kernel, operator: Operator) -> str:
    numbers = [f"{name}: {type_name(operator.precision)}" for name in kernel.numbers]
    blocks = [f"{name}: tl.constexpr" for name in (*map(_multiple, kernel.strides), *kernel.blocks)]
    parameters = [*(f"{name}_ptr" for name in kernel.tensors), *kernel.sizes, *numbers, *blocks]
    aligned = [f"    {name} = {name} // {_multiple(name)} * {_multiple(name)}" for name in kernel.strides]
    told = (
        ["    # The compiler is told of what strides are multiples, so that it moves 16 bytes at once."]
        if aligned
        else []
    )
    body = "\n".join([*told, *aligned, *_lines(kernel.body, "    ")])
    return f"@triton.jit\ndef {kernel.name}({', '.join(parameters)}):\n{body}\n"


def _multiple(stride: str) -> str:
    """Returns the constant of which a stride is a multiple.

    Triton finds by itself only whether a number is one of 16. Where it does not know that rows begin at 16 bytes, which
    those of 3,272 floats do, it moves elements one by one.
    """
    return f"{stride}_MULTIPLE"


def _lines(body: Sequence[Statement], indent: str) -> Iterator[str]:
    for statement in body:
        match statement:
            case Let(name, value):
                yield f"{indent}{name} = {text(value)}"
            case Store():
                yield indent + _stored(statement)
            case Await(pointer, count):
                place = text(pointer)
                yield f"{indent}tl.debug_barrier()  # all of the program's stores before it is counted"
                yield f'{indent}tl.atomic_add({place}, 1, sem="release")'
                yield f'{indent}while tl.atomic_add({place}, 0, sem="acquire") < {text(count)}:'
                yield f"{indent}    pass"
            case Loop():
                yield f"{indent}for {statement.name} in {_range(statement)}:"
                yield from _lines(statement.body, indent + "    ")


def _stored(store: Store) -> str:
    parts = [text(store.pointer), text(store.value)]
    if store.mask is not None:
        parts.append(f"mask={text(store.mask)}")
    if store.eviction:
        parts.append(f'eviction_policy="{store.eviction}"')
    return f"tl.store({', '.join(parts)})"


def _range(loop: Loop) -> str:
    bounds = ", ".join(map(text, (loop.start, loop.stop, loop.step)))
    bounds = bounds.removesuffix(", 1")
    if loop.is_unrolled:
        return f"tl.static_range({bounds})"
    return f"tl.range({bounds}, num_stages={loop.stages})" if loop.stages else f"range({bounds})"


def _launcher(operator: Operator, contract: Contract, function: str) -> str:
    arguments = contract.arguments
    made = {one.name for one in (*operator.buffers, *operator.results)}
    sizes = call_sizes(operator, arguments, lambda tensor, axis: f"{tensor}.shape[{axis}]", "//")
    lines = [*_checks(arguments, operator), *(f"{name} = {value}" for name, value in sizes)]
    lines += [f"{name} = {_host(size)}" for name, size in operator.sizes if name != size.text]
    for condition, because in operator.demands:
        test = f"({condition.text})" if {"and", "or"} & set(condition.text.split()) else condition.text
        lines += [f"if not {test}:", f'    raise ValueError("{because}")']
    first = next(argument.name for argument in arguments if isinstance(argument, TensorArg))
    apart = _of_one_case(operator)
    shared = [buffer for buffer in operator.buffers if buffer.name not in apart]
    lines += [_allocated(buffer, first) for buffer in (*operator.results, *shared)]
    lines += [f"{name} = {_number(number)}" for name, number in operator.numbers if _number(number) != name]
    for launch in operator.launches:
        own = [_allocated(buffer, first) for buffer in operator.buffers if apart.get(buffer.name) == launch.kernel]
        case = [*own, *_launched(launch, operator)]
        lines += case if launch.when is None else [f"if {launch.when.text}:", *("    " + line for line in case)]
    if operator.results:
        lines.append(f"return {', '.join(result.name for result in operator.results)}")
    assert made.isdisjoint(argument.name for argument in arguments)
    body = "\n".join("    " + line for line in [f"# {operator.schedule}", *lines])
    return f"def {function}({', '.join(argument.name for argument in arguments)}):\n{body}\n"


def _of_one_case(operator: Operator) -> dict[str, str]:
    """Returns the kernel of each buffer that a launch under a condition needs and no other."""
    users: dict[str, set[str]] = {}
    for kernel in operator.kernels:
        for tensor in kernel.tensors:
            users.setdefault(tensor, set()).add(kernel.name)
    limited = {launch.kernel for launch in operator.launches if launch.when is not None}
    return {tensor: next(iter(names)) for tensor, names in users.items() if len(names) == 1 and names <= limited}


def _checks(arguments: Sequence[Argument], operator: Operator) -> Iterator[str]:
    """Yields what makes inputs dense; types that the kernels are not for are refused."""
    used = {name for kernel in operator.kernels for name in kernel.tensors}
    tensors = [one for one in arguments if isinstance(one, TensorArg) and one.name in used]
    for dtype in dict.fromkeys(one.dtype for one in tensors):
        own = [one.name for one in tensors if one.dtype is dtype]
        tensor = own[0] if len(own) == 1 else "tensor"
        indent = "" if len(own) == 1 else "    "
        if indent:
            yield f"for tensor in ({', '.join(own)}):"
        yield f"{indent}if {tensor}.dtype != torch.{dtype.value}:"
        yield f'{indent}    raise TypeError(f"expected torch.{dtype.value} but found {{{tensor}.dtype}}")'
    stored = operator.stored_tensors
    for one in tensors:
        if one.name in stored:
            yield f"if not {one.name}.is_contiguous():"
            yield f'    raise ValueError("{one.name} must be contiguous")'
        else:
            yield f"{one.name} = {one.name}.contiguous()"


def _refuse_reserved(arguments: Sequence[Argument]) -> None:
    """Raises where an argument is called like a word of Python: kernels and launchers have it by that name."""
    for argument in arguments:
        if keyword.iskeyword(argument.name) or argument.name in _MODULES:
            raise NotSchedulableError(f"'{argument.name}' means something else in Python")


def _host(size: Host) -> str:
    return size.text.replace("cdiv(", "triton.cdiv(").replace("pow2ceil(", "triton.next_power_of_2(")


def _number(number: Quantity) -> str:
    """Returns a number as Python computes it."""
    above = [f"{name} ** {power}" if power > 1 else name for name, power in number.powers if power > 0]
    below = [f"{name} ** {-power}" if power < -1 else name for name, power in number.powers if power < 0]
    factor = Fraction(number.factor)
    if abs(factor) != 1 or not above:
        above.insert(0, text(Literal(abs(factor))))
    told = ("-" if factor < 0 else "") + " * ".join(above)
    if below:
        told += f" / ({' * '.join(below)})" if len(below) > 1 else f" / {below[0]}"
    if number.offset:
        offset = text(Literal(abs(number.offset)))
        told = f"{offset} + {told}" if number.offset > 0 else f"{told} - {offset}"
    return f'1 / ({told}) if {told} else float("inf")' if number.inverse else told  # as floats divide by 0


def _allocated(buffer: Buffer, first: str) -> str:
    shape = ", ".join(_host(extent) for extent in buffer.extents)
    trailing = "," if len(buffer.extents) == 1 else ""
    make = "zeros" if buffer.is_zeroed else "empty"
    return f"{buffer.name} = torch.{make}(({shape}{trailing}), dtype=torch.{buffer.dtype.value}, device={first}.device)"


def _launched(launch: Launch, operator: Operator) -> Iterator[str]:
    kernel = next(kernel for kernel in operator.kernels if kernel.name == launch.kernel)
    blocks = [f"{name}={_host(value)}" for name, value in launch.blocks if name in kernel.blocks]
    own = {name for name, _ in launch.blocks}
    multiples = [f"{_multiple(name)}=math.gcd({name}, {_ALIGNED})" for name in kernel.strides]
    blocks = [*multiples, *(f"{name}={name}" for name in kernel.blocks if name not in own), *blocks]
    passed = [*kernel.tensors, *kernel.sizes, *kernel.numbers, *blocks, f"num_warps={_host(launch.warps)}"]
    grid = ", ".join(_host(one) for one in launch.grid)
    yield f"{kernel.name}[({grid},)]({', '.join(passed)})"  # Triton launches nothing on an empty grid
