"""Where the numbers of a result come from: arguments, launches, operators of the library, or the host.

Every operator of ATen is seen where torch dispatches it, whatever it was called through; every launch says which memory
it read and wrote. What is known of an allocation is one `Origin` for all of it. An operator that computes from
numbers of the device leaves its name in what it writes, and a launch hands on what it read under. So the names that a
result has are those without which it would not be what it is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from porter.simt.job import FaultKind
from porter_triton.judging.numbers import Numbers
from porter_triton.judging.operators import (
    accumulates,
    is_free,
    is_view,
    overwrites,
    plain_name,
    takes_shape_alone,
    tells_by_shape,
)
from porter_triton.judging.origin import FRESH, NO_STEPS, Origin, Step, Trouble
from porter_triton.observation import Observation, line_in
from porter_triton.tensors import are_floats, given_to_kernel, place_of, tensors_in
from porter_triton.watch import Region

# Ways in which the host gets at the numbers of a tensor, or at its memory; a few numbers may decide a launch.
_A_FEW = 16
_SHARING = frozenset(("numpy", "__array__", "__dlpack__", "untyped_storage", "storage", "typed_storage"))
_NUMBERS = frozenset(("item", "__float__", "__int__", "__index__"))
# A comparison of two numbers: bit by bit it tells any.
_BITS = frozenset(("__bool__", "is_nonzero", "equal", "allclose"))
_READING = frozenset(("tolist", "__repr__", "__str__", "__format__", *_NUMBERS, *_SHARING))
_MADE_BY_HOST = frozenset(("tensor", "as_tensor", "frombuffer", "asarray"))
# What Python computes element by element, out of dispatch's sight.
_UNSEEN = frozenset(("apply_", "map_", "map2_"))


class Flow(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Follows one job after the other; `seen` is told of what a kernel does that is no kernel's."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._origins: dict[int, Origin] = {}
        self._permitted: frozenset[str] = frozenset()
        self.job = 0
        self._escaped = False
        self._taken = 0
        self._numbers = Numbers()
        self.seen = Observation("")
        self.called = ""
        self.in_kernel = False
        self.launching = False

    def begin(self, given: Iterable[object], permitted: frozenset[str], seen: Observation) -> None:
        """A job starts, with the arguments `given`; operators called `permitted` are the original's own."""
        values = tuple(given)
        arguments = [value for value in values if isinstance(value, torch.Tensor)]
        self.job += 1
        self._permitted, self.seen = permitted, seen
        self._escaped = self.in_kernel = self.launching = False
        self._taken = 0
        self._numbers.begin(values)
        for tensor in arguments:
            self._origins[place_of(tensor)] = Origin(given=True, data=True, floats=are_floats(tensor))

    def of(self, place: int) -> Origin:
        """What is in the allocation at `place`; one that nobody saw come is the host's."""
        return self._origins.get(place) or Origin(host=self._escaped, data=self._escaped)

    def made_by_host(self, tensor: torch.Tensor) -> None:
        """What is in `tensor` comes from the host, which may have looked at numbers of the device before."""
        self._origins[place_of(tensor)] = Origin(host=self._escaped, data=self._escaped)

    def holds_floats(self, place: int) -> bool:
        """Whether floats are in the allocation at `place`, or integers that are made of them."""
        return self.of(place).floats

    def __torch_dispatch__(
        self,
        function: torch._ops.OpOverload,
        _types: object,
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """One operator."""
        result = function(*args, **(kwargs or {}))
        if self.launching:
            if self.in_kernel:
                self.seen.note(FaultKind.REACHED, f"a kernel calls torch's {plain_name(function)}")
            return result
        if not is_view(function):
            given, made = list(tensors_in((args, kwargs or {}))), list(tensors_in(result))
            free = is_free(function) and not accumulates(function, args, kwargs or {})
            self._follow(function, given, made, free=free, fed=self._feeds(function, args))
            if tells_by_shape(function, given):
                self._take(sum(self._tells(t) for t in given))
        return result

    def _feeds(self, function: torch._ops.OpOverload, args: Sequence[object]) -> bool:
        """Whether an operator is given a number of the host's, which has looked at those of the device."""
        scalars = zip(function._schema.arguments, args, strict=False) if self._escaped else ()
        return any(str(a.type) == "number" and self._numbers.is_made(value) for a, value in scalars)

    def _follow(
        self,
        function: torch._ops.OpOverload,
        given: list[torch.Tensor],
        made: list[torch.Tensor],
        *,
        free: bool,
        fed: bool,
    ) -> None:
        written = [t for t in _written(function, given, made) if t.numel()]
        sources = [t for t in given if not any(t is w for w in written) or not overwrites(function)]
        origins = [self.of(place_of(t)) for t in sources]
        combined = FRESH.with_others(origins)
        name = plain_name(function)
        if takes_shape_alone(name):
            combined = replace(combined, floats=False)
        if fed:
            combined = replace(combined, host=True, data=True)
        if not free and combined.data and max((t.numel() for t in (*given, *made)), default=0) > 1:
            combined = self._computed(combined, name, (*sources, *written))
        elif self._is_permitted(name):
            combined = replace(combined, free=True)
        if any(t.dtype is torch.bool for t in written) and any(t.is_floating_point() for t in sources):
            combined = replace(combined, compared=combined.data)
        for tensor, place in ((t, place_of(t)) for t in written):
            old = self.of(place)
            kept = place in {place_of(t) for t in given} and not (overwrites(function) and _is_whole(tensor))
            made_of = combined.with_others((old,)) if kept else combined
            given_still = kept and old.given and not combined.data
            self._origins[place] = replace(made_of, given=given_still)

    def _computed(self, origin: Origin, name: str, involved: Iterable[torch.Tensor]) -> Origin:
        if self._is_permitted(name):
            return replace(origin, free=True, raw=origin.raw or origin.launch != self.job)
        said = (line_in(self.seen.module, sys._getframe()), self.called or name)
        if origin.floats or any(map(are_floats, involved)):
            return replace(origin, operators=origin.operators | {said})
        return replace(origin, integers=origin.integers | {said})

    def _is_permitted(self, name: str) -> bool:
        plain = self.called.strip("_").removeprefix("i").removeprefix("r")
        asked = {name, name.rstrip("_"), self.called, self.called.strip("_"), plain, plain.removeprefix("true")}
        return bool(asked & self._permitted)

    def asked(self, name: str, given: list[torch.Tensor]) -> None:
        """A function of torch, called `name` in Python, is about to run on `given`."""
        self.called = name
        if name in _READING and not self._is_permitted(name):
            for tensor in given:
                self._read(name, tensor)
        if name in _BITS:
            self._take(any(map(self._tells, given)))

    def _tells(self, tensor: torch.Tensor) -> bool:
        """Whether one bit about `tensor` is one about numbers of the device; whole numbers are sizes and indices."""
        origin = self.of(place_of(tensor))
        return origin.data and (are_floats(tensor) or origin.floats or origin.compared)

    def _read(self, name: str, tensor: torch.Tensor) -> None:
        """The host looks at the numbers of `tensor`; whole numbers are sizes and indices."""
        origin = self.of(place_of(tensor))
        if not self._tells(tensor):
            return
        self._take(tensor.numel())
        if name in _SHARING:
            self._origins[place_of(tensor)] = replace(origin, host=self._escaped)
        if name in _NUMBERS and origin.operators:
            said = f"the host takes a number that torch's {_named(origin.operators)} computed"
            self.seen.note(FaultKind.LIBRARY, said)

    def _take(self, count: int) -> None:
        """The host learns of so many numbers."""
        self._taken += count
        self._escaped = self._escaped or self._taken > _A_FEW

    def answered(self, name: str, given: list[torch.Tensor], made: Iterable[torch.Tensor]) -> None:
        """That function has returned `made`."""
        self.called = ""
        if name in _UNSEEN:
            for tensor in given:
                self._origins[place_of(tensor)] = self._computed(self.of(place_of(tensor)), name, given)
        elif name in _MADE_BY_HOST:
            for tensor in made:
                if all(tensor is not other for other in given):
                    self.made_by_host(tensor)

    @contextmanager
    def launch(self) -> Iterator[None]:
        """While a launch runs: the interpreter's own use of torch is nobody's."""
        self.launching = True
        try:
            yield
        finally:
            self.launching = self.in_kernel = False

    def launched(self, touched: Sequence[Region], arguments: Mapping[str, object], copied: Mapping[int, int]) -> None:
        """A launch with `arguments` has ended; `copied` says of which place a place is a mere copy."""
        given = given_to_kernel(arguments)
        floating = {place_of(tensor) for _, tensor in given if are_floats(tensor)}
        read = FRESH.with_others(self.of(r.start) for r in touched if r.was_read)
        if self._numbers.are_new(arguments) and self._escaped:
            read = replace(read, host=True)
        for region in (r for r in touched if r.was_written):
            if region.start in copied:
                self._origins[region.start] = replace(self.of(copied[region.start]), given=False)
                continue
            old = FRESH if region.was_overwritten else self.of(region.start)
            both = read.with_others((old,))
            # Integers that a kernel reads are indices and sizes, unless integers are what it makes of them.
            integers = NO_STEPS if region.start in floating else both.integers
            floats = region.start in floating or region.floats or old.floats
            now = replace(both, integers=integers, launch=self.job, data=True, raw=False, floats=floats)
            self._origins[region.start] = now

    def but_indices(self, region: Region) -> Region:
        """`region` as far as a launch of which nothing is known may have written it: not integers that were given."""
        origin = self.of(region.start)
        return replace(region, writes=region.writes * 0) if origin.given and not origin.floats else region

    def is_made_by_library(self, place: int) -> bool:
        """Whether an operator put there what depends on arguments, and no launch did."""
        origin = self.of(place)
        own_launch = origin.launch == self.job
        return origin.data and not origin.given and (not own_launch or bool(origin.operators or origin.integers))

    def trouble(self, place: int, *, returned: bool) -> Trouble | None:
        """Why what is at `place` is no result of the candidate's own kernels; None where it is."""
        origin = self.of(place)
        if operators := origin.operators | origin.integers:
            return Trouble(FaultKind.LIBRARY, f"is computed by torch's {_named(operators)}", min(operators)[0])
        if origin.host:
            return Trouble(FaultKind.HOST_WORK, "is computed by the host from numbers of the device")
        if origin.raw:
            return Trouble(FaultKind.DECOY, "is what operators of the original's make of what no launch wrote")
        if origin.free or origin.launch == self.job or (origin.given and not returned):
            return None
        if origin.launch:
            return Trouble(FaultKind.KEPT, "was written by a launch of an earlier call")
        return Trouble(FaultKind.DECOY, "was written by no launch")


def _named(operators: Iterable[Step]) -> str:
    return ", ".join(f"{name} (line {line})" if line else name for line, name in sorted(operators))


def _is_whole(tensor: torch.Tensor) -> bool:
    """Whether `tensor` is all of its allocation."""
    return tensor.numel() * tensor.element_size() >= tensor.untyped_storage().nbytes()


def _written(
    function: torch._ops.OpOverload, given: list[torch.Tensor], made: list[torch.Tensor]
) -> Iterator[torch.Tensor]:
    """What the operator wrote: what it made, and of what it was given that which its schema says."""
    yield from made
    changed = [
        argument.alias_info is not None and argument.alias_info.is_write for argument in function._schema.arguments
    ]
    if not made and any(changed):
        yield from given
