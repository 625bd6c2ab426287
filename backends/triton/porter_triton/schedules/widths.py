"""The width of a kernel's tiles, where nothing but the launch and the steps of loops depends on it.

A kernel over tiles of BLOCK_SIZE lanes may have any width if each lane works for itself or a word reduces them all:
lanes are numbered by one `tl.arange(0, BLOCK_SIZE)`, the numbers only ever added to where a tile begins - the turn of
a loop that goes on by the width, or the program's number times it - and the grid divides by it. Everything else that
knows how wide a tile is, or puts lanes in an order, keeps the width as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from porter.evolve.candidate import Value
from porter.evolve.proposing.edited import EditedKnob, Edits, edited_knob
from porter_triton.schedules.text import Launch, ModuleText, last_name, number

_NARROWEST, _WIDEST = 32, 8192
_NARROWER, _WIDER = 4, 32  # by how much a tile may change
# What takes tiles of any width: lane by lane, or all lanes to one value.
_LANEWISE = frozenset(
    (
        *("load", "store", "where", "cast", "to", "maximum", "minimum", "clamp", "fma", "abs", "exp", "exp2", "log"),
        *("log2", "sqrt", "sqrt_rn", "rsqrt", "sin", "cos", "erf", "floor", "ceil", "div_rn", "fdiv", "sigmoid"),
        *("umulhi", "multiple_of", "max_contiguous", "program_id", "num_programs", "cdiv", "range", "atomic_add"),
        *("atomic_max", "atomic_min", "broadcast_to", "zeros", "full", "arange", "zeros_like", "full_like", "tanh"),
        *("bitcast", "inline_asm_elementwise", "sum", "max", "min", "isnan", "isinf", "finitef", "signbit", "rint"),
    )
)


def widths(module: ModuleText) -> Iterator[EditedKnob]:
    """Yields a knob for each kernel whose tiles may have another width."""
    for family, names in module.families.items():
        width = _Width.of(module, names)
        if width is not None:
            least, most = max(_NARROWEST, width.width // _NARROWER), min(_WIDEST, width.width * _WIDER)
            values = tuple(1 << k for k in range(_WIDEST.bit_length()) if least <= 1 << k <= most)
            yield edited_knob(f"{family}.width", tuple(v for v in values if v != width.width), width.edits)


@dataclass(frozen=True)
class _Width:
    """The places where the width of some kernels' tiles is written."""

    module: ModuleText
    width: int
    places: tuple[ast.expr, ...]

    @classmethod
    def of(cls, module: ModuleText, names: Sequence[str]) -> _Width | None:
        """Returns the width; None where it is not one number, or something else depends on it."""
        launches = [launch for launch in module.launches if launch.kernel in names]
        passed = [launch.keyword(_parameter(module.jitted[launch.kernel])) for launch in launches]
        written = [node for node in passed if node is not None]
        width = number(written[0]) if written else None
        if width is None or len(written) < len(launches) or any(number(node) != width for node in written):
            return None
        kernels = [_Kernel(module, module.jitted[name], width) for name in names]
        if not all(kernel.is_free() for kernel in kernels):
            return None
        dividing = list(_dividing(module, names, width))
        if any(kernel.begins_by_program for kernel in kernels):
            if not dividing or not _is_all(module, names, width, (*written, *dividing)):
                return None
        elif not _is_own(module, names, width, dividing):
            dividing = []
        inside = [place for kernel in kernels for place in kernel.places]
        return cls(module, width, tuple(dict.fromkeys((*written, *inside, *dividing))))

    def edits(self, value: Value) -> Edits:
        """Returns what makes the tiles `value` lanes wide."""
        return [self.module.replaced(place, str(value)) for place in self.places]


class _Kernel:
    """A kernel as one over tiles of lanes, `width` of them."""

    def __init__(self, module: ModuleText, function: ast.FunctionDef, width: int) -> None:
        self._module = module
        self._function = function
        self._width = width
        self._nodes = tuple(node for statement in function.body for node in ast.walk(statement))
        self._parents = {id(child): node for node in self._nodes for child in ast.iter_child_nodes(node)}
        self._loops = [n for n in self._nodes if isinstance(n, ast.For) and _range(n) is not None]

    @cached_property
    def places(self) -> tuple[ast.expr, ...]:
        """Returns where the width is written as a number."""
        return tuple(n for n in self._nodes if isinstance(n, ast.expr) and number(n) == self._width)

    @cached_property
    def begins_by_program(self) -> bool:
        """Returns whether programs begin at their number times the width, and go on by no more than that."""
        strided = {id(node) for loop in self._loops if self._strides(loop) for node in ast.walk(loop.iter)}
        return any(self._is_scaled(n, "program_id") and id(n) not in strided for n in self._nodes)

    def is_free(self) -> bool:
        """Returns whether another width gives the same, as far as the tree tells."""
        lanes = self._lanes
        numbers = (number(node) or 0 for node in self._nodes if isinstance(node, ast.expr))
        named = [n for n in self._nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        return (
            bool(lanes)
            and not any(value > self._width and value % self._width == 0 for value in numbers)
            and not any(isinstance(node, ast.Subscript) for node in self._nodes)
            and all(_is_lanewise(call, self._module) for call in self._nodes if isinstance(call, ast.Call))
            and all(self._is_tile(node) for node in (*self.places, *(n for n in named if n.id == self._parameter)))
            and all(self._is_place(node) for node in named if node.id in {lanes, *self._cast_lanes})
        )

    @property
    def _parameter(self) -> str:
        return _parameter(self._function)

    @cached_property
    def _lanes(self) -> str:
        """Returns the variable that numbers the lanes and gets no other value; empty where there is none."""
        for node in self._nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=function)):
                    if last_name(function) == "arange" and self._parameter:
                        return name if sum(_stores(n, name) for n in self._nodes) == 1 else ""
        return ""

    @cached_property
    def _cast_lanes(self) -> frozenset[str]:
        """The variables that have the numbers of the lanes in another type, and get no other value."""
        found = set()
        for node in self._nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    made = _uncast(value)
                    is_cast = made is not value and isinstance(made, ast.Name) and made.id == self._lanes
                    if is_cast and sum(_stores(n, name) for n in self._nodes) == 1:
                        found.add(name)
        return frozenset(found)

    def _with_casts(self, node: ast.expr) -> ast.expr:
        """Returns a node with the casts around it."""
        while True:
            parent = self._parents.get(id(node))
            outer = self._parents.get(id(parent)) if isinstance(parent, ast.Attribute) else parent
            if not isinstance(outer, ast.Call) or _uncast(outer) is not _uncast(node):
                return node
            node = outer

    def _is_tile(self, node: ast.expr) -> bool:
        """Returns whether a width stands where it says how wide a tile is, or by how many tiles something goes on."""
        parent = self._parents.get(id(node))
        if isinstance(parent, ast.Call) and parent.args and parent.args[0] is node and last_name(parent.func) == "cast":
            return self._is_tile(parent)
        match parent:
            case ast.Call(func=function, args=[*_, last]) if last is node and last_name(function) in (
                "arange",
                "range",
            ):
                return True
            case ast.List() | ast.Tuple():
                return True
            case ast.BinOp():
                return self._is_scaled(parent, "program_id") or self._is_scaled(parent, "num_programs")
        return False

    def _is_place(self, node: ast.expr) -> bool:
        """Returns whether lane numbers are only added to the beginning of a tile, or picked from."""
        node = self._with_casts(node)
        match self._parents.get(id(node)):
            case ast.Assign(targets=[ast.Name(id=name)]):
                return name in self._cast_lanes
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._begins_tile(right if left is node else left)
            case ast.Compare(ops=[ast.Eq()], comparators=[ast.Constant(value=0)]):
                return True
        return False

    def _begins_tile(self, node: ast.expr) -> bool:
        node = _uncast(node)
        if self._is_scaled(node, "program_id"):
            return True
        loops = [loop for loop in self._loops if isinstance(node, ast.Name) and _targets(loop, node.id)]
        return bool(loops) and all(self._by_tiles(loop) for loop in loops)

    def _by_tiles(self, loop: ast.For) -> bool:
        """Returns whether a loop goes on by the width, or by that of all programs from where this one begins."""
        bounds = _range(loop)
        return bounds is not None and (self._is_width(bounds[1]) or self._strides(loop))

    def _strides(self, loop: ast.For) -> bool:
        bounds = _range(loop)
        if bounds is None:
            return False
        start, step = map(self._made, bounds)
        return self._is_scaled(start, "program_id") and self._is_scaled(step, "num_programs")

    def _is_width(self, node: ast.expr) -> bool:
        node = _uncast(node)
        return number(node) == self._width or (isinstance(node, ast.Name) and node.id == self._parameter)

    def _is_scaled(self, node: ast.AST, by: str) -> bool:
        """Returns whether it is the number of the program, or of all, times the width."""
        match node:
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                other = right if self._is_width(left) else left if self._is_width(right) else None
                called = None if other is None else _uncast(self._made(_uncast(other)))
                return isinstance(called, ast.Call) and last_name(called.func) == by
        return False

    def _made(self, node: ast.expr) -> ast.expr:
        """Returns what a variable is that gets one value; any other expression is itself."""
        if not isinstance(node, ast.Name):
            return node
        stores = [n for n in self._nodes if _stores(n, node.id)]
        values = [n.value for n in self._nodes if isinstance(n, ast.Assign) and _is_name(n.targets, node.id)]
        return values[0] if len(stores) == len(values) == 1 else node


def _uncast(node: ast.expr) -> ast.expr:
    """Returns what is cast."""
    while True:
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name()), args=[inner, _]) if last_name(node.func) == "cast":
                node = inner
            case ast.Call(func=ast.Attribute(value=inner, attr="to")):
                node = inner
            case _:
                return node


def _range(loop: ast.For) -> tuple[ast.expr, ast.expr] | None:
    """Returns where a loop begins, and by how much it goes on."""
    match loop.iter:
        case ast.Call(func=function, args=[start, _, step]) if last_name(function) == "range":
            return start, step
    return None


def _stores(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)


def _targets(loop: ast.For, name: str) -> bool:
    return isinstance(loop.target, ast.Name) and loop.target.id == name


def _is_lanewise(call: ast.Call, module: ModuleText, depth: int = 8) -> bool:
    """Returns whether what is called works lane by lane, or makes one value of all lanes; so must all that it calls."""
    helper = module.jitted.get(last_name(call.func))
    if helper is None or isinstance(call.func, ast.Attribute):
        return last_name(call.func) in _LANEWISE
    inner = [node for statement in helper.body for node in ast.walk(statement)]
    if depth == 0 or any(isinstance(n, (ast.Subscript, ast.For)) or getattr(n, "attr", "") == "shape" for n in inner):
        return False
    return all(_is_lanewise(node, module, depth - 1) for node in inner if isinstance(node, ast.Call))


def _is_name(targets: Iterable[ast.expr], name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def _parameter(kernel: ast.FunctionDef) -> str:
    """Returns the parameter that says how wide the kernel's only numbering of lanes is; empty if there is none."""
    match [call for call in ast.walk(kernel) if isinstance(call, ast.Call) and last_name(call.func) == "arange"]:
        case [ast.Call(args=[ast.Constant(value=0), ast.Name(id=name)])]:
            return name if name in {argument.arg for argument in kernel.args.args} else ""
    return ""


def _dividing(module: ModuleText, names: Sequence[str], width: int) -> Iterator[ast.expr]:
    """Yields the divisors of the grids that the kernels `names` are launched with."""
    for launch in (launch for launch in module.launches if launch.kernel in names):
        found = list(_divisors(launch, launch.grid, width))
        if not found:
            return
        yield from found


def _divisors(launch: Launch, expression: ast.expr, width: int) -> Iterator[ast.expr]:
    """Yields where `expression`, or what the names in it are, divides by the width, rounding up."""
    pending, seen = [expression], set[str]()
    while pending:
        for node in ast.walk(pending.pop()):
            match node:
                case ast.Call(func=function, args=[_, divisor]) if last_name(function) == "cdiv":
                    yield from _written(launch, divisor, width)
                case ast.Name(id=name) if name not in seen:
                    seen.add(name)
                    pending += [value for value in [_value(launch.host, name)] if value is not None]


def _written(launch: Launch, divisor: ast.expr, width: int) -> Iterator[ast.expr]:
    """Yields the number that `divisor` is."""
    value = _value(launch.host, divisor.id) if isinstance(divisor, ast.Name) else divisor
    if value is not None and number(value) == width:
        yield value


def _value(host: ast.FunctionDef, name: str) -> ast.expr | None:
    """Returns what `name` is, where the host gives it one value."""
    made = [n for n in ast.walk(host) if _stores(n, name)]
    values = [n.value for n in ast.walk(host) if isinstance(n, ast.Assign) and _is_name(n.targets, name)]
    return values[0] if len(made) == len(values) == 1 else None


def _is_own(module: ModuleText, names: Sequence[str], width: int, places: Iterable[ast.expr]) -> bool:
    """Returns whether no other kernel's grid has a part in the `places`."""
    others = [launch for launch in module.launches if launch.kernel not in names]
    theirs = {id(node) for other in others for node in _divisors(other, other.grid, width)}
    return not theirs & {id(place) for place in places}


def _is_all(module: ModuleText, names: Sequence[str], width: int, places: Sequence[ast.expr]) -> bool:
    """Returns whether the hosts have the width nowhere else, but where other kernels are launched."""
    others = [launch for launch in module.launches if launch.kernel not in names]
    theirs = {id(node) for other in others for node in _divisors(other, other.grid, width)}
    theirs |= {id(k.value) for other in others for k in other.call.keywords}
    hosts = {launch.host.name: launch.host for launch in module.launches if launch.kernel in names}
    numbers = [n for host in hosts.values() for n in ast.walk(host) if isinstance(n, ast.expr) and number(n) == width]
    known = theirs | {id(place) for place in places}
    return _is_own(module, names, width, places) and all(id(node) in known for node in numbers)
