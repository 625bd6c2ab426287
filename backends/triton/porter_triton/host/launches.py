"""Launches: which instance of the kernel, on what grid and block, with which arguments."""

from __future__ import annotations

from dataclasses import replace

from porter.syntax.nodes import Assign, Launch, Update
from porter.syntax.unit import FunctionTree
from porter.syntax.walk import walk
from porter_triton.host import constants, expressions, held_kernels, known, overloads
from porter_triton.host.block_sizes import Extents
from porter_triton.host.codes import ATOM, Code, Kind, integer
from porter_triton.host.instances import instance
from porter_triton.host.scope import Context, KernelName
from porter_triton.kernel_records import Dimension, LaunchInfo, LoweredKernel
from porter_triton.launching import Given, LaunchText, call, number
from porter_triton.refusal import Refusal

_ONE_AXIS = ("BLOCK_SIZE", "BLOCK_Y", "BLOCK_Z")
_AXES = ("BLOCK_X", "BLOCK_Y", "BLOCK_Z")


def launch(cx: Context, node: Launch) -> None:
    """Emit the launch."""
    held = cx.find(node.kernel.name)
    if isinstance(held, Code):
        held_kernels.launch_each(cx, node, held, launch)
        return
    if isinstance(held, KernelName):
        node = replace(node, kernel=held.node)
    arguments = tuple(expressions.expression(cx, a) for a in node.arguments)
    tree = _meant(cx, node, arguments)
    arguments = _completed(cx, tree, arguments)
    template = instance(cx, tree, node.kernel.template, arguments, node.line)
    tree = cx.kernels.specialised(tree, template)
    if any(isinstance(n, Update | Assign) for n in walk((node.grid, node.block))):
        raise Refusal(node.line, "extents of a launch that change a variable: change it before or behind the launch")
    grid = extents(expressions.expression(cx, node.grid))
    sizes = cx.block_sizes.extents(node.block)
    block = _evaluated(cx, extents(expressions.expression(cx, node.block)), sizes)
    shared = expressions.expression(cx, node.shared_bytes) if node.shared_bytes is not None else integer(0)
    info = LaunchInfo(_dimensions(block, sizes), template, _whole(shared), same=_same(tree, arguments))
    lowered = cx.kernels.lowered(tree, info)
    text = LaunchText(
        arguments={**_constants(cx, lowered, node.line), **_passed(tree, arguments, node.line)},
        grid=_three(grid),
        block=_three(block),
        shared_bytes=_given(shared),
        device=_device(cx, arguments),
        nullable=frozenset(p.name for p, a in zip(tree.parameters, arguments, strict=False) if a.nullable),
    )
    try:
        cx.emit(call(lowered, text))
    except Refusal as refusal:
        raise Refusal(refusal.line or node.line, refusal.reason, refusal.file) from None


def _completed(cx: Context, tree: FunctionTree, arguments: tuple[Code, ...]) -> tuple[Code, ...]:
    """Returns `arguments`, and behind them the defaults of the parameters that they leave out."""
    defaults = [p.default for p in tree.parameters[len(arguments) :] if p.default is not None]
    with cx.apart():
        return (*arguments, *(expressions.expression(cx, value) for value in defaults))


def _constants(cx: Context, kernel: LoweredKernel, line: int) -> dict[str, Given]:
    """Returns the tensors for the `__constant__` variables of the kernel."""
    return {name: Given(text) for name, text in constants.given(cx, kernel, line).items()}


def _given(code: Code) -> Given:
    """Returns a number as it is where that is known, else as it is written."""
    return number(int(code.constant)) if code.constant is not None else Given(code.text, code.binds == ATOM)


def _passed(tree: FunctionTree, arguments: tuple[Code, ...], line: int) -> dict[str, Given]:
    """Returns the arguments by the names of the kernel's parameters."""
    if len(arguments) > len(tree.parameters):
        raise Refusal(line, f"'{tree.head.name}' does not take {len(arguments)} arguments")
    return _texts({p.name: a for p, a in zip(tree.parameters, arguments, strict=False)})


def _same(tree: FunctionTree, arguments: tuple[Code, ...]) -> tuple[tuple[str, str], ...]:
    """Returns each parameter that is given the memory of an earlier one, and the first that is."""
    first: dict[str, str] = {}
    pointers = [(p.name, a.text) for p, a in zip(tree.parameters, arguments, strict=False) if a.kind is Kind.POINTER]
    return tuple((name, held) for name, text in pointers if (held := first.setdefault(text, name)) != name)


def _meant(cx: Context, node: Launch, arguments: tuple[Code, ...]) -> FunctionTree:
    """Returns the kernel launched; of several the one that takes these arguments, if only one does."""
    named = cx.kernels.overloads(node.kernel.name)
    plain = [f for f in named if not f.arguments] or named
    fitting = [f for f in plain if overloads.fits(cx, f, arguments)] if len(plain) > 1 else plain
    fitting = [f for f in fitting if not f.head.template] or fitting
    if len(fitting) > 1:
        fitting = [f for f in fitting if _enabled(cx, f, node, arguments)]
    if not plain:
        raise Refusal(
            node.line,
            f"the source defines no kernel '{node.kernel.name}': another file does, with which it has to be ported",
        )
    if len({(f.head.body_text, len(f.parameters)) for f in fitting}) != 1:
        raise Refusal(node.line, f"several kernels are called '{node.kernel.name}'")
    return fitting[0]


def _enabled(cx: Context, kernel: FunctionTree, node: Launch, arguments: tuple[Code, ...]) -> bool:
    try:
        return cx.kernels.enabled(kernel, instance(cx, kernel, node.kernel.template, arguments, node.line))
    except Refusal:
        return True


def extents(value: Code) -> tuple[Code, Code, Code]:
    """Returns the three extents of a grid or block: a `dim3`, or a number for the first."""
    if value.kind is Kind.DIM3:
        x, y, z = value.parts
        return x, y, z
    return value, integer(1), integer(1)


def _evaluated(cx: Context, block: tuple[Code, Code, Code], sizes: Extents) -> tuple[Code, Code, Code]:
    x, y, z = (integer(of[0]) if len(of) == 1 else known.evaluated(cx, extent)
               for extent, of in zip(block, sizes, strict=True))  # fmt: skip
    return x, y, z


def _dimensions(block: tuple[Code, Code, Code], sizes: Extents) -> tuple[Dimension, Dimension, Dimension]:
    values = [_whole(extent) for extent in block]
    names = _ONE_AXIS if values[1:] == [1, 1] else _AXES
    x, y, z = (Dimension(v, "" if v == 1 else name, () if v is not None else few)
               for v, name, few in zip(values, names, sizes, strict=True))  # fmt: skip
    return x, y, z


def _whole(code: Code) -> int | None:
    return int(code.constant) if code.constant is not None else None


def _three(codes: tuple[Code, Code, Code]) -> tuple[Given, Given, Given]:
    """Returns the extents of a grid or block."""
    x, y, z = map(_given, codes)
    return x, y, z


def _texts(passed: dict[str, Code]) -> dict[str, Given]:
    """Returns the arguments by the kernel's own names; for a struct or an array, by its fields or elements."""
    found: dict[str, Given] = {}
    for name, code in passed.items():
        if code.kind is Kind.RECORD:
            found |= _texts({f"{name}.{field}": part for field, part in zip(code.names, code.parts, strict=True)})
        elif code.kind is Kind.SEQUENCE and code.parts:
            found |= _texts({f"{name}[{i}]": part for i, part in enumerate(code.parts)})
        else:
            found[name] = Given(code.text, code.binds == ATOM)
    return found


def _device(cx: Context, arguments: tuple[Code, ...]) -> str:
    """Returns a tensor where scratch buffers are made: one that the kernel is given."""
    given = [a.text for a in arguments if a.kind is Kind.POINTER and a.text.isidentifier()]
    return given[0] if given else cx.tensor or "None"
