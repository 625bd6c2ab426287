"""Constructs that the builder does not express."""

from __future__ import annotations

from porter.ir.simt.ops import Location


class NotExpressibleError(Exception):
    """The kernel has a construct that the SIMT IR, or its builder, does not express; `location` is where."""

    def __init__(self, construct: str, line: int = 0, file: str = "") -> None:
        super().__init__(construct)
        self.construct, self.location = construct, Location(line, file)

    def __str__(self) -> str:
        return f"line {self.location}: {self.construct}" if self.location.line else self.construct


def told_by_build(name: str) -> str:
    """Returns what may supply the name `name`, which nothing that was read declares; empty for a qualified one."""
    return f": if the build defines it, say so with --define {name}=VALUE" if name.isidentifier() else ""
