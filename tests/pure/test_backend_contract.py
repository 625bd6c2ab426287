"""The conformance tests vendors inherit: they hold for the backends here, and fail for ones that break the rules."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from porter.backend import Availability, Port, PortedFile, Target
from porter.diagnostics.findings import CatalogueEntry, Effort, Finding, Severity
from porter.dialect import CUDA
from porter.evaluate.judge.ported import emulated
from porter.evolve.features import AXES
from porter.evolve.space import AS_IS, Knob
from porter.testing.backend_contract import BackendContract, program_of
from porter_maca import MacaBackend
from porter_triton import TritonBackend

TARGET = Target("fake", "F1", "A device that is not there", 32, 49152, 1024, 65536, True, True, True, True)


class FakeBackend:
    """Ports by renaming the file; each field can be made wrong."""

    name = "fake"
    dialect = CUDA
    suffixes = (".cpp",)

    def __init__(self, *, targets=(TARGET,), because="no device", file_name="port.cpp", code="PORT1901"):
        self._targets = targets
        self._because = because
        self._file_name = file_name
        self._code = code
        self.ported = 0

    def targets(self):
        return self._targets

    def probe(self):
        return Availability(compile=False, run=False, because=self._because)

    def catalogue(self):
        return (CatalogueEntry("PORT1901", "Ported", Severity.NOTE, Effort.NONE, "It was ported. All is well."),)

    def brief(self, target):
        return (
            f"{target.description}: {target.warp_size} lanes, {target.shared_bytes} bytes shared. Forbidden: nothing."
        )

    def port(self, program, headers, target):
        self.ported += 1
        finding = Finding(self._code, Severity.NOTE, f"for {target.arch}", program.kernels[0].span)
        return Port((PortedFile(self._file_name, program.source.text, program.source),), (finding,))

    def knobs(self, files, target):
        return (Knob("unroll", (AS_IS, 2), AS_IS),)

    def tuned(self, files, point, target):
        if set(point) - {"unroll"}:
            return None
        return files if point.get("unroll", AS_IS) == AS_IS else (replace(files[0], text=f"// 2\n{files[0].text}"),)

    def rewrites(self, files):
        return ()

    def axes(self):
        return AXES

    def features(self, files):
        return (0, 0, 0)

    def cost(self, port, original, contract, workload, target, bench):
        return "no model"

    def ready(self, port, original, target, bench, *, is_trusted=True):
        return nullcontext(emulated(port, original, target, bench, is_trusted=is_trusted))

    def compile(self, port, target, workdir):
        return None


class TestFakeBackend(BackendContract):
    @pytest.fixture
    def backend(self):
        return FakeBackend()


class TestMacaBackend(BackendContract):
    @pytest.fixture
    def backend(self):
        return MacaBackend(Path("no-sdk-here"))


class TestTritonBackend(BackendContract):
    @pytest.fixture
    def backend(self):
        return TritonBackend()


RULES = BackendContract()


@pytest.mark.parametrize(
    "targets", [(), (TARGET, TARGET), (replace(TARGET, backend="other"),), (replace(TARGET, warp_size=16),)]
)
def test_a_backend_with_wrong_targets_does_not_conform(targets):
    with pytest.raises(AssertionError):
        RULES.test_its_targets_are_told_apart_and_have_sizes(FakeBackend(targets=targets))


def test_a_probe_without_a_reason_does_not_conform():
    with pytest.raises(AssertionError):
        RULES.test_a_probe_gives_its_reason(FakeBackend(because=""))


@pytest.mark.parametrize("file_name", ["/etc/port.cpp", "../port.cpp", "reduction.cu"])
def test_a_port_that_leaves_its_folder_or_is_named_like_its_source_does_not_conform(file_name):
    with pytest.raises(AssertionError):
        RULES.test_a_port_has_files_with_plain_names(FakeBackend(file_name=file_name), program_of("reduction.cu"))


def test_a_finding_nothing_explains_does_not_conform():
    rule = RULES.test_its_findings_are_in_its_catalogue_and_lie_in_the_source
    with pytest.raises(AssertionError):
        rule(FakeBackend(code="PORT1902"), program_of("reduction.cu"))


def test_a_port_that_differs_from_one_time_to_the_next_does_not_conform():
    class Fickle(FakeBackend):
        def port(self, program, headers, target):
            self._file_name = f"port{self.ported}.cpp"
            return super().port(program, headers, target)

    with pytest.raises(AssertionError):
        RULES.test_porting_is_deterministic_and_leaves_the_program_alone(Fickle(), program_of("reduction.cu"))
