"""Finds the tensors and buffers that the steps of a plan name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from porter.contract.model.dtype import DType
from porter.launch_plan.steps import (
    OUT,
    Allocate,
    Argument,
    Bytes,
    Compute,
    Constant,
    Descriptor,
    Fill,
    Free,
    Input,
    KernelName,
    Launch,
    Move,
    Pointer,
    Read,
    Return,
    Sequence,
    Step,
    TensorView,
    Variable,
)


def views_of(argument: Argument) -> Iterator[TensorView]:
    """The tensors that an argument hands over."""
    match argument:
        case TensorView():
            yield argument
        case Descriptor(base):
            yield base
        case Bytes(_, pointers):
            yield from map(pointed_to, pointers)
        case Sequence(items):
            for item in items:
                yield from views_of(item)


def pointed_to(pointer: Pointer) -> TensorView:
    """The byte that an address names; it may lie outside of its buffer, as long as nobody uses it."""
    return TensorView(pointer.buffer, "uint8", (), (), pointer.offset)


def kernels_of(argument: Argument) -> Iterator[str]:
    """The kernels that an argument hands over."""
    match argument:
        case KernelName(name):
            yield name
        case Sequence(items):
            for item in items:
                yield from kernels_of(item)


def used(step: Step) -> tuple[TensorView, ...]:
    """The tensors whose memory `step` may read or write; those it makes are left out."""
    match step:
        case Fill(to):
            return (to,)
        case Move(to, source):
            return (to, source)
        case Read(source):
            return (source,)
        case Compute(arguments=arguments) | Launch(arguments=arguments):
            return tuple(view for _, argument in arguments for view in views_of(argument))
        case Constant(_, _, pointers):
            return tuple(map(pointed_to, pointers))
        case Return(results):
            return tuple(result for result in results if isinstance(result, TensorView))
    return ()


def made(step: Step) -> tuple[int, ...]:
    """The numbers of the buffers that `step` makes."""
    match step:
        case Input(buffer) | Allocate(buffer) | Variable(buffer) | Constant(buffer):
            return (buffer,)
        case Compute(results=results):
            return tuple(result.buffer for result in results)
    return ()


def outputs(step: Compute) -> tuple[TensorView, ...]:
    """The tensors that an operator writes: new ones, and those that it is told to."""
    return (*step.results, *(view for name, value in step.arguments if name == OUT for view in views_of(value)))


def written(step: Step) -> tuple[TensorView, ...]:
    """The tensors that `step` may write: of a launch all that it is given."""
    match step:
        case Fill(to) | Move(to):
            return (to,)
        case Compute():
            return outputs(step)
        case Launch():
            return used(step)
    return ()


def item_bytes(dtype: str) -> int:
    """The size of an element in bytes; raises `ValueError` for a type that plans do not have."""
    return DType(dtype).bytes


def extent_bytes(view: TensorView) -> tuple[int, int]:
    """The first byte of the buffer that `view` covers, and the one behind its last; equal where it is empty."""
    size = item_bytes(view.dtype)
    if 0 in view.shape:
        return view.offset * size, view.offset * size
    last = view.offset + sum((n - 1) * stride for n, stride in zip(view.shape, view.strides, strict=True))
    return view.offset * size, (last + 1) * size


def renumbered(step: Step, number: dict[int, int]) -> Step:
    """`step` with every buffer `b` called `number[b]`."""

    def view(old: TensorView) -> TensorView:
        return replace(old, buffer=number[old.buffer])

    def pointer(old: Pointer) -> Pointer:
        return replace(old, buffer=number[old.buffer])

    def argument(old: Argument) -> Argument:
        match old:
            case TensorView():
                return view(old)
            case Descriptor():
                return replace(old, base=view(old.base))
            case Bytes():
                return replace(old, pointers=tuple(map(pointer, old.pointers)))
            case Sequence(items):
                return Sequence(tuple(map(argument, items)))
        return old

    match step:
        case Input() | Allocate() | Free() | Variable():
            return replace(step, buffer=number[step.buffer])
        case Constant():
            return replace(step, buffer=number[step.buffer], pointers=tuple(map(pointer, step.pointers)))
        case Fill():
            return replace(step, to=view(step.to))
        case Move():
            return replace(step, to=view(step.to), source=view(step.source))
        case Read():
            return replace(step, source=view(step.source))
        case Compute():
            passed = tuple((name, argument(value)) for name, value in step.arguments)
            return replace(step, arguments=passed, results=tuple(map(view, step.results)))
        case Launch():
            return replace(step, arguments=tuple((name, argument(value)) for name, value in step.arguments))
        case Return(results):
            return Return(tuple(view(r) if isinstance(r, TensorView) else r for r in results))
    return step
