"""`__shared__` declarations as storage that each block enters.

The declarator is kept whole and becomes that of a typedef, so arrays, pointers, structs and dependent types need no
understanding: `__shared__ T x[N][M], y;` → `typedef T porter_type_x[N][M]; static SharedStorage<porter_type_x> …`.
At namespace scope, where nothing is executed, the functions that use the variable enter it where they begin.
The reference that gets the variable's name is static, too: a lambda that captures by value must not copy the array.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from porter.source.edit import Edit
from porter.source.lexer import Token, TokenKind, match_bracket
from porter.source.vocabulary import STATEMENT_ENDS

_DROPPED = frozenset(("static", "extern"))
_QUALIFIERS = frozenset(("__align__", "alignas", "static", "extern", "volatile"))
_NESTING = ("(", ",", "<")
_BEFORE_BODY = frozenset((")", "const", "noexcept"))


@dataclass
class SharedNames:
    """The names that a text's declarations have in common.

    `declared` are dynamic arrays already declared at namespace scope, since CUDA lets each be declared again and again.
    `spellings` are `__shared__` and the macros that stand for it.
    """

    declared: set[str] = field(default_factory=set)
    spellings: set[str] = field(default_factory=lambda: {"__shared__"})

    def is_spelling(self, body: Sequence[Token]) -> bool:
        """Returns whether a macro's body is `__shared__`, alone or with other qualifiers: then the macro stands for
        it.
        """
        words = {t.text for t in body if t.kind is TokenKind.IDENTIFIER}
        return bool(words & self.spellings) and words <= self.spellings | _QUALIFIERS


@dataclass(frozen=True, slots=True)
class _Declaration:
    """`specifiers declarator, declarator;` without `__shared__`, `static` and `extern`."""

    first: Token
    last: Token
    dynamic: bool
    specifiers: str
    declarators: tuple[_Declarator, ...]
    in_function: bool


@dataclass(frozen=True, slots=True)
class _Declarator:
    """`before name after`: the `*` of a pointer stands before, array extents after; `outer` is the first extent."""

    before: str
    name: str
    after: str
    outer: str


def shared_edits(text: str, code: Sequence[Token], names: SharedNames, macro: frozenset[str] | None) -> list[Edit]:
    """Edits for every `__shared__` of `code`. `macro` holds the parameters of the macro whose body `code` is."""
    edits: list[Edit] = []
    in_function = _function_scopes(code) if macro is None else [True] * len(code)
    users = _Users(code, in_function)
    blocks = _blocks(code)
    met: set[tuple[int, str]] = set()
    for index, token in enumerate(code):
        if token.text not in names.spellings or token.kind is not TokenKind.IDENTIFIER:
            continue
        begin = _begin(code, index)
        if begin > 0 and code[begin - 1].text in _NESTING:  # a parameter or a cast, where the qualifier says nothing
            edits.append(Edit(token.start, token.end, ""))
            continue
        declaration = _declaration(code, begin, index, names, in_function[index], in_macro=macro is not None)
        if declaration is None:  # left to the compiler, which knows no `__shared__` and says so
            continue
        if declaration.dynamic and declaration.in_function:  # which a block may declare again and again
            declaration = replace(declaration, declarators=tuple(_first_met(declaration, blocks[index], met)))
        lines = text.count("\n", declaration.first.start, declaration.last.end)
        continued = "\\\n" if macro is not None else "\n"
        replacement = " ".join(_statements(declaration, names, macro or frozenset()))
        kept = replacement.count("\n")
        edits.append(Edit(declaration.first.start, declaration.last.end, replacement + continued * (lines - kept)))
        if not declaration.in_function and not declaration.dynamic:
            users.declare(index, declaration.declarators)
    return [*edits, *users.edits()]


def _first_met(declaration: _Declaration, block: int, met: set[tuple[int, str]]) -> Iterator[_Declarator]:
    """Yields the names that `block` declares for the first time, and notes them."""
    for declarator in declaration.declarators:
        if (block, declarator.name) not in met:
            met.add((block, declarator.name))
            yield declarator


@dataclass
class _Users:
    """The functions that use variables declared at namespace scope: each enters them where it begins."""

    code: Sequence[Token]
    in_function: Sequence[bool]
    entries: dict[int, str] = field(default_factory=dict)  # by the end of the brace a function opens with

    def declare(self, index: int, declarators: Sequence[_Declarator]) -> None:
        """Note the functions that use what is declared at `code[index]`, up to the end of its scope."""
        depth = 0
        while index < len(self.code) and depth >= 0:
            word = self.code[index].text
            close = match_bracket(self.code, index) if word == "{" and not self._opens_scope(index) else None
            if close is not None:
                if self.code[index - 1].text in _BEFORE_BODY:
                    used = {t.text for t in self.code[index:close]}
                    self._enter(self.code[index].end, [d.name for d in declarators if d.name in used])
                index = close
            else:
                depth += (word == "{") - (word == "}")
            index += 1

    def _opens_scope(self, index: int) -> bool:
        """Returns whether what stands behind the brace is at namespace scope again."""
        return index + 1 < len(self.code) and not self.in_function[index + 1]

    def _enter(self, at: int, names: Sequence[str]) -> None:
        calls = "".join(f" {_entering(f'porter_shared_{name}', name)}" for name in names)
        self.entries[at] = self.entries.get(at, "") + calls

    def edits(self) -> list[Edit]:
        """The calls, written behind the opening braces."""
        return [Edit(at, at, calls) for at, calls in self.entries.items() if calls]


def _statements(declaration: _Declaration, names: SharedNames, parameters: frozenset[str]) -> Iterator[str]:
    for d in declaration.declarators:
        paste = "##" if d.name in parameters else ""
        kind, storage = f"porter_type_{paste}{d.name}", f"porter_shared_{paste}{d.name}"
        if declaration.dynamic:
            if not declaration.in_function:
                if d.name in names.declared:
                    continue
                names.declared.add(d.name)
            yield from _dynamic(declaration, d, kind)
        else:
            yield f"typedef {declaration.specifiers} {d.before}{kind}{d.after};"
            yield f"static ::porter::simt::SharedStorage<{kind}> {storage};"
            if declaration.in_function:
                yield _entering(storage, d.name)
            yield f"static auto& {d.name} = reinterpret_cast<{kind}&>({storage}.bytes);"


def _entering(storage: str, name: str) -> str:
    return f'::porter::simt::enter_shared({storage}, "{name}");'


def _dynamic(declaration: _Declaration, d: _Declarator, kind: str) -> Iterator[str]:
    """A pointer to the first element for an array, a reference for anything else."""
    yield f"typedef {declaration.specifiers} {d.before}{kind}{d.after};"
    static = "" if declaration.in_function else "static "
    memory = "::porter::simt::dynamic_shared_memory"
    if d.outer:
        yield f"[[maybe_unused]] {static}{kind}* const {d.name} = reinterpret_cast<{kind}*>({memory});"
    else:
        yield f"[[maybe_unused]] {static}{kind}& {d.name} = *reinterpret_cast<{kind}*>({memory});"


def _begin(code: Sequence[Token], index: int) -> int:
    """Returns where the declaration that holds `code[index]` begins."""
    while index > 0 and code[index - 1].text not in STATEMENT_ENDS and code[index - 1].text not in (*_NESTING, ":"):
        index -= 1
    return index


def _declaration(
    code: Sequence[Token], begin: int, index: int, names: SharedNames, in_function: bool, *, in_macro: bool
) -> _Declaration | None:
    """The declaration from `begin` around the `__shared__` at `index`; None when it has no name or no end.

    In a macro's body the end of the body ends it, too: the `;` is at the macro's use.
    """
    end = _statement_end(code, index)
    if end is None and not in_macro:
        return None
    last = len(code) - 1 if end is None else end
    words = [t for t in code[begin : last if end is not None else last + 1] if t.text not in _DROPPED | names.spellings]
    dynamic = any(t.text == "extern" for t in code[begin:last])
    chunks = _chunks(words)
    split = _name_position(chunks[0]) if chunks else None
    if split is None:
        return None
    head = split
    while head > 0 and chunks[0][head - 1].text in ("*", "&"):
        head -= 1
    specifiers = _joined(chunks[0][:head])
    declarators = [_declarator(chunks[0][head:], dynamic), *(_declarator(c, dynamic) for c in chunks[1:])]
    return _Declaration(code[begin], code[last], dynamic, specifiers, tuple(declarators), in_function)


def _statement_end(code: Sequence[Token], index: int) -> int | None:
    """Index of the `;` that ends the declaration; None when a bracket closes first."""
    while index < len(code):
        word = code[index].text
        if word == ";":
            return index
        if word in ("(", "[", "{"):
            close = match_bracket(code, index)
            if close is None:
                return None
            index = close
        elif word in (")", "]", "}"):
            return None
        index += 1
    return None


def _chunks(words: Sequence[Token]) -> list[list[Token]]:
    """The declarators, the first with the specifiers before it: split at commas outside every bracket."""
    chunks: list[list[Token]] = [[]]
    index = 0
    while index < len(words):
        word = words[index].text
        close = match_bracket(words, index) if word in ("(", "[", "{", "<") else None
        if word == ",":
            chunks.append([])
        elif close is not None:
            chunks[-1].extend(words[index : close + 1])
            index = close
        else:
            chunks[-1].append(words[index])
        index += 1
    return [chunk for chunk in chunks if chunk]


def _name_position(chunk: Sequence[Token]) -> int | None:
    """Index of the declared name: the last identifier outside brackets that is followed by `[` or by nothing."""
    index, found = 0, None
    while index < len(chunk):
        word = chunk[index].text
        close = match_bracket(chunk, index) if word in ("(", "[", "{", "<") else None
        if close is not None:
            if word == "[" and found is not None:
                return found
            index = close
        elif chunk[index].kind is TokenKind.IDENTIFIER:
            found = index
        index += 1
    return found


def _declarator(chunk: Sequence[Token], dynamic: bool) -> _Declarator:
    position = _name_position(chunk) or 0
    rest, outer = position + 1, ""
    if dynamic and rest < len(chunk) and chunk[rest].text == "[":
        close = match_bracket(chunk, rest) or rest
        outer, rest = _joined(chunk[rest : close + 1]), close + 1
    before = _joined(chunk[:position])
    return _Declarator(before, chunk[position].text, _joined(chunk[rest:]), outer)


def _joined(words: Sequence[Token]) -> str:
    """The words on one line, set apart as they were."""
    parts: list[str] = []
    for before, word in zip([None, *words], words, strict=False):
        if before is not None and before.end != word.start:
            parts.append(" ")
        parts.append(word.text)
    return "".join(parts)


def _function_scopes(code: Sequence[Token]) -> list[bool]:
    """For each token, whether it stands inside a function: inside a brace that opens no namespace and no linkage."""
    inside: list[bool] = []
    braces: list[bool] = []
    for index, token in enumerate(code):
        inside.append(any(braces))
        if token.text == "{":
            before = [t.text for t in code[max(0, index - 2) : index]]
            opens_scope = "namespace" in before or (len(before) == 2 and before[0] == "extern")
            braces.append(not opens_scope)
        elif token.text == "}" and braces:
            braces.pop()
    return inside


def _blocks(code: Sequence[Token]) -> list[int]:
    """Returns for each token where the innermost brace around it opens; -1 outside of all."""
    innermost: list[int] = []
    open_ = [-1]
    for index, token in enumerate(code):
        if token.text == "}" and len(open_) > 1:
            open_.pop()
        innermost.append(open_[-1])
        if token.text == "{":
            open_.append(index)
    return innermost
