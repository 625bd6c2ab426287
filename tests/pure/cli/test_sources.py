"""Which sources a command line names."""

import os
from pathlib import Path

import pytest

from porter.cli.options import parse_sizes
from porter.cli.sources import NamedSource, named_sources
from porter.errors import InputError, UsageError
from porter.report.migration.outputs import write_outputs


@pytest.fixture
def tree(tmp_path):
    for name in ("b.cu", "ops/a.cu", "ops/deep/c.cu", "ops/notes.md", "empty/readme.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    return tmp_path


def test_a_directory_is_all_the_cuda_below_it_with_its_subfolders(tree):
    assert named_sources([tree]) == (
        NamedSource(tree / "b.cu", Path()),
        NamedSource(tree / "ops/a.cu", Path("ops")),
        NamedSource(tree / "ops/deep/c.cu", Path("ops/deep")),
    )


def test_ports_of_an_earlier_migration_are_no_sources(tree):
    before = named_sources([tree])
    write_outputs({tree / "porter-out" / "ops" / "a.maca.cu": "port"}, tree / "porter-out", [], force=False)
    assert named_sources([tree]) == before


def test_a_file_is_taken_as_named_and_counts_once(tree):
    notes = tree / "ops/notes.md"
    assert named_sources([notes, notes]) == (NamedSource(notes),)


def test_a_directory_without_cuda_is_named(tree):
    with pytest.raises(InputError, match=r"no CUDA source \(\*\.cu\) in .*empty"):
        named_sources([tree / "empty"])


def test_a_path_that_is_not_there_is_named(tree):
    with pytest.raises(InputError, match=r"gone\.cu: No such file or directory"):
        named_sources([tree / "gone.cu"])


def test_what_is_no_file_is_not_waited_for(tree):
    os.mkfifo(tree / "pipe.cu")
    with pytest.raises(InputError, match="neither a file nor a directory"):
        named_sources([tree / "pipe.cu"])
    assert NamedSource(tree / "pipe.cu") not in named_sources([tree])


def test_two_sources_that_would_write_one_output_are_both_named(tree):
    (tree / "a.cu").write_text("")
    with pytest.raises(UsageError, match=r"ops/a\.cu and .*a\.cu would write the same output"):
        named_sources([tree / "ops/a.cu", tree / "a.cu"])


def test_sizes_are_names_and_positive_integers():
    assert parse_sizes(["n=1000003", "rows=7"]) == {"n": 1000003, "rows": 7}


@pytest.mark.parametrize("text", ["n", "n=", "=3", "n=-1", "n=0", "n=1.5", "n=x", "2n=3", "n=1e6"])
def test_a_bad_size_is_quoted(text):
    with pytest.raises(UsageError, match=f"--size {text}"):
        parse_sizes([text])
