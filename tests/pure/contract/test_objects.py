"""Host functions that are handed objects: what they call with pointers and sizes is called in their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.contract.analysis.usage import Usage
from porter.contract.infer.entries import left_out
from porter.source.parse import parse
from porter.source_text import Source
from tests.pure.contract.draft_sources import drafted

LIBRARY = """
struct tensor { long ne[4]; tensor* src[2]; void* data; };
struct context { void* stream(); };
__global__ void negated(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = -x[i];
}
static void negate(const float* x, float* y, int n, cudaStream_t s) { negated<<<(n + 63) / 64, 64, 0, s>>>(x, y, n); }
"""
BY_MEMBER = "void op_neg(tensor* t) { negate((float*)t->src[0]->data, (float*)t->data, t->ne[0], 0); }"
BY_REFERENCE = "void op_neg(context& c, float* x, float* y, int n) { negate(x, y, n, c.stream()); }"
ITSELF = "void op_neg(tensor* t) { negated<<<1, 64>>>((float*)t->src[0]->data, (float*)t->data, t->ne[0]); }"
ASKED = "void op_neg(tensor* t, float* x, float* y, int n) { if (t != nullptr) t->ne[0] = n; negate(x, y, n, 0); }"


@pytest.mark.parametrize(
    ("outer", "entry"),
    [(BY_MEMBER, "negate"), (BY_REFERENCE, "negate"), (ITSELF, "op_neg"), (ASKED, "op_neg")],
)
def test_a_launcher_is_called_by_itself_where_its_caller_takes_an_object(outer, entry):
    launchers = [contract for contract in drafted(LIBRARY + outer) if contract.name != "negated"]
    assert [contract.name for contract in launchers if contract.name in (entry, "op_neg")] == [entry]


def test_who_takes_the_object_is_known_to_be_left_out():
    usage = Usage(parse(Source(Path("op.cu"), LIBRARY + BY_MEMBER)), ())
    assert [f.name for f in left_out(usage)["negate"]] == ["op_neg"]
    assert "op_neg" not in left_out(usage)


def test_a_struct_of_numbers_and_pointers_is_no_object():
    plain = "struct given { float* x; float* y; int n; };\nvoid op_neg(const given& g) { negate(g.x, g.y, g.n, 0); }"
    (contract,) = drafted(LIBRARY + plain)
    assert contract.name == "op_neg"


OF_ITS_OWN = """
class Tensor {
 public:
  explicit Tensor(int n);
  float* data();
  int size() const { return n_; }
 private:
  float* data_;
  int n_;
};
"""


def test_an_object_of_a_class_of_its_own_is_no_tensor_whatever_it_is_called():
    outer = "void op_neg(Tensor& y, Tensor& x) { negate(x.data(), y.data(), x.size(), 0); }"
    (contract,) = drafted(LIBRARY + OF_ITS_OWN + outer)
    assert contract.name == "negate"
    direct = "void op_neg(Tensor& y, Tensor& x) { negated<<<1, 64>>>(x.data(), y.data(), x.size()); }"
    (contract, *_) = (c for c in drafted(LIBRARY + OF_ITS_OWN + direct) if c.name == "op_neg")
    assert not contract.tensors
    assert any("knows no value" in question.text for question in contract.questions)


@pytest.mark.parametrize("declared", ["", "namespace at { class Tensor; }", "class Tensor;"])
def test_a_tensor_that_is_not_defined_is_one_of_pytorch(declared):
    called = "negate(x.data_ptr<float>(), y.data_ptr<float>(), x.numel(), 0);"
    outer = f"void op_neg(at::Tensor& y, at::Tensor& x) {{ {called} }}"
    contracts = drafted(declared + LIBRARY + outer)
    assert {tensor.name for c in contracts if c.name == "op_neg" for tensor in c.tensors} == {"x", "y"}
