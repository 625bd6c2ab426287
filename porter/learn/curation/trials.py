"""Tries at a class in a confined process of its own: guesses, repairs of these, and sizes worth timing at last."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from porter.execution.job import Limits
from porter.learn.curation.guessing import first_call
from porter.learn.curation.question import Answer, Ask, Question, answer_of, encoded
from porter.learn.curation.records import Call, Reached, ReadClass, Report, Signature, Trial
from porter.learn.curation.repairing import alternatives, repairs
from porter.learn.curation.scaling import scaled
from porter.worker.child import Child, Death

_WORKER = "porter.learn.curation.worker"
_LIMITS = Limits(cpu_s=10.0, wall_s=120.0)
_MOST_TRIES = 40
_MOST_CPU_S = 20.0  # of all tries at a class: whole networks take seconds each
_MOST_DEATHS = 2  # a class whose process was killed so often is given up
_FURTHER = (Reached.NOTHING, Reached.IMPORTED, Reached.BUILT, Reached.RAN, Reached.FIT)


@dataclass
class Confined:
    """A class in a process that is started when it is asked, and anew where it was killed."""

    path: Path
    work: Path
    name: str
    child: Child | None = None
    deaths: int = 0
    cpu_s: float = 0.0  # that its answers took

    def ask(self, what: Ask, call: Call | None = None) -> Answer:
        """Returns its answer, or in its place how the process ended."""
        if self.child is None:
            self.child = Child(_WORKER, [str(self.path)], self.work, _LIMITS, forked=True, sealed=True)
            if death := self.child.begin():
                return self._dead(death)
        before = self.child.cpu_s()
        said = self.child.ask(encoded(Question(what, self.name, call)), parts=1)
        if isinstance(said, Death):
            self.cpu_s += _LIMITS.cpu_s
            return self._dead(said)
        self.cpu_s += self.child.cpu_s() - before
        try:
            return answer_of(said[0])
        except ValueError as error:
            return Answer(error=str(error))

    def _dead(self, death: Death) -> Answer:
        self.child = None
        self.deaths += 1
        return Answer(error=f"{death.kind}: {death.message}")


@contextmanager
def confined(code: str, name: str) -> Iterator[Confined]:
    """A process for the class `name` of `code`."""
    with TemporaryDirectory(prefix="porter-curate-", ignore_cleanup_errors=True) as folder:
        path, work = Path(folder, "module.py"), Path(folder, "work")
        path.write_text(code, "utf-8", errors="replace")
        work.mkdir()
        place = Confined(path, work, name)
        try:
            yield place
        finally:
            if place.child is not None:
                place.child.end()


def tried(one: ReadClass) -> Trial:
    """Returns what came of a class: the call with which it makes a task, or how far it came at best."""
    with confined(one.code, one.name) as place:
        answer = place.ask(Ask.SIGNATURE)
        start = Trial(one.key, one.digest, 0, Reached.NOTHING, answer.error, None, None, 0, ())
        return start if answer.signature is None else _searched(place, start, answer.signature)


def _searched(place: Confined, best: Trial, signature: Signature) -> Trial:
    waiting = deque([first_call(signature)])
    seen = set(waiting)
    tries = 0
    while waiting and tries < _MOST_TRIES and place.cpu_s < _MOST_CPU_S and place.deaths < _MOST_DEATHS:
        call, tries = waiting.popleft(), tries + 1
        answer = place.ask(Ask.TRY, call)
        report = answer.report or Report(Reached.IMPORTED, answer.error, "", (), (), 0)
        if report.reached is Reached.FIT:
            return _scaled(place, replace(best, tries=tries, reached=Reached.FIT, error="", call=call), report)
        came_further = _FURTHER.index(report.reached) > _FURTHER.index(best.reached)
        if came_further:
            best = replace(best, reached=report.reached, error=report.error)
        # What an error asks for is followed at once, and so is all that begins with a step further.
        at_once, later = list(repairs(call, report)), list(alternatives(call, report, signature))
        first, last = (at_once + later, []) if came_further else (at_once, later)
        waiting.extendleft(reversed(_fresh(first, seen)))
        waiting.extend(_fresh(last, seen))
    return replace(best, tries=tries)


def _fresh(calls: Sequence[Call], seen: set[Call]) -> list[Call]:
    """Returns those that were not seen before, each once, which are then."""
    fresh = [one for one in dict.fromkeys(calls) if one not in seen]
    seen.update(fresh)
    return fresh


def _scaled(place: Confined, fit: Trial, report: Report) -> Trial:
    assert fit.call is not None
    larger = scaled(fit.call, report.bytes_moved, lambda call: place.ask(Ask.SHAPES, call).report)
    call, moved = larger if larger is not None else (None, report.bytes_moved)
    return replace(fit, scaled=call, bytes_moved=moved, operations=report.operations)
