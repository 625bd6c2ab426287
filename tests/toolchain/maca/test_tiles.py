"""Algorithms of every kind as MACA C++, executed at 64 and 32 lanes: the numbers that the tensor program has."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch

from porter.contract.model.contract import Contract, Entry, EntryKind, Role, ScalarArg, TensorArg
from porter.contract.model.dtype import DType
from porter.contract.model.expressions import evaluate
from porter.execution.job import BuildFailure, BuildRequest, Callee, HardwareLimits, Job, ScalarValue, TensorValue
from porter.ir.tensor.interpret import interpret
from porter.schedule.operator import operator
from porter.schedule.polynomial import NotSchedulableError
from porter.schedule.schedule import Algorithm, Schedule
from porter.simt.build import build
from porter.simt.compiler import missing_compiler
from porter.simt.run import run
from porter.source.parse import parse
from porter.source_text import Source
from porter_maca.dialect import MACA
from porter_maca.tiles.module import module
from tests.pure.schedule.programs import ALL, accumulated

# Blocks of two waves of 64 lanes at the least, and packs of four elements.
STREAMED = Schedule(Algorithm.STREAMED, columns=512, warps=4)
BY_ROWS = Schedule(Algorithm.STREAMED, rows=8, columns=16, warps=4)
HELD = Schedule(Algorithm.HELD, warps=4)
SPLIT = Schedule(Algorithm.SPLIT, columns=512, parts=2, warps=4)
WIDE = Schedule(Algorithm.STREAMED, columns=2048, warps=4)  # with instances for rows of up to 512 and 1024
UNROLLED = Schedule(Algorithm.STREAMED, rows=64, columns=2, warps=4, unrolled=4)
SPLIT_ROWS = Schedule(Algorithm.SPLIT, rows=4, columns=16, parts=2, warps=4)
CASES = (
    ("pointwise", STREAMED),
    ("pool", STREAMED),
    ("pool of planes", STREAMED),
    ("shifted", STREAMED),
    ("masked", STREAMED),
    ("softmax", STREAMED),
    ("softmax", HELD),
    ("softmax", WIDE),
    ("softmax", replace(WIDE, holds_short=True)),
    ("softmax", SPLIT),
    ("layer_norm", STREAMED),
    ("layer_norm", SPLIT_ROWS),
    ("group_norm", STREAMED),
    ("column_mean", BY_ROWS),
    ("column_mean", SPLIT_ROWS),
    ("column_mean", UNROLLED),
    ("argmax", STREAMED),
    ("argmax", BY_ROWS),
    ("argmax", UNROLLED),
    ("argmax", SPLIT),
    ("loss", STREAMED),
    ("loss", replace(STREAMED, in_one_pass=False)),
    ("running", STREAMED),
    ("running_exclusive", STREAMED),
    ("running_reverse", STREAMED),
    ("running_reverse_exclusive", STREAMED),
    ("running", WIDE),
)
FLAT = (Schedule(Algorithm.FLAT, columns=512, warps=2), Schedule(Algorithm.FLAT, rows=4, columns=64, warps=4))
NUMBERS = {"alpha": 0.75, "eps": 0.125, "groups": 3, "window": 3, "stride": 2, "padding": 1}
# Rows that are aligned and rows that are not, short ones, and some of several tiles.
SIZES = (
    {"rows": 5, "columns": 67, "batch": 3, "channels": 6, "width": 19},
    {"rows": 1, "columns": 16, "batch": 1, "channels": 3, "width": 1},
    {"rows": 3, "columns": 1028, "batch": 2, "channels": 12, "width": 40},
)


def contract_of(program, name):
    scalars = (*(n for n in program.symbols if n in NUMBERS), *program.parameters)
    tensors = tuple(TensorArg(one.name, Role.IN, one.dtype, one.shape) for one in program.inputs)
    types = {n: "double" if isinstance(NUMBERS[n], float) else "int64_t" for n in scalars}
    arguments = (*tensors, *(ScalarArg(n, types[n], str(NUMBERS[n])) for n in scalars))
    return Contract(name, "norm", Entry(EntryKind.TORCH, name), arguments, program.symbols, (), (), {})


def chosen(schedule):
    def choose(nest):
        if nest.columns:
            return schedule if nest.rows or schedule.rows == 1 else replace(schedule, rows=1)
        return FLAT[len(nest.rows) > 1]

    return choose


def declared(contract):
    """Returns the entry as a source would have it."""
    listed = (
        f"torch::Tensor {a.name}" if isinstance(a, TensorArg) else f"{a.type} {a.name}" for a in contract.arguments
    )
    return f"torch::Tensor {contract.entry.name}({', '.join(listed)}) {{ return {contract.arguments[0].name}; }}\n"


def written(cases):
    """Returns the file with the operators of all cases, and their contracts."""
    pairs = []
    for number, (name, schedule) in enumerate(cases):
        contract = contract_of(ALL[name], f"case_{number}")
        names = [argument.name for argument in contract.arguments]
        pairs.append((operator(ALL[name], names, chosen(schedule)), contract))
    contracts = [contract for _, contract in pairs]
    source = Source(Path("own.cu"), "#include <torch/extension.h>\n" + "".join(map(declared, contracts)))
    return module(pairs, source), contracts


def values(program, sizes, numbers=NUMBERS):
    """Returns the tensors and numbers of a call, and what the program gives for them."""
    generator = torch.Generator().manual_seed(sum(sizes.values()))
    tensors = {}
    for one in program.inputs:
        shape = [evaluate(extent, sizes) for extent in one.shape]
        drawn = torch.randn(shape, generator=generator)
        tensors[one.name] = drawn if one.dtype is DType.FLOAT32 else torch.randint(0, sizes["columns"], shape)
    known = {**sizes, **numbers}
    (out,) = program.outputs
    shapes = {"out": tuple(evaluate(e, {n: v for n, v in known.items() if isinstance(v, int)}) for e in out.shape)}
    told = interpret(program, tensors, {name: Fraction(value) for name, value in known.items()}, shapes)
    return tensors, told["out"]


def job_of(contract, tensors, numbers=NUMBERS):
    dtypes = {a.name: a.dtype for a in contract.tensors}
    passed = [TensorValue(dtypes[n], tuple(t.shape), t.numpy().ravel()) for n, t in tensors.items()]
    scalars = [ScalarValue(numbers[a.name]) for a in contract.arguments if isinstance(a, ScalarArg)]
    return Job((*passed, *scalars), hardware=HardwareLimits(shared_bytes=65536, dynamic_shared_bytes=65536))


def built_by(file, contracts, lanes, cache):
    """Returns what became of each contract's entry."""
    if missing_compiler():
        pytest.skip(missing_compiler())
    source = Source(Path(file.name), file.text)
    functions = {one.name: one for one in parse(source).host_functions}
    callees = tuple(Callee(c.entry, tuple(p.type for p in functions[c.entry.name].params)) for c in contracts)
    return build(BuildRequest(source, (), MACA, callees, lanes), cache)


def test_what_all_threads_load_is_stored_when_they_have_met(build_cache):
    program = accumulated()
    contract = contract_of(program, "own")
    x, sums = contract.arguments
    contract = replace(contract, arguments=(x, replace(sums, role=Role.INOUT)))
    source = Source(Path("own.cu"), "void own(torch::Tensor x, torch::Tensor sums) {}\n")
    file = module([(operator(program, ["x", "sums"], chosen(STREAMED)), contract)], source)
    # All threads load what thread 0 then stores; that none is late is seen by the executor only where all need it.
    assert "    __syncthreads();\n    if (thread == 0) *sums_row = sums + total;\n" in file.text
    (one,) = built_by(file, [contract], 64, build_cache)
    assert not isinstance(one, BuildFailure), one.log
    tensors = {"x": torch.randn(3, 300), "sums": torch.randn(3)}
    wanted = tensors["sums"] + tensors["x"].sum(1)
    done = run(one, job_of(contract, tensors))
    assert not done.faults, done.faults[0]
    np.testing.assert_allclose(done.outputs[1].storage, wanted.numpy(), 2e-5, 2e-5)


@pytest.mark.parametrize("lanes", [64, 32])
def test_every_algorithm_computes_what_the_program_says(lanes, build_cache):
    file, contracts = written(CASES)
    built = built_by(file, contracts, lanes, build_cache)
    for (name, schedule), contract, one in zip(CASES, contracts, built, strict=True):
        assert not isinstance(one, BuildFailure), one.log
        for sizes in SIZES:
            tensors, told = values(ALL[name], sizes)
            done = run(one, job_of(contract, tensors))
            label = f"{name}, {schedule} at {sizes}"
            assert not done.faults, f"{label}: {done.faults[0]}"
            (got,) = done.results
            assert got.shape == tuple(told.shape), label
            wanted = told.to(torch.float32).numpy() if got.dtype is DType.FLOAT32 else told.numpy()
            np.testing.assert_allclose(got.storage.reshape(got.shape), wanted, 2e-5, 2e-5, err_msg=label)


def test_other_windows_than_the_contract_has_are_those_of_the_call(build_cache):
    cases = [("pool", STREAMED), ("pool of planes", STREAMED)]
    file, contracts = written(cases)
    assert "const int window = kUsual ? 3 : any_window;" in file.text
    assert "const bool is_usual = stride == 2 && padding == 1 && window == 3;" in file.text
    numbers = {**NUMBERS, "window": 2, "stride": 1, "padding": 0}
    for (name, _), contract, one in zip(cases, contracts, built_by(file, contracts, 64, build_cache), strict=True):
        for sizes in ({"rows": 5, "columns": 67}, {"rows": 30, "columns": 9}):
            tensors, told = values(ALL[name], sizes, numbers)
            done = run(one, job_of(contract, tensors, numbers))
            assert not done.faults, done.faults[0]
            np.testing.assert_allclose(
                done.results[0].storage.ravel(), told.to(torch.float32).numpy().ravel(), 2e-5, 2e-5
            )


def test_points_of_short_rows_have_tiles_of_more_rows():
    text = written([("pool of planes", STREAMED)])[0].text
    assert "template <int kRows, int kColumns, bool kUsual>" in text
    assert "kernel = is_usual ? pointwise_kernel<16, 16, true> : pointwise_kernel<16, 16, false>;" in text


def test_rows_longer_than_are_held_are_streamed(build_cache):
    file, contracts = written([("softmax", replace(WIDE, holds_short=True))])
    assert file.text.count("__global__") == 2
    assert "if (columns <= 32768) {" in file.text
    assert "if (columns > 32768) {" in file.text
    (one,) = built_by(file, contracts, 64, build_cache)
    tensors, told = values(ALL["softmax"], {"rows": 2, "columns": 32771})
    done = run(one, job_of(contracts[0], tensors))
    assert not done.faults, done.faults[0]
    np.testing.assert_allclose(done.results[0].storage.ravel(), told.to(torch.float32).numpy().ravel(), 2e-5, 2e-5)


def test_short_rows_have_narrower_tiles_and_fewer_threads():
    text = written([("softmax", WIDE)])[0].text
    assert "if (columns <= 512) launch(is_aligned ? row_kernel<4, 64, 512> : row_kernel<1, 64, 512>, 64);" in text
    assert "else launch(is_aligned ? row_kernel<4, 128, 2048> : row_kernel<1, 128, 2048>, 128);" in text


def test_each_thread_of_a_small_tile_of_rows_has_an_element():
    """In packs of four 16 threads would share a tile's rows, and 16 its four columns."""
    small = replace(UNROLLED, columns=4, warps=8)
    text = written([("column_mean", small)])[0].text
    assert "constexpr int kRowThreads = kRows < kThreads ? kRows : kThreads;" in text
    assert "kPack" in written([("column_mean", replace(small, columns=64))])[0].text


def test_a_mask_of_bytes_leaves_packs_of_16_bytes_of_floats():
    program = ALL["gated"]
    inputs = tuple(replace(one, dtype=DType.BOOL) if one.name == "y" else one for one in program.inputs)
    contract = contract_of(replace(program, inputs=inputs), "own")
    found = operator(replace(program, inputs=inputs), ["x", "y"], chosen(STREAMED))
    text = module([(found, contract)], Source(Path("own.cu"), declared(contract))).text
    assert "columns % 4 == 0" in text or "is_aligned ? pointwise_kernel<4> : pointwise_kernel<1>" in text


def test_rows_that_cannot_be_aligned_are_moved_element_by_element():
    file, _ = written([("shifted", STREAMED), ("softmax", STREAMED)])
    shifted, softmax = file.text.split("__global__ void ")[1:]
    assert "tile::load" not in shifted, "the element before is at no multiple of 16 bytes"
    assert "tile::load<kThreads, kVector, kPack>(x, " in softmax
    aligned = "const bool is_aligned = columns % 4 == 0 && tile::begins_pack(x.data_ptr<float>());"
    assert aligned in softmax, "the launcher asks whether rows begin with a pack"


def test_an_entry_of_several_types_is_one_template():
    pairs = []
    for dtype in (DType.FLOAT32, DType.FLOAT16):
        program = ALL["pointwise"]
        inputs = tuple(replace(one, dtype=dtype) for one in program.inputs)
        outputs = tuple(replace(one, dtype=dtype) for one in program.outputs)
        program = replace(program, inputs=inputs, outputs=outputs)
        contract = contract_of(program, "own")
        names = [argument.name for argument in contract.arguments]
        pairs.append((operator(program, names, chosen(STREAMED)), contract))
    text = module(pairs, Source(Path("own.cu"), declared(pairs[0][1]))).text
    assert text.count("__global__") == 1
    assert "if (x.scalar_type() == torch::kFloat16) return own_of<at::Half>(x, alpha);" in text


@pytest.mark.parametrize(
    ("source", "because"),
    [
        ("template <class T> torch::Tensor other(torch::Tensor x) { return x; }", "made by a macro or in a header"),
        (
            "torch::Tensor case_0(torch::Tensor x, double alpha) { return x; }\n"
            "torch::Tensor case_0(double alpha, torch::Tensor x) { return x; }",
            "overloaded",
        ),
        ("torch::Tensor case_0(torch::Tensor x) { return x; }", "other parameters than its contract"),
        ("void case_0(torch::Tensor x, double alpha) {}", "returns nothing but its formula does"),
    ],
)
def test_what_has_another_signature_is_refused(source, because):
    contract = contract_of(ALL["pointwise"], "case_0")
    found = operator(ALL["pointwise"], [a.name for a in contract.arguments], chosen(STREAMED))
    with pytest.raises(NotSchedulableError, match=because):
        module([(found, contract)], Source(Path("own.cu"), f"#include <torch/extension.h>\n{source}\n"))


def test_an_instance_of_a_template_in_a_namespace_stays_one():
    program = ALL["pointwise"]
    contract = contract_of(program, "inner::own")
    tensors = (*contract.tensors, TensorArg("out", Role.OUT, DType.FLOAT32, ("rows", "columns")))
    sizes = tuple(ScalarArg(name, "int", name) for name in ("rows", "columns"))
    entry = Entry(EntryKind.POINTER, "inner::own", ("float",))
    arguments = (*tensors, *sizes, ScalarArg("alpha", "float", "0.75"))
    contract = replace(contract, entry=entry, arguments=arguments)
    found = operator(program, [argument.name for argument in arguments], chosen(STREAMED))
    source = (
        "namespace inner {\ntemplate <typename T>\n"
        "void own(const T* x, T* out, int rows, int columns, float alpha) {}\n}\n"
    )
    text = module([(found, contract)], Source(Path("own.cu"), source)).text
    _, inner = text.split("namespace inner {\n")
    assert "template <typename T>\nvoid own(const T* x, T* out, int rows, int columns, float alpha);\n" in inner
    assert "template <>\nvoid own<float>(const float* x, float* out, int rows, int columns, float alpha) {\n" in inner


def test_blocks_that_wait_for_each_other_are_refused():
    with pytest.raises(NotSchedulableError, match="wait for each other"):
        written([("softmax", Schedule(Algorithm.SHARED, columns=64, parts=2))])
