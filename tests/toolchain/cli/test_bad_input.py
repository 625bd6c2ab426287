"""Sources that cannot be migrated, or do harm when executed: what is said, the exit code, and nothing is touched."""

from pathlib import Path

import pytest

GOOD = """\
__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

void launch_twice(const float* x, float* y, int n) { twice<<<(n + 127) / 128, 128>>>(x, y, n); }
"""

PROGRAM = """\
#include <cstdio>
#include <cstdlib>
#include <vector>
{includes}
__global__ void fill(int* x) {{ x[threadIdx.x] = threadIdx.x; }}
int main() {{
    int* x;
    cudaMalloc(&x, 64 * sizeof(int));
    fill<<<1, 64>>>(x);
    {harm}
    int last = 0;
    cudaMemcpy(&last, x + 63, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d\\n", last);
    return 0;
}}
"""


def snapshot(folder):
    """Every file of the user's, with its content."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files if "porter-out" not in path.parts}


def strays(cache):
    """Processes still running that were built into `cache`."""
    return [process for process in Path("/proc").iterdir() if executable(process).startswith(str(cache))]


def executable(process):
    """The path of what a process executes; empty where it has ended meanwhile, or may not be looked at."""
    try:
        return str((process / "exe").readlink())
    except OSError:
        return ""


@pytest.fixture
def migrate(porter, tmp_path):
    """Migrates, and asserts that whatever came of it the user's files are as they were."""

    def run(*arguments):
        before = snapshot(tmp_path)
        done = porter("migrate", *arguments, "--target", "maca")
        assert snapshot(tmp_path) == before
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("Dear all,\nthis is a letter.\n", "no CUDA"),
        ("int add(int a, int b) { return a + b; }\n", "no CUDA"),
        (b"\x7fELF\x02\x01\x01\x00\x00\x00\x00", "is a binary file"),
        ("", "is empty"),
    ],
    ids=["prose", "plain C++", "binary", "empty"],
)
def test_what_is_not_cuda_is_refused_as_input(migrate, write, tmp_path, content, complaint):
    done = migrate(write("op.cu", content))
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: op.cu: ")
    assert complaint in done.stderr
    assert not (tmp_path / "porter-out").exists()


def test_a_file_that_was_cut_off_is_refused_at_its_line(migrate, write, tmp_path):
    done = migrate(write("op.cu", GOOD[: GOOD.index("2.0f")]))
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: op.cu:1:56: syntax error: `{` is never closed: __global__ void twice(")
    assert not (tmp_path / "porter-out").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["gone.cu"], 2, "gone.cu: No such file or directory"),
        (["docs"], 2, "no CUDA source"),
        (["op.cu", "--kernel", "thrice"], 2, "thrice"),
        (["op.cu", "--size", "n=lots"], 2, "--size n=lots"),
        (["op.cu", "--arch", "C9"], 2, "unknown arch 'C9'"),
        (["op.cu", "--time-limit", "-1"], 2, "--time-limit"),
        (["op.cu", "--contract", "gone.toml"], 2, "gone.toml"),
        (["op.cu", "--contract", "docs/bad.toml"], 2, "docs/bad.toml:3"),
        (["op.cu", "--out", "op.cu"], 2, "op.cu is not a directory"),
    ],
)
def test_wrong_usage_is_named(migrate, write, arguments, code, complaint):
    write("op.cu", GOOD)
    write("docs/bad.toml", '[[contract]]\nname = "x"\ncolour = "red"\n')
    done = migrate(*arguments)
    assert (done.code, done.stdout) == (code, "")
    assert done.stderr.startswith("error: ")
    assert complaint in done.stderr
    in_json = migrate(*arguments, "--json")
    assert (in_json.code, in_json.stderr) == (code, "")
    assert complaint in in_json.document["error"]["message"] + in_json.document["error"]["hint"]


def test_an_unknown_target_names_the_known_ones(porter, write):
    done = porter("migrate", write("op.cu", GOOD), "--target", "roc")
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr == "error: unknown target 'roc'\n  hint: targets: maca, triton\n"


def test_a_machine_without_a_compiler_is_exit_code_3(porter, write, tmp_path):
    done = porter("migrate", write("op.cu", GOOD), "--target", "maca", PATH=str(tmp_path))
    assert (done.code, done.stdout) == (3, "")
    assert "g++" in done.stderr


def test_a_truncated_source_is_not_verified(migrate, write):
    done = migrate(write("op.cu", GOOD[: GOOD.index("y[i]")]), "--json")
    assert done.code in (1, 2)
    assert done.document.get("outcome", "refused") != "verified"


def test_a_missing_header_that_nothing_needs_is_named_with_its_line_and_taken_to_be_empty(migrate, write):
    done = migrate(write("op.cu", '#include "tools/vector_ops.h"\n' + GOOD))
    assert done.code == 0
    assert 'op.cu:1:1: warning: "tools/vector_ops.h" was not found' in done.stdout
    assert "tools/vector_ops.h treated as empty" in done.stdout.splitlines()[-1]


def test_a_missing_header_that_a_kernel_needs_is_named_with_its_line(migrate, write):
    needs = GOOD.replace("2.0f * x[i]", "doubled(x[i])")
    done = migrate(write("op.cu", '#include "tools/vector_ops.h"\n' + needs))
    assert done.code == 1
    assert 'op.cu:1:1: warning: "tools/vector_ops.h" was not found' in done.stdout


def test_a_kernel_that_loops_for_ever_is_stopped(migrate, write, cache):
    endless = GOOD.replace(
        "if (i < n) y[i] = 2.0f * x[i];", "volatile int go = 1; while (go) { y[i < n ? i : 0] = x[0]; }"
    )
    done = migrate(write("op.cu", endless), "--time-limit", "0.3", "--size", "n=64")
    assert done.code == 1
    assert "time limit" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("not verified: op.cu")
    assert strays(cache) == []


def test_what_is_not_proven_within_the_limit_is_said_and_the_rest_keeps_its_verdict(migrate, write, cache):
    endless = GOOD.replace("twice", "other").replace("if (i < n) y", "volatile int go = 1; while (go) y[0] = x[0]; y")
    done = migrate(write("op.cu", endless + GOOD), "--time-limit", "1000", "--limit", "16")
    assert done.code == 1
    assert "launch_twice: verified\n" in done.stdout
    assert "launch_other: not verified: the original is too slow here" in done.stdout
    assert strays(cache) == []


def test_writes_out_of_bounds_are_found_in_the_original(migrate, write):
    program = PROGRAM.format(includes="", harm="fill<<<1, 96>>>(x);")
    done = migrate(write("op.cu", program), "--json")
    assert (done.code, done.document["outcome"]) == (1, "not_verified")
    (line,) = (number for number, text in enumerate(program.splitlines(), 1) if "__global__" in text)
    assert line in [f["line"] for f in done.document["findings"] if f["code"].startswith("PORT4")]


@pytest.mark.parametrize(
    ("includes", "harm"),
    [
        ("#include <unistd.h>", "while (true) fork();"),
        ("", "std::vector<char*> kept; while (true) { kept.push_back(new char[1 << 24]()); }"),
        ("#include <fstream>", 'std::ofstream("precious.txt") << "gone";'),
        ("", 'remove("precious.txt");'),
        ("", 'if (system("touch created-by-the-kernel") != 0) exit(7);'),
        ("#include <csignal>\n#include <unistd.h>", "kill(getppid(), SIGKILL);"),
    ],
    ids=["forks", "fills memory", "overwrites", "removes", "runs a command", "kills its parent"],
)
def test_a_program_that_does_harm_is_kept_from_it(migrate, write, tmp_path, cache, includes, harm):
    write("precious.txt", "precious")
    done = migrate(write("op.cu", PROGRAM.format(includes=includes, harm=harm)), "--time-limit", "2", "--json")
    assert done.document["outcome"] in (
        ["verified"] if done.code == 0 else ["kernels_verified", "not_verified", "crashed"]
    )
    if "while (true)" in harm:  # its kernel may be right, the program as a whole never ended
        assert ("program", "verified") not in [(e["kind"], e["outcome"]) for e in done.document["entries"]]
    assert (tmp_path / "precious.txt").read_text() == "precious"
    assert not (tmp_path / "created-by-the-kernel").exists()
    assert strays(cache) == []


def test_outputs_that_were_edited_stay_unless_forced(migrate, write, tmp_path):
    write("op.cu", GOOD)
    assert migrate("op.cu").code == 0
    (port,) = (tmp_path / "porter-out").glob("op.maca.c*")
    port.write_text("// tuned by hand")
    done = migrate("op.cu")
    assert (done.code, done.stdout) == (2, "")
    assert f"{port.name} was changed since porter wrote it" in done.stderr
    assert port.read_text() == "// tuned by hand"
    assert migrate("op.cu", "--force").code == 0
    assert "twice" in port.read_text()
