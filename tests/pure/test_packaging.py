"""What an installed porter must have; `make wheel` runs this against the wheel, `make check` against the checkout."""

from importlib.metadata import distribution
from importlib.resources import files

import pytest

import porter
from porter.catalogue import core_catalogue
from porter.registry import backend_names, find_backend
from porter.resources import resource


def test_the_distribution_has_the_packages_version_and_the_console_script():
    installed = distribution("porter")
    assert installed.version == porter.__version__
    scripts = {point.name: point.value for point in installed.entry_points if point.group == "console_scripts"}
    assert scripts == {"porter": "porter.cli.main:run"}


def test_types_reach_those_who_import_porter():
    assert (files("porter") / "py.typed").is_file()


def test_data_comes_along():
    assert core_catalogue()
    assert list(resource("grammars").glob("*.scm"))
    assert list(resource("op_suites").glob("*/*/*/kernel.cu"))
    for folder in ("include/porter", "include/cuda", "include/maca", "include/torch_shim", "runtime"):
        assert (files("porter") / "simt" / folder).is_dir()
    assert (files("porter") / "agent" / "prompts" / "improve.md.j2").is_file()
    assert (files("porter") / "agent" / "plan" / "intents.toml").is_file()


@pytest.mark.parametrize("name", ["maca", "triton"])
def test_the_shipped_backends_come_along_with_their_tables(name):
    assert name in backend_names()
    assert find_backend(name).catalogue()
    assert find_backend(name).targets()
