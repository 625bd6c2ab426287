"""In which order the operators of a suite are brought up."""

import pytest

from porter.suite.operators import operators
from porter.suite.result import Result, SuiteResult
from porter.suite.run import SuiteOptions, in_order

CONTRACT = """
[[contract]]
name = "k"
category = "norm"
symbols = ["n"]
entry = { kind = "torch", name = "forward" }

[[contract.argument]]
tensor = "x"
role = "in"
dtype = "float32"
shape = ["n"]
"""
WORKLOAD = """
[[contract.workload]]
name = "w{0}"
sizes = {{ n = 1{0} }}
"""


@pytest.mark.parametrize(("failed_first", "order"), [(True, "cba"), (False, "bca")])
def test_what_fell_short_is_first_where_that_is_asked_for(tmp_path, failed_first, order):
    for name, workloads in (("a", 1), ("b", 3), ("c", 2)):
        folder = tmp_path / "suite/norm" / name
        folder.mkdir(parents=True)
        (folder / "kernel.cu").touch()
        (folder / "contract.toml").write_text(CONTRACT + "".join(WORKLOAD.format(n) for n in range(workloads)))
    outcomes = {"a": "verified", "b": "verified", "c": "wrong"}
    results = [Result("suite", "norm", name, "", o, "", "", (), "", 1.0) for name, o in outcomes.items()]
    earlier = SuiteResult("maca", "c500", "1.0", tuple(results))
    options = SuiteOptions("maca", tmp_path / "run", failed_first=failed_first)
    found = in_order(operators(tmp_path), earlier, options)
    assert "".join(one.name for one in found) == order
