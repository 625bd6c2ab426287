"""The benchmarks are scripts that CI does not run: what they import has to be there all the same."""

import ast
import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "benchmarks").rglob("*.py"))
OWN = ("porter", "porter_triton", "porter_maca")


def names_of(script):
    """Yields the module and the name of all that a script imports of porter."""
    for node in ast.walk(ast.parse(script.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in OWN:
            yield from ((node.module, name.name) for name in node.names)


def test_there_are_scripts():
    assert len(SCRIPTS) > 20


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_benchmark_imports_is_there(script):
    missing = [
        f"{module}.{name}"
        for module, name in names_of(script)
        if not hasattr(importlib.import_module(module), name) and importlib.util.find_spec(f"{module}.{name}") is None
    ]
    assert missing == []


def test_the_methods_that_a_search_on_a_device_is_watched_by_are_there():
    """It replaces them in its own process, so it is asked in one."""
    command = [sys.executable, "-c", "from benchmarks.evolve.on_device import watched; watched()"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
