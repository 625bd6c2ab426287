"""Gives the cost of an instruction to a warp: slots of its scheduler, and cycles until the result is there.

Slots are those of a scheduler that issues one instruction of 32 lanes a cycle; work that the device does in several
instructions, or with a quarter of the lanes at once, takes several. Latencies are those that microbenchmarks of Hopper
found (Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking", 2024: shared
29, L1 41, L2 about 260, device memory about 650 cycles), rounded.
"""

from __future__ import annotations

from collections.abc import Mapping

from porter_triton.model.ptx import Instruction

LATENCY: Mapping[str, float] = {
    "global": 650.0,
    "atom": 700.0,
    "shared": 30.0,
    "shfl": 24.0,
    "redux": 24.0,
    "bar": 25.0,
    "division": 40.0,
    "special": 24.0,
    "plain": 5.0,
}
_SPECIAL = frozenset(("ex2", "lg2", "sin", "cos", "rcp", "rsqrt", "sqrt", "tanh"))
_MATRIX = frozenset(("mma", "wgmma", "ldmatrix"))
_SPECIAL_SLOTS = 2.0  # 16 lanes of 32 at once
_DENORMAL_SLOTS = 3.0  # what is scaled before and after where denormals are kept
_DOUBLE_SLOTS = 2.0
# Divisions are sequences of instructions: counted in the machine code that ptxas makes of them for sm_90.
_DIVISION_SLOTS: Mapping[str, float] = {
    "rn.f32": 10.0, "full.f32": 5.0, "approx.f32": 3.0, "rn.f64": 40.0,
    "s64": 70.0, "u64": 60.0, "s32": 16.0, "u32": 14.0,
}  # fmt: skip


def issue_slots(one: Instruction) -> float:
    """Returns the issue slots of its scheduler that a warp takes for `one`."""
    if one.name in ("div", "rem"):
        kind = next((kind for kind in _DIVISION_SLOTS if one.op.endswith(kind)), "")
        return _DIVISION_SLOTS.get(kind, _DIVISION_SLOTS["rn.f32"])
    if one.name == "sqrt":
        return _DIVISION_SLOTS["rn.f32"]
    if one.name in _SPECIAL:
        return _SPECIAL_SLOTS + (0.0 if "ftz" in one.op else _DENORMAL_SLOTS)
    if one.type == "f64":
        return _DOUBLE_SLOTS
    if ".param" in one.op:
        return 0.0
    return 8.0 if one.name in _MATRIX else 1.0


def latency(one: Instruction) -> float:
    """Cycles from its issue until what it gives can be used."""
    if one.name == "ld":
        return 0.0 if ".param" in one.op else LATENCY["shared" if ".shared" in one.op else "global"]
    if one.name in ("atom", "shfl", "redux"):
        return LATENCY[one.name]
    if one.name in ("div", "rem", "sqrt"):
        return LATENCY["division"]
    return LATENCY["special"] if one.name in _SPECIAL or one.name in _MATRIX else LATENCY["plain"]
