"""The first compiler error, at the user's line."""

from __future__ import annotations

from pathlib import Path

from porter.contract.model.contract import Entry, EntryKind
from porter.dialect import CUDA
from porter.execution.job import BuildRequest, Callee
from porter.simt.failure import blamed, build_failure, only_driver_fails
from porter.source_text import Source

REQUEST = BuildRequest(
    Source(Path("/u/user.cu"), ""),
    (("h.h", Source(Path("/u/h.h"), "")),),
    CUDA,
    (Callee(Entry(EntryKind.KERNEL, "j")), Callee(Entry(EntryKind.KERNEL, "k"))),
    32,
)


def place(log: str) -> tuple[str, int, str]:
    failure = build_failure(log, REQUEST)
    assert failure.log == log
    return failure.file, failure.line, failure.message


def test_an_error_in_the_source_or_its_headers_stands_where_it_is():
    log = "/u/user.cu: In function 'k':\n/u/user.cu:7:3: error: 'foo' was not declared\n/u/user.cu:9:1: error: more\n"
    assert place(log) == ("/u/user.cu", 7, "'foo' was not declared")
    assert place("/u/h.h:2:1: fatal error: x.h: No such file or directory\n")[:2] == ("/u/h.h", 2)


def test_an_error_in_a_shim_is_placed_where_the_user_led_there():
    log = (
        "/p/include/porter/atomics.h: In instantiation of 'T atomicAdd(T*, T)':\n"
        "/u/user.cu:12:14:   required from here\n"
        "/p/include/porter/atomics.h:40:5: error: no match\n"
    )
    assert place(log) == ("/u/user.cu", 12, "no match")


def test_an_error_of_the_driver_names_the_entry():
    assert place("porter's driver 1:4:9: error: 'k' was not declared\n") == (
        "/u/user.cu",
        0,
        "k cannot be called: 'k' was not declared",
    )


def test_an_undefined_reference_has_its_line():
    assert place("/usr/bin/ld: /u/user.cu:5: undefined reference to `f()'\n") == (
        "/u/user.cu",
        5,
        "undefined reference to `f()'",
    )


def test_a_silent_compiler_is_a_failure_too():
    assert place("")[1] == 0


def test_the_driver_tells_which_entries_do_not_compile():
    log = (
        "porter's driver 1: In function 'void porter_entry_1(...)':\n"
        "porter's driver 1:3:9: error: 'k' was not declared\n"
        "/u/user.cu: In instantiation of 'void f(T*) [with T = int]':\n"
        "porter's driver 12:3:28:   required from here\n"
        "/u/user.cu:2:20: error: request for member 'size'\n"
    )
    assert blamed(log) == {1, 12}
    assert not only_driver_fails(log)


def test_what_the_compiler_finds_before_the_driver_is_nobodys():
    log = (
        "/u/user.cu:7:3: error: expected ';'\n"
        "porter's driver 0: In function 'void porter_entry_0(...)':\n"
        "porter's driver 0:3:9: error: 'k' was not declared\n"
    )
    assert blamed(log) == frozenset()
    assert blamed("/usr/bin/ld: /u/user.cu:5: undefined reference to `f()'\n") == frozenset()
