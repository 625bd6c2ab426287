"""How code that is left early is told to those who come after: a flag for each way out."""

from __future__ import annotations

from porter_triton.lower import access
from porter_triton.lower.context import Context, Target
from porter_triton.lower.emit import Kind, Line
from porter_triton.lower.places import Place, Variable
from porter_triton.lower.types import BOOL
from porter_triton.lower.values import AND, OR, number
from porter_triton.refusal import Refusal


def flags(cx: Context, ways: frozenset[str], line: int) -> list[Variable]:
    """The flags that code which leaves in these ways may set."""
    return [target_of(cx, way, line).flag for way in sorted(ways)]


def target_of(cx: Context, way: str, line: int) -> Target:
    """Returns what `return`, `break` or `continue` leaves here."""
    for target in reversed(cx.targets):
        if way in target.kinds:
            return target
        if way != "return" and "return" in target.kinds:
            break
    raise Refusal(line, f"`{way}` with nothing to leave")


def push_target(cx: Context, kind: str, result: Place | None = None, *, node: object, kernel: bool = False) -> Target:
    """Open what `kind` leaves: the innermost scope."""
    key = cx.key(node, kind)
    varying = key in cx.decisions.varying
    name = cx.names.declare({"return": "returned", "break": "broken", "continue": "skipped"}[kind], (BOOL, varying))
    flag = Variable(name, BOOL, key, cx.depth - 1, varying, fresh=False)
    text, level = access.typed(cx, number(0, BOOL), flag)
    cx.emit(Line(text, name, level=level, value=Kind(BOOL, varying)))
    target = Target(frozenset({kind}), cx.depth, flag, result, kernel)
    cx.targets.append(target)
    return target


def leave(cx: Context, way: str, line: int) -> None:
    """Set the flag of the lanes that run."""
    flag = target_of(cx, way, line).flag
    mask = cx.mask_for(flag.depth)
    if mask is None:
        access.assign(cx, flag, number(1, BOOL), line)
        return
    if mask.varying and not flag.varying:
        cx.decisions.varying.add(flag.key)
    cx.emit(Line(f"{flag.name} | {mask.within(AND)}", flag.name, level=OR, value=Kind(BOOL, flag.varying)))
