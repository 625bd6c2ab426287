"""A scalar of which a condition leaves few values is a choice, and no size that probes may draw."""

from dataclasses import replace

import pytest

from porter.contract.model.contract import ScalarArg
from porter.lift.enumerations import with_choices
from tests.pure.lift.test_probes import contract_of


def contract_with(condition, *shape):
    contract = contract_of("softmax")
    tensors = tuple(replace(t, shape=shape or t.shape) for t in contract.tensors)
    workloads = tuple(
        replace(workload, sizes={**workload.sizes, "mode": place % 2})
        for place, workload in enumerate(contract.workloads)
    )
    return replace(
        contract,
        arguments=(*tensors, ScalarArg("kind", "int", "mode")),
        symbols=(*contract.symbols, "mode"),
        conditions=(condition,),
        workloads=workloads,
    )


def test_an_enumeration_is_a_choice_of_its_argument():
    found = with_choices(contract_with("mode == 0 || mode == 1"))
    kind = found.arguments[-1]
    assert (kind.value, kind.choices) == ("0", ("0", "1"))
    assert "mode" not in found.symbols
    assert found.conditions == ()
    assert [workload.scalars for workload in found.workloads[:2]] == [{"kind": 0}, {"kind": 1}]
    assert all("mode" not in workload.sizes for workload in found.workloads)


@pytest.mark.parametrize("condition", ["mode >= 1", "rows % mode == 0", "mode % 4 == 0"])
def test_a_size_with_a_condition_is_none(condition):
    contract = contract_with(condition)
    assert with_choices(contract) is contract


def test_an_extent_is_no_choice():
    contract = contract_with("mode == 3 || mode == 4", "mode", "columns")
    assert with_choices(contract) is contract
