"""What a command line costs before it does anything."""

import subprocess
import sys

import pytest

HEAVY = {"torch", "numpy", "tree_sitter", "triton", "transformers", "rich.console", "fastapi"}
COMMANDS = ["migrate", "inspect", "verify", "bench", "record", "regress", "report", "resume", "replay", "watch", "runs"]
COMMANDS += ["export", "explain", "doctor", "suite", "survey", "backend", "serve"]


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], *([command, "--help"] for command in COMMANDS)])
def test_help_imports_nothing_heavy(arguments):
    code = (
        "import sys; from porter.cli.main import main; status = main(sys.argv[1:]);"
        f"heavy = sorted({HEAVY} & set(sys.modules));"
        "sys.exit(f'imported {heavy}' if heavy else status)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "porter" in done.stdout


def test_what_migrates_runs_pytorch_in_children_alone():
    modules = "porter.cli.attempt, porter.cli.verify, porter.cli.suite, porter_triton.backend, porter_maca.backend, "
    modules += "porter.search.by_model, porter.search.finish"
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_port_to_maca_without_a_model_needs_no_pytorch(tmp_path):
    source = tmp_path / "x.cu"
    source.write_text('__global__ void k(double* x) { asm volatile("bad"); }\n')
    code = "import sys; from porter.cli.main import main; main(sys.argv[1:]); sys.exit('torch' in sys.modules)"
    command = ["migrate", str(source), "--target", "maca", "--out", str(tmp_path / "out")]
    assert subprocess.run([sys.executable, "-c", code, *command], check=False).returncode == 0


def test_without_a_command_the_help_is_shown(porter):
    done = porter()
    assert (done.code, done.stdout) == (0, porter("--help").stdout)
