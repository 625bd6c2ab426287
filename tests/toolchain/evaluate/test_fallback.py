"""Where an entry cannot be run, what stands behind it is proven; where it is wrong, that is the verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.backend import Follow
from porter.cli.attempt import Migrated, exit_code
from porter.evaluate.migrate import migrate
from porter.evaluate.model.migration import MigrateOptions, Migration
from porter.evaluate.model.outcome import KernelsVerified, NotVerified, Refused, Verified
from porter.simt.compiler import missing_compiler

KERNELS = """
#include <cstdio>
#include <cstdlib>
void other_file(int line);
static int* table;
__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
__global__ void thrice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 3 * x[i];
}
__global__ void raced(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[0] = x[i];
}
"""
LAUNCHERS = """
void misses(const float* x, float* y, int n) {
    twice<<<(n + 255) / 256, 256>>>(x, y, n);
    other_file(__LINE__);
}
void refuses(const float* x, float* y, int n) {
    if (table == nullptr) exit(1);
    twice<<<(n + 255) / 256, 256>>>(x, y, n);
    thrice<<<(n + 255) / 256, 256>>>(x, y, n);
}
void races(const float* x, float* y, int n) { raced<<<(n + 255) / 256, 256>>>(x, y, n); }
"""
READS_A_FILE = """
void refuses(const float* x, float* y, int n) {
    if (table == nullptr) exit(1);
    twice<<<(n + 255) / 256, 256>>>(x, y, n);
}
void spare(const float* x, float* y, int n) {
    if (table == nullptr) exit(1);
    thrice<<<(n + 255) / 256, 256>>>(x, y, n);
}
int main() {
    char first = fgetc(fopen("weights.bin", "rb"));
    float* x;
    cudaMalloc(&x, first);
    refuses(x, x, first);
}
"""
NOT_IN_PYTHON = """
struct Factor { Factor(int a) : by(a) {} int by; };
__global__ void scaled(const float* x, float* y, Factor f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = f.by * x[i];
}
void asks(const float* x, float* y, int n) {
    goto launch;
launch:
    twice<<<(n + 255) / 256, 256>>>(x, y, n);
    scaled<<<(n + 255) / 256, 256>>>(x, y, Factor(3), n);
}
"""
HANDS_OVER_AN_OBJECT = """
#include <cstdio>
template <typename T> struct Square { __device__ T operator()(T x) const { return x * x; } };
template <typename F, typename T> __global__ void each(F f, T* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = f(x[i]);
}
template <typename F, typename T> void apply(F f, T* x, int n) { each<<<(n + 255) / 256, 256>>>(f, x, n); }
int main() {
    float* x;
    cudaMalloc(&x, fgetc(fopen("weights.bin", "rb")));
    apply(Square<float>(), x, 4);
}
"""
WANTS_ARGUMENTS = """
#include <cstdio>
#include <cstring>
__global__ void last(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[0] = x[i];
}
int main(int count, char** words) {
    if (count < 2) { printf("usage: %s WORD\\n", words[0]); return 0; }
    float* x;
    cudaMalloc(&x, 4 * (int)strlen(words[1]));
    last<<<1, 4>>>(x, x, (int)strlen(words[1]));
}
"""
WAITS_FOR_THE_GRID = """
#include <cooperative_groups.h>
__global__ void turned(float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2.0f;
    cooperative_groups::this_grid().sync();
    if (i < n) y[i] = x[n - 1 - i];
}
void turn(float* x, float* y, int n) {
    void* arguments[] = {&x, &y, &n};
    cudaLaunchCooperativeKernel((void*)turned, dim3((n + 127) / 128), dim3(128), arguments);
}
"""
RACES = """
void launch(const float* x, float* y, int n) { twice<<<(n + 255) / 256, 256>>>(x, y, n); }
int main() {
    float values[4] = {1, 2, 3, 4}, *x;
    cudaMalloc(&x, sizeof values);
    cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
    launch(x, x, 4);
    raced<<<1, 4>>>(x, x, 4);
    abort();
}
"""


@pytest.fixture
def migrated(build_cache, tmp_path):
    if missing_compiler():
        pytest.skip(missing_compiler())

    def migrate_text(text: str, target: str = "maca", **options: object) -> Migration:
        path: Path = tmp_path / "op.cu"
        path.write_text(text)
        cache = build_cache
        (migration,) = migrate(path, MigrateOptions(target, cache, **options), lambda _: None)
        return migration

    return migrate_text


def outcomes(migration: Migration) -> dict[str, object]:
    return {entry.contract.name: entry.outcome for entry in migration.entries}


def test_kernels_stand_for_launchers_that_cannot_be_run(migrated):
    migration = migrated(KERNELS + LAUNCHERS)
    proven = outcomes(migration)
    assert list(proven) == ["races", "twice", "thrice"]
    assert isinstance(proven["twice"], KernelsVerified)
    assert proven["twice"].caveat == ("misses itself was not compared; refuses itself was not compared")
    assert isinstance(proven["thrice"], KernelsVerified)
    assert "misses" not in proven["thrice"].caveat
    reasons = [finding.message for finding in migration.findings if finding.code == "PORT5001"]
    assert any(r.startswith("misses:") and "`other_file(int)` is defined in no file" in r for r in reasons)
    assert any(r.startswith("refuses:") and "the program called exit(1)" in r for r in reasons)


def test_what_running_showed_to_be_wrong_is_not_passed_over(migrated):
    assert "race" in outcomes(migrated(KERNELS + LAUNCHERS, kernels=("raced",)))["races"].because
    proven = outcomes(migrated(KERNELS + RACES))
    assert list(proven) == ["main", "thrice"]
    assert isinstance(proven["main"], NotVerified)
    assert "race in raced" in proven["main"].because


def test_a_program_goes_down_to_its_launchers_and_on_to_their_kernels(migrated):
    proven = outcomes(migrated(KERNELS + READS_A_FILE))
    assert list(proven) == ["raced", "twice", "thrice"]
    for kernel, launcher in (("twice", "refuses"), ("thrice", "spare")):
        assert proven[kernel].caveat == (f"{launcher} itself was not compared; main itself was not compared")


def test_kernels_of_a_header_stand_for_the_program_that_launches_them(migrated, tmp_path):
    (tmp_path / "kernels.cuh").write_text(KERNELS)
    program = """
    #include "kernels.cuh"
    int main() {
        float* x;
        cudaMalloc(&x, fgetc(fopen("weights.bin", "rb")));
        twice<<<1, 4>>>(x, x, 4);
    }
    """
    proven = outcomes(migrated(program))
    assert list(proven) == ["twice"]
    assert isinstance(proven["twice"], KernelsVerified)
    assert proven["twice"].caveat == "main itself was not compared"
    assert [entry.kernels for entry in migrated(program).entries] == [("twice",)]


def test_a_kernel_that_another_entry_launched_is_not_proven_again(migrated):
    runs = "void runs(const float* x, float* y, int n) { twice<<<(n + 255) / 256, 256>>>(x, y, n); }"
    fails = "void fails(const float* x, float* y, int n) { twice<<<1, n>>>(x, y, n); exit(1); }"
    proven = outcomes(migrated(KERNELS + runs + fails))
    assert set(proven) == {"runs", "thrice", "raced"}
    assert isinstance(proven["runs"], Verified)
    assert proven["runs"].caveat == "fails itself was not compared"


FALLS = "void falls(const float* x, float* y, int n) { twice<<<(n + 255) / 256, 256>>>(x, y, n); exit(1); }"
RUNS = "void runs(const float* x, float* y, int n) { twice<<<(n + 255) / 256, 256>>>(x, y, n); }"


@pytest.mark.parametrize(
    ("launcher", "kernels", "expected", "code"),
    [(FALLS, (), KernelsVerified, 1), (FALLS, ("twice",), Verified, 0), (RUNS, (), Verified, 0)],
)
def test_a_kernel_without_its_launcher_is_no_success_unless_it_is_asked_for(
    migrated, launcher, kernels, expected, code
):
    twice = KERNELS[: KERNELS.index("__global__ void thrice")]
    migration = migrated(twice + launcher, kernels=kernels)
    assert isinstance(migration.outcome, expected)
    assert exit_code([Migrated(migration, ())]) == code


def test_a_kernel_that_only_a_member_launches_is_no_success(migrated):
    layer = "struct Layer { void forward(float* x, int n) { twice<<<(n + 127) / 128, 128>>>(x, x + n, n); } };"
    kernels = KERNELS[: KERNELS.index("__global__ void thrice")]
    (entry,) = migrated(kernels + layer).entries
    assert isinstance(entry.outcome, KernelsVerified)
    assert entry.outcome.caveat == "Layer::forward itself has no contract and was not compared"
    (asked,) = migrated(kernels + layer, kernels=("twice",)).entries
    assert isinstance(asked.outcome, Verified)
    (alone,) = migrated(kernels).entries
    assert isinstance(alone.outcome, Verified)


def test_only_chosen_kernels_stand_for_a_launcher(migrated):
    assert list(outcomes(migrated(KERNELS + LAUNCHERS, kernels=("thrice",)))) == ["thrice"]


def test_kernels_are_proven_without_the_host_functions_that_do_not_build(migrated):
    missing = "#include <nowhere.h>\nvoid check(library_t status) {}\n"
    (outcome,) = outcomes(migrated(missing + KERNELS + LAUNCHERS, kernels=("thrice",))).values()
    assert isinstance(outcome, Verified)
    assert outcome.caveat == (
        "unused functions that do not build here (nowhere.h: No such file or directory), "
        "were left out, and nowhere.h treated as empty; refuses itself was not compared"
    )


def test_a_namespace_of_a_header_that_is_not_there_is_no_obstacle(migrated):
    using = "#include <nowhere.h>\nusing namespace library::detail;\nusing namespace std;\n"
    (outcome,) = outcomes(migrated(using + KERNELS + LAUNCHERS, kernels=("thrice",))).values()
    assert isinstance(outcome, Verified)
    assert "nowhere.h treated as empty" in outcome.caveat


def test_a_namespace_that_nobody_opens_is_an_error_where_every_header_is_there(migrated):
    (outcome,) = outcomes(migrated("using namespace library;\n" + KERNELS, kernels=("thrice",))).values()
    assert isinstance(outcome, NotVerified)
    assert "is not a namespace-name" in outcome.because


def test_a_program_that_wants_arguments_does_not_hide_what_its_kernels_do(migrated):
    migration = migrated(WANTS_ARGUMENTS)
    found = outcomes(migration)
    assert found.keys() == {"last", "main"}
    assert found["main"].because.startswith(
        "the program launches no kernel when it is run without arguments; it says: us"
    )
    # Both accesses have their lines.
    assert "race in last at line 6: " in migration.outcome.because
    assert "writes it in line 6 with nothing that orders the two" in migration.outcome.because


def test_what_is_not_modelled_is_not_held_against_the_source(migrated):
    migration = migrated(WAITS_FOR_THE_GRID)
    because = migration.outcome.because
    assert because.startswith("the original does not run here: not executed here in ")
    assert "at line 6: grid-wide synchronisation over several blocks is not modelled" in because


@pytest.mark.parametrize(("most", "blamed"), [(128, False), (2, True)])
def test_an_array_that_some_sizes_fit_into_is_not_held_against_the_source(migrated, most, blamed):
    """A window of 1,031 elements was porter's choice; one of five, the least there is, is beyond an array of two."""
    windowed = """
    __global__ void windowed(const float* x, float* y, int n, int width) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        float window[MOST];
        if (i >= n) return;
        for (int k = 0; k < width; ++k) window[k] = x[i * width + k];
        float least = window[0];
        for (int k = 1; k < width; ++k) least = fminf(least, window[k]);
        y[i] = least;
    }
    void run(const float* x, float* y, int n, int width) { windowed<<<(n + 127) / 128, 128>>>(x, y, n, width); }
    """
    (outcome,) = outcomes(migrated(windowed.replace("MOST", str(most)))).values()
    if blamed:
        assert isinstance(outcome, NotVerified)
        assert "is unreliable" in outcome.because
        assert f"of an array of type 'float [{most}]'" in outcome.because
    else:
        assert isinstance(outcome, Verified)
        assert f"only with width <= {most}" in outcome.caveat


def test_a_launcher_is_given_the_function_object_that_main_hands_it(migrated):
    (entry,) = migrated(HANDS_OVER_AN_OBJECT).entries
    assert (entry.contract.name, entry.contract.entry.template) == ("apply", ("Square<float>", "float"))
    assert isinstance(entry.outcome, Verified), entry.outcome


def test_kernels_behind_a_launcher_that_was_not_ported_have_a_verdict_besides(migrated):
    migration = migrated(f"{KERNELS}{NOT_IN_PYTHON}", target="triton")
    proven = outcomes(migration)
    assert set(proven) == {"asks", "twice", "thrice", "raced"}
    assert isinstance(proven["asks"], Refused)
    assert isinstance(proven["twice"], KernelsVerified)
    (left_out,) = [f.message for f in migration.findings if f.code == "PORT5004"]
    assert left_out.startswith("scaled: the contract is open: 'f' has the type Factor")
    assert isinstance(migration.outcome, Refused)  # nobody knows what `scaled` does


NO_FORM_IN_PYTHON = """
__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
void asks(const float* x, float* y, int n) {
    goto launch;
launch:
    twice<<<(n + 255) / 256, 256>>>(x, y, n);
}
"""


def test_a_source_is_what_its_kernels_are_where_all_of_a_refused_launcher_s_stand(migrated):
    migration = migrated(NO_FORM_IN_PYTHON, target="triton", follow=Follow.KERNELS)
    assert isinstance(outcomes(migration)["asks"], Refused)
    assert isinstance(migration.outcome, KernelsVerified)
    assert "asks itself was not ported: " in migration.outcome.caveat
    asked = migrated(NO_FORM_IN_PYTHON, target="triton", kernels=("twice",), follow=Follow.KERNELS).outcome
    assert isinstance(asked, Verified)
    assert "asks itself was not ported: " in asked.caveat


def test_a_launcher_that_is_refused_line_by_line_is_written_from_its_formula(migrated):
    migration = migrated(NO_FORM_IN_PYTHON, target="triton")
    assert isinstance(outcomes(migration)["asks"], Verified)
    assert migration.followed is not None
    assert migration.followed.what is Follow.FORMULA
