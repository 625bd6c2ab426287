"""Keeps rows that a kernel reads in several passes in a tile, read once: where they are short, as the launch says.

A pass is a loop that has a row of its tile for each turn (`schedules/turns.py`). Where a tile has room for all turns
there is nothing to loop over, and what a later pass loads from the same places under the same mask is there already.
The kernel stays as it is for longer rows; beside it stands one whose tiles have as many rows as the launch says.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from porter.source.edit import Edit
from porter_triton.schedules.streams import accesses
from porter_triton.schedules.text import Launch, ModuleText, last_name
from porter_triton.schedules.turns import Rows, rows_of
from porter_triton.schedules.warps import constants

_TURNS, _KEPT = "TURNS", "kept"
_MOST_ELEMENTS = 16384  # of a tile: 128 in each lane of four warps
_INDENT = 4
_WRITING = ("store", "atomic")
_KEYWORDS = frozenset(("mask", "other", "eviction_policy"))


def kept_rows(module: ModuleText, kernel: ast.FunctionDef) -> Sequence[Edit]:
    """Returns a second kernel, which keeps its rows, and the choice at the launches; nothing if impossible."""
    passes = _Passes.of(module, kernel)
    if passes is None or f"{kernel.name}__{_KEPT}" in module.functions:
        return ()
    chosen = [_chosen(module, launch, passes) for launch in module.launches if launch.kernel == kernel.name]
    edits = [edit for edit in chosen if edit is not None]
    at = module.end(kernel.body[-1])
    return [Edit(at, at, f"\n\n\n{passes.text()}"), *edits] if edits and len(edits) == len(chosen) else ()


@dataclass(frozen=True)
class _Passes:
    """A kernel whose `loops` all go from 0 to its parameter `end` by rows alike; the loads of a group are the same."""

    kernel: ast.FunctionDef
    loops: Mapping[ast.For, Rows]
    end: str
    groups: Sequence[Sequence[ast.Call]]
    language: str

    @classmethod
    def of(cls, module: ModuleText, kernel: ast.FunctionDef) -> _Passes | None:
        """Returns the passes; None unless there are two over the same rows, which nobody may write meanwhile."""
        loops = dict(rows_of(module, kernel.body))
        ends = {_end(loop) for loop in loops}
        alike = len({(rows.count, rows.column) for rows in loops.values()}) == 1 == len(ends)
        plain = all(isinstance(inner, (ast.Assign, ast.Expr)) for loop in loops for inner in loop.body)
        whole = all(not rows.column or rows.column.isidentifier() or rows.column.isdecimal() for rows in loops.values())
        if not alike or not plain or not whole or not set(loops) <= set(kernel.body) or kernel.args.defaults:
            return None
        names = {node.id for node in ast.walk(kernel) if isinstance(node, ast.Name)}
        end = ends.pop()
        if any(name == _TURNS or name.startswith(_KEPT) for name in names) or end not in {
            argument.arg for argument in kernel.args.args
        } - _stored(kernel):
            return None
        groups = _same(kernel, list(loops))
        return cls(kernel, loops, end, groups, module.language) if groups else None

    @property
    def step(self) -> str:
        """Returns what the rows of a tile are apart, empty for 1."""
        return next(iter(self.loops.values())).column

    def text(self) -> str:
        """Returns the kernel with all turns in one tile."""
        copies: dict[int, ast.AST] = {}
        made = copy.deepcopy(self.kernel, copies)
        made.name = f"{made.name}__{_KEPT}"
        constexpr = ast.Attribute(ast.Name(self.language, ast.Load()), "constexpr", ast.Load())
        made.args.args.append(ast.arg(_TURNS, constexpr))
        replaced: dict[int, ast.expr] = {
            id(copies[id(place)]): ast.Name(_TURNS, ast.Load()) for rows in self.loops.values() for place in rows.places
        }
        begun: dict[int, ast.stmt] = {}
        for index, group in enumerate(self.groups):
            name = f"{_KEPT}_{index + 1}" if index else _KEPT
            begun[id(copies[id(group[0])])] = ast.Assign([ast.Name(name, ast.Store())], _plain(group[0]))
            replaced |= {id(copies[id(load)]): ast.Name(name, ast.Load()) for load in group}
        loops = {id(copies[id(loop)]) for loop in self.loops}
        made.body = list(_straight(made.body, loops, begun, replaced))
        head, colon, body = ast.unparse(ast.fix_missing_locations(made)).partition(":\n")
        return f"{head}{colon}{' ' * _INDENT}# {self.kernel.name} with all turns in one tile, loaded once\n{body}"


def _straight(
    suite: Sequence[ast.stmt], loops: set[int], begun: Mapping[int, ast.stmt], replaced: Mapping[int, ast.expr]
) -> Iterator[ast.stmt]:
    """Yields the statements with one turn of each of the `loops`; kept values are defined before the first load."""
    for statement in suite:
        if isinstance(statement, ast.For) and id(statement) in loops:
            assert isinstance(statement.target, ast.Name)
            yield ast.Assign([statement.target], ast.Constant(0))
            yield from _straight(statement.body, set(), begun, replaced)
            continue
        yield from (begun[id(node)] for node in ast.walk(statement) if id(node) in begun)
        made = _Replacing(replaced).visit(statement)
        assert isinstance(made, ast.stmt)
        yield made


class _Replacing(ast.NodeTransformer):
    def __init__(self, replaced: Mapping[int, ast.expr]) -> None:
        self._replaced = replaced

    def visit(self, node: ast.AST) -> ast.AST:
        return self._replaced.get(id(node)) or super().visit(node)


def _same(kernel: ast.FunctionDef, loops: Sequence[ast.For]) -> Sequence[Sequence[ast.Call]]:
    """Returns loads of one place in several of the `loops`, the first of them first, of unwritten tensors."""
    calls = [node for node in ast.walk(kernel) if isinstance(node, ast.Call)]
    written = accesses(kernel, "store")
    writing = [call for call in calls if last_name(call.func).startswith(_WRITING)]
    if len(writing) != sum(map(len, written.values())):
        return ()
    own = {id(call) for tensor, found in accesses(kernel, "load").items() if tensor not in written for call in found}
    groups: dict[str, list[tuple[int, ast.Call]]] = {}
    for index, loop in enumerate(loops):
        for load, place in _places(kernel, loop):
            if id(load) in own:
                groups.setdefault(place, []).append((index, load))
    several = [found for found in groups.values() if len({index for index, _ in found}) > 1]
    return [loads for found in several if (loads := _alike([load for _, load in found]))]


def _alike(loads: Sequence[ast.Call]) -> Sequence[ast.Call]:
    """Returns the loads, where what the first gives behind the mask is what the others want there."""
    others = [next((ast.unparse(k.value) for k in load.keywords if k.arg == "other"), "") for load in loads]
    return loads if all(other in ("", others[0]) for other in others) else ()


def _places(kernel: ast.FunctionDef, loop: ast.For) -> Iterator[tuple[ast.Call, str]]:
    """Yields the loads of a loop, each with its place and mask, in terms that do not change around it."""
    changing = _stored(kernel) - _stored(kernel, once=True)
    made: dict[str, ast.expr] = {}
    for statement in loop.body:
        for load in (node for node in ast.walk(statement) if _is_load(node)):
            assert isinstance(load, ast.Call)
            parts = [*load.args, *(k.value for k in load.keywords if k.arg == "mask")]
            written = [_Spelled(made, loop).visit(copy.deepcopy(part)) for part in parts]
            names = {n.id for part in written for n in ast.walk(part) if isinstance(n, ast.Name)}
            if not names & changing:
                yield load, ", ".join(map(ast.unparse, written))
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            made[statement.targets[0].id] = _Spelled(made, loop).visit(copy.deepcopy(statement.value))


def _is_load(node: ast.AST) -> bool:
    """Returns whether it is one whose arguments are known here."""
    return isinstance(node, ast.Call) and last_name(node.func) == "load" and {k.arg for k in node.keywords} <= _KEYWORDS


class _Spelled(ast.NodeTransformer):
    """An expression of a loop's body in what does not change with its names: `made` are those that are given there."""

    def __init__(self, made: Mapping[str, ast.expr], loop: ast.For) -> None:
        self._made = made
        self._counter = loop.target.id if isinstance(loop.target, ast.Name) else ""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Replaces the counter plus the rows' distance from it: nothing else may be known of both."""
        if isinstance(node.left, ast.Name) and node.left.id == self._counter:
            return ast.Name("turn", ast.Load())
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Returns what the loop gave it, if anything."""
        return copy.deepcopy(self._made.get(node.id, node))


def _stored(kernel: ast.FunctionDef, *, once: bool = False) -> set[str]:
    """Returns the variables that are assigned, anywhere or in one place alone."""
    found = [n.id for n in ast.walk(kernel) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return {name for name in found if not once or found.count(name) == 1}


def _end(loop: ast.For) -> str:
    """Returns the variable that a loop from 0 goes up to; empty where there is none."""
    match loop.iter:
        case ast.Call(args=[ast.Constant(value=0), ast.Name(id=name), _]):
            return name
    return ""


def _plain(load: ast.Call) -> ast.Call:
    """Returns the load without hints to the cache: nothing is read again."""
    return ast.Call(load.func, load.args, [k for k in load.keywords if k.arg != "eviction_policy"])


def _chosen(module: ModuleText, launch: Launch, passes: _Passes) -> Edit | None:
    """Returns the launch for long rows, else that of the kernel which keeps them; None where it is unknown."""
    statement = next((n for n in ast.walk(launch.host) if isinstance(n, ast.Expr) and n.value is launch.call), None)
    end, known = _passed(launch, passes.kernel, passes.end), constants(passes.kernel, launch)
    step = known.get(passes.step) if passes.step.isidentifier() else int(passes.step or 1)
    lanes = max((known.get(name, 0) for name in _numbered(passes.kernel)), default=0)
    if statement is None or end is None or not step or not 0 < lanes <= _MOST_ELEMENTS:
        return None
    margin = " " * statement.col_offset
    whole, length = (module.text[module.start(node) : module.end(node)] for node in (statement, end))
    kept = whole.replace(launch.kernel, f"{launch.kernel}__{_KEPT}", 1)[:-1].rstrip().rstrip(",")
    turns = f"triton.next_power_of_2(triton.cdiv({length}, {step}))"
    lines = [
        f"if 0 < {length} <= {_MOST_ELEMENTS // lanes * step}:",
        *_deeper(f"{kept}, {_TURNS}={turns})", margin),
        "else:",
        *_deeper(whole, margin),
    ]
    return Edit(module.start(statement), module.end(statement), f"\n{margin}".join(lines))


def _deeper(text: str, margin: str) -> list[str]:
    return [" " * _INDENT + line.removeprefix(margin) for line in text.split("\n")]


def _passed(launch: Launch, kernel: ast.FunctionDef, name: str) -> ast.expr | None:
    """Returns what a launch passes as `name`, where that is a name, or an attribute or an element of one."""
    names = [argument.arg for argument in kernel.args.args]
    by_place = dict(zip(names, launch.call.args, strict=False))
    value = by_place.get(name) or launch.keyword(name)
    called = value is None or any(isinstance(node, (ast.Call, ast.Starred)) for node in ast.walk(value))
    return None if called else value


def _numbered(kernel: ast.FunctionDef) -> Iterator[str]:
    """Yields the parameters by which lanes are numbered."""
    for node in ast.walk(kernel):
        match node:
            case ast.Call(args=[ast.Constant(value=0), ast.Name(id=name)]) if last_name(node.func) == "arange":
                yield name
