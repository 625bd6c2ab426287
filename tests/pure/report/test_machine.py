"""What is said about the machine while others work on it."""

from __future__ import annotations

import os
import shutil

import pytest

from porter.report.machine import examine


@pytest.fixture
def cache(tmp_path):
    """A build cache of 3 bytes, with a build of 5 more under way."""
    for file, content in (("programs/a/program", b"abc"), ("programs/.making-x/part/program", b"defgh")):
        path = tmp_path / file
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    return tmp_path


def test_the_cache_is_measured_whole(cache):
    assert examine(cache).cache.bytes == 8


@pytest.mark.parametrize("seen", ["programs", "programs/.making-x", "programs/.making-x/part"])
def test_a_build_may_end_while_the_cache_is_measured(cache, monkeypatch, seen):
    """Another process ends its build right after the folder `seen` was listed."""
    listing = os.scandir

    def scandir(folder):
        with listing(folder) as entries:
            kept = list(entries)
        if str(folder) == str(cache / seen):
            shutil.rmtree(cache / "programs/.making-x")
        return _Listed(kept)

    monkeypatch.setattr(os, "scandir", scandir)
    assert examine(cache).cache.bytes == 3


class _Listed:
    """What `os.scandir` gives, over entries already read."""

    def __init__(self, entries):
        self.entries = iter(entries)

    def __enter__(self):
        return self.entries

    def __exit__(self, *_):
        return None

    def __iter__(self):
        return self.entries

    def __next__(self):
        return next(self.entries)
