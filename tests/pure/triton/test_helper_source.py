"""Which text goes with a module, and which row a call means."""

import ast

import pytest

from porter_triton.device.functions import functions, overload, overloads
from porter_triton.device.helper_calls import GIVEN, HelperCall, helper_call
from porter_triton.device.source import helper_source, helpers, helpers_in


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


def test_masks_and_loose_elements_are_there_only_where_a_call_has_them():
    plain = source_for(("load4", {"mask": "None", "loose": "False"}))
    assert "mask[" not in plain
    assert "if " not in plain
    masked = source_for(("load4", {"mask": GIVEN, "loose": "False"}))
    assert "tl.load(tile)" not in masked
    both = source_for(("load4", {"mask": GIVEN, "loose": "False"}), ("store2", {"mask": "None", "loose": "True"}))
    assert "if loose:" in both
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


def test_every_helper_of_an_expression_exists():
    for name in functions():
        for found in overloads(name):
            for expression in found.expressions:
                filled = expression.replace(".x}", "}").replace(".y}", "}").format(*"abc")
                used = {node.id for node in ast.walk(ast.parse(filled)) if isinstance(node, ast.Name)}
                assert used - {"a", "b", "c", "tl", "float"} == helpers_in(filled)


@pytest.mark.parametrize(
    ("call", "parameters", "result"),
    [
        (("std::max", "float32", "float32"), ("float32", "float32"), "float32"),
        (("max", "int32", "uint32"), ("uint32", "uint32"), "uint32"),
        (("min", "int32", "int64"), ("int64", "int64"), "int64"),
        (("pow", "float32", "int32"), ("float64", "float64"), "float64"),
        (("exp", "int32"), ("float64",), "float64"),
        (("exp", "float16"), ("float32",), "float32"),
        (("fmaxf", "float32", "int32"), ("float32", "float32"), "float32"),
        (("__hadd", "float16", "float16"), ("float16", "float16"), "float16"),
        (("__hadd", "int32", "int32"), ("int32", "int32"), "int32"),
        (("__float22half2_rn", "float32x2"), ("float32x2",), "float16x2"),
    ],
)
def test_a_call_means_the_overload_that_cuda_would_call(call, parameters, result):
    found = overload(call[0], call[1:])
    assert (found.parameters, found.result) == (parameters, result)


def test_a_call_with_other_arguments_means_nothing():
    assert overload("expf", ["float32", "float32"]) is None
    assert overload("__hadd2", ["float32", "float32"]) is None
    assert overload("no_function_of_cuda", ["float32"]) is None
