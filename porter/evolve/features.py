"""Names the axes on which kernels differ in how they work, in any language: a backend's features count on these."""

from __future__ import annotations

from enum import IntEnum

from porter.evolve.axis import Axis


class Memory(IntEnum):
    """The ways in which a kernel gets at its data; the highest that applies counts."""

    PLAIN = 0  # an access an element
    WIDE = 1  # several neighbouring elements an access
    KEPT = 2  # elements kept on the chip, for other lanes or a second use
    PIPELINED = 3  # the next elements under way while these are used


class Parallel(IntEnum):
    """The ways in which work is divided; the highest that applies counts."""

    ELEMENT = 0  # lanes work for themselves, once
    LOOP = 1  # lanes work for themselves, in turns
    LANES = 2  # the lanes of a program come to a result together
    PROGRAMS = 3  # programs come to it together: several kernels, or atomics


class Family(IntEnum):
    """The kind of computation: the highest that applies."""

    MAP = 0
    REDUCTION = 1
    SCAN = 2
    PRODUCT = 3  # of matrices


AXES = (
    Axis("memory", ("plain", "wide", "kept on chip", "pipelined")),
    Axis("parallel", ("element a lane", "loop a lane", "lanes together", "programs together")),
    Axis("family", ("map", "reduction", "scan", "matrix product")),
)


def cell(memory: Memory, parallel: Parallel, family: Family) -> tuple[int, ...]:
    """Returns the coordinates on AXES."""
    return int(memory), int(parallel), int(family)
