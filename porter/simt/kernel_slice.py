"""A source cut down to what is called and what that mentions: what is around it may need a whole framework."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tree_sitter import Node

from porter.source.directives import directives, macros
from porter.source.edit import Edit, apply_edits
from porter.source.lexer import TokenKind, significant, tokens
from porter.source.mask import blank, mask
from porter.source.parse import parse
from porter.source.program import Function
from porter.source.syntax import parse_masked
from porter.source_text import Source

_AROUND = frozenset(("namespace_definition", "linkage_specification", "declaration_list"))
_TYPES = frozenset(("class_specifier", "struct_specifier", "union_specifier", "enum_specifier"))
_CALLS = frozenset(("expression_statement", "static_assert_declaration", "ERROR"))  # of macros, as registrations are
_DECLARATIONS = _TYPES | _CALLS | {
    "function_definition", "declaration", "template_declaration", "template_instantiation", "type_definition",
    "alias_declaration", "using_declaration", "linkage_specification",
    "namespace_alias_definition",
}  # fmt: skip
_NAMES = frozenset(("identifier", "type_identifier", "field_identifier", "namespace_identifier"))
_EXPORT = re.compile(r"(\b(?:class|struct)\s+)([A-Z]\w*)(?=\s+\w+[^;(){]*\{)")  # `class LIBRARY_API Tensor {`
# `COPYABLE(Layer)` at the end of a class, whose closing brace the grammar would take for that of something else.
_LAST_CALL = re.compile(r"^[ \t]+[A-Z_][A-Z0-9_]*[ \t]*\([^()\n]*\)[ \t]*$(?=\s*\})", re.MULTILINE)
_SEMICOLON = re.compile(r"\s*;")  # of a class is no part of it
_BRACKETS = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_BLANKS = r"(?:\s|;|//[^\n]*|/\*.*?\*/)*"
_CALL = re.compile(rf"(?:[A-Z_]\w*\s*{_BRACKETS}{_BLANKS})+|;|static_assert.*", re.S)
_QUALIFIED = re.compile(rf"\b(?P<name>[A-Z_]\w*)(?:[ \t]*{_BRACKETS})?")
_ON_THE_DEVICE = frozenset(("__global__", "__device__", "__constant__"))
_QUALIFIERS = frozenset(
    ("const", "constexpr", "explicit", "extern", "inline", "noexcept", "static", "throw", "volatile",
     "__attribute__", "deprecated", "visibility", "default", "hidden", "__declspec", "dllexport", "dllimport")
)  # fmt: skip
_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class _Declaration:
    """Something at namespace scope: the `names` it declares, and all `words` in it."""

    start: int
    end: int
    names: frozenset[str]
    words: frozenset[str]


def kernel_slice(
    source: Source,
    headers: Sequence[Source] = (),
    defines: tuple[str, ...] = (),
    mentioned: frozenset[str] = frozenset(),
) -> tuple[Source, ...]:
    """`source` and its local `headers` without declarations that its kernels do not mention, not even through others.

    Directives stay, and every line where it was. Mentioned is what shares a name, whatever it is, and the names
    `mentioned`.
    """
    return _slice((source, *headers), lambda file: parse(file, defines=defines).kernels, mentioned)


def callee_slice(
    names: frozenset[str], source: Source, headers: Sequence[Source] = (), defines: tuple[str, ...] = ()
) -> tuple[Source, ...]:
    """Returns a slice like `kernel_slice`, of the functions and kernels called `names`, with their namespaces."""

    def called(file: Source) -> Iterator[Function]:
        program = parse(file, defines=defines)
        functions = (*program.host_functions, *program.device_functions, *program.kernels)
        return (f for f in functions if f.qualified in names)

    return _slice((source, *headers), called)


def without_failing(files: tuple[Source, ...], lines: frozenset[tuple[str, int]]) -> tuple[Source, ...]:
    """`files` without declarations of the host in which one of `lines` stands, each with the name of its file.

    What nothing else gives a meaning goes alone: who needs it fails to build, and means nothing else. What may run on
    the device, or while it is compiled, stays.
    """
    _, declared = _said(files)
    known = Counter(name for those in declared for d in those for name in d.names)
    gone = [
        [d for d in those if _is_of_the_host(d) and all(known[n] == 1 for n in d.names) and lines & _rows(file, d)]
        for file, those in zip(files, declared, strict=True)
    ]
    return tuple(
        Source(file.path, _without(file.text, those), file.first_line) for file, those in zip(files, gone, strict=True)
    )


def _is_of_the_host(declaration: _Declaration) -> bool:
    return not declaration.words & (_ON_THE_DEVICE | {"constexpr", "consteval"})


def _rows(file: Source, declaration: _Declaration) -> frozenset[tuple[str, int]]:
    """The lines of a declaration, each with the name of the file."""
    text = file.text[declaration.start : declaration.end]
    begin = file.first_line + file.text.count("\n", 0, declaration.end - len(text.lstrip()))
    return frozenset((file.path.name, row) for row in range(begin, begin + text.strip().count("\n") + 1))


def _slice(
    files: tuple[Source, ...], roots: Callable[[Source], Iterable[Function]], named: frozenset[str] = frozenset()
) -> tuple[Source, ...]:
    """`files` without declarations that none of their `roots` mentions, nor the names `named`."""
    bodies, declared = _said(files)
    kept = {
        d
        for file, those in zip(files, declared, strict=True)
        for span in (function.span for function in roots(file))
        for d in those
        if d.start <= span.start and span.end <= d.end
    }
    words = _mentioned(kept, bodies) | named
    while more := {d for those in declared for d in those if d.names & words} - kept:
        kept |= more
        words = _mentioned(kept, bodies) | named
    return tuple(
        Source(file.path, _without(file.text, [d for d in those if d not in kept]), file.first_line)
        for file, those in zip(files, declared, strict=True)
    )


@lru_cache(maxsize=4)
def _said(files: tuple[Source, ...]) -> tuple[Mapping[str, frozenset[str]], Sequence[tuple[_Declaration, ...]]]:
    """The words of the macros of `files`, by name, and what each file declares.

    It is remembered, since the callees of one source are looked for one after the other.
    """
    bodies: dict[str, frozenset[str]] = {}
    parameters = dict[str, frozenset[str]]()
    values = set[str]()  # names of numbers and signs, which have no words and yet mean something
    for macro in (m for file in files for m in macros(file, directives(file.text))):  # one may have several meanings
        if macro.body.strip() and not _WORD.search(macro.body):
            values.add(macro.name)
        bodies[macro.name] = bodies.get(macro.name, frozenset()).union(_WORD.findall(macro.body))
        parameters[macro.name] = parameters.get(macro.name, frozenset()).union(macro.params or ())
    makers = {name: words for name, words in bodies.items() if words & _ON_THE_DEVICE}
    qualifiers = frozenset(
        name for name, words in bodies.items() if words - parameters[name] <= _QUALIFIERS and name not in values
    )
    return bodies, [tuple(_declarations(file, makers, qualifiers)) for file in files]


def _mentioned(kept: set[_Declaration], bodies: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The words of `kept`, and those of macros among them."""
    found = frozenset[str]().union(*(d.words for d in kept))
    while more := frozenset[str]().union(*(bodies[w] for w in found & bodies.keys())) - found:
        found |= more
    return found


def _declarations(
    file: Source, makers: Mapping[str, frozenset[str]], qualifiers: frozenset[str]
) -> Iterator[_Declaration]:
    """Yields the declarations of `file`; calls of macros among `makers` declare what is written in these, and
    `qualifiers` say nothing to the grammar.
    """
    masked = _EXPORT.sub(lambda found: found[1] + blank(found[2]), mask(file.text))
    masked = _LAST_CALL.sub(lambda found: blank(found[0]), masked)
    masked = _QUALIFIED.sub(lambda found: blank(found[0]) if found["name"] in qualifiers else found[0], masked)
    for node in _outermost(parse_masked(masked).root_node):
        start = len(masked[: node.start_byte].rstrip())  # CUDA's qualifiers are blanked out
        semicolon = _SEMICOLON.match(masked, node.end_byte) if node.type in _TYPES else None
        end = semicolon.end() if semicolon else node.end_byte
        stream = significant(tokens(file.text[start:end]))
        words = frozenset(t.text for t in stream if t.kind is TokenKind.IDENTIFIER)
        called = _CALL.fullmatch(masked, node.start_byte, node.end_byte)
        braces = [t.text for t in stream if t.text in "{}"]
        if (node.type in _CALLS and not called) or braces.count("{") != braces.count("}"):
            continue  # part of what was not understood
        made = frozenset[str]().union(*(makers.get(word, ()) for word in words)) if called else ()
        yield _Declaration(start, end, frozenset((*_declared(node), *made)), words)


def _outermost(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        if child.type in _AROUND and not (child.type == "linkage_specification" and _is_single(child)):
            yield from _outermost(child)
        elif child.type in _DECLARATIONS and not (child.text or b"").startswith(b"using namespace"):
            yield child


def _is_single(linkage: Node) -> bool:
    """Returns whether `extern "C"` stands before one declaration, which goes with it."""
    body = linkage.child_by_field_name("body")
    return body is not None and body.type != "declaration_list"


def _declared(node: Node) -> Iterator[str]:
    """The names that a declaration gives to something; of an operator the types it is for."""
    declarator = node.child_by_field_name("declarator")
    if node.type in _NAMES:
        yield (node.text or b"").decode()
    elif declarator is not None and declarator.type == "operator_name":
        yield from (name for name in _types_in(node) if not name.endswith("_t"))
    elif node.type == "using_declaration":
        yield _WORD.findall((node.text or b"").decode())[-1]
    elif node.type not in _CALLS:
        for part in _parts(node):
            yield from _declared(part)


def _types_in(node: Node) -> Iterator[str]:
    for child in node.named_children:
        if child.type == "type_identifier":
            yield (child.text or b"").decode()
        yield from _types_in(child)


def _parts(node: Node) -> Iterator[Node]:
    """The parts of a declaration in which the names stand."""
    inner = _TYPES | {"enumerator", "enumerator_list"}
    if node.type in ("template_declaration", "linkage_specification"):
        inner |= _DECLARATIONS
    for child in node.named_children:
        if child.type in inner or child.type.endswith("declarator"):
            yield child
    for field in ("declarator", "name"):
        yield from node.children_by_field_name(field)


def _without(text: str, gone: Sequence[_Declaration]) -> str:
    """`text` with blanks for what is gone, but for the directives in it."""
    lines = [(d.start, d.end) for d in directives(text)]
    edits: list[Edit] = []
    start = 0
    for declaration in gone:
        start = max(start, declaration.start)
        for begin, end in [(b, e) for b, e in lines if start <= b < declaration.end]:
            edits.append(Edit(start, begin, blank(text[start:begin])))
            start = end
        edits.append(Edit(start, declaration.end, blank(text[start : declaration.end])))
        start = declaration.end
    return apply_edits(text, edits)
