"""A folder of PyTorch modules in levels is a suite: each module an operator, each level a category."""

import pytest

from porter.errors import InputError
from porter.resources import resource
from porter.suite.selection import digest_of, find_operators

MODULES = resource("op_suites").joinpath("modules")
MODULE = "class Model:\n    pass\n"


@pytest.fixture
def checkout(tmp_path):
    """A checkout of such modules, with files that are none."""
    for level, name, text in (
        ("level1", "2_softmax", MODULE),
        ("level1", "10_norm", MODULE),
        ("level2", "1_chain", MODULE),
        ("level1", "helpers", "x = 1\n"),
        ("other", "model", MODULE),
    ):
        (tmp_path / "bench" / level).mkdir(parents=True, exist_ok=True)
        (tmp_path / "bench" / level / f"{name}.py").write_text(text)
    return tmp_path / "bench"


def test_modules_are_operators_by_level(checkout):
    keys = [operator.key for operator in find_operators(checkout)]
    assert keys == ["bench/level1/10_norm", "bench/level1/2_softmax", "bench/level2/1_chain"]
    (chain,) = find_operators(checkout / "level2")
    assert (chain.key, chain.source.name, chain.contracts()) == ("bench/level2/1_chain", "1_chain.py", ())


def test_the_digest_of_a_module_is_that_of_its_file(checkout):
    norm, softmax, _ = find_operators(checkout)
    before = digest_of(norm), digest_of(softmax)
    softmax.source.write_text(MODULE + "y = 2\n")
    assert digest_of(norm) == before[0]
    assert digest_of(softmax) != before[1]


def test_a_folder_without_levels_is_no_suite(checkout):
    with pytest.raises(InputError, match="no operator"):
        find_operators(checkout / "other")


def test_porter_ships_modules_of_three_levels():
    levels = [operator.category for operator in find_operators(MODULES)]
    assert len(levels) >= 40
    assert set(levels) == {"level1", "level2", "level3"}


def test_with_cuda_beside_them_modules_are_no_operators_of_a_folder():
    assert not any(operator.module for operator in find_operators(resource("op_suites")))
