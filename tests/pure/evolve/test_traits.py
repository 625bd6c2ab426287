"""By which traits an archive tells candidates apart."""

from pathlib import Path

import pytest

from porter.backend import PortedFile
from porter.errors import UsageError
from porter.evolve.axis import inside
from porter.evolve.candidate import File
from porter.evolve.scored import Measure, Score
from porter.evolve.traits import KERNEL_SMITH, MECHANISM, preset_of, traits
from porter.registry import find_backend
from porter.source_text import Source

SEED = (File("a.py", "x + " * 50),)


def files(length):
    return (PortedFile("a.py", "x + " * (length // 2), Source(Path("a.py"), "")),)


def score(factor):
    return Score(Measure.MODELLED, factor, factor, factor)


@pytest.mark.parametrize(
    ("length", "factor", "labels"),
    [
        (100, 1.0, ("0.95-1.05", "1-1.25")),
        (50, 0.4, ("<0.8", "<0.5")),
        (200, 3.0, ("1.6-2.5", "2-4")),
        (1000, None, (">2.5", "<0.5")),
    ],
)
def test_kernel_smiths_axes_are_the_length_over_the_seeds_and_the_score(length, factor, labels):
    found = traits(KERNEL_SMITH, find_backend("triton"), SEED)
    cell = found.cell(files(length), factor and score(factor))
    assert tuple(axis.labels[at] for axis, at in zip(found.axes, cell, strict=True)) == labels
    assert inside(cell, found.axes)
    assert [axis.name for axis in found.axes] == ["complexity", "score"]


def test_without_a_choice_programs_are_told_apart_by_how_they_work():
    backend = find_backend("triton")
    found = traits(MECHANISM, backend, SEED)
    assert found.axes == backend.axes()
    assert found.cell(files(10), score(2.0)) == backend.features(files(10))


def test_a_journal_names_its_preset_by_the_axes_it_has():
    for name in (MECHANISM, KERNEL_SMITH):
        assert preset_of(traits(name, find_backend("triton"), SEED).axes) == name


def test_other_axes_are_refused():
    with pytest.raises(UsageError, match="--axes colour: there are no such axes"):
        traits("colour", find_backend("triton"), SEED)
