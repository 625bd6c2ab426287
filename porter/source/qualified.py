"""Names with the scopes they stand in, as C++ writes them."""

from __future__ import annotations


def unqualified(name: str) -> str:
    """The last part of `name`: `half` of `at::half`."""
    return name.rpartition("::")[2]
