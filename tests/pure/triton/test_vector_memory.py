"""Vectors that own memory in launchers: those of Thrust are tensors, and assigned by copies."""

import pytest

from porter_triton.refusal import Refusal
from tests.pure.triton.host_sources import body


def test_vectors_of_thrust_are_tensors():
    found = body("""
        thrust::device_vector<float> held(n, 1.5f), more(m);
        thrust::host_vector<int> first(4);
        add<<<1, 64>>>(thrust::raw_pointer_cast(held.data()), x, n);
        add<<<1, 64>>>(thrust::raw_pointer_cast(&more[0]), held.data().get(), held.size());
        first[1] = 3;
        add<<<first[1], 64>>>(y, x, n);""")
    lines = found.split("\n")
    assert lines[:3] == [
        "held = torch.full((n,), 1.5, dtype=torch.float32, device=y.device)",
        "more = torch.zeros(m, dtype=torch.float32, device=y.device)",
        "first = torch.zeros(4, dtype=torch.int32)",
    ]
    assert "add[(1,)](held, x, n, BLOCK_SIZE=64" in found
    assert "add[(1,)](more, held, held.numel(), BLOCK_SIZE=64" in found


@pytest.mark.parametrize(
    ("declared", "line"),
    [
        ("thrust::device_vector<float> d = h;", "d = h.to(y.device, copy=True)"),
        ("thrust::device_vector<float> d(h);", "d = h.to(y.device, copy=True)"),
        ("thrust::device_vector<float> d(m); d = h;", "d = h.to(y.device, copy=True)"),
        ("thrust::host_vector<float> d = h;", 'd = h.to("cpu", copy=True)'),
    ],
)
def test_a_vector_that_is_made_of_another_has_memory_of_its_own(declared, line):
    found = body(f"thrust::host_vector<float> h(n); {declared} h[0] = 7.f; scale<<<1, 64>>>(y, x, d[0], n);")
    assert line in found.split("\n")


def test_vectors_of_other_things_are_refused():
    with pytest.raises(Refusal, match="of what is no number has no counterpart"):
        body("thrust::device_vector<std::string> names(n); add<<<1, 64>>>(y, x, names.size());")
