"""Drafts the launch of a bare kernel: blocks from its assumptions, grids from what its guards cover."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from math import isfinite

from porter.contract.analysis.body import comparisons, quietly, rebuild, substitute, written
from porter.contract.analysis.records import symbol
from porter.contract.analysis.scope import Scope
from porter.contract.analysis.usage import Usage
from porter.contract.infer.dispatched import dispatched_arguments
from porter.contract.infer.functors import element_of, function_objects
from porter.contract.infer.scalars import component_count, dimensions, numbers_elements
from porter.contract.model.contract import LaunchShape
from porter.contract.model.expressions import children, free_names, render, value
from porter.contract.model.parser import parse
from porter.contract.model.syntax import Binary, Call, ExpressionError, Member, Name, Node, Number, Subscript
from porter.source.arithmetic_types import arithmetic
from porter.source.instantiate import explicit_arguments
from porter.source.program import Expr, Function, Launch

_AXES = ("x", "y", "z")
_DEFAULT_BLOCK: Mapping[int, Block] = {1: (256, 1, 1), 2: (16, 16, 1), 3: (8, 8, 4)}
GUESSED_SHARED_BYTES = "16384"
_COORDINATES = re.compile(r"\b(blockIdx|threadIdx|blockDim|gridDim)\.([xyz])")
# The thread's place as such, and as that of a lane, where `written` leaves no space between words.
_THREAD, _LANE = (
    re.compile(r"\bthreadIdx\.x\b"),
    re.compile(r"\bthreadIdx\.x\)?(?:%(?:32|warpSize|WARP_SIZE)\b|&(?:31|0x1[fF])\b)"),
)
FRESH = "rows"
_MOST_THREADS = 1 << 18  # along one axis, where a constant of the source says how many
Block = tuple[int, int, int]
Extents = tuple[str, str, str]


def launch_shape(
    usage: Usage, kernel: Function, symbols: tuple[str, ...], block: Block | None = None
) -> tuple[LaunchShape, tuple[str, ...]]:
    """Returns a launch of `kernel` over `symbols`, with blocks of the size `block` if that is given.

    Returns also the symbols it had to add for grids that nothing in the kernel bounds.
    """
    used = coordinates(usage, kernel)
    if block is None and (own := own_launch(usage, kernel, symbols)) is not None:
        return LaunchShape(*own, _shared_bytes(usage, kernel, symbols)), ()
    block = block or _block(usage, kernel, used)
    grid: list[str] = []
    fresh: list[str] = []
    for axis, name in enumerate(_AXES):
        if f"blockIdx.{name}" not in used:
            grid.append("1")
            continue
        covered = _covered(usage, kernel, axis, block, symbols)
        if covered is None or _is_huge(covered, block[axis]):
            covered = fresh_symbol(axis)
            fresh.append(covered)
        grid.append(covered)
    bytes_ = _shared_bytes(usage, kernel, symbols)
    shape = LaunchShape((grid[0], grid[1], grid[2]), (str(block[0]), str(block[1]), str(block[2])), bytes_)
    return shape, tuple(fresh)


def own_launch(usage: Usage, kernel: Function, symbols: tuple[str, ...]) -> tuple[Extents, Extents] | None:
    """Returns grid and block of a launch of `kernel` whose arguments say them: `k<<<rows, cols>>>(x, rows, cols)`.

    None where a launch gives the size of its blocks as numbers, which then serve for any grid.
    """
    if states_block(usage, kernel):
        return None
    for launch in usage.program.launches_of(kernel):
        grid, block = (_in_arguments(usage, kernel, launch, text, symbols) for text in (launch.grid, launch.block))
        if grid is not None and block is not None:
            return grid, block
    return None


def _in_arguments(
    usage: Usage, kernel: Function, launch: Launch, extents: Expr, symbols: tuple[str, ...]
) -> Extents | None:
    """Returns the extents of a grid or block in terms of the kernel's sizes; None where others are part of them."""
    scope = _around(usage, kernel, launch)
    found = [_expressed(scope, kernel, launch, node, symbols) for node in dimensions(scope, extents.text)]
    if not found or None in found:
        return None
    x, y, z = (*map(str, found), "1", "1")[:3]
    return x, y, z


def _expressed(scope: Scope, kernel: Function, launch: Launch, node: Node, symbols: tuple[str, ...]) -> str | None:
    """Returns host code's expression in the sizes that the kernel is given; None where it has other names.

    Expressions that are passed for a parameter are named like the parameter.
    """
    given = {arg.text: Name(param.name) for param, arg in zip(kernel.params, launch.args, strict=False)}
    for asked in (substitute(node, given, 1), substitute(scope.resolve(node), given, 1)):
        resolved = scope.resolve(asked) if free_names(asked) - set(symbols) else asked
        if free_names(resolved) <= set(symbols) and _number(resolved, dict.fromkeys(symbols, 2)):
            return render(resolved)
    return None


def _shared_bytes(usage: Usage, kernel: Function, symbols: tuple[str, ...]) -> str:
    """Returns the dynamic shared memory of a launch, a guess where nothing says it."""
    own = has_dynamic_memory(usage, kernel)
    return (_own_shared_bytes(usage, kernel, symbols) or GUESSED_SHARED_BYTES) if own else "0"


def leaves_blocks_out(usage: Usage, kernel: Function, symbols: tuple[str, ...]) -> bool:
    """Returns whether the launch of `launch_shape` has fewer blocks than the source says, for there are too many."""
    used = coordinates(usage, kernel)
    block = _block(usage, kernel, used)
    axes = (axis for axis, name in enumerate(_AXES) if f"blockIdx.{name}" in used)
    covered = ((_covered(usage, kernel, axis, block, symbols), block[axis]) for axis in axes)
    return any(blocks is not None and _is_huge(blocks, threads) for blocks, threads in covered)


def _is_huge(blocks: str, threads: int) -> bool:
    """Returns whether so many blocks, which no size decides on, take too long: some of them show what each does."""
    number = _number(parse(blocks), {})
    return number is not None and number * threads > _MOST_THREADS


def fresh_symbol(axis: int) -> str:
    """Returns the symbol of a grid's extent along `axis` that nothing in its kernel bounds."""
    return f"{FRESH}_{_AXES[axis]}" if axis else FRESH


def coordinates(usage: Usage, kernel: Function) -> frozenset[str]:
    """Returns the built-in coordinates that `kernel` and the device functions it calls ask for."""
    texts = (written(usage.body(f).words) for f in _reached(usage, kernel))
    return frozenset(f"{m.group(1)}.{m.group(2)}" for text in texts for m in _COORDINATES.finditer(text))


def asks_for_whole(usage: Usage, kernel: Function, word: str) -> bool:
    """Returns whether code uses coordinates without saying of which axis: `const dim3 at = threadIdx;`."""
    bare = re.compile(rf"\b{word}\b(?!\s*\.)")
    return any(bare.search(written(usage.body(f).words)) for f in _reached(usage, kernel))


def has_dynamic_memory(usage: Usage, kernel: Function) -> bool:
    """Returns whether `kernel`, or what it calls, has or names shared memory whose size its launch gives."""
    outer = {array.name for array in usage.outer_shared if array.dynamic}
    return any(any(a.dynamic for a in f.shared) or _names(usage, f, outer) for f in _reached(usage, kernel))


def _names(usage: Usage, function: Function, arrays: Set[str]) -> bool:
    """Returns whether `function` names one of `arrays`, which are declared outside of it, and means that one."""
    hidden = {param.name for param in function.params} | {array.name for array in function.shared}
    words = {word.text for word in usage.body(function).words}
    return bool(words & (arrays - hidden))


def _reached(usage: Usage, kernel: Function) -> frozenset[Function]:
    """Returns `kernel` and the device functions it calls, by their names, including members of its classes."""
    device = {f.name: f for f in usage.program.device_functions}
    found, pending = {kernel}, [kernel]
    while pending:
        fresh = {device[n] for n in usage.body(pending.pop()).names if n in device} - found
        found |= fresh
        pending.extend(fresh)
    return frozenset(found)


def _block(usage: Usage, kernel: Function, used: frozenset[str]) -> Block:
    """Returns the block of the file's own launches, else one from bounds, constants and shared arrays, or a usual one.

    A kernel without launches gets the block of one with the same parameters. Threads that never ask for their place
    along an axis would all do the same: there is one of them.
    """
    stated = next(_stated(usage, kernel, _launches(usage, kernel)), None)
    if stated is not None:
        return stated
    constants = _constants(usage, kernel)
    asked = [f"threadIdx.{a}" in used or f"blockDim.{a}" in used for a in _AXES]
    if not any(asked) and not usage.body(kernel).calls:
        return 1, 1, 1
    rank = max((i + 1 for i, axis in enumerate(asked) if axis), default=1)
    limits = _numbers(tuple(n for t in kernel.launch_bounds[:1] if (n := quietly(t)) is not None), constants)
    if rank == 1 and limits is not None:
        return limits
    if rank == 1 and "blockDim.x" not in used and _asks_for_lanes(usage, kernel):
        return 32, 1, 1
    edges = _edges(kernel, constants)
    if rank == 1:
        return (edges[0], 1, 1) if edges and edges[0] >= 32 else _DEFAULT_BLOCK[1]
    if rank == 2 and len(edges) > 1 and edges[0] * edges[1] <= 1024:
        return edges[1], edges[0], 1
    x, y, z = (edge if axis or rank == 1 else 1 for edge, axis in zip(_DEFAULT_BLOCK[rank], asked, strict=True))
    return x, y, z


def states_block(usage: Usage, kernel: Function) -> bool:
    """Returns whether a launch of `kernel` itself gives the size of its blocks as numbers."""
    return next(_stated(usage, kernel, usage.program.launches_of(kernel)), None) is not None


def _stated(usage: Usage, kernel: Function, launches: Iterable[Launch]) -> Iterator[Block]:
    """Yields the blocks of those launches whose extents constants decide."""
    constants = _constants(usage, kernel)
    for launch in launches:
        sizes = _numbers(dimensions(_around(usage, kernel, launch), launch.block.text), constants)
        if sizes is not None:
            yield sizes


def _own_shared_bytes(usage: Usage, kernel: Function, symbols: tuple[str, ...]) -> str:
    """Returns the dynamic shared memory of the file's own launch, if it depends only on the kernel's arguments.

    Empty where it depends on anything else.
    """
    for launch in usage.program.launches_of(kernel):
        node = quietly(launch.shared_bytes.text) if launch.shared_bytes is not None else None
        if node is None:
            continue
        if found := _expressed(_around(usage, kernel, launch), kernel, launch, node, symbols):
            return found
    return ""


def _launches(usage: Usage, kernel: Function) -> Iterator[Launch]:
    """Yields the launches of `kernel`; if there are none, those of its variants: kernels with the same parameters."""
    own = list(usage.program.launches_of(kernel))
    yield from own
    for variant in usage.program.kernels if not own else ():
        alike = [(p.type, p.name) for p in variant.params] == [(p.type, p.name) for p in kernel.params]
        yield from usage.program.launches_of(variant) if alike else ()


def _asks_for_lanes(usage: Usage, kernel: Function) -> bool:
    """Returns whether threads, in called functions too, only ask for their place in a warp: a block is one warp."""
    texts = [written(usage.body(f).words) for f in _reached(usage, kernel)]
    return all(len(_THREAD.findall(text)) == len(_LANE.findall(text)) for text in texts)


def _edges(kernel: Function, constants: Mapping[str, int]) -> list[int]:
    """Returns extents of the shared array that looks like one element a thread, slowest first, without padding (+1)."""
    for array in kernel.shared:
        extents: list[int] = []
        for text in array.extents:
            node = quietly(text)
            size = _number(node, constants) if node is not None else None
            if size is not None:
                extents.append(size - 1 if size % 8 == 1 and size > 1 else size)
        if extents and len(extents) == len(array.extents) and 16 <= _area(extents) <= 1024:
            return extents
    return []


def _area(extents: list[int]) -> int:
    area = 1
    for extent in extents:
        area *= extent
    return area


def _constants(usage: Usage, kernel: Function) -> Mapping[str, int]:
    """Returns compile-time integers: those of the file that no parameter hides, and the kernel's template arguments."""
    known: dict[str, int] = {}
    hidden = {param.name for param in kernel.params}
    visible = {name: node for name, node in usage.constants.items() if name not in hidden}
    values = {**visible, **dict(template_values(usage, kernel))}
    for _ in range(3):
        for name, node in values.items():
            number = _number(node, known)
            if number is not None:
                known[name] = number
    return known


def template_values(usage: Usage, kernel: Function) -> Iterator[tuple[str, Node]]:
    """Yields each integer template parameter of `kernel` with its argument."""
    for param, argument in zip(kernel.template, template_arguments(usage, kernel), strict=False):
        node = quietly(argument)
        if node is not None and not param.kind.startswith("typename"):
            yield param.name, node


def template_arguments(usage: Usage, function: Function) -> tuple[str, ...]:
    """Returns arguments to instantiate `function` with: the source's own, literals of a launch, else usual ones."""
    if not function.template:
        return _specialised(usage, function)
    explicit = explicit_arguments(usage.program, function)
    if explicit:
        return next((arguments for arguments in explicit if "float" in arguments), explicit[0])
    written_out = next(
        (evaluated_arguments(usage, function, x) for x in usage.program.launches_of(function) if x.template_args), ()
    )
    objects = function_objects(usage, function)
    dispatched = dispatched_arguments(usage, function)
    arguments: list[str] = []
    for i, param in enumerate(function.template):
        given = written_out[i] if i < len(written_out) else ""
        if param.name in objects:
            arguments.append(objects[param.name])
        elif re.fullmatch(r"\d+|true|false", given) or arithmetic(given) is not None:
            arguments.append(given)
        elif param.name in dispatched:
            arguments.append(dispatched[param.name])
        elif param.kind.startswith("typename"):
            arguments.append(_usual_type(usage, function, param.name, element_of(objects) or "float"))
        else:
            arguments.append(
                param.default if re.fullmatch(r"\d+|true|false", param.default) else _usual(param.kind, param.name)
            )
    return tuple(arguments)


def _usual_type(usage: Usage, function: Function, name: str, element: str) -> str:
    """Returns what a type of a template is taken for: a number, or a vector of as many as it has components."""
    if count := component_count(usage, function, name):
        return f"float{max(count, 2)}"
    return "int" if numbers_elements(usage, function, name) else element


def _around(usage: Usage, kernel: Function, launch: Launch) -> Scope:
    """Returns the names that the function around `launch` sees; the kernel's where there is no function."""
    inside = (f for f in usage.program.host_functions if f.qualified == launch.inside)
    return Scope(usage, next(inside, kernel))


def evaluated_arguments(usage: Usage, kernel: Function, launch: Launch) -> tuple[str, ...]:
    """Returns the template arguments of `launch`.

    Those that constants of its function decide, or how the source instantiates that, are numbers.
    """
    scope = _around(usage, kernel, launch)
    around = next((f for f in usage.program.host_functions if f.qualified == launch.inside and f.template), None)
    is_instantiated = around is not None and explicit_arguments(usage.program, around)
    given = dict(template_values(usage, around)) if around is not None and is_instantiated else {}
    nodes = [quietly(text) for text in launch.template_args]
    numbers = [_number(scope.resolve(substitute(node, given, 1)), {}) if node is not None else None for node in nodes]
    return tuple(
        text if number is None else str(number) for text, number in zip(launch.template_args, numbers, strict=True)
    )


def _specialised(usage: Usage, function: Function) -> tuple[str, ...]:
    """Returns the arguments an explicit specialisation is for: `template <> void launch<float>(...)`."""
    header = usage.program.source.slice(function.header)
    found = re.search(rf"\b{re.escape(function.name)}\s*<([^<>()]*)>\s*\(", header)
    return tuple(a.strip() for a in found.group(1).split(",")) if found else ()


def _usual(kind: str, name: str) -> str:
    if kind == "bool":
        return "true"
    upper = name.upper()
    if "WARP" in upper:
        return "32" if "SIZE" in upper or "WIDTH" in upper else "8"
    if "BLOCK" in upper or "THREAD" in upper:
        return "256"
    return "16" if "TILE" in upper else "4"


def _covered(usage: Usage, kernel: Function, axis: int, block: Block, symbols: tuple[str, ...]) -> str | None:
    """Returns blocks along `axis` that cover the first bound the kernel compares a block-dependent index with.

    That is one in which a size is, where there is any: others are what borders are compared with (`i >= 1 && i < n`).
    """
    found = list(_bounds(usage, kernel, axis, block, symbols))
    sized = (blocks for bound, blocks in found if free_names(bound) & set(symbols))
    return next(sized, found[0][1] if found else None)


def _bounds(
    usage: Usage, kernel: Function, axis: int, block: Block, symbols: tuple[str, ...]
) -> Iterator[tuple[Node, str]]:
    """Yields the bounds that the kernel compares a block-dependent index with, and the blocks that cover each.

    What such an index is equal to (`blockIdx.x == 0`) is one place among those that the grid covers, and so are those
    above a bound of 0.
    """
    scope = Scope(usage, kernel)
    here = {f"blockDim.{a}": size for a, size in zip(_AXES, block, strict=True)} | dict(_constants(usage, kernel))
    coordinate = f"blockIdx.{_AXES[axis]}"
    for condition in usage.body(kernel).conditions:
        for compared in comparisons(condition):
            index, bound = _sides(compared, coordinate, scope)
            if index is None or bound is None or compared.operator == "==" or _is_nothing(bound, here):
                continue
            bound = _with_fields(bound, symbols)
            step = _step(index, coordinate, here)
            if step and not free_names(bound) - set(symbols) - here.keys():
                total = render(_fixed(bound, here))
                yield bound, total if step == 1 else f"cdiv({total}, {step})"


def _is_nothing(bound: Node, here: Mapping[str, int]) -> bool:
    """Returns whether no index lies below a bound."""
    number = _number(bound, here)
    return number is not None and number <= 0


def _sides(compared: Binary, coordinate: str, scope: Scope) -> tuple[Node | None, Node | None]:
    """Returns the index that depends on `coordinate` and what it is compared with."""
    left, right = scope.resolve(compared.left), scope.resolve(compared.right)
    for index, bound in ((left, right), (right, left)):
        depends = coordinate in free_names(index)
        if depends and not any(n.startswith(("blockIdx", "threadIdx")) for n in free_names(bound)):
            return index, bound
    return None, None


def _with_fields(node: Node, symbols: tuple[str, ...]) -> Node:
    """Returns `node` with the symbols of the fields that it names: `p_size_rows` for `p.size.rows`."""
    if isinstance(node, Member | Subscript) and (name := symbol(render(node))) in symbols:
        return Name(name)
    return rebuild(node, [_with_fields(child, symbols) for child in children(node)])


def _step(index: Node, coordinate: str, here: Mapping[str, int]) -> int:
    """Returns how far `index` moves from one block to the next; 0 when that has no value."""
    zero = dict.fromkeys(free_names(index), 0) | dict(here)
    try:
        first, second = value(index, {**zero, coordinate: 0}), value(index, {**zero, coordinate: 1})
    except ExpressionError:
        return 0
    return int(second - first) if second > first else 0


def _fixed(node: Node, here: Mapping[str, int]) -> Node:
    if isinstance(node, Name) and node.name in here:
        return Number(here[node.name])
    if isinstance(node, Binary):
        return Binary(node.operator, _fixed(node.left, here), _fixed(node.right, here))
    if isinstance(node, Call):
        return Call(node.callee, tuple(_fixed(a, here) for a in node.arguments))
    return node


def _numbers(nodes: tuple[Node, ...], constants: Mapping[str, int]) -> Block | None:
    sizes = [_number(node, constants) for node in nodes]
    if not sizes or any(s is None or not 0 < s <= 1024 for s in sizes):
        return None
    x, y, z = (*[s for s in sizes if s is not None], 1, 1)[:3]
    return x, y, z


def _number(node: Node, constants: Mapping[str, int]) -> int | None:
    try:
        found = value(node, constants)
    except ExpressionError:
        return None
    return int(found) if isfinite(found) else None
