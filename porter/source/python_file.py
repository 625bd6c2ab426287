"""The CUDA of a Python file: its strings, put together as `load_inline` compiles them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from porter.diagnostics.findings import Finding
from porter.errors import InputError
from porter.python_tree import module_tree
from porter.source.findings import finding
from porter.source.lexer import TokenKind, significant, tokens
from porter.source.parse import parse
from porter.source.python_strings import Literal, Strings, called_name, holds_kernels
from porter.source_text import Source

_LOADERS = ("load_inline", "_load_inline")
_PARAMETERS = ("name", "cpp_sources", "cuda_sources", "functions")
# What `load_inline` writes above the CUDA it is given; the headers of the run-time, too, but those are known anyway.
_PREPENDED = "#include <torch/types.h>"
_TORCH_HEADERS = ("<torch/", "<ATen/", "<c10/")


def cuda_strings(path: Path, text: str) -> tuple[tuple[Source, ...], tuple[Finding, ...]]:
    """The CUDA of the Python file `text`, in order, and findings on strings of it put together at run time.

    A module of `load_inline` is one source; so is each string with kernels that no call is known to compile.
    Raises `InputError` when `text` is not Python.
    """
    try:
        module = module_tree(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None) or 1
        raise InputError(f"{path}:{line}: not Python: {error.args[0]}") from error
    strings = Strings(module)
    inline = tuple(_inline_modules(module, strings))
    taken = {part for m in inline for part in m.parts()}
    alone = [s for s in strings.whole() if holds_kernels(s.text) and s not in taken]
    anywhere = InlineModule((), (), tuple(dict.fromkeys(f for m in inline for f in m.functions)))
    sources = [source for m in inline for source in m.sources(path)]
    sources += [_source(path, literal, anywhere) for literal in {a.line: a for a in alone}.values()]
    whole = Source(path, text)
    findings = tuple(_refused(whole, node) for node in strings.built_at_run_time())
    return tuple(sorted(dict.fromkeys(sources), key=lambda source: source.first_line)), findings


@dataclass(frozen=True, slots=True)
class InlineModule:
    """One call of `load_inline`: the strings it compiles as CUDA and as C++, and the functions it is asked to bind."""

    cuda: tuple[Literal, ...]
    cpp: tuple[Literal, ...]
    functions: tuple[str, ...]

    def parts(self) -> tuple[Literal, ...]:
        """The strings of one program, in the order of the file: all of CUDA, and of C++ those that launch kernels."""
        chosen = {part.line: part for part in (*self.cuda, *self.cpp) if part in self.cuda or holds_kernels(part.text)}
        return tuple(part for _, part in sorted(chosen.items()))

    def sources(self, path: Path) -> Iterator[Source]:
        """The program: one source where the strings follow each other in the file, so that its lines are the file's."""
        joined: list[Literal] = []
        for part in self.parts():
            gap = part.line - joined[-1].line - joined[-1].text.count("\n") if joined else 0
            if gap > 0:
                joined[-1] = Literal(joined[-1].text + "\n" * gap + part.text, joined[-1].line)
            else:
                joined.append(part)
        yield from (_source(path, literal, self) for literal in joined if holds_kernels(literal.text))

    def exports(self, source: Source) -> tuple[str, ...]:
        """The functions that `source` defines for Python: those asked for, else those that the C++ wraps for it."""
        program = parse(source)
        hosts = {f.name for f in program.host_functions}
        defined = hosts | {k.name for k in program.kernels}
        asked = [name for name in self.functions if name in defined]
        if len(asked) == len(self.functions):
            return tuple(asked)
        elsewhere = (part for part in self.cpp if part not in self.parts())
        wrapped = [name for part in elsewhere for name in _called(part.text) if name in hosts]
        return tuple(dict.fromkeys((*asked, *wrapped)))


def _source(path: Path, literal: Literal, module: InlineModule) -> Source:
    compiled = _as_compiled(literal) if module.cuda or module.functions else literal
    source = Source(path, compiled.text, compiled.line)
    return replace(source, exports=module.exports(source))


def _as_compiled(literal: Literal) -> Literal:
    """`literal` below the header `load_inline` prepends, on the rest of the opening line where that is blank."""
    if any(header in literal.text for header in _TORCH_HEADERS):
        return literal
    line, stop, rest = literal.text.partition("\n")
    if stop and not line.strip():
        return Literal(f"{_PREPENDED}\n{rest}", literal.line)
    return Literal(f"{_PREPENDED}\n{literal.text}", literal.line - 1)


def _called(text: str) -> Iterator[str]:
    """The names that `text` declares as functions, or calls."""
    words = significant(tokens(text))
    return (name.text for name, after in pairwise(words) if name.kind is TokenKind.IDENTIFIER and after.text == "(")


def _inline_modules(module: ast.Module, strings: Strings) -> Iterator[InlineModule]:
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and called_name(node) in _LOADERS:
            given = dict(zip(_PARAMETERS, node.args, strict=False)) | {k.arg: k.value for k in node.keywords if k.arg}
            cpp, cuda, functions = (tuple(strings.elements(given.get(name))) for name in _PARAMETERS[1:])
            yield InlineModule(cuda, cpp, tuple(f.text for f in functions if f.text.isidentifier()))


def _refused(source: Source, node: ast.expr) -> Finding:
    start = source.line_starts[node.lineno - 1] + node.col_offset
    return finding(
        "PORT2005", source.span(start, start + 1), "this string of CUDA is put together when the program runs"
    )
