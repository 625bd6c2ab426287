"""Ports searched for better ones, from the command line."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time

import pytest

from porter.cli.main import main
from porter.evolve.journal import NAME
from porter.serve.access import TOKEN
from tests.toolchain.serve.server_process import SECRET, ServerProcess

SOURCE = """\
#define THREADS 1024
__global__ void scale_kernel(const float* x, float* y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i];
}
void scale(const float* x, float* y, float a, int n) {
    scale_kernel<<<(n + THREADS - 1) / THREADS, THREADS>>>(x, y, a, n);
}
"""
ROUNDS = ("--rounds", "1", "--seed", "7")
KERNELS = ("--follow", "kernels", "--size", "n=4099")


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """The source and the run of a search that came to its end; nobody changes either."""
    folder = tmp_path_factory.mktemp("searched")
    source, run = folder / "scale.cu", folder / "out" / "scale.triton.search"
    source.write_text(SOURCE)
    assert main(["migrate", str(source), "--target", "triton", "-o", str(run.parent), *KERNELS, *ROUNDS]) == 0
    return source, run


def without_clock(run) -> list[dict]:
    """Returns what a journal says, but for when."""
    lines = [json.loads(line) for line in (run / NAME).read_text().splitlines()]
    return [{key: value for key, value in line.items() if key != "seconds"} for line in lines]


def test_a_search_is_read_again_and_goes_on(searched, tmp_path, capsys):
    run = tmp_path / "scale.triton.search"
    shutil.copytree(searched[1], run)  # a run holds all that it takes
    assert main(["replay", str(run), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["measure"], found["rounds"]) == ("modelled", 1)
    assert found["factor"] >= 1
    assert main(["resume", str(run), "--rounds", "2", "--json"]) == 0
    further = json.loads(capsys.readouterr().out)
    assert further["rounds"] == 2
    assert further["factor"] >= found["factor"]
    shutil.rmtree(run / "original")  # nothing is evaluated any more: what it came to stands in the journal
    assert main(["resume", str(run), "--rounds", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == further


def test_a_search_knows_the_formula_of_what_it_searches(searched):
    settings, *events = without_clock(searched[1])
    assert "formula" in settings["settings"]["proposers"]
    asked = [event for event in events if event.get("proposer") == "formula"]
    assert asked
    assert {c["origin"]["note"].split(",")[0] for event in asked for c in event["candidates"]} <= {"flat"}


def test_what_was_killed_goes_on_as_if_it_had_not_been(searched, tmp_path):
    source, whole = searched
    run = tmp_path / "scale.triton.search"
    command = ["migrate", str(source), "--target", "triton", *KERNELS, *ROUNDS, "-o", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-m", "porter", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while process.poll() is None and not ((run / NAME).exists() and b'"told"' in (run / NAME).read_bytes()):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert main(["resume", str(run), "--rounds", "1"]) == 0
    assert without_clock(run) == without_clock(whole)


def test_a_search_over_http_has_the_journal_that_it_has_here(searched, tmp_path, monkeypatch):
    pytest.importorskip("fastapi")
    source, whole = searched
    server = ServerProcess.begin(tmp_path / "state")
    try:
        monkeypatch.setenv(TOKEN, SECRET)
        words = ["migrate", str(source), "--target", "triton", "-o", str(tmp_path / "out"), *KERNELS, *ROUNDS]
        assert main([*words, "--evaluator", server.url]) == 0
    finally:
        server.kill()
    assert without_clock(tmp_path / "out" / "scale.triton.search") == without_clock(whole)


def test_without_a_verified_port_there_is_nothing_to_search(tmp_path, capsys):
    wrong = tmp_path / "race.cu"
    wrong.write_text(SOURCE.replace("y[i] = a * x[i]", "y[0] = a * x[i]"))
    assert (
        main(["migrate", str(wrong), "--target", "triton", "-o", str(tmp_path / "out"), *KERNELS, *ROUNDS, "--json"])
        == 1
    )
    assert "search" not in json.loads(capsys.readouterr().out)


def test_a_folder_without_a_search_is_named(tmp_path, capsys):
    assert main(["replay", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err
