"""The generated module: where it comes from, imports, helpers, kernels, launchers."""

from __future__ import annotations

import hashlib
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import black
from black.parsing import InvalidInput

from porter import __version__
from porter.source_text import Source
from porter_triton.layout import WIDTH

_MODULE = re.compile(r"\W")


@dataclass(frozen=True, slots=True)
class Parts:
    """The texts of a module's functions, in order; `helpers` are those its kernels call."""

    helpers: str
    kernels: tuple[str, ...]
    launchers: tuple[str, ...]


def module_name(source: Source) -> str:
    """Returns the name of the file: that of the source as a Python module."""
    stem = _MODULE.sub("_", source.path.name.split(".")[0]) or "port"
    return f"{'_' if stem[0].isdigit() else ''}{stem}_triton.py"


def assembled(source: Source, parts: Parts) -> str:
    """Returns the text of the module: no clock and no path in it, so that porting twice gives the same bytes."""
    kernels = tuple(_wrapped(kernel) for kernel in parts.kernels)
    others = _formatted(parts.helpers), *(_formatted(launcher) for launcher in parts.launchers)
    functions = [text for text in (others[0], *kernels, *others[1:]) if text]
    imports = [f"import {name}" for name in ("torch", "triton") if _mentions(functions, f"{name}.")]
    if _mentions(functions, "tl."):
        imports.append("import triton.language as tl")
    standard = [f"import {name}" for name in ("functools", "math", "os") if _mentions(functions, f"{name}.")]
    imports = [*standard, *([""] if standard else []), *imports]
    head = [_provenance(source), "", *imports] if imports else [_provenance(source)]
    return "\n".join(head) + "".join(f"\n\n\n{function.strip()}" for function in functions) + "\n"


def _formatted(text: str, width: int = WIDTH) -> str:
    """Lays the text out as `black` does; a text that black cannot read stays as it is, and `compile` reports it."""
    try:
        return black.format_str(text, mode=black.Mode(line_length=width))
    except InvalidInput:
        return text


def _wrapped(kernel: str) -> str:
    """Returns a kernel laid out as by `black` except for long lines: thousands of those would take seconds."""
    return "\n".join(line if len(line) <= WIDTH else _broken(line) for line in kernel.split("\n"))


def _broken(line: str) -> str:
    """Returns a statement or the head of one in several lines."""
    code = line.lstrip()
    indent = line[: len(line) - len(code)]
    body = "\n    pass" if code.endswith(":") else ""
    found = _formatted(code + body, WIDTH - len(indent)).rstrip("\n").removesuffix(body)
    return textwrap.indent(found, indent)


def _provenance(source: Source) -> str:
    digest = hashlib.sha256(source.text.encode()).hexdigest()[:16]
    return f'"""{source.path.name} in Triton, lowered by porter {__version__} (source {digest})."""'


def _mentions(functions: Sequence[str], name: str) -> bool:
    return any(re.search(rf"(?<![\w.]){re.escape(name)}", function) for function in functions)
