"""Which text of helpers goes with a module."""

import ast
from pathlib import Path

import porter_triton.thread_level
from porter.ir.simt.operations import MATHEMATICS, OPERATIONS
from porter.ir.simt.types import Scalar
from porter_triton.device.functions import function_name
from porter_triton.device.helper_calls import GIVEN, HelperCall, helper_call
from porter_triton.device.source import helper_source, helpers, with_callees

PRINTER = Path(porter_triton.thread_level.__file__).parent


def test_a_helper_brings_what_it_calls_and_nothing_else():
    text = helper_source([HelperCall("asin")])
    assert [node.name for node in ast.parse(text).body] == ["copysign", "atan", "asin"]


def test_helpers_come_in_one_order_however_they_are_asked_for():
    tanh, shuffle = HelperCall("tanh"), HelperCall("shuffle")
    assert helper_source([tanh, shuffle]) == helper_source([shuffle, tanh, shuffle])


def source_for(*calls):
    """The text for calls of helpers whose arguments have these types."""
    return helper_source(helper_call(name, known) for name, known in calls)


def test_branches_for_types_that_no_call_has_are_left_out():
    single, double = ("tanh", {"x": "tl.float32"}), ("tanh", {"x": "tl.float64"})
    narrow, wide, both = source_for(single), source_for(double), source_for(single, double)
    assert "float64" not in narrow
    assert "if" not in [type(node).__name__.lower() for node in ast.walk(ast.parse(narrow))]
    assert "expm1" not in narrow
    assert "expm1" in wide
    assert "1.98412698e-4" not in wide  # expm1 in single precision
    assert "x.dtype == tl.float64" in both
    assert "1.98412698e-4" not in both
    assert "x.dtype == tl.float64" in source_for(("tanh", {}))


def test_types_are_followed_through_helpers_and_casts():
    assert "x.dtype" not in source_for(("asinh", {"x": "tl.float32"}))
    assert "tl.int32, bitcast" not in source_for(("fmod", {"x": "tl.float64", "y": "tl.float64"}))
    kept = source_for(("rint", {"x": "tl.float32"}), ("fmod", {"x": "tl.float32", "y": "tl.float32"}))
    assert "8388608.0" in kept
    assert "4503599627370496.0" not in kept


def test_masks_are_there_only_where_a_call_has_them():
    plain = source_for(("load4", {"mask": "None"}))
    assert "mask[" not in plain
    assert "if " not in plain
    masked = source_for(("load4", {"mask": GIVEN}))
    assert "tl.load(tile)" not in masked
    both = source_for(("load4", {"mask": GIVEN}), ("store2", {"mask": "None"}))
    assert "mask is None" not in both


def test_every_helper_is_python_for_whatever_is_known_of_its_arguments():
    for name, helper in helpers().items():
        parameters = [parameter.arg for parameter in helper.tree.args.args]
        for value in ("tl.float32", "tl.float64", "tl.int64", "tl.uint64", "None", GIVEN, "True", "False"):
            text = source_for((name, dict.fromkeys(parameters, value)))
            assert name in [node.name for node in ast.parse(text).body]


def test_what_is_called_stands_before_what_calls_it():
    names = list(helpers())
    for helper in helpers().values():
        assert all(names.index(called) < names.index(helper.name) for called in helper.calls)


def test_every_function_that_is_not_tritons_is_a_helper():
    for kind in {*MATHEMATICS, "mulhi", "popc", "clz", "brev"} - {"log10", "tan"}:
        for type_ in (Scalar.F32, Scalar.F64, Scalar.I32, Scalar.U64):
            name = function_name(kind, type_)
            assert name is not None
            assert name.startswith("tl.") or name in helpers()


def test_every_helper_is_called():
    words = {node.value for path in PRINTER.glob("*.py") for node in ast.walk(ast.parse(path.read_text()))
             if isinstance(node, ast.Constant)}  # fmt: skip
    vectors = {f"{kind}{count}" for kind in ("load", "store") for count in (2, 4, 8)}
    scans = {f"block_{name}" for name in words if str(name).startswith("scan_")}
    functions = {function_name(kind, type_) for kind in OPERATIONS for type_ in (Scalar.F32, Scalar.I32)}
    assert helpers().keys() == with_callees((words | vectors | scans | functions) & helpers().keys())
