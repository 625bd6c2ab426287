"""One translation unit on its way to an executable: the user's source and the driver behind it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce
from pathlib import Path, PurePosixPath

from porter.branch_coverage import Side
from porter.contract.model.contract import EntryKind
from porter.errors import MachineError
from porter.execution.job import BuildRequest, Callee, Part
from porter.simt.branch_edits import BranchMarks
from porter.simt.compiler import RUNTIME, Compiler, Diagnostics, call, language_flags, quick_linker, uses_torch
from porter.simt.conversions import CONVERTING, with_conversions
from porter.simt.device_calls import foreign
from porter.simt.device_variables import GUARDING, with_guards, with_variables
from porter.simt.driver import driver
from porter.simt.elf import Elf, demangled, parse_elf, read_elf
from porter.simt.hand_over import without_bodies
from porter.simt.host_bodies import Lines, with_declarations, with_namespaces, without_refusals
from porter.simt.host_calls import LISTED, outside
from porter.simt.host_functions import PREFIX, with_marks
from porter.simt.kernel_slice import callee_slice, kernel_slice, without_failing
from porter.simt.kernels_only import kernels_only
from porter.simt.parts import digest, executor_objects, headers_digest, precompiled_header, programs, tree_digest
from porter.simt.translate import translate
from porter.simt.undefined import placed, table, undefined
from porter.source_text import Source

# The source stands this deep, so that `#include "../../x.h"` stays inside the build's folder.
_DEPTH = PurePosixPath("a/b/c/d/e/f")
# Functions nobody reaches are left out, with what they call: the source may be one file of several.
_BEFORE_MAIN = (".init_array*", ".preinit_array*", ".ctors*", ".fini_array*", ".dtors*")
_WITHOUT_CONSTRUCTORS = [
    *("objcopy", *(f"--remove-section={name}" for name in _BEFORE_MAIN)),
    *(f"--remove-section=.rela{name}" for name in _BEFORE_MAIN),
    *("program.o", "whole.o"),
]
_OF_THE_DRIVER = ("porter_warp_size", "porter_watched", "porter_taken")  # what the executor reads of it
_APPLIED = f"-Wl,--gc-sections,--force-group-allocation,-e,main,{','.join(f'-u,{name}' for name in _OF_THE_DRIVER)}"
_REACHED = ["-r", "-nostdlib", _APPLIED, "whole.o", "-o", "program.o"]
# Nothing of the executor is replaced by what kernels define, and what copies bytes for them is watched.
_FOR_THE_EXECUTOR = ("main", *_OF_THE_DRIVER, "__start_porter_*")
_OF_ITS_OWN = [
    *("objcopy", "--wildcard", *(f"--keep-global-symbol={name}" for name in _FOR_THE_EXECUTOR)),
    *(f"--redefine-sym={name}=porter_{name}" for name in ("memcpy", "memmove", "memset")),
    "program.o",
]
_OF_A_PROGRAM = re.compile(
    r"|\.(?:rela)?\.?(?:text|data|rodata|bss|tdata|tbss|eh_frame|gcc_except_table|debug_\w+|note|group)(?:[.-].*)?"
    r"|\.(?:symtab|strtab|shstrtab|comment)|(?:\.rela)?porter_\w+"
)
_FILE_OF_RULE = re.compile(
    r"(?:[^\s\\]|\\[^\n])+"
)  # a name in a rule for make, in which a line goes on behind a backslash
OUTSIDE = "outside"  # beside an executable that plans: what its host code calls and no launch needs, one a line
VARIABLES = "variables"  # beside an executable of kernels: the symbols of its own static storage, one a line
_MOST_NAMED = 3
# What calls a kernel is to find it as a function of its own, by the parameters it has.
_APART = "#undef __global__\n#define __global__ __attribute__((noipa))\n#define PORTER_PLANS\n"
# Copies that the compiler would make by itself, without a hook.
_WATCHED_COPIES = (
    'extern "C" void* porter_memcpy(void*, const void*, unsigned long);\n'
    'extern "C" void* porter_memmove(void*, const void*, unsigned long);\n'
    'extern "C" void* porter_memset(void*, int, unsigned long);\n'
    "namespace std { using ::porter_memcpy; using ::porter_memmove; using ::porter_memset; }\n"
    "#define memcpy(...) porter_memcpy(__VA_ARGS__)\n#define memmove(...) porter_memmove(__VA_ARGS__)\n"
    "#define memset(...) porter_memset(__VA_ARGS__)\n"
)
_BEFORE = {Part.WHOLE: "", Part.HOST: _APART, Part.DEVICE: _WATCHED_COPIES}
# What the marks of branches store to, a byte for each side.
_TAKEN = '\nextern "C" unsigned char porter_taken[{}] = {{}};\n'
_LIBRARIES = ["-no-pie", "-Wl,--gc-sections", "-lpthread", "-ldl", "-lm"]


@dataclass(frozen=True, slots=True)
class Unit:
    """A source as it is compiled: `source` and `headers` (by name of inclusion) are translated already.

    The driver finds callees `by_parameters`, or by their names (see driver.py); `ending` stands in its place where
    there is one. `sides` are those of the branches that are marked, `opened` are namespaces of headers that are not
    there. `written` are the files before they were translated, the headers by name of inclusion.
    """

    request: BuildRequest
    compiler: Compiler
    cache: Path
    flags: tuple[str, ...]
    source: str
    headers: tuple[tuple[str, str], ...]
    by_parameters: frozenset[Callee] = frozenset()
    ending: str = ""
    marked: bool = True
    sides: tuple[Side, ...] = ()
    opened: frozenset[str] = frozenset()
    written: tuple[Source, tuple[tuple[str, Source], ...]] | None = None

    @property
    def unmarked(self) -> Unit:
        """The same without marks of branches."""
        return _with_texts(replace(self, marked=False), self.request.source, self.request.headers)

    def calling(self, *callees: Callee) -> Unit:
        """The same with other callees."""
        return replace(self, request=replace(self.request, callees=callees))

    def of_kernels(self) -> Iterator[Unit]:
        """The same without the host functions of the source and its headers; then only what its kernels mention; then
        only what its callees do.
        """
        yield from map(self._narrowed, (kernels_only, kernel_slice))
        yield from self.of_callees()

    def of_device(self, ending: str) -> Unit:
        """Returns what the kernels mention, and `ending` behind them, and nothing else of the source."""
        alone = replace(self, request=replace(self.request, part=Part.DEVICE), ending=ending)
        return alone._narrowed(partial(kernel_slice, mentioned=frozenset(re.findall(r"\w+", ending))))

    def of_callees(self) -> Iterator[Unit]:
        """The same with no more than its callees mention."""
        yield self._narrowed(partial(callee_slice, self._names))

    def treating_as_empty(self, header: str) -> Unit:
        """The same with nothing for a header that is not there, by its name, and without what refuses to be compiled
        for want of what such a header defines.
        """
        headers = tuple((name, without_refusals(text)) for name, text in self.headers)
        return replace(self, source=without_refusals(self.source), headers=(*headers, (header, "")))

    def opening(self, names: frozenset[str]) -> Unit | None:
        """The same with the namespaces `names` opened where they are used, which a header that is not there would do;
        None where all are.
        """
        if names <= self.opened:
            return None
        texts = tuple((name, with_namespaces(text, names - self.opened)) for name, text in self.headers)
        source = with_namespaces(self.source, names - self.opened)
        return replace(self, source=source, headers=texts, opened=self.opened | names)

    def without_host_code(self, lines: Lines) -> Unit | None:
        """The same with declarations for host functions whose bodies have one of `lines`, and, where kernels alone are
        called or built, without what else of the host has one; None where nothing has.
        """
        assert self.written is not None
        source, named = self.written
        apart = {header.path: header for _, header in named}
        files = (source, *apart.values())
        fewer = with_declarations(files, lines, self.request.defines, self._names)
        calls_kernels = all(c.entry.kind is EntryKind.KERNEL for c in self.request.callees)
        if fewer == files and (calls_kernels or self.request.part is Part.DEVICE):
            fewer = without_failing(files, lines)
        if fewer == files:
            return None
        own, *others = fewer
        bare = dict(zip(apart, others, strict=True))
        absent = [name for name, text in self.headers if not text and name not in dict(named)]
        unit = _with_texts(self, own, tuple((name, bare[header.path]) for name, header in named))
        fewer_lines = reduce(Unit.treating_as_empty, absent, unit)
        return replace(fewer_lines, opened=frozenset()).opening(self.opened) or fewer_lines

    @property
    def lines(self) -> frozenset[tuple[str, int]]:
        """The lines that its callees mention, each with the name of its file."""
        request = self.request
        headers = tuple({header.path: header for _, header in request.headers}.values())
        files = callee_slice(self._names, request.source, headers, request.defines)
        return frozenset(
            (file.path.name, file.first_line + row)
            for file in files
            for row, line in enumerate(file.text.split("\n"))
            if line.strip()
        )

    @property
    def _names(self) -> frozenset[str]:
        return frozenset(callee.entry.name for callee in self.request.callees)

    def _narrowed(self, narrow: Callable[..., tuple[Source, ...]]) -> Unit:
        request = self.request
        files = {header.path: header for _, header in request.headers}
        source, *others = narrow(request.source, (*files.values(), *request.elsewhere), request.defines)
        bare = dict(zip(files, others[: len(files)], strict=True))
        named = tuple((name, bare[header.path]) for name, header in request.headers)
        return _with_texts(
            replace(self, request=replace(request, elsewhere=tuple(others[len(files) :]))), source, named
        )

    @property
    def key(self) -> str:
        """The digest of everything the executable depends on."""
        headers = (part for named in self.headers for part in named)
        shared = (headers_digest(self.request.dialect), tree_digest(RUNTIME))
        apart = (*_OF_ITS_OWN, _APPLIED, *GUARDING)
        isolated = {Part.WHOLE: (), Part.HOST: (OUTSIDE, LISTED), Part.DEVICE: apart}[self.request.part]
        return digest(
            self.compiler.version, *self.flags, *self._options, *shared, *CONVERTING, self._text, *headers, *isolated
        )

    @property
    def program(self) -> Path:
        """Returns where the executable is, or will be once it is made."""
        return programs(self.cache).folder / self.key / "program"

    @property
    def _text(self) -> str:
        macros = "".join(map(_definition, self.request.defines))
        ending = self.ending or driver(self.request, self.by_parameters)
        return _BEFORE[self.request.part] + macros + self.source + _TAKEN.format(len(self.sides) + 1) + ending

    @property
    def _options(self) -> list[str]:
        """Returns what the request adds to the command line, behind the precompiled header."""
        request = self.request
        double = ["-include", "porter/double_precision.h"] if request.double_precision else []
        return [*double, *(f"-I{d}" for d in request.include_dirs)]

    def make(self) -> Diagnostics:
        """Compiles and links beside its place and moves the result there, if it is not there yet."""
        shelf = programs(self.cache)
        if shelf.holds(self.key):
            return Diagnostics(True, "")
        with shelf.making() as entry:
            folder = entry.parent
            done = self._compile(folder)
            if done.ok and self.request.part is not Part.WHOLE:
                done = _confinable(folder)
            if done.ok and self.request.part is Part.DEVICE:
                done = self._isolate(folder)
            elif done.ok and self.request.part is Part.HOST:
                self._note_calls(folder)
            if done.ok:  # linked apart, without the sanitizer flags: the executor itself is what the hooks call
                done = self._link(folder)
            if done.ok:
                shelf.put(entry, self.key)
            return done

    @property
    def absent(self) -> tuple[str, ...]:
        """The headers that are not there, by the names they are included with. The compiler stops at the first."""
        with tempfile.TemporaryDirectory(prefix="porter-") as name:
            folder = Path(name)
            call(self.compiler, [*self._laid_out(folder), "-M", "-MG", "-MF", "included"], folder)
            listed = folder / "included"
            found = _FILE_OF_RULE.findall(listed.read_text() if listed.exists() else "")
        named = (file.replace("\\ ", " ") for file in found[1:])  # the first is what depends on all others
        return tuple(dict.fromkeys(name for name in named if not name.startswith("/")))

    def _laid_out(self, folder: Path) -> list[str]:
        """Writes what is compiled into `folder`. Returns the command line without what is to be made of it."""
        header = precompiled_header(self.compiler, list(self.flags), self.request.dialect, self.cache)
        sources = folder / "source" / _DEPTH
        sources.mkdir(parents=True)
        self._write_headers(sources)
        program = sources / "program.cpp"
        program.write_text(self._text)
        found = [f"-iquote{sources}", f"-I{sources}"]  # what is translated goes before the folders it comes from
        return [*self.flags, "-include", str(header), *found, *self._options, "-ffunction-sections", str(program)]

    def _compile(self, folder: Path) -> Diagnostics:
        flags = self._laid_out(folder)
        is_device = self.request.part is Part.DEVICE
        apart = ["-fdata-sections"] if is_device else []
        done = call(self.compiler, [*flags, *apart, "-S", "-o", "program.s"], folder)
        if not done.ok:
            return done
        made = folder / "program.s"
        assembly = with_conversions(made.read_text())
        made.write_text(with_guards(assembly) if is_device else assembly)
        return call(self.compiler, ["-c", "program.s", "-o", "program.o"], folder)

    def _note_calls(self, folder: Path) -> None:
        """Writes beside the executable what its host code calls that no launch needs, where entries come to it."""
        shutil.copy(folder / "program.o", folder / "whole.o")
        _run([self.compiler.command, *_REACHED[:-1], "reached.o"], folder)
        others = outside(parse_elf(folder / "reached.o").undefined)
        missing = undefined(self._linked(folder).log) if others else ()
        (folder / "entry" / OUTSIDE).write_text("\n".join(name for name in others if name not in missing))

    def _isolate(self, folder: Path) -> Diagnostics:
        """Takes what runs before `main` out of the object, and what nothing calls; what is left may call a device's."""
        for command in (_WITHOUT_CONSTRUCTORS, [self.compiler.command, *_REACHED], _OF_ITS_OWN):
            _run(command, folder)
        found = parse_elf(folder / "program.o")
        if hosts := [name.removeprefix(PREFIX) for name in found.undefined if name.startswith(PREFIX)]:
            named = ", ".join(f"`{name}`" for name in hosts[:_MOST_NAMED])
            return Diagnostics(False, f"error: kernels call {named}, which has no __device__")
        if others := [*foreign(found.undefined), *self._insides(found)]:
            named = ", ".join(f"`{name}`" for name in demangled(others)[:_MOST_NAMED])
            return Diagnostics(False, f"error: kernels use {named}, which no device has")
        if odd := [name for name in found.sections if not _OF_A_PROGRAM.fullmatch(name)]:
            return Diagnostics(False, f"error: the kernels' object has a section {odd[0]}, which no compiler makes")
        (folder / "entry" / VARIABLES).write_text("\n".join(found.variables))
        return Diagnostics(True, "")

    def _insides(self, found: Elf) -> list[str]:
        """The executor's own variables that the object refers to. Those that are for kernels have names of C."""
        objects = executor_objects(self.compiler, uses_torch(self.request), self.request.double_precision, self.cache)
        own = frozenset[str]().union(*(read_elf(str(path)).variables for path in objects))
        return [name for name in found.undefined if name in own and not name.startswith("porter_")]

    def _write_headers(self, sources: Path) -> None:
        """Writes the headers where `#include` looks for them; one that would leave the folder is not written.

        `#pragma once` tells copies of one file by their text and their time, so all have the same time.
        """
        root = sources.parents[len(_DEPTH.parts) - 1].resolve()
        for name, text in self.headers:
            path = (sources / name).resolve()
            if path.is_relative_to(root):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
                os.utime(path, (0, 0))

    def _link(self, folder: Path) -> Diagnostics:
        if (quick := quick_linker()) and (done := self._linked(folder, quick)).ok:
            return done
        done = self._linked(folder)
        if not (names := undefined(done.log)):
            return done
        symbols = undefined(self._linked(folder, "-Wl,--no-demangle").log)
        (folder / "undefined.cpp").write_text(table(names))
        return self._linked(folder, "undefined.cpp", *placed(symbols))

    def _linked(self, folder: Path, *options: str) -> Diagnostics:
        request = self.request
        objects = executor_objects(self.compiler, uses_torch(request), request.double_precision, self.cache)
        command = ["program.o", *map(str, objects), *options, *_LIBRARIES, "-o", "entry/program"]
        return call(self.compiler, command, folder)


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MachineError(f"{command[0]} failed: {done.stderr.strip()[-300:]}", "run `porter doctor`")


def _confinable(folder: Path) -> Diagnostics:
    """Refuses an object that would run before the executor has confined its process."""
    found = parse_elf(folder / "program.o")
    if found.resolvers or any(name.startswith(".preinit_array") for name in found.sections):
        return Diagnostics(False, "error: the source has code that runs before anything else of its program")
    return Diagnostics(True, "")


def _definition(macro: str) -> str:
    """The line that defines a macro as `-D` would.

    On the command line it would be in force in the executor's own headers, too: `-D N=64` is no name for a parameter.
    """
    name, equals, value = macro.partition("=")
    return f"#define {name} {value if equals else 1}\n"


def unit(request: BuildRequest, compiler: Compiler, cache: Path) -> Unit:
    """The unit of `request`, its texts translated."""
    empty = Unit(request, compiler, cache, tuple(language_flags(request)), "", ())
    return _with_texts(empty, request.source, request.headers)


def _with_texts(unit: Unit, source: Source, headers: tuple[tuple[str, Source], ...]) -> Unit:
    """`unit` of the texts of these files, translated."""
    request = unit.request
    apart = {header.path: header for _, header in headers}  # one that is included by two names is one file
    files = (source, *apart.values())
    if request.part is Part.HOST:
        files = without_bodies(files)
    elif request.part is Part.DEVICE:
        files = with_marks(tuple(map(with_variables, files)), request.defines)
    marks = BranchMarks() if unit.marked and request.watched and not request.double_precision else None
    own, *others = [translate(file, double_precision=request.double_precision, marks=marks) for file in files]
    if request.part is not Part.DEVICE:
        behind = (translate(file, double_precision=request.double_precision) for file in request.elsewhere)
        own = "\n".join((own, *behind))
    texts = dict(zip(apart, others, strict=True))
    named = tuple((name, texts[header.path]) for name, header in headers)
    sides = tuple(marks.sides) if marks else ()
    return replace(unit, source=own, headers=named, sides=sides, written=(source, headers))
