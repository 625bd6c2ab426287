"""Compares what programs print: words have to be the same, and numbers equal within rounding."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_RTOL = 1e-4
# The names under which the executor's device goes in either dialect; that they differ is no difference of results.
_DEVICE = re.compile(r"NVIDIA A100-SXM4-80GB|MetaX C500")
# What a clock or a throughput says differs from run to run and says nothing about results.
_MEASURED = re.compile(
    r"\b(?:time[ds]?|took|elapsed|latency|bandwidth|throughput|speed ?up|duration|seconds?|msec|usec|[mun]s|fps|"
    r"[gmk]i?b(?:yte)?s?/s|[gt]flops?)\b",
    re.I,
)


_ANYTHING = "\N{HORIZONTAL ELLIPSIS}"  # stands for a line that says something else on each device


def on_any_device(text: str, elsewhere: str) -> str:
    """Returns `text` with a mark for each line that a device of other limits changes, by more than rounding."""
    lines, others = text.splitlines(), elsewhere.splitlines()
    if len(lines) != len(others):
        return text
    marked = (a if _MEASURED.search(a) or _alike(a, b) else _ANYTHING for a, b in zip(lines, others, strict=True))
    return "\n".join(marked)


def of_devices(text: str) -> int:
    """Returns how many lines `on_any_device` has marked, which `compare_text` takes for equal to any other."""
    return text.splitlines().count(_ANYTHING)


def compare_text(got: str, want: str, *, exact: bool = False) -> str:
    """Empty when both say the same, else the first line that differs. Lines that report a measurement are left out."""
    left, right = _lines(got), _lines(want)
    for a, b in zip(left, right, strict=False):
        if a != b and _ANYTHING not in (a, b) and (exact or not _alike(a, b)):
            return f"prints '{a}', not '{b}'"
    if len(left) != len(right):
        return f"prints {len(left)} lines, not {len(right)}"
    return ""


def _lines(text: str) -> list[str]:
    kept = (line for line in text.splitlines() if line.strip() and not _MEASURED.search(line))
    return [_DEVICE.sub("device", line.rstrip()) for line in kept]


def _alike(got: str, want: str) -> bool:
    """Returns whether two lines have the same words and close numbers."""
    if _NUMBER.sub("#", got) != _NUMBER.sub("#", want):
        return False
    pairs = zip(_NUMBER.findall(got), _NUMBER.findall(want), strict=True)
    return all(_close(a, b) for a, b in pairs)


def _close(got: str, want: str) -> bool:
    if got == want:
        return True
    if not any(c in got + want for c in ".eE"):
        return False
    a, b = float(got), float(want)
    # The last printed digit may round the other way.
    decimals = max(_decimals(got), _decimals(want))
    return abs(a - b) <= _RTOL * abs(b) + (1.0001 * 10.0**-decimals if decimals else 0.0)


def _decimals(number: str) -> int:
    return len(number.split(".")[1]) if "." in number and "e" not in number.lower() else 0
