"""What the interpreter computes at all points at once is what a loop over each point computes."""

from fractions import Fraction
from math import ceil, floor, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porter.contract.model.dtype import DType
from porter.ir.tensor import interpret as interpreter
from porter.ir.tensor.expressions import ArgReduce, Combine, Position, Range, Reduce, Window
from porter.ir.tensor.interpret import interpret
from porter.ir.tensor.quantities import Affine, Floor, Quantity
from porter.ir.tensor.verify import verify
from tests.pure.ir.tensor_programs import I64, at, number, op, output, program

ROWS, COLUMNS = 3, 5
START = {Combine.SUM: 0, Combine.PRODUCT: 1, Combine.MAXIMUM: -(2**63), Combine.MINIMUM: 2**63 - 1}
PAIR = {
    Combine.SUM: lambda a, b: a + b, Combine.PRODUCT: lambda a, b: a * b, Combine.MAXIMUM: max, Combine.MINIMUM: min,
}  # fmt: skip


def affine_at(affine, point):
    def term(where):
        if isinstance(where, Floor):
            return floor(point[where.coordinate] / where.divisor.value({}))
        return point[where]

    return affine.constant.value({}) + sum(factor.value({}) * term(where) for where, factor in affine.terms)


def points(ranges, point):
    """Yields the points of ranges in order."""
    if not ranges:
        yield point
        return
    extent, *others = ranges
    if isinstance(extent, Window):
        start, step = int(affine_at(extent.start, point)), int(extent.step.value({}))
        values = [start + step * count for count in range(ceil(extent.count.value({})))]
        values = [value for value in values if 0 <= value < extent.extent.value({})]
    else:
        values = range(ceil(affine_at(extent.lower, point)), ceil(affine_at(extent.upper, point)))
    for value in values:
        yield from points(others, {**point, extent.name: value})


def value_at(expression, point):
    """The value of an expression of whole numbers at one point."""
    if isinstance(expression, Position):
        return int(affine_at(expression.affine, point))
    if isinstance(expression, Reduce):
        found = START[expression.combine]
        for inner in points(expression.ranges, point):
            found = PAIR[expression.combine](found, value_at(expression.body, inner))
        return found
    if isinstance(expression, ArgReduce):
        inner = list(points(expression.ranges, point))
        best = (min if expression.combine is Combine.MINIMUM else max)(value_at(expression.key, at) for at in inner)
        return next(value_at(expression.payload, at) for at in inner if value_at(expression.key, at) == best)
    values = [value_at(operand, point) for operand in expression.operands]
    return sum(values) if expression.op == "add" else prod(values)


def whole_affine(names, largest=2):
    pair = st.tuples(st.sampled_from(names), st.sampled_from([-2, -1, 1, 2]))
    pairs = st.lists(pair, max_size=2, unique_by=lambda pair: pair[0])
    return st.builds(
        lambda terms, constant: at(*((name, Quantity.of(factor)) for name, factor in terms), constant=constant),
        pairs, st.integers(-largest, 5),
    )  # fmt: skip


@st.composite
def bounds(draw, names):
    made = draw(whole_affine(names))
    if draw(st.booleans()) and not made.terms:
        divisor = Quantity.of(draw(st.sampled_from([2, 3, Fraction(3, 2)])))
        return at((Floor(draw(st.sampled_from(names)), divisor), Quantity.of(draw(st.sampled_from([1, 2])))))
    if draw(st.booleans()) and made.terms:
        halves = tuple((term, Quantity.of(factor.factor / 2)) for term, factor in made.terms)
        return Affine(made.constant, halves)
    return made


@st.composite
def extents(draw, name, names):
    if draw(st.booleans()):
        return Range(name, draw(bounds(names)), draw(bounds(names)))
    small = st.integers(1, 3)
    step, count, limit = (Quantity.of(draw(small)) for _ in range(3))
    return Window(name, draw(whole_affine(names)), step, count, limit)


@st.composite
def bodies(draw, names):
    """Sums and products of positions, of which each may depend on few of the coordinates."""
    terms = st.builds(Position, whole_affine(names))
    sums, products = (st.builds(op, st.just(name), terms, terms) for name in ("add", "multiply"))
    return draw(st.one_of(terms, sums, products))


@st.composite
def reductions(draw, names, depth=0):
    ranges, inner = [], list(names)
    for count in range(draw(st.integers(1, 2))):
        name = f"k{depth}{count}"
        ranges.append(draw(extents(name, inner)))
        inner.append(name)
    deeper = depth == 0 and draw(st.booleans())
    body = draw(reductions(inner, depth + 1)) if deeper else draw(bodies(inner))
    combines = [Combine.SUM] if deeper else [Combine.SUM, Combine.MAXIMUM, Combine.MINIMUM]
    return Reduce(draw(st.sampled_from(combines)), tuple(ranges), body, DType.INT64)


def everywhere(body):
    made = program("op", [], [output("r c", (None, None), body, dtype=I64)], ())
    verify(made)
    return interpret(made, {}, {}, {"out": (ROWS, COLUMNS)})["out"].tolist()


def one_by_one(body):
    return [[value_at(body, {"r": row, "c": column}) for column in range(COLUMNS)] for row in range(ROWS)]


@pytest.mark.parametrize("most", [1 << 22, 12])
@settings(max_examples=60)
@given(body=reductions(["r", "c"]))
def test_reductions(most, body):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interpreter, "MOST_POINTS", most)
        found = everywhere(body)
    assert found == [[wrapped(value) for value in row] for row in one_by_one(body)]


def wrapped(value):
    """The integer of 64 bits that a sum of such ends as."""
    return (value + 2**63) % 2**64 - 2**63


@settings(max_examples=50)
@given(
    combine=st.sampled_from([Combine.MAXIMUM, Combine.MINIMUM]),
    key=bodies(["r", "c", "a", "k"]),
    extent=extents("k", ["r", "c", "a"]),
)
def test_arguments(combine, key, extent):
    payload = op("add", op("multiply", Position(at("a")), number(100)), Position(at("k")))
    ranges = (Range("a", Affine.of(0), Affine.of(3)), extent)
    body = ArgReduce(combine, ranges, key, payload)
    try:
        expected = one_by_one(ArgReduce(combine, ranges, key, Position(at(("a", Quantity.of(100)), "k"))))
    except ValueError:
        with pytest.raises(IndexError, match="no elements"):
            everywhere(body)
    else:
        assert everywhere(body) == expected
