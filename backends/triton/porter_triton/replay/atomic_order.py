"""Marks the values in a kernel that depend on the outcome of an atomic operation.

A program knows of others only by what atomic operations return. One that does not ask is in no order with them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator

import triton.language as tl
from triton._C.libtriton import ir
from triton.runtime.interpreter import InterpreterBuilder, ReduceScanOpInterface, TensorHandle

from porter_triton.replay.watch import Watch

_MARK = "of_atomics"
# Set once a program has asked an atomic operation: until then no value comes of one, and nothing is looked through.
# That took an eighth of the time of a softmax.
_ASKED = "were_asked"
_ATOMICS = frozenset(("create_atomic_rmw", "create_atomic_cas"))
_LOADS = frozenset(("create_load", "create_masked_load", *_ATOMICS))
# Operands that are masks.
_MASKS = {"create_masked_load": 1, "create_masked_store": 2}
# Where a pointer and what is put there stand.
_STORED = {"create_masked_store": (0, 1), "create_atomic_rmw": (1, 2), "create_atomic_cas": (0, 2)}


def follow_atomics(watch: Watch) -> None:
    """Patches Triton's interpreter, once for the life of the process, so that `watch` hears of atomic operations."""
    setattr(InterpreterBuilder, _ASKED, False)
    for name in [name for name in dir(InterpreterBuilder) if name.startswith("create_")]:
        setattr(InterpreterBuilder, name, _marking(name, getattr(InterpreterBuilder, name), watch))
    combine, truth = ReduceScanOpInterface.apply, tl.tensor.__bool__

    def apply(operation: ReduceScanOpInterface, given: tl.tensor | tuple[tl.tensor, ...]) -> object:
        made = combine(operation, given)
        if any(_is(tensor.handle) for tensor in (given if isinstance(given, tuple) else (given,))):
            for tensor in made if isinstance(made, tuple) else (made,):
                setattr(tensor.handle, _MARK, True)
        return made

    def decides(tensor: tl.tensor) -> bool:
        if _is(tensor.handle):
            watch.synchronise()
        return bool(truth(tensor))

    ReduceScanOpInterface.apply = apply
    tl.tensor.__bool__ = decides


def _marking(name: str, method: Callable[..., object], watch: Watch) -> Callable[..., object]:
    """Returns `method` of the builder, whose results then know what they were made from."""

    @functools.wraps(method)
    def called(builder: InterpreterBuilder, *given: object, **named: object) -> object:
        if name not in _ATOMICS and not getattr(InterpreterBuilder, _ASKED):
            return method(builder, *given, **named)
        if name in _MASKS and _is(given[_MASKS[name]]):
            watch.synchronise()
        if name in _STORED and _is(given[_STORED[name][1]]):
            watch.hold_outcomes(next(_handles(given[_STORED[name][0] :])).data)
        made = method(builder, *given, **named)
        if _comes_of_atomics(name, given, watch):
            setattr(InterpreterBuilder, _ASKED, True)
            for handle in _handles([made]):
                setattr(handle, _MARK, True)
        return made

    return called


def is_release(operand: object) -> bool:
    """Returns True for the operand by which an atomic operation tells others what the program wrote."""
    return operand in (ir.MEM_SEMANTIC.ACQUIRE_RELEASE, ir.MEM_SEMANTIC.RELEASE)


def is_acquire(operand: object) -> bool:
    """Returns True for the operand by which an atomic operation tells the program what others wrote."""
    return operand in (ir.MEM_SEMANTIC.ACQUIRE_RELEASE, ir.MEM_SEMANTIC.ACQUIRE)


def _comes_of_atomics(name: str, given: tuple[object, ...], watch: Watch) -> bool:
    read = name in _LOADS and watch.holds_outcomes(next(_handles(given)).data)
    asks = name in _ATOMICS and any(is_acquire(operand) for operand in given)
    return asks or read or any(_is(handle) for handle in _handles(given))


def _handles(values: Iterable[object]) -> Iterator[TensorHandle]:
    for value in values:
        if isinstance(value, TensorHandle):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from _handles(value)


def _is(value: object) -> bool:
    return getattr(value, _MARK, False)
