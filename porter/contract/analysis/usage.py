"""Finds what a function does with pointer and tensor parameters, through the kernels and functions that get them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, TypeVar

from porter.contract.analysis.access import Use, access, outer_store
from porter.contract.analysis.asserting import asserted_anyway
from porter.contract.analysis.body import Body, clauses, quietly, substitute
from porter.contract.analysis.declared_types import DeclaredTypes
from porter.contract.analysis.enumerations import enumerated, enumerations
from porter.contract.analysis.equalities import Equalities
from porter.contract.analysis.following import Following, dereferenced
from porter.contract.analysis.indexing import Indices
from porter.contract.analysis.pointers import COPIES, aliases, holds_integers, is_buffer, is_integer, root_of, viewed
from porter.contract.analysis.records import COMPONENTS, Records, owner, symbol
from porter.contract.analysis.requirements import requirements
from porter.contract.analysis.setting import sets, wholes
from porter.contract.analysis.unfolding import Unfolded, unfolded
from porter.contract.model.expressions import free_names, render, value
from porter.contract.model.syntax import ExpressionError, Name, Node, Number
from porter.source.arithmetic_types import arithmetic
from porter.source.dispatch import DispatchMacros
from porter.source.dispatch import aliases as dispatched_aliases
from porter.source.lexer import TokenKind
from porter.source.parse import Alone, read_alone
from porter.source.program import CType, Function, Launch, Macro, Param, Program, SharedArray
from porter.source_text import Source
from porter.syntax.words import translation_unit

T = TypeVar("T")

_MACRO_DEPTH = 3
_MADE_CLASS = re.compile(r"\b(?:struct|class)\s+(\w+(?:\s*##\s*\w+)+)")
_PARAMETERS = re.compile(r"#\s*define\s+\w+\(([^()]*)\)")
_CLASS = re.compile(r"\b(?:struct|class)\s+(?:alignas\([^;{]*?\)\s*|__\w+__\([^)]*\)\s*)?(\w+)")
_QUALIFIED = re.compile(r"(?:[A-Za-z_]\w*\s*::\s*)*([A-Za-z_]\w*)")
_COUNTING = ("atomicAdd", "atomicInc", "atomicCAS", "atomicExch", "atomicOr")
_STATEMENT_STARTS = frozenset((";", "{", "}", ")", "else"))
_STORES = ("__stcs", "__stcg", "__stwt", "__stwb", "cudaMemset")


@dataclass
class Usage:
    """Uses of parameters in the functions of `program`, each function read once.

    `headers` are the local files it includes, which may name types and define functions.
    """

    program: Program
    headers: tuple[Source, ...] = ()
    _bodies: dict[Function, Body] = field(default_factory=dict)
    _written_bodies: dict[Function, Body] = field(default_factory=dict)
    _followed: dict[Function, tuple[str, ...]] = field(default_factory=dict)
    _meanings: dict[Function, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    _uses: dict[Function, Mapping[str, Use]] = field(default_factory=dict)
    _readers: dict[Function, _Reader] = field(default_factory=dict)
    _called_hosts: dict[Function, tuple[Function, ...]] = field(default_factory=dict)
    _filled: dict[str, bool] = field(default_factory=dict)
    _found: dict[tuple[str, Function, int], Any] = field(default_factory=dict)

    def once(self, key: tuple[str, Function, int], find: Callable[[], T]) -> T:
        """Returns what `find` finds, which is called once: the key says what it looks for, in which function."""
        if key not in self._found:
            self._found[key] = find()
        found: T = self._found[key]
        return found

    def body(self, function: Function) -> Body:
        """Returns the body of `function`, with aliases of arithmetic types resolved, and with structs for the pointers
        to them that it only follows.
        """
        if function not in self._bodies:
            written, names = self._written(function), self.followed(function)
            self._bodies[function] = dereferenced(written, names) if names else written
        return self._bodies[function]

    def _written(self, function: Function) -> Body:
        if function not in self._written_bodies:
            written, words = function.body_text or self.program.source.slice(function.body), self.types.words
            text = _QUALIFIED.sub(lambda m: words.get(m[1], m[0]), written) if words else written
            self._written_bodies[function] = Body(text)
        return self._written_bodies[function]

    def followed(self, function: Function) -> tuple[str, ...]:
        """Returns the parameters of a host function that are pointers to structs of the program, and only followed."""
        if function not in self._followed:
            found = (p for p in function.params if p.name and self.records.behind(function, p))
            self._followed[function] = tuple(p.name for p in found if self._following.only_follows(function, p.name))
        return self._followed[function]

    @cached_property
    def _following(self) -> Following:
        return Following(self.types, self._written, self._callees)

    def requirements(self, function: Function) -> tuple[Node, ...]:
        """Returns what the body demands before it goes on, through the checking macros it uses, and what kernels assert
        of that which it hands them.
        """
        body = self.body(function)
        found = [*requirements(body), *self._asserted(body)]
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

    def _asserted(self, body: Body) -> Iterator[Node]:
        """Yields what the kernels that `body` launches assert in any case, of their parameters alone."""
        for name, arguments in body.calls:
            kernel = self.callee(name, len(arguments))
            if kernel is None or kernel.space != "global":
                continue
            handed = zip(kernel.params, arguments, strict=False)
            given = {p.name: viewed(a) for p, a in handed if a is not None and not self._is_changed(p, kernel)}
            stated = asserted_anyway(self.body(kernel), [p.name for p in kernel.params])
            demands = (clause for condition in stated for clause in clauses(condition))
            yield from (substitute(clause, given, 1) for clause in demands if free_names(clause) <= given.keys())

    def _is_changed(self, param: Param, kernel: Function) -> bool:
        """Returns whether `kernel` sets a number that it is handed."""
        return not is_buffer(param.type) and sets(self.body(kernel), param.name)

    @cached_property
    def _macros(self) -> Mapping[tuple[str, int], Macro]:
        programs = (*(r.program for r in self._read_headers), self.program)
        return {(m.name, len(m.params)): m for p in programs for m in p.macros if m.params is not None}

    def of(self, function: Function) -> Mapping[str, Use]:
        """Returns the use of every parameter of `function` that is a pointer or a tensor."""
        if function not in self._uses:
            self._uses[function] = {}  # a recursive function adds nothing to what it does outside the recursion
            self._uses[function] = dict(self._reader(function).uses())
        return self._uses[function]

    def is_tensor(self, type_: CType, function: Function) -> bool:
        """Returns whether a parameter of `function` of this type is a buffer, not an object of the program's own class.

        A library may call its class `Tensor`, too.
        """
        return is_buffer(type_) and (type_.pointers > 0 or not self.types.defines(type_, function.scope))

    def aliases(self, function: Function) -> Mapping[str, str]:
        """Returns every name in `function` that points into one of its buffers, and which."""
        return self._reader(function).aliases

    def unfolded(self, function: Function) -> Unfolded:
        """Returns the body of `function` with a variable for each field of its structs."""
        return self._reader(function).unfolded

    def _reader(self, function: Function) -> _Reader:
        if function not in self._readers:
            self._readers[function] = _Reader(self, function)
        return self._readers[function]

    @cached_property
    def constants(self) -> Mapping[str, Node]:
        """Object macros and namespace-scope constants with their expressions; the source's own hide its headers'."""
        programs = (*(r.program for r in self._read_headers), self.program)
        return {name: node for program in programs for name, node in _constants(program).items()}

    def named_type(self, base: str) -> str:
        """Returns the type that `base` names, by its canonical name; `base` itself where that is not known."""
        return self.types.followed(CType(base, base)).base

    @cached_property
    def types(self) -> DeclaredTypes:
        """The types that functions of the program and its headers are declared with."""
        return DeclaredTypes(self.program, self.headers)

    @cached_property
    def records(self) -> Records:
        """The structs that its functions are handed."""
        return Records(self.types, self.enumerations, self._is_filled, self.followed, self.is_unread)

    def _is_filled(self, base: str) -> bool:
        """Returns whether a host function sets fields of the class `base` through a reference that it is handed."""
        if base not in self._filled:
            handed = (
                (self.body(f), p.name)
                for f in (*self.program.host_functions, *self.header_hosts)
                for p in f.params
                if p.type.reference and not p.type.const and self.types.of(p, f).base == base
            )
            self._filled[base] = any(sets(body, name) or self._escapes(body, name) for body, name in handed)
        return self._filled[base]

    def _escapes(self, body: Body, name: str) -> bool:
        """Returns whether `body` has another name for an object, or hands it to a function that is not at hand."""
        known = (arguments for callee, arguments in body.calls if self.callee(callee, len(arguments)) is not None)
        return wholes(body, name) > sum(argument == Name(name) for arguments in known for argument in arguments)

    @cached_property
    def enumerations(self) -> Mapping[str, tuple[int, ...]]:
        """The values of the types that the source and its headers enumerate."""
        program = self.program
        files = translation_unit(program.source, self.headers, program.defines, program.elsewhere)
        return enumerations(file.reading.text for file in files)

    def callee(self, name: str, count: int) -> Function | None:
        """Returns the function of the program or its headers called `name` that takes `count` arguments."""
        return next(iter(self._callees(name, count)), None)

    def _callees(self, name: str, count: int) -> list[Function]:
        return [f for f in self._by_name.get(name, ()) if _accepts(f, count)]

    @cached_property
    def _by_name(self) -> Mapping[str, list[Function]]:
        named: dict[str, list[Function]] = {}
        for program in (self.program, *(r.program for r in self._read_headers)):
            for function in (*program.kernels, *program.device_functions, *program.host_functions):
                named.setdefault(function.name, []).append(function)
        return named

    def is_member(self, function: Function) -> bool:
        """Returns whether `function` belongs to a class, and not to a namespace alone."""
        return bool(function.scope) and self.is_class(function.scope[-1].split("<")[0])

    def is_class(self, name: str) -> bool:
        """Returns whether the source or its headers define a class called `name`, or a macro that makes such a name."""
        return name in self._classes or any(made.fullmatch(name) for made in self._made_classes)

    @cached_property
    def _classes(self) -> frozenset[str]:
        return frozenset(m.group(1) for text in self._texts for m in _CLASS.finditer(text))

    @cached_property
    def _made_classes(self) -> tuple[re.Pattern[str], ...]:
        """The names that macros build for classes: `Relu##type` of a parameter `type` is any that begins so."""
        found = [(text, m) for text in self._texts for m in _MADE_CLASS.finditer(text)]
        made = [(_macro_parameters(text, m.start()), re.split(r"\s*##\s*", m.group(1))) for text, m in found]
        patterns = ("".join(r"\w+" if part in given else part for part in parts) for given, parts in made)
        return tuple(map(re.compile, dict.fromkeys(patterns)))

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        return tuple(r.text for r in (*self._read_headers, read_alone(self.program.source)))

    def dispatched(self, function: Function) -> tuple[str, ...]:
        """Returns the meanings that dispatch macros in `function`, expanded or not, give to names."""
        return tuple(dict.fromkeys(t for types in self.meanings(function).values() for t in types))

    def meanings(self, function: Function) -> Mapping[str, tuple[str, ...]]:
        """Returns the names that dispatch macros in `function` define, each with its types in the source's order."""
        if function not in self._meanings:
            self._meanings[function] = self._meant(function)
        return self._meanings[function]

    def _meant(self, function: Function) -> Mapping[str, tuple[str, ...]]:
        words = self.body(function).words
        found: dict[str, list[str]] = {}
        for i in range(1, len(words) - 1):
            if words[i].text == "using" and ":" in (words[i - 1].text, words[max(0, i - 2)].text):
                for name, meaning in islice(dispatched_aliases(words[i:]), 1):
                    found.setdefault(name, []).append(meaning)
            elif words[i].text.isupper() and words[i + 1].text == "(":
                for name, types in self._dispatch_macros.meanings(words, i).items():
                    found.setdefault(name, []).extend(types)
        return {name: tuple(dict.fromkeys(types)) for name, types in found.items()}

    @cached_property
    def _dispatch_macros(self) -> DispatchMacros:
        programs = (*(header.program for header in self._read_headers), self.program)
        return DispatchMacros({macro.name: macro for program in programs for macro in program.macros})

    def file_of(self, function: Function) -> str:
        """Returns the name of the file that defines `function`: the program's own, or a header's."""
        programs = (self.program, *(r.program for r in self._read_headers))
        holds = (p for p in programs if function in (*p.kernels, *p.device_functions, *p.host_functions))
        return next(holds, self.program).source.path.name

    @cached_property
    def header_hosts(self) -> tuple[Function, ...]:
        """The host functions that headers define."""
        return tuple(f for r in self._read_headers for f in r.program.host_functions)

    @cached_property
    def _callable_hosts(self) -> Mapping[str, tuple[Function, ...]]:
        """The host functions of the program and its headers by the names that call them: `operator()` by its class."""
        named: dict[str, list[Function]] = {}
        for host in (*self.header_hosts, *self.program.host_functions):
            name = host.scope[-1] if host.scope and host.name.startswith("operator") else host.name
            named.setdefault(name, []).append(host)
        return {name: tuple(hosts) for name, hosts in named.items()}

    def called_hosts(self, function: Function) -> tuple[Function, ...]:
        """Returns `function` and the host functions it calls, directly or not, including all overloads."""
        if function not in self._called_hosts:
            found, looked_up, pending = {id(function): function}, set[str](), [function]
            while pending:
                names = self.body(pending.pop()).names - looked_up
                looked_up |= names
                hosts = (host for name in sorted(names) for host in self._callable_hosts.get(name, ()))
                fresh = {id(host): host for host in hosts if id(host) not in found}
                found |= fresh
                pending.extend(fresh.values())
            self._called_hosts[function] = tuple(found.values())
        return self._called_hosts[function]

    def is_unread(self, function: Function, name: str) -> bool:
        """Returns whether `name` is a field, `p.size.rows`, of which no function that `function` may call has the name.

        Device code counts as called. Components of vectors may be read by functions that are not at hand.
        """
        path = [part for part in re.sub(r"\[\d+\]", "", name).split(".")[1:] if part not in COMPONENTS]
        return bool(path) and not self._named_within(function).issuperset(path)

    def _named_within(self, function: Function) -> frozenset[str]:
        """Returns every identifier in the functions that `function` may call, in all device code, and in macros."""
        return self.once(("named within", function, 0), lambda: self._all_named_within(function))

    def _all_named_within(self, function: Function) -> frozenset[str]:
        programs = (self.program, *(header.program for header in self._read_headers))
        device = (f for program in programs for f in (*program.kernels, *program.device_functions))
        macros = (re.findall(r"[A-Za-z_]\w*", macro.body) for program in programs for macro in program.macros)
        return frozenset[str]().union(*(self.body(f).names for f in (*self.called_hosts(function), *device)), *macros)

    @cached_property
    def outer_shared(self) -> tuple[SharedArray, ...]:
        """The `__shared__` variables that the source and its headers declare outside of functions."""
        programs = (self.program, *(header.program for header in self._read_headers))
        return tuple(array for program in programs for array in program.shared)

    @cached_property
    def header_kernels(self) -> tuple[Function, ...]:
        """The kernels that headers define."""
        return tuple(f for r in self._read_headers for f in r.program.kernels)

    @cached_property
    def _read_headers(self) -> tuple[Alone, ...]:
        return tuple(map(read_alone, self.headers))


def _constants(program: Program) -> Mapping[str, Node]:
    """Returns the object macros, namespace-scope constants and enumerators of one file."""
    outside = list(program.source.text)
    for function in (*program.kernels, *program.device_functions, *program.host_functions):
        start, end = function.span.start, function.span.end
        outside[start:end] = " " * (end - start)
    values = {name: nodes[0] for name, nodes in Body("".join(outside)).definitions.items()}
    values |= {name: Number(number) for name, number in enumerated(program.source.text).items()}
    for macro in program.macros:
        if macro.params is None and (node := quietly(macro.body)) is not None:
            values[macro.name] = node
    return values


def _expanded(macro: Macro, arguments: Sequence[Node | None]) -> str:
    """Returns the text of `macro` with `arguments` for its parameters."""
    texts = {p: f"({render(n)})" for p, n in zip(macro.params or (), arguments, strict=True) if n is not None}
    return re.sub(r"\w+", lambda m: texts.get(m.group(), m.group()), macro.body)


def _accepts(function: Function, count: int) -> bool:
    needed = sum(1 for p in function.params if not p.default)
    return needed <= count <= len(function.params)


def _type_given(launch: Launch, place: int, argument: int) -> str:
    """Returns what a launch says that the type at `place` of its template is, of which it has an `argument`."""
    if place < len(launch.template_args):
        return launch.template_args[place]
    text = launch.args[argument].text if argument < len(launch.args) else ""
    asked = re.search(r"\bdata_ptr\s*<\s*([\w:]+)\s*>", text)
    return asked[1] if asked else ""


def _is_byte(base: str) -> bool:
    """Returns whether all values of an integer type are few enough to count each of them."""
    number = arithmetic(base)
    return number is not None and number.bytes == 1


@lru_cache(maxsize=4)
def usage_of(program: Program, headers: tuple[Source, ...] = ()) -> Usage:
    """Returns the uses in `program`, which all who ask about the same text share: a migration drafts it four times."""
    return Usage(program, headers)


class _Reader:
    """Reads one function's body for all its buffers at once."""

    def __init__(self, usage: Usage, function: Function) -> None:
        self.usage = usage
        self.function = function
        self.unfolded = unfolded(usage.body(function), usage.records, function)
        self.body = self.unfolded.body
        without = ("", *usage.followed(function))
        params = [replace(p, type=usage.types.of(p, function)) for p in function.params if p.name not in without]
        named = {**{p.name: p for p in params}, **self.unfolded.fields}
        self.buffers = {name: p for name, p in named.items() if is_buffer(p.type)}
        self.aliases: Mapping[str, str] = aliases(self.body, self.buffers)

    def uses(self) -> Iterator[tuple[str, Use]]:
        """Yields each buffer with its uses."""
        found = {name: Use() for name in self.buffers}
        for name, use in (*self._accesses(), *self._handed_on()):
            found[name] = found[name].joined(use)
        names = frozenset(p.name for p in self.function.params)
        equalities = Equalities(self.body, self.aliases, names, self.usage.constants)
        for name, param in self.buffers.items():
            integers = holds_integers(param.type.base) or self._is_given_integers(param)
            wide = integers and not _is_byte(param.type.base)
            indices = Indices(name, self.body, self.aliases, integers, self._shared if wide else {})
            ordered = equalities.ordered(name) if integers else ()
            numbers = equalities.numbers(name) if integers else ()
            compared = Use(equals=(*equalities.equals(name), *ordered), bounds=ordered, numbers=numbers)
            found[name] = found[name].joined(indices.use()).joined(compared)
        for name, use in found.items():
            param = self.buffers[name]
            named = replace(use, indexes=frozenset(self.buffers[other].name for other in use.indexes))
            read_only = replace(named, writes=False, accumulates=False, reads=True)
            yield param.name, read_only if param.type.const else named

    @cached_property
    def _shared(self) -> Mapping[str, str]:
        """Returns the arrays of one axis that a block shares, each with its extent; empty where it is not a number."""
        arrays = (array for array in self.function.shared if array.dynamic or len(array.extents) == 1)
        return {array.name: "" if array.dynamic else self._number(array.extents[0]) for array in arrays}

    def _number(self, text: str) -> str:
        node = quietly(text)
        try:
            return str(int(value(substitute(node, self.usage.constants), {}))) if node is not None else ""
        except (ExpressionError, OverflowError, ValueError):  # an extent that is infinite, or no number
            return ""

    def _is_given_integers(self, param: Param) -> bool:
        """Returns whether all launches give integers for a type that the kernel leaves open.

        The template's argument says so, or the type that a tensor is asked for.
        """
        open_ = [t.name for t in self.function.template]
        if param.type.base not in open_:
            return False
        names = [p.name for p in self.function.params]
        place, argument = open_.index(param.type.base), names.index(owner(param.name))
        found = [_type_given(launch, place, argument) for launch in self.usage.program.launches_of(self.function)]
        return bool(found) and all(is_integer(self.usage.named_type(type_)) for type_ in found)

    def _accesses(self) -> Iterator[tuple[str, Use]]:
        words = self.body.words
        for i, word in enumerate(words):
            owner = self.aliases.get(word.text)
            if owner is None or word.kind is not TokenKind.IDENTIFIER or (i and words[i - 1].text in (".", "->", "::")):
                continue
            after = words[i + 1].text if i + 1 < len(words) else ""
            starred = i > 1 and words[i - 1].text == "*" and words[i - 2].text in (";", "{", "}", "=", "(", ")", ",")
            if after == "[" or starred:
                yield owner, access(words, i)
            elif after not in (".", "->"):
                yield from ((owner, use) for use in outer_store(words, i))

    def _handed_on(self) -> Iterator[tuple[str, Use]]:
        """Yields what functions this one calls do to the buffers it hands them."""
        for place, name, arguments in self.body.sites:
            roots = [self.aliases.get(root_of(a), "") for a in arguments]
            structs = [a.name in self.unfolded.structs for a in arguments if isinstance(a, Name)]
            if not any(roots) and not any(structs):
                continue
            callee = self.usage.callee(name, len(arguments))
            if callee is None:
                yield from self._unknown(place, name, roots)
                continue
            inner, given = self.usage.of(callee), self._given(callee, arguments)
            names = {inside: self.aliases.get(root_of(node), "") for inside, node in given.items()}
            for inside, use in inner.items():
                if owner := names.get(inside):
                    indexed = frozenset(names[q] for q in use.indexes if names.get(q))
                    bounds, equals = (self._outside(u, given) for u in (use.bounds, use.equals))
                    yield owner, replace(use, indexes=indexed, bounds=bounds, equals=equals)

    def _given(self, callee: Function, arguments: tuple[Node | None, ...]) -> Mapping[str, Node | None]:
        """Returns what the parameters of `callee` are given, and the fields of structs among them."""
        found: dict[str, Node | None] = {}
        for param, node in zip(callee.params, arguments, strict=False):
            found[param.name] = node
            fields = self.unfolded.structs.get(node.name, {}) if isinstance(node, Name) else {}
            found.update((f"{param.name}{path}", Name(field)) for path, field in fields.items())
        return found

    @staticmethod
    def _outside(bounds: tuple[str, ...], given: Mapping[str, Node | None]) -> tuple[str, ...]:
        """Returns bounds in a callee's parameters in terms of this function's."""
        known = {symbol(name): node for name, node in given.items() if node is not None}
        nodes = (quietly(bound) for bound in bounds)
        return tuple(render(substitute(n, known, 1)) for n in nodes if n is not None and free_names(n) <= known.keys())

    def _unknown(self, place: int, name: str, roots: list[str]) -> Iterator[tuple[str, Use]]:
        if name.startswith("atomic") and roots[0]:
            counts = name.startswith(_COUNTING) and self.body.words[place - 1].text not in _STATEMENT_STARTS
            yield roots[0], Use(reads=True, writes=True, accumulates=True, counts=counts)
        elif name.startswith(_STORES) and roots[0]:
            yield roots[0], Use(writes=True)
        elif name in COPIES and len(roots) > 1:
            yield from ((r, u) for r, u in zip(roots, (Use(writes=True), Use(reads=True)), strict=False) if r)
        elif name.startswith(("__ld", "load")):
            yield from ((r, Use(reads=True)) for r in roots if r)


def _macro_parameters(text: str, place: int) -> frozenset[str]:
    """Returns the parameters of the macro that `place` is in the body of."""
    *_, last = [None, *_PARAMETERS.finditer(text, 0, place)]
    return frozenset(name.strip() for name in last.group(1).split(",")) if last is not None else frozenset()
