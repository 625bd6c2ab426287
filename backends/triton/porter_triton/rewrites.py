"""Rules over the text of a module of Triton kernels, whoever wrote it. At most they change how results are rounded."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from porter.backend import PortedFile
from porter.evolve.candidate import File
from porter.evolve.rewrite import Rewritten
from porter.source.edit import Edit, apply_edits
from porter_triton.schedules.text import ModuleText, last_name

_NEAREST = {"div_rn": "({0} / {1})", "sqrt_rn": "{tl}.sqrt({0})"}
_ROUNDING = frozenset(("floor", "ceil", "rint", "round", "trunc", "llrint", "nearbyint", "float2int_rn"))
_CASTS = frozenset(("to", "cast"))
_Rule = Callable[[ModuleText, ast.FunctionDef], Iterable[Edit]]


def rewrites(files: tuple[PortedFile, ...]) -> Iterator[Rewritten]:
    """What each rule makes of each kernel of the first file in which it changes something."""
    module = ModuleText.of(files[0].text)
    if module is None or not module.language:
        return
    for name, rule in _RULES.items():
        for family, kernels in module.families.items():
            whole = any(_makes_whole_numbers(module.jitted[kernel]) for kernel in kernels)
            edits = [] if whole else [edit for kernel in kernels for edit in rule(module, module.jitted[kernel])]
            if edits:
                changed = (replace(files[0], text=apply_edits(module.text, edits)), *files[1:])
                yield Rewritten(name, family, tuple(File(file.name, file.text) for file in changed))


def _approximate(module: ModuleText, kernel: ast.FunctionDef) -> Iterator[Edit]:
    """`tl.div_rn(a, b)` as `(a / b)` and `tl.sqrt_rn(a)` as `tl.sqrt(a)`: the last bit for half of the instructions.

    Of nested ones the innermost; the others are there for the next time.
    """
    for call in ast.walk(kernel):
        if not isinstance(call, ast.Call) or call.keywords or last_name(call.func) not in _NEAREST:
            continue
        inner = [n for argument in call.args for n in ast.walk(argument) if isinstance(n, ast.Call)]
        if not any(last_name(node.func) in _NEAREST for node in inner):
            given = [f"({module.text[module.start(a) : module.end(a)]})" for a in call.args]
            yield module.replaced(call, _NEAREST[last_name(call.func)].format(*given, tl=module.language))


def _by_reciprocal(module: ModuleText, kernel: ast.FunctionDef) -> Iterator[Edit]:
    """`a / b` in a loop that does not change `b` as `a * (1.0 / b)`, which the compiler takes out of the loop."""
    loops = [node for node in ast.walk(kernel) if isinstance(node, (ast.For, ast.While))]
    inside = {id(node): node for loop in loops for statement in loop.body for node in ast.walk(statement)}
    changed = {n.id for n in inside.values() if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    targets = [loop.target for loop in loops if isinstance(loop, ast.For)]
    changed |= {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    for node in inside.values():
        match node:
            case ast.BinOp(op=ast.Div(), left=left, right=ast.Name(id=divisor) as right) if divisor not in changed:
                between = module.text[module.end(left) : module.start(right)]
                yield Edit(module.end(left), module.end(right), f"{between.replace('/', '*', 1)}(1.0 / {divisor})")


def _makes_whole_numbers(kernel: ast.FunctionDef) -> bool:
    """Whether quotients or roots may become whole numbers, in which the last bit shows."""
    calls = [node for node in ast.walk(kernel) if isinstance(node, ast.Call)]
    if any(last_name(call.func) in _ROUNDING for call in calls):
        return True
    fractions = _fractions(kernel)
    casts = (call for call in calls if last_name(call.func) in _CASTS and _is_whole(call))
    return any(_has_fraction(part, fractions) for call in casts for part in (call.func, *call.args))


def _fractions(kernel: ast.FunctionDef) -> set[str]:
    """The variables that quotients and roots go into, through any number of others."""
    found: set[str] = set()
    assigned = [node for node in ast.walk(kernel) if isinstance(node, (ast.Assign, ast.AugAssign))]
    while True:
        more = {
            name.id
            for node in assigned
            if _has_fraction(node.value, found)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            for name in ast.walk(target)
            if isinstance(name, ast.Name)
        }
        if more <= found:
            return found
        found |= more


def _has_fraction(node: ast.AST, names: set[str]) -> bool:
    return any(
        (isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div))
        or (isinstance(part, ast.Call) and last_name(part.func) in _NEAREST)
        or (isinstance(part, ast.Name) and part.id in names)
        for part in ast.walk(node)
    )


def _is_whole(cast: ast.Call) -> bool:
    """Whether it may be to a type of whole numbers: to any that is not plainly one of floats."""
    types = [last_name(argument) for argument in cast.args[-1:]]
    return not types or not types[0].startswith(("float", "bfloat", "fp"))


_RULES: Mapping[str, _Rule] = {"approximate division": _approximate, "division by reciprocal": _by_reciprocal}
