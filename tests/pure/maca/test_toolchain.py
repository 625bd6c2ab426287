"""mxcc, played by a shell script: how it is found, called, stopped and understood."""

import time
from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source_text import Source
from porter_maca import MacaBackend
from porter_maca.compile import compile_port
from porter_maca.toolchain import MacaSdk, errors, extension_command, native_command, run

BACKEND = MacaBackend()
TARGET = BACKEND.targets()[0]
SOURCE = "#include <cuda_runtime.h>\n\n__global__ void k(float* x) {\n    x[0] = wrong;\n}\n"


@pytest.fixture
def sdk(tmp_path):
    """`sdk(script)`: an SDK whose mxcc is the shell script."""

    def install(script):
        compiler = tmp_path / "maca" / "mxgpu_llvm" / "bin" / "mxcc"
        compiler.parent.mkdir(parents=True)
        compiler.write_text(f"#!/bin/sh\n{script}\n")
        compiler.chmod(0o755)
        return MacaSdk.found(tmp_path / "maca", {"PATH": ""})

    return install


@pytest.fixture
def workdir(tmp_path):
    path = tmp_path / "work"
    path.mkdir()
    return path


def ported(text=SOURCE):
    return BACKEND.port(parse(Source(Path("op.cu"), text)), (), TARGET)


def test_without_an_sdk_the_reason_names_the_variable():
    found = MacaSdk.found(None, {}).probe()
    assert (found.compile, found.run) == (False, False)
    assert "MACA_PATH is not set" in found.because


def test_an_sdk_without_its_compiler_is_no_sdk(tmp_path):
    found = MacaSdk.found(None, {"MACA_PATH": str(tmp_path)}).probe()
    assert not found.compile
    assert "mxcc is not there" in found.because


def test_a_compiler_without_a_device_compiles_and_does_not_run(sdk):
    found = sdk("exit 0").probe()
    assert (found.compile, found.run) == (True, False)
    assert "mx-smi" in found.because


def test_the_driver_tool_on_the_path_means_a_device(sdk, tmp_path):
    tool = tmp_path / "mx-smi"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    root = sdk("exit 0").root
    assert MacaSdk.found(root, {"PATH": str(tmp_path)}).probe().run


def test_the_native_line_is_the_one_of_the_samples(sdk):
    installed = sdk("exit 0")
    line = native_command(installed, "xcore1000", Path("a.maca.cpp"), Path("a.o"))
    assert line[1:5] == ("-x", "maca", "-c", "a.maca.cpp")
    assert f"--maca-path={installed.root}" in line
    assert "-offload-arch=xcore1000" in line


def test_the_extension_line_goes_through_the_cuda_wrapper(sdk):
    line = extension_command(sdk("exit 0"), "xcore1500", Path("op.maca.cu"), Path("op.o"), [Path("/torch/include")])
    assert {"-DUSE_MACA", "-DNV_ARCH_A100", "-DTORCH_EXTENSION_NAME=op", "-I/torch/include"} <= set(line)
    assert line[line.index("-imacros") + 2].endswith("tools/cu-bridge/include/__macro_mxcc.h")


def test_a_port_that_builds_has_no_finding(sdk, workdir):
    installed = sdk('for last; do :; done; echo "$@" > called; exit 0')
    assert compile_port(installed, ported(), TARGET, workdir) is None
    assert "-x maca -c" in (workdir / "called").read_text()
    assert (workdir / "op.maca.cpp").read_text() == ported().files[0].text


def test_an_error_stands_at_the_users_line(sdk, workdir):
    script = "echo \"op.maca.cpp:5:12: error: use of undeclared identifier 'wrong'\" >&2; exit 1"
    found = compile_port(sdk(script), ported(), TARGET, workdir)
    assert (found.code, found.span.line) == ("PORT1700", 4)
    assert "use of undeclared identifier 'wrong'" in found.message


def test_an_error_in_porters_own_line_has_no_place(sdk, workdir):
    found = compile_port(sdk("echo 'op.maca.cpp:1:1: error: odd'; exit 1"), ported(), TARGET, workdir)
    assert (found.code, found.span) == ("PORT1700", None)


def test_an_error_in_the_sdk_names_the_file(sdk, workdir):
    found = compile_port(sdk("echo '/opt/x.h:9:1: fatal error: gone'; exit 1"), ported(), TARGET, workdir)
    assert found.message == "mxcc, in /opt/x.h:9: gone"


def test_a_failure_without_a_diagnostic_shows_what_was_printed(sdk, workdir):
    found = compile_port(sdk("echo 'license expired'; exit 3"), ported(), TARGET, workdir)
    assert found.message == "mxcc failed with status 3"
    assert found.hint == "license expired"


def ends(pid: int, within_s: float) -> bool:
    """Returns whether the process is gone, or a zombie, in time: a killed one still runs until the scheduler lets it
    die.
    """
    deadline_s = time.monotonic() + within_s
    while time.monotonic() < deadline_s:
        try:
            if Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


def test_a_compiler_that_hangs_is_killed_with_its_children(sdk, workdir):
    installed = sdk("sleep 600 & echo $! > making; mv making child; wait")
    limit_s = 0.25
    while not (workdir / "child").exists():  # killed before it had a child, it shows nothing
        limit_s *= 2
        assert compile_port(installed, ported(), TARGET, workdir, limit_s=limit_s).code == "PORT1701"
    assert ends(int((workdir / "child").read_text()), within_s=60.0)


def test_output_that_is_no_text_does_not_matter(workdir):
    ran = run(["/bin/sh", "-c", r"printf '\377\376 broken'; exit 2"], workdir)
    assert (ran.status, ran.timed_out) == (2, False)
    assert ran.output.endswith(" broken")


def test_only_errors_are_errors():
    output = "a.cpp:1:2: warning: w\na.cpp:3:4: error: e\nb.h:5:6: fatal error: f\n1 error generated.\n"
    assert [(e.file, e.line, e.column, e.message) for e in errors(output)] == [("a.cpp", 3, 4, "e"), ("b.h", 5, 6, "f")]


def test_the_backend_passes_an_explicit_sdk_on(sdk, workdir):
    backend = MacaBackend(sdk("echo 'op.maca.cpp:5:1: error: no'; exit 1").root)
    assert backend.probe().compile
    assert backend.compile(ported(), TARGET, workdir).code == "PORT1700"
