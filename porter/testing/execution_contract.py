"""Tests what ports must do when they run: a test class to inherit beside `BackendContract`; it takes a C++ compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.backend import Backend
from porter.cache_folder import cache_folder
from porter.evaluate.judge.entries import Entries
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Verified
from porter.evaluate.problem.bench import bench
from porter.simt.compiler import missing_compiler
from porter.testing.backend_contract import SAMPLES, program_of
from porter.translation_unit import original_unit

_TIME_LIMIT_S = 20.0


class ExecutionContract:
    """Inherit this and override the fixture `backend`."""

    @pytest.fixture
    def cache(self) -> Path:
        """Returns the folder where builds are kept: the user's cache."""
        return cache_folder()

    @pytest.mark.parametrize("name", sorted(SAMPLES))
    def test_the_samples_run_and_agree_with_their_originals(self, backend: Backend, name: str, cache: Path) -> None:
        """`ready` executes the port of each sample, and the results are those of the CUDA source."""
        if because := missing_compiler():
            pytest.skip(because)
        program, target = program_of(name), backend.targets()[0]
        original, port = original_unit(program, (), ()), backend.port(program, (), target)
        options = MigrateOptions(backend.name, cache)
        with bench(cache, _TIME_LIMIT_S) as place, backend.ready(port, original, target, place) as ready:
            proofs = Entries(original, port, ready, place, options, None).proofs(lambda _: None)
        assert proofs, "the sample has an entry"
        for proof in proofs:
            assert isinstance(proof.entry.outcome, Verified), proof.entry.outcome
