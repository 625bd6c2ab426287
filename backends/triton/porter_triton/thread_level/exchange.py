"""Prints exchanges between the threads of a block: barriers, shuffles, votes and assertions."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from porter.ir.simt.analyses.ranges import limits
from porter.ir.simt.ops import Op, Value
from porter.ir.simt.types import Scalar
from porter_triton.kernel_records import Remark, RemarkKind
from porter_triton.thread_level.arithmetic import negated, where
from porter_triton.thread_level.expressions import Expression, Level, combined, infix, literal, settled, to_type

if TYPE_CHECKING:
    from porter_triton.thread_level.printer import Printer

_SHUFFLES = {"index": "shuffle", "up": "shuffle_up", "down": "shuffle_down", "xor": "shuffle_xor"}
_VOTES = {"all": "warp_all", "any": "warp_any", "ballot": "ballot"}
_BLOCK_REDUCTIONS = {"add": "tl.sum", "min": "tl.min", "max": "tl.max"}
_WARP_REDUCTIONS = {"add": "warp_sum", "min": "warp_min", "max": "warp_max"}
_SCANS = {"add": "scan_sum", "min": "scan_min", "max": "scan_max", "mul": "scan_product"}
_ALL_LANES = 0xFFFFFFFF
_WARP_SIZE = 32


def barrier(p: Printer, op: Op) -> None:
    """Waits for the block. Lanes of a warp also wait for memory; a fence is part of the atomic operations."""
    if op.attribute("scope") in ("block", "warp"):
        p.barrier()


def shuffle(p: Printer, op: Op) -> None:
    """Prints another lane's value."""
    value, lane = (p.value(operand) for operand in op.operands[:2])
    if not value.varying:
        p.hold(op, value)
        return
    value, lane = settled(value), to_type(lane, Scalar.I32)
    width = op.attribute("width")
    more = "" if width == _WARP_SIZE else f", {width}"
    name = p.helper(_SHUFFLES[str(op.attribute("mode"))])
    if value.type is Scalar.BOOL:
        wide = f"{name}({to_type(value, Scalar.I32).text}, {lane.text}{more})"
        made = infix("!=", Level.COMPARISON, combined(wide, Scalar.I32, value, lane), literal(0, Scalar.I32),
                     Scalar.BOOL)  # fmt: skip
    else:
        made = combined(f"{name}({value.text}, {lane.text}{more})", value.type, value, lane)
    p.hold(op, made)


def vote(p: Printer, op: Op) -> None:
    """Prints the vote of the lanes of each warp."""
    mode = str(op.attribute("mode"))
    says = p.spread(settled(p.value(op.operands[0])))
    active = _active(p, op.operands[1])
    result = Scalar.U32 if mode == "ballot" else Scalar.BOOL
    p.hold(op, combined(f"{p.helper(_VOTES[mode])}({says.text}, {active.text})", result, says, active))


def match(p: Printer, op: Op) -> None:
    """Prints which lanes of each warp hold the same number."""
    held, active = p.spread(settled(p.value(op.operands[0]))), _active(p, op.operands[1])
    p.hold(op, combined(f"{p.helper('warp_match')}({held.text}, {active.text})", Scalar.U32, held, active))


def _active(p: Printer, mask: Value) -> Expression:
    """Returns the threads that run and that the mask of lanes names."""
    held = p.value(mask)
    running = p.mask.lanes
    if held.number is not None and int(held.number) & _ALL_LANES == _ALL_LANES:
        return running if running is not None else p.spread(literal(True, Scalar.BOOL))
    lanes = settled(to_type(held, Scalar.U32))
    named = combined(f"{p.helper('named_lanes')}({lanes.text}, {p.threads})", Scalar.BOOL, lanes)
    named = Expression(named.text, Scalar.BOOL, varying=True, reads=named.reads)
    return named if running is None else infix("&", Level.AND, running, named, Scalar.BOOL)


def reduce(p: Printer, op: Op) -> None:
    """Reduces the numbers of all running threads: of the block to a scalar, of the warp for each of its threads."""
    kind, type_ = str(op.attribute("op")), op.result.type
    assert isinstance(type_, Scalar)
    value = p.spread(p.typed(p.value(op.operands[0]), type_))
    lanes = p.mask.lanes
    if op.attribute("scope") == "warp" and kind in _WARP_REDUCTIONS:
        active = p.spread(literal(True, Scalar.BOOL)) if lanes is None else lanes
        p.hold(op, combined(f"{p.helper(_WARP_REDUCTIONS[kind])}({value.text}, {active.text})", type_, value, active))
        return
    if lanes is not None:
        value = where(lanes, value, literal(neutral_number(kind, type_), type_), type_)
    if op.attribute("scope") == "warp":
        p.hold(op, combined(f"{p.helper('segment_product')}({value.text}, {_WARP_SIZE})", type_, value))
        return
    p.lanes_meet()
    axis = "" if value.turns else ", axis=0"
    text = f"{_BLOCK_REDUCTIONS[kind]}({value.text}{axis})" if kind in _BLOCK_REDUCTIONS else ""
    made = combined(text or f"{p.helper('block_product')}({value.text})", type_, value)
    p.hold(op, replace(made, varying=False, turns=False))


def scan(p: Printer, op: Op) -> None:
    """Scans the numbers of the running threads up to each one, of the block or of its warp."""
    kind, type_ = str(op.attribute("op")), op.result.type
    assert isinstance(type_, Scalar)
    value = p.spread(p.typed(p.value(op.operands[0]), type_))
    if p.mask.lanes is not None:
        value = where(p.mask.lanes, value, literal(neutral_number(kind, type_), type_), type_)
    backward, is_whole = bool(op.attribute("backward")), op.attribute("scope") == "block"
    width = p.threads if is_whole else str(_WARP_SIZE)
    if is_whole:
        made = combined(f"{p.helper(f'block_{_SCANS[kind]}')}({value.text}, {backward})", type_, value)
    else:
        made = combined(f"{p.helper(_SCANS[kind])}({value.text}, {width}, {backward})", type_, value)
    if op.attribute("exclusive"):
        first = literal(neutral_number(kind, type_), type_).text
        made = combined(f"{p.helper('scan_before')}({made.text}, {first}, {width}, {backward})", type_, made)
    p.hold(op, made)


def neutral_number(kind: str, type_: Scalar) -> float:
    """Returns the number that changes nothing."""
    if kind in ("add", "mul"):
        whole = 1 if kind == "mul" else 0
        return float(whole) if type_.is_float else whole
    if type_.is_float:
        return -math.inf if kind == "max" else math.inf
    low, high = limits(type_) or (0, 0)
    return low if kind == "max" else high


def check(p: Printer, op: Op) -> None:
    """Prints an assertion, of the threads that run."""
    says = settled(p.value(op.operands[0]))
    is_wrong = p.value(op.operands[0]).number == 0
    if p.mask.lanes is not None and is_wrong:
        says = negated(p.mask.lanes)
    elif p.mask.lanes is not None:
        rests = combined(f"~{p.mask.lanes.within(Level.SIGN)}", Scalar.BOOL, p.mask.lanes, level=Level.SIGN)
        says = infix("|", Level.OR, says, rests, Scalar.BOOL)
    p.line(f"tl.device_assert({says.text}, {str(op.attribute('message'))!r})", says)
    p.remarks.append(Remark(RemarkKind.ASSERTS, op.location.line))


def left_out(p: Printer, op: Op) -> None:
    """Leaves out a `printf`, and notes for the user that it is missing."""
    p.remarks.append(Remark(RemarkKind.PRINTS, op.location.line))
