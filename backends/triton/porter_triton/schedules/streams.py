"""Finds the tensors that a kernel reads and writes, and changes its hints to the cache about them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from porter.evolve.candidate import Value
from porter.evolve.proposing.edited import EditedKnob, Edits, edited_knob
from porter_triton.schedules.text import ModuleText, last_name

_FIRST, _LAST = "evict_first", "evict_last"
_LAST_THEN_FIRST = "evict_last, then evict_first"
_DEEPEST = 40  # names followed to the tensor they point into


def streams(module: ModuleText) -> Iterator[EditedKnob]:
    """Yields knobs for each tensor of each kernel: for its loads, and for its stores."""
    for family, names in module.families.items():
        for kind, offered in (("load", (_FIRST, _LAST)), ("store", (_FIRST,))):
            found: dict[str, list[list[ast.Call]]] = {}
            for name in names:
                for tensor, calls in accesses(module.jitted[name], kind).items():
                    found.setdefault(tensor, []).append(calls)
            for tensor, groups in found.items():
                passes = (_LAST_THEN_FIRST,) if kind == "load" and any(len(calls) > 1 for calls in groups) else ()
                yield edited_knob(f"{family}.{tensor}.{kind}s", (*offered, *passes), _Hint(module, groups))


class _Hint:
    def __init__(self, module: ModuleText, groups: Sequence[Sequence[ast.Call]]) -> None:
        self._module = module
        self._groups = groups

    def __call__(self, value: Value) -> Edits:
        hints = [(call, hint) for calls in self._groups for call, hint in _hints(calls, str(value))]
        return [
            edit for call, hint in hints for edit in self._module.with_keywords(call, {"eviction_policy": f'"{hint}"'})
        ]


def _hints(calls: Sequence[ast.Call], value: str) -> Iterator[tuple[ast.Call, str]]:
    """Yields the last pass over what is read several times gives it up."""
    for index, call in enumerate(calls):
        last = _FIRST if index == len(calls) - 1 else _LAST
        yield call, last if value == _LAST_THEN_FIRST else value


def accesses(kernel: ast.FunctionDef, kind: str) -> Mapping[str, list[ast.Call]]:
    """Returns the loads or stores of `kernel` by the parameter they go through, each in the order of the text."""
    parameters = {argument.arg for argument in kernel.args.args}
    made: dict[str, ast.expr] = {}
    for node in ast.walk(kernel):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            made.setdefault(node.targets[0].id, node.value)
    found: dict[str, list[ast.Call]] = {}
    calls = (node for node in ast.walk(kernel) if isinstance(node, ast.Call) and last_name(node.func) == kind)
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        tensor = _tensor(call.args[0], parameters, made) if call.args else ""
        if tensor and isinstance(call.func, ast.Attribute):
            found.setdefault(tensor, []).append(call)
    return found


def _tensor(pointer: ast.expr, parameters: set[str], made: Mapping[str, ast.expr]) -> str:
    """Returns the parameter that `pointer` points into, which comes first in its sums; empty where it is unknown."""
    for _ in range(_DEEPEST):
        match pointer:
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub()):
                pointer = left
            case ast.Call(func=ast.Attribute(value=value, attr="to")):
                pointer = value
            case ast.Call(args=[first, *_]):
                pointer = first
            case ast.Name(id=name) if name in made and name not in parameters:
                pointer = made[name]
            case ast.Name(id=name):
                return name if name in parameters else ""
            case _:
                return ""
    return ""
