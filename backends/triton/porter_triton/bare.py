"""A launcher for a kernel that no host function of the source launches: its caller says the grid and the block."""

from __future__ import annotations

from collections.abc import Mapping

from porter.contract.analysis.records import symbol
from porter.contract.model.contract import LaunchShape
from porter_triton.kernel_records import Dimension, LaunchInfo, LoweredKernel, ParameterKind
from porter_triton.launching import Given, LaunchText, call, number


def block_of(shape: LaunchShape | None) -> tuple[Dimension, Dimension, Dimension]:
    """Returns the block a kernel is lowered for: that of its usual launch, by name where it is not 1."""
    extents = [int(extent) if extent.isdecimal() else None for extent in shape.block] if shape else [None, 1, 1]
    names = ("BLOCK_SIZE", "BLOCK_Y", "BLOCK_Z") if extents[1:] == [1, 1] else ("BLOCK_X", "BLOCK_Y", "BLOCK_Z")
    x, y, z = (Dimension(n, "" if n == 1 else name) for n, name in zip(extents, names, strict=True))
    return x, y, z


def bare_launcher(
    name: str, kernel: LoweredKernel, info: LaunchInfo, parameters: tuple[str, ...], constants: Mapping[str, str]
) -> str:
    """Returns the text of the launcher `name`; `parameters` are the CUDA kernel's, in order, with fields of structs.

    `constants` are the tensors for `__constant__` variables.
    """
    names = {p.source: p.name for p in kernel.parameters if p.kind in (ParameterKind.POINTER, ParameterKind.SCALAR)}
    own = {kernel.name, "grid", "block", "shared_bytes"}  # which a parameter would hide
    plain = (names.get(parameter, symbol(parameter)) for parameter in parameters)
    arguments = [f"{name}_" if name in own else name for name in plain]
    head = f"def {name}({', '.join([*arguments, '*', 'grid', 'block', 'shared_bytes=0'])}):"
    tensors = [p.name for p in kernel.parameters if p.kind is ParameterKind.POINTER]
    given = {**constants, **dict(zip(parameters, arguments, strict=True))}
    launch = LaunchText(
        arguments={source: Given(text) for source, text in given.items()},
        grid=(Given("grid[0]"), Given("grid[1]"), Given("grid[2]")),
        block=_extents(info),
        shared_bytes=Given("shared_bytes"),
        device=tensors[0] if tensors else "None",
    )
    return "\n".join(
        [
            head,
            f'    """Launches {kernel.name} with CUDA\'s extents of grid and block, three numbers each."""',
            *_demands(info),
            f"    {call(kernel, launch)}",
        ]
    )


def _extents(info: LaunchInfo) -> tuple[Given, Given, Given]:
    """Returns the block's extents inside the launcher."""
    x, y, z = (Given(f"block[{axis}]") if d.value is None else number(d.value) for axis, d in enumerate(info.block))
    return x, y, z


def _demands(info: LaunchInfo) -> list[str]:
    fixed = [(axis, d.value) for axis, d in enumerate(info.block) if d.value is not None]
    if not fixed:
        return []
    wrong = " or ".join(f"block[{axis}] != {value}" for axis, value in fixed)
    wanted = ", ".join("n" if d.value is None else str(d.value) for d in info.block)
    return [f"    if {wrong}:", f'        raise ValueError("lowered for blocks of ({wanted}) threads")']
