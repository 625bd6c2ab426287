"""Every tensor operation against PyTorch: dtype, sizes, strides and values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

DTYPES = {
    "Byte": torch.uint8, "Char": torch.int8, "Short": torch.int16, "Int": torch.int32, "Long": torch.int64,
    "Half": torch.float16, "Float": torch.float32, "Double": torch.float64, "Bool": torch.bool,
    "BFloat16": torch.bfloat16,
}  # fmt: skip
TOLERANCES = {torch.float16: 1e-3, torch.bfloat16: 1e-2, torch.float32: 2e-6, torch.float64: 1e-12}


def make(seed: int, sizes: tuple[int, ...], dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """The same numbers as `input` in show.h."""
    numbers = (torch.arange(int(np.prod(sizes))) * 7 + 3 * seed).remainder(11) - 5
    return (numbers.double() / 4 if dtype.is_floating_point else numbers).to(dtype).reshape(sizes)


def read_cases() -> dict[str, list[tuple[str, str]]]:
    """The groups of operations.txt: the C++ and the Python text of each operation."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for line in (Path(__file__).parent / "operations.txt").read_text().splitlines():
        if line.startswith("["):
            cases = groups.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            cpp, _, python = line.partition(" ; ")
            cases.append((cpp, python or cpp))
    return groups


GROUPS = read_cases()
INPUTS = """
    torch::Tensor x = input(0, {3, 8, 5}), y = input(4, {3, 8, 5}), row = input(2, {5});
    torch::Tensor scalar = input(3, {}, torch::kDouble), positive = x.abs().add(0.25);
    torch::Tensor half = input(1, {3, 8, 5}, torch::kHalf), brain = input(2, {3, 8, 5}, torch::kBFloat16);
    torch::Tensor ints = input(5, {3, 8, 5}, torch::kInt), chars = input(6, {3, 8, 5}, torch::kChar);
    torch::Tensor bytes = input(7, {3, 8, 5}, torch::kByte), bools = input(8, {3, 8, 5}, torch::kBool);
    torch::Tensor distinct = torch::arange(120).mul(7).remainder(121).view({3, 8, 5}).to(torch::kFloat).cuda();
    torch::Tensor index = torch::tensor({2, 0, 1, 2}, torch::kLong).cuda();
"""


def python_inputs() -> dict[str, object]:
    x = make(0, (3, 8, 5))
    sizes = (3, 8, 5)
    return {
        "torch": torch, "x": x, "y": make(4, sizes), "row": make(2, (5,)), "scalar": make(3, (), torch.float64),
        "half": make(1, sizes, torch.float16), "brain": make(2, sizes, torch.bfloat16),
        "ints": make(5, sizes, torch.int32),
        "chars": make(6, sizes, torch.int8), "bytes": make(7, sizes, torch.uint8), "bools": make(8, sizes, torch.bool),
        "positive": x.abs() + 0.25, "distinct": (torch.arange(120) * 7).remainder(121).view(sizes).float(),
        "index": torch.tensor([2, 0, 1, 2]),
    }  # fmt: skip


def expected(expression: str, names: dict[str, object]) -> list[torch.Tensor] | str:
    """Returns what PyTorch makes of it, or "error"."""
    try:
        result = eval(expression, dict(names))
    except (RuntimeError, IndexError, TypeError):
        return "error"
    return [result] if isinstance(result, torch.Tensor) else list(result)


def compare(line: str, want: torch.Tensor) -> str:
    """Returns why the line is not what PyTorch has; empty when it is."""
    _, dtype, sizes, strides, values = line.split("|")
    shape = tuple(int(s) for s in sizes.split(",") if s)
    if DTYPES.get(dtype) is not want.dtype or shape != tuple(want.shape):
        return f"{dtype} {shape}, not {want.dtype} {tuple(want.shape)}"
    if tuple(int(s) for s in strides.split(",") if s) != want.stride():
        return f"strides {strides}, not {want.stride()}"
    got = np.array([float(v) for v in values.split()])
    numbers, tolerance = want.double().numpy().ravel(), TOLERANCES.get(want.dtype, 0)
    if not np.allclose(got, numbers, rtol=tolerance, atol=tolerance, equal_nan=True):
        return f"{got}, not {numbers}"
    return ""


@pytest.fixture(scope="module")
def printed(run_program: Callable[[str], str]) -> dict[str, list[str]]:
    """The lines of every case, by its C++ text: one program for all, because compiling is what takes time."""
    cases = [cpp for cases in GROUPS.values() for cpp, _ in cases]
    functions = "".join(f"    show_case({i}, [&] {{ return {cpp}; }});\n" for i, cpp in enumerate(cases))
    lines = run_program(f'#include "show.h"\nint main() {{{INPUTS}{functions}}}\n').splitlines()
    return {cpp: [line for line in lines if line.startswith(f"{i}|")] for i, cpp in enumerate(cases)}


@pytest.mark.parametrize("group", GROUPS)
def test_operations_agree_with_pytorch(group: str, printed: dict[str, list[str]]) -> None:
    names = python_inputs()
    wrong = []
    for cpp, python in GROUPS[group]:
        lines, want = printed[cpp], expected(python, names)
        if isinstance(want, str) or "|error|" in lines[0]:
            if want != "error" or "|error|" not in lines[0]:
                wrong.append(f"{cpp}: {lines[0]}; PyTorch: {want}")
            continue
        assert len(lines) == len(want), cpp
        wrong += [f"{cpp}: {why}" for line, tensor in zip(lines, want, strict=True) if (why := compare(line, tensor))]
    assert not wrong, "\n".join(wrong)
