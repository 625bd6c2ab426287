"""Names with the scopes they stand in, as C++ writes them."""

from __future__ import annotations


def unqualified(name: str) -> str:
    """The last part of `name`: `half` of `at::half`."""
    return name.rpartition("::")[2]


def plain_callee(callee: str) -> str:
    """A callee as written, without its scopes and template arguments: `softmax` of `&ns::softmax<float, 4>`."""
    name, depth = "", 0
    for character in callee.strip("&* "):
        depth += (character == "<") - (character == ">")
        name += character if depth == 0 and character != ">" else ""
    return unqualified(name).strip()
