"""`porter inspect` in all its forms, and what it says to files it cannot use."""

import os

import pytest

from porter.contract.model.toml import loads
from porter.testing.backend_contract import REDUCTION


@pytest.fixture
def reduction(tmp_path):
    path = tmp_path / "sum.cu"
    path.write_text(REDUCTION)
    return path


def test_the_program_is_shown_with_its_lines(porter, reduction):
    done = porter("inspect", reduction)
    assert (done.code, done.stderr) == (0, "")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["3", "sum", "(const", "float*", "x,", "float*", "y,", "int", "n)"] in lines
    assert ["4", "shared", "partial", "float[32]"] in lines
    assert ["15", "sum", "grid", "1,", "block", "1024", "in", "launch_sum"] in lines
    program = porter("inspect", reduction, "--json").document["program"]
    assert [kernel["name"] for kernel in program["kernels"]] == ["sum"]
    assert program["launches"][0]["block"]["text"] == "1024"


def test_the_contract_is_toml_that_porter_reads_back(porter, reduction):
    done = porter("inspect", reduction, "--as", "contract", "--size", "n=77")
    (contract,) = loads(done.stdout, reduction)
    assert [argument.name for argument in contract.arguments] == ["x", "y", "n"]
    in_json = porter("inspect", reduction, "--as", "contract", "--json").document["contract"]
    assert in_json[0]["entry"]["name"] == contract.entry.name


def test_findings_point_at_their_lines(porter, reduction):
    done = porter("inspect", reduction, "--as", "findings", "--target", "maca")
    assert done.code == 0
    assert f"{reduction}:6:" in done.stdout
    assert "^^^^" in done.stdout
    findings = porter("inspect", reduction, "--as", "findings", "--target", "maca", "--json").document["findings"]
    assert {6, 7} <= {finding["span"]["line"] for finding in findings}
    sarif = porter("inspect", reduction, "--as", "findings", "--target", "maca", "--format", "sarif").document
    assert len(sarif["runs"][0]["results"]) == len(findings)


def test_the_candidate_is_the_port_byte_for_byte(porter, reduction):
    reduction.write_text(REDUCTION.replace("    ", "\t"))
    text = porter("inspect", reduction, "--as", "candidate", "--target", "maca").stdout
    assert "\t__shared__ float partial[32];" in text
    (file,) = porter("inspect", reduction, "--as", "candidate", "--target", "maca", "--json").document["candidate"]
    assert file["text"].rstrip() == text.rstrip()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--format", "sarif"], "SARIF is for findings"),
        (["--as", "everything"], "--as"),
        (["--as", "contract", "--kernel", "nope"], "nope"),
        (["--as", "contract", "--size", "n=many"], "--size n=many"),
        (["--as", "candidate", "--target", "roc"], "unknown target 'roc'"),
        (["--as", "candidate"], "needs a target"),
        (["--as", "candidate", "--target", "maca", "--arch", "C9"], "unknown arch 'C9'"),
    ],
)
def test_wrong_usage_is_named(porter, reduction, arguments, complaint):
    done = porter("inspect", reduction, *arguments)
    assert (done.code, done.stdout) == (2, "")
    assert complaint in done.stderr


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is empty"),
        (b"\n  \n", "is empty"),
        (b"\x7fELF\x02\x01\x01\x00\x00\x00", "is a binary file"),
        (b"Dear all,\nthis is a letter.\n", "no CUDA in it"),
    ],
)
def test_a_file_that_is_no_text_is_refused(porter, tmp_path, content, complaint):
    path = tmp_path / "op.cu"
    path.write_bytes(content)
    done = porter("inspect", path)
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {path}: {complaint}")


def test_a_file_that_is_not_there_or_a_directory_is_named(porter, tmp_path):
    (tmp_path / "folder.cu").mkdir()
    for path, complaint in ((tmp_path / "gone.cu", "no such file"), (tmp_path / "folder.cu", "is a folder")):
        done = porter("inspect", path)
        assert done.code == 2
        assert f"{path}: {complaint}" in done.stderr


@pytest.fixture
def without_privileges():
    """A superuser reads everything: for the time of a test be nobody."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    yield
    os.seteuid(0)


def test_a_file_without_permission_is_named(porter, tmp_path, request):
    path = tmp_path / "secret.cu"
    path.write_text(REDUCTION)
    path.chmod(0)
    porter("inspect", tmp_path / "gone.cu")  # imports what it needs while it may
    request.getfixturevalue("without_privileges")
    done = porter("inspect", path)
    assert done.code == 2
    assert f"{path}: cannot be read: Permission denied" in done.stderr


def test_a_truncated_file_is_read_as_far_as_it_goes(porter, tmp_path):
    path = tmp_path / "cut.cu"
    path.write_text(REDUCTION[: REDUCTION.index("value +=")])
    program = porter("inspect", path, "--json").document["program"]
    assert program["not_understood"]


def test_a_file_of_another_kind_is_answered_with_the_known_ones(porter, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text(REDUCTION)
    done = porter("inspect", path)
    assert done.code == 2
    assert ".cu" in done.stderr


def test_kernels_are_shown_as_what_each_thread_does(porter, reduction):
    done = porter("inspect", reduction, "--as", "simt")
    assert (done.code, done.stderr) == (0, "")
    assert "kernel sum(%x: ptr<f32, global> = 0, %y: ptr<f32, global> = 1, %n: i32 = 2) {" in done.stdout
    assert "barrier {scope = block}" in done.stdout
    (kernel,) = porter("inspect", reduction, "--as", "simt", "--json").document["simt"]
    assert (kernel["kernel"], kernel["because"]) == ("sum", "")
    assert kernel["text"].rstrip() == done.stdout.rstrip()


def test_a_kernel_that_is_not_expressed_is_a_line_that_says_why(porter, tmp_path):
    path = tmp_path / "op.cu"
    path.write_text("__global__ void k(int* x) {\n  goto end;\nend:\n  *x = 1;\n}\n")
    done = porter("inspect", path, "--as", "simt")
    assert (done.code, done.stdout.strip()) == (
        0,
        "op.cu:2: the kernel 'k' is not expressed: text that is not read: 'goto' is not understood",
    )


def test_the_instance_of_a_template_can_be_asked_for(porter, tmp_path):
    path = tmp_path / "op.cu"
    path.write_text("template <typename T, int N> __global__ void k(T* x) { x[threadIdx.x] = T(N); }\n")
    done = porter("inspect", path, "--as", "simt", "--kernel", "k<double, 3>")
    assert 'kernel "k<double, 3>"(%x: ptr<f64, global> = 0)' in done.stdout
    assert "constant {value = 3.0} : f64" in done.stdout


def test_a_type_that_a_launcher_leaves_open_is_float(porter, tmp_path):
    path = tmp_path / "op.cu"
    launcher = (
        "template <typename T> void run(T* x, int n) { constexpr int w = 4; k<T, 2><<<n, 32>>>(x); j<w><<<n, 1>>>(); }"
    )
    kernels = (
        "template <typename T, int N> __global__ void k(T* x) { x[0] = N; }\ntemplate <int N> __global__ void j() {}\n"
    )
    path.write_text(kernels + launcher)
    done = porter("inspect", path, "--as", "simt")
    assert 'kernel "k<float, 2>"(%x: ptr<f32, global> = 0)' in done.stdout
    assert (
        "op.cu:2: the kernel 'j<w>' is not expressed: the template argument 'w' is known to its launcher" in done.stdout
    )
