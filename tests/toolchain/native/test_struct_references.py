"""Structs that an entry takes by a reference: what the wrapper makes lives as long as the call."""

from __future__ import annotations

import subprocess
from pathlib import Path

from porter.contract.model.contract import Entry, EntryKind
from porter.contract.model.dtype import DType
from porter.execution.job import Callee, Job
from porter.native.entries import Entries
from porter.native.requests import LibraryEntry
from porter.native.wrappers import wrapped
from porter.source.parse import parse
from porter.source_text import Source
from porter.translation_unit import original_unit

# Without a kernel, so that no device is needed.
SOURCE = """\
#include <cuda_runtime.h>
struct Params { int n; cudaStream_t stream; long by; };
long total(Params& p, int more) { return p.stream == nullptr ? p.n * p.by + more : -1; }
long of_constant(const Params& p, int more) { return p.n + more; }
"""
NO_ERROR = """\
int cudaGetLastError(void) { return 0; }
const char* cudaGetErrorString(int error) { return ""; }
"""


def test_a_struct_is_made_for_a_reference(nvcc, cache):
    side = original_unit(parse(Source(Path("op.cu"), SOURCE)), (), ())
    functions = {f.name: tuple(p.type for p in f.params) for f in side.program.host_functions}
    fields = (("n", "stream", "by"), ())
    callees = [Callee(Entry(EntryKind.POINTER, name), types, fields) for name, types in functions.items()]
    text, runtime, made = (cache / name for name in ("references.cpp", "no_error.c", "references.so"))
    text.write_text(wrapped(side, callees, module=False))
    runtime.write_text(NO_ERROR)
    flags = ["-std=c++17", "-w", "-shared", "-Xcompiler", "-fPIC", "-cudart", "none"]
    subprocess.run([nvcc.command, *flags, str(text), str(runtime), "-o", str(made)], check=True)
    entries = Entries()
    for index, expected in enumerate((3 * 5 + 2, 3 + 2)):
        entry = LibraryEntry(str(made), f"porter_entry_{index}", DType.INT64)
        assert entries.call(entry, Job())((3, 0, 5, 2)) == expected
