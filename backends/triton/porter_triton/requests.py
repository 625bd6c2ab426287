"""Defines the requests to the processes that carry out plans and compile kernels."""

from __future__ import annotations

from dataclasses import dataclass

from porter.contract.model.dtype import DType
from porter.execution.job import Schedule, TensorValue
from porter.launch_plan.steps import Launch, Step
from porter_triton.records import KernelText

# Of a buffer: an address tells its number, and is aligned as a device's allocations are.
ADDRESS_BITS = 40
# The fault of a call that changes an argument and leaves it as it was: others may read it meanwhile.
PUT_BACK = "it changes argument {} and puts it back, which others may read meanwhile"


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """Steps of a call to carry out, and the texts of kernels they are the first to name.

    `arguments` are the tensors of the call by their numbers where the call begins, else empty. The last step is a
    `Read` or a `Return`; `number` is the type of a number that a call returns. Without `launches` no kernel is run.
    """

    steps: tuple[Step, ...]
    kernels: tuple[KernelText, ...]
    begins: bool
    arguments: tuple[tuple[int, TensorValue], ...] = ()
    schedule: Schedule = Schedule.FORWARD
    seed: int = 0
    poison: int = 0xFF
    number: DType | None = None
    launches: bool = True


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """Compile what `signature` says for `device`, as `GPUTarget` takes it; `kernels` are those not sent before."""

    kernels: tuple[KernelText, ...]
    signature: str
    device: tuple[str, int | str, int]


@dataclass(frozen=True, slots=True)
class AssembleRequest:
    """Compile `launch` for `device`, and say what it takes; `kernels` are those not sent before."""

    kernels: tuple[KernelText, ...]
    launch: Launch
    device: tuple[str, int | str, int]
