"""Tests what every backend must do. A backend's own tests inherit the class:

from porter.testing.backend_contract import BackendContract

class TestAcme(BackendContract):
    @pytest.fixture
    def backend(self):
        return AcmeBackend()
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from porter.backend import Backend, Port
from porter.diagnostics.findings import Severity
from porter.evolve.axis import inside
from porter.source.parse import parse
from porter.source.program import Program
from porter.source_text import Source

ELEMENTWISE = """\
#include <cuda_runtime.h>

// Adds two vectors.
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

extern "C" void launch_add(const float* a, const float* b, float* c, int n, cudaStream_t stream) {
    add<<<(n + 255) / 256, 256, 0, stream>>>(a, b, c, n);
}
"""

REDUCTION = """\
#include <cuda_runtime.h>

__global__ void sum(const float* x, float* y, int n) {
    __shared__ float partial[32];
    float value = threadIdx.x < n ? x[threadIdx.x] : 0.0f;
    for (int offset = 16; offset > 0; offset >>= 1) value += __shfl_down_sync(0xffffffff, value, offset);
    if ((threadIdx.x & 31) == 0) partial[threadIdx.x >> 5] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < blockDim.x / 32; ++warp) value += partial[warp];
        *y = value;
    }
}

void launch_sum(const float* x, float* y, int n) { sum<<<1, 1024>>>(x, y, n); }
"""

SAMPLES = {"elementwise.cu": ELEMENTWISE, "reduction.cu": REDUCTION}


def program_of(name: str) -> Program:
    """The sample `name`, parsed."""
    return parse(Source(Path(name), SAMPLES[name]))


class BackendContract:
    """Inherit this and override the fixture `backend`."""

    @pytest.fixture
    def backend(self) -> Backend:
        """The backend under test."""
        raise NotImplementedError("override the fixture `backend` and return an instance of yours")

    @pytest.fixture(params=sorted(SAMPLES))
    def program(self, request: pytest.FixtureRequest) -> Program:
        """A small CUDA source; override to add your own."""
        return program_of(request.param)

    def test_its_name_can_be_typed(self, backend: Backend) -> None:
        """`--target NAME` must not need quoting."""
        assert backend.name.isidentifier()
        assert backend.name == backend.name.lower()

    def test_its_targets_are_told_apart_and_have_sizes(self, backend: Backend) -> None:
        """The first target is the default; `--arch` picks by name, whatever the case."""
        targets = backend.targets()
        assert targets, "a backend knows at least one target"
        archs = [target.arch.lower() for target in targets]
        assert len(set(archs)) == len(archs)
        for target in targets:
            assert target.backend == backend.name
            assert target.description
            assert target.warp_size in (32, 64), "the executor runs warps of 32 or 64 lanes"
            assert min(target.shared_bytes, target.max_threads, target.registers) > 0

    def test_a_probe_gives_its_reason(self, backend: Backend) -> None:
        """`because` becomes a skip message, a row of `porter doctor` and an error: it may not be empty."""
        can = backend.probe()
        assert can.because or (can.compile and can.run)
        assert can == backend.probe()

    def test_its_findings_have_codes_of_portability_and_explanations(self, backend: Backend) -> None:
        """Codes are stable, unique, and lie in 1xxx."""
        entries = backend.catalogue()
        codes = [entry.code for entry in entries]
        assert len(set(codes)) == len(codes)
        for entry in entries:
            assert entry.code.startswith("PORT1")
            assert len(entry.code) == len("PORT1007")
            assert entry.title
            assert entry.explanation

    def test_its_brief_is_about_the_target(self, backend: Backend) -> None:
        """It stands in every prompt: it names the device and its sizes, and leaves room for programs."""
        for target in backend.targets():
            text = backend.brief(target)
            assert target.description in text
            assert str(target.warp_size) in text
            assert str(target.shared_bytes) in text
            assert "orbidden" in text
            assert len(text) < 10_000
            assert text == backend.brief(target)

    def test_a_port_has_files_with_plain_names(self, backend: Backend, program: Program) -> None:
        """Names are relative to the output folder and never those of the source."""
        for port in self._ports(backend, program):
            names = [PurePosixPath(file.name) for file in port.files]
            assert names
            assert len(set(names)) == len(names)
            for name, file in zip(names, port.files, strict=True):
                assert not name.is_absolute()
                assert ".." not in name.parts
                assert name != PurePosixPath(program.source.path.name)
                assert name.suffix in backend.suffixes, "porter verify knows the language of a port by its name"
                assert file.text.strip()

    def test_its_findings_are_in_its_catalogue_and_lie_in_the_source(self, backend: Backend, program: Program) -> None:
        """A code that cannot be explained, or a span outside the text, cannot be shown."""
        known = {entry.code for entry in backend.catalogue()}
        for port in self._ports(backend, program):
            for finding in port.findings:
                assert finding.code in known
                assert finding.message
                assert finding.span is None or 0 <= finding.span.start <= finding.span.end <= len(program.source.text)

    def test_knobs_that_are_not_turned_leave_the_files_alone(self, backend: Backend, program: Program) -> None:
        """A search begins at the port itself, and only a knob that the text has changes it."""
        for target in backend.targets():
            files = backend.port(program, (), target).files
            knobs = backend.knobs(files, target)
            assert len({knob.name for knob in knobs}) == len(knobs)
            assert backend.tuned(files, {knob.name: knob.default for knob in knobs}, target) == files
            assert backend.tuned(files, {"a knob that nothing has": 1}, target) is None

    def test_turned_files_keep_their_names(self, backend: Backend, program: Program) -> None:
        """Each value of each knob gives the same files again, or says that it does not go with them."""
        target = backend.targets()[0]
        files = backend.port(program, (), target).files
        for knob in backend.knobs(files, target):
            for value in knob.values:
                tuned = backend.tuned(files, {knob.name: value}, target)
                assert tuned == backend.tuned(files, {knob.name: value}, target)
                assert tuned is None or [file.name for file in tuned] == [file.name for file in files]

    def test_its_rules_say_what_they_did_and_change_something(self, backend: Backend, program: Program) -> None:
        """A rewrite that changes nothing is no candidate, and one that has no name cannot be told apart in a report."""
        for port in self._ports(backend, program):
            for one in backend.rewrites(port.files):
                assert one.rule
                assert one.where
                assert [file.name for file in one.files] == [file.name for file in port.files]
                assert [file.text for file in one.files] != [file.text for file in port.files]

    def test_its_features_lie_on_its_axes(self, backend: Backend, program: Program) -> None:
        """A coordinate outside of the archive's axes is a candidate without a place."""
        for port in self._ports(backend, program):
            assert inside(backend.features(port.files), backend.axes())
            garbled = tuple(replace(file, text="{ no language") for file in port.files)
            assert inside(backend.features(garbled), backend.axes())

    def test_the_samples_port_whole(self, backend: Backend, program: Program) -> None:
        """Nothing in them is beyond a device with warps, shared memory and barriers."""
        for port in self._ports(backend, program):
            assert not [finding for finding in port.findings if finding.severity is Severity.ERROR]

    def test_porting_is_deterministic_and_leaves_the_program_alone(self, backend: Backend, program: Program) -> None:
        """The same source gives the same port, byte for byte."""
        before = replace(program)
        assert self._ports(backend, program) == self._ports(backend, program)
        assert program == before

    def test_compile_says_nothing_where_there_is_no_compiler(
        self, backend: Backend, program: Program, tmp_path: Path
    ) -> None:
        """Without a toolchain there is no finding; with one the samples build."""
        for target in backend.targets():
            port = backend.port(program, (), target)
            assert backend.compile(port, target, tmp_path) is None

    @staticmethod
    def _ports(backend: Backend, program: Program) -> list[Port]:
        return [backend.port(program, (), target) for target in backend.targets()]
