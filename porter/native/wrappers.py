"""Writes the source for nvcc: the original, and around each entry a function that the driver's side can call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from porter.contract.model.contract import EntryKind
from porter.execution.job import Callee
from porter.native.requests import EXTENSION
from porter.source.edit import Edit, apply_edits
from porter.source.lexer import Token, match_bracket, significant, tokens
from porter.source.vocabulary import MODULES
from porter.translation_unit import TranslationUnit

_ARGUMENTS, _TENSORS = (Path(__file__).with_name(name) for name in ("original.inc", "tensors.inc"))


def wrapped(side: TranslationUnit, callees: Sequence[Callee], *, module: bool) -> str:
    """Returns the source with a wrapper around each entry, `porter_entry_<index>`; its lines keep their numbers.

    With `module` entries that take tensors are bound to Python, as `entry_<index>`; without, the source loses its own
    bindings.
    """
    torch = [i for i, callee in enumerate(callees) if callee.entry.kind is EntryKind.TORCH]
    bound = torch if module else []
    text = side.source.text if module else _unbound(side.source.text)
    parts = [f'#line {side.source.first_line} "{side.source.path.name}"\n', text, '\n#line 1 "wrappers"\n']
    parts.append(_ARGUMENTS.read_text("utf-8"))
    parts += [_TENSORS.read_text("utf-8")] if torch and not module else []
    parts += [_wrapper(callee, i) for i, callee in enumerate(callees) if i not in bound]
    bindings = "".join(_binding(callees[i], i) for i in bound)
    parts += [f"#include <torch/extension.h>\nPYBIND11_MODULE({EXTENSION}, m) {{\n{bindings}}}\n"] if bound else []
    return "".join(parts)


def _unbound(text: str) -> str:
    """Returns `text` without the modules that it binds its functions in."""
    stream = significant(tokens(text))
    gone = []
    for i, token in enumerate(stream):
        close = match_bracket(stream, i + 1) if token.text in MODULES and _is(stream, i + 1, "(") else None
        end = match_bracket(stream, close + 1) if close is not None and _is(stream, close + 1, "{") else None
        if end is not None:
            lines = "\n" * text.count("\n", token.start, stream[end].end)
            gone.append(Edit(token.start, stream[end].end, lines))
    return apply_edits(text, gone)


def _is(stream: Sequence[Token], index: int, text: str) -> bool:
    return index < len(stream) and stream[index].text == text


def _wrapper(callee: Callee, index: int) -> str:
    taken = "const PorterArgument* a, const unsigned* l, PorterArgument* r"
    head = f'extern "C" const char* porter_entry_{index}({taken}) {{\n  (void)a, (void)l, (void)r;\n'
    return f"{head}  return porter_guarded([&] {{ {_call(callee)} }});\n}}\n"


def _call(callee: Callee) -> str:
    if callee.entry.kind is EntryKind.TORCH:
        given = ", ".join(f"porter_given<{p.text}>(a[{i}])" for i, p in enumerate(callee.parameters))
        taken = f"PorterTaken taken{{a, {len(callee.parameters)}}};"
        return f"{taken} porter_store_tensors(r, [&] {{ return {_overload(callee)}({given}); }});"
    passed = ", ".join(_passed(callee))
    name = _named(callee)
    if callee.entry.kind is EntryKind.KERNEL:
        return f"porter_room(&{name}, l); {name}<<<dim3(l[0], l[1], l[2]), dim3(l[3], l[4], l[5]), l[6]>>>({passed});"
    return f"porter_store(r, [&] {{ return {name}({passed}); }});"


def _passed(callee: Callee) -> Iterator[str]:
    """Yields the value of each parameter: the fields of a struct are arguments of their own."""
    at = 0
    for index, parameter in enumerate(callee.parameters):
        fields = callee.fields[index] if callee.fields else ()
        if fields:
            given = " ".join(f"made.{f} = porter_as<decltype(made.{f})>(a[{at + i}]);" for i, f in enumerate(fields))
            made = f"[&] {{ {parameter.base} made{{}}; {given} return made; }}()"
            yield f"porter_named({made})" if parameter.reference and not parameter.const else made
        else:
            yield f"porter_as<{_plain(parameter.text)}>(a[{at}])"
        at += len(fields) or 1


def _binding(callee: Callee, index: int) -> str:
    return f'  m.def("entry_{index}", {_overload(callee)});\n'


def _overload(callee: Callee) -> str:
    """Returns the entry in a lambda, so that parameters pick the overload."""
    declared = ", ".join(f"{p.text} a{i}" for i, p in enumerate(callee.parameters))
    passed = ", ".join(f"a{i}" for i in range(len(callee.parameters)))
    return f"[]({declared}) {{ return {_named(callee)}({passed}); }}"


def _named(callee: Callee) -> str:
    template = f"<{', '.join(callee.entry.template)}>" if callee.entry.template else ""
    return f"{callee.entry.name}{template}"


def _plain(parameter: str) -> str:
    """Returns a parameter's type as a template argument: as a plain value type."""
    return re.sub(r"\b(?:__restrict__|__restrict|restrict|__grid_constant__)\b", "", parameter).strip()
