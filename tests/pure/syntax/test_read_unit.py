"""Bodies as trees: one test for each thing C++ makes hard to read."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source_text import Source
from porter.syntax.nodes import (
    Asm,
    Assign,
    Binary,
    Braces,
    Call,
    Cast,
    Declare,
    Evaluate,
    Expression,
    For,
    If,
    Lambda,
    Launch,
    Literal,
    Member,
    Name,
    Return,
    SizeOf,
    Statement,
    Subscript,
    Switch,
    TypeName,
    Unary,
    Unread,
    Variable,
)
from porter.syntax.read import read_unit
from porter.syntax.unit import Unit
from porter.syntax.walk import walk


def unit_of(text: str, **headers: str) -> Unit:
    source = Source(Path("op.cu"), text)
    others = tuple(Source(Path(f"{name}.cuh"), body) for name, body in headers.items())
    return read_unit(parse(source), others)


def body_of(text: str) -> tuple[Statement, ...]:
    (function,) = unit_of(text).functions
    return function.body.statements


def expression(text: str, before: str = "") -> Expression:
    """`text` as the value of the last statement of a device function with int a, b, c, d and float* p."""
    head = "template <typename T> __device__ void f(int a, int b, int c, int d, float* p, T x)"
    last = body_of(f"{before}{head} {{ y = {text}; }}")[-1]
    assert isinstance(last, Evaluate), last
    assert isinstance(last.expression, Assign)
    return last.expression.value


def spelled(tree: Expression | TypeName) -> str:
    """A short form of a tree with all its parentheses."""
    match tree:
        case Literal():
            return str(tree.value)
        case Name():
            return tree.name + (f"<{', '.join(map(spelled, tree.template))}>" if tree.template else "")
        case TypeName():
            return tree.name + "*" * tree.pointers
        case Binary():
            return f"({spelled(tree.left)} {tree.operator} {spelled(tree.right)})"
        case Unary():
            return f"{tree.operator}{spelled(tree.operand)}"
        case Cast():
            return f"{tree.kind}<{spelled(tree.type)}>({spelled(tree.operand)})"
        case Call():
            return f"{spelled(tree.callee)}({', '.join(map(spelled, tree.arguments))})"
        case Member():
            return f"{spelled(tree.owner)}.{tree.name}"
        case Subscript():
            return f"{spelled(tree.owner)}[{spelled(tree.index)}]"
    raise AssertionError(tree)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a + b * c", "(a + (b * c))"),
        ("a < b && c > (d)", "((a < b) && (c > d))"),
        ("a - b - c", "((a - b) - c)"),
        ("a << b + c", "(a << (b + c))"),
        ("a == b & c", "((a == b) & c)"),
        ("-a * b", "(-a * b)"),
        ("(float)a / b", "(c<float>(a) / b)"),
        ("(a)-b", "(a - b)"),
        ("(T)(a + b)", "c<T>((a + b))"),
        ("(T)*p", "c<T>(*p)"),
        ("*(float4*)&p[a]", "*c<float4*>(&p[a])"),
        ("T(a)", "c<T>(a)"),
        ("(unsigned long long)a", "c<unsigned long long>(a)"),
        ("unsigned(a)", "c<unsigned int>(a)"),
        ("make_float2(a, b)", "make_float2(a, b)"),
        ("static_cast<const T>(a) > b", "(static<T>(a) > b)"),
        ("reinterpret_cast<float4*>(p)[0].x", "reinterpret<float4*>(p)[0].x"),
        ("max<int>(a, b)", "max<int>(a, b)"),
        ("std::numeric_limits<float>::max()", "std::numeric_limits::max<float>()"),
        ("x.template get<4>(a)", "x.get(a)"),
        ("g<E::a, Traits<T>::kSize>(c)", "g<E::a, Traits::kSize<T>>(c)"),
        ("g<(a > b)>(c)", "g<(a > b)>(c)"),
    ],
)
def test_expressions_bind_as_in_cpp(text: str, tree: str):
    assert spelled(expression(text)) == tree


def test_templates_close_with_shift_tokens():
    (variable,) = _variables("std::vector<std::pair<int, float>> v;")
    assert variable.type == TypeName("std::vector", (TypeName("std::pair", (TypeName("int"), TypeName("float"))),))


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("0x1fu", 31, "unsigned int"),
        ("017", 15, "int"),
        ("1'000", 1000, "int"),
        ("4294967296", 1 << 32, "long"),
        ("0xffffffff", 0xFFFFFFFF, "unsigned int"),
        ("1ull", 1, "unsigned long long"),
        ("1.f", 1.0, "float"),
        ("1e-5", 1e-5, "double"),
        ("0x1p-2f", 0.25, "float"),
        ("'a'", 97, "char"),
        ("'\\n'", 10, "char"),
        ('"a" "b\\n"', "ab\n", "string"),
        ("true", True, "bool"),
    ],
)
def test_literals_have_values_and_types(text: str, value: object, kind: str):
    found = expression(text)
    assert isinstance(found, Literal)
    assert (found.value, found.type) == (value, kind)


def _variables(body: str) -> tuple[Variable, ...]:
    (declared,) = body_of(f"__global__ void k(int n, int m) {{ {body} }}")
    assert isinstance(declared, Declare), declared
    return declared.variables


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("unsigned x;", TypeName("unsigned int")),
        ("long unsigned int x;", TypeName("unsigned long")),
        ("const float* __restrict__ x;", TypeName("float", pointers=1, const=True)),
        ("float const* const x = p;", TypeName("float", pointers=1, const=True)),
        ("std::size_t x;", TypeName("size_t")),
        ("const half2* x;", TypeName("__half2", pointers=1, const=True)),
        ("auto& x = n;", TypeName("auto", reference=True)),
        ("volatile int* x;", TypeName("int", pointers=1, volatile=True)),
        ("Foo * x;", TypeName("Foo", pointers=1)),
        ("typename A<float>::B x;", TypeName("A::B", (TypeName("float"),))),
        ("float (*x)[4];", TypeName("[]", (TypeName("float"), Literal(4, "int", 1)), pointers=1)),
    ],
)
def test_types_are_canonical(text: str, kind: TypeName):
    assert _variables(text)[0].type == kind


def test_an_object_made_with_parentheses_is_no_function():
    (grid,) = _variables("dim3 grid((n + 255) / 256, m);")
    assert isinstance(grid.value, Braces)
    assert (grid.value.type, len(grid.value.items)) == (TypeName("dim3"), 2)


def test_a_product_is_no_parameter():
    declared = body_of("void f(int a) { dim3 grid(a * M); T h(int x); }")[0]
    assert isinstance(declared, Declare)
    assert isinstance(declared.variables[0].value, Braces)


def test_prototypes_of_unknown_types_are_no_variables():
    assert unit_of("void f(Foo* x, int n);\nFoo g(Bar b);").variables == ()


def test_one_declaration_may_have_several_forms():
    a, b, c = _variables("int a = 0, *b, c[2][3];")
    assert (a.value, b.type.pointers) == (Literal(0, "int", 1), 1)
    assert c.extents == (Literal(2, "int", 1), Literal(3, "int", 1))


def test_shared_arrays_keep_their_storage():
    assert _variables("__shared__ float tile[32][33];")[0].storage == "shared"
    assert _variables("extern __shared__ float tile[];")[0].storage == "extern shared"
    assert _variables("extern __shared__ float tile[];")[0].extents == (None,)


def test_macros_are_expanded_at_the_line_of_their_use():
    macros = "#define FLOAT4(x) (reinterpret_cast<float4*>(&(x))[0])\n#define N 4\n"
    text = macros + "__global__ void k(float* p) {\n\nFLOAT4(p[N]);\n}"
    (statement,) = body_of(text)
    assert isinstance(statement, Evaluate)
    assert spelled(statement.expression) == "reinterpret<float4*>(&p[4])[0]"
    assert statement.line == 5


def test_a_macro_that_makes_a_kernel_makes_a_function():
    text = "#define MAKE(name, op) __global__ void name(float* p) { p[0] op 1; }\nMAKE(inc, +=)\nMAKE(dec, -=)"
    assert [f.head.name for f in unit_of(text).kernels] == ["inc", "dec"]


def test_headers_bring_macros_and_functions():
    unit = unit_of(
        '#include "h.cuh"\n__global__ void k(float* p) { p[0] = two(N); }',
        h="#define N 3\n__device__ int two(int x) { return 2; }",
    )
    assert [f.head.name for f in unit.functions] == ["two", "k"]
    assert "3" in str(unit.functions[1].body)


def test_branches_not_taken_are_not_read():
    assert (
        unit_of("#if __CUDA_ARCH__ < 300\n__global__ void old() {}\n#else\n__global__ void k() {}\n#endif")
        .kernels[0]
        .head.name
        == "k"
    )


def test_launches_have_their_configuration():
    (statement,) = body_of("void f(float* p, int n) { ns::k<float, 4><<<dim3(n, 2), 256, 0, stream>>>(p, n); }")
    assert isinstance(statement, Evaluate)
    launch = statement.expression
    assert isinstance(launch, Launch)
    assert spelled(launch.kernel) == "ns::k<float, 4>"
    assert (spelled(launch.grid), spelled(launch.block), len(launch.arguments)) == ("dim3(n, 2)", "256", 2)
    assert launch.shared_bytes == Literal(0, "int", 1)


def test_dispatch_stays_a_call_with_a_lambda():
    lambda_text = "[&] { k<scalar_t><<<1, 2>>>(x.data_ptr<scalar_t>()); }"
    text = f'void f(at::Tensor x) {{ AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "f", ({lambda_text})); }}'
    (statement,) = body_of(text)
    assert isinstance(statement, Evaluate)
    assert isinstance(statement.expression, Call)
    body = statement.expression.arguments[2]
    assert isinstance(body, Lambda)
    assert isinstance(body.body.statements[0], Evaluate)
    assert isinstance(body.body.statements[0].expression, Launch)


def test_device_lambdas_have_parameters():
    (declared,) = body_of("void f() { auto g = [=] __device__(float a) -> float { return a; }; }")
    assert isinstance(declared, Declare)
    found = declared.variables[0].value
    assert isinstance(found, Lambda)
    assert [p.name for p in found.parameters] == ["a"]


def test_a_macro_nobody_defines_may_be_given_statements():
    (statement,) = body_of('void f(T x) { DISPATCH(x.type(), "f", using U = float; k<U><<<1, 2>>>(x);); }')
    assert isinstance(statement, Evaluate)
    assert isinstance(statement.expression, Call)
    assert isinstance(statement.expression.arguments[2], Lambda)
    assert len(statement.expression.arguments[2].body.statements) == 2


def test_unroll_belongs_to_its_loop():
    loops = body_of(
        "#define U 4\n__global__ void k() {\n#pragma unroll\nfor (;;) {}\n#pragma unroll U\nfor (;;) {}\nfor (;;) {}\n}"
    )
    assert [x.unroll for x in loops if isinstance(x, For)] == [0, 4, None]


def test_a_macro_may_be_a_pragma():
    (loop,) = body_of("#define UNROLL #pragma unroll 2\n__global__ void k() {\nUNROLL\nfor (;;) {}\n}")
    assert isinstance(loop, For)
    assert loop.unroll == 2
    (loop,) = body_of("#define UNROLL #pragma unroll\n__global__ void k() {\nUNROLL 4\nfor (;;) {}\n}")
    assert isinstance(loop, For)
    assert loop.unroll == 4


def test_switch_groups_labels():
    (switch,) = body_of("__device__ void f(int n) { switch (n) { case 1: case 2: n = 3; break; default: n = 4; } }")
    assert isinstance(switch, Switch)
    assert [(len(c.values), c.default, len(c.body.statements)) for c in switch.cases] == [(2, False, 2), (0, True, 1)]


def test_constexpr_branches_are_marked():
    (branch,) = body_of("__device__ void f() { if constexpr (sizeof(float) == 4) return; else {} }")
    assert isinstance(branch, If)
    assert branch.constexpr
    assert isinstance(branch.condition, Binary)
    assert branch.condition.left == SizeOf(TypeName("float"), 1)


def test_an_assignment_to_one_of_two_variables_is_an_if():
    text = "__device__ void f(int a, int b, int c) { ((c == 0) ? a : b) += c; c ? a : b = c; }"
    chosen, other = body_of(text)
    assert isinstance(chosen, If)
    assert spelled(chosen.condition) == "(c == 0)"
    sides = [side.statements for side in (chosen.yes, chosen.no)]
    for (side,), name in zip(sides, "ab", strict=True):
        assert isinstance(side, Evaluate)
        assert isinstance(side.expression, Assign)
        assert (side.expression.operator, side.expression.target.name) == ("+", name)
    assert isinstance(other, Evaluate)  # `b = c` is the side


def test_asm_has_operands():
    (asm,) = body_of(
        '__device__ void f(int x, int y) { asm volatile("mov.u32 %0, %1;" : "=r"(x) : "r"(y) : "memory"); }'
    )
    assert asm == Asm("mov.u32 %0, %1;", (("=r", Name("x", (), 1)),), (("r", Name("y", (), 1)),), 1)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("typedef struct at { float x; } A, *P;", [("A", TypeName("at")), ("P", TypeName("at", pointers=1))]),
        ("typedef struct { float x; } A, *P;", [("P", TypeName("A", pointers=1))]),
        ("typedef struct A { float x; } __attribute__((aligned(4))) A, R[2];", [("R", None)]),
        ("typedef enum kind { one, two } Kind;", [("kind", TypeName("int")), ("Kind", TypeName("kind"))]),
    ],
)
def test_a_typedef_of_a_definition_gives_every_name(text, found):
    aliases = unit_of(text).aliases
    assert [alias.name for alias in aliases] == [name for name, _ in found]
    assert all(kind in (None, alias.type) for alias, (_, kind) in zip(aliases, found, strict=True))


def test_structs_have_fields_methods_and_specialisations():
    unit = unit_of(
        """template <typename T> struct Add { static constexpr int width = 4; T zero; union { float4 v; float s[4]; };
             __device__ T operator()(T a, T b) const { return a + b; } };
           template <> struct Add<int> { int n; };"""
    )
    inner, general, special = unit.structs
    assert (inner.union, [f.name for f in inner.fields]) == (True, ["v", "s"])
    assert [f.name for f in general.fields] == ["width", "zero", ""]
    assert [m.head.name for m in general.methods] == ["operator()"]
    assert (special.name, special.arguments) == ("Add", (TypeName("int"),))


def test_constructors_initialise_in_their_body():
    (struct,) = unit_of("struct A { int n; float m; __device__ A(int k) : n(k), m{0.f} {} };").structs
    (first, second) = struct.methods[0].body.statements
    assert isinstance(first, Evaluate)
    assert isinstance(first.expression, Assign)
    assert first.expression.target == Member(Name("this", (), 1), "n", True, (), 1)
    assert isinstance(second, Evaluate)


def test_enumerators_are_constants():
    unit = unit_of("enum Mode { sum, mean = 4, last };\nenum class E : short { a };")
    assert [(v.name, v.value) for v in unit.variables][:3] == [
        ("sum", Literal(0, "int", 1)),
        ("mean", Literal(4, "int", 1)),
        ("last", Literal(5, "int", 1)),
    ]
    assert unit.variables[3].name == "E::a"
    assert [(a.name, a.type.name) for a in unit.aliases] == [("Mode", "int"), ("E", "short")]


def test_globals_and_aliases_are_known():
    unit = unit_of("constexpr int N = 4;\n__constant__ float c[N];\nusing T = float;\ntypedef unsigned int uint;")
    assert [(v.name, v.storage, v.constexpr) for v in unit.variables] == [("N", "", True), ("c", "constant", False)]
    assert [(a.name, a.type.name) for a in unit.aliases] == [("T", "float"), ("uint", "unsigned int")]


def test_an_alias_may_have_attributes():
    unit = unit_of("using T [[maybe_unused]] = float;\nvoid f() { using S [[maybe_unused]] = T; }\nusing a::b;")
    assert [(a.name, a.type.name) for a in unit.aliases] == [("T", "float")]
    (alias,) = unit.functions[0].body.statements
    assert (alias.name, alias.type.name) == ("S", "T")


def test_function_specialisations_keep_their_arguments():
    unit = unit_of("template <typename T> T zero();\ntemplate <> __device__ float zero<float>() { return 0.f; }")
    assert unit.functions[0].arguments == (TypeName("float"),)


def test_specialisations_tell_their_arguments_by_their_parameters():
    unit = unit_of("template <typename T> void f(const T* x, int n) {}\ntemplate <> void f(const half* x, int n) {}")
    assert [f.arguments for f in unit.functions] == [(), (TypeName("__half"),)]


def test_namespace_aliases_are_written_out():
    statements = body_of("__global__ void k() { namespace cg = cooperative_groups; y = cg::this_thread_block(); }")
    last = statements[1]
    assert isinstance(last, Evaluate)
    assert isinstance(last.expression, Assign)
    assert spelled(last.expression.value) == "cooperative_groups::this_thread_block()"


def test_what_does_not_read_is_unread_and_the_rest_is_read():
    statements = body_of("__global__ void k(int n) {\nn = 1;\ngoto end;\nn = +;\nn = 2;\n}")
    assert [type(s) for s in statements] == [Evaluate, Unread, Unread, Evaluate]
    assert [s.line for s in statements] == [2, 3, 4, 5]


@pytest.mark.parametrize(
    "text", ["__global__ void k(", "}{", "template <", "__global__ void k() { if (", "struct A {", "#if"]
)
def test_broken_text_never_raises(text: str):
    assert unit_of(text).kernels == ()


def test_nesting_beyond_reason_is_unread():
    unit = unit_of(f"__global__ void k(int n) {{ n = {'(' * 2000}1{')' * 2000}; }}\n__global__ void after() {{}}")
    assert [f.head.name for f in unit.kernels] == ["after"]
    assert unit.unread[0].reason == "nested too deeply"


def test_concepts_stand_for_types():
    unit = unit_of(
        """#include "number.cuh"
        template <Number T, int N> __global__ void k(T* x) { T a = x[N]; T* p = x; *p = a; }""",
        number="template <class T> concept Number = requires(T a) { a + a; };\n",
    )
    (kernel,) = unit.kernels
    assert [p.kind for p in kernel.head.template] == ["typename", "int"]
    assert [type(s) for s in kernel.body.statements] == [Declare, Declare, Evaluate]


def test_a_call_of_a_macro_may_lack_its_semicolon():
    first, second, third = body_of("void f(int* x) { CHECK_INPUT(x) CHECK(x, 1) const int n = x[0]; }")
    assert isinstance(first, Evaluate)
    assert isinstance(second, Evaluate)
    assert isinstance(third, Declare)


def test_a_constant_of_a_class_is_none_of_a_namespace_that_is_called_alike():
    unit = unit_of(
        """namespace impl { struct Config { static constexpr int kWidth = 4; }; }
        using Other = impl::Config;
        constexpr int kWidth = impl::Config::kWidth;
        namespace impl { constexpr int kDepth = 2; }"""
    )
    assert unit.variables_named("impl::Config::kWidth", ()) == unit.variables_named("Other::kWidth", ()) == ()
    assert [v.name for v in unit.variables_named("kWidth", ())] == ["kWidth"]
    assert [v.name for v in unit.variables_named("renamed::kDepth", ())] == ["kDepth"]


def test_a_program_is_read_once_and_anew_where_a_macro_is_set():
    program = parse(Source(Path("op.cu"), "#ifdef WIDE\n__global__ void k() {}\n#endif\n__global__ void j() {}\n"))
    assert read_unit(program) is read_unit(program)
    assert [f.head.name for f in read_unit(program, (), ("WIDE",)).kernels] == ["k", "j"]


def test_what_is_tried_is_read_where_its_handlers_only_report():
    (first, second) = body_of(
        "void f(int n) {\ntry { n = 1; } catch (const std::exception& e) { report(e.what()); }"
        " catch (...) { throw; }\nn = 2;\n}"
    )
    assert [type(s).__name__ for s in first.statements] == ["Evaluate"]
    assert isinstance(second, Evaluate)
    (attempt,) = body_of("void f(int n) {\ntry { n = 1; } catch (...) { n = 2; }\n}")
    assert isinstance(attempt, Unread)
    assert "a handler of 'catch' that goes on" in attempt.reason


def test_a_friend_is_no_member():
    text = (
        "namespace n { template <class T> class A { template <class U> friend class A; friend class B; int held; }; }"
    )
    (struct,) = unit_of(text).structs
    assert [field.name for field in struct.fields] == ["held"]


def test_the_number_of_a_line_is_known():
    text = "#define AT (__LINE__ + 0)\n\n__global__ void k(int* y) {\n  y[0] = __LINE__;\n  y[1] = AT;\n}\n"
    (function,) = read_unit(parse(Source(Path("x.cu"), text))).functions
    numbers = [node.value for node in walk(function.body) if isinstance(node, Literal)]
    assert numbers == [0, 4, 1, 5, 0]


def test_a_type_is_written_from_the_global_namespace():
    unit = unit_of("""namespace lib { struct Mat { int n; }; }
        namespace lib::ops { int f(const ::lib::Mat& x, ::lib::Mat* y, ::far::Away& z) {
            ::lib::Mat copy = x; ::cudaFree(y); return ::lib::size * copy.n; } }""")
    assert not unit.unread
    assert [p.type.name for p in unit.functions[0].parameters] == ["lib::Mat", "lib::Mat", "far::Away"]
    declared, freed, given = unit.functions[0].body.statements
    assert [type(step) for step in (declared, freed, given)] == [Declare, Evaluate, Return]
    assert isinstance(given, Return)
    assert isinstance(given.value, Binary)
