"""Contracts survive TOML, and every mistake in one is told with its line."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.contract.model.contract import (
    Contract,
    Entry,
    EntryKind,
    LaunchShape,
    Question,
    Role,
    ScalarArg,
    TensorArg,
    Tolerance,
    Values,
    Workload,
)
from porter.contract.model.dtype import DType
from porter.contract.model.toml import dumps, loads
from porter.errors import ContractError

FLOATS = [d for d in DType if d.is_float]
PATH = Path("op.contract.toml")
text = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
symbol_names = st.lists(st.sampled_from(["n", "m", "H", "batch_size", "größe"]), max_size=4, unique=True)


@st.composite
def contracts(draw) -> Contract:
    symbols = tuple(draw(symbol_names))
    extents = st.sampled_from([*symbols, *(f"{s} * 2 + 1" for s in symbols), "3"])
    names = draw(st.lists(text, unique=True, max_size=5))
    arguments = tuple(
        draw(
            st.one_of(
                st.builds(ScalarArg, st.just(name), text, st.one_of(extents, st.just("1e-5"))),
                st.builds(
                    TensorArg, st.just(name), st.sampled_from(Role), st.sampled_from(DType),
                    st.lists(extents, max_size=3).map(tuple), st.sampled_from(Values), extents,
                    optional=st.booleans(), group=st.integers(1, 4),
                ),
            )
        )
        for name in names
    )  # fmt: skip
    kind = draw(st.sampled_from([EntryKind.TORCH, EntryKind.POINTER, EntryKind.KERNEL]))
    triple = st.tuples(extents, extents, extents)
    launch = draw(st.builds(LaunchShape, triple, triple, extents)) if kind is EntryKind.KERNEL else None
    sizes = st.fixed_dictionaries({s: st.integers(1, 40) for s in symbols})
    scale = st.floats(allow_nan=False)
    workload = st.builds(Workload, text, sizes, st.integers(0, 2**63 - 1), scale, device_only=st.booleans())
    workloads = draw(st.lists(workload, max_size=3))
    bound = st.floats(0, allow_nan=False)
    return Contract(
        name=draw(text), category=draw(text), arguments=arguments, symbols=symbols,
        entry=Entry(kind, draw(text), tuple(draw(st.lists(text, max_size=3))), launch),
        conditions=tuple(f"{s} > 0" for s in symbols), workloads=tuple(workloads),
        tolerance=draw(st.dictionaries(st.sampled_from(FLOATS), st.builds(Tolerance, bound, bound))),
        questions=tuple(draw(st.lists(st.builds(Question, text, text, text), max_size=2))),
    )  # fmt: skip


@given(st.lists(contracts(), min_size=1, max_size=2).map(tuple))
def test_toml_round_trips_exactly(drafted):
    assert loads(dumps(drafted), PATH) == drafted


def edit(written: str, old: str, new: str) -> str:
    assert old in written
    return written.replace(old, new, 1)


@pytest.mark.parametrize(
    ("old", "new", "field", "says"),
    [
        ('role = "in"', 'role = "input"', "role", "choose from in, out, inout"),
        ('dtype = "float32"', 'dtype = "fp32"', "dtype", "bfloat16"),
        ('shape = ["n"]', 'shape = ["k"]', "shape", "'k' in 'k' is not a symbol"),
        ('shape = ["n"]', 'shape = ["n +"]', "shape", "ends too early"),
        ('shape = ["n"]', "shape = [5]", "shape", "not a list of strings"),
        ("sizes = { n = 5 }", 'sizes = { n = "5" }', "n", "not an integer"),
        ("sizes = { n = 5 }", "sizes = { m = 5 }", "workload", "no size to 'n'"),
        ("conditions = []", 'conditions = ["n % 4 == 0"]', "workload", "breaks the condition 'n % 4 == 0' with n = 5"),
        ('kind = "kernel"', 'kind = "pointer"', "entry", "has no launch"),
        ("rtol = 1e-05", "rtol = -1.0", "tolerance", "not negative"),
        ('type = "float"', 'tipe = "float"', "tipe", "unknown field of a scalar"),
        ('scalar = "factor"', 'scalar = "x"', "argument", "two arguments are called 'x'"),
        ('bound = "n"', 'bound = "n"\ngroup = 0', "argument", "comes in groups of 0"),
        ('bound = "n"', 'bound = ""', "argument", "need a bound"),
        ("seed = 7", "seed = true", "seed", "not an integer"),
        ("seed = 7", 'seed = 7\ndevice_only = "yes"', "device_only", "not a boolean"),
        ("sizes = { n = 5 }", "sizes = { n = 70000000 }", "workload", "device_only = true"),
        ('shape = ["n"]', 'shape = ["-n"]', "workload", "(-5)"),
    ],
)
def test_a_mistake_is_told_with_file_line_field_and_remedy(scale_contract, old, new, field, says):
    wrong = edit(dumps((scale_contract,)), old, new)
    with pytest.raises(ContractError) as caught:
        loads(wrong, PATH)
    assert caught.value.hint
    place, message = caught.value.message.split(": ", 1)
    assert field in message
    assert says in str(caught.value)
    file, line = place.split(":")
    assert file == str(PATH)
    start = wrong[: wrong.index(new)].count("\n") + 1
    assert 1 < int(line) <= max(start, wrong.count("\n"))


def test_the_line_is_that_of_the_field(scale_contract):
    wrong = edit(dumps((scale_contract,)), 'dtype = "int32"', 'dtype = "int"')
    line = wrong[: wrong.index('dtype = "int"')].count("\n") + 1
    with pytest.raises(ContractError, match=rf"^op\.contract\.toml:{line}: contract\.argument\.dtype"):
        loads(wrong, PATH)


@pytest.mark.parametrize(
    "broken", ["", "[[contract]", "x = 1\n[[contract]]\nname = 'a'\n", "contract = 3", "contract = []"]
)
def test_what_is_no_contract_is_refused(broken):
    with pytest.raises(ContractError, match=r"op\.contract\.toml"):
        loads(broken, PATH)


def test_a_workload_for_devices_may_be_as_large_as_they_are(scale_contract):
    large = replace(scale_contract.workloads[0], sizes={"n": 1 << 34}, device_only=True)
    stated = replace(scale_contract, workloads=(large,))
    assert loads(dumps((stated,)), PATH) == (stated,)


def test_what_was_drawn_for_a_judgement_is_not_written(scale_contract):
    drawn = replace(scale_contract.workloads[0], name="drawn", is_drawn=True)
    judged = replace(scale_contract, workloads=(*scale_contract.workloads, drawn))
    assert loads(dumps((judged,)), PATH) == (scale_contract,)


def test_a_question_is_marked_for_the_reader(scale_contract):
    asked = replace(scale_contract, questions=(Question("n", "how many elements?", "--size n=1000003"),))
    written = dumps((asked,))
    assert "# Open:" in written
    assert "--size n=1000003" in written


def test_another_value_of_an_argument_stays_whole_or_a_fraction(scale_contract):
    name = next(argument.name for argument in scale_contract.arguments if isinstance(argument, ScalarArg))
    for value in (3, 0.25):
        other = replace(scale_contract.workloads[0], scalars={name: value})
        (read,) = loads(dumps((replace(scale_contract, workloads=(other,)),)), PATH)
        assert repr(read.workloads[0].scalars[name]) == repr(value)
