"""CUDA text to `Program`: preprocess, mask, read the tree, and ask it and the tokens what the file defines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from porter.source import findings as about
from porter.source.directives import includes, macros
from porter.source.functions import Defined, find_functions, kernel_definitions
from porter.source.headers import HeaderFinder
from porter.source.host import find_bindings, host_form
from porter.source.launches import find_launches
from porter.source.lexer import significant, tokens
from porter.source.not_understood import error_extents, not_understood
from porter.source.preprocess import Preprocessed, preprocess, preprocessed_tokens
from porter.source.program import Program
from porter.source.reading import Reading
from porter.source.shared import constant_variables, outer_shared_arrays
from porter.source.unfinished import unfinished
from porter.source_text import Source


def parse(source: Source, *, headers: HeaderFinder | None = None, defines: tuple[str, ...] = ()) -> Program:
    """Returns what `source` defines. Never raises: what could not be understood is in `not_understood`.

    `headers` finds included files, whose macros are then known; `defines` are `NAME` or `NAME=VALUE`.
    """
    if headers is None:
        return read_alone(source, defines).program
    return read(source, headers=headers, defines=defines).program


@dataclass(frozen=True, slots=True)
class Alone:
    """The program of one file that was read without those it includes, and its text after preprocessing."""

    program: Program
    text: str


@lru_cache(maxsize=1024)
def read_alone(source: Source, defines: tuple[str, ...] = ()) -> Alone:
    """Returns what one file defines: drafting, porting, building and judging ask for the same headers."""
    found = read(source, defines=defines)
    return Alone(found.program, found.reading.text)


@dataclass(frozen=True)
class Read:
    """A program with the text it was read from: what measuring and the rest of this package need beyond `Program`."""

    program: Program
    reading: Reading
    preprocessed: Preprocessed
    defined: tuple[Defined, ...]

    @cached_property
    def errors(self) -> list[tuple[int, int, str]]:
        """Returns what the grammar stumbled over: start, end, reason."""
        return error_extents(self.reading)

    def is_clean(self, defined: Defined) -> bool:
        """Returns whether the grammar understood all of a function."""
        return defined.whole and not any(a < defined.end and b > defined.start for a, b, _ in self.errors)

    def lost_kernels(self) -> int:
        """Kernels the text defines, outside branches not compiled and macros' bodies, that `program` does not list."""
        heads = [(k.header.start, k.header.end) for k in self.program.kernels]
        places = [at for at, _ in kernel_definitions(significant(tokens(self.program.source.text)))]
        compiled = [at for at in places if not any(a <= at < b for a, b in self.preprocessed.skipped)]
        return sum(not any(a <= at < b for a, b in heads) for at in compiled)

    def kernels_not_compiled(self) -> int:
        """Returns how many kernels stand in branches that the preprocessor leaves out."""
        return sum(f.code == "PORT2004" for f in self.program.findings)


def read(source: Source, *, headers: HeaderFinder | None = None, defines: tuple[str, ...] = ()) -> Read:
    """Parses as `parse` does, and returns what was read on the way, too."""
    stream = tokens(source.text)
    preprocessed = preprocess(source, stream, headers=headers, defines=defines)
    reading = Reading(source, preprocessed.expansion, preprocessed_tokens(preprocessed, stream))
    defined = tuple(find_functions(reading))
    launches = find_launches(reading, defined)
    functions = [d.function for d in defined]
    hosts = tuple(f for f in functions if f.space in ("host", "host device"))
    bindings = find_bindings(reading)
    unread = tuple(not_understood(reading, defined))
    included = _headers(preprocessed)
    skipped = tuple(about.skipped(reading, _kernels_in(source, preprocessed.skipped)))
    kinds = about.kinds(reading, functions, launches, (header for _, header in included))
    missing = tuple(about.missing(source, preprocessed.inclusions))
    findings = (
        *about.unfinished(
            unfinished(reading, stream, preprocessed.skipped, all_headers=headers is not None and not missing)
        ),
        *about.unread(unread),
        *missing,
        *skipped,
        *about.exhausted(preprocessed.exhausted),
        *(f for f in kinds if not (skipped and f.code == "PORT2003")),
    )
    program = Program(
        source=source,
        form=host_form(reading, bindings, hosts, launches),
        kernels=tuple(f for f in functions if f.space == "global"),
        device_functions=tuple(f for f in functions if f.space == "device"),
        host_functions=hosts,
        launches=launches,
        macros=tuple(macros(source, stream)),
        includes=tuple(includes(source, stream)),
        headers=included,
        constants=constant_variables(reading, [(d.start, d.end) for d in defined]),
        shared=outer_shared_arrays(reading, [(d.start, d.end) for d in defined]),
        bindings=bindings,
        not_understood=unread,
        findings=findings,
        defines=defines,
    )
    return Read(program, reading, preprocessed, defined)


def _headers(preprocessed: Preprocessed) -> tuple[tuple[str, Source], ...]:
    """The headers at hand with the names they are included by, in the order they are first included."""
    at_hand = [(i.include.path, i.header) for i in preprocessed.inclusions if i.header is not None]
    return tuple({(name, header.path): (name, header) for name, header in reversed(at_hand)}.values())[::-1]


def _kernels_in(source: Source, extents: Iterable[tuple[int, int]]) -> Iterator[int]:
    """Yields where in the file the kernels defined within `extents` have their `__global__`."""
    for start, end in extents:
        stretch = source.text[start:end]
        if "__global__" in stretch:
            yield from (start + at for at, _ in kernel_definitions(significant(tokens(stretch))))
