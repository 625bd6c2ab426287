"""Finds how a file offers its kernels to a caller: bindings and the form of its host code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from porter.source.lexer import Token, TokenKind, split_arguments
from porter.source.program import Binding, Function, HostForm, Launch
from porter.source.qualified import unqualified
from porter.source.reading import Reading
from porter.source.vocabulary import MODULES

_BINDERS = frozenset(("def", "impl"))
_TENSORS = ("Tensor", "TensorList", "ITensorListRef")
_WRAPPERS = frozenset(("TORCH_FN", "TORCH_BOX", "torch", "CppFunction", "dispatch"))


def find_bindings(reading: Reading) -> tuple[Binding, ...]:
    """`m.def("name", &function)`, `m.impl("name", TORCH_FN(function))` and the functions `load_inline` was given."""
    given = tuple(Binding(name, name, reading.source.span(0, 0)) for name in reading.source.exports)
    return (*given, *_written(reading))


def _written(reading: Reading) -> Iterator[Binding]:
    words = reading.words
    for i in range(2, len(words) - 2):
        if words[i].text in _BINDERS and words[i - 1].text in (".", "->") and words[i + 1].text == "(":
            arguments = split_arguments(words, i + 1)
            binding = _binding(reading, words[i - 2 : i + 2], arguments)
            if binding is not None:
                yield binding


def _binding(reading: Reading, call: Sequence[Token], arguments: Sequence[Sequence[Token]]) -> Binding | None:
    if len(arguments) < 2 or not all(arguments) or arguments[0][0].kind is not TokenKind.STRING:
        return None
    function = _function_named(arguments[-1] if call[2].text == "impl" else arguments[1])
    if not function:
        return None
    name = unqualified(arguments[0][0].text.strip('"').split("(")[0])
    return Binding(name, function, reading.span(call[0].start, arguments[-1][-1].end))


def _function_named(argument: Sequence[Token]) -> str:
    """The function in `&f`, `ns::f`, `&f<float>`, `TORCH_FN(f)`; empty for a lambda."""
    words = [t.text for t in argument]
    if not words or words[0] == "[" or argument[0].kind is TokenKind.STRING:
        return ""
    while "(" in words and words[0].lstrip("&") in _WRAPPERS:
        words = words[words.index("(") + 1 : -1]
    names = "".join(words[: words.index("<")] if "<" in words else words).lstrip("&")
    return names if names.replace("::", "").isidentifier() else ""


def host_form(
    reading: Reading, bindings: Sequence[Binding], hosts: Sequence[Function], launches: Sequence[Launch]
) -> HostForm:
    """The form of the file; a binding outranks a `main`, which outranks everything else."""
    if bindings or any(t.text in MODULES for t in reading.words):
        return HostForm.TORCH_EXTENSION
    if any(f.qualified == "main" for f in hosts):
        return HostForm.PROGRAM
    if any(takes_tensors(f) for f in hosts):
        return HostForm.TORCH_LAUNCHER
    inside = {launch.inside for launch in launches}
    launchers = [f for f in hosts if f.qualified in inside]
    if any(f.extern_c for f in hosts) and (not launchers or any(f.extern_c for f in hosts)):
        return HostForm.EXTERN_C
    return HostForm.POINTER_LAUNCHER if launchers else HostForm.KERNELS_ONLY


def takes_tensors(function: Function) -> bool:
    """Returns whether a torch tensor goes in or comes out."""
    types = (function.returns.base, *(p.type.base for p in function.params))
    return any(unqualified(base).rstrip(">").split("<")[-1] in _TENSORS for base in types)
