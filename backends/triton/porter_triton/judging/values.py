"""What the values in a kernel came of: floats, or the outcome of an atomic operation.

Integers are indices and sizes, which the library and the host may make of each other. What a kernel makes of floats
without asking how they compare is none: the library's sum of fixed-point numbers is a sum of floats. So every value in
the interpreter knows whether it came of floats, and every allocation whether such a value was stored there. Neither
the outcome of a comparison nor where something is stored tells: an argmax and a count are integers.

A program knows of others only by what atomic operations return. One that does not ask is in no order with them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator

import triton.language as tl
from triton.runtime.interpreter import InterpreterBuilder, ReduceScanOpInterface, TensorHandle

from porter_triton.watch import Watch

_OF_FLOATS, _OF_ATOMICS = "of_floats", "of_atomics"
_ATOMICS = frozenset(("create_atomic_rmw", "create_atomic_cas"))
_LOADS = frozenset(("create_load", "create_masked_load", *_ATOMICS))
_COMPARES = ("create_icmp", "create_fcmp", "create_histogram", "create_addptr")
# Operands that only say which of the others is taken, or whether anything is.
_CHOOSING = {"create_select": 0, "create_gather": 1}
_MASKS = {"create_masked_load": 1, "create_masked_store": 2}
# Where a pointer and what is put there stand.
_STORED = {"create_masked_store": (0, 1), "create_atomic_rmw": (1, 2), "create_atomic_cas": (0, 2)}


def follow_values(watch: Watch) -> None:
    """Patches Triton's interpreter, once for the life of the process; `watch` is told of what it has to know."""
    for name in [name for name in dir(InterpreterBuilder) if name.startswith("create_")]:
        setattr(InterpreterBuilder, name, _marking(name, getattr(InterpreterBuilder, name), watch))
    combine, truth = ReduceScanOpInterface.apply, tl.tensor.__bool__

    def apply(operation: ReduceScanOpInterface, given: tl.tensor | tuple[tl.tensor, ...]) -> object:
        made = combine(operation, given)
        _mark_combined(given if isinstance(given, tuple) else (given,), made if isinstance(made, tuple) else (made,))
        return made

    def decides(tensor: tl.tensor) -> bool:
        if _is(tensor.handle, _OF_ATOMICS):
            watch.synchronise()
        return bool(truth(tensor))

    ReduceScanOpInterface.apply = apply
    tl.tensor.__bool__ = decides


def _marking(name: str, method: Callable[..., object], watch: Watch) -> Callable[..., object]:
    """`method` of the builder, the results of which know what they came of."""

    @functools.wraps(method)
    def called(builder: InterpreterBuilder, *given: object, **named: object) -> object:
        if name in _MASKS and _is(given[_MASKS[name]], _OF_ATOMICS):
            watch.synchronise()
        if name in _STORED:
            _store(watch, next(_handles(given[_STORED[name][0] :])), given[_STORED[name][1]])
        made = method(builder, *given, **named)
        marks = _marks(name, given, watch)
        for handle in _handles([made]) if marks else ():
            for mark in marks:
                setattr(handle, mark, True)
        return made

    return called


def _store(watch: Watch, pointers: TensorHandle, value: object) -> None:
    if _is(value, _OF_FLOATS):
        watch.hold_floats(pointers.data)
    if _is(value, _OF_ATOMICS):
        watch.hold_outcomes(pointers.data)


def _marks(name: str, given: tuple[object, ...], watch: Watch) -> list[str]:
    """What is true of what the builder's method `name` makes of `given`."""
    marks = []
    if name in _LOADS:
        pointers = next(_handles(given)).data
        values = [h for h in _handles(given) if not isinstance(h.dtype, tl.pointer_type)]
        of_floats = watch.holds_floats(pointers) or any(_is(handle, _OF_FLOATS) for handle in values)
    else:
        values = list(_handles(value for at, value in enumerate(given) if at != _CHOOSING.get(name)))
        of_floats = not name.startswith(_COMPARES) and any(_is(handle, _OF_FLOATS) for handle in values)
    if of_floats:
        marks.append(_OF_FLOATS)
    read = name in _LOADS and watch.holds_outcomes(next(_handles(given)).data)
    if name in _ATOMICS or read or any(_is(handle, _OF_ATOMICS) for handle in _handles(given)):
        marks.append(_OF_ATOMICS)
    return marks


def _mark_combined(given: tuple[tl.tensor, ...], made: tuple[tl.tensor, ...]) -> None:
    """Integers that come with floats, as an argmax does, are of the integers in their place."""
    for mark in (_OF_FLOATS, _OF_ATOMICS):
        of_any = any(_is(tensor.handle, mark) for tensor in given)
        for before, after in zip(given, made, strict=False):
            if of_any if after.dtype.is_floating() else _is(before.handle, mark):
                setattr(after.handle, mark, True)


def _handles(values: Iterable[object]) -> Iterator[TensorHandle]:
    for value in values:
        if isinstance(value, TensorHandle):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from _handles(value)


def _is(value: object, mark: str) -> bool:
    return getattr(value, mark, False)
