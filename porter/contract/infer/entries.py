"""Finds the functions of a program that are called from outside: those get a contract."""

from __future__ import annotations

from collections.abc import Mapping

from porter.contract.analysis.pointers import is_buffer, is_words
from porter.contract.analysis.usage import Usage
from porter.contract.infer.objects import takes_objects
from porter.errors import UsageError
from porter.source.program import Function, Program
from porter.source.qualified import unqualified


def entries(usage: Usage, kernels: tuple[str, ...], *, whole_program: bool = True) -> tuple[Function, ...]:
    """Returns `main`, else host functions that launch and that no other one calls; then kernels none of them reach.

    `kernels` keeps the entries that reach one of these, and adds each that no entry reaches. Raises `UsageError` for a
    name that is not a kernel.
    """
    program = usage.program
    wanted = [_kernel(program, name) for name in kernels]
    hosts = _hosts(usage) if whole_program else _parts(usage)
    if wanted:
        # A kernel chosen by name is better seen through its launcher than through a whole program.
        hosts = tuple(h for h in _parts(usage) if any(k in reach(usage, h) for k in wanted))
    reached = {k for h in hosts for k in reach(usage, h)}
    bare = [k for k in (wanted or (*program.kernels, *_included(usage))) if k not in reached]
    return (*hosts, *(k for k in bare if not _called_by_kernel(usage, k)))


def kernels_behind(usage: Usage, entry: str) -> tuple[Function, ...]:
    """Returns the kernels, of the file or its headers, that the host function `entry` leads to (its qualified name)."""
    reached = {k for f in usage.program.host_functions if f.qualified == entry for k in reach(usage, f)}
    kernels = (*usage.program.kernels, *usage.header_kernels)
    return tuple(k for k in kernels if k in reached and not _called_by_kernel(usage, k))


def launching(usage: Usage, kernel: str) -> tuple[Function, ...]:
    """Returns the host functions, `main` apart, that lead to `kernel`, by its qualified name."""
    included = any(k.qualified == kernel for k in usage.header_kernels)
    every = (*usage.program.host_functions, *(usage.header_hosts if included else ()))
    hosts = (f for f in every if f.qualified != "main")
    return tuple(f for f in hosts if any(k.qualified == kernel for k in reach(usage, f)))


def _included(usage: Usage) -> tuple[Function, ...]:
    """Returns the kernels of headers that the file's host code leads to: they count as the file's own.

    All of them count where the file only includes its device code and the code that leads there.
    """
    reached = {k for f in usage.program.host_functions for k in reach(usage, f)}
    forwards = not (usage.program.kernels or reached or usage.program.launches)
    return tuple(k for k in usage.header_kernels if forwards or k in reached)


def _kernel(program: Program, name: str) -> Function:
    kernel = program.kernel(name)
    if kernel is None:
        known = ", ".join(dict.fromkeys(k.name for k in program.kernels)) or "none"
        raise UsageError(f"no kernel '{name}' in {program.source.path}", f"its kernels are: {known}")
    return kernel


def _hosts(usage: Usage) -> tuple[Function, ...]:
    main = tuple(f for f in usage.program.host_functions if f.name == "main" and not f.scope)
    return main if main and _leads(usage, main[0]) else _parts(usage)


def _parts(usage: Usage) -> tuple[Function, ...]:
    """Returns the functions called from outside where there is no whole program: bound functions, else launchers."""
    bound = {unqualified(b.function) for b in usage.program.bindings}
    exported = tuple(f for f in usage.program.host_functions if f.name in bound and _leads(usage, f))
    return tuple(dict.fromkeys(part for f in exported or _launchers(usage) for part in _callable(usage, f)))


def _launchers(usage: Usage, within: frozenset[Function] | None = None) -> tuple[Function, ...]:
    """Returns host functions, only those `within` if given, that lead to a launch and that no other such one calls.

    Members are left out, since they need an object. What they alone call is called from outside, too.
    """
    hosts = [f for f in usage.program.host_functions if f.name != "main" and not f.is_macro]
    leading = [f for f in hosts if (within is None or f in within) and _gives(usage, f) and _leads(usage, f)]
    members = [f for f in leading if usage.is_member(f)]
    others = [f for f in leading if f not in members]
    called = {n for f in others for n in usage.body(f).names if n != f.name}
    tops = [f for f in others if f.name not in called]
    of_members = {n for f in members for n in usage.body(f).names}
    behind = {g for f in tops if f.name not in of_members for g in usage.called_hosts(f) if g is not f}
    return tuple(f for f in tops if f.name not in of_members or f not in behind)


def _callable(usage: Usage, function: Function) -> tuple[Function, ...]:
    """Returns `function`, or the launchers that it calls if it takes objects and they do not.

    An operator of a library takes its tensors apart and passes pointers and sizes on.
    """
    if not takes_objects(usage, function):
        return (function,)
    within = frozenset(f for f in usage.called_hosts(function) if f is not function and not takes_objects(usage, f))
    return _launchers(usage, within) or (function,)


def left_out(usage: Usage) -> Mapping[str, tuple[Function, ...]]:
    """Returns, by the qualified names of host functions, those that take objects and for which each of them stands."""
    outer = [(f, _callable(usage, f)) for f in _launchers(usage) if takes_objects(usage, f)]
    names = dict.fromkeys(part.qualified for _, parts in outer for part in parts)
    return {
        name: tuple(f for f, parts in outer if f.qualified != name and any(p.qualified == name for p in parts))
        for name in names
    }


def _gives(usage: Usage, function: Function) -> bool:
    """Returns whether a call leaves something that can be compared.

    A benchmark without arguments keeps everything to itself, and so does a part of a program that gets its words.
    """
    handed = [field for p in function.params for field in usage.records.fields(function, p) or (p,)]
    types = [usage.types.of(p, function) for p in handed]
    buffers = any(is_buffer(t) and not is_words(t) for t in types)
    words = any(map(is_words, types))
    return buffers or (function.returns.text != "void" and not words)


def reach(usage: Usage, function: Function) -> frozenset[Function]:
    """Returns the kernels launched by `function` and by the host functions it calls; a kernel reaches itself."""
    names = {n for f in usage.called_hosts(function) for n in usage.body(f).names}
    itself = {function} if function.space == "global" else set[Function]()
    return frozenset(itself | {k for k in (*usage.program.kernels, *usage.header_kernels) if k.name in names})


def _leads(usage: Usage, function: Function) -> bool:
    """Returns whether `function` leads to a launch; the kernel may stand in a header."""
    return any(usage.body(f).launches for f in usage.called_hosts(function)) or bool(reach(usage, function))


def _called_by_kernel(usage: Usage, kernel: Function) -> bool:
    """Returns whether another kernel launches this one."""
    return any(
        kernel.name in usage.body(k).names for k in usage.program.kernels if k is not kernel and k.name != kernel.name
    )
