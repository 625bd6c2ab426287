"""Probes of every operator of the suites: their sizes are allowed, repeat with the seed, and tell symbols apart."""

# ruff: noqa: ARG001, ARG005 - what accepts probes is given one

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest

from porter.contract.model.contract import ScalarArg
from porter.contract.model.expressions import number
from porter.contract.model.reader import load_contracts
from porter.contract.model.validate import check, satisfies
from porter.lift.nodes import NotLiftedError
from porter.lift.probes import Style, chosen, parameters

SUITES = Path(__file__).parents[3] / "op_suites"
CONTRACTS = sorted(SUITES.glob("*/*/*/contract.toml"))
LEAST_AGREEING = 4


def contract_of(name):
    return load_contracts(next(path for path in CONTRACTS if path.parent.name == name))[0]


def takes_all(probe):
    return True


def test_there_are_operators():
    assert len(CONTRACTS) > 60


@pytest.mark.parametrize("path", CONTRACTS, ids=lambda path: "/".join(path.parts[-4:-1]))
def test_probes_are_allowed_and_tell_symbols_apart(path):
    contract = load_contracts(path)[0]
    probes = chosen(contract, 1, takes_all)
    whole, fractional = parameters(contract)
    assert len(probes) >= LEAST_AGREEING
    assert len({repr(probe) for probe in probes}) == len(probes)
    for probe in probes:
        assert satisfies(contract, probe.sizes), probe
        assert set(probe.sizes) == set(contract.symbols)
        assert set(probe.whole) == {argument.name for argument in whole}
        assert set(probe.fractional) == {argument.name for argument in fractional}
        check(probe.applied(contract))
    values = [probe.values for probe in probes]
    changing = [name for name in values[0] if len({at[name] for at in values}) > 1]
    assert changing == list(values[0])
    for one, other in combinations(changing, 2):
        assert len({at[one] * at[other] for at in values}) > 1, f"{one} * {other} does not change"
        if all(at[other] for at in values):
            assert len({at[one] / at[other] for at in values}) > 1, f"{one} / {other} does not change"


MANY = ("layer_norm", "max_pool1d", "softmax", "leaky_relu")


@pytest.mark.parametrize("name", MANY)
def test_a_seed_decides_the_probes(name):
    contract = contract_of(name)
    first, again, other = (chosen(contract, seed, takes_all) for seed in (3, 3, 4))
    assert first == again
    assert first != other


@pytest.mark.parametrize("name", MANY)
def test_a_contract_with_a_probe_is_called_with_its_values(name):
    contract = contract_of(name)
    for probe in chosen(contract, 5, takes_all):
        applied = probe.applied(contract)
        (workload,) = applied.workloads
        assert workload.sizes == probe.sizes
        assert workload.scalars == probe.whole
        scalars = {a.name: a for a in applied.arguments if isinstance(a, ScalarArg)}
        for parameter, value in probe.fractional.items():
            assert Fraction(repr(float(number(scalars[parameter].value, {})))) == Fraction(repr(float(value)))


def test_only_sizes_that_the_operator_takes_are_chosen():
    def takes_even_rows(probe):
        asked.append(probe)
        return probe.sizes["rows"] % 2 == 0

    asked = []
    contract = contract_of("softmax")
    assert "rows" in contract.symbols
    probes = chosen(contract, 2, takes_even_rows)
    assert all(probe.sizes["rows"] % 2 == 0 for probe in probes)
    assert len({repr(probe) for probe in asked}) == len(asked)


def test_an_operator_that_takes_nothing_is_refused():
    with pytest.raises(NotLiftedError, match="it takes 0 of"):
        chosen(contract_of("softmax"), 2, lambda probe: False)


def test_a_parameter_that_is_fixed_keeps_its_value():
    contract = contract_of("max_pool1d")
    whole, _ = parameters(contract)
    fixed = whole[0].name
    probes = chosen(contract, 2, takes_all, Style(fixed=frozenset({fixed})))
    assert all(fixed not in probe.whole for probe in probes)
    assert len({probe.whole[whole[1].name] for probe in probes}) > 1


@pytest.mark.parametrize("name", ["softmax", "mse_loss", "argmax", "cross_entropy_loss"])
def test_extents_of_few_symbols_are_at_least_3(name):
    """Of two elements a mean and a remainder, or an arg-maximum and an arg-minimum, are one graph."""
    contract = contract_of(name)
    assert all(min(probe.sizes.values()) >= 3 for probe in chosen(contract, 6, takes_all))


def test_an_extent_of_the_grid_alone_has_blocks_for_all_elements():
    contract = contract_of("softmax")
    launched = replace(contract, symbols=(*contract.symbols, "blocks"))
    assert all(probe.sizes["blocks"] >= 9 for probe in chosen(launched, 1, takes_all))


def test_a_bound_of_no_tensor_is_large_in_covering_probes():
    contract = contract_of("softmax")
    bounded = replace(
        contract,
        arguments=(*contract.arguments, ScalarArg("limit", "int", "limit")),
        symbols=(*contract.symbols, "limit"),
    )
    assert all(probe.sizes["limit"] >= 9 for probe in chosen(bounded, 1, takes_all, Style(covering=True)))


def test_conditions_are_met_by_several_sizes():
    contract = contract_of("softmax")
    columns = contract.symbols[-1]
    divided = replace(contract, conditions=(f"{columns} % 32 == 0",))
    probes = chosen(divided, 1, takes_all)
    assert {probe.sizes[columns] % 32 for probe in probes} == {0}
    assert len({probe.sizes[columns] for probe in probes}) > 1
