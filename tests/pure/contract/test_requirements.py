"""What host code refuses is a condition of its contract."""

from pathlib import Path

import pytest

from porter.contract.infer.draft import draft
from porter.source.parse import parse
from porter.source_text import Source

BARE = """
__global__ void scale(const float* x, float* y, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}
"""


def drafted(text):
    return draft(parse(Source(Path("op.cu"), text)))


@pytest.mark.parametrize(
    ("threads", "conditions"),
    [("n", ("n == 32 || n == 64",)), ("n / 4", ("n / 4 == 32 || n / 4 == 64", "n % 4 == 0"))],
)
def test_a_switch_that_refuses_other_values_is_a_condition(threads, conditions):
    (contract,) = drafted(
        f"""
        template <int THREADS> __global__ void copy(float* out, const float* in) {{
            out[blockIdx.x * THREADS + threadIdx.x] = in[blockIdx.x * THREADS + threadIdx.x];
        }}
        void run(float* out, const float* in, int rows, int n) {{
            const int threads = {threads};
            switch (threads) {{
                case 32: copy<32><<<rows, 32>>>(out, in); break;
                case 64: copy<64><<<rows, 64>>>(out, in); break;
                default: throw std::runtime_error("threads");
            }}
        }}
        """
    )
    assert contract.conditions == conditions
    chosen = {w.sizes["n"] for w in contract.workloads}
    assert chosen
    assert chosen <= {32, 64, 128, 256}


def test_a_switch_that_takes_other_values_is_no_condition():
    (contract,) = drafted(
        """
        __global__ void copy(float* out, const float* in) { out[threadIdx.x] = in[threadIdx.x]; }
        void run(float* out, const float* in, int n) {
            switch (n) {
                case 32: copy<<<1, 32>>>(out, in); break;
                default: copy<<<1, 1>>>(out, in);
            }
        }
        """
    )
    assert contract.conditions == ()


def test_to_complain_and_leave_is_to_refuse():
    (contract,) = drafted(
        BARE + 'void run(const float* x, float* y, int n) { if (n % 2 != 0) { printf("odd"); return; } '
        "scale<<<n / 256 + 1, 256>>>(x, y, 2.0f, n); }"
    )
    assert "n % 2 == 0" in contract.conditions


@pytest.mark.parametrize(
    ("answer", "refuses"),
    [
        ("return false;", True),
        ("{ return -1; }", True),
        ("return cudaErrorInvalidValue;", True),
        ("return op::Status::kUnsupported;", True),
        ("return nullptr;", True),
        ("return 0;", False),
        ("return true;", False),
        ("return cudaSuccess;", False),
        ("return cudaGetLastError();", False),
        ("{ scale_few(x, y, n); return false; }", False),  # another way to do the work
    ],
)
def test_to_give_failure_back_is_to_refuse(answer, refuses):
    (contract,) = drafted(
        BARE + f"auto run(const float* x, float* y, int n) {{ if (n % 2 != 0) {answer} "
        "scale<<<n / 256 + 1, 256>>>(x, y, 2.0f, n); return {}; }"
    )
    assert ("n % 2 == 0" in contract.conditions) is refuses


@pytest.mark.parametrize("refused", ["n % 4", "n & 3", "(n & 3) != 0", "n % 4 != 0", "!(n % 4 == 0)"])
def test_multiples_may_be_asked_for_by_bits_and_remainders(refused):
    (contract,) = drafted(
        f"{BARE} int run(float* x, int n) {{ if ({refused}) return -1; scale<<<1, n>>>(x, x, 2, n); }}"
    )
    assert "n % 4 == 0" in contract.conditions


@pytest.mark.parametrize("check", ['(void)"whole tiles", n % 4 == 0', '("whole tiles", (n % 4 == 0))', "n % 4 == 0"])
def test_an_assertion_that_says_its_message_demands_its_condition(check):
    (contract,) = drafted(f"""{BARE}
        void run(const float* x, float* y, int n) {{
            assert(({check}));
            scale<<<(n + 255) / 256, 256>>>(x, y, 2.f, n);
        }}""")
    assert contract.conditions == ("n % 4 == 0",)


@pytest.mark.parametrize(
    ("check", "condition"),
    [("CHECK_EQ(n % 4, 0)", "n % 4 == 0"), ("TORCH_CHECK_LE(n, 64)", "n <= 64"), ("TORCH_CHECK_GT(n, 8)", "n > 8")],
)
def test_a_check_that_compares_is_a_condition(check, condition):
    launcher = f"void f(const float* x, float* y, int n) {{ {check}; scale<<<n / 64 + 1, 64>>>(x, y, 2.f, n); }}"
    (contract,) = drafted(BARE + launcher)
    assert condition in contract.conditions


ASSERTED = """
__global__ void move(const int n, const torch::PackedTensorAccessor32<float, 3, torch::RestrictPtrTraits> flow,
                     torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits> out, int wide) {{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {{
        const int b = i / out.size(1), w = i % out.size(1);
        assert({condition});
        out[b][w] = flow[b][0][w] + flow[b][1][w];
    }}
}}
torch::Tensor run(const torch::Tensor& flow) {{
    auto out = torch::zeros({{flow.size(0), flow.size(2)}}, flow.options());
    move<<<4, 256>>>(out.numel(), flow.packed_accessor32<float, 3, torch::RestrictPtrTraits>(),
                     out.packed_accessor32<float, 2, torch::RestrictPtrTraits>(), flow.size(2));
    return out;
}}
"""


def test_what_a_kernel_asserts_of_what_it_is_handed_is_a_condition_of_its_launcher():
    (contract,) = drafted(ASSERTED.format(condition="flow.size(1) == 2 && wide % 4 == 0"))
    (flow,) = contract.tensors
    assert flow.shape[1] == "2"
    assert contract.conditions == (f"{flow.shape[2]} % 4 == 0",)
    assert contract.workloads


@pytest.mark.parametrize(
    "before",
    ["if (wide > 8) ", "if (n > 4) { out[0][0] = 1; } else ", "if (wide > 64) return; ", "while (wide > 3) "],
)
def test_what_a_kernel_asserts_of_some_calls_alone_is_no_condition(before):
    text = ASSERTED.format(condition="wide % 4 == 0").replace("assert(", f"{before}assert(")
    (contract,) = drafted(text)
    assert contract.conditions == ()


def test_a_thread_that_leaves_before_makes_no_assertion_one_of_some_calls():
    text = ASSERTED.format(condition="wide % 4 == 0").replace("assert(", "if (w >= 3) return; assert(")
    (contract,) = drafted(text)
    assert len(contract.conditions) == 1


@pytest.mark.parametrize("condition", ["w < flow.size(2)", "(wide -= 4) < 8 && wide % 4 == 0"])
def test_what_a_kernel_asserts_of_a_thread_or_of_what_it_sets_is_no_condition(condition):
    (contract,) = drafted(ASSERTED.format(condition=condition))
    assert contract.conditions == ()
