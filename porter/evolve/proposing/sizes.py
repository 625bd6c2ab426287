"""Offers sizes that a CUDA source fixes in one place - threads of a block, elements of a thread - as knobs.

A size is offered only where everything that depends on it follows the edit, as far as the text tells: the launch and
the kernel name one constant, or the kernel asks `blockDim` and the launcher repeats one literal. A kernel that has the
number by itself is left alone. Evaluating a candidate still compares it with the unedited source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from porter.backend import Target
from porter.evolve.proposing.declarations import Declaration, declarations, number_of
from porter.evolve.space import Knob, Point
from porter.source.constants import environment_of
from porter.source.edit import Edit, apply_edits
from porter.source.folding import Environment, evaluate
from porter.source.lexer import Token, TokenKind, significant, split_arguments, tokens
from porter.source.program import Function, Launch, Program
from porter.source.qualified import unqualified
from porter.source_text import Source

_BLOCKS = (32, 64, 128, 256, 512, 1024)
_WARP_SIZE = 32  # what a source means by a warp
_LARGEST = 1 << 14  # elements that one program handles
_OF_WARPS = ("__shfl", "__ballot", "__syncwarp", "__any", "__all", "__match", "__reduce", "__activemask")
_COMPARISONS = frozenset(("==", "!=", "<=", ">=", "case", "?", ":", "%"))


@dataclass(frozen=True, slots=True)
class Spot:
    """A number of the source that is the size plus `offset`: `(n + 255) / 256` has 255 and 256."""

    start: int
    end: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Size:
    """A knob and the numbers that it turns."""

    knob: Knob
    spots: tuple[Spot, ...]

    def edits(self, point: Point) -> Iterator[Edit]:
        """Yields what makes the source have the size of `point`."""
        value = point[self.knob.name]
        if isinstance(value, int) and value != self.knob.default:
            yield from (Edit(spot.start, spot.end, str(value + spot.offset)) for spot in self.spots)


def sizes(program: Program, target: Target) -> tuple[Size, ...]:
    """Returns the sizes of `program` that can be turned: of blocks, then what a thread or block handles."""
    source = SizedSource(program, target)
    blocks = [size for launch in program.launches if (size := source.of_block(launch))]
    items = [size for launch in program.launches for size in source.of_items(launch)]
    by_spots = {size.spots: size for size in (*items, *reversed(blocks))}
    named = {size.knob.name: size for size in by_spots.values()}
    return tuple(size for size in dict.fromkeys((*blocks, *items)) if named.get(size.knob.name) == size)


def resized(source: Source, known: Iterable[Size], point: Point) -> Source:
    """Returns `source` with the sizes of `point`."""
    return replace(source, text=apply_edits(source.text, (edit for size in known for edit in size.edits(point))))


@dataclass(frozen=True)
class SizedSource:
    """A program whose launches are followed to the numbers that they come of."""

    program: Program
    target: Target

    def of_block(self, launch: Launch) -> Size | None:
        """Returns the threads of the launch's block, where a single number gives them."""
        launcher, kernels = self._launcher(launch), self._kernels(launch)
        block = self._within(launch.block.span.start, launch.block.span.end)
        if launcher is None or not kernels or not block:
            return None
        traced = self._traced(block, launcher)
        if traced is None:
            return None
        token, name = traced
        count = int(token.text)
        spots = (Spot(token.start, token.end),) if name else tuple(self._repeated(count, launcher))
        values = tuple(v for v in _BLOCKS if v <= min(self.target.max_threads, self._most(kernels, count)))
        if count not in values or not spots or self._stands_alone(count, launcher, kernels, spots):
            return None
        return Size(Knob(name or f"{launcher.name}.{unqualified(launch.kernel)}.block", values, count), spots)

    def of_items(self, launch: Launch) -> Iterator[Size]:
        """Yields constants that the launch's grid or block follows from and that its kernel knows as well."""
        launcher, kernels = self._launcher(launch), self._kernels(launch)
        if launcher is None or not kernels:
            return
        known = {t.text for k in kernels for t in _words(k.body_text)}
        known |= {t.text for argument in launch.template_args for t in _words(argument)}
        for name in self._names(launch.grid.text, launch.block.text, within=launcher):
            found = self._declared(name, launcher)
            token = number_of(found) if found else None
            if found is None or token is None or name not in known or not _is_power(int(token.text)):
                continue
            if _is_a_warp(int(token.text), kernels):
                continue
            values = tuple(self._around(int(token.text), launch, name, launcher))
            if len(values) > 1:
                yield Size(Knob(found.title, values, int(token.text)), (Spot(token.start, token.end),))

    def _around(self, count: int, launch: Launch, name: str, launcher: Function) -> Iterator[int]:
        """Yields powers of two around `count` with which the block stays one that the target has."""
        most = _LARGEST
        if name in self._names(launch.block.text, within=launcher):
            threads = self._threads(launch)
            most = self.target.max_threads * count // threads if threads else count
        yield from (v for v in (count >> 2, count >> 1, count, count << 1, count << 2) if 1 <= v <= max(most, count))

    def _threads(self, launch: Launch) -> int | None:
        words = self._within(launch.block.span.start, launch.block.span.end)
        extents = [launch.block.text]
        if len(words) > 2 and words[0].text == "dim3":
            text = self.program.source.text
            extents = [text[a[0].start : a[-1].end] for a in split_arguments(words, 1) if a]
        threads = 1
        for extent in extents:
            value = evaluate(extent, self._constants)
            if not value:
                return None
            threads *= value
        return threads

    def _names(self, *texts: str, within: Function) -> tuple[str, ...]:
        """Returns the names in `texts`, and those from which the launcher makes them."""
        found: dict[str, None] = {}
        pending = [t.text for text in texts for t in _words(text) if t.kind is TokenKind.IDENTIFIER]
        while pending:
            name = pending.pop(0)
            if name not in found:
                found[name] = None
                made = self._declared(name, within)
                pending += [t.text for t in made.value if t.kind is TokenKind.IDENTIFIER] if made else []
        return tuple(found)

    def threads(self, launch: Launch) -> int | None:
        """Returns how many there are in the launch's block, where the source says it with one number."""
        launcher = self._launcher(launch)
        block = self._within(launch.block.span.start, launch.block.span.end)
        traced = self._traced(block, launcher) if launcher and block else None
        return int(traced[0].text) if traced else self._threads(launch)

    def _traced(self, expression: Sequence[Token], launcher: Function) -> tuple[Token, str] | None:
        """Returns the number that `expression` is, and the name of the constant that holds it; else None."""
        name = ""
        for _ in range(8):
            while len(expression) > 2 and expression[0].text == "dim3" and expression[1].text in "({":
                extents = split_arguments(expression, 1)
                if any([t.text for t in extent] != ["1"] for extent in extents[1:]) or not extents:
                    return None
                expression = extents[0]
            words = [t for t in expression if t.text != "::"]
            if len(words) == 1 and words[0].kind is TokenKind.NUMBER:
                return (words[0], name) if words[0].text.isdecimal() else None
            found = self._declared(words[-1].text, launcher) if words and _is_name(expression) else None
            if found is None:
                return None
            name, expression = found.title, found.value
        return None

    def _repeated(self, count: int, launcher: Function) -> Iterator[Spot]:
        """Yields the places where the launcher has `count`, or one less in a rounded division; none if compared."""
        words = self._within(launcher.body.start, launcher.body.end)
        for before, token, after in zip(words, words[1:], words[2:], strict=False):
            if token.text not in (str(count), str(count - 1)) or token.kind is not TokenKind.NUMBER:
                continue
            less = token.text == str(count - 1)
            if {before.text, after.text} & _COMPARISONS or (less and before.text != "+"):
                return
            yield Spot(token.start, token.end, -1 if less else 0)

    def _stands_alone(self, count: int, launcher: Function, kernels: Sequence[Function], spots: Sequence[Spot]) -> bool:
        """Returns whether the number stands where the edit does not reach it."""
        half = {str(count // 2)} if count > 2 * _WARP_SIZE else set()
        numbers = {str(count), str(count - 1)}
        reached = {spot.start for spot in spots}
        if _is_a_warp(count, kernels):
            return True
        if any(t.text in numbers | half for k in kernels for t in _words(k.body_text) if t.kind is TokenKind.NUMBER):
            return True
        launching = self._within(launcher.body.start, launcher.body.end)
        return any(t.text in numbers and t.start not in reached for t in launching if t.kind is TokenKind.NUMBER)

    def _most(self, kernels: Sequence[Function], count: int) -> int:
        """Returns the most threads for which fixed shared arrays have a place for each warp, and bounds are kept."""
        bounds = [int(b) for k in kernels for b in k.launch_bounds[:1] if b.isdecimal()]
        extents = [array.extents for k in kernels for array in k.shared if len(array.extents) == 1]
        lengths = [int(length) for (length,) in extents if length.isdecimal()]
        # A shorter array than a block has warps is none of partial results.
        warps = [_WARP_SIZE * length for length in lengths if _WARP_SIZE * length >= count]
        return min((*bounds, *warps, _LARGEST))

    def _kernels(self, launch: Launch) -> tuple[Function, ...]:
        """Returns the kernel and the functions it calls; nothing where the source does not define it."""
        kernel = self.program.kernel(launch.kernel) or self.program.kernel(unqualified(launch.kernel))
        found: dict[Function, None] = {}
        pending = [kernel] if kernel else []
        while pending:
            found[function := pending.pop()] = None
            names = {t.text for t in _words(function.body_text)}
            pending += [f for f in self.program.device_functions if f.name in names and f not in found]
        return tuple(found)

    def _launcher(self, launch: Launch) -> Function | None:
        at = launch.span.start
        return next((f for f in self.program.host_functions if f.body.start <= at < f.body.end), None)

    def _declared(self, name: str, launcher: Function) -> Declaration | None:
        """Returns what the launcher says `name` is; None where it says several things, or nothing."""
        here = [d for d in self._declarations if d.name == name and d.inside in (launcher, None)]
        own = [d for d in here if d.inside is not None] or here
        return own[0] if len(own) == 1 and not own[0].assigned else None

    def _within(self, start: int, end: int) -> list[Token]:
        return [t for t in self._all if start <= t.start and t.end <= end]

    @cached_property
    def _all(self) -> list[Token]:
        return _words(self.program.source.text)

    @cached_property
    def _declarations(self) -> tuple[Declaration, ...]:
        return tuple(declarations(self.program))

    @cached_property
    def _constants(self) -> Environment:
        return environment_of(self.program)


def _words(text: str) -> list[Token]:
    return [t for t in significant(tokens(text)) if t.kind is not TokenKind.DIRECTIVE]


def _is_name(expression: Sequence[Token]) -> bool:
    return all(t.kind is TokenKind.IDENTIFIER or t.text == "::" for t in expression)


def _is_power(count: int) -> bool:
    return count > 0 and count & (count - 1) == 0


def _is_a_warp(count: int, kernels: Iterable[Function]) -> bool:
    """Returns whether the number is what the kernels call a warp, rather than a choice."""
    return count == _WARP_SIZE and any(t.text.startswith(_OF_WARPS) for k in kernels for t in _words(k.body_text))
