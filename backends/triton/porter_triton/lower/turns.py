"""How often a loop turns that threads begin or end differently, told before it starts: none is asked in between."""

from __future__ import annotations

from dataclasses import dataclass, replace

from porter.syntax.nodes import For, Name, While
from porter_triton.lower import access, counting, expressions, ranges, spans
from porter_triton.lower.arithmetic import binary
from porter_triton.lower.comparisons import compare
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert, settled
from porter_triton.lower.counting import Progress
from porter_triton.lower.flow import leaves
from porter_triton.lower.places import Variable
from porter_triton.lower.types import Arithmetic, common
from porter_triton.lower.values import Scalar, number


@dataclass(frozen=True, slots=True)
class Turns:
    """`header` is the `range` that turns as often as the thread that goes on longest."""

    header: str
    progress: Progress
    bound: Scalar

    def again(self, cx: Context, line: int) -> Scalar:
        """Returns whether a thread goes on after its step."""
        return compare(self.progress.operator, _counter(cx, self.progress, line), self.bound, line)


def turns(cx: Context, node: For | While, going: Variable) -> Turns | None:
    """Returns what is known of a loop before its first turn; None where threads may leave it, or the body decides."""
    if not leaves(node.body).isdisjoint({"break", "return"}):
        return None
    progress = counting.progress(cx, node)
    if progress is None or not isinstance(cx.find(progress.name), Variable):
        return None
    counter, step = _counter(cx, progress, node.line), expressions.scalar(cx, progress.step)
    bound = access.frozen(cx, expressions.scalar(cx, progress.bound))
    if not all(isinstance(v.type, Arithmetic) and not v.type.is_float for v in (counter, bound, step)):
        return None
    most = spans.longest(cx, node, progress) if step.fixed == 1 else None
    header = f"range({ranges.ranged(most).text})" if most is not None else None
    return Turns(header or _header(progress, going.name, (counter, bound, step)), progress, bound)


def _counter(cx: Context, progress: Progress, line: int) -> Scalar:
    return expressions.scalar(cx, Name(progress.name, (), line))


def _header(progress: Progress, going: str, values: tuple[Scalar, Scalar, Scalar]) -> str:
    """From where the first thread begins, if all end alike; else as many turns as the most that a thread does."""
    counter, bound, step = values
    assert isinstance(counter.type, Arithmetic)
    assert isinstance(bound.type, Arithmetic)
    type_ = common(counter.type, bound.type)
    counter, limit = convert(counter, type_), counting.limit(progress.operator, convert(bound, type_))
    if progress.sign == "+" and not bound.varying and not step.varying:
        first = f"tl.min(tl.where({going}, {counter.text}, {limit.text}), axis=0)"
        arguments = [replace(counter, text=first, varying=False, interval=None), limit, convert(step, type_)]
        return ranges.header([ranges.ranged(a).text for a in arguments], unit=step.fixed == 1)
    ends = (limit, counter) if progress.sign == "+" else (counter, limit)
    count = binary("-", *ends, 0)
    if step.fixed != 1:
        count = binary("/", binary("+", count, binary("-", step, number(1), 0), 0), step, 0)
    count = settled(count)
    most = replace(count, text=f"tl.max(tl.where({going}, {count.text}, 0), axis=0)", varying=False, interval=None)
    return f"range({ranges.ranged(most).text})"
