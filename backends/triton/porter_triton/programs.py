"""The programs that need torch and Triton as they are: one process imports both, and theirs are forked from it."""

from __future__ import annotations

from porter_triton import compiler
from porter_triton.planning import worker as planning

_PROGRAMS = {"compile": compiler, "plan": planning}


def prepare() -> None:
    """Prepares what the programs need. Compiling does not use what planning puts in the place of Triton's launcher."""
    for program in _PROGRAMS.values():
        program.prepare()


def serve(arguments: list[str]) -> None:
    """Serves as the program that the last argument names."""
    _PROGRAMS[arguments[-1]].serve(arguments[:-1])
