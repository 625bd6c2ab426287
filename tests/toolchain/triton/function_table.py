"""Every function of numbers as a C++ program for the executor's headers and as a Triton module."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from porter.ir.simt.operations import MATHEMATICS, OPERATIONS
from porter.ir.simt.types import Scalar
from porter_triton.device.source import helper_source
from porter_triton.thread_level.arithmetic import mathematics
from porter_triton.thread_level.expressions import Expression, dtype_name

COUNT = 256
ROWS_A_KERNEL = 30
CXX = {"float32": "float", "float64": "double", "int32": "int", "uint32": "unsigned", "int64": "long long",
       "uint64": "unsigned long long"}  # fmt: skip
HIGH_HALVES = {"__mulhi": Scalar.I32, "__umulhi": Scalar.U32, "__mul64hi": Scalar.I64, "__umul64hi": Scalar.U64}
POSITIONS = 2  # of arguments


@dataclass(frozen=True)
class Case:
    """An operation on numbers of a type; `name` is what CUDA calls it."""

    name: str
    kind: str
    type: Scalar

    @property
    def count(self):
        return len(OPERATIONS[self.kind].takes)

    @property
    def given(self):
        return dtype_name(self.type)

    @property
    def result(self):
        return "int32" if self.kind in ("popc", "clz") else self.given

    @property
    def label(self):
        return f"{self.name}({', '.join([self.given] * self.count)})"


def cases():
    """Every function for every type."""
    floats = [Case(kind, kind, type_) for kind in MATHEMATICS for type_ in (Scalar.F32, Scalar.F64)]
    halves = [Case(name, "mulhi", type_) for name, type_ in HIGH_HALVES.items()]
    unsigned = {"": Scalar.U32, "ll": Scalar.U64}
    counted = [Case(f"__{k}{end}", k, t) for k in ("popc", "clz", "brev") for end, t in unsigned.items()]
    return [*floats, *halves, *counted]


def inputs():
    """By type: `[POSITIONS, COUNT]` values, special ones first."""
    made = {}
    for number, type_ in enumerate(CXX):
        rng = np.random.default_rng(number)
        if "float" in type_:
            held = np.float64 if type_ == "float64" else np.float32
            scale = np.exp(rng.normal(size=(POSITIONS, COUNT)) * rng.choice([0.5, 3.0], size=(POSITIONS, COUNT)))
            values = (rng.normal(size=(POSITIONS, COUNT)) * scale).astype(held)
            special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 2.0, 3.0]
            for position in range(POSITIONS):
                values[position, : len(special)] = special if position == 0 else rng.permutation(special)
                values[position, len(special) : 80] = rng.integers(-6, 7, 80 - len(special))
            made[type_] = values
        else:
            info = np.iinfo(type_)
            values = rng.integers(info.min, info.max, size=(POSITIONS, COUNT), dtype=type_, endpoint=True)
            values[:, 100:] = rng.integers(-40 if info.min else 0, 41, size=(POSITIONS, COUNT - 100))
            values[:, :4] = np.array([0, 1, info.min, info.max], type_)
            made[type_] = values
    return made


def cxx_program(tested):
    """Reads the inputs and writes what each case gives, in order."""
    blocks = "\n".join(_cxx_case(case) for case in tested)
    arrays = "\n".join(f"static {name} {type_}[{POSITIONS}][{COUNT}];" for type_, name in CXX.items())
    reads = "\n".join(f"    (void)!fread({t}, sizeof {t}, 1, in);" for t in CXX)
    return f"""#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <algorithm>
#include <cstdio>
{arrays}
template <class T> static void put(T value) {{ fwrite(&value, sizeof value, 1, stdout); }}
int main(int, char** argv) {{
    FILE* in = fopen(argv[1], "rb");
{reads}
{blocks}
}}
"""


def _cxx_case(case):
    arguments = [f"{case.given}[{position}][i]" for position in range(case.count)]
    call = f"{case.name}({', '.join(arguments)})"
    return f"    for (int i = 0; i < {COUNT}; ++i) put(static_cast<{CXX[case.result]}>({call}));"


def triton_module(tested):
    """Kernels that do the same, `ROWS_A_KERNEL` of them each; by type the number of values."""
    counts = dict.fromkeys(CXX, 0)
    kernels, helpers = [], set()
    for start in range(0, len(tested), ROWS_A_KERNEL):
        body = []
        for case in tested[start : start + ROWS_A_KERNEL]:
            body += [f"    # {case.label}", *_triton_case(case, counts, helpers)]
        parameters = ", ".join([f"in_{t}" for t in CXX] + [f"out_{t}" for t in CXX])
        kernels.append(
            f"@triton.jit\ndef rows_{start}({parameters}):\n    i = tl.arange(0, {COUNT})\n" + "\n".join(body)
        )
    head = "import triton\nimport triton.language as tl\n\n\n"
    return head + "\n\n\n".join([helper_source(helpers), *kernels]) + "\n", counts


def places(tested):
    """Where the values of each case lie in the output of its type."""
    counts, found = dict.fromkeys(CXX, 0), {}
    for case in tested:
        found[case] = counts[case.result]
        counts[case.result] += 1
    return found


def _triton_case(case, counts, helpers):
    names = [f"a{position}" for position in range(case.count)]
    lines = [f"    {n} = tl.load(in_{case.given} + {position * COUNT} + i)" for position, n in enumerate(names)]
    operands = [Expression(name, case.type, varying=True) for name in names]

    def calls(helper):
        helpers.add(helper)
        return helper.name

    lines.append(f"    result = {mathematics(case.kind, operands, case.type, calls).text}")
    lines.append(f'    tl.static_assert(result.dtype == tl.{case.result}, "{case.label}")')
    lines.append(f"    tl.store(out_{case.result} + {counts[case.result] * COUNT} + i, result)")
    counts[case.result] += 1
    return lines


def write(folder, tested):
    """The program, the module and the inputs in `folder`; the numbers of values by type."""
    text, counts = triton_module(tested)
    (folder / "table.cpp").write_text(cxx_program(tested))
    (folder / "table_module.py").write_text(text)
    (folder / "inputs.bin").write_bytes(b"".join(values.tobytes() for values in inputs().values()))
    np.savez(folder / "inputs.npz", **inputs())
    return counts


KERNELS = Path(__file__).parent / "function_table_kernels.py"
