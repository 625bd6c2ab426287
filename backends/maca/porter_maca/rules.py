"""Finds what a candidate's MACA source must not hold: reads its tokens, without compiling it.

A candidate may do what the original does itself: a program that ends with `exit` may be ported with it. Facts that only
a run shows (who wrote a result, what a constructor does) are left to the executor.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from porter.diagnostics.findings import Finding
from porter.rules.operators import OF_INDICES, library_operator
from porter.rules.original import OwnCode
from porter.source.lexer import Token, TokenKind, inside_directive, significant, tokens
from porter.source.vocabulary import ASM
from porter.source_text import Source
from porter_maca.catalogue import finding
from porter_maca.declared import declared
from porter_maca.device import substitutes
from porter_maca.pasted import pasted
from porter_maca.stringised import stringised

LIBRARY, AROUND, SYSTEM, JUDGE, THREADS, ENVIRONMENT = (f"PORT119{n}" for n in range(2, 8))


def _all(code: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), code)


# Functions that are called; a source's own may have the same names.
_CALLS: Mapping[str, str] = {
    **_all(AROUND, "atexit at_quick_exit quick_exit"),
    **_all(
        SYSTEM, "system popen kill signal mmap socket connect open openat creat fopen freopen fdopen dup fcntl ioctl"
    ),
    **_all(SYSTEM, "raise unlink alarm clone backtrace"),
    **_all(ENVIRONMENT, "getenv setenv putenv"),
}
# Names that nothing else has, wherever they stand.
_NAMES: Mapping[str, str] = {
    **_all(AROUND, "on_exit __cxa_atexit"),
    **_all(SYSTEM, "dlopen dlsym dlmopen dlvsym dladdr dl_iterate_phdr RTLD_NEXT RTLD_DEFAULT syscall _exit _Exit"),
    **_all(
        SYSTEM, "fork vfork execl execlp execle execv execvp execve posix_spawn posix_spawnp ptrace prctl personality"
    ),
    **_all(
        SYSTEM, "sigaction sigprocmask siglongjmp setrlimit setitimer mprotect munmap shm_open ftruncate pwrite pread"
    ),
    **_all(SYSTEM, "process_vm_readv process_vm_writev dup2 dup3"),
    **_all(SYSTEM, "ifstream ofstream fstream filebuf basic_ifstream basic_ofstream"),
    **_all(THREADS, "pthread_create thrd_create jthread"),
    **_all(ENVIRONMENT, "environ __environ secure_getenv"),
    **_all(JUDGE, "__GNUC__ __GNUC_MINOR__ __GNUC_PATCHLEVEL__ __VERSION__ __PRETTY_FUNCTION__ __BASE_FILE__"),
    **_all(JUDGE, "__x86_64__ __x86_64 __amd64__ __aarch64__ __SSE__ __SSE2__ __AVX__ __GLIBC__ __GLIBCXX__"),
    **_all(JUDGE, "_GLIBCXX_RELEASE __OPTIMIZE__ __DATE__ __TIME__ __TIMESTAMP__"),
}
_OF_STD: Mapping[str, str] = {"thread": THREADS, "async": THREADS, "filesystem": SYSTEM}
_LIBRARIES = re.compile(r"(?:mc|hc|cu)(?:blas|dnn|fft|sparse|solver|tensor)[A-Z]\w*")
_DEVICE_WIDE = re.compile(r"Device(?:Reduce|Scan|RadixSort|MergeSort|Select|Histogram|SegmentedReduce)\w*")
# What the executor is made of; the wave header that ports of porter's bring along has names of its own, and so have the
# functions that they bring.
_OF_JUDGE = re.compile(r"^porter$|^porter_|^_Z\w*6porter|\b_Z\w*6porter|^PORTER_(?!WARP32)|__[tu]b?san_|PORTRES|/proc/")
_GUARD = re.compile(r"^#ifndef (PORTER_\w+)$", re.MULTILINE)
_ATTRIBUTES = frozenset(("constructor", "destructor", "ifunc", "alias", "init_priority", "section"))
_MEMBER = ((".",), ("->",))
# What stands before a name that is declared, or a member's.
_NO_CALL = (*_MEMBER, ("void",), ("int",), ("bool",), ("float",), ("double",), ("auto",), ("size_t",))


@dataclass(frozen=True, slots=True)
class _Free:
    """Names that break no rule: `words` of the original, `operators` of its host code, `functions` of the candidate."""

    words: frozenset[str]
    operators: frozenset[str]
    functions: frozenset[str]

    @property
    def libraries(self) -> frozenset[str]:
        """The libraries that the original calls, by the common part of their vendors' names."""
        return frozenset(_kind(word) for word in self.words if _LIBRARIES.fullmatch(word))


@dataclass(frozen=True, slots=True)
class _Place:
    """A token between others: `before` are the texts of the three in front of it, the nearest last."""

    token: Token
    before: tuple[str, ...]
    after: str

    @property
    def space(self) -> str:
        """The namespace or class in front of the name; empty where there is none."""
        return self.before[-2] if len(self.before) > 1 and self.before[-1] == "::" else ""

    @property
    def is_call(self) -> bool:
        """Returns whether a function of the global namespace or of `std` is called: no member, no declaration."""
        return self.after == "(" and self.before[-1:] not in _NO_CALL and self.space in ("", "std")


def rules(sources: Iterable[Source], original: OwnCode) -> Iterator[Finding]:
    """Yields the rules that `sources` break, each once a line. `original` says what is allowed."""
    files = tuple(sources)
    free = _Free(original.words, original.operators, declared(source.text for source in files).functions)
    for source in files:
        seen: dict[tuple[int, str], Finding] = {}
        for place in _places(source.text):
            for code, message in _broken(place, free):
                span = source.span(place.token.start, place.token.end)
                seen.setdefault((span.line, code), replace(finding(code, span, message), source=source))
        yield from (seen[key] for key in sorted(seen))
    for made in pasted(files):
        span = made.source.span(made.start, made.end)
        broken = {
            found for place in _places(made.text) if place.token.text in made.names for found in _broken(place, free)
        }
        broken |= {(SYSTEM, f"it makes {name} of parts") for name in made.names & ASM}
        yield from (replace(finding(code, span, message), source=made.source) for code, message in sorted(broken))
    for text in stringised(files):
        span = text.source.span(text.start, text.end)
        yield replace(
            finding(JUDGE, span, f"it makes a text of {text.name}, as this compiler has it"), source=text.source
        )


def _places(text: str) -> Iterator[_Place]:
    """Yields the tokens of `text`, including those of macros' bodies; including a header is no use of it."""
    code = significant(_with_directives(text))
    for index, token in enumerate(code):
        before = tuple(t.text for t in code[max(0, index - 3) : index])
        yield _Place(token, before, code[index + 1].text if index + 1 < len(code) else "")


def _with_directives(text: str) -> Iterator[Token]:
    for token in tokens(text):
        if token.kind is not TokenKind.DIRECTIVE:
            yield token
        elif (inner := inside_directive(token, text)) and inner[0].text != "include":
            yield from inner


@cache
def _guards() -> frozenset[str]:
    """Returns the macros that keep the functions which a port brings along from being there twice."""
    return frozenset(name for row in substitutes() for name in _GUARD.findall(row.helper))


def _broken(place: _Place, free: _Free) -> Iterator[tuple[str, str]]:
    """Yields the codes that the token breaks, with the text there."""
    name = place.token.text
    if name in free.words or name in free.functions or name in _guards():
        return
    if _OF_JUDGE.search(name):
        yield JUDGE, f"it names {name[:60]}, which is the judge's"
    elif place.token.kind is not TokenKind.IDENTIFIER:
        return
    elif name in _CALLS and place.is_call:
        yield _CALLS[name], f"it calls {name}"
    elif name in _NAMES and place.before[-1:] not in _MEMBER:
        yield _NAMES[name], f"it uses {name}"
    elif name in _OF_STD and place.space == "std":
        yield _OF_STD[name], f"it uses std::{name}"
    elif name in _ATTRIBUTES and ("(" in place.before[-1:] or place.space == "gnu"):
        if "__attribute__" in place.before or "(" in place.before[-2:-1] or place.space == "gnu":
            yield AROUND, f"it has the attribute {name}"
    elif _is_library(place, free):
        yield LIBRARY, f"the library's {name} does the work"


def _is_library(place: _Place, free: _Free) -> bool:
    name = place.token.text
    if _LIBRARIES.fullmatch(name):
        return place.after == "(" and _kind(name) not in free.libraries
    if _DEVICE_WIDE.fullmatch(name):
        return place.space in ("cub", "mccub", "hccub")
    does_the_work = name in OF_INDICES or bool(library_operator(f"torch.{name}"))
    return place.space in ("torch", "at") and does_the_work and name not in free.operators


def _kind(name: str) -> str:
    """Returns `blas` of `mcblasSgemm`."""
    return name[2:5]
