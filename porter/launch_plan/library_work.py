"""Follows what library operators compute in a plan: it becomes a result only where the original has them compute, too.

Anybody may look at what an operator made. A kernel may be given it, and it may be a result, only where the original's
own host code applies that operator; and a result needs a kernel before it. What is made of constants alone is about
sizes, and free.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from porter.contract.model.dtype import DType
from porter.execution.job import FaultKind
from porter.launch_plan.steps import Compute, Constant, Input, Launch, Move, Read, Return, Step, TensorView, Variable
from porter.launch_plan.views import made, outputs, used


class PlanRefusedError(Exception):
    """A step that nobody carries out: `kind` says which rule it breaks, `line` is the candidate's, 0 where unknown."""

    def __init__(self, kind: FaultKind, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.line = line


@dataclass
class _Content:
    """The possible contents of a buffer.

    `operator` made it, at `line`, `of_floats` as it was given some; a kernel `launched` before may have had a part in
    it, and so may what the call was given where it `depends`. `is_argument` says that the caller sees it, `is_variable`
    that any kernel does; it holds addresses of the buffers that it `points` to.
    """

    operator: str = ""
    line: int = 0
    of_floats: bool = False
    launched: bool = False
    depends: bool = False
    is_argument: bool = False
    is_variable: bool = False
    points: set[int] = field(default_factory=set)


class LibraryWork:
    """Follows the steps of a candidate's calls; `permitted` are the operators of its original's own host code."""

    def __init__(self, permitted: frozenset[str] = frozenset()) -> None:
        self.permitted = permitted
        self._contents: dict[int, _Content] = {}

    def check(self, step: Step) -> None:
        """Raises `PlanRefusedError` where `step` uses what an operator computed otherwise than it may."""
        match step:
            case Launch(kernel):
                for content in self._reached(step):
                    self._check(content, f"the kernel {kernel!r} is given", step.line)
            case Move(to, source):
                self._check(self._of(source), "it copies", 0)
                if self._of(to).is_argument:
                    self._check_launched(self._of(source), "an argument gets")
            case Return():
                for content in map(self._of, used(step)):
                    self._check(content, "it returns", 0)
                    self._check_launched(content, "it returns")
            case Compute(operator) if self.permits(operator):
                for content in map(self._of, used(step)):
                    self._check(content, f"{plain(operator)} is given", step.line)

    def follow(self, step: Step) -> None:
        """Keeps in mind what `step` puts where. Raises `PlanRefusedError` where that is an argument and may not be."""
        given = [self._of(view) for view in used(step)]
        for buffer in made(step):
            is_input = isinstance(step, Input)
            self._contents[buffer] = _Content(
                is_argument=is_input, depends=is_input, is_variable=isinstance(step, Variable)
            )
        match step:
            case Constant(buffer, pointers=pointers):
                self._contents[buffer].points = {pointer.buffer for pointer in pointers}
            case Launch():
                for content in self._reached(step):
                    content.launched = content.depends = True
            case Move(to, source):
                self._moved(self._of(to), self._of(source))
            case Compute():
                self._computed(step, given)

    def _reached(self, step: Launch) -> Iterator[_Content]:
        """A kernel reaches what it is given, variables, and all that these hold addresses of."""
        pending = [view.buffer for view in used(step)]
        pending += [buffer for buffer, content in self._contents.items() if content.is_variable]
        seen = set[int]()
        while pending:
            if (buffer := pending.pop()) not in seen:
                seen.add(buffer)
                content = self._contents.setdefault(buffer, _Content())
                pending.extend(content.points)
                yield content

    def _moved(self, to: _Content, source: _Content) -> None:
        to.launched |= source.launched
        to.depends |= source.depends
        to.points |= source.points
        if source.operator:
            to.operator, to.line, to.of_floats = source.operator, source.line, source.of_floats

    def _computed(self, step: Compute, given: Iterable[_Content]) -> None:
        floats = any(DType(view.dtype).is_float or self._of(view).of_floats for view in used(step))
        for view in outputs(step) if any(one.depends for one in given) else ():
            content = self._of(view)
            content.launched |= any(one.launched for one in given)
            content.depends = True
            content.operator, content.line, content.of_floats = step.operator, step.line, floats
            if content.is_argument:
                self._check(content, "an argument gets", step.line)
                self._check_launched(content, "an argument gets")

    def is_launched(self, buffer: int) -> bool:
        """Returns True where a launch may have had a part in what is in `buffer`."""
        return buffer in self._contents and self._contents[buffer].launched

    def is_made(self, step: Read) -> bool:
        """Returns True where what `step` reads was computed by an operator."""
        return bool(self._of(step.source).operator)

    def is_made_of_floats(self, step: Read) -> bool:
        """Returns True where what `step` reads was computed by an operator that was given floats."""
        return self.is_made(step) and self._of(step.source).of_floats

    def is_handed_on(self, step: Read) -> bool:
        """Returns True where what `step` reads was computed by an operator that the original does not apply."""
        return self.is_made(step) and not self.permits(self._of(step.source).operator)

    def permits(self, operator: str) -> bool:
        """Returns True for an operator that the original's own host code applies, in place or not."""
        name = plain(operator).strip("_")
        return name in self.permitted or f"{name}_" in self.permitted

    def _of(self, view: TensorView) -> _Content:
        return self._contents.setdefault(view.buffer, _Content())

    def _check(self, content: _Content, what: str, line: int) -> None:
        if content.operator and not self.permits(content.operator):
            message = f"{what} what the library's {plain(content.operator)} computed"
            raise PlanRefusedError(FaultKind.LIBRARY, message, content.line or line)

    def _check_launched(self, content: _Content, what: str) -> None:
        if content.operator and not content.launched:
            message = f"{what} what the library's {plain(content.operator)} computed before any kernel was launched"
            raise PlanRefusedError(FaultKind.DECOY, message, content.line)


def plain(operator: str) -> str:
    """The name of an operator without its overload: `sum` for `sum.dim_IntList`."""
    return operator.split(".", maxsplit=1)[0]
