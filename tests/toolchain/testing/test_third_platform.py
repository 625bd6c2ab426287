"""A platform outside of porter's tree, as `porter backend new` writes it: it conforms, and ports the examples."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from porter.cli.main import main

EXAMPLES = Path(__file__).parents[3] / "examples"
MOST_LINES = 120  # that an author has to look through


@pytest.fixture(scope="module")
def platform(tmp_path_factory):
    """The distribution of a platform called acme, found as an installed one is."""
    folder = tmp_path_factory.mktemp("acme")
    assert main(["backend", "new", "acme", "--out", str(folder)]) == 0
    about = folder / "porter_acme-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: porter-acme\nVersion: 0.1.0\n")
    (about / "entry_points.txt").write_text("[porter.backends]\nacme = porter_acme:AcmeBackend\n")
    return folder


@pytest.fixture
def run(platform, build_cache):
    """`run(*arguments)` runs Python in the folder with the platform, with the cache of the tests."""

    def running(*arguments):
        environment = {**os.environ, "PYTHONPATH": str(platform), "PORTER_CACHE_DIR": str(build_cache)}
        command = [sys.executable, "-m", *map(str, arguments)]
        return subprocess.run(command, cwd=platform, env=environment, capture_output=True, text=True, check=False)

    return running


def test_an_author_has_little_to_read(platform):
    written = [*platform.glob("porter_acme/*.*"), *platform.rglob("include/**/*.h")]
    assert 20 < sum(len(file.read_text().splitlines()) for file in written) <= MOST_LINES


def test_the_skeleton_passes_conformance_as_it_is(run):
    done = run("pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.cu")), ids=lambda path: path.stem)
def test_it_ports_executes_and_verifies_the_examples(run, platform, example):
    shutil.copy(example, platform)
    done = run("porter", "migrate", example.name, "--target", "acme", "--json")
    document = json.loads(done.stdout)
    assert (document.get("outcome"), done.returncode) == ("verified", 0), done.stdout[:3000]
    assert "cudaError" not in (platform / f"porter-out/{example.stem}.acme.cpp").read_text()
    assert document["findings"] == []


def test_a_name_that_the_table_lacks_is_named(run, platform):
    text = "__global__ void k(float* x) { x[0] = 1; }\nvoid f() { cudaGraphUpload(0, 0); }\n"
    (platform / "graph.cu").write_text(text)
    done = run("porter", "migrate", "graph.cu", "--target", "acme", "--check", "--json")
    (check,) = json.loads(done.stdout)["checks"]
    assert (done.returncode, check["errors"]) == (1, 1)
    assert check["findings"][0]["message"] == "cudaGraphUpload has no name in names.toml"
