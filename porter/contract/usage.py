"""What a function does with its pointer and tensor parameters, through the kernels and functions it hands them to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from porter.contract.body import Body, comparisons, quietly, walk
from porter.contract.expressions import free_names, render
from porter.contract.requirements import requirements
from porter.contract.syntax import Binary, Call, Cast, Member, Name, Node, Subscript, Unary
from porter.source.dispatch import aliases, meanings
from porter.source.lexer import Token, TokenKind, match_bracket, split_arguments
from porter.source.parse import Read, read
from porter.source.program import Function, Macro, Program
from porter.source.text import Source

_MACRO_DEPTH = 3
_TYPEDEF = re.compile(r"\btypedef\s+([\w:\s]+?)\s+(\w+)\s*;")
_USING = re.compile(r"\busing\s+(\w+)\s*=\s*([\w:\s]+?)\s*;")
_ASSIGNMENTS = frozenset(("=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "%=", "<<=", ">>=", "++", "--"))
_STORES = ("__stcs", "__stcg", "__stwt", "__stwb", "cudaMemset")
_COPIES = frozenset(("cudaMemcpy", "cudaMemcpyAsync", "memcpy"))
_POINTERS = (
    "data_ptr",
    "mutable_data_ptr",
    "const_data_ptr",
    "data",
    "packed_accessor32",
    "packed_accessor64",
    "accessor",
)
_VIEWS = frozenset((*_POINTERS, "contiguous", "flatten", "view", "reshape", "value", "get", "clone", "to", "detach"))


@dataclass(frozen=True, slots=True)
class Use:
    """What becomes of one parameter.

    `selects`: its values index something; `indexes` names the parameters among that, `bounds` what they lie below.
    """

    reads: bool = False
    writes: bool = False
    accumulates: bool = False
    offsets: bool = False
    selects: bool = False
    indexes: frozenset[str] = frozenset()
    bounds: tuple[str, ...] = ()

    def joined(self, other: Use) -> Use:
        """Both uses together."""
        return Use(
            self.reads or other.reads, self.writes or other.writes, self.accumulates or other.accumulates,
            self.offsets or other.offsets, self.selects or other.selects, self.indexes | other.indexes,
            tuple(dict.fromkeys((*self.bounds, *other.bounds))),
        )  # fmt: skip


@dataclass
class Usage:
    """Uses of parameters in the functions of `program`, each function read once.

    `headers` are the local files it includes, which may name types and define functions.
    """

    program: Program
    headers: tuple[Source, ...] = ()
    _bodies: dict[Function, Body] = field(default_factory=dict)
    _uses: dict[Function, Mapping[str, Use]] = field(default_factory=dict)
    _readers: dict[Function, _Reader] = field(default_factory=dict)

    def body(self, function: Function) -> Body:
        """The body of `function`."""
        if function not in self._bodies:
            self._bodies[function] = Body(function.body_text or self.program.source.slice(function.body))
        return self._bodies[function]

    def requirements(self, function: Function) -> tuple[Node, ...]:
        """What the body demands before it goes on, through the checking macros it uses."""
        body = self.body(function)
        found = list(requirements(body))
        pending = [(name, nodes, 0) for name, nodes in body.calls]
        while pending:
            name, nodes, depth = pending.pop()
            macro = self._macros.get((name, len(nodes)))
            if macro is None or depth > _MACRO_DEPTH or any(n is None for n in nodes):
                continue
            inner = Body(_expanded(macro, nodes))
            found.extend(requirements(inner))
            pending.extend((n, a, depth + 1) for n, a in inner.calls)
        return tuple(found)

    @cached_property
    def _macros(self) -> Mapping[tuple[str, int], Macro]:
        return {(m.name, len(m.params)): m for m in self.program.macros if m.params is not None}

    def of(self, function: Function) -> Mapping[str, Use]:
        """The use of every parameter of `function` that is a pointer or a tensor."""
        if function not in self._uses:
            self._uses[function] = {}  # a recursive function adds nothing to what it does outside the recursion
            self._uses[function] = dict(self._reader(function).uses())
        return self._uses[function]

    def aliases(self, function: Function) -> Mapping[str, str]:
        """Every name in `function` that points into one of its buffers, and which."""
        return self._reader(function).aliases

    def _reader(self, function: Function) -> _Reader:
        if function not in self._readers:
            self._readers[function] = _Reader(self, function)
        return self._readers[function]

    @cached_property
    def constants(self) -> Mapping[str, Node]:
        """Object macros and namespace-scope constants with the expressions they stand for."""
        program = self.program
        outside = list(program.source.text)
        for function in (*program.kernels, *program.device_functions, *program.host_functions):
            start, end = function.span.start, function.span.end
            outside[start:end] = " " * (end - start)
        values = {name: nodes[0] for name, nodes in Body("".join(outside)).definitions.items()}
        for macro in program.macros:
            if macro.params is None and (node := quietly(macro.body)) is not None:
                values[macro.name] = node
        return values

    def named_type(self, base: str) -> str:
        """What a `typedef` or `using` of the source or its headers stands for; `base` itself where there is none."""
        for _ in range(_MACRO_DEPTH):
            base = self._type_names.get(base, base)
        return base

    @cached_property
    def _type_names(self) -> Mapping[str, str]:
        texts = [r.reading.text for r in (*self._read_headers, read(self.program.source))]
        names: dict[str, str] = {}
        for text in texts:
            names |= {m.group(2): m.group(1).strip() for m in _TYPEDEF.finditer(text)}
            names |= {m.group(1): m.group(2).strip() for m in _USING.finditer(text)}
        return names

    def callee(self, name: str, count: int) -> Function | None:
        """The function of the program or its headers called `name` that takes `count` arguments."""
        return next((f for f in self._by_name.get(name, ()) if _accepts(f, count)), None)

    @cached_property
    def _by_name(self) -> Mapping[str, list[Function]]:
        named: dict[str, list[Function]] = {}
        for program in (self.program, *(r.program for r in self._read_headers)):
            for function in (*program.kernels, *program.device_functions, *program.host_functions):
                named.setdefault(function.name, []).append(function)
        return named

    def dispatched(self, function: Function) -> tuple[str, ...]:
        """What dispatch macros in `function`, expanded or not, make of names: `case Half: { using T = half;`."""
        macros = {m.name: m for p in (*(r.program for r in self._read_headers), self.program) for m in p.macros}
        words = self.body(function).words
        found: list[str] = []
        for i in range(2, len(words) - 1):
            if words[i].text == "using" and ":" in (words[i - 1].text, words[i - 2].text):
                found += [meaning for _, meaning in islice(aliases(words[i:]), 1)]
            elif words[i].text.isupper() and words[i + 1].text == "(":
                found += [t for types in meanings(words, i, macros).values() for t in types]
        return tuple(dict.fromkeys(found))

    @cached_property
    def header_hosts(self) -> tuple[Function, ...]:
        """The host functions that headers define."""
        return tuple(f for r in self._read_headers for f in r.program.host_functions)

    @cached_property
    def header_kernels(self) -> tuple[Function, ...]:
        """The kernels that headers define."""
        return tuple(f for r in self._read_headers for f in r.program.kernels)

    @cached_property
    def _read_headers(self) -> tuple[Read, ...]:
        return tuple(read(header) for header in self.headers)


def _expanded(macro: Macro, arguments: Sequence[Node | None]) -> str:
    """The text of `macro` with `arguments` for its parameters."""
    texts = {p: f"({render(n)})" for p, n in zip(macro.params or (), arguments, strict=True) if n is not None}
    return re.sub(r"\w+", lambda m: texts.get(m.group(), m.group()), macro.body)


def _accepts(function: Function, count: int) -> bool:
    needed = sum(1 for p in function.params if not p.default)
    return needed <= count <= len(function.params)


def is_buffer(type_text: str, pointers: int) -> bool:
    """Whether a parameter of this type is a tensor, a pointer or an accessor."""
    return pointers > 0 or "Tensor" in type_text or "Accessor" in type_text


def root(node: Node) -> str:
    """The name a pointer expression points into: `x` for `(float4*)(x + i)`, `&x[i]`, `x.data_ptr<float>()`."""
    match node:
        case Name(name):
            return name
        case Cast(_, operand) | Unary("&", operand):
            return root(operand)
        case Subscript(owner, _):
            return root(owner)
        case Binary("+" | "-", left, right):
            return root(left) or root(right)
        case Call(Member(owner, name), _) if name in _VIEWS:
            return root(owner)
        case Member(owner, name) if name in _VIEWS:
            return root(owner)
        case _:
            return ""


def _root(node: Node | None) -> str:
    return root(node) if node is not None else ""


class _Reader:
    """One function's body, read for all its buffers at once."""

    def __init__(self, usage: Usage, function: Function) -> None:
        self.usage = usage
        self.function = function
        self.body = usage.body(function)
        self.buffers = {p.name: p for p in function.params if p.name and is_buffer(p.type.text, p.type.pointers)}
        self.aliases: Mapping[str, str] = self._aliases()

    def _aliases(self) -> dict[str, str]:
        """Every name that points into a buffer, and which."""
        owner = {name: name for name in self.buffers}
        for _ in range(3):  # an alias of an alias of an alias
            for name, nodes in self.body.definitions.items():
                found = next((owner[r] for n in nodes if _is_pointer(n, owner) and (r := root(n)) in owner), None)
                if found is not None and name not in owner:
                    owner[name] = found
            for callee, arguments in self.body.calls:
                if callee in _COPIES and len(arguments) > 2:
                    left, right = (_root(a) for a in arguments[:2])
                    if right in owner and left and left not in owner:
                        owner[left] = owner[right]
                    elif left in owner and right and right not in owner:
                        owner[right] = owner[left]
        return owner

    def uses(self) -> Iterator[tuple[str, Use]]:
        """Each buffer with what is done to it."""
        found = {name: Use() for name in self.buffers}
        for name, use in (*self._accesses(), *self._handed_on()):
            found[name] = found[name].joined(use)
        for name, use in self._indexing():
            found[name] = found[name].joined(use)
        for name, use in found.items():
            const = self.buffers[name].type.const
            yield name, replace(use, writes=False, accumulates=False, reads=True) if const else use

    def _accesses(self) -> Iterator[tuple[str, Use]]:
        words = self.body.words
        for i, word in enumerate(words):
            owner = self.aliases.get(word.text)
            if owner is None or word.kind is not TokenKind.IDENTIFIER or (i and words[i - 1].text in (".", "->", "::")):
                continue
            after = words[i + 1].text if i + 1 < len(words) else ""
            starred = i > 1 and words[i - 1].text == "*" and words[i - 2].text in (";", "{", "}", "=", "(", ")", ",")
            if after == "[" or starred:
                yield owner, _access(words, i)
            elif after not in (".", "->"):
                yield from ((owner, use) for use in _outer_store(words, i))

    def _handed_on(self) -> Iterator[tuple[str, Use]]:
        """What functions this one calls do to the buffers it hands them."""
        for name, arguments in self.body.calls:
            roots = [self.aliases.get(_root(a), "") for a in arguments]
            if not any(roots):
                continue
            callee = self.usage.callee(name, len(arguments))
            if callee is None:
                yield from self._unknown(name, roots)
                continue
            inner = self.usage.of(callee)
            names = {p.name: r for p, r in zip(callee.params, roots, strict=False)}
            for param, owner in zip(callee.params, roots, strict=False):
                if owner and param.name in inner:
                    use = inner[param.name]
                    indexed = frozenset(names[q] for q in use.indexes if names.get(q))
                    yield owner, replace(use, indexes=indexed, bounds=self._outside(use.bounds, callee, arguments))

    @staticmethod
    def _outside(bounds: tuple[str, ...], callee: Function, arguments: tuple[Node | None, ...]) -> tuple[str, ...]:
        """Bounds named by parameters of `callee`, in the terms of this function."""
        given = {p.name: a for p, a in zip(callee.params, arguments, strict=False)}
        nodes = (given.get(bound) for bound in bounds)
        return tuple(render(node) for node in nodes if node is not None)

    def _unknown(self, name: str, roots: list[str]) -> Iterator[tuple[str, Use]]:
        if name.startswith("atomic") and roots[0]:
            yield roots[0], Use(reads=True, writes=True, accumulates=True)
        elif name.startswith(_STORES) and roots[0]:
            yield roots[0], Use(writes=True)
        elif name in _COPIES and len(roots) > 1:
            yield from ((r, u) for r, u in zip(roots, (Use(writes=True), Use(reads=True)), strict=False) if r)
        elif name.startswith(("__ld", "load")):
            yield from ((r, Use(reads=True)) for r in roots if r)

    def _indexing(self) -> Iterator[tuple[str, Use]]:
        """Which integer buffers hold indices, of what, and below which bound."""
        for name, param in self.buffers.items():
            if not is_integer(param.type.base):
                continue
            own = {a for a, owner in self.aliases.items() if owner == name}
            tainted = self._tainted(own)
            targets = {t for t in self._indexed_by(own, tainted) if t != name}
            below = [
                render(c.right) for node in self.body.conditions for c in comparisons(node)
                if c.operator == "<" and free_names(c.left) & tainted and not free_names(c.right) & tainted
            ]  # fmt: skip
            offsets = bool(targets) and self._has_neighbours(own)
            yield name, Use(selects=bool(targets), indexes=frozenset(targets), bounds=tuple(below), offsets=offsets)

    def _tainted(self, own: set[str]) -> set[str]:
        """Names whose values come from the buffer called `own`, loops up to such a value included."""
        tainted: set[str] = set()
        for _ in range(4):
            for name, nodes in self.body.definitions.items():
                if name not in self.aliases and any(_holds_value_of(n, own, tainted) for n in nodes):
                    tainted.add(name)
            for node in self.body.conditions:
                for c in comparisons(node):
                    if (
                        c.operator in ("<", "<=")
                        and isinstance(c.left, Name)
                        and _holds_value_of(c.right, own, tainted)
                    ):
                        tainted.add(c.left.name)
        return tainted

    def _indexed_by(self, own: set[str], tainted: set[str]) -> Iterator[str]:
        words = self.body.words
        for i, word in enumerate(words[:-1]):
            if word.text in self.aliases and words[i + 1].text == "[":
                close = match_bracket(words, i + 1)
                inside = {w.text for w in words[i + 2 : close]}
                if inside & tainted or inside & own:
                    yield self.aliases[word.text]
        for name, nodes in self.body.definitions.items():
            if name in self.aliases and any(free_names(n) & (tainted | own) - {name} for n in nodes):
                target = self.aliases[name]
                if target not in own:
                    yield target

    def _has_neighbours(self, own: set[str]) -> bool:
        """Whether element `e` and element `e + 1` are both read: then the buffer holds offsets."""
        words = self.body.words
        read = set()
        for i, word in enumerate(words[:-1]):
            if word.text in own and words[i + 1].text == "[":
                read.add("".join(w.text for w in words[i + 2 : match_bracket(words, i + 1)]))
        return any(f"{index}+1" in read or f"1+{index}" in read for index in read)


def is_integer(base: str) -> bool:
    """Whether values of a type can be indices."""
    plain = base.rsplit("::", 1)[-1]
    return "int" in plain or plain in ("long", "long long", "size_t", "unsigned", "index_t", "unsigned long long")


def _is_pointer(node: Node, owner: Mapping[str, str]) -> bool:
    """Whether a definition makes a pointer or tensor, not a value read through one."""
    match node:
        case Subscript():
            return False
        case Unary("*", _):
            return False
        case Cast(type_, operand):
            return "*" in type_ or _is_pointer(operand, owner)
        case Binary(operator, left, right):
            return operator in "+-" and (_is_pointer(left, owner) or _is_pointer(right, owner))
        case Name(name):
            return name in owner
        case _:
            return root(node) in owner


def _holds_value_of(node: Node, own: set[str], tainted: set[str]) -> bool:
    for part in walk(node):
        if isinstance(part, Name) and part.name in tainted:
            return True
        if (
            isinstance(part, Subscript | Unary)
            and root(part.owner if isinstance(part, Subscript) else part.operand) in own
        ):
            return True
        if isinstance(part, Call) and any(root(a) in own for a in part.arguments):
            return True
    return False


def _access(words: Sequence[Token], index: int) -> Use:
    """The access at the buffer name `words[index]`, which a subscript follows or a star precedes."""
    i = index + 1
    while i < len(words) and words[i].text == "[":
        i = (match_bracket(words, i) or len(words)) + 1
    while i + 1 < len(words) and words[i].text == ".":
        i += 2
    outer = _outer_store(words, index)
    if outer:
        return outer[0]
    return _by_operator(words[i].text if i < len(words) else "", words[index - 1].text if index else "")


def _by_operator(after: str, before: str) -> Use:
    if after == "=":
        return Use(writes=True)
    if after in _ASSIGNMENTS or before in ("++", "--"):
        return Use(reads=True, writes=True)
    return Use(reads=True)


def _outer_store(words: Sequence[Token], index: int) -> list[Use]:
    """A store through what encloses the name: `FLOAT4(y[i]) = v`, `((float4*)y)[i] = v`, `*(y + i) = v`."""
    depth = 0
    start = index
    while start > 0 and depth >= 0:
        start -= 1
        text = words[start].text
        depth += (text in (")", "]")) - (text in ("(", "["))
        if text in (";", "{", "}", "=") and depth == 0:
            return []
    close = match_bracket(words, start) if words[start].text == "(" else None
    if close is None or (any(w.text == "," for w in words[start:close]) and len(split_arguments(words, start)) > 1):
        return []
    i = close + 1
    while i < len(words) and words[i].text in ("[", ")"):
        i = (match_bracket(words, i) or len(words)) + 1 if words[i].text == "[" else i + 1
    after = words[i].text if i < len(words) else ""
    head = words[start - 1].text if start else ""
    if after in _ASSIGNMENTS and head not in ("if", "while", "for", "switch"):
        return [_by_operator(after, "")]
    return []
