"""Parameters that only select have a value for each thing that the source tells apart."""

from pathlib import Path

import pytest

from porter.contract.analysis.enumerations import enumerations
from porter.contract.infer.draft import draft
from porter.contract.model.contract import ScalarArg
from porter.contract.model.selections import Selection, selected, selections, without
from porter.contract.model.toml import dumps, loads
from porter.source.parse import parse
from porter.source_text import Source


def drafted(body: str, parameter: str = "int mode", above: str = ""):
    text = f"""
    {above}
    __global__ void a(float* x, int n) {{ if (threadIdx.x < n) x[threadIdx.x] = 1; }}
    __global__ void b(float* x, int n) {{ if (threadIdx.x < n) x[threadIdx.x] = 2; }}
    void f(float* x, int n, {parameter}) {{ {body} }}
    """
    (contract,) = draft(parse(Source(Path("k.cu"), text)))
    return contract


def scalar(contract) -> ScalarArg:
    return next(a for a in contract.arguments if isinstance(a, ScalarArg) and a.name != "n")


A, B = "a<<<1, 256>>>(x, n);", "b<<<1, 256>>>(x, n);"


@pytest.mark.parametrize(
    ("body", "choices"),
    [
        (f"switch (mode) {{ case 1: {A} break; case 4: {B} break; }}", ("1", "4")),
        (f"switch (mode) {{ case 1: {A} break; default: {B} }}", ("1", "2")),
        (f"switch (mode) {{ case 0: switch (n) {{ case 7: {A} }} break; case FAST: {B} }}", ("0", "3")),
        (f"if (mode == 2) {{ {A} }} else {{ {B} }}", ("2", "3", "-65536")),
        (f"if (mode == 0) {{ {A} }} else {{ {B} }}", ("0", "1", "-65536")),
        (f"if (mode == 0) {{ {A} }} else if (mode == 2) {{ {B} }}", ("0", "2", "3", "-65536")),
        (f"if (mode) {{ {A} }} else {{ {B} }}", ("1", "0", "-65536")),
        (f"if (!mode) {{ {A} }} else {{ {B} }}", ("1", "0", "-65536")),
        (f"if (n > 4 && (mode || n == 2)) {{ {A} }} else {{ {B} }}", ("1", "0", "-65536")),
        (f"if (mode & 2) {{ {A} }} else {{ {B} }}", ("2", "0", "3", "-65536")),
        (f"if ((mode & 1) != 0) {{ {A} }} if (n > 4 && mode & FAST) {{ {B} }}", ("3", "1", "0", "5", "-65536")),
    ],
)
def test_every_value_that_the_source_tells_apart_is_a_choice(body, choices):
    found = scalar(drafted(body, above="#define FAST 3"))
    assert found.choices == choices
    assert found.value == choices[0]


@pytest.mark.parametrize(
    ("cases", "above"),
    [
        ("case ADD: {0} break; case SUB: {1} break; case MUL: {0} break; default: {1}", "enum { ADD, SUB, MUL };"),
        ("case Op::ADD: {0} break; case Op::SUB: {1} break; case Op::MUL: {0} break; default: {1}",
         "enum class Op : int { ADD = 0, SUB, MUL };"),
        ("case ADD: {0} break; case ADD + 1: {1} break; case LAST: {0} break; default: {1}",
         "enum Op { ADD, SUB, MUL, LAST = MUL };"),
    ],
)  # fmt: skip
def test_enumerators_that_follow_one_with_a_value_are_cases_too(cases, above):
    found = scalar(drafted(f"switch (mode) {{ {cases.format(A, B)} }}", above=above))
    assert found.choices == ("0", "1", "2", "3")


def test_an_enumerator_that_another_file_gives_its_value_is_no_case():
    found = scalar(
        drafted(
            f"switch (mode) {{ case A: {A} break; case C: {B} break; case 7: {B} }}", above="enum { A, B = OTHER, C };"
        )
    )
    assert found.choices == ("0", "7")


@pytest.mark.parametrize(
    "body",
    [
        f"if (m && n > m) {{ {A} }} else {{ {B} }}",
        f"if (m) {{ b<<<m, 256>>>(x, n); }} else {{ {A} }}",
        f"if (!m) {{ {A} }} {B} n = n * m;",
        f"while (m && n > 2) {{ {A} m--; }} {B}",
    ],
)
def test_a_number_that_is_used_beside_being_asked_for_has_none(body):
    assert scalar(drafted(body, "int m")).choices == ()


def test_both_values_of_a_flag_are_choices_its_default_first():
    assert scalar(drafted(f"if (flag) {{ {A} }} else {{ {B} }}", "bool flag = 0")).choices == ("0", "1")


def test_a_default_argument_is_the_first_choice():
    assert scalar(drafted(f"if (mode == 1) {{ {A} }} else {{ {B} }}", "int mode = 2")).choices == (
        "2",
        "1",
        "3",
        "-65536",
    )


def test_a_size_that_is_compared_as_well_is_none():
    contract = drafted(f"if (m == 1) {{ {A} }} else {{ b<<<m, 256>>>(x, n); }}", "int m")
    assert all(a.choices == () for a in contract.arguments if isinstance(a, ScalarArg))


def test_each_other_choice_has_a_workload():
    contract = drafted(f"switch (mode) {{ case 1: {A} break; case 4: {B} break; }}")
    chosen = [w for w in contract.workloads if w.scalars]
    assert [(w.name, w.scalars) for w in chosen] == [("mode = 4", {"mode": 4})]
    assert loads(dumps((contract,)), Path("c.toml")) == (contract,)


def test_a_choice_can_be_taken_and_given_up():
    contract = drafted(f"switch (mode) {{ case 1: {A} break; case 4: {B} break; }}")
    (other,) = selections(contract)
    assert other == Selection("mode", 4)
    assert scalar(selected(contract, other)).value == "4"
    assert selections(without(contract, [other])) == ()


@pytest.mark.parametrize(
    ("body", "choices"),
    [
        (f"if (beta == 0.0f) {{ {A} }} else {{ {B} }} float twice = 2 * beta;", ("0.5", "0")),
        (f"if (beta != 1 && n > 3) {{ {A} }} else {{ {B} }}", ("0.5", "1")),
        (f"if (beta == 0.25f) {{ {A} }} else {{ {B} }}", ()),
        (f"if (beta > 0) {{ {A} }} else {{ {B} }}", ()),
    ],
)
def test_a_number_has_the_whole_values_that_it_is_asked_for_as_well(body, choices):
    asked = scalar(drafted(body, "float beta"))
    assert (asked.value, asked.choices) == ("0.5", choices)


def test_a_parameter_of_an_enumerated_type_has_each_of_its_values():
    (contract,) = draft(parse(Source(Path("op.cu"), """
enum class Mode : int { Sum, Mean = 3, Largest };
namespace norms { typedef enum kind_t { LAYER = 1 << 2, RMS = LAYER } Kind; }
enum Width { NARROW = kNarrow, WIDE };
__global__ void k(float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 1; }
void f(float* y, int n, Mode mode, norms::Kind kind, Width width) {
    k<<<1, mode == Mode::Sum ? 32 : 64>>>(y, n);
}""")))  # fmt: skip
    mode, kind = (a for a in contract.arguments if a.name in ("mode", "kind"))
    assert (mode.value, mode.choices) == ("0", ("0", "3", "4"))
    assert (kind.value, kind.choices) == ("4", ())
    assert [question.about for question in contract.questions if question.about != "y"] == ["width"]


@pytest.mark.parametrize(("used", "is_size"), [("labels[i] == ignored", False), ("labels[i] < ignored", True)])
def test_what_labels_are_compared_with_is_one_of_them(used, is_size):
    (contract,) = draft(
        parse(
            Source(
                Path("op.cu"),
                f"""
__global__ void k(const int* labels, float* y, int n, long ignored) {{
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i < n) y[i] = {used} ? 0.f : 1.f;
}}
void f(const int* labels, float* y, int n, long ignored) {{ k<<<(n + 31) / 32, 32>>>(labels, y, n, ignored); }}""",
            )
        )
    )
    assert ("ignored" in contract.symbols) is is_size
    assert contract.arguments[-1].value == ("ignored" if is_size else "0")


@pytest.mark.parametrize(
    ("enumerators", "values"),
    [
        ("RELU, GELU, NUM_KINDS", {"A": (0, 1)}),
        ("kSum, kMean, kModeCount", {"A": (0, 1)}),
        ("SUM_ALL, REDUCE_MAX", {"A": (0, 1)}),
        ("NEAREST, LINEAR", {"A": (0, 1)}),
        ("COUNT", {"A": (0,)}),
        ("A = 1, B = OTHER", {}),
    ],
)
def test_how_many_there_are_is_no_value(enumerators, values):
    assert enumerations([f"enum class A {{ {enumerators} }};"]) == values
