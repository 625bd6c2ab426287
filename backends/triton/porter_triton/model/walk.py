"""Walks one program of a kernel from PTX: what it does, and how long one of its warps takes if it is alone.

All threads of the program go together, for Triton's branches are uniform: one that only some threads take is taken
forward by none and backward by all. A loop whose turns are alike is walked three times; the others are reckoned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from porter.cost_model.program import Access
from porter_triton.model.costs import LATENCY, issue_slots, latency
from porter_triton.model.lanes import WARP_SIZE, Value, computed, over_warps, selected, shuffled
from porter_triton.model.memory import Accesses, bank_cycles
from porter_triton.model.ptx import Code, Instruction, words
from porter_triton.model.turns import ENDLESS, Gap, turns_left

_ALIKE, _MANY, _SAME = 3, 64, 1e-6  # turns that are compared; from how many on they need not be alike to a cycle
MOST_STEPS = 40_000  # instructions of one program; beyond, the walk ends and says so


@dataclass(frozen=True, slots=True)
class Launched:
    """A program of a launch: the values of the kernel's parameters, the grid, and which of its programs is walked."""

    arguments: Sequence[float]
    grid: tuple[int, int, int]
    program: tuple[int, int, int]
    warps: int


@dataclass(slots=True)
class Counts:
    """The counts of one program: `slots` are one warp's issue slots, `cycles` are those until its end.

    `shared` are the cycles for which one warp has the path to shared memory, which shuffles take, too.
    """

    slots: float = 0.0
    cycles: float = 0.0
    barriers: int = 0
    shared: float = 0.0
    steps: int = 0
    accesses: Accesses = field(default_factory=Accesses)


class TooLongError(Exception):
    """The program goes on for longer than it is walked."""


def walk(code: Code, launched: Launched) -> Counts:
    """Returns the counts of one program. Raises `TooLongError`."""
    return _Walk(code, launched).end()


@dataclass(slots=True)
class _Turn:
    """The state at the end of a loop's turn."""

    registers: dict[str, Value]
    counts: tuple[float, ...]
    accesses: dict[int, Access]
    gaps: dict[int, Gap]


class _Walk:
    def __init__(self, code: Code, launched: Launched) -> None:
        self._code = code
        self._launched = launched
        self._threads = WARP_SIZE * launched.warps
        self._registers: dict[str, Value] = self._specials()
        self._ready: dict[str, float] = {}
        self._shared: dict[int, int] = {}
        self._groups: list[float] = []
        self._turns: dict[int, list[_Turn]] = {}
        self._compared: dict[str, tuple[str, int | None]] = {}
        self._gaps: dict[int, Gap] = {}
        self.counts = Counts()

    def end(self) -> Counts:
        place, instructions = 0, self._code.instructions
        while place < len(instructions):
            self.counts.steps += 1
            if self.counts.steps > MOST_STEPS:
                raise TooLongError
            one = instructions[place]
            if one.name in ("ret", "exit") and not one.guard:
                break
            place = self._branched(place, one) if one.name == "bra" else self._stepped(place, one)
        return self.counts

    def _specials(self) -> dict[str, Value]:
        tid = np.arange(self._threads)
        found: dict[str, Value] = {"%laneid": tid % WARP_SIZE, "%warpid": tid // WARP_SIZE}
        for axis, letter in enumerate("xyz"):
            found[f"%tid.{letter}"] = tid if letter == "x" else 0
            found[f"%ntid.{letter}"] = self._threads if letter == "x" else 1
            found[f"%ctaid.{letter}"] = self._launched.program[axis]
            found[f"%nctaid.{letter}"] = self._launched.grid[axis]
        return found

    def _value(self, word: str) -> Value:
        if word.startswith("%"):
            return self._registers.get(word)
        if word.lstrip("-").isdecimal():
            return int(word)
        if word.startswith("0x"):
            return int(word.rstrip("U"), 16)
        return 0 if "smem" in word or "shared" in word else None

    def _condition(self, one: Instruction) -> Value:
        """Returns whether threads take part; True where all do."""
        if not one.guard:
            return True
        condition = self._value(one.guard)
        if condition is None or not one.negated:
            return condition
        return np.logical_not(condition)

    def _branched(self, place: int, one: Instruction) -> int:
        target = self._code.labels.get(one.operands[-1], len(self._code.instructions))
        self._spend(one, [one.guard] if one.guard else [])
        condition = self._condition(one)
        backward = target <= place
        if condition is None:
            return place + 1
        taken = bool(np.any(condition)) if backward else bool(np.all(condition))
        self._ask(place, one)
        if taken and backward:
            self._reckon(place, target)
        return target if taken else place + 1

    def _ask(self, place: int, one: Instruction) -> None:
        """Remembers how far the numbers that a branch depends on are from one another."""
        comparison, distance = self._compared.get(one.guard, ("", None))
        if distance is not None and one.guard:
            self._gaps[place] = (comparison, distance)

    def _spend(self, one: Instruction, sources: Sequence[str]) -> float:
        """Returns when the instruction is issued: after the one before it, and when what it needs is there."""
        counts = self.counts
        slots = issue_slots(one)
        ready = max((self._ready.get(source, 0.0) for source in sources), default=0.0)
        counts.cycles = max(counts.cycles + slots, ready)
        counts.slots += slots
        return counts.cycles

    def _stepped(self, place: int, one: Instruction) -> int:
        is_store = one.name in ("st", "red")
        targets = () if is_store or not one.operands else words(one.operands[0])
        given = [words(operand) for operand in (one.operands if is_store else one.operands[1:])]
        sources = [word for group in given for word in group if word.startswith("%")]
        at = self._spend(one, [*sources, *([one.guard] if one.guard else [])])
        if one.op.startswith("cp.async.") and not one.operands[1:]:
            self._copied(one)
            return place + 1
        if one.name in ("bar", "barrier"):
            self.counts.barriers += 1
            self.counts.cycles += LATENCY["bar"]
            return place + 1
        results = self._results(place, one, given)
        condition = self._condition(one)
        for index, register in enumerate(targets):
            if register.startswith("%"):
                result = results[index] if index < len(results) else None
                kept = self._registers.get(register)
                self._registers[register] = result if condition is True else selected(condition, result, kept)
                self._ready[register] = at + latency(one)
        return place + 1

    def _copied(self, one: Instruction) -> None:
        """Copies to shared memory go on by themselves until their group is waited for."""
        if "commit_group" in one.op:
            self._groups.append(self.counts.cycles + LATENCY["global"])
        elif self._groups:
            under_way = int(one.operands[0], 0) if one.operands else 0
            done = self._groups[: max(0, len(self._groups) - under_way)]
            self.counts.cycles = max([self.counts.cycles, *done[-1:]])
            del self._groups[: len(done)]

    def _results(self, place: int, one: Instruction, given: Sequence[Sequence[str]]) -> Sequence[Value]:
        match one.name:
            case "ld" | "st" | "atom" | "red" | "cp":
                return self._moved(place, one, given)
            case "shfl":
                self.counts.shared += 1
                return [shuffled(one.op.split(".")[2], self._value(given[0][0]), self._value(given[1][0]))]
            case "redux":
                self.counts.shared += 1
                return [over_warps(one.op.split(".")[2], self._value(given[0][0]))]
        if one.name == "setp":
            first, second = (self._value(group[0]) for group in given[:2])
            numbers = isinstance(first, int) and isinstance(second, int)
            distance = int(second) - int(first) if numbers else None  # type: ignore[arg-type]
            self._compared[one.operands[0]] = (one.op.split(".")[1], distance)
        values = [self._value(group[0]) for group in given if group]
        return [computed(one.op, values)]

    def _moved(self, place: int, one: Instruction, given: Sequence[Sequence[str]]) -> Sequence[Value]:
        """Returns what is loaded, where that is known: parameters, and numbers that went through shared memory."""
        if ".param" in one.op:
            index = self._code.parameters.get(one.operands[1].strip("[] ").split("+")[0].strip(), -1)
            known = 0 <= index < len(self._launched.arguments)
            value = self._launched.arguments[index] if known else None
            return [value if isinstance(value, int) else None]
        if ".global" in one.op or one.name == "cp":
            brackets = [words(operand) for operand in one.operands if operand.startswith("[")]
            # What is copied to shared memory on its own comes second.
            group = brackets[-1 if one.name == "cp" else 0]
            self.counts.accesses.add(place, one, self._address(group), self._condition(one), self._threads)
            return []
        self.counts.shared += bank_cycles(self._address(given[0]), self._condition(one), one, self._threads)
        return self._exchanged(one, given)

    def _address(self, group: Sequence[str]) -> Value:
        base = self._value(group[0])
        offset = int(group[-1]) if len(group) > 1 and group[-1].lstrip("-").isdecimal() else 0
        return None if base is None else base + offset

    def _exchanged(self, one: Instruction, given: Sequence[Sequence[str]]) -> Sequence[Value]:
        address = self._address(given[0])
        if address is None or ".v" in one.op:
            return []
        places = np.broadcast_to(address, (self._threads,))
        condition = self._condition(one)
        active = np.broadcast_to(condition if condition is not None else True, (self._threads,))
        if one.name == "st":
            value = self._value(given[1][0])
            for index in np.flatnonzero(active):
                if value is None:
                    self._shared.pop(int(places[index]), None)
                else:
                    self._shared[int(places[index])] = int(np.broadcast_to(value, places.shape)[index])
            return []
        found = [self._shared.get(int(place)) for place in places]
        if any(value is None and takes for value, takes in zip(found, active, strict=True)):
            return [None]
        return [np.array([value or 0 for value in found])]

    def _reckon(self, place: int, target: int) -> None:
        """Skips turns that are like the last two."""
        turns, counts = self._turns.setdefault(place, []), self.counts
        turns.append(_Turn(dict(self._registers), _numbers(counts), counts.accesses.copy(), dict(self._gaps)))
        for inner in [p for p in self._turns if target <= p < place]:
            self._turns[inner] = []
        if len(turns) < _ALIKE:
            return
        before, last, now = turns[-_ALIKE:]
        del turns[0]
        left = min(
            (turns_left(last.gaps[p], now.gaps[p]) for p in now.gaps if target <= p <= place and p in last.gaps),
            default=0,
        )
        changes = zip(before.counts, last.counts, now.counts, strict=True)
        steady = all(abs((c - b) - (b - a)) < _SAME for a, b, c in changes)
        if left < _ALIKE or left == ENDLESS or not (steady or left > _MANY):
            return
        self._skip(left - 1, before, last, now)
        turns.clear()

    def _skip(self, count: int, before: _Turn, last: _Turn, now: _Turn) -> None:
        """Skips `count` more turns, each like the last one."""
        counts = self.counts
        changes = [c - b for b, c in zip(last.counts, now.counts, strict=True)]
        counts.slots += count * changes[0]
        counts.cycles += count * changes[1]
        counts.barriers += count * int(changes[2])
        counts.shared += count * changes[3]
        counts.accesses.repeat(count, last.accesses)
        for register, value in now.registers.items():
            one, two = last.registers.get(register), before.registers.get(register)
            if value is None or one is None or two is None or _is_truth(value):
                continue
            if np.array_equal(value - one, one - two):
                self._registers[register] = value + count * (value - one)
        self._groups = [done + count * changes[1] for done in self._groups]
        for register in self._ready:
            self._ready[register] += count * changes[1]


def _numbers(counts: Counts) -> tuple[float, ...]:
    return counts.slots, counts.cycles, float(counts.barriers), counts.shared


def _is_truth(value: Value) -> bool:
    return isinstance(value, (bool, np.bool_)) or (isinstance(value, np.ndarray) and value.dtype == np.bool_)
