"""Tries inputs that are views: where an original makes them dense, or follows their strides, its port has to.

An input of PyTorch may be every second element of another tensor, or columns of a wider one. An original is given such
inputs, with the elements of a workload that it has answered: where it refuses, or answers otherwise, it wants dense
tensors, and so may its port. The layouts it takes are one further workload. Tensors at addresses that are not multiples
of 16 bytes are another, where the original has a branch for these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod

from porter.contract.model.contract import Contract, Distribution, EntryKind, Layout, Role, TensorArg, Workload
from porter.contract.workload.materialise import is_null, shape_of
from porter.evaluate.reference.choices import Examined, at_workloads, joined
from porter.evaluate.reference.doubt import unsound
from porter.oracle.reference import Expected, Reference, differences

_MOST_S = 10.0  # of processor time for all tries; one takes as long as a run of the smallest workload
_LATE = "there was no time to try inputs that are not dense"
_NONE = "it was not tried with inputs that are not dense: no workload allows that"
_VIEWS, _ODD = "inputs that are not dense", "inputs at odd addresses"
_DENSE_THERE = "on the device only dense inputs were tried"
_FEW = 64  # elements: a vector of 8-bit numbers has 16, and may be one of several that a thread loads
_APART = (Layout.STEPS, Layout.ROWS_APART)


def with_views(contract: Contract, found: Examined, once: Callable[[Contract], Reference]) -> Examined:
    """Returns `found` with a workload whose inputs are views, if the original takes any; else says why none was tried.

    `once` runs the original a single time. Contracts that have such a workload get no other.
    """
    if contract.entry.kind is not EntryKind.TORCH or any(w.layouts for w in contract.workloads):
        return found
    if not any(t.role is Role.IN and t.shape and not t.elements for t in contract.tensors):
        return found
    bases = [e for e in found.reference.expected if _is_fit(contract, e)]
    if not bases:
        return _saying(found, _NONE)
    base = min(bases, key=lambda e: (_is_poor(contract, e.workload), _elements(contract, e.workload)))
    tried = _Tries(contract, base, once)
    asked = [found.reference, *filter(None, (tried.held(tried.taken()), tried.at_odd_addresses(found.reference)))]
    told = replace(found, reference=joined(contract, asked)) if len(asked) > 1 else found
    return _saying(told, _LATE) if tried.is_late else told


def on_device(reference: Reference) -> tuple[Reference, str]:
    """Returns `reference` without workloads of views, as a device only gets dense tensors, and a remark on that."""
    kept = [e for e in reference.expected if not e.workload.layouts]
    if len(kept) == len(reference.expected):
        return reference, ""
    contract = at_workloads(reference.contract, [e.workload for e in kept])
    return replace(reference, contract=contract, expected=tuple(kept)), _DENSE_THERE


class _Tries:
    """Gives an original the inputs of `base` as views."""

    def __init__(self, contract: Contract, base: Expected, once: Callable[[Contract], Reference]) -> None:
        self._contract = contract
        self._base = base
        self._once = once
        self._seconds = 0.0

    @property
    def is_late(self) -> bool:
        """Returns whether there is no time to try more."""
        return self._seconds > _MOST_S

    def taken(self) -> Mapping[str, Layout]:
        """Returns the layouts that it takes: one for all inputs, else one for each that it takes alone."""
        tensors = [t for t in self._contract.tensors if t.role is Role.IN]
        whole = [{t.name: layout for t in tensors if self._may_be(t, layout)} for layout in _APART]
        for layouts in whole:
            if layouts and self.held(layouts):
                return layouts
        if len(whole[0]) == 1:
            return {}
        alone = {t.name: layout for t in tensors if (layout := self._of(t))}
        return alone if len(alone) <= 1 or self.held(alone) else dict(list(alone.items())[:1])

    def _of(self, tensor: TensorArg) -> Layout | None:
        possible = (layout for layout in _APART if self._may_be(tensor, layout))
        return next((layout for layout in possible if self.held({tensor.name: layout})), None)

    def at_odd_addresses(self, before: Reference) -> Reference | None:
        """Returns the answer to inputs not aligned for vectors, where a branch is taken that was not `before`."""
        names = [t.name for t in self._contract.tensors if _is_viewable(t, self._base.workload)]
        found = self.held(dict.fromkeys(names, Layout.OFFSET), _ODD)
        return found if found and found.coverage.taken - before.coverage.taken else None

    def _may_be(self, tensor: TensorArg, layout: Layout) -> bool:
        workload = self._base.workload
        several = prod(shape_of(tensor, workload)[:-1]) > 1 if layout is Layout.ROWS_APART else True
        return _is_viewable(tensor, workload) and several

    def held(self, layouts: Mapping[str, Layout], name: str = _VIEWS) -> Reference | None:
        """Returns the answer to these layouts; None if there are none, it fails, or it differs from the dense one."""
        if self.is_late or not layouts:
            return None
        workload = replace(self._base.workload, name=name, layouts=layouts, takes="")
        reference = self._once(at_workloads(self._contract, [workload]))
        self._seconds += reference.seconds
        if unsound(reference):
            return None
        (given,) = reference.expected
        differ = differences(given.outputs, self._base.outputs, exact=False, contract=self._contract)
        return None if any(differ) else reference


def _is_fit(contract: Contract, expected: Expected) -> bool:
    """Returns whether the workload's inputs may be views, and its answer decides."""
    workload = expected.workload
    plain = workload.distribution is Distribution.DECLARED and not (workload.scalars or workload.dtypes)
    return plain and expected.decides and any(_is_viewable(t, workload) for t in contract.tensors)


def _is_viewable(tensor: TensorArg, workload: Workload) -> bool:
    """Returns whether the tensor is an input whose elements may lie apart."""
    if tensor.role is not Role.IN or not tensor.shape or tensor.elements or is_null(tensor, workload) or tensor.fields:
        return False
    return prod(shape_of(tensor, workload)) > 1


def _is_poor(contract: Contract, workload: Workload) -> bool:
    """Returns whether an input has an axis of one element, whose stride does not matter, or all have few."""
    shapes = [shape_of(tensor, workload) for tensor in contract.tensors if tensor.role is Role.IN]
    return any(1 in shape for shape in shapes) or max(map(prod, shapes)) < _FEW


def _elements(contract: Contract, workload: Workload) -> int:
    return sum(prod(shape_of(tensor, workload)) for tensor in contract.tensors)


def _saying(found: Examined, what: str) -> Examined:
    return replace(found, left_out="; ".join(filter(None, (found.left_out, what))))
