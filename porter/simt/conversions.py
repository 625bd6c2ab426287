"""Conversions of floats to whole numbers in compiled kernels, where the number is none that the type holds.

A device has an answer there: the nearest number, or that of NaN. What C++ leaves open an x86 processor answers with the
lowest number, or the low bits of a wider one. The compiler's check in front of each conversion
(`-fsanitize=float-cast-overflow`) tells the executor of such a number and of the type; behind each instruction that
converts, the executor's answer takes the place of the processor's (`runtime/conversions.cpp`).
"""

from __future__ import annotations

import re

CONVERSION_FLAGS = ("-fsanitize=float-cast-overflow", "-mno-red-zone")  # what is inserted uses the stack
_CONVERTS = re.compile(r"^\tcvtts([sd])2si([lq])\t(.+), %(\w+)$", re.MULTILINE)
# Flags, and all registers but the one that is converted to, are afterwards as they were: the compiler may rely on them.
_ANSWERED = """
	.macro	porter_convert instruction, move, from, to, wide
	pushfq
	cmpb	$0, porter_is_unfit(%rip)
	jne	1f
	popfq
	\\instruction	\\from, \\to
	.subsection	1
1:	popfq
	movups	%xmm15, porter_kept_register(%rip)
	\\move	\\from, %xmm15
	movq	%xmm15, porter_converted(%rip)
	movups	porter_kept_register(%rip), %xmm15
	\\instruction	\\from, \\to
	movq	\\wide, porter_answer(%rip)
	pushfq
	call	porter_settle
	popfq
	movq	porter_answer(%rip), \\wide
	jmp	2f
	.previous
2:
	.endm
"""
CONVERTING = (_ANSWERED, _CONVERTS.pattern)  # how, for keys of caches


def with_conversions(assembly: str) -> str:
    """Returns what the compiler made, with the executor's answers to numbers that a type does not hold."""
    text, count = _CONVERTS.subn(_answered, assembly)
    return _ANSWERED + text if count else assembly


def _answered(found: re.Match[str]) -> str:
    kind, size, source, target = found.groups()
    move = "movss" if kind == "s" else "movsd"
    return f'\tporter_convert cvtts{kind}2si{size}, {move}, "{source}", %{target}, %{_wide(target)}'


def _wide(register: str) -> str:
    """The 64 bits of a register that holds a whole number."""
    if register[1:2].isdigit():
        return register.removesuffix("d")
    return register if register.startswith("r") else f"r{register[1:]}"
