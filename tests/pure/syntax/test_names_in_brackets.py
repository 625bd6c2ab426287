"""A name in brackets before brackets: a cast, or a function that no macro may replace."""

from pathlib import Path

from porter.source.parse import parse
from porter.source_text import Source
from porter.syntax.nodes import Call, Cast, Name, Return
from porter.syntax.read import read_unit


def returned(expression):
    text = f"struct A {{}};\nint f(int n) {{ return {expression}; }}\n__global__ void k(int* y) {{ y[0] = 1; }}"
    unit = read_unit(parse(Source(Path("op.cu"), text)))
    statement = unit.named("f")[0].body.statements[0]
    assert isinstance(statement, Return)
    return statement.value


def test_a_function_with_several_arguments_is_called():
    match returned("(std::max)((std::min)(n, 4), 1)"):
        case Call(callee=Name(name="std::max"), arguments=(Call(callee=Name(name="std::min")), _)):
            return
    raise AssertionError


def test_a_type_is_converted_to():
    assert isinstance(returned("(size_t)(n)"), Cast)
    assert isinstance(returned("(A)(n, 3)"), Cast)


def test_variables_know_their_namespaces():
    text = "namespace a::b { const int n = 1; enum E { x }; }\nnamespace c { const int n = 2; }\n__global__ void k() {}"
    unit = read_unit(parse(Source(Path("op.cu"), text)))
    assert [(v.name, v.scope) for v in unit.variables] == [("n", ("a", "b")), ("x", ("a", "b")), ("n", ("c",))]
    assert [v.scope for v in unit.variables_named("n", ("a", "b"))] == [("a", "b")]
    assert [v.scope for v in unit.variables_named("b::n", ())] == [("a", "b")]
    assert [v.scope for v in unit.variables_named("n", ())] == [("a", "b"), ("c",)]
