"""The template arguments a kernel gets, followed from its launches through dispatch macros, aliases and callers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from porter.source.deduction import deduced_from_types, pointed_type
from porter.source.directives import directives, macros
from porter.source.dispatch import aliases, enclosing_calls, meanings
from porter.source.lexer import Token, TokenKind, match_bracket, significant, split_arguments, tokens
from porter.source.program import Function, Launch, Macro, Program
from porter.source.text import Source, Span

MOST = 64  # instantiations listed for one kernel
_DEEPEST = 4  # callers of callers

Meanings = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Instantiation:
    """One set of template arguments of `kernel`, one for each template parameter, and the launch that asks for it.

    An argument the source does not determine is empty. `launch` is None for an explicit instantiation.
    """

    kernel: Function
    arguments: tuple[str, ...]
    launch: Launch | None


def instantiations(program: Program, headers: Sequence[Source] = ()) -> tuple[Instantiation, ...]:
    """Every instantiation of the template kernels of `program`, in the order of the launches, without repetition.

    `headers` are the local headers, for their dispatch macros.
    """
    inherited = tuple(macro for header in headers for macro in macros(header, directives(header.text)))
    follower = _Follower(program, inherited)
    found: dict[tuple[str, tuple[str, ...]], Instantiation] = {}
    for kernel in program.kernels:
        if kernel.template:
            for instance in follower.of(kernel):
                found.setdefault((kernel.qualified, instance.arguments), instance)
                if len(found) >= MOST * len(program.kernels):
                    break
    return tuple(found.values())


def explicit_arguments(program: Program, function: Function) -> tuple[tuple[str, ...], ...]:
    """The template arguments of each explicit instantiation of `function` that gives them all."""
    return tuple(arguments for arguments in _Follower(program, ()).explicit(function) if all(arguments))


@dataclass(frozen=True)
class _Follower:
    program: Program
    inherited: tuple[Macro, ...]

    @cached_property
    def words(self) -> list[Token]:
        """The tokens of the file that mean something."""
        return [t for t in significant(tokens(self.program.source.text)) if t.kind is not TokenKind.DIRECTIVE]

    @cached_property
    def macros(self) -> dict[str, Macro]:
        """The macros of the headers and the file, by name."""
        return {m.name: m for m in (*self.inherited, *self.program.macros)}

    @cached_property
    def functions(self) -> dict[str, Function]:
        """Host functions by qualified name."""
        return {f.qualified: f for f in self.program.host_functions}

    def of(self, kernel: Function) -> Iterator[Instantiation]:
        """The instantiations of one template kernel."""
        for launch in self.program.launches_of(kernel):
            written = _complete(kernel, launch.template_args, self._deduced(kernel, launch))
            for arguments in self.resolved(written, launch.span, self.functions.get(launch.inside), 0):
                yield Instantiation(kernel, arguments, launch)
        for arguments in self.explicit(kernel):
            yield Instantiation(kernel, arguments, None)

    def _deduced(self, kernel: Function, launch: Launch) -> dict[str, str]:
        """Template parameters that the types of the launch's arguments decide: `T*` given `x.data_ptr<float>()`."""
        inside = self.functions.get(launch.inside)
        declared = {p.name: p.type.base for p in inside.params} if inside else {}
        names = {t.name for t in kernel.template}
        found: dict[str, str] = {}
        for param, argument in zip(kernel.params, launch.args, strict=False):
            base = param.type.base.removeprefix("const ").strip()
            if base in names and base not in found:
                pointed = pointed_type(argument.text) or declared.get(argument.text, "")
                if pointed:
                    found[base] = pointed
        return found

    def resolved(
        self, arguments: Sequence[str], place: Span, function: Function | None, depth: int
    ) -> Iterator[tuple[str, ...]]:
        """`arguments` as written at `place` with every name replaced by what it stands for there."""
        names = {t.text for a in arguments for t in tokens(a) if t.kind is TokenKind.IDENTIFIER}
        local = {n: m for n, m in self.meanings_at(place, function).items() if n in names}
        for choice in product(*local.values()):
            replaced = tuple(_replace(a, dict(zip(local, choice, strict=True))) for a in arguments)
            if replaced != tuple(arguments) and depth < _DEEPEST:  # an alias may stand for another
                yield from self.resolved(replaced, place, function, depth + 1)
            else:
                yield from self._through_callers(replaced, function, depth)

    def meanings_at(self, place: Span, function: Function | None) -> dict[str, list[str]]:
        """What dispatch macros and aliases around `place` make of names; the innermost wins."""
        begin = function.body.start if function else 0
        inside = [w for w in self.words if begin <= w.start < place.start]
        found = {name: [meaning] for name, meaning in aliases(inside)}
        for index in enclosing_calls(self.words, place.start, place.end):
            found.update(meanings(self.words, index, self.macros))
        return found

    def _through_callers(
        self, arguments: tuple[str, ...], function: Function | None, depth: int
    ) -> Iterator[tuple[str, ...]]:
        """`arguments` for each set of template arguments that `function` is called or instantiated with."""
        params = [t.name for t in function.template] if function else []
        used = {t.text for a in arguments for t in tokens(a)} & set(params)
        if function is None or not used or depth >= _DEEPEST:
            yield arguments
            return
        reached = False
        for given in self._instances_of(function, depth):
            reached = True
            yield tuple(_replace(a, dict(zip(params, given, strict=False))) for a in arguments)
        if not reached:
            yield tuple("" if used & {t.text for t in tokens(a)} else a for a in arguments)

    def _instances_of(self, function: Function, depth: int) -> Iterator[tuple[str, ...]]:
        """Template arguments of a host function, from explicit instantiations and calls in other functions."""
        yield from filter(all, self.explicit(function))
        for index, word in enumerate(self.words[:-1]):
            if word.text != function.name or function.span.start <= word.start < function.span.end:
                continue
            following = self.words[index + 1].text
            close = match_bracket(self.words, index + 1) if following == "<" else None
            if close is None or self.words[min(close + 1, len(self.words) - 1)].text != "(":
                continue
            caller = self._around(word.start)
            if caller is not None:
                written = tuple("".join(t.text for t in a) for a in split_arguments(self.words, index + 1))
                place = self.program.source.span(word.start, word.end)
                yield from self.resolved(written, place, caller, depth + 1)

    def explicit(self, function: Function) -> Iterator[tuple[str, ...]]:
        """Template arguments of `template void f<float>(...);` and, from the types, of `template void f(float*);`."""
        for index, word in enumerate(self.words[:-1]):
            if word.text == "template" and self.words[index + 1].text != "<":
                stop = next((k for k in range(index, len(self.words)) if self.words[k].text in ("(", ";")), index)
                at = next((k for k in range(index, stop) if self.words[k].text == function.name), None)
                if at is not None:
                    angled = split_arguments(self.words, at + 1) if self.words[at + 1].text == "<" else []
                    written = tuple("".join(t.text for t in a) for a in angled)
                    types = split_arguments(self.words, stop) if self.words[stop].text == "(" else []
                    yield _complete(function, written, deduced_from_types(function, types))

    def _around(self, offset: int) -> Function | None:
        holding = [f for f in self.program.host_functions if f.body.start <= offset < f.body.end]
        return max(holding, key=lambda f: f.body.start, default=None)


def _complete(kernel: Function, written: Sequence[str], deduced: Mapping[str, str]) -> tuple[str, ...]:
    """One argument for each template parameter: as written, else deduced, else the default, else empty."""
    rest = kernel.template[len(written) :]
    return (*written, *(deduced.get(t.name) or t.default for t in rest))


def _replace(text: str, values: Mapping[str, str]) -> str:
    """`text` with whole identifiers replaced."""
    return "".join(values.get(t.text, t.text) if t.kind is TokenKind.IDENTIFIER else t.text for t in tokens(text))
