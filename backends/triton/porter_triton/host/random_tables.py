"""Tables of numbers that kernels of CUDA's libraries ask for, which launchers make once for a device."""

from __future__ import annotations

from porter_triton.host.scope import Context

_XORWOW = '''\
@functools.cache
def xorwow_powers(device):
    """Computes what 1, 2, 4, ... steps of cuRAND's XORWOW make of each four bits of its five words."""
    step, digits = [], []
    for bit in range(160):
        first, last = (1 << bit) & 0xFFFFFFFF, 1 << bit >> 128
        mixed = first ^ first >> 2
        last = (last ^ last << 4 ^ mixed ^ mixed << 1) & 0xFFFFFFFF
        step.append(1 << bit >> 32 | last << 128)
    for _ in range(131):
        for digit in range(0, 160, 4):
            made = [0]
            for row in step[digit : digit + 4]:
                made += [row ^ other for other in made]
            digits += made
        step = [_xorwow_after(step, row) for row in step]
    words = [value >> place & 0xFFFFFFFF for value in digits for place in range(0, 160, 32)]
    return torch.tensor(words, dtype=torch.uint32, device=device)'''
_AFTER = '''\
def _xorwow_after(step, row):
    """The bits that `step` makes of those of `row`."""
    made = 0
    while row:
        made ^= step[(row & -row).bit_length() - 1]
        row &= row - 1
    return made'''
_TABLES = {"xorwow_powers": (("_xorwow_after", _AFTER), ("xorwow_powers", _XORWOW))}


def given(cx: Context, symbol: str, device: str) -> str:
    """Returns the table that a kernel of a library calls `symbol`, on `device`; empty for any other variable."""
    for name, text in _TABLES.get(symbol, ()):
        cx.callees.keep(name, text)
    return f"{symbol}({device})" if symbol in _TABLES else ""
