"""Function definitions: their extent from the tree where it has them, their head from the tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from porter.source.lexer import Token, TokenKind, match_bracket
from porter.source.program import Function
from porter.source.reading import Reading
from porter.source.shared import shared_arrays
from porter.source.signature import Signature, read_signature
from porter.source.syntax import ask
from porter.source.vocabulary import CONTROL, QUALIFIERS, STATEMENT_ENDS, WITH_ARGUMENTS


@dataclass(frozen=True, slots=True)
class Defined:
    """A function with its place in the text the grammar read: `start`, `body` and `end` are offsets there.

    `whole` is False for a function the grammar did not find, whose extent comes from the brackets alone.
    """

    function: Function
    start: int
    body: int
    end: int
    whole: bool


def find_functions(reading: Reading) -> list[Defined]:
    """Every function defined in `reading`, in order."""
    found = [d for d in _from_tree(reading) if d is not None]
    covered = {d.body for d in found}
    found.extend(_kernels_from_tokens(reading, covered))
    return sorted(found, key=lambda d: (d.start, -d.end))


def _from_tree(reading: Reading) -> Iterator[Defined | None]:
    for captures in ask("functions", reading.tree.root_node):
        node, body = captures["function"][0], captures["body"][0]
        scope, extern_c, outer = _surroundings(node)
        start = _head_start(reading, outer.start_byte)
        yield _defined(reading, start, body.start_byte, node.end_byte, scope, extern_c=extern_c, whole=True)


def _surroundings(node: Node) -> tuple[tuple[str, ...], bool, Node]:
    """Namespaces and classes around a definition, whether it is extern "C", and the node its head begins with."""
    scope: list[str] = []
    extern_c = False
    outer, parent = node, node.parent
    while parent is not None:
        if parent.type == "template_declaration" and outer.end_byte == parent.end_byte:
            outer = parent
        elif parent.type == "linkage_specification":
            extern_c = extern_c or b'"C"' in (parent.text or b"")[:16]
            if outer.parent == parent:
                outer = parent
        elif parent.type in ("namespace_definition", "class_specifier", "struct_specifier"):
            name = parent.child_by_field_name("name")
            if name is not None and name.text is not None:
                scope.append(name.text.decode("ascii").split("<")[0])
        parent = parent.parent
    return tuple(reversed(scope)), extern_c, outer


def _head_start(reading: Reading, offset: int) -> int:
    """`offset`, or where the masked qualifiers directly before it begin."""
    words = reading.words
    index = reading.index_at(offset)
    while index > 0:
        before = index - 1
        if words[before].text == ")":
            before = _back_to_open(words, before) - 1
            if before < 0 or words[before].text not in WITH_ARGUMENTS:
                break
        elif words[before].text not in QUALIFIERS:
            break
        index = before
    return words[index].start if index < len(words) else offset


def _back_to_open(words: Sequence[Token], close: int) -> int:
    depth = 0
    for i in range(close, -1, -1):
        depth += (words[i].text == ")") - (words[i].text == "(")
        if depth == 0:
            return i
    return 0


def _kernels_from_tokens(reading: Reading, covered: set[int]) -> Iterator[Defined]:
    """`__global__` definitions by their brackets, for those the grammar loses."""
    words = reading.words
    for at, body_start in kernel_definitions(words):
        if body_start in covered:
            continue
        body = reading.index_at(body_start)
        close = match_bracket(words, body)
        end = words[close].end if close is not None else len(reading.text)
        start = words[_statement_start(words, reading.index_at(at))].start
        defined = _defined(reading, start, body_start, end, (), extern_c=False, whole=False)
        if defined is not None:
            yield defined


def kernel_definitions(words: Sequence[Token]) -> list[tuple[int, int]]:
    """Offsets of `__global__` and of the body's brace of every kernel defined, not merely declared, in `words`."""
    found: list[tuple[int, int]] = []
    for i, token in enumerate(words):
        if token.text == "__global__" and token.kind is TokenKind.IDENTIFIER:
            body = _body_after(words, i)
            if body is not None:
                found.append((token.start, words[body].start))
    return found


def _body_after(words: Sequence[Token], index: int) -> int | None:
    """Index of the `{` of the definition whose head holds `words[index]`; None for a declaration."""
    i = index
    while i < len(words):
        text = words[i].text
        if text == "{":
            return i
        if text in (";", "}", "="):
            return None
        close = match_bracket(words, i) if text in ("(", "[") else None
        i = i + 1 if close is None else close + 1
    return None


def _statement_start(words: Sequence[Token], index: int) -> int:
    while index > 0 and words[index - 1].text not in STATEMENT_ENDS:
        index -= 1
    return index


def _defined(
    reading: Reading, start: int, body: int, end: int, scope: tuple[str, ...], *, extern_c: bool, whole: bool
) -> Defined | None:
    head = reading.words[reading.index_at(start) : reading.index_at(body)]
    signature = read_signature(reading, head)
    if signature is None or signature.name in CONTROL:
        return None
    extern_c = extern_c or (len(head) > 1 and head[0].text == "extern" and head[1].text == '"C"')
    function = _function(reading, signature, scope, extern_c, (start, body, end))
    return Defined(function, start, body, end, whole)


def _function(
    reading: Reading, signature: Signature, scope: tuple[str, ...], extern_c: bool, place: tuple[int, int, int]
) -> Function:
    start, body, end = place
    return Function(
        name=signature.name,
        scope=(*scope, *signature.scope),
        space=signature.space,
        template=signature.template,
        returns=signature.returns,
        params=signature.params,
        shared=shared_arrays(reading, body, end),
        extern_c=extern_c,
        launch_bounds=signature.launch_bounds,
        header=reading.span(start, body),
        body=reading.span(body, end),
        span=reading.span(start, end),
        body_text=reading.text[body:end],
    )
