"""Pointers to structs that host code only follows: contracts have the fields, as of structs that are taken by value."""

from pathlib import Path

import pytest

from porter.contract.infer.draft import draft
from porter.contract.model.contract import Role, ScalarArg, TensorArg
from porter.source.parse import parse
from porter.source_text import Source

SOURCE = """
struct Size { int rows, columns; };
typedef struct params_st { float* y; const float* x; Size size; float by; } Params, *Params_p;
__global__ void k(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * a;
}
__global__ void whole(Params p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.size.rows * p.size.columns) p.y[i] = p.x[i] * p.by;
}
__global__ void led(const Params* p) { if (threadIdx.x < p->size.rows) p->y[threadIdx.x] = p->x[threadIdx.x]; }
static int elements(const Params* p) { return (*p).size.rows * p->size.columns; }
static void launch(Params* q, int n) { k<<<(n + 31) / 32, 32>>>(q->y, q->x, q->by, n); }
static void reset(Params* q) { q->size.rows = 0; }
static void clear(Params& q) { q.size.rows = 0; }
static void forward(Params* q) { reset(q); }
"""
FIELDS = ["p.y", "p.x", "p.size.rows", "p.size.columns", "p.by"]
DECLARED = ["Params* p", "const Params* p", "Params_p p"]
BY_FIELD = "k<<<p->size.rows, 32>>>(p->y, p->x, p->by, p->size.rows * (*p).size.columns);"
AS_A_WHOLE = "whole<<<(p->size.rows * p->size.columns + 31) / 32, 32>>>(*p);"


def contract_of(text):
    (found,) = (c for c in draft(parse(Source(Path("op.cu"), SOURCE + text))) if c.name == "f")
    return found


@pytest.mark.parametrize("declared", DECLARED)
@pytest.mark.parametrize("body", [BY_FIELD, AS_A_WHOLE])
def test_a_pointer_that_is_only_followed_is_a_struct_by_value(declared, body):
    by_value = body.replace("p->", "p.").replace("(*p).", "p.").replace("*p", "p")
    found = contract_of(f"void f({declared}) {{ {body} }}")
    assert found == contract_of(f"void f(Params p) {{ {by_value} }}")
    assert [argument.name for argument in found.arguments] == FIELDS
    assert found.symbols == ("p_size_rows", "p_size_columns")


@pytest.mark.parametrize(
    "body",
    ["launch(p, p->size.rows);", "int n = elements(p); k<<<n, 32>>>(p->y, p->x, p->by, n);",
     "Params q = *p; k<<<q.size.rows, 32>>>(q.y, q.x, q.by, q.size.rows);",
     "k<<<2 * elements(p), 32>>>((p->y), p->x + 1, p->by, elements(p));"],
)  # fmt: skip
def test_functions_may_follow_it_too(body):
    assert [argument.name for argument in contract_of(f"void f(Params* p) {{ {body} }}").arguments] == FIELDS


@pytest.mark.parametrize(
    "body",
    ["if (!p) return;", "if (p != nullptr) return;", "p->size.rows = 3;", "++p->size.rows;", "reset(p);", "clear(*p);",
     "forward(p);", "int* n = &p->size.rows;", "Params& q = *p; q.by = 3;", "Params* q = p + 1;", "elsewhere(p);",
     "*p = Params();", "led<<<1, 32>>>(p);", "k<<<1, 32>>>(p[0].y, p[0].x, 1, 2);", "keep = p;"],
)  # fmt: skip
def test_a_pointer_that_is_more_than_followed_stays_one(body):
    found = contract_of(f"void elsewhere(Params*); static Params* keep; void f(Params* p) {{ {body} {BY_FIELD} }}")
    assert [argument.name for argument in found.arguments] == ["p"]


def test_fields_that_no_code_reads_are_no_sizes():
    found = contract_of("""
        struct Image { unsigned char* host; float* d_in; float* d_out; char name[2]; int width, spare; Size unused; };
        void f(const Image* p) { k<<<p->width, 32>>>(p->d_out, p->d_in, 2.0f, p->width); }""")
    host, *_, first, second, width, spare, _, _ = found.arguments
    assert isinstance(host, TensorArg)
    assert (host.role, host.shape) == (Role.IN, ("1",))
    assert [argument.value for argument in (first, second, spare) if isinstance(argument, ScalarArg)] == ["0"] * 3
    assert (width.name, found.symbols) == ("p.width", ("p_width",))
    assert all("host" not in question.text for question in found.questions)


def test_what_a_macro_reads_is_read():
    found = contract_of("""
        #define COUNT(q) (q).count
        struct Rows { const float* x; float* y; int count; };
        void f(Rows p) { k<<<COUNT(p), 32>>>(p.y, p.x, 2.0f, COUNT(p)); }""")
    assert found.symbols == ("p_count",)


def test_a_pointer_behind_the_pointer_is_not_followed():
    found = draft(parse(Source(Path("op.cu"), SOURCE + """
        struct Node { Node* next; float* y; const float* x; int n; };
        void f(const Node* p) { k<<<1, 32>>>(p->y, p->next->x, 1, p->n); }""")))  # fmt: skip
    assert not any(argument.name == "p.n" for contract in found for argument in contract.arguments)
