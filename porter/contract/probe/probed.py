"""Evaluates a probed contract: what its tensors were seen to span, and the shapes and roles that follow from it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from porter.contract.model.contract import Contract, EntryKind, Role, TensorArg, Values
from porter.contract.model.expressions import evaluate, names_in
from porter.contract.model.questions import bound_question, extent_question, unknown_extents
from porter.contract.probe.fit import Fit, fit
from porter.execution.job import Run, Touched

_RAGGED = re.compile(r" [-+] \d+$")


@dataclass(frozen=True, slots=True)
class Probe:
    """One finished run: sizes (bounds of indices among them), and what was seen."""

    sizes: Mapping[str, int]
    run: Run


@dataclass(frozen=True)
class Probed:
    """`contract` and runs of it at different sizes. Symbols that `before` lacks stand for unknown bounds of indices."""

    before: Contract
    contract: Contract
    probes: tuple[Probe, ...]

    @property
    def suffices(self) -> bool:
        """Returns whether there are enough runs to learn from: without a size everything is always the same."""
        return len(self.probes) >= (2 if self.contract.symbols else 1)

    @property
    def varied(self) -> bool:
        """Returns whether no size is the same in all runs, where it would pass for a constant."""
        return all(len({p.sizes[symbol] for p in self.probes}) > 1 for symbol in self.contract.symbols)

    @cached_property
    def fits(self) -> Mapping[str, Fit | None]:
        """The extent of each tensor that the source leaves open; None where no expression explains what was seen."""
        return {t.name: self._fit(t, self.extents(t.name)) for t in unknown_extents(self.contract)}

    def _fit(self, tensor: TensorArg, extents: list[int]) -> Fit | None:
        if not extents:  # nothing ran
            return None
        if tensor.values is Values.SORTED and (symbol := self._one_behind(extents)):
            return Fit(f"{symbol} + 1", exact=True)
        return fit(extents, [p.sizes for p in self.probes]) if max(extents) else Fit("1", exact=True)

    def _one_behind(self, extents: list[int]) -> str:
        """Returns the size that offsets have one more of; of odd sizes that could be whole pairs, too."""
        symbols = self.contract.symbols
        return next(
            (s for s in symbols if all(e == p.sizes[s] + 1 for e, p in zip(extents, self.probes, strict=True))), ""
        )

    @property
    def idle(self) -> bool:
        """Returns whether no run touched anything: host code wants other sizes."""
        return not any(t.read_end or t.written_end for p in self.probes for t in p.run.touched)

    @property
    def explained(self) -> bool:
        """Returns whether every extent is explained exactly, not by rows that merely might have their own distance."""
        return all(f is not None and f.exact and not f.apart for f in self.fits.values())

    @property
    def exact(self) -> bool:
        """Returns whether every extent has a form, also that of rows with a distance of their own."""
        return all(f is not None and f.exact for f in self.fits.values())

    def lacks(self, names: Container[str]) -> bool:
        """Returns whether one of these extents has no form, and no further run would give it one."""
        found = (self._fit(t, self.extents(t.name)) for t in self.contract.tensors if t.name in names)
        return any(f is None or not f.exact for f in found)

    @property
    def constants(self) -> int:
        """The number of extents that were the same at all sizes: one, or a quotient that no probe made any larger."""
        return sum(1 for f in self.fits.values() if f is not None and f.text.isdigit())

    @property
    def quotients(self) -> bool:
        """Returns whether a tensor that runs touched had one extent in all of them, as a quotient of sizes may."""
        return any(f is not None and f.text.isdigit() and any(self.extents(n)) for n, f in self.fits.items())

    @property
    def ragged(self) -> int:
        """The number of extents that end beside what sizes span: `rows * width - 1` for pairs of an odd width."""
        return sum(1 for f in self.fits.values() if f is not None and _RAGGED.search(f.text))

    def is_exceeded_by(self, probe: Probe) -> bool:
        """Returns whether a run touches more than the fitted extents hold at its sizes."""
        seen = replace(self, probes=(probe,))
        named = ((name, f) for name, f in self.fits.items() if f is not None)
        return any(seen.extents(name)[0] > evaluate(f.text, probe.sizes) for name, f in named)

    def improves(self, other: Probed) -> bool:
        """Returns whether every extent has a form here, and `other` lacks some, or has more constant or ragged ones."""
        if not (self.suffices and self.varied and self.exact and self._touches(other.touched)):
            return False
        return not other.exact or self.constants + self.ragged < other.constants + other.ragged

    @property
    def covered(self) -> bool:
        """Returns whether every extent is at least known not to be exceeded."""
        return all(f is not None for f in self.fits.values())

    def explains(self, other: Probed) -> bool:
        """Returns whether what `other` finds no form for is explained here, and nothing else got out of hand.

        That nothing is touched at other sizes explains nothing.
        """
        formless = {name: self.fits[name] for name, f in other.fits.items() if f is None}
        forms = all(f is not None and f.exact and not f.apart for f in formless.values())
        return self.covered and forms and self._touches(formless.keys() & other.touched)

    @property
    def touched(self) -> frozenset[str]:
        """The tensors of unknown extent of which a run touched something."""
        return frozenset(name for name in self.fits if any(self.extents(name)))

    def _touches(self, names: Set[str]) -> bool:
        return names <= self.touched

    @property
    def apart(self) -> tuple[str, ...]:
        """The conditions under which rows of tensors that are written do not overlap."""
        written = (f for name, f in self.fits.items() if any(t.written_end for t in self._touched(name)))
        return tuple(dict.fromkeys(f.apart for f in written if f is not None and f.apart))

    def extents(self, name: str) -> list[int]:
        """Returns elements from a tensor's start to the end of the last group that was touched, for each probe."""
        tensor = next(t for t in self.contract.tensors if t.name == name)
        bytes_ = tensor.dtype.bytes * tensor.group
        return [-(-max(t.read_end, t.written_end) // bytes_) * tensor.group for t in self._touched(name)]

    def _touched(self, name: str) -> list[Touched]:
        position = [t.name for t in self.contract.tensors].index(name)
        return [p.run.touched[position] for p in self.probes]

    def learned(self) -> Contract:
        """Returns `before` with the shapes, roles, bounds and conditions that the probes show in place of guesses."""
        conditions = dict.fromkeys((*self.before.conditions, *_roundings(self.fits)))
        arguments = tuple(self._argument(a) if isinstance(a, TensorArg) else a for a in self.contract.arguments)
        tensors = [a for a in arguments if isinstance(a, TensorArg)]
        texts = (text for a in tensors for text in (*a.shape, *(part.bound for part in a.parts)) if text)
        used = {name for text in texts for name in names_in(text)}
        symbols = tuple(s for s in self.contract.symbols if s in self.before.symbols or s in used)
        answered = {extent_question(n) for n, f in self.fits.items() if f is not None or self._suffices_for(n)}
        answered |= {bound_question(t.name) for t in self.contract.parts}
        questions = tuple(q for q in self.before.questions if q not in answered)
        return replace(
            self.before, arguments=arguments, symbols=symbols, conditions=tuple(conditions), questions=questions
        )

    def _suffices_for(self, name: str) -> bool:
        """Returns whether reads of an input tensor stay within its widest possible shape.

        The extent that a sum of two indices selects from has no form: having more than is read changes nothing.
        """
        shape = next(t.shape for t in self.before.tensors if t.name == name)
        widest = [prod(evaluate(extent, p.sizes) for extent in shape) for p in self.probes]
        within = all(w >= e for w, e in zip(widest, self.extents(name), strict=True))
        return within and not any(t.written_end for t in self._touched(name))

    def _argument(self, tensor: TensorArg) -> TensorArg:
        touched = self._touched(tensor.name)
        found = self.fits.get(tensor.name)
        role = tensor.role
        if any(t.written_end or t.read_end for t in touched):
            written, read = any(t.written_end for t in touched), any(t.read_end for t in touched)
            role = (Role.INOUT if read else Role.OUT) if written else Role.IN
        if role is Role.OUT and (tensor.fields or (found is not None and (found.apart or not found.exact))):
            role = Role.INOUT  # elements that are never written must have a value of their own
        shape = self._shape(tensor, found)
        # Offsets into rows are one more than there are rows: of a tensor with one element there is none to tell.
        are_offsets = tensor.values is Values.SORTED and found is not None and shape[0] != "1"
        bound = _one_less(shape[0]) if are_offsets else tensor.bound
        return replace(tensor, role=role, shape=shape, bound=bound)

    def _shape(self, tensor: TensorArg, found: Fit | None) -> tuple[str, ...]:
        """Returns the fitted extent; for a torch tensor the shape of another one with as many elements."""
        if found is None:
            return tensor.shape
        text = _plain(found)
        torch = self.before.entry.kind is EntryKind.TORCH
        alike = (t.shape for t in self.before.tensors if torch and " * ".join(t.shape) == text)
        return next(alike, (text,))


def _roundings(fits: Mapping[str, Fit | None]) -> Iterator[str]:
    """Yields conditions of a pointer used in whole vectors or blocks: its extent must be a multiple of them."""
    for found in fits.values():
        if found is not None and found.multiple_of:
            yield f"{_unrounded(found)} % {found.multiple_of} == 0"


def _one_less(text: str) -> str:
    return text.removesuffix(" + 1") if text.endswith(" + 1") else f"{text} - 1"


def _plain(found: Fit) -> str:
    return _unrounded(found) if found.multiple_of else found.text


def _unrounded(found: Fit) -> str:
    """Returns `n` for `4 * cdiv(n, 4)`."""
    inner = found.text[found.text.index("cdiv(") + 5 : found.text.rindex(",")]
    coefficient = int(found.text.split(" * ")[0]) if found.text[0].isdigit() else 1
    factor = coefficient // found.multiple_of
    return inner if factor == 1 else f"{factor} * {inner}"
