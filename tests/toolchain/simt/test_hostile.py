"""Programs that would harm: they end in time, touch nothing, start nothing, and the reason is told."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from porter.contract.model.contract import EntryKind
from porter.execution.job import FaultKind, Job, Limits
from porter.report.machine import _landlock_abi
from porter.simt.run import run as run_executable

# Far from what these programs need: whatever ends one is not the clock of a busy machine.
LIMITS = Limits(wall_s=60, cpu_s=60, memory_bytes=128 << 20, file_bytes=1 << 20)
PROGRAM = {"name": "main", "kind": EntryKind.PROGRAM, "limits": LIMITS}


def program(body: str, *headers: str) -> str:
    includes = "\n".join(f"#include <{h}>" for h in ("cstdio", "cstdlib", *headers))
    return f"{includes}\nint main() {{\n{body}\n}}"


def kinds(run) -> set[FaultKind]:
    return {f.kind for f in run.faults}


def test_fork_bomb_starts_nothing(execute):
    run = execute(program("for (;;) fork();", "unistd.h"), **PROGRAM)
    assert not run.finished
    fault = next(f for f in run.faults if f.kind is FaultKind.RESOURCE)
    assert fault.message == "starting a process is not allowed"
    assert fault.line == 5


@pytest.mark.parametrize(
    ("body", "header", "message"),
    [
        ('execl("/bin/sh", "sh", "-c", "true", (char*)0);', "unistd.h", "running a program"),
        ("socket(AF_INET, SOCK_STREAM, 0);", "sys/socket.h", "using the network"),
        ("kill(getppid(), SIGTERM); kill(-1, SIGTERM);", "csignal", "touching another process"),
        ("rlimit l{1ul << 60, 1ul << 60}; setrlimit(RLIMIT_AS, &l);", "sys/resource.h", "changing its own limits"),
        ("ptrace(PTRACE_ATTACH, getppid(), 0, 0);", "sys/ptrace.h", "touching another process"),
    ],
)
def test_refused_calls_are_told_and_do_nothing(execute, body, header, message):
    run = execute(program(body + ' printf("alive");', header, "unistd.h"), **PROGRAM)
    assert run.finished
    assert run.stdout == "alive"
    assert any(f.kind is FaultKind.RESOURCE and f.message.startswith(message) for f in run.faults), run.faults


def test_a_shell_command_ends_the_program(execute):
    run = execute(program('return std::system("true");'), **PROGRAM)
    assert not run.finished
    assert kinds(run) == {FaultKind.RESOURCE}


@pytest.mark.parametrize("call", ['fopen({path}, "w")', "std::remove({path})", 'std::rename({path}, "x")'])
def test_files_elsewhere_stay_as_they_are(execute, tmp_path, call):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    run = execute(program(call.replace("{path}", f'"{victim}"') + ";"), **PROGRAM)
    assert victim.read_text() == "precious"
    assert any(f.kind is FaultKind.RESOURCE and "victim" in f.message for f in run.faults), run.faults


@pytest.mark.skipif(not _landlock_abi(), reason="the system has no Landlock")
@pytest.mark.parametrize("place", ["{path}", "/proc/{parent}/cmdline"])
def test_files_elsewhere_and_other_processes_are_not_read(execute, tmp_path, place):
    (path := tmp_path / "of_others.cu").write_text("x")
    told = place.format(path=path, parent=os.getpid())
    body = f'return (fopen("{told}", "r") != nullptr) + 2 * (opendir("{path.parent}") != nullptr);'
    run = execute(f"#include <dirent.h>\n{program(body)}", **PROGRAM)
    assert (run.finished, run.exit_code) == (True, 0)


def test_files_in_the_work_directory_may_be_written(execute):
    run = execute(
        program('FILE* f = fopen("out.txt", "w"); fputs("x", f); fclose(f); return remove("out.txt");'), **PROGRAM
    )
    assert run.finished
    assert run.exit_code == 0
    assert not run.faults


def test_a_static_constructor_is_confined_too(execute, tmp_path):
    victim = tmp_path / "victim"
    text = f'#include <cstdio>\nstruct Early {{ Early() {{ fopen("{victim}", "w"); }} }} early;\n' + "int main() {}"
    run = execute(text, **PROGRAM)
    assert not victim.exists()
    assert FaultKind.RESOURCE in kinds(run)


@pytest.mark.parametrize("take", ["new char[1 << 20]", "malloc(1 << 20)"])
def test_memory_filling_ends_at_the_limit(execute, take):
    run = execute(
        program(f"for (;;) {{ auto p = (volatile char*){take}; for (int i = 0; i < 1 << 20; i += 4096) p[i] = 1; }}"),
        **PROGRAM,
    )
    assert not run.finished
    assert kinds(run) == {FaultKind.RESOURCE}


def test_device_memory_is_bounded(execute):
    body = "void* p; int n = 0; while (cudaMalloc(&p, 1 << 20) == cudaSuccess) ++n; return n > 128;"
    run = execute(program(body), **PROGRAM)
    assert run.exit_code == 0


def test_a_null_pointer_that_a_refused_allocation_left_is_no_crash_of_the_program(execute):
    kernel = "__global__ void clear(float* x) { x[threadIdx.x] = 0; }\n"
    body = "float* x = nullptr; cudaMalloc(&x, 1 << 30); clear<<<1, 32>>>(x);"
    run = execute(kernel + program(body), **PROGRAM)
    assert kinds(run) == {FaultKind.RESOURCE}
    assert "1073741824 bytes of device memory were refused" in run.faults[0].message


def test_a_program_that_ends_for_want_of_memory_says_what_was_refused(execute):
    body = 'float* x; if (cudaMalloc(&x, 1 << 30) != cudaSuccess) { puts("no memory"); exit(1); }'
    run = execute(program(body), **PROGRAM)
    assert kinds(run) == {FaultKind.RESOURCE}
    assert "1073741824 bytes of device memory were refused" in run.faults[0].message


def test_huge_output_ends_at_the_file_limit(execute):
    run = execute(program('for (;;) puts("spam spam spam spam");'), **PROGRAM)
    assert not run.finished
    assert kinds(run) == {FaultKind.RESOURCE}
    assert len(run.stdout) <= LIMITS.file_bytes


def test_a_host_that_hears_no_signal_ends_by_its_processor_time(execute):
    body = "sigset_t all; sigfillset(&all); sigprocmask(SIG_SETMASK, &all, nullptr); for (;;) {}"
    run = execute(program(body, "csignal"), name="main", kind=EntryKind.PROGRAM, limits=Limits(cpu_s=0.5))
    assert not run.finished
    assert kinds(run) == {FaultKind.TIMEOUT}
    assert run.seconds > 0.5


def test_a_host_that_waits_for_ever_is_ended(execute):
    body = "int ends[2]; char c; return pipe(ends) + read(ends[0], &c, 1);"
    run = execute(program(body, "unistd.h"), name="main", kind=EntryKind.PROGRAM, limits=Limits(wall_s=1))
    assert not run.finished
    assert [(f.kind, f.message) for f in run.faults] == [
        (FaultKind.TIMEOUT, "the time limit is reached, most of it by waiting")
    ]


def test_threads_of_a_killed_program_die_with_it(execute):
    body = 'printf("%d", getpid()); fflush(stdout); std::thread t([] { for (;;) {} }); for (;;) {}'
    run = execute(program(body, "thread", "unistd.h"), name="main", kind=EntryKind.PROGRAM, limits=Limits(cpu_s=1))
    assert kinds(run) == {FaultKind.TIMEOUT}
    assert not Path("/proc", run.stdout).exists()


def test_time_and_chance_repeat(execute):
    body = """
    std::random_device r;
    timespec t; clock_gettime(CLOCK_MONOTONIC, &t);
    srand(time(nullptr));
    long long now = std::chrono::steady_clock::now().time_since_epoch().count();
    printf("%ld %ld %u %d %p %lld", (long)t.tv_sec, (long)t.tv_nsec, r(), rand(), malloc(10), now);"""
    texts = {execute(program(body, "random", "ctime", "chrono"), **PROGRAM).stdout for _ in range(3)}
    assert len(texts) == 1


@pytest.mark.parametrize("allocate", ["cudaMalloc", "cudaMallocManaged", "cudaMallocHost"])
def test_a_program_gives_output_exit_code_and_buffers(execute, allocate):
    text = """
    #include <cstdio>
    __global__ void k(int* x) { x[threadIdx.x] += threadIdx.x; }
    int main(int argc, char** argv) {
        int* x;
        ALLOCATE(&x, 16);
        cudaMemset(x, 0, 16);
        for (int i = 0; i < 2; ++i) k<<<1, 4>>>(x);
        printf("%d launches", argc + 1);
        std::fflush(stdout);
        return 3;
    }"""
    run = execute(text.replace("ALLOCATE", allocate), **PROGRAM)
    assert run.finished
    assert run.exit_code == 3
    assert run.stdout == "2 launches"
    got = [s[0].view(np.int32).tolist() for s in run.snapshots]
    assert got == [[0, 1, 2, 3], [0, 2, 4, 6]]


def test_main_without_return_and_exit_in_the_middle(execute):
    assert execute("int main() { }", **PROGRAM).exit_code == 0
    assert execute("#include <cstdlib>\nint main() { exit(4); }", **PROGRAM).exit_code == 4


def test_exit_from_an_entry_is_a_fault(execute):
    run = execute("#include <cstdlib>\nvoid f() { exit(0); }", [], name="f", kind=EntryKind.POINTER)
    assert not run.finished
    assert kinds(run) == {FaultKind.HOST_CHECK}


def test_a_program_that_leaves_no_result_is_a_crash(build_text):
    built = build_text("#include <unistd.h>\nint main() { _exit(0); }", "main", EntryKind.PROGRAM)
    result = run_executable(built, Job(), LIMITS)
    assert not result.finished
    assert kinds(result) == {FaultKind.CRASH}
    assert Path(built.path).exists()
