"""Each invariant of a function is broken once; each operation of the table accepts what its row says."""

import pytest

from porter.ir.simt.operations import OPERATIONS, Demand
from porter.ir.simt.ops import Block, Function, Op, Value
from porter.ir.simt.parser import parsed
from porter.ir.simt.types import Array, Pointer, Scalar, Space, Type, Vector
from porter.ir.simt.verify import INVARIANTS, MalformedError, verify

HEAD = "kernel k(%x: ptr<f32, global> = 0, %n: i32 = 1, %f: f32 = 2, %b: bool = 3, %v: f32x2 = 4) {\n"
BROKEN = {
    "kinds_are_known": ("%0 = sine %f : f32", "there is no such operation"),
    "operands_are_defined": ("if %b {\n %0 = neg %f : f32\n }{}\n %1 = neg %0 : f32", "operand 1 is not defined here"),
    "operands_are_as_many_as_it_takes": ("%0 = add %f : f32", "it takes 2 operands and has 1"),
    "atomics_and_barriers_have_their_operands": (
        "%0 = atomic %x, %n, %f {op = swap} : f32",
        "it takes 4 operands and has 3",
    ),
    "loops_give_what_they_carry": (
        "for %n, %n, %n, %f {compare = lt} (%i: i32, %a: f32) { yield %a }",
        r"the results of a loop are \(\), not \(f32\)",
    ),
    "operands_are_of_their_types": ("%0 = sqrt %n : i32", "operand 1, of type i32, is not a float"),
    "results_are_of_their_types": ("%0 = lt %f, %f : f32", "its result, of type f32, is not a truth value"),
    "attributes_are_those_of_its_row": ("%0 = thread_index {axis = 3} : u32", "the attribute 'axis' is 3"),
    "regions_are_as_many_as_it_has": ("if %b {\n }", "it has 2 regions, not 1"),
    "regions_take_what_is_carried": (
        "%0 = for %n, %n, %n, %f {compare = lt} : f32 (%i: u32, %a: f32) { yield %a }",
        r"the arguments of a region are \(u32, f32\), not \(i32, f32\)",
    ),
    "regions_yield_what_is_used": (
        "%0 = while %f : f32 (%a: f32) { yield %a } (%c: f32) { yield %c }",
        r"the values that a region yields are \(f32\), not \(bool, f32\)",
    ),
    "blocks_end_once": ("return\n return", "more follows it"),
    "endings_fit": ("if %b {\n return\n } {}", "it stands within a region"),
    "constants_are_of_their_type": ("%0 = constant {value = 256} : u8", "256 is not u8"),
    "selections_are_of_one_type": (
        "%0 = select %b, %f, %n : f32",
        "it selects between values of different types",
    ),
    "packs_are_whole": ("%0 = pack %f, %f : f32x4", "2 values of type f32 are not f32x4"),
    "components_are_inside": ("%0 = extract %v {index = 2} : f32", "a f32x2 has no component 2"),
    "bits_are_as_many": ("%0 = bitcast %x : ptr<f32, shared>", "a pointer to global memory is none to shared memory"),
    "memory_keeps_its_element": ("%0 = offset %x, %n : ptr<f64, global>", "it gives ptr<f64, global>"),
    "arrays_hold_something": ("%0 = array : array<f32, 0, local>", "it has 0 elements"),
    "dynamic_memory_is_shared": ("%0 = dynamic_shared : ptr<u8, global>", "it lies in global memory"),
    "votes_are_of_their_types": ("%0 = vote %b, %n {mode = ballot} : bool", "it gives bool, not u32"),
}  # fmt: skip


@pytest.mark.parametrize("invariant", [invariant.__name__ for invariant in INVARIANTS])
def test_each_invariant_is_held(invariant):
    body, message = BROKEN[invariant]
    with pytest.raises(MalformedError, match=f"^k: line .*{message}"):
        verify(parsed(f"{HEAD}{body}\nreturn\n}}"))
    found = [rule for rule in INVARIANTS if rule.__name__ == invariant]
    assert found[0].__doc__


def test_the_barrier_of_a_warp_has_a_mask():
    with pytest.raises(MalformedError, match="it takes 1 operands and has 0"):
        verify(parsed(f"{HEAD}barrier {{scope = warp}}\nreturn\n}}"))


def test_a_value_is_defined_once():
    value = Value(Scalar.F32)
    constant = Op("constant", (), (value,), (("value", 1.0),))
    twice = Function("k", (), Block((), (constant, constant, Op("return"))))
    with pytest.raises(MalformedError, match="a value of type f32 is defined twice"):
        verify(twice)


def test_a_body_has_operations_and_no_arguments():
    with pytest.raises(MalformedError, match="has no operation that ends it"):
        verify(Function("k", (), Block((), ())))
    with pytest.raises(MalformedError, match="its body has arguments of its own"):
        verify(Function("k", (), Block((Value(Scalar.F32),), (Op("return"),))))


def test_a_kernel_does_not_yield():
    with pytest.raises(MalformedError, match="it stands outside of a region"):
        verify(parsed("kernel k() {\n yield\n}"))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("%0 = constant {value = 1.0} : i32", "1.0 is not an integer"),
        ("%0 = constant {value = 1} : f32", "1 is not a float"),
        ("%0 = constant {value = 1} : bool", "1 is not a truth value"),
        ("%0 = constant {value = 1} : ptr<f32, global>", "a pointer that is not null"),
        ("%0 = constant : i32", "the attribute 'value' is not given"),
        ("%0 = neg %f {axis = 0} : f32", "it has no attribute 'axis'"),
        ("%0 = bitcast %f : f64", "a f32 is 4 bytes, a f64 is not"),
        ("%0 = load %x, %n : f64", "its result, of type f64, is not a value of the element's type"),
        ("store %x, %n, %n", "operand 3, of type i32, is not a value of the element's type"),
        ("if %b {\n %0 = array : array<f32, 1, shared>\n } {}", "a block's memory is made within a region"),
        ("%0 = array : array<f32, 1, global>", "is not an array"),
        ("%0, %1 = neg %f : f32, f32", "it has 1 results, not 2"),
    ],
)
def test_more_that_is_wrong(body, message):
    with pytest.raises(MalformedError, match=message):
        verify(parsed(f"{HEAD}{body}\nreturn\n}}"))


EXAMPLES: dict[Demand, tuple[Type, ...]] = {
    Demand.NUMBER: (Scalar.BOOL, Scalar.I8, Scalar.U64, Scalar.F16),
    Demand.FLOAT: (Scalar.F16, Scalar.BF16, Scalar.F32, Scalar.F64),
    Demand.INTEGER: (Scalar.I8, Scalar.I64, Scalar.U16),
    Demand.BITS: (Scalar.BOOL, Scalar.I32, Scalar.U8),
    Demand.BOOL: (Scalar.BOOL,),
    Demand.VECTOR: (Vector(Scalar.F32, 4),),
    Demand.POINTER: (Pointer(Scalar.F32, Space.GLOBAL), Pointer(Vector(Scalar.F16, 2), Space.LOCAL)),
    Demand.MEMORY: (Pointer(Scalar.F32, Space.SHARED), Array(Scalar.F32, 4, Space.SHARED)),
    Demand.COMPARABLE: (Scalar.I32, Pointer(Scalar.F32, Space.GLOBAL)),
    Demand.DATA: (Scalar.F32, Vector(Scalar.F32, 2), Pointer(Scalar.F32, Space.GLOBAL)),
}
REFUSED: dict[Demand, Type] = {
    Demand.NUMBER: Vector(Scalar.F32, 2),
    Demand.FLOAT: Scalar.I32,
    Demand.INTEGER: Scalar.BOOL,
    Demand.BITS: Scalar.F32,
    Demand.BOOL: Scalar.I32,
    Demand.VECTOR: Scalar.F32,
    Demand.POINTER: Array(Scalar.F32, 4, Space.SHARED),
    Demand.MEMORY: Scalar.I64,
    Demand.COMPARABLE: Vector(Scalar.F32, 2),
    Demand.DATA: Array(Scalar.F32, 4, Space.LOCAL),
}
PLAIN = [kind for kind, row in OPERATIONS.items() if row.takes and not row.regions and not row.ends]


@pytest.mark.parametrize("kind", PLAIN)
def test_the_first_operand_is_of_a_type_that_the_row_allows(kind):
    row = OPERATIONS[kind]
    for type_ in EXAMPLES[row.takes[0]]:
        assert not told(kind, type_, "operand 1"), type_
    assert told(kind, REFUSED[row.takes[0]], "operand 1, of type")


def told(kind: str, type_: Type, message: str) -> bool:
    """Returns whether the verifier complains of an operand of `type_`, whatever else is wrong."""
    operand = Value(type_)
    from porter.ir.simt.verify import Place, operands_are_of_their_types

    complaint = operands_are_of_their_types(Place(Op(kind, (operand,)), {operand}, False, None))
    return complaint is not None and message in complaint
