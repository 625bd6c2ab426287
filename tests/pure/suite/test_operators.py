"""The operators that ship with porter are complete, and only right answers pass their contracts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from porter.cli.main import main
from porter.contract.model.contract import Contract, Role, TensorArg, Workload
from porter.contract.model.dtype import decode
from porter.contract.workload.materialise import materialise
from porter.errors import InputError
from porter.execution.job import Limits, TensorValue
from porter.oracle.python_reference import python_standard
from porter.oracle.standard import Standard
from porter.resources import resource
from porter.suite.operators import View, operators, views

SUITES = resource("op_suites")
OPERATORS = operators(SUITES)
LOOSEST = 1e-2  # rtol and atol: what benchmarks grant 16-bit types


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_an_operator_has_contracts_of_its_category_for_the_cpu_and_for_devices(operator):
    for contract in operator.contracts():
        assert contract.category == operator.category
        assert contract.name.startswith(operator.name)
        assert not contract.questions
        names = {workload.name: workload.device_only for workload in contract.workloads}
        assert names["tiny"] is False
        assert names["bench"] is True


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_no_trivial_answer_passes(operator):
    contracts = operator.contracts()
    with python_standard(operator.reference, contracts, Limits()) as standard:
        answers = [_answers(standard, contract) for contract in contracts]
    for contract, (want, other) in zip(contracts, answers, strict=True):
        tiny = _tiny(contract)
        assert want
        for name, values in want.items():
            passing = [what for what, guess in _trivial(contract, tiny, values) if _close(guess, values)]
            assert not passing, f"{contract.name}: {passing} pass for {name}"
        # What chance alone decides may be the same for all inputs, but not the whole answer.
        assert not all(_close(other[name], values) for name, values in want.items()), contract.name


def _answers(standard: Standard, contract: Contract) -> list[dict[str, np.ndarray]]:
    """Returns what the reference writes and returns for `tiny` inputs, and for others of the same sizes."""
    tiny = _tiny(contract)
    reference = standard.reference(replace(contract, workloads=(tiny, replace(tiny, seed=tiny.seed + 1))))
    assert reference.because == ""
    read = {t.name for t in contract.tensors if t.role is Role.IN}
    return [
        {name: decode(value.storage, value.dtype) for name, value in expected.outputs.tensors if name not in read}
        for expected in reference.expected
    ]


def _tiny(contract: Contract) -> Workload:
    return next(workload for workload in contract.workloads if workload.name == "tiny")


def _trivial(contract: Contract, workload: Workload, want: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    yield "zeros", np.zeros(want.shape)
    yield "ones", np.ones(want.shape)
    for argument, value in zip(contract.arguments, materialise(contract, workload), strict=True):
        if isinstance(argument, TensorArg) and isinstance(value, TensorValue) and value.storage.size == want.size:
            yield argument.name, decode(value.storage, value.dtype).reshape(want.shape)


def _close(guess: np.ndarray, want: np.ndarray) -> bool:
    loosest = 0.0 if want.dtype == np.int64 else LOOSEST
    return bool(np.allclose(guess, want, rtol=loosest, atol=loosest, equal_nan=True))


def test_the_view_of_the_paper_is_the_suite_without_one_loss():
    (paper,) = views(SUITES / "kernelbench" / "views.toml")
    suite = tuple(o for o in OPERATORS if o.suite == "kernelbench")
    kept = [operator.category for operator in paper.of(suite)]
    assert paper.name == "paper45"
    assert {c: kept.count(c) for c in kept} == {"activation": 15, "norm": 8, "reduction": 17, "loss": 5}
    assert "hinge" in paper.because


def test_a_view_leaves_out_what_it_names():
    view = View("without", frozenset({OPERATORS[0].name}), "one fewer")
    assert view.of(OPERATORS[:2]) == OPERATORS[1:2]


@pytest.mark.parametrize("text", ["[[view]", "x = 1", "[[view]]\nname = 'a'\n", "view = 3", "view = [3]"])
def test_what_is_no_list_of_views_is_refused(tmp_path, text):
    (tmp_path / "views.toml").write_text(text)
    with pytest.raises(InputError, match=r"views\.toml"):
        views(tmp_path / "views.toml")


def test_of_several_words_an_operator_has_one(capsys):
    assert main(["suite", "list", str(SUITES), "--only", "norm/rms_norm", "--only", "argm", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["operators"]
    assert {one["name"] for one in listed} == {"rms_norm", "argmax", "argmin"}
