"""Every row of the table of device functions as a C++ program for the executor's headers and as a Triton module."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from porter_triton.device.functions import Overload, functions, overloads, vector
from porter_triton.device.helper_calls import HelperCall
from porter_triton.device.source import helper_source, helpers_in

COUNT = 256
ROWS_A_KERNEL = 30
CXX = {"float32": "float", "float64": "double", "float16": "__half", "bfloat16": "__nv_bfloat16", "int16": "short",
       "uint16": "unsigned short", "int32": "int", "uint32": "unsigned", "int64": "long long",
       "uint64": "unsigned long long"}  # fmt: skip
VECTORS = {"float32x2": "float2", "float16x2": "__half2", "bfloat16x2": "__nv_bfloat162"}
POSITIONS = 4  # of arguments; the second component of a vector is the next position's scalar


@dataclass(frozen=True)
class Case:
    """One row with T filled in; `name` is one of its spellings."""

    name: str
    overload: Overload

    @property
    def label(self):
        return f"{self.name}({', '.join(self.overload.parameters)})"

    @property
    def meaning(self):
        """What the Triton text depends on: spellings of one function share it."""
        return (
            self.overload.parameters,
            self.overload.expressions,
            self.overload.result,
            self.overload.function.computed,
        )

    @property
    def values(self):
        """The types of what comes out: the result or its components, then the outputs."""
        result = self.overload.result
        parts = [vector(result)[0]] * vector(result)[1] if vector(result) else [result] if result else []
        outputs = [self.overload.parameters[i].removesuffix("*") for i in self.overload.function.outputs]
        return ["int32" if part == "int1" else part for part in parts + outputs]


def cases():
    """Every name of every row, for every T."""
    return [Case(name, found) for name in functions() for found in overloads(name)]


def inputs():
    """By type: `[POSITIONS, COUNT]` values, special ones first; 16-bit floats as bits."""
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
            made[type_] = _bits(values, type_)
        else:
            info = np.iinfo(type_)
            values = rng.integers(info.min, info.max, size=(POSITIONS, COUNT), dtype=type_, endpoint=True)
            values[:, 100:] = rng.integers(-40 if info.min else 0, 41, size=(POSITIONS, COUNT - 100))
            values[:, :4] = np.array([0, 1, info.min, info.max], type_)
            made[type_] = values
    return made


def _bits(values, type_):
    if type_ == "float16":
        return values.astype(np.float16).view(np.uint16)
    if type_ == "bfloat16":
        return (values.view(np.uint32) >> 16).astype(np.uint16)
    return values


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
using std::clamp;
// CUDA's overloads for float; the executor's headers have the double ones.
static void sincos(float x, float* sine, float* cosine) {{ sincosf(x, sine, cosine); }}
static void sincospi(float x, float* sine, float* cosine) {{ sincospif(x, sine, cosine); }}
template <class T> static void put(T value) {{ fwrite(&value, sizeof value, 1, stdout); }}
static void put(bool value) {{ put(int(value)); }}
int main(int, char** argv) {{
    FILE* in = fopen(argv[1], "rb");
{reads}
{blocks}
}}
"""


def _cxx_case(case):
    arguments, locals_, puts = [], [], []
    for position, type_ in enumerate(case.overload.parameters):
        pair = vector(type_)
        if pair:
            arguments.append(f"{VECTORS[type_]}{{{pair[0]}[{position}][i], {pair[0]}[{position + 1}][i]}}")
        elif type_.endswith("*"):
            locals_.append(f"{CXX[type_[:-1]]} o{position};")
            arguments.append(f"&o{position}")
        else:
            arguments.append(f"{type_}[{position}][i]")
    call = f"{case.name}({', '.join(arguments)})"
    if case.overload.result:
        call = f"auto r = {call}"
        puts = ["put(r.x); put(r.y);" if vector(case.overload.result) else f"put(static_cast<{_typed(case)}>(r));"]
    puts += [f"put(o{position});" for position in case.overload.function.outputs]
    # One value after the other for all threads: outputs are arrays.
    loop = f"for (int i = 0; i < {COUNT}; ++i)"
    return f"    {loop} {{ {' '.join(locals_)} {call}; {' '.join(puts)} }}"


def _typed(case):
    return {"int1": "int"}.get(case.overload.result) or CXX[case.overload.result]


def triton_module(tested):
    """Kernels that do the same for each meaning, `ROWS_A_KERNEL` of them each; by type the number of values."""
    counts = dict.fromkeys(CXX, 0)
    kernels, helpers = [], set()
    meanings = list({case.meaning: case for case in tested}.values())
    for start in range(0, len(meanings), ROWS_A_KERNEL):
        body = []
        for case in meanings[start : start + ROWS_A_KERNEL]:
            body += [f"    # {case.label}", *_triton_case(case, counts, helpers)]
        parameters = ", ".join([f"in_{t}" for t in CXX] + [f"out_{t}" for t in CXX])
        kernels.append(
            f"@triton.jit\ndef rows_{start}({parameters}):\n    i = tl.arange(0, {COUNT})\n" + "\n".join(body)
        )
    head = "import triton\nimport triton.language as tl\n\n\n"
    return head + "\n\n\n".join([helper_source(map(HelperCall, helpers)), *kernels]) + "\n", counts


def expressions(tested):
    """A case for each expression, in single and in double precision: what there is to compile."""
    return list({(c.overload.expressions, "float64" in c.overload.parameters): c for c in tested}.values())


def places(tested):
    """Where the values of each meaning lie: by type the number in its output."""
    counts, found = dict.fromkeys(CXX, 0), {}
    for case in {case.meaning: case for case in tested}.values():
        found[case.meaning] = [(t, counts[t] + case.values[:n].count(t)) for n, t in enumerate(case.values)]
        for type_ in case.values:
            counts[type_] += 1
    return found


@dataclass(frozen=True)
class Pair:
    """A vector argument of two components."""

    x: str
    y: str


def _triton_case(case, counts, helpers):
    row = case.overload.function
    lines, arguments = [], []
    for position, type_ in enumerate(case.overload.parameters):
        pair = vector(type_)
        names = []
        for part in range(0 if type_.endswith("*") else 2 if pair else 1):
            element = pair[0] if pair else type_
            name = f"a{position}{part}"
            lines.append(f"    {name} = tl.load(in_{element} + {(position + part) * COUNT} + i)")
            names.append(f"{name}.to(tl.{row.computed})" if row.computed else name)
        arguments.append(Pair(*names) if pair else names[0] if names else "")
    for value, (type_, text) in enumerate(zip(case.values, _texts(case, arguments), strict=True)):
        helpers |= helpers_in(text)
        converted = f"({text}).to(tl.{type_})" if row.computed or case.overload.result == "int1" else text
        lines.append(f"    r{value} = {converted}")
        lines.append(f'    tl.static_assert(r{value}.dtype == tl.{type_}, "{case.label}")')
        lines.append(f"    tl.store(out_{type_} + {counts[type_] * COUNT} + i, r{value})")
        counts[type_] += 1
    return lines


def _texts(case, arguments):
    expressions = case.overload.expressions
    pair = vector(case.overload.result)
    if pair and len(expressions) == 1:
        components = [[getattr(a, part) if isinstance(a, Pair) else a for a in arguments] for part in "xy"]
        return [expressions[0].format(*c) for c in components]
    return [expression.format(*arguments) for expression in expressions]


def write(folder, tested):
    """The program, the module and the inputs in `folder`; the numbers of values by type."""
    text, counts = triton_module(tested)
    (folder / "compiled_module.py").write_text(triton_module(expressions(tested))[0])
    (folder / "table.cpp").write_text(cxx_program(tested))
    (folder / "table_module.py").write_text(text)
    (folder / "inputs.bin").write_bytes(b"".join(values.tobytes() for values in inputs().values()))
    np.savez(folder / "inputs.npz", **inputs())
    return counts


KERNELS = Path(__file__).parent / "function_table_kernels.py"
