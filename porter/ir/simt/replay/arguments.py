"""The arguments of a launch: bytes, in which device addresses stand apart."""

from __future__ import annotations

import base64
from collections.abc import Callable

import numpy as np

from porter.contract.model.dtype import DType, decode
from porter.ir.simt.interpret.domain import Data, ExecutionError, numpy_type
from porter.ir.simt.ops import Function, Parameter
from porter.ir.simt.types import Pointer, Scalar
from porter.launch_plan.steps import Bytes, Launch

Passed = Callable[[float, Scalar], Data]  # what a float becomes that is passed
Address = Callable[[int, int], int]  # of a byte of a buffer


def arguments_of(function: Function, launch: Launch, address: Address, number: Passed) -> list[Data]:
    """Returns a value for each parameter, floats as `number` has them.

    Raises `ExecutionError` for an argument that is no bytes.
    """
    passed = dict(launch.arguments)
    found = []
    for parameter in function.parameters:
        if parameter.variable:
            raise ExecutionError(f"the device's variable '{parameter.variable}'")
        argument = passed.get(str(parameter.argument))
        if not isinstance(argument, Bytes):
            raise ExecutionError(f"argument {parameter.argument} of '{function.name}' is not passed as bytes")
        found.append(_value(parameter, argument, address, number))
    return found


def _value(parameter: Parameter, argument: Bytes, address: Address, number: Passed) -> Data:
    type_, at = parameter.value.type, parameter.offset
    for pointer in argument.pointers:
        if pointer.at == at and isinstance(type_, Pointer):
            return np.array(address(pointer.buffer, pointer.offset), np.int64)
    content = base64.b64decode(argument.content)
    if isinstance(type_, Pointer):
        return np.frombuffer(content[at : at + 8], np.int64).reshape(())
    assert isinstance(type_, Scalar)
    raw = content[at : at + type_.bytes]
    if type_ is Scalar.BOOL:
        return np.array(raw != b"\0")
    if type_ is Scalar.BF16:
        return number(float(decode(np.frombuffer(raw, np.uint16), DType.BFLOAT16)[0]), type_)
    held = np.frombuffer(raw, numpy_type(type_))[0]
    return number(float(held), type_) if type_.is_float else np.array(held)
