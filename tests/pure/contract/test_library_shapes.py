"""Shapes that torch's operators demand of the tensors that host code hands them, and kernels of their accessors."""

import pytest

from tests.pure.contract.draft_sources import drafted

KERNEL = """
__global__ void k(const float* x, float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }
"""


def shapes(parameters, body):
    """Returns the shapes of the tensors that a function of this body takes."""
    taken = ", ".join(f"torch::Tensor {name}" for name in parameters.split())
    (contract,) = drafted(f"""{KERNEL}
    torch::Tensor run({taken}) {{
        {body}
        auto y = torch::empty_like(out);
        k<<<1, 64>>>(out.data_ptr<float>(), y.data_ptr<float>(), out.numel());
        return y;
    }}""")
    return {tensor.name: tensor.shape for tensor in contract.tensors}


def test_factors_have_as_many_columns_as_rows():
    found = shapes("a b", "auto out = torch::mm(a, b.t());")
    assert found["a"][1] == found["b"][1]
    assert len({*found["a"], *found["b"]}) == 3


def test_what_is_joined_is_as_long_together():
    found = shapes(
        "x h w bias",
        """auto rows = h.size(0), state = h.size(1);
        auto gates = torch::addmm(bias, torch::cat({h, x}, 1), w.transpose(0, 1));
        auto out = gates.view({rows, 3, state});""",
    )
    assert found["h"] == ("rows", "state")
    assert found["x"][0] == "rows"
    assert found["w"] == ("3 * state", f"state + {found['x'][1]}")
    assert found["bias"] == ("3 * state",)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("auto out = torch::bmm(a, b);", ((0, 1, 2), (0, 2, 3))),
        ("auto out = torch::matmul(a.t(), b.t());", ((0, 1), (2, 0))),
        ("auto out = torch::linear(a.flatten(1, 1), b); auto t = a.t();", ((0, 1), (2, 1))),
        ("auto s = a.mm(b).sum(1, true); auto out = s;", ((0, 1), (1, 2))),
        ("auto c = torch::cat({a, b}); auto out = c.t();", ((0, 1), (2, 1))),
    ],
)
def test_equal_extents_share_a_symbol(body, expected):
    found = shapes("a b", body)
    order = list(dict.fromkeys((*found["a"], *found["b"])))
    assert tuple(tuple(map(order.index, found[name])) for name in "ab") == expected


def test_a_name_that_is_given_twice_says_nothing():
    found = shapes("a b", "auto c = a; c = b; auto out = torch::mm(c, b);")
    assert len({*found["b"]}) == len(found["b"]) == 2


ACCESSORS = """
template <typename T>
__global__ void cell(const torch::PackedTensorAccessor32<T, 3> gates, const torch::PackedTensorAccessor32<T, 2> old,
                     torch::PackedTensorAccessor32<T, 2> y) {
    const int n = blockIdx.y;
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < gates.size(2)) y[n][c] = gates[n][0][c] + gates[n][2][c] * old[n][c];
}
torch::Tensor run(torch::Tensor gates, torch::Tensor old) {
    auto y = torch::zeros_like(old);
    const dim3 blocks((old.size(1) + 63) / 64, old.size(0));
    AT_DISPATCH_FLOATING_TYPES(old.scalar_type(), "cell", ([&] {
        cell<scalar_t><<<blocks, 64>>>(gates.packed_accessor32<scalar_t, 3>(), old.packed_accessor32<scalar_t, 2>(),
                                       y.packed_accessor32<scalar_t, 2>());
    }));
    return y;
}
"""


def test_an_axis_that_numbers_index_is_as_long_as_these_need():
    (contract,) = drafted(ACCESSORS)
    gates, old = (tensor.shape for tensor in contract.tensors)
    assert gates[1] == "3"
    assert len({gates[0], gates[2], *old}) == 4, "a variable that indexes two axes does not make them one size"


def test_an_axis_that_a_variable_indexes_too_has_a_size_of_its_own():
    (contract,) = drafted(ACCESSORS.replace("gates[n][2][c]", "gates[n][c][c]"))
    assert contract.tensors[0].shape[1] not in ("1", "3")
