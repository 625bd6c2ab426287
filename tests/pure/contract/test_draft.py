"""Drafts say what the source says."""

from pathlib import Path

import pytest

from porter.contract.analysis.usage import Usage
from porter.contract.infer.entries import launching
from porter.contract.model.contract import EntryKind, Role, ScalarArg, Values
from porter.contract.model.dtype import DType
from porter.contract.model.questions import unknown_bounds, unknown_values
from porter.errors import UsageError
from porter.source.parse import parse
from porter.source_text import Source
from tests.pure.contract.draft_sources import BARE, LAUNCHER, TORCH, drafted


def test_torch_host_code_names_ranks_extents_and_conditions():
    (contract,) = drafted(TORCH)
    assert contract.entry.kind is EntryKind.TORCH
    x, w = contract.tensors
    assert x.shape == ("B", "N")
    assert w.shape == ("N",)
    assert "N % 4 == 0" in contract.conditions
    assert contract.questions == ()
    assert contract.arguments[2].value == "1e-5"
    assert {work.sizes["N"] % 4 for work in contract.workloads} == {0}


def test_what_a_callee_demands_of_tensors_is_known():
    inner = TORCH.replace("torch::Tensor weigh(torch::Tensor x, torch::Tensor w,", "Tensor inner(Tensor x, Tensor w,")
    outer = "Tensor weigh(Tensor a, Tensor b, double eps) { return inner(a, b, eps); } PYBIND"
    (contract,) = drafted(inner.replace("PYBIND", outer, 1))
    assert [t.shape for t in contract.tensors] == [("B", "N"), ("N",)]


@pytest.mark.parametrize("axis", ["-1", "x.dim() - 1", "x.ndimension() - 1"])
def test_the_last_axis_is_known_however_it_is_written(axis):
    (contract,) = drafted(TORCH.replace("const int N = x.size(1)", f"const int N = x.size({axis})"))
    assert contract.tensors[0].shape == ("B", "N")


def test_a_tensor_has_axes_around_the_one_that_its_caller_chooses():
    (contract,) = drafted(
        TORCH.replace("double eps", "int64_t dim")
        .replace('TORCH_CHECK(x.dim() == 2, "2-D");', "")
        .replace("x.size(1)", "x.size(dim)")
    )
    x, _ = contract.tensors
    (dim,) = [a for a in contract.arguments if isinstance(a, ScalarArg)]
    assert dim.value == "1"
    assert x.shape == ("B", "N", "x_size2")


def test_a_pointer_launcher_knows_blocks_streams_and_indices():
    (contract,) = drafted(LAUNCHER)
    assert contract.entry.kind is EntryKind.POINTER
    values = {a.name: getattr(a, "value", "") for a in contract.arguments}
    assert values["block_size"] == "256"
    assert values["stream"] == "0"
    out, ids, table = contract.tensors
    assert (out.role, ids.role, table.role) == (Role.OUT, Role.IN, Role.IN)
    assert ids.dtype is DType.INT32
    assert ids.values is Values.INDEX
    assert [t.name for t in unknown_bounds(contract)] == ["ids"]
    assert contract.symbols == ("n", "C")


def test_a_benchmark_that_takes_and_gives_nothing_is_looked_past():
    (contract,) = drafted(
        BARE
        + """
        void run(const float* x, float* y, int n) { scale<<<(n + 255) / 256, 256>>>(x, y, 2, n); }
        void benchmark() { float *x, *y; run(x, y, 100000000); }
        int main() { benchmark(); }
        """,
        whole_program=False,
    )
    assert contract.name == "run"


@pytest.mark.parametrize("head", ["void all(int argc, char** argv)", "int all(int argc, char *argv[])"])
def test_a_part_of_a_program_that_is_handed_its_words_is_looked_past(head):
    (contract,) = drafted(
        BARE
        + f"""
        {head} {{ float *x, *y; int n = atoi(argv[1]); scale<<<(n + 255) / 256, 256>>>(x, y, 2, n); }}
        int main(int argc, char** argv) {{ all(argc, argv); }}
        """,
        whole_program=False,
    )
    assert (contract.name, contract.entry.kind) == ("scale", EntryKind.KERNEL)


def test_main_makes_one_program():
    (contract,) = drafted(LAUNCHER + "\nint main() { run_gather(0, 0, 0, 1, 1, 256, 0); return 0; }")
    assert contract.entry.kind is EntryKind.PROGRAM
    assert contract.arguments == ()


def test_a_kernel_no_host_entry_reaches_gets_its_own_contract():
    names = {c.name: c.entry.kind for c in drafted(LAUNCHER + BARE)}
    assert names == {"run_gather": EntryKind.POINTER, "scale": EntryKind.KERNEL}


def test_kernels_can_be_chosen_and_must_exist():
    (contract,) = drafted(LAUNCHER + BARE, kernels=("scale",))
    assert contract.name == "scale"
    with pytest.raises(UsageError, match="no kernel 'nope'"):
        drafted(BARE, kernels=("nope",))


def test_a_chosen_kernel_of_an_extension_is_seen_through_the_function_bound_for_it():
    (contract,) = drafted(TORCH, kernels=("rows",))
    assert contract.name == "weigh"


def test_given_sizes_are_used():
    (contract,) = drafted(BARE, sizes={"n": 77})
    assert {w.sizes["n"] for w in contract.workloads} == {77}


@pytest.mark.parametrize("text", ["", "int f() { return 1; }", "__device__ float f(float x) { return x; }"])
def test_a_file_without_kernels_has_no_contract(text):
    assert drafted(text) == ()


def test_a_launcher_may_reach_its_kernel_through_a_header():
    header = Source(
        Path("op.h"),
        "__global__ void scale(float* x, int n) { x[threadIdx.x] *= 2; }\n"
        "template <class T> void dispatch(T* x, int n) { scale<<<1, n>>>(x, n); }\n",
    )
    text = '#include "op.h"\nvoid run(float* x, int n) { dispatch<float>(x, n); }'
    assert [c.name for c in drafted(text, headers=(header,))] == ["run"]


def test_a_kernel_of_a_header_is_behind_the_main_that_launches_it():
    text = """
        __global__ void scale(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }
        __global__ void unused(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 3; }
    """
    header = Source(Path("op.cuh"), text)
    main = '#include "op.cuh"\nint main() { float* x; cudaMalloc(&x, 128); scale<<<1, 32>>>(x, 32); }'
    assert [c.name for c in drafted(main, headers=(header,))] == ["main"]
    assert [c.name for c in drafted(main, headers=(header,), whole_program=False)] == ["scale"]


def test_a_binding_that_calls_its_overload_in_an_included_source_leads_to_the_launch():
    launcher = Source(
        Path("kernels.cu"),
        "__global__ void k(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }\n"
        "void twice(float* x, int n) { k<<<1, 256>>>(x, n); }\n",
    )
    text = """
#include <torch/extension.h>
#include "kernels.cu"
void twice(torch::Tensor x) { twice(x.data_ptr<float>(), x.numel()); }
"""
    (contract,) = drafted(text, headers=(launcher,))
    assert (contract.name, contract.entry.kind) == ("twice", EntryKind.TORCH)


MEMBERS = """
template <typename F> __global__ void apply(F f, float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = f(1.0f); }
template <typename F, int N> struct Launch {
    void operator()(F f, float* x, int n) { apply<<<1, N>>>(f, x, n); }
};
template <typename F> void run(F f, float* x, int n) { Launch<F, 256>()(f, x, n); }
"""


def test_a_member_needs_an_object_and_is_no_entry_but_leads_to_the_launch():
    (run,) = drafted(MEMBERS)
    assert (run.name, [q.about for q in unknown_values(run)]) == ("run", ["f"])
    without = MEMBERS[: MEMBERS.index("template <typename F> void run")]
    assert [(c.name, c.entry.kind) for c in drafted(without)] == [("apply", EntryKind.KERNEL)]


def test_a_launcher_that_only_members_call_is_an_entry():
    kernel = "__global__ void k(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 1; }"
    launch = "static void launch(float* x, int n) { k<<<1, 64>>>(x, n); }"
    plugin = "struct Plugin { int n; void enqueue(void** x) { launch((float*)x[0], n); } };"
    assert [c.name for c in drafted(f"{kernel} {launch} {plugin}")] == ["launch"]
    run = "void run(float* x) { Plugin p{64}; void* all[] = {x}; p.enqueue(all); }"
    assert [c.name for c in drafted(f"{kernel} {launch} {plugin} {run}")] == ["run"]


@pytest.mark.parametrize(
    ("name", "loop", "category"),
    [
        ("k", "for (int j = i; j < n; j += 4) y[j] = tanhf(x[j]);", "activation"),
        ("k", "for (int j = i; j < n; j += 4) y[j] += x[j];", "other"),
        ("k", "float s = 0; for (int j = 0; j < n; j++) s += x[i * n + j]; y[i] = s;", "reduction"),
        ("row_mean", "float s = 0; for (int j = 0; j < n; j++) s += sqrtf(x[i * n + j]); y[i] = s;", "reduction"),
        ("k", "float s = 0; for (int j = 0; j < n; j++) s += x[i * n + j]; y[i] = rsqrtf(s);", "norm"),
    ],
)
def test_the_category_is_told_by_what_is_added_up_not_by_the_step_of_a_loop(name, loop, category):
    text = f"__global__ void {name}(const float* x, float* y, int n) {{ int i = threadIdx.x; {loop} }}"
    (contract,) = drafted(text)
    assert contract.category == category


def test_a_tensor_has_as_many_axes_as_it_has_to_have_at_least():
    text = TORCH.replace('TORCH_CHECK(x.dim() == 2, "2-D")', 'TORCH_CHECK(x.dim() >= 3, "planes")')
    (contract,) = drafted(text)
    assert len(contract.tensors[0].shape) == 3


HEADER = Source(Path("op.cuh"), BARE + "inline void run(float* x, float* y) { scale<<<1, 1>>>(x, y, 1, 1); }\n")


@pytest.mark.parametrize("beside", ["", "inline int half(int n) { return n / 2; }\n"])
def test_the_kernels_of_its_headers_are_those_of_a_file_without_any(beside):
    text = '#include "op.cuh"\n' + beside
    assert [c.name for c in drafted(text, headers=(HEADER,))] == ["scale"]
    usage = Usage(parse(Source(Path("op.cu"), text)), (HEADER,))
    assert [f.name for f in launching(usage, "scale")] == ["run"]


def test_a_kernel_of_a_header_that_a_file_with_kernels_does_not_use_is_none_of_its():
    own = "__global__ void own(float* y) { y[0] = 1; }\nvoid go(float* y) { own<<<1, 1>>>(y); }\n"
    assert [c.name for c in drafted('#include "op.cuh"\n' + own, headers=(HEADER,))] == ["go"]


LAYER = """
struct Blob { float* data; int count; };
#define DECLARE(name) class Fast##name##Layer { public: void forward(Blob* blob); }
DECLARE(Twice);
__global__ void twice(float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] *= 2; }
"""


def test_a_member_of_a_class_that_a_macro_makes_is_no_entry():
    text = f"{LAYER}void FastTwiceLayer::forward(Blob* blob) {{ twice<<<1, 64>>>(blob->data, blob->count); }}"
    assert [c.entry.name for c in drafted(text)] == ["twice"]


def test_a_function_of_a_namespace_is_an_entry_though_a_macro_makes_classes():
    text = f"""{LAYER}
    namespace Layers {{ void forward(float* y, int n); }}
    void Layers::forward(float* y, int n) {{ twice<<<1, 64>>>(y, n); }}"""
    assert [c.entry.name for c in drafted(text)] == ["Layers::forward"]


def test_what_a_macro_of_a_header_checks_is_a_condition():
    checks = '#define CHECK_INPUT(x) AT_ASSERTM(x, "Input mismatch")\n'
    (contract,) = drafted(
        '#include "checks.h"\n'
        + TORCH.replace('TORCH_CHECK(w.size(0) == x.size(1), "width")', "CHECK_INPUT(w.size(0) == x.size(1))"),
        headers=(Source(Path("checks.h"), checks),),
    )
    x, w = contract.tensors
    assert w.shape == x.shape[1:]


def test_a_tensor_as_large_as_another_has_its_rank():
    (contract,) = drafted("""
    template <class T> __global__ void clear(torch::PackedTensorAccessor32<T, 3> y) { y[0][0][threadIdx.x] = 1; }
    torch::Tensor run(torch::Tensor model) {
        auto made = torch::zeros_like(model);
        AT_DISPATCH_FLOATING_TYPES(model.scalar_type(), "run", ([&] {
            clear<scalar_t><<<1, 32>>>(made.packed_accessor32<scalar_t, 3>());
        }));
        return made;
    }""")
    assert len(contract.tensors[0].shape) == 3


def test_the_rank_of_a_tensor_is_not_that_of_what_it_is_reshaped_to():
    text = """
    __global__ void k(const torch::PackedTensorAccessor32<float, 1> x, int n) {}
    void f(torch::Tensor x) {
      int rows = x.size(0), cols = x.size(1);
      auto flat = x.reshape({-1});
      k<<<rows, 64>>>(flat.packed_accessor32<float, 1>(), rows * cols);
    }
    """
    (contract,) = drafted(text)
    assert contract.tensors[0].shape == ("rows", "cols")
