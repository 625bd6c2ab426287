"""A plan without a model: intents from a table, those that fit a program, made by turning the knobs of its space."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as resources

from porter.agent.plan.proposer import NAME, Revised
from porter.agent.plan.world import ROOT, Intent, Program, State, World, program_of
from porter.agent.writer import Draft
from porter.evolve.axis import Axis
from porter.evolve.candidate import Candidate, File, Origin, Value
from porter.evolve.proposer import Request
from porter.evolve.space import Knob, Point, Space

_SHARE = re.compile(r"(\d+)% of the bandwidth of a copy")
_STEPS = (1, 2, 3)
_MOST = "most"  # a leap: made only where the archive says that it may help


@dataclass(frozen=True, slots=True)
class Rule:
    """A row of `intents.toml`."""

    kind: str
    knobs: str
    change: str
    expected: float
    hypothesis: str
    when: tuple[str, ...] = ()


@cache
def rules() -> tuple[Rule, ...]:
    """The table."""
    rows = tomllib.loads((resources("porter.agent.plan") / "intents.toml").read_text("utf-8"))["intent"]
    return tuple(Rule(**{**row, "when": tuple(row.get("when", ()))}) for row in rows)


@dataclass(frozen=True, slots=True)
class RulePlanner:
    """Plants on each program worth standing on the intents that fit it: what a search drew, and what paid.

    `axes` are those of the archive, by which programs are told apart.
    """

    axes: tuple[Axis, ...] = ()

    def revise(self, world: World, request: Request) -> Revised:
        """With intents for programs that have none yet; for one the search drew, only where those there are run out."""
        for parent, digest, base in self._bases(world, request):
            spared = parent == ROOT and len(world.frontier) >= request.count
            if not spared and digest not in {intent.base for intent in world.intents}:
                for rule in self._fitting(base):
                    world = world.planted(_intent(rule, parent, digest, base), base)
        for member in request.parents[:1] if not world.frontier else ():
            world = world.reopened(member.candidate.digest, program_of(member))
        return Revised(world)

    def _bases(self, world: World, request: Request) -> Iterator[tuple[int, str, Program]]:
        for intent in world.intents:
            # What was dropped at first is no longer at hand, should it be kept when its base is measured anew.
            if intent.state is State.KEPT and intent.best and intent.best.digest in world.programs:
                yield intent.id, intent.best.digest, world.programs[intent.best.digest]
        for member in request.parents[:1]:
            yield ROOT, member.candidate.digest, program_of(member)

    def _fitting(self, base: Program) -> Iterator[Rule]:
        places = {f"{axis.name}: {axis.labels[at]}" for axis, at in zip(self.axes, base.cell, strict=False)}
        names = {place.split(":")[0] for place in places}
        for rule in rules():
            told = [place for place in rule.when if place.split(":")[0] in names]
            if places & set(told) or (not told and rule.change != _MOST):
                yield rule


def _intent(rule: Rule, parent: int, digest: str, base: Program) -> Intent:
    """No more is expected than what the bandwidth of the device leaves, where it was measured."""
    shares = [int(share) / 100 for share in _SHARE.findall(base.feedback)]
    limit = 1 / min(shares) if shares and min(shares) > 0 else rule.expected
    return Intent(0, parent, rule.kind, rule.hypothesis, min(rule.expected, limit), digest, rule.when)


@dataclass(frozen=True, slots=True)
class KnobMaker:
    """Makes an intent by turning the knobs it names, in the space of the seed or in that of a program's own text."""

    space: Space
    space_of: Callable[[Sequence[File]], Space]

    def make(self, world: World, intent: Intent, request: Request, seed: int, seen: Set[str]) -> Draft | None:  # noqa: ARG002 - nothing is drawn
        """The next of its points: all its knobs by one step, then each alone where that means anything, then by two."""
        base = world.programs[intent.base]
        rule = next((rule for rule in rules() if rule.kind == intent.kind), None)
        if rule is None:
            return None
        of_seed = bool(self.space.knobs) and self.space.legal(base.point)
        space = self.space if of_seed else self.space_of(base.files)
        at = base.point if of_seed else space.seed()
        for point in _points(space, at, rule):
            note = f"intent {intent.id}, {intent.kind}: {space.told(at, point)}"
            made = space.candidate(point, Origin(NAME, (intent.base,), note))
            if made and made.digest not in seen:
                # A point of another space means nothing in that of the search.
                return Draft(made if of_seed else Candidate(made.files, made.origin), ())
        return None


def _points(space: Space, at: Point, rule: Rule) -> Iterator[Point]:
    knobs = [knob for knob in space.knobs if re.fullmatch(rule.knobs, knob.name.rsplit(".", 1)[-1])]
    together = rule.change == _MOST
    alone = [[knob] for knob in knobs] if len(knobs) > 1 and not together else []
    for step in _STEPS[:1] if together else _STEPS:
        for chosen in (knobs, *alone):
            values = {knob.name: _turned(knob, at[knob.name], rule.change, step) for knob in chosen}
            point = {**at, **{name: value for name, value in values.items() if value is not None}}
            if point != at and space.legal(point):
                yield point


def _turned(knob: Knob, value: Value, change: str, step: int) -> Value | None:
    """The value `step` steps up or down, the most there is, or the `step`th other word; None without one.

    A word stands for a number the space does not know: up from it begins in the upper half, down in the lower.
    """
    if change == "other":
        others = [v for v in knob.values if v not in (value, knob.default)]
        return others[step - 1] if step <= len(others) else None
    numbers = sorted(v for v in knob.values if isinstance(v, int))
    half = len(numbers) // 2
    if change == _MOST:
        ahead = numbers[-1:]
    elif isinstance(value, int):
        ahead = [v for v in numbers if v > value] if change == "up" else [v for v in numbers[::-1] if v < value]
    else:
        ahead = numbers[half:] if change == "up" else numbers[:half][::-1]
    return ahead[step - 1] if step <= len(ahead) else None
