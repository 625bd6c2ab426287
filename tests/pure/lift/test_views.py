"""Flat tensors are seen with the factors of their extents as axes."""

from dataclasses import replace

import pytest

from porter.contract.model.contract import Role, TensorArg
from porter.contract.model.dtype import DType
from porter.lift.views import views
from tests.pure.lift.test_probes import contract_of


def shapes(*extents):
    """Shapes of all views of a contract whose last tensor is an output."""
    roles = [*[Role.IN] * (len(extents) - 1), Role.OUT]
    arguments = tuple(
        TensorArg(f"t{place}", role, DType.FLOAT32, extent)
        for place, (role, extent) in enumerate(zip(roles, extents, strict=True))
    )
    contract = replace(contract_of("softmax"), arguments=arguments, symbols=("M", "N", "n"))
    return [[tensor.shape for tensor in view.tensors] for view in views(contract)]


def test_factors_are_tried_in_both_orders_and_outputs_against_inputs():
    assert shapes(("M * N",), ("M * N",)) == [
        [("M", "N"), ("M", "N")],
        [("N", "M"), ("N", "M")],
        [("M", "N"), ("N", "M")],
        [("M * N",), ("M * N",)],
    ]


def test_a_number_belongs_to_the_symbol_before_it():
    assert shapes(("M * N * 4",), ("M",))[0] == [("M", "N * 4"), ("M",)]


@pytest.mark.parametrize("extent", ["n", "M * N - M", "(M + 1) / 2", "4", "4 * n"])
def test_what_is_no_product_of_symbols_stays_flat(extent):
    assert shapes((extent,), (extent,)) == [[(extent,), (extent,)]]


def test_tensors_with_axes_keep_them():
    assert all(own == ("M", "N") for own, _ in shapes(("M", "N"), ("M * N",)))
