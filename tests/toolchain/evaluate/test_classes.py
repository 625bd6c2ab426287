"""Candidates as KernelBench has them: a class `ModelNew`, built as the reference's `Model` is, with its parameters."""

from dataclasses import replace

import pytest

from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Crashed, Refused, Verified, Wrong
from porter.evaluate.record import record
from porter.evaluate.verify import verify
from porter.oracle.golden import write_golden
from tests.toolchain.evaluate.scaled_models import CANDIDATE, REFERENCE


@pytest.fixture(scope="module")
def verdict(build_cache, tmp_path_factory):
    """`verdict(text, reference)`: a candidate with that text held to a reference."""
    options = MigrateOptions("triton", build_cache, seed=7)
    folder = tmp_path_factory.mktemp("classes")

    def judge(text, against="model.py", **changed):
        (folder / "model.py").write_text(REFERENCE)
        (folder / "candidate.py").write_text(text)
        return verify(folder / "candidate.py", folder / against, replace(options, **changed), lambda _: None)

    judge.folder, judge.options = folder, options
    return judge


@pytest.fixture(scope="module")
def right(verdict):
    """Judges the candidate as it is, once for all tests that look at this."""
    found = verdict(CANDIDATE)
    assert isinstance(found.outcome, Verified), found.outcome
    return found.outcome


def test_a_class_is_built_and_called_as_its_reference_is_also_by_what_was_recorded(verdict, right):
    assert len({checked.name for checked in right.checked}) > 5
    recorded = record(verdict.folder / "model.py", replace(verdict.options, seed=3), lambda _: None)
    write_golden(verdict.folder / "model.golden", recorded)
    assert isinstance(verdict(CANDIDATE, "model.golden").outcome, Verified)


def test_a_class_of_another_name_is_called_where_that_is_asked_for(verdict):
    found = verdict(CANDIDATE.replace("ModelNew", "Fast"), entry="Fast")
    assert isinstance(found.outcome, Verified), found.outcome


PACK = """
@triton.jit
def pack(weight, bias, packed, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(packed + 2 * at, tl.load(weight + at, mask=at < n), mask=at < n)
    tl.store(packed + 2 * at + 1, tl.load(bias + at, mask=at < n), mask=at < n)

class ModelNew"""


def packed_once(source):
    """The candidate, which keeps its two parameters in one tensor; `source` is what takes the place of the bias."""
    packing = f"""
        if not hasattr(self, "packed"):
            self.packed = torch.empty(2 * x.shape[1], device=x.device)
            pack[(triton.cdiv(x.shape[1], 1024),)](self.gate.weight, {source}, self.packed, x.shape[1], B=1024)
        y = torch.empty_like(x)"""
    text = CANDIDATE.replace("\nclass ModelNew", PACK).replace("\n        y = torch.empty_like(x)", packing)
    text = text.replace(
        "kernel[grid](x, self.gate.weight, self.norm.bias,", "kernel[grid](x, self.packed, self.packed,"
    )
    return text.replace("weight + at % n", "weight + 2 * (at % n)").replace("bias + at % n", "bias + 2 * (at % n) + 1")


def test_a_class_may_pack_its_parameters_once_and_nothing_else(verdict, right):
    packed = verdict(packed_once("self.norm.bias")).outcome
    assert isinstance(packed, Verified)
    assert "as if they never change: gate.weight, norm.bias" in packed.caveat
    assert "never change" not in right.caveat
    assert isinstance(verdict(packed_once("x")).outcome, Wrong)


KEPT = """        if not hasattr(self, "kept"):
            self.kept = {}
        if x.shape in self.kept:
            return self.kept[x.shape]
        self.kept[x.shape] = self.compute(x)
        return self.kept[x.shape]

    def compute(self, x):
        x = x.contiguous()
"""
LIBRARY = "return x * self.scale * self.gate.weight + self.norm.bias\n"
CHANGED = {
    "ignores a parameter": ("+ b, mask", ", mask", Wrong, ""),
    "ignores what it is built with": ("self.scale = scale", "self.scale = 1.0", Wrong, ""),
    "lets the library work": ("return y\n", LIBRARY, Refused, "PORT6001"),
    "calls a module of the library's": ("return y\n", "return self.norm(x)\n", Refused, "PORT6001"),
    "lets the library work where it is large": (
        "        y = torch",
        f"        if len(x) > 2000:\n            {LIBRARY}        y = torch",
        Refused,
        "PORT6001",
    ),
    "works in its constructor": ("self.scale = scale", "self.scale = eval('scale')", Refused, "PORT1902"),
    "remembers in the instance": ("        x = x.contiguous()\n", KEPT, (Refused, Wrong), ""),
    "has other parameters": ("features, 1)", "features, 2)", Crashed, "of ModelNew are gate.weight [2, "),
    "is built otherwise": ("features, scale)", "features)", Crashed, "2 positional arguments but 3 were given"),
}


@pytest.mark.parametrize(("right", "other", "outcome", "said"), CHANGED.values(), ids=CHANGED)
def test_what_a_class_may_not_do(verdict, right, other, outcome, said):
    assert right in CANDIDATE
    found = verdict(CANDIDATE.replace(right, other, 1))
    assert isinstance(found.outcome, outcome), found.outcome
    assert said in found.outcome.because


def test_a_class_without_a_reference_s_class_takes_no_arguments(verdict):
    (verdict.folder / "plain.py").write_text(
        "import torch\ndef reference(x, w, b): return x * w + b\n"
        "def get_inputs(): return [torch.rand(64, 128), torch.rand(128), torch.rand(128)]\n"
    )
    needs = verdict(CANDIDATE, "plain.py")
    assert isinstance(needs.outcome, Crashed)
    assert "can be checked against a reference with 'Model'" in needs.outcome.because
    text = CANDIDATE[: CANDIDATE.index("class ModelNew")] + (
        "class ModelNew(nn.Module):\n"
        "    def forward(self, x, weight, bias):\n"
        "        y = torch.empty_like(x)\n"
        "        kernel[(triton.cdiv(x.numel(), 1024),)](x, weight, bias, y, 1.0, x.shape[1], x.numel(), B=1024)\n"
        "        return y\n"
    )
    assert isinstance(verdict(text, "plain.py").outcome, Verified)
