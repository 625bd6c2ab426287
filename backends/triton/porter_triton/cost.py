"""What a module costs, by a model of the device that its kernels are compiled for."""

from __future__ import annotations

from porter.backend import Port, Target
from porter.contract.contract import Contract, Workload
from porter.evaluate.bench import Bench
from porter.evaluate.side import Side
from porter.evolve.cost import Cost


def cost(  # noqa: PLR0917 - what the backend's method is asked
    port: Port,  # noqa: ARG001
    original: Side,  # noqa: ARG001
    contract: Contract,  # noqa: ARG001
    workload: Workload,  # noqa: ARG001
    target: Target,  # noqa: ARG001
    bench: Bench,  # noqa: ARG001
) -> Cost | str:
    """In words: there is no model yet."""
    return "no model of this device"
