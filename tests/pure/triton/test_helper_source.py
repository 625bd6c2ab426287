"""Which text goes with a module, and which row a call means."""

import ast

import pytest

from porter_triton.device.functions import functions, overload, overloads
from porter_triton.device.source import helper_source, helpers, helpers_in


def test_a_helper_brings_what_it_calls_and_nothing_else():
    text = helper_source({"asin"})
    assert [node.name for node in ast.parse(text).body] == ["copysign", "atan", "asin"]


def test_helpers_come_in_one_order_however_they_are_asked_for():
    assert helper_source(["tanh", "shuffle"]) == helper_source(["shuffle", "tanh", "shuffle"])


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
