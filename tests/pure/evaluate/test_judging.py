"""Which workloads a judgement adds, and which answers decide."""

from dataclasses import replace

import numpy as np
import pytest

from porter.contract.model.contract import Contract, Distribution, Entry, EntryKind, Role, TensorArg, Values, Workload
from porter.contract.model.dtype import DType, encode
from porter.evaluate.reference.judging import Judging, decides, faults_decide
from porter.execution.job import TensorValue
from porter.oracle.outputs import Outputs
from porter.oracle.reference import Expected

X = TensorArg("x", Role.IN, DType.FLOAT32, ("n",))
TINY = Workload("tiny", {"n": 5}, 1)


def contract(*workloads, x=X):
    return Contract("op", "other", Entry(EntryKind.TORCH, "op"), (x,), ("n",), (), workloads, {})


def further(one, **options):
    return {w.name: w for w in Judging(1, {}, **options).further(one)}


def test_bfloat16_has_values_that_float16_has_not():
    wide = replace(TINY, name="bfloat16", dtypes={"x": DType.BFLOAT16})
    found = further(contract(TINY, wide))
    assert found["bfloat16, values beyond float16"].scale > 65_504
    assert "values beyond float16" not in found
    assert "values beyond float16" in further(contract(TINY, x=replace(X, dtype=DType.BFLOAT16)))
    chances = replace(X, dtype=DType.BFLOAT16, values=Values.PROBABILITY)
    assert "values beyond float16" not in further(contract(TINY, x=chances))


def test_a_scale_of_three_is_no_large_value():
    found = further(contract(replace(TINY, scale=3.0)))
    assert (found["larger values"].scale, found["smaller values"].scale) == (1e3, 1e-3)
    found = further(contract(TINY, replace(TINY, name="large values", scale=1e3)))
    assert "larger values" not in found
    assert found["smaller values"].scale == 1e-3


def test_nothing_decides_only_where_an_original_takes_it():
    empty = Expected(replace(TINY, sizes={"n": 0}), Outputs(()), None)
    assert decides(contract(TINY), empty, takes_nothing=True)
    assert not decides(contract(TINY), empty, takes_nothing=False)
    assert decides(contract(TINY), Expected(TINY, Outputs(()), None), takes_nothing=False)


@pytest.mark.parametrize(
    ("distribution", "dtype", "decides_"),
    [
        (Distribution.ROUND, DType.BOOL, True),
        (Distribution.ROUND, DType.INT64, False),
        (Distribution.TIES, DType.BOOL, False),
        (Distribution.DECLARED, DType.INT64, True),
    ],
)
def test_which_of_two_equals_is_the_largest_is_open_not_whether_one_is_larger(distribution, dtype, decides_):
    answer = TensorValue(dtype, (5,), encode(np.zeros(5), dtype))
    tied = Expected(replace(TINY, distribution=distribution), Outputs((("y", answer),)), None)
    assert decides(contract(TINY), tied, takes_nothing=False) is decides_
    assert faults_decide(tied) is (distribution is not Distribution.DECLARED)


def test_types_that_nobody_asked_for_are_left_out_and_named():
    double = replace(TINY, name="float64", dtypes={"x": DType.FLOAT64})
    half = replace(TINY, name="float16", dtypes={"x": DType.FLOAT16})
    whole = contract(TINY, double, half)
    assert Judging(1, {}).wanted(whole) == (whole, "")
    kept, said = Judging(1, {}, dtypes=frozenset((DType.FLOAT32, DType.FLOAT16))).wanted(whole)
    assert [w.name for w in kept.workloads] == ["tiny", "float16"]
    assert said == "float64 was not asked for (--dtype)"


def test_each_choice_of_element_types_has_one_column():
    both = replace(X, shape=("m", "n"))
    tiny = Workload("tiny", {"m": 3, "n": 5}, 1)
    double = replace(tiny, name="float64", dtypes={"x": DType.FLOAT64}, takes="float64")
    one = Contract("op", "other", Entry(EntryKind.TORCH, "op"), (both,), ("m", "n"), (), (tiny, double), {})
    found = further(one)
    assert found["one column"].sizes == found["float64, one column"].sizes == {"m": 3, "n": 1}
    assert found["float64, one column"].dtypes == double.dtypes
    assert found["float64, one column"].takes == ""
    assert "float64, one column" not in further(one, edges=False)
