"""Which classes may not be copied out of the function that makes them."""

import pytest

from porter.simt.owners import returns_owner

OWNER = "struct Buffer { float* p; explicit Buffer(int n); ~Buffer() { cudaFree(p); } };"
COPIED = "struct Buffer { float* p; Buffer(const Buffer& o); ~Buffer() { cudaFree(p); } };"
TEMPLATE = "template <class T> struct Buffer { T* p; ~Buffer() { cudaFree(p); } };"


@pytest.mark.parametrize(
    ("text", "returned"),
    [
        (f"{OWNER} Buffer made(int n) {{ Buffer b(n); return b; }}", True),
        (f"{OWNER} auto made(int n) {{ Buffer b(n); return b; }}", True),
        (f"{TEMPLATE} Buffer<float> made() {{ Buffer<float> b; return b; }}", True),
        (f"{OWNER} void f() {{ Buffer b(3); if (b.p) k<<<1, 32>>>(b.p); }}", False),
        (f"{COPIED} Buffer made(int n) {{ Buffer b(n); return b; }}", False),
        ("float4 made(int n) { float4 a; return a; }", False),
    ],
)
def test_a_function_that_returns_an_owner(text, returned):
    assert returns_owner([text]) is returned
