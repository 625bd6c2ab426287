"""The state of lowering one kernel: names, scopes, masks, and what earlier passes have found out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

from porter.syntax.nodes import Call, Name
from porter.syntax.unit import FunctionTree, Unit
from porter.syntax.walk import walk
from porter_triton.device.helper_calls import HelperCall, helper_call
from porter_triton.lower.affine import Digit, only_thread
from porter_triton.lower.assigned import assigned_names
from porter_triton.lower.decisions import Decisions, FewTurns
from porter_triton.lower.emit import Kind, Line, Suite, names_in
from porter_triton.lower.launch import LaunchInfo, LoweredParameter, Remark
from porter_triton.lower.naming import Names, is_temporary
from porter_triton.lower.pending import Pending
from porter_triton.lower.places import Key, Place, Variable
from porter_triton.lower.scopes import Binding, Scope
from porter_triton.lower.values import ATOM, Scalar, both

_Node = TypeVar("_Node")
_Fact = TypeVar("_Fact")


@dataclass(frozen=True, slots=True)
class Frame:
    """The lanes in which code runs (None: all), and the depth whose variables they leave alone for other lanes.

    A variable declared at a depth below `resume` may be read by lanes outside the mask later.
    """

    mask: Scalar | None
    resume: int = 0


@dataclass(frozen=True, slots=True)
class Target:
    """Where `return`, `break` or `continue` goes: the flag that later statements ask, the depth where lanes resume."""

    kinds: frozenset[str]
    depth: int
    flag: Variable
    result: Place | None = None
    kernel: bool = False


@dataclass
class Context:
    """One pass over one kernel."""

    unit: Unit
    kernel: FunctionTree
    launch: LaunchInfo
    decisions: Decisions
    names: Names
    suite: Suite = field(default_factory=Suite)
    scopes: list[Scope] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=lambda: [Frame(None)])
    targets: list[Target] = field(default_factory=list)
    path: Key = ()
    parameters: list[LoweredParameter] = field(default_factory=list)
    helpers: set[HelperCall] = field(default_factory=set)
    remarks: dict[Remark, None] = field(default_factory=dict)
    python_depth: int = 0
    threads: int | None = None
    padded: int | None = None
    threads_text: str = ""
    inside: str = ""  # the mask of the block's own threads, where they are padded
    thread: str = "tid"
    coordinates: tuple[Scalar, ...] = ()
    extents: tuple[Scalar, ...] = ()
    unchanged: set[str] = field(default_factory=set)
    fresh: list[Variable] = field(default_factory=list)
    settled: list[Variable] = field(default_factory=list)
    arrays: dict[object, Place] = field(default_factory=dict)
    changes: list[frozenset[str]] = field(default_factory=list)
    digits: dict[Digit, Scalar] = field(default_factory=dict)
    loads: dict[str, tuple[Scalar, str]] = field(default_factory=dict)  # by pointer: what was loaded, under which mask
    copies: int = 1  # how often the code being lowered is written out already
    counts: dict[object, int] = field(default_factory=dict)
    reference: Place | None = None  # what the reference that a call returned is bound to
    discarded: object = None  # the call whose value nobody uses
    prologue: Suite = field(default_factory=Suite)
    pending: Pending = field(default_factory=Pending)
    writes: Counter[str] = field(default_factory=Counter)  # how many statements write to a buffer
    loops: list[FewTurns] = field(default_factory=list)
    alike: int = 0  # loops around that all threads go through together, but for those that share one among them
    carrying: int = 0  # loops around whose turns change variables that the next turn finds
    gathers: bool = False  # whether a thread loads in such a loop
    ahead: bool = False  # whether a thread has the vectors of several turns on their way
    streams: bool = False  # whether threads load one thing after another each, or far from each other, in loops `alike`
    loaded_bits: int = 0  # what a thread loads, as often as that is written
    summed: object = None  # the variable that what is being stored only adds to
    calls: list[int] = field(default_factory=list)
    namespaces: list[tuple[str, ...]] = field(default_factory=lambda: [()])  # around the functions being lowered

    # Scopes

    def find(self, name: str) -> Binding | None:
        """Returns what `name` is bound to in the scopes of the function being lowered."""
        for scope in reversed(self.scopes):
            if name in scope.names:
                return scope.names[name]
            if scope.wall:
                break
        return None

    def bind(self, name: str, binding: Binding) -> None:
        """Declare `name` in the innermost scope."""
        self.scopes[-1].names[name] = binding

    @property
    def depth(self) -> int:
        """Returns how many scopes are open, those of callers included."""
        return self.scopes[-1].depth if self.scopes else 0

    @contextmanager
    def scope(self, wall: bool = False) -> Iterator[Scope]:
        """A block's scope."""
        opened = Scope(self.depth + 1, wall=wall)
        self.scopes.append(opened)
        self.names.enter()
        try:
            yield opened
        finally:
            self.scopes.pop()
            self.names.leave()

    @contextmanager
    def within(self, step: object) -> Iterator[None]:
        """Tell what is declared inside from what other uses of the same text declare."""
        before = self.path
        self.path = (*before, step)
        try:
            yield
        finally:
            self.path = before

    def key(self, node: object, part: str = "") -> Key:
        """Returns what names `node` in every pass."""
        return (*self.path, id(node), part)

    def implied(self, name: str, line: int) -> Call:
        """A call that the source only implies, the same node in every pass."""
        key = (self.path, name, line)
        self.counts[key] = self.counts.get(key, 0) + 1
        return self.decisions.made.setdefault((key, self.counts[key]), Call(Name(name, (), line), (), line))

    def rewritten(self, node: object, make: Callable[[], _Node]) -> _Node:
        """Returns what `make` makes of `node`: one object in all passes, for keys are identities."""
        held = self.decisions.rewritten.setdefault((id(node), type(node)), None)
        if held is None:
            held = self.decisions.rewritten[id(node), type(node)] = make()
        return cast(_Node, held)

    # Masks

    @property
    def mask(self) -> Scalar | None:
        """The lanes that run now; None for all."""
        return self.frames[-1].mask

    def mask_for(self, depth: int) -> Scalar | None:
        """The mask an assignment needs to a variable declared at `depth`."""
        needed = any(f.mask is not None and f.resume > depth for f in self.frames)
        return self.mask if needed else None

    def narrow(self, condition: Scalar) -> Scalar | None:
        """The lanes that run now and where `condition` holds, evaluated here."""
        if condition.constant is not None:
            return self.mask if condition.constant else condition
        implied = self.mask is not None and self.mask.text == self.inside and self.only_thread(condition) == 0
        mask = condition if self.mask is None or implied else both(self.mask, condition)
        return mask if mask.is_name and mask.text in self.unchanged else self.temporary(mask, "mask")

    def only_thread(self, mask: Scalar) -> int | None:
        """The one thread for which `mask` holds; None where it may be several, or none."""
        return only_thread(mask.pins, self.threads) if mask.exact else None

    @contextmanager
    def only(self, mask: Scalar | None, resume: int | None = None) -> Iterator[None]:
        """Run what is inside in the lanes of `mask`."""
        self.frames.append(Frame(mask, self.depth + 1 if resume is None else resume))
        try:
            yield
        finally:
            self.frames.pop()

    @contextmanager
    def where(self, condition: Scalar, resume: int | None = None) -> Iterator[None]:
        """Run what is inside in the lanes where `condition` holds."""
        with self.only(self.narrow(condition), resume):
            yield

    def unchanging(self, name: str) -> bool:
        """Returns whether a name of the output is never assigned again."""
        return name in self.unchanged or is_temporary(name)

    # Memory

    def touch(self, bases: frozenset[str], width: int = 1) -> None:
        """Note that memory is written: a load by another thread must wait for a barrier."""
        self.pending = self.pending.written(bases, width)
        self.writes.update(bases)
        self.decisions.stored |= bases
        self.loads.clear()

    def loaded(self, pointer: str) -> Scalar | None:
        """Returns what was loaded from `pointer` already, in all lanes that run now."""
        held = self.loads.get(pointer)
        if held is None or (held[1] and held[1] not in {f.mask.text for f in self.frames if f.mask is not None}):
            return None
        return held[0]

    @contextmanager
    def round(self, key: Key) -> Iterator[None]:
        """A loop, whose body may read or overwrite the next time round what it writes."""
        before, known = self.pending, self.decisions.rounds.get(key, Pending())
        if before.bars(known):
            self.wait()
        self.pending |= known
        try:
            yield
        finally:
            self.decisions.rounds[key] = known | self.pending
            self.pending |= before

    def wait(self) -> None:
        """A barrier: all threads have done what they do to memory."""
        self.emit(Line("tl.debug_barrier()", effect=True))
        self.pending = Pending()

    # Output

    def emit(self, line: Line) -> None:
        """Append a statement."""
        self.suite.nodes.append(line)
        if line.target:
            self.loads = {p: held for p, held in self.loads.items() if line.target not in names_in(p)}
        elif line.effect:
            self.loads.clear()

    @contextmanager
    def into(self, suite: Suite, python: bool = True) -> Iterator[None]:
        """Append what is inside to `suite`, the body of a statement of Python where `python`."""
        before, self.suite = self.suite, suite
        self.python_depth += python
        self.loads.clear()
        try:
            yield
        finally:
            self.suite = before
            self.python_depth -= python
            self.loads.clear()

    def temporary(
        self, value: Scalar, stem: str = "value", effect: bool = False, pointer: Scalar | None = None
    ) -> Scalar:
        """`value` under a name of its own, evaluated here; `pointer` is where it is loaded from."""
        name = self.names.temporary(stem)
        kind = Kind(value.type, value.varying)
        loads = pointer is not None
        self.emit(Line(value.text, name, effect, not effect, loads, value.level, pointer=pointer, value=kind))
        affine = value.affine
        if affine is not None and not all(self.unchanging(n) for text, _ in affine.rest for n in names_in(text)):
            affine = None
        return replace(value, text=name, level=ATOM, opposite=None, single=None, affine=affine)

    def told(self, node: _Node, tell: Callable[[Unit, _Node], _Fact]) -> _Fact:
        """Returns what `tell` says of a part of the source, asked once for all passes."""
        known = self.decisions.told
        if (id(node), tell) not in known:
            known[id(node), tell] = node, tell(self.unit, node)
        return cast(_Fact, known[id(node), tell][1])

    def assigned(self, body: object) -> frozenset[str]:
        """The names of the source that a body may change."""
        return self.told(body, assigned_names)

    def last_line(self, node: object) -> int:
        """The last line of a statement."""
        return self.told(node, _last_line)

    def helper(self, name: str, **known: str) -> str:
        """Call for a function of the device room, with what is `known` of arguments; its name."""
        self.helpers.add(helper_call(name, known))
        return name

    @property
    def block(self) -> str:
        """The number of elements of a varying value, as text."""
        return self.threads_text


def _last_line(_unit: Unit, node: object) -> int:
    return max(getattr(n, "line", 0) for n in walk(node))
