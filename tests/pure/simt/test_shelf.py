"""Folders of the cache: made once, marked when used, and not growing without bound."""

from __future__ import annotations

import multiprocessing
import os
import time
from dataclasses import replace

import pytest

from porter.simt.bounded_folder import BoundedFolder

DAY_S = 86_400


@pytest.fixture
def shelf(tmp_path):
    return BoundedFolder(tmp_path / "shelf", most_bytes=3000, used_lately_s=3600, look_every_s=0)


def fill(size=1000):
    return lambda folder: (folder / "file").write_bytes(bytes(size)) and None


def unused_for(shelf, key, seconds):
    then = time.time() - seconds
    os.utime(shelf.folder / key, (then, then))


def held(shelf):
    return {place.name for place in shelf.folder.iterdir() if place.is_dir()}


def test_an_entry_is_made_once(shelf):
    assert not shelf.holds("a")
    place = shelf.made("a", fill())
    assert (place / "file").stat().st_size == 1000
    assert shelf.made("a", lambda _: pytest.fail("made again")) == place


def test_what_fails_leaves_nothing(shelf):
    with pytest.raises(ZeroDivisionError):
        shelf.made("a", lambda _: 1 / 0)
    assert not shelf.holds("a")
    assert held(shelf) == set()


def test_the_least_recently_used_go_when_it_is_too_much(shelf):
    for age_days, key in enumerate("abc", 1):
        shelf.made(key, fill())
        unused_for(shelf, key, age_days * DAY_S)
    shelf.made("d", fill())
    assert held(shelf) == {"a", "b", "d"}
    assert not (shelf.folder / "c.lock").exists()


def test_to_use_an_entry_keeps_it(shelf):
    for age_days, key in enumerate("abc", 1):
        shelf.made(key, fill())
        unused_for(shelf, key, age_days * DAY_S)
    assert shelf.holds("c")
    shelf.made("d", fill())
    assert held(shelf) == {"a", "c", "d"}


def test_what_was_used_lately_stays_whatever_it_takes(shelf):
    for key in "abcdef":
        shelf.made(key, fill())
        unused_for(shelf, key, 1800)
    assert held(shelf) == set("abcdef")


def test_what_nobody_used_for_long_goes_although_there_is_room(shelf):
    shelf.made("a", fill(10))
    unused_for(shelf, "a", 31 * DAY_S)
    shelf.made("b", fill(10))
    assert held(shelf) == {"b"}


def test_what_killed_processes_left_behind_goes(shelf):
    for name in (".making-x", ".gone-y"):
        (shelf.folder / name).mkdir(parents=True)
        (shelf.folder / name / "file").write_bytes(bytes(5000))
        unused_for(shelf, name, 2 * DAY_S)
    shelf.made("a", fill())
    assert held(shelf) == {"a"}


def test_it_is_not_looked_through_each_time(shelf):
    seldom = replace(shelf, most_bytes=0, look_every_s=3600)
    for key in "abc":
        seldom.made(key, fill())
        unused_for(seldom, key, DAY_S)
    assert held(seldom) == set("abc")  # the first look, when there was "a" alone, found it in use


def test_a_folder_that_is_only_read_is_used(shelf, monkeypatch):
    shelf.made("a", fill())

    def refused(*_):
        raise PermissionError

    monkeypatch.setattr(os, "utime", refused)
    assert shelf.holds("a")
    assert not shelf.holds("b")


def _work(folder):
    shelf = BoundedFolder(folder, most_bytes=3000, used_lately_s=3600, look_every_s=0)
    for key in "abcdefgh":
        place = shelf.made(key, lambda made, key=key: (folder / "log").open("a").write(key) and fill()(made))
        if not (place / "file").exists():
            os._exit(1)


def test_processes_that_need_the_same_make_it_once(shelf):
    for key in "stuvwxyz":
        shelf.made(key, fill())
        unused_for(shelf, key, DAY_S)
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_work, args=(shelf.folder,)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert (shelf.folder / "log").read_text() == "abcdefgh"
    assert held(shelf) == set("abcdefgh")
