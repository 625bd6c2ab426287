"""Every algorithm on programs of every kind, in Triton's interpreter: the same numbers as the tensor program has."""

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import torch

from porter.contract.model.contract import Contract, Entry, EntryKind, Role, ScalarArg, TensorArg
from porter.contract.model.dtype import DType
from porter.contract.model.expressions import evaluate
from porter.ir.tensor.interpret import interpret
from porter.schedule.operator import operator
from porter.schedule.polynomial import NotSchedulableError
from porter.schedule.schedule import Algorithm, Schedule
from porter.source_text import Source
from porter_triton.tiles.module import module
from tests.pure.schedule.programs import ALL, mean_and_squares

SCHEDULES = {
    "streamed": Schedule(Algorithm.STREAMED, columns=32),
    "streamed, a pass for each": Schedule(Algorithm.STREAMED, columns=32, in_one_pass=False, evict_first=True),
    "streamed, rows": Schedule(Algorithm.STREAMED, rows=4, columns=16),
    "streamed, tiles a step": Schedule(Algorithm.STREAMED, rows=4, columns=4, unrolled=4),
    "streamed, short rows held": Schedule(Algorithm.STREAMED, columns=32, holds_short=True),
    "held": Schedule(Algorithm.HELD),
    "held, rows": Schedule(Algorithm.HELD, rows=2),
    "split": Schedule(Algorithm.SPLIT, columns=16, parts=4),
    "split, rows": Schedule(Algorithm.SPLIT, rows=4, columns=16, parts=2),
    "apart": Schedule(Algorithm.APART, columns=16, parts=4, stages=3),
}
FLAT = (Schedule(Algorithm.FLAT, columns=64), Schedule(Algorithm.FLAT, rows=2, columns=16))
NUMBERS = {"alpha": 0.75, "eps": 0.125, "groups": 3, "window": 3, "stride": 2, "padding": 1}
SIZES = (
    {"rows": 1, "columns": 16, "batch": 1, "channels": 3, "width": 1},
    {"rows": 5, "columns": 129, "batch": 2, "channels": 6, "width": 40},
)
HELD_BACK = ("layer_norm", "gated")  # elements near the lowest number, each by its mean or by its gate
LOWEST = -3.0e38
# What an algorithm is not for, each with the reason that it gives.
REFUSED = {
    ("group_norm", "held, rows"): "a tile has two axes",
    **{
        (name, schedule): "shared by programs"
        for name in ALL
        if name.startswith("running")
        for schedule in ("split", "split, rows")
    },
    **{
        (name, schedule): "one row a program"
        for name in ALL
        if name.startswith("running")
        for schedule in ("streamed, rows", "streamed, tiles a step", "held, rows")
    },
    **{(name, "streamed, tiles a step"): "by themselves" for name in ("softmax", "layer_norm", "group_norm")},
    **{
        (name, "apart"): "nothing is stored for each column"
        for name in ALL
        if name.startswith("running") or name in ("masked", "column_mean", "weighted_columns", "argmax", "loss")
    },
}


def contract_of(program):
    scalars = (*(n for n in program.symbols if n in NUMBERS), *program.parameters)
    tensors = tuple(TensorArg(one.name, Role.IN, one.dtype, one.shape) for one in program.inputs)
    arguments = (*tensors, *(ScalarArg(name, "double", str(NUMBERS[name])) for name in scalars))
    return Contract("own", "norm", Entry(EntryKind.TORCH, "forward"), arguments, program.symbols, (), (), {})


def written(program, schedule):
    contract = contract_of(program)

    def choose(nest):
        if nest.columns:
            return (
                schedule
                if nest.rows or schedule.rows == 1
                else Schedule(schedule.algorithm, 1, schedule.columns, schedule.parts)
            )
        return FLAT[len(nest.rows) > 1]

    return module(
        [(operator(program, [a.name for a in contract.arguments], choose, is_fitted=True), contract)],
        Source(Path("own.cu"), ""),
    )


def test_an_argument_called_like_a_word_of_python_is_refused():
    contract = contract_of(ALL["softmax"])
    named = replace(contract, arguments=(replace(contract.arguments[0], name="in"), *contract.arguments[1:]))
    with pytest.raises(NotSchedulableError, match="'in' means something else in Python"):
        module([(None, named)], Source(Path("own.cu"), ""))


def values(program, sizes, lowest=()):
    """Returns the arguments of a call, of which those called `lowest` are near that, and what the program gives."""
    generator = torch.Generator().manual_seed(sum(sizes.values()))
    tensors = {}
    for one in program.inputs:
        shape = [evaluate(extent, sizes) for extent in one.shape]
        drawn = torch.randn(shape, generator=generator)
        tensors[one.name] = drawn if one.dtype is DType.FLOAT32 else torch.randint(0, sizes["columns"], shape)
        if one.name in lowest:
            tensors[one.name] = torch.full(shape, LOWEST)
    known = {**sizes, **NUMBERS}
    (out,) = program.outputs
    shapes = {"out": tuple(evaluate(e, {n: v for n, v in known.items() if isinstance(v, int)}) for e in out.shape)}
    told = interpret(program, tensors, {name: Fraction(value) for name, value in known.items()}, shapes)
    scalars = [NUMBERS[a.name] for a in contract_of(program).arguments if isinstance(a, ScalarArg)]
    return [*tensors.values(), *scalars], told["out"]


def test_every_algorithm_computes_what_the_program_says(tmp_path):
    calls, wanted, labels = [], [], []
    for name, program in ALL.items():
        for label, schedule in SCHEDULES.items():
            if (name, label) in REFUSED:
                continue
            file = written(program, schedule)
            path = tmp_path / f"{len(calls)}.py"
            path.write_text(file.text)
            asked = [(sizes, ()) for sizes in SIZES] + [(SIZES[1], ("x", "y"))] * (name in HELD_BACK)
            for sizes, lowest in asked:
                arguments, told = values(program, sizes, lowest)
                calls.append((str(path), arguments))
                wanted.append(told)
                labels.append((name, label, sizes, lowest))
    torch.save(calls, tmp_path / "calls")
    script = Path(__file__).with_name("interpreted.py")
    subprocess.run([sys.executable, script, tmp_path / "calls", tmp_path / "results"], check=True)
    for label, told, own in zip(labels, wanted, torch.load(tmp_path / "results", weights_only=True), strict=True):
        assert own.shape == told.shape, label
        torch.testing.assert_close(own, told.to(own.dtype), rtol=2e-5, atol=2e-5, msg=lambda m, at=label: f"{at}: {m}")


def test_a_mean_that_is_a_result_is_as_exact_as_a_sum_where_rows_begin_with_a_large_element(tmp_path):
    program = mean_and_squares()
    path = tmp_path / "held.py"
    path.write_text(written(program, SCHEDULES["held"]).text)
    x = torch.randn(5, 129, generator=torch.Generator().manual_seed(3)) * 0.01
    x[:3, 0] = 3000.0
    x[3, 7], x[4, 7] = float("inf"), float("nan")
    torch.save([(str(path), [x])], tmp_path / "calls")
    script = Path(__file__).with_name("interpreted.py")
    subprocess.run([sys.executable, script, tmp_path / "calls", tmp_path / "results"], check=True)
    ((mean, _),) = torch.load(tmp_path / "results", weights_only=True)
    exact = x.double().mean(1)
    assert (mean[:3] - exact[:3]).abs().max() <= 4e-7 * exact[:3].abs().max()
    assert mean[3] == float("inf")
    assert mean[4].isnan()


@pytest.mark.parametrize(("name", "schedule"), sorted(REFUSED))
def test_what_an_algorithm_is_not_for_is_refused(name, schedule):
    with pytest.raises(NotSchedulableError, match=REFUSED[name, schedule]):
        written(ALL[name], SCHEDULES[schedule])


def test_steps_of_loops_move_pointers_by_64_bits():
    """The step times its stride is beyond 32 bits in tensors of 8 GB."""
    assert "tl.cast(step, tl.int64) * width" in written(ALL["group_norm"], SCHEDULES["streamed"]).text
    assert "tl.cast(start_2, tl.int64) * columns" in written(ALL["column_mean"], SCHEDULES["streamed, rows"]).text


def test_an_entry_of_several_types_chooses_by_the_type_of_an_argument():
    pairs = []
    for dtype in (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16):
        program = ALL["pointwise"]
        program = replace(program, inputs=tuple(replace(one, dtype=dtype) for one in program.inputs))
        contract = contract_of(program)
        names = [argument.name for argument in contract.arguments]
        pairs.append((operator(program, names, lambda nest: FLAT[len(nest.rows) > 1]), contract))
    text = module(pairs, Source(Path("own.cu"), "")).text
    assert text.count("if x.dtype == torch.") == 3
    assert text.count("@triton.jit") == 2, "the kernel of both short types is one"
