"""Arithmetic in compiled kernels that a device answers and C++ leaves open, where an x86 processor answers otherwise.

A device converts a float to the nearest number that a type holds, and NaN to one of its own; the processor gives the
lowest number, or the low bits of a wider one. A device that shifts by more bits than there are leaves nothing but the
sign; the processor drops the high bits of the count. The compiler's checks in front of such instructions
(`-fsanitize=float-cast-overflow,shift-exponent`) tell the executor of them. Behind each instruction that converts, and
in place of each shift by a register, the executor's answer stands (`runtime/conversions.cpp`, `runtime/shifts.cpp`).
"""

from __future__ import annotations

import re

# What is inserted uses the stack.
CONVERSION_FLAGS = ("-fsanitize=float-cast-overflow,shift-exponent", "-mno-red-zone")
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
_SHIFTS = re.compile(r"^\t(sa[lr]|sh[lr])([lq])\t%cl, ([^\n]+)$", re.MULTILINE)
# The compiler relies on no flags behind a shift by a register. The check tells of the shift that follows with its
# count; where the source itself cuts it short, the compiler leaves that to the processor, and no check tells of it.
_SHIFTED = """
	.macro	porter_shift instruction, target, nothing
	cmpb	$0, porter_is_wide_shift(%rip)
	jne	1f
	\\instruction	%cl, \\target
	.subsection	1
1:	cmpb	%cl, porter_wide_shift(%rip)
	je	3f
	\\instruction	%cl, \\target
	jmp	2f
3:	movb	$0, porter_is_wide_shift(%rip)
	\\nothing, \\target
	jmp	2f
	.previous
2:
	.endm
"""
CONVERTING = (_ANSWERED, _CONVERTS.pattern, _SHIFTED, _SHIFTS.pattern)  # how, for keys of caches


def with_conversions(assembly: str) -> str:
    """Returns what the compiler made, with the executor's answers to numbers that a type does not hold."""
    for pattern, answered, macro in ((_CONVERTS, _answered, _ANSWERED), (_SHIFTS, _shifted, _SHIFTED)):
        text, count = pattern.subn(answered, assembly)
        assembly = macro + text if count else assembly
    return assembly


def _answered(found: re.Match[str]) -> str:
    kind, size, source, target = found.groups()
    move = "movss" if kind == "s" else "movsd"
    return f'\tporter_convert cvtts{kind}2si{size}, {move}, "{source}", %{target}, %{_wide(target)}'


def _shifted(found: re.Match[str]) -> str:
    kind, size, target = found.groups()
    highest = 31 if size == "l" else 63
    nothing = f"sar{size} ${highest}" if kind == "sar" else f"mov{size} $0"
    return f'\tporter_shift {kind}{size}, "{target}", "{nothing}"'


def _wide(register: str) -> str:
    """The 64 bits of a register that holds a whole number."""
    if register[1:2].isdigit():
        return register.removesuffix("d")
    return register if register.startswith("r") else f"r{register[1:]}"
