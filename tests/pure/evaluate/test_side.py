"""The sides of a comparison: what a source and its port define."""

from pathlib import Path

from porter.backend import Port, PortedFile
from porter.contract.model.contract import Entry, EntryKind
from porter.dialect import CUDA
from porter.source.parse import parse
from porter.source_text import Source
from porter.translation_unit import original_unit, ported_unit
from porter_maca import MacaBackend

HEADER = '#define EACH(NAME) extern "C" __global__ void NAME(float* x) { x[threadIdx.x] = 1; }\n'


def test_a_port_has_the_kernels_that_macros_of_its_headers_define():
    header = Source(Path("each.cuh"), HEADER)
    text = '#include "each.cuh"\nEACH(ones)\n'
    program = parse(Source(Path("op.cu"), text), headers=lambda *_: header)
    original = original_unit(program, (), ())
    ported = PortedFile("each.maca.cuh", HEADER, header)
    port = Port((PortedFile("op.maca.cpp", text.replace("each.cuh", "each.maca.cuh"), program.source), ported), ())
    named = ported_unit(port, original, CUDA).named(Entry(EntryKind.KERNEL, "ones"))
    assert [f.name for f in named] == ["ones"]


def test_kernels_behind_a_capability_are_found_in_the_port():
    text = """
    #if __CUDA_ARCH__ >= 800
    __global__ void modern(float* x) { x[threadIdx.x] = 1; }
    #endif
    #ifdef __CUDA_ARCH__
    __global__ void device_only(float* x) { x[threadIdx.x] = 2; }
    #endif"""
    program = parse(Source(Path("op.cu"), text))
    backend = MacaBackend()
    side = ported_unit(backend.port(program, (), backend.targets()[0]), original_unit(program, (), ()), backend.dialect)
    assert [len(side.named(Entry(EntryKind.KERNEL, name))) for name in ("modern", "device_only")] == [1, 1]


def test_kernels_of_headers_behind_the_compilers_macro_are_found_in_the_port():
    text = """
    #ifdef __CUDACC__
    namespace ops {
    template <typename Op>
    __global__ void each(int n, float* x) { if (threadIdx.x < n) x[threadIdx.x] = Op::map(x[threadIdx.x]); }
    }
    #endif"""
    header = Source(Path("each.cuh"), text)
    program = parse(Source(Path("op.cu"), '#include "each.cuh"\n'), headers=lambda *_: header)
    backend = MacaBackend()
    original = original_unit(program, (), ())
    side = ported_unit(backend.port(program, (header,), backend.targets()[0]), original, backend.dialect)
    assert "__CUDACC__" not in side.headers[0][1].text
    assert [f.qualified for f in side.named(Entry(EntryKind.KERNEL, "ops::each"))] == ["ops::each"]
