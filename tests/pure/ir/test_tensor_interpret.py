"""What tensor programs mean is what torch's own functions compute."""

from dataclasses import replace
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from porter.contract.model.dtype import DType
from porter.ir.tensor import interpret as interpreter
from porter.ir.tensor.expressions import ArgReduce, Combine, Gathered, Number, Position, Range, Window
from porter.ir.tensor.interpret import interpret
from porter.ir.tensor.quantities import Affine, Floor, Quantity
from porter.ir.tensor.verify import POINTWISE, verify
from tests.pure.ir import tensor_programs as programs
from tests.pure.ir.tensor_programs import F32, I64, at, number, op, output, program, read, size, total, upto

DIMENSION = st.integers(1, 9)
FEW = settings(max_examples=25)  # of about ten milliseconds each
SEED = st.integers(0, 2**32 - 1)
F64 = DType.FLOAT64


def run(made, arguments, shape, **sizes):
    """The only output of a program, in float64 where it is a float."""
    verify(made)
    outputs = tuple(replace(item, dtype=F64 if item.dtype is F32 else item.dtype) for item in made.outputs)
    found = interpret(
        replace(made, outputs=outputs),
        arguments,
        {name: Fraction(size) for name, size in sizes.items()},
        {"out": shape},
    )
    return found["out"]


def drawn(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def by_rows(made, x, shape=None, **others):
    rows, columns = x.shape
    sizes = {name: value for name, value in others.items() if not isinstance(value, torch.Tensor)}
    tensors = {name: value for name, value in others.items() if isinstance(value, torch.Tensor)}
    shape = (rows, columns) if shape is None else shape
    return run(made, {"x": x, **tensors}, shape, rows=rows, columns=columns, **sizes)


@FEW
@given(SEED, DIMENSION, DIMENSION)
def test_softmax(seed, rows, columns):
    x = drawn(seed, rows, columns)
    torch.testing.assert_close(by_rows(programs.softmax(), x), torch.softmax(x, 1))


@FEW
@given(SEED, DIMENSION, DIMENSION)
def test_layer_norm(seed, rows, columns):
    x, weight, bias = drawn(seed, rows, columns), drawn(seed + 1, columns), drawn(seed + 2, columns)
    found = by_rows(programs.layer_norm(), x, eps=Fraction(1, 100000), weight=weight, bias=bias)
    torch.testing.assert_close(found, functional.layer_norm(x, (columns,), weight, bias))


@FEW
@given(SEED, DIMENSION, DIMENSION, st.booleans())
def test_sums_of_what_comes_before_and_after(seed, rows, columns, reverse):
    x = drawn(seed, rows, columns)
    expected = x.flip(1).cumsum(1).flip(1) if reverse else x.cumsum(1)
    torch.testing.assert_close(by_rows(programs.cumulative(reverse=reverse), x), expected)


@pytest.mark.parametrize(
    ("combine", "expected"),
    [
        (Combine.MAXIMUM, lambda x: x.cummax(1).values),
        (Combine.MINIMUM, lambda x: x.cummin(1).values),
        (Combine.PRODUCT, lambda x: x.cumprod(1)),
    ],
)
def test_running_extremes_and_products(combine, expected):
    x = drawn(1, 4, 9)
    torch.testing.assert_close(by_rows(programs.cumulative(combine), x), expected(x))


@FEW
@given(SEED, DIMENSION, st.integers(1, 3), st.integers(1, 2), st.integers(0, 1), st.integers(8, 20))
def test_max_pool(seed, batch, stride, dilation, padding, length):
    x = drawn(seed, batch, length)
    expected = functional.max_pool1d(x, 3, stride, padding, dilation)
    sizes = {"stride": stride, "dilation": dilation, "padding": padding, "kernel": 3}
    found = run(programs.max_pool(), {"x": x}, tuple(expected.shape), batch=batch, length=length, **sizes)
    assert torch.equal(found, expected)


@FEW
@given(SEED, DIMENSION, DIMENSION)
def test_argmin_finds_the_first_of_equals(seed, rows, columns):
    x = (drawn(seed, rows, columns)).round()
    found = by_rows(programs.argmin(), x, (rows,))
    assert found.dtype == torch.int64
    assert torch.equal(found, torch.tensor([row.index(min(row)) for row in x.tolist()]))


@FEW
@given(SEED, DIMENSION, DIMENSION)
def test_cross_entropy(seed, rows, columns):
    x = drawn(seed, rows, columns)
    target = torch.arange(rows) * 7 % columns
    found = by_rows(programs.cross_entropy(), x, (rows,), target=target)
    torch.testing.assert_close(found, functional.cross_entropy(x, target, reduction="none"))


@FEW
@given(SEED, DIMENSION, DIMENSION)
def test_mean_of_all(seed, rows, columns):
    x = drawn(seed, rows, columns)
    torch.testing.assert_close(by_rows(programs.mean_of_all(), x, ()), x.mean())


@FEW
@given(SEED, st.integers(2, 9), DIMENSION)
def test_running_variance(seed, rows, columns):
    x, running = drawn(seed, rows, columns), drawn(seed + 1, columns)
    found = by_rows(programs.running_variance(), x, (columns,), momentum=Fraction(1, 10), running=running)
    functional.batch_norm(x, torch.zeros(columns, dtype=torch.float64), running, training=True, momentum=0.1)
    torch.testing.assert_close(found, running)


def whole_row(body, dtype=F32):
    return program("one", [programs.X], [output("r c", programs.BY_COLUMNS, body, dtype=dtype)], programs.SIZES)


@pytest.mark.parametrize("most", [1, 7, 40])
@pytest.mark.parametrize(
    "made", [programs.softmax, programs.cumulative, programs.layer_norm, programs.argmin, programs.mean_of_all]
)
def test_pieces_make_the_whole(monkeypatch, made, most):
    x = drawn(3, 6, 11)
    others = (
        {"eps": Fraction(1, 8), "weight": drawn(4, 11), "bias": drawn(5, 11)} if made is programs.layer_norm else {}
    )
    shape = {programs.argmin: (6,), programs.mean_of_all: ()}.get(made)
    expected = by_rows(made(), x, shape, **others)
    monkeypatch.setattr(interpreter, "MOST_POINTS", most)
    torch.testing.assert_close(by_rows(made(), x, shape, **others), expected)


def test_a_scan_of_what_depends_on_where_it_ends(monkeypatch):
    weighted = op("multiply", read("x", "r", "k"), Position(at("c", ("k", Quantity.of(-1)))))
    made = whole_row(total(Range("k", Affine.of(0), at("c", constant=1)), weighted))
    x = drawn(2, 3, 8)
    distance = torch.arange(8)[:, None] - torch.arange(8)
    expected = x @ distance.clamp(min=0).T.double()
    torch.testing.assert_close(by_rows(made, x), expected)
    monkeypatch.setattr(interpreter, "MOST_POINTS", 10)
    torch.testing.assert_close(by_rows(made, x), expected)


def test_sums_that_begin_anew_in_each_block():
    block = at((Floor("c", Quantity.of(4)), Quantity.of(4)))
    made = whole_row(total(Range("k", block, at("c", constant=1)), read("x", "r", "k")))
    x = drawn(2, 3, 10)
    expected = torch.cat([part.cumsum(1) for part in x.split(4, 1)], 1)
    torch.testing.assert_close(by_rows(made, x), expected)


def test_a_range_may_end_where_another_one_of_its_reduction_says():
    ranges = (upto("a", "columns"), Range("b", Affine.of(0), at("a")))
    x = drawn(2, 3, 5)
    product = op("multiply", read("x", "r", "a"), read("x", "r", "b"))
    expected = sum(x[:, a] * x[:, b] for a in range(5) for b in range(a))
    torch.testing.assert_close(by_rows(whole_row(total(ranges, product)), x)[:, 0], expected)
    expected = sum(x[:, b] for a in range(5) for b in range(a))
    torch.testing.assert_close(by_rows(whole_row(total(ranges, read("x", "r", "b"))), x)[:, 0], expected)


def test_a_sum_counts_points_on_which_it_does_not_depend():
    found = by_rows(whole_row(total(upto("k", "columns"), number(3)), I64), drawn(0, 2, 5))
    assert torch.equal(found, torch.full((2, 5), 15))


@pytest.mark.parametrize(
    ("combine", "expected"),
    [(Combine.SUM, 0), (Combine.PRODUCT, 1), (Combine.MAXIMUM, -torch.inf), (Combine.MINIMUM, torch.inf)],
)
def test_a_reduction_over_nothing_is_the_identity(combine, expected):
    for bounds in ((Affine.of(0), Affine.of(0)), (Affine.of(0), at(("c", Quantity.of(-1)))), (at("c"), at("c"))):
        made = whole_row(programs.reduce(combine, Range("k", *bounds), read("x", "r", "k")))
        assert (by_rows(made, drawn(0, 2, 3)) == expected).all()


def test_integers_are_exact():
    big = torch.tensor([[2**62, 2**60 + 1, -(2**61)]])
    made = program(
        "sum", [("x", I64, "rows", "columns")],
        [output("r", programs.BY_COLUMNS[:1], total(upto("k", "columns"), read("x", "r", "k")), dtype=I64)],
        programs.SIZES,
    )  # fmt: skip
    assert by_rows(made, big, (1,)).tolist() == [2**62 + 2**60 + 1 - 2**61]


def test_a_payload_is_gathered_where_the_key_is_extreme():
    ranges = (upto("a", "rows"), upto("b", "columns"))
    payload = op("add", op("multiply", Position(at("a")), number(size("columns"))), Position(at("b")))
    body = ArgReduce(Combine.MAXIMUM, ranges, read("x", "a", "b"), payload)
    made = program("argmax", [programs.X], [output("", (), body, dtype=I64)], programs.SIZES)
    x = drawn(9, 5, 7).round()
    assert by_rows(made, x, ()) == x.argmax()
    x[3, 2] = torch.nan
    assert by_rows(made, x, ()) == 3 * 7 + 2


def test_an_extreme_up_to_each_element_is_the_first():
    body = ArgReduce(
        Combine.MAXIMUM, (Range("k", Affine.of(0), at("c", constant=1)),), read("x", "r", "k"), Position(at("k"))
    )
    x = torch.tensor([[-torch.inf, 2.0, 2.0, 1.0, 3.0, torch.nan, 4.0]])
    assert by_rows(whole_row(body, I64), x).tolist() == [[0, 1, 1, 1, 4, 5, 5]]


def test_an_extreme_of_nothing_is_refused():
    empty = (Range("k", Affine.of(0), at("c")),)
    body = ArgReduce(Combine.MAXIMUM, empty, read("x", "r", "k"), Position(at("k")))
    with pytest.raises(IndexError, match="no elements"):
        by_rows(whole_row(body), drawn(0, 2, 3))


def test_nan_and_infinities_flow():
    x = torch.tensor([[1.0, torch.inf], [torch.nan, 0.0]])
    found = by_rows(whole_row(programs.largest(upto("k", "columns"), read("x", "r", "k"))), x)
    assert torch.equal(found[0], torch.full((2,), torch.inf, dtype=torch.float64))
    assert found[1].isnan().all()


def gathered(index):
    return read("x", "r", Gathered(Affine.of(0), index))


def with_indices(body):
    inputs = [programs.X, ("target", I64, "rows")]
    return program("gather", inputs, [output("r", programs.BY_COLUMNS[:1], body)], programs.SIZES)


def test_an_index_outside_is_refused():
    made = with_indices(gathered(read("target", "r")))
    with pytest.raises(IndexError, match="index -100 into an axis of 'x' of length 3"):
        by_rows(made, drawn(0, 2, 3), (2,), target=torch.tensor([1, -100]))
    shifted = whole_row(read("x", "r", at("c", constant=1)))
    with pytest.raises(IndexError, match="index 3 into an axis of 'x' of length 3"):
        by_rows(shifted, drawn(0, 2, 3))
    with pytest.raises(IndexError, match="length 0"):
        by_rows(made, drawn(0, 2, 0), (2,), target=torch.tensor([0, 0]))


def test_an_index_outside_does_no_harm_where_its_element_is_not_selected():
    label = read("target", "r")
    picked = op("select", op("equal", label, number(-100)), number(0), gathered(label))
    x = drawn(0, 2, 3)
    found = by_rows(with_indices(picked), x, (2,), target=torch.tensor([1, -100]))
    assert found.tolist() == [x[0, 1], 0]
    inside = op("and", op("less", Position(at("r")), 1), op("less", 0, gathered(label)))
    summed = total(upto("k", "columns"), op("select", inside, gathered(label), number(0)))
    found = by_rows(with_indices(summed), x.abs(), (2,), target=torch.tensor([1, -100]))
    assert found.tolist() == pytest.approx([3 * float(x[0, 1].abs()), 0])


def test_an_index_outside_does_no_harm_outside_of_its_range():
    label = at(("r", Quantity.of(2)), "k")
    body = read("x", Affine.of(0), Gathered(label, number(0)))
    window = Window("k", at(("r", Quantity.of(-2))), Quantity.of(1), Quantity.of(5), Quantity.of(1))
    x = drawn(0, 3, 5)
    assert by_rows(with_indices(total(window, body)), x, (3,), target=torch.zeros(3)).tolist() == [
        x[0, 0], x[0, 2], x[0, 4],
    ]  # fmt: skip
    wider = replace(window, count=Quantity.of(9), extent=Quantity.of(4))
    with pytest.raises(IndexError, match="length 5"):
        by_rows(with_indices(total(wider, body)), x, (3,), target=torch.zeros(3))


def test_a_faulty_index_in_a_scan_is_refused_from_there_on():
    scan = total(Range("k", Affine.of(0), at("c", constant=1)), read("x", "r", at("k", constant=1)))
    made = whole_row(op("select", op("less", Position(at("c")), 2), scan, number(0)))
    x = drawn(0, 2, 3)
    torch.testing.assert_close(by_rows(made, x)[:, :2], x[:, 1:].cumsum(1))
    with pytest.raises(IndexError, match="length 3"):
        by_rows(whole_row(scan), x)


@pytest.mark.parametrize(
    ("factor", "powers", "wanted"),
    [(1, {"n": -1}, float("inf")), (-2, {"n": -1}, float("-inf")), (1, {"m": 1, "n": -1}, float("nan"))],
)
def test_a_number_that_is_divided_by_an_extent_of_0_is_that_of_floats(factor, powers, wanted):
    mean = op("multiply", Number(Quantity(Fraction(factor), tuple(powers.items()))), read("x", "r"))
    made = program("mean", [("x", F32, "k")], [output("r", (size("k"),), mean)], ("k", "m", "n"))
    found = run(made, {"x": torch.ones(1)}, (1,), k=1, m=0, n=0)
    torch.testing.assert_close(found, torch.tensor([wanted], dtype=torch.float64), equal_nan=True)


def test_a_division_by_zero_is_refused_where_it_is_needed():
    label = read("target", "r")
    whole = op("quotient", number(7), label)
    target = torch.tensor([2, 0])
    with pytest.raises(ZeroDivisionError):
        by_rows(with_indices(whole), drawn(0, 2, 3), (2,), target=target)
    guarded = op("select", op("equal", label, 0), number(-1), whole)
    assert by_rows(with_indices(guarded), drawn(0, 2, 3), (2,), target=target).tolist() == [3, -1]


@pytest.mark.parametrize("coefficient", [Fraction(1, 2), Fraction(3, 7)])
def test_fractions_of_coordinates(coefficient):
    made = whole_row(Position(at(("c", Quantity.of(coefficient)), constant=coefficient)))
    found = by_rows(made, drawn(0, 1, 4))
    torch.testing.assert_close(found[0], (torch.arange(4).double() + 1) * float(coefficient))
    half = Range("k", Affine.of(0), at(("c", Quantity.of(coefficient))))
    counts = by_rows(whole_row(total(half, number(1)), I64), drawn(0, 1, 9))[0]
    assert counts.tolist() == [-(-count * coefficient.numerator // coefficient.denominator) for count in range(9)]


MEANINGS = {
    "subtract": torch.sub, "multiply": torch.mul, "add": torch.add, "negate": torch.neg, "absolute": torch.abs,
    "equal": torch.eq, "less": torch.lt, "not": torch.logical_not, "or": torch.logical_or, "and": torch.logical_and,
    "divide": torch.div, "power": torch.pow, "remainder": torch.fmod, "truncate": torch.trunc, "cast": torch.clone,
    "select": lambda c, a, b: torch.where(c != 0, a, b),
    "divide_rn": lambda a, b: torch.div(a.float(), b.float()),
    "multiply_rn": lambda a, b: torch.mul(a.float(), b.float()),
    "quotient": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(POINTWISE))
@pytest.mark.parametrize("kind", ["floats", "integers"])
def test_operations_mean_what_torch_means(name, kind):
    arity = POINTWISE[name].arity or 2
    x = drawn(5, arity, 50) * 3
    if kind == "integers":
        x = x.round().to(torch.int64)
        x[1:][x[1:] == 0] = 1
    operands = [read("x", Affine.of(row), "c") for row in range(arity)]
    declared = F64 if kind == "floats" else I64
    made = program(
        "op", [("x", declared, "rows", "columns")], [output("c", programs.BY_COLUMNS[1:], op(name, *operands))],
        programs.SIZES,
    )  # fmt: skip
    meaning = MEANINGS.get(name) or getattr(torch, name)
    of = x.double() if name in ("power", "lgamma") or name not in MEANINGS else x
    torch.testing.assert_close(by_rows(made, x, (50,)), meaning(*of).double(), equal_nan=True)


def test_integer_operations_are_as_in_c():
    sevens = op("add", op("multiply", 10, op("quotient", -7, 2)), op("remainder", -7, 2))
    assert by_rows(whole_row(sevens, I64), drawn(0, 1, 1)).tolist() == [[-31]]
    cubes = op("power", op("add", Position(at("c")), 2**20), 3)
    assert by_rows(whole_row(cubes, I64), drawn(0, 1, 2)).tolist() == [[2**60, (2**20 + 1) ** 3]]


@pytest.mark.parametrize(
    ("dtype", "expected"), [(DType.BOOL, [True, False]), (DType.INT8, [2, 0]), (DType.FLOAT16, [2.5, 0.0])]
)
def test_outputs_have_their_type(dtype, expected):
    found = by_rows(whole_row(read("x", "r", "c"), dtype), torch.tensor([[2.5, 0.0]]))
    assert (found.tolist(), found.dtype) == ([expected], getattr(torch, dtype.value))


def test_many_coordinates():
    names = [f"c{number}" for number in range(13)]
    made = program(
        "wide", [("x", F32, *["n"] * 13)],
        [output("c0", (size("n"),), total(tuple(upto(name, "n") for name in names[1:]), read("x", *names)))],
        ("n",),
    )  # fmt: skip
    x = drawn(0, *[2] * 13)
    torch.testing.assert_close(run(made, {"x": x}, (2,), n=2), x.sum(tuple(range(1, 13))))


def test_a_matrix_product():
    product = op("multiply", read("x", "r", "k"), read("y", "k", "c"))
    body = total(upto("k", "inner"), product)
    inputs = [("x", F32, "rows", "inner"), ("y", F32, "inner", "columns")]
    made = program("matmul", inputs, [output("r c", programs.BY_COLUMNS, body)], (*programs.SIZES, "inner"))
    x, y = drawn(0, 190, 210), drawn(1, 210, 170)
    found = run(made, {"x": x, "y": y}, (190, 170), rows=190, columns=170, inner=210)
    torch.testing.assert_close(found, x @ y)


def test_an_argument_of_another_rank_is_refused():
    with pytest.raises(ValueError, match="'x' has 1 axes instead of 2"):
        run(programs.softmax(), {"x": drawn(0, 3)}, (3, 1), rows=3, columns=1)


def test_a_window_that_moves_by_a_fraction_is_refused():
    window = Window("k", at("c"), size("rows", factor=Fraction(1, 2)), Quantity.of(2), size("columns"))
    with pytest.raises(ValueError, match="whole steps"):
        by_rows(whole_row(total(window, read("x", "r", "k"))), drawn(0, 3, 4))


def test_numbers_beyond_integers_are_floats():
    assert by_rows(whole_row(Number(Quantity.of(10**30))), drawn(0, 1, 1)).tolist() == [[1e30]]


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0)])
def test_tensors_without_elements(shape):
    x = torch.zeros(shape)
    assert by_rows(programs.softmax(), x).shape == shape
    assert by_rows(programs.cumulative(), x).shape == shape
    assert by_rows(whole_row(total(Range("k", Affine.of(0), at("r")), read("x", "k", "c"))), x).shape == shape
    if not shape[0]:
        assert by_rows(programs.argmin(), x, (0,)).shape == (0,)
