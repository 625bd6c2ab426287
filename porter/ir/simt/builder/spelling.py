"""Names of instances as C++ spells them, taken apart."""

from __future__ import annotations

import re

_ANONYMOUS = re.compile(r"\(anonymous namespace\)::|\{anonymous\}::")


def taken_apart(spelled: str) -> tuple[str, tuple[str, ...], int]:
    """Returns name, template arguments and number of parameters of `void ns::k<float, 4>(float*, int)`."""
    text = _ANONYMOUS.sub("", spelled).strip()
    name, rest = _upto(text, "(<")
    name = name.rpartition(" ")[2]
    arguments: tuple[str, ...] = ()
    if rest.startswith("<"):
        inner, rest = _bracketed(rest)
        arguments = _split(inner)
    parameters = _split(_bracketed(rest)[0]) if rest.startswith("(") else ()
    return name, arguments, 0 if parameters == ("void",) else len(parameters)


def _upto(text: str, marks: str) -> tuple[str, str]:
    at = next((i for i, character in enumerate(text) if character in marks), len(text))
    return text[:at], text[at:]


def _bracketed(text: str) -> tuple[str, str]:
    """Returns what stands in the brackets that `text` begins with, and what follows."""
    depth = 0
    for index, character in enumerate(text):
        depth += (character in "(<[{") - (character in ")>]}")
        if depth == 0:
            return text[1:index], text[index + 1 :]
    return text[1:], ""


def _split(text: str) -> tuple[str, ...]:
    """Returns what commas outside of brackets separate."""
    found, depth, begin = [], 0, 0
    for index, character in enumerate(text):
        depth += (character in "(<[{") - (character in ")>]}")
        if character == "," and depth == 0:
            found.append(text[begin:index].strip())
            begin = index + 1
    last = text[begin:].strip()
    return (*found, last) if last else tuple(found)
