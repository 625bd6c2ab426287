"""The text of the helpers a generated module carries with it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from porter.python_tree import module_tree
from porter_triton.device.helper_calls import Following, HelperCall

_PREFIX = "device_"  # of a helper that a function of the module is called like
# In this order they appear in a module: what is called stands before what calls it.
_ELEMENTWISE = ("bits", "math", "special", "integer")
_FILES = (*_ELEMENTWISE, "warp", "reduce", "vector", "atomic")
# Functions of Triton in which lanes wait for each other; atomic operations wait for memory.
_MEETING = frozenset({
    "sum", "xor_sum", "max", "min", "argmax", "argmin", "reduce", "associative_scan", "cumsum", "cumprod", "gather",
    "sort", "histogram", "dot", "debug_barrier",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Helper:
    """A @triton.jit function: its text with the decorator, and as a tree, and the helpers it calls itself.

    `elementwise`: of tiles, each element of the result depends on those at its place only. `lanes_meet`: lanes wait for
    each other in it, or for what another one does to memory.
    """

    name: str
    text: str
    calls: frozenset[str]
    elementwise: bool
    lanes_meet: bool
    tree: ast.FunctionDef


@cache
def helpers() -> Mapping[str, Helper]:
    """Every helper by name, in the order of their appearance. Neither triton nor torch is imported."""
    found: dict[str, tuple[str, ast.FunctionDef]] = {}
    elementwise: set[str] = set()
    for file in _FILES:
        text = (files("porter_triton.device") / f"{file}.py").read_text("utf-8")
        found |= {node.name: (text, node) for node in module_tree(text).body if isinstance(node, ast.FunctionDef)}
        elementwise |= found.keys() if file in _ELEMENTWISE else set()
    return {
        name: Helper(
            name, _text(text, node), _names(node) & found.keys() - {name}, name in elementwise, _lanes_meet(node), node
        )
        for name, (text, node) in found.items()
    }


def name_beside(helper: str, host_names: frozenset[str]) -> str:
    """Returns what a helper is called in a module with functions of these names."""
    return f"{_PREFIX}{helper}" if helper in host_names else helper


def helper_source(calls: Iterable[HelperCall], host_names: frozenset[str] = frozenset()) -> str:
    """The text of the helpers that are called and of those they call, each once, two empty lines between them.

    What no call comes to is left out. The module has functions called `host_names`. Raises KeyError for a name that is
    no helper.
    """
    needed: dict[str, set[HelperCall]] = {}
    ways: dict[ast.If, set[bool | None]] = {}
    waiting = list(calls)
    while waiting:
        call = waiting.pop()
        helper = helpers()[call.name]
        if call in needed.setdefault(call.name, set()):
            continue
        needed[call.name].add(call)
        following = Following(tree_of, waiting.append, lambda branch, way: ways.setdefault(branch, set()).add(way))
        following.body(helper.tree, dict(call.known))
    only = {branch: way.pop() for branch, way in ways.items() if len(way) == 1}
    texts = (_renamed(helper, host_names) for name, helper in helpers().items() if name in needed)
    return "\n\n\n".join(_without_branches(helper, only) for helper in texts)


def _renamed(helper: Helper, host_names: frozenset[str]) -> Helper:
    """The helper with the names of helpers that it has in a module with functions of these names."""
    clashes = host_names & {helper.name, *helper.calls}
    if not clashes:
        return helper
    lines = helper.text.splitlines()
    first = (helper.tree.end_lineno or 0) - len(lines) + 1
    named = [(n.lineno, n.col_offset) for n in ast.walk(helper.tree) if isinstance(n, ast.Name) and n.id in clashes]
    if helper.name in clashes:
        named.append((helper.tree.lineno, helper.tree.col_offset + len("def ")))
    for line, column in sorted(named, reverse=True):
        text = lines[line - first]
        lines[line - first] = f"{text[:column]}{_PREFIX}{text[column:]}"
    return replace(helper, text="\n".join(lines))


def tree_of(name: str) -> ast.FunctionDef | None:
    """The helper of this name; None where there is none."""
    return helpers()[name].tree if name in helpers() else None


def _without_branches(helper: Helper, only: Mapping[ast.If, bool | None]) -> str:
    """The text with the one side of a branch in its place, where calls take no other."""
    lines = helper.text.splitlines()
    shift = helper.tree.end_lineno or 0
    first = shift - len(lines) + 1
    branches = [node for node in ast.walk(helper.tree) if isinstance(node, ast.If) and only.get(node) is not None]
    for branch in sorted(branches, key=lambda node: node.lineno, reverse=True):
        side = branch.body if only[branch] else branch.orelse
        kept = lines[side[0].lineno - first : (side[-1].end_lineno or 0) - first + 1] if side else []
        inward = side[0].col_offset - branch.col_offset if side else 0
        lines[branch.lineno - first : (branch.end_lineno or 0) - first + 1] = [line[inward:] for line in kept]
    return "\n".join(lines)


def with_callees(names: Iterable[str]) -> frozenset[str]:
    """The helpers `names` and those they call. Raises KeyError for a name that is no helper."""
    needed: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += helpers()[name].calls
    return frozenset(needed)


def _text(source: str, node: ast.FunctionDef) -> str:
    first = min((d.lineno for d in node.decorator_list), default=node.lineno)
    return "\n".join(source.splitlines()[first - 1 : node.end_lineno])


def _lanes_meet(node: ast.AST) -> bool:
    called = {n.func.attr for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)}
    return not _MEETING.isdisjoint(called) or any(name.startswith("atomic_") for name in called)


def _names(node: ast.AST) -> frozenset[str]:
    return frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
