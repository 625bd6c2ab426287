"""The CUDA of the suites gives what its references say. A third of the operators here; benchmarks/suites runs all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from porter.resources import resource
from porter.simt.compiler import missing_compiler
from porter.suite.operators import operators
from porter.suite.sound import seen

OPERATORS = operators(resource("op_suites"))
# Every third, so that each category and style of writing is among them, and what runs is the same every time.
CHOSEN = OPERATORS[::3]


@pytest.fixture(autouse=True)
def _needs_a_compiler():
    if missing_compiler():
        pytest.skip(missing_compiler())


@pytest.mark.parametrize("operator", CHOSEN, ids=lambda o: o.name)
def test_the_cuda_gives_what_the_reference_does(operator, build_cache):
    found = seen(operator, build_cache)
    assert found
    assert {s.contract: s.trouble for s in found if s.trouble} == {}


def test_cuda_that_is_wrong_is_told(tmp_path, build_cache):
    relu = next(o for o in OPERATORS if o.name == "relu")
    for file in relu.folder.iterdir():
        (tmp_path / file.name).write_text(file.read_text())
    kernel = (tmp_path / "kernel.cu").read_text()
    broken = replace(relu, folder=tmp_path)
    broken.kernel.write_text(kernel.replace("begin + static_cast", "1 + begin + static_cast"))
    assert "result: " in seen(broken, build_cache)[0].trouble
    broken.kernel.write_text(kernel.replace("relu(x.x)", "rely(x.x)"))
    assert "rely" in seen(broken, build_cache)[0].trouble
