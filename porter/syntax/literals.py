"""Number, character and string literals as values with their C++ types."""

from __future__ import annotations

import re

from porter.syntax.nodes import Literal

_NUMBER = re.compile(
    r"(?P<digits>0[xX][\da-fA-F.]+(?:[pP][+-]?\d+)?|0[bB][01]+|[\d.]+(?:[eE][+-]?\d+)?)(?P<suffix>\w*)$"
)
_STRING = re.compile(
    r'(?:u8|[uUL])?(?:R"(?P<delimiter>[^(]*)\((?P<raw>.*)\)(?P=delimiter)"|"(?P<text>.*?)"?)$', re.DOTALL
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_ESCAPE = re.compile(r"\\(x[\da-fA-F]+|[0-7]{1,3}|\r?\n|.)", re.DOTALL)


def number(text: str, line: int) -> Literal | None:
    """`0x1fu`, `1'000`, `1e-5f`, `0b11`, `017`; None for a number of the user's own kind (`1_km`)."""
    found = _NUMBER.match(text.replace("'", ""))
    if found is None:
        return None
    digits, suffix = found["digits"].lower(), found["suffix"].lower()
    hexadecimal = digits.startswith("0x")
    floating = "." in digits or ("p" in digits if hexadecimal else "e" in digits)
    if floating or (suffix == "f" and not hexadecimal):
        kind = {"": "double", "f": "float", "l": "long double", "f16": "half", "h": "half"}.get(suffix)
        if kind is None:
            return None
        return Literal(float.fromhex(digits) if hexadecimal else float(digits), kind, line)
    if suffix not in ("", "u", "l", "ul", "lu", "ll", "ull", "llu", "z", "uz", "zu"):
        return None
    value = int(digits, 8) if re.fullmatch(r"0[0-7]+", digits) else int(digits, 0)
    return Literal(value, _integer_type(value, suffix, decimal=not digits.startswith("0")), line)


def _integer_type(value: int, suffix: str, *, decimal: bool) -> str:
    """The first type of the standard's list that holds `value`."""
    unsigned, longs = "u" in suffix, suffix.count("l") + suffix.count("z")
    for size, bits in (("int", 31), ("long", 63), ("long long", 63)):
        if longs > size.count("long"):
            continue
        if not unsigned and value < 1 << bits:
            return size
        if (unsigned or not decimal) and value < 1 << (bits + 1):
            return f"unsigned {size}"
    return "unsigned long long"


def character(text: str, line: int) -> Literal:
    """`'a'`, `'\\n'`."""
    inside = text[text.index("'") + 1 : -1]
    value = _unescaped(inside)
    return Literal(ord(value[:1] or "\0"), "char", line)


def string(text: str, line: int) -> Literal:
    """`"text"`, raw strings included, escapes resolved."""
    found = _STRING.match(text)
    if found is None:
        return Literal(text, "string", line)
    return Literal(found["raw"] if found["raw"] is not None else _unescaped(found["text"]), "string", line)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda m: _escape(m.group(1)), text) if "\\" in text else text


def _escape(code: str) -> str:
    if code.startswith("x") and len(code) > 1:
        return chr(int(code[1:], 16) & 0xFF)
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    return "" if code.endswith("\n") else _ESCAPES.get(code, code)
