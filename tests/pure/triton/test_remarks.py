"""Assertions, traps and printing: what stays, what goes, and what the user is told."""

from pathlib import Path
from textwrap import dedent

from porter.contract.model.contract import Contract, Entry, EntryKind
from porter.source.headers import DiskHeaders
from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.port import lowered, port

ALONE = Contract("k", "other", Entry(EntryKind.KERNEL, "k"), (), (), (), (), {})


def ported(text):
    """The module, and its findings as code and message."""
    made = port(parse(Source(Path("op.cu"), dedent(text))), ())
    return made.files[0].text, [(f.code, f.message) for f in made.findings]


KERNEL = """\
__global__ void k(float* y, const int* t, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  %s
  y[i] = t[i];
}
void f(float* y, const int* t, int n) {
  %s
  k<<<(n + 127) / 128, 128>>>(y, t, n);
}
"""


def test_an_assertion_holds_for_the_threads_that_reach_it():
    text, findings = ported(KERNEL % ('assert(t[i] >= 0 && "no class");', ""))
    assert "    value = tl.load(t + i, mask=mask)\n    tl.device_assert((value >= 0) | ~mask, 'line 4')\n" in text
    assert findings == [("PORT1802", "an assertion is checked with TRITON_DEBUG=1 only (line 4)")]


def test_a_trap_is_an_assertion_that_fails():
    text, _ = ported(KERNEL % ("if (t[i] < 0) __trap();", ""))
    assert "mask_2 = mask & (value < 0)\n    tl.device_assert(~mask_2, 'a trap')\n" in text


def test_an_assertion_of_all_threads_has_no_mask():
    text, _ = ported("__global__ void k(float* y, int n) { assert(n > 0); y[threadIdx.x] = n; }")
    assert "tl.device_assert(n > 0, 'line 1')\n" in text


def test_an_assertion_known_to_hold_is_none():
    text, findings = ported(KERNEL % ("assert(sizeof(float) == 4);", ""))
    assert "device_assert" not in text
    assert not findings


def test_printing_of_a_kernel_goes_and_what_it_does_by_the_way_stays():
    text, findings = ported(KERNEL % ('printf("%d %d", i, n); printf("%f", y[i] = 2.0f);', ""))
    assert "tl.store(y + i, 2.0, mask=mask)" in text
    assert findings == [("PORT1803", "what it prints is left out (line 4)")]


def test_printing_of_a_launcher_is_told():
    text, findings = ported(KERNEL % ("", 'printf("%d", n);\n  std::cout << "n is " << n << std::endl;'))
    assert "print" not in text
    assert findings == [("PORT1803", "what it prints is left out (lines 8, 9)")]


def test_a_function_called_to_print_its_result_is_called():
    text, _ = ported("""
        __global__ void k(float* y) { y[threadIdx.x] = 1.0f; }
        int go(float* y) { k<<<1, 32>>>(y); return 3; }
        void f(float* y) { printf("%d", go(y)); }
    """)
    assert text.endswith("    go(y)\n")


def test_a_kernel_of_a_header_that_is_refused_is_no_crash(tmp_path):
    header = Source(tmp_path / "kernel.h", '__global__ void k(float* y) {\n  asm volatile("bra END;");\n}\n')
    (tmp_path / "kernel.h").write_text(header.text)
    text = '#include "kernel.h"\nvoid f(float* y) { k<<<1, 32>>>(y); }\n'
    program = parse(Source(tmp_path / "op.cu", text), headers=DiskHeaders(()))
    made = lowered(program, (header,), besides=(ALONE,)).port
    launchers, kernels = sorted(made.findings, key=lambda found: found.code, reverse=True)
    assert all("inline PTX" in found.message for found in made.findings)
    assert [found.code for found in (launchers, kernels)] == ["PORT1801", "PORT1800"]
    assert launchers.message.endswith("(kernel.h, line 2)")
    assert (kernels.source, kernels.span.line) == (header, 2)


def test_a_dtype_whose_kernel_is_refused_is_told():
    text, findings = ported("""
    template <typename T> __device__ T own(T x) { return x * x; }
    template <> __device__ __half own(__half x) { return nobodys(x); }
    template <typename T> __global__ void k(T* y, int n) {
      if (threadIdx.x < n) y[threadIdx.x] = own<T>(y[threadIdx.x]);
    }
    void f(torch::Tensor y) {
      AT_DISPATCH_FLOATING_TYPES_AND_HALF(y.scalar_type(), "k", [&] {
        k<scalar_t><<<1, 64>>>(y.data_ptr<scalar_t>(), (int)y.numel());
      });
    }
    """)
    assert 'raise NotImplementedError(f"not implemented for {y.dtype}")' in text
    told = "the port raises for float16: a call of 'nobodys', which is not known (line 3)"
    assert findings == [("PORT1804", told)]


def test_a_constant_that_only_main_fills_is_told_with_what_would_help():
    text = """
    __constant__ float taps[5];
    __global__ void k(float* y) { y[threadIdx.x] = taps[threadIdx.x % 5]; }
    int main() {
      float* y, t[5] = {};
      cudaMalloc(&y, 128);
      cudaMemcpyToSymbol(taps, t, sizeof t);
      k<<<1, 32>>>(y);
    }
    """
    program = parse(Source(Path("op.cu"), dedent(text)))
    (finding,) = lowered(program, (), besides=(ALONE,)).port.findings
    assert finding.code == "PORT1800"
    assert "nothing is known of what 'taps' holds" in finding.message
    assert "a function that copies to it and launches the kernel would be" in finding.message
