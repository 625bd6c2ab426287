"""What an installed porter must have; `make wheel` runs this against the wheel, `make check` against the checkout."""

import subprocess
import sysconfig
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path

import pytest

import porter
from porter.diagnostics.catalogue import core_catalogue
from porter.registry import backend_names, find_backend
from porter.resources import resource

CHECKOUT = Path(__file__).parents[2]
INSTALLED = {
    "porter": files("porter"),
    "backends/maca/porter_maca": files("porter_maca"),
    "backends/triton/porter_triton": files("porter_triton"),
    "grammars": resource("grammars"),
    "op_suites": resource("op_suites"),
}
# A wheel has these two inside the package; what Python compiles lies beside each module.
APART = {"__pycache__", "grammars", "op_suites"}


def test_the_distribution_has_the_packages_version_and_the_console_script():
    installed = distribution("porter")
    assert installed.version == porter.__version__
    scripts = {point.name: point.value for point in installed.entry_points if point.group == "console_scripts"}
    assert scripts == {"porter": "porter.cli.main:run"}


def test_the_console_script_runs():
    script = Path(sysconfig.get_path("scripts"), "porter")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"porter {porter.__version__}\n"), done.stderr


def contents(folder):
    """The files below a folder, by their place in it."""
    found = ((path.relative_to(folder), path) for path in folder.rglob("*") if path.is_file())
    return {place: path.read_bytes() for place, path in found if not APART & set(place.parts)}


@pytest.mark.parametrize("place", INSTALLED)
def test_every_module_and_all_data_of_the_checkout_come_along(place):
    here, there = contents(CHECKOUT / place), contents(Path(str(INSTALLED[place])))
    assert here.keys() == there.keys()
    assert [name for name in here if here[name] != there[name]] == []


def test_types_reach_those_who_import_porter():
    assert (files("porter") / "py.typed").is_file()


def test_data_comes_along():
    assert core_catalogue()
    assert list(resource("grammars").glob("*.scm"))
    assert list(resource("op_suites").glob("*/*/*/kernel.cu"))
    for folder in ("include/porter", "include/cuda", "include/torch_shim", "runtime"):
        assert (files("porter") / "simt" / folder).is_dir()
    assert (files("porter") / "agent" / "prompts" / "improve.md.j2").is_file()
    assert (files("porter") / "agent" / "plan" / "intents.toml").is_file()


@pytest.mark.parametrize("name", ["maca", "triton"])
def test_the_shipped_backends_come_along_with_their_tables(name):
    assert name in backend_names()
    assert find_backend(name).catalogue()
    assert find_backend(name).targets()
    dialect = find_backend(name).dialect
    assert dialect is None or (dialect.headers / "dialect" / "language.h").is_file()
