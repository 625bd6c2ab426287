"""Writes the steps of a block as the text of a kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Combine
from porter.ir.tile.expressions import Cast, Compute, Filled, Name, Value, parts
from porter.ir.tile.program import Store
from porter_maca.tiles.expressions import Expressions, Level, literal
from porter_maca.tiles.steps import (
    NO_SHAPE,
    Accumulate,
    Count,
    Define,
    Elements,
    Extreme,
    Fold,
    FoldPlace,
    LoadPacks,
    Meet,
    Repeat,
    Run,
    Shape,
    Step,
    StorePacks,
)
from porter_maca.tiles.taking_apart import TakingApart
from porter_maca.tiles.threads import Threads
from porter_maca.tiles.types import UnprintableError, type_name

_FUNCTORS = {
    Combine.SUM: "tile::Sum()",
    Combine.PRODUCT: "tile::Product()",
    Combine.MAXIMUM: "tile::Maximum()",
    Combine.MINIMUM: "tile::Minimum()",
}
_BETTER = {Combine.MAXIMUM: "tile::Larger()", Combine.MINIMUM: "tile::Smaller()"}
_OPERATORS = {Combine.SUM: "+=", Combine.PRODUCT: "*="}
_UNROLL = "#pragma unroll"


class KernelText:
    """Writes the steps of a kernel; `element` is how a tensor's element type is spelled."""

    def __init__(self, taken: TakingApart, threads: Threads, pointers: dict[str, str]) -> None:
        self._taken = taken
        self._threads = threads
        self._pointers = pointers  # the type of each tensor's pointer
        self._uses = Counter(_uses(taken.steps))
        self._declared: set[str] = set()
        self._local: set[str] = set()  # names of single elements within the loops that are open
        self._indices: dict[str, str] = {}  # the loop variable of each axis
        words = self._loop_words()
        fresh = {word: taken.names.fresh(word) for word in sorted(set(words.values()))}
        self._words = {block: fresh[word] for block, word in words.items()}
        self._expressions = Expressions(taken.types, self._element)

    def lines(self) -> Iterator[str]:
        """Yields the body of the kernel."""
        yield from self._threads.lines()
        yield from self._steps(self._taken.steps)

    def _loop_words(self) -> dict[str, str]:
        if not self._threads.has_both:
            return dict.fromkeys(self._threads.blocks, "i")
        return {block: "r" if block == "BLOCK_ROWS" else "c" for block in self._threads.blocks}

    def _steps(self, steps: Sequence[Step]) -> Iterator[str]:
        for step in steps:
            match step:
                case Define():
                    yield self._of_block(step.name, step.value)
                case Count(name, left, block):
                    extent = self._threads.side(block).extent
                    yield f"const int {name} = tile::count<{extent}>({self._text(left)});"
                case Elements():
                    yield from self._over_elements(step)
                case Fold():
                    yield self._folded(step)
                case FoldPlace():
                    yield self._placed(step)
                case Run():
                    yield self._ran(step)
                case Store():
                    yield from self._stored_by_one(step)
                case Meet():
                    yield "__syncthreads();"
                case Repeat():
                    yield from self._repeated(step)

    def _of_block(self, name: str, value: Value) -> str:
        tensor = self._taken.types.pointers.get(name)
        if tensor is not None:
            return f"{self._pointers[tensor]} {name} = {self._text(value)};"
        dtype = self._taken.types.numbers[name]
        value = value.value if isinstance(value, Cast) and value.dtype is dtype and _is_wide(dtype) else value
        text = self._expressions.text(value, wanted=dtype)
        if name in self._declared:
            return f"{name} = {text};"
        self._declared.add(name)
        return f"{'' if name in self._taken.changing else 'const '}{type_name(dtype)} {name} = {text};"

    def _repeated(self, step: Repeat) -> Iterator[str]:
        loop = step.loop
        kind = type_name(self._taken.types.numbers[loop.name])
        start, stop, by = self._text(loop.start), self._text(loop.stop), self._text(loop.step)
        moved = f"++{loop.name}" if by == "1" else f"{loop.name} += {by}"
        if loop.is_unrolled and not any(isinstance(one, Repeat) for one in step.body):
            yield _UNROLL  # of windows along several axes the compiler decides about the outer loops
        yield f"for ({kind} {loop.name} = {start}; {loop.name} < {stop}; {moved}) {{"
        before = set(self._declared)
        yield from _indented(self._steps(step.body))
        self._declared = before
        yield "}"

    def _stored_by_one(self, store: Store) -> Iterator[str]:
        thread = "threadIdx.x" if self._threads.has_both else self._threads.names[""]
        condition = f"{thread} == 0"
        if store.mask is not None:
            condition += f" && {self._expressions.text(store.mask, Level.COMPARISON)}"
        yield f"if ({condition}) {self._assigned(store)}"

    def _assigned(self, store: Store) -> str:
        types = self._taken.types
        tensor = types.tensor(store.pointer)
        stored, element = types.tensors[tensor], self._pointers[tensor].removesuffix("*")
        own = types.of(store.value)
        text = self._expressions.text(store.value, wanted=stored if stored.is_float else own)
        if own is not None and (own is not stored or tensor in types.generic):
            text = f"static_cast<{element}>({text})"
        return f"{self._expressions.element_at(store.pointer)} = {text};"

    def _over_elements(self, step: Elements) -> Iterator[str]:
        for load in step.loads:
            yield from self._loaded(load)
        local = self._locals(step)
        zeros = [item for item in step.items if self._is_zeroed(item, local)]
        for item in step.items:
            yield from self._declaration(item, step.shape, local)
        if rest := [item for item in step.items if item not in zeros]:
            yield from self._loop(replace(step, items=rest), local)
        for store in step.stores:
            yield from self._packs_moved("store", store)

    def _is_zeroed(self, item: object, local: set[str]) -> bool:
        """Returns whether an item is an array that is declared full of zeros."""
        match item:
            case Define(name, Filled(0)):
                return name not in local and name not in self._declared
        return False

    def _locals(self, step: Elements) -> set[str]:
        """Returns the names that are used within the loop alone."""
        inside = Counter(name for item in step.items for name in _used(item))
        return {
            item.name
            for item in step.items
            if isinstance(item, Define)
            and item.name not in self._taken.changing
            and inside[item.name] == self._uses[item.name]
        }

    def _declaration(self, item: object, shape: Shape, local: set[str]) -> Iterator[str]:
        match item:
            case Define(name) if name not in local and name not in self._declared:
                zeros = " = {}" if self._is_zeroed(item, local) else ""
                self._declared.add(name)
                yield f"{type_name(self._taken.types.numbers[name])} {name}{self._extents(shape)}{zeros};"
            case Accumulate(name, combine):
                dtype = self._taken.types.numbers[name]
                yield from self._initial(name, dtype, _start(combine, dtype))
            case Extreme(place, key, combine):
                yield from self._initial(place, DType.INT32, "-1")
                dtype = self._taken.types.numbers[key]
                yield from self._initial(key, dtype, _start(combine, dtype))

    def _initial(self, name: str, dtype: DType, start: str) -> Iterator[str]:
        """Yields the declaration of what a thread accumulates, one for each row of its tile."""
        rows = self._taken.shapes[name]
        extents = self._extents(rows)
        yield f"{type_name(dtype)} {name}{extents}{'' if rows else f' = {start}'};"
        if rows:
            (row,) = rows
            i = self._words[row]
            yield f"for (int {i} = 0; {i} < {self._threads.side(row).each}; ++{i}) {name}[{i}] = {start};"

    def _extents(self, shape: Shape) -> str:
        return "".join(f"[{self._threads.side(block).each}]" for block in self._threads.order(shape))

    def _loop(self, step: Elements, local: set[str]) -> Iterator[str]:
        """Yields the loops over a thread's elements; each is one of the tile, or none where lanes are few."""
        indent = ""
        order = self._threads.order(step.shape)
        lanes = {block: self._taken.lanes[block] for block in order}
        self._indices = {block: self._words[block] for block in order}
        self._local = {*local, *lanes.values(), *self._taken.indices}
        needed = _needed(step, self._taken.indices)
        for block in order:
            i, side = self._words[block], self._threads.side(block)
            yield _UNROLL
            yield f"{indent}for (int {i} = 0; {i} < {side.each}; ++{i}) {{"
            indent += "    "
            if lanes[block] in needed or self._threads.may_exceed(block):
                yield f"{indent}const int {lanes[block]} = {side.lane(i)};"
            if self._threads.may_exceed(block):
                yield f"{indent}if ({lanes[block]} >= {side.extent}) continue;"
        for line in self._elementwise(step, needed, local):
            yield line if line.startswith("#") else indent + line
        for _ in order:
            indent = indent[4:]
            yield f"{indent}}}"
        self._indices, self._local = {}, set()

    def _elementwise(self, step: Elements, needed: set[str], local: set[str]) -> Iterator[str]:
        for name, value in self._taken.indices.items():
            if name in needed:
                dtype = self._taken.types.numbers[name]
                yield f"const {type_name(dtype)} {name} = {self._expressions.text(value, wanted=dtype)};"
        for item in step.items:
            yield from self._item(item, step.shape, local)

    def _item(self, item: Define | Accumulate | Extreme | Store, shape: Shape, local: set[str]) -> Iterator[str]:
        types = self._taken.types
        match item:
            case Define(name, Compute("add" | "multiply" as op, (Name(first), second))) if first == name:
                sign = "+=" if op == "add" else "*="
                text = self._expressions.text(second, wanted=types.numbers[name])
                yield f"{self._element(Name(name))} {sign} {text};"
            case Define(name, value):
                text = self._expressions.converted(value, types.numbers[name])
                declared = f"const {type_name(types.numbers[name])} " if name in local else ""
                yield f"{declared}{self._element(Name(name))} = {text};"
            case Accumulate(name, combine, value):
                yield self._accumulated(self._element(Name(name)), combine, value, types.numbers[name])
            case Extreme():
                yield from self._extreme(item)
            case Store():
                others = sorted(self._sides() - shape)
                conditions = [f"{self._threads.side(block).thread} == 0" for block in others]
                if item.mask is not None:
                    conditions.append(self._expressions.text(item.mask, Level.AND))
                condition = f"if ({' && '.join(conditions)}) " if conditions else ""
                yield condition + self._assigned(item)

    def _sides(self) -> Shape:
        """Returns the axes by which threads of the block differ."""
        if not self._threads.has_both:
            return NO_SHAPE
        return frozenset(("BLOCK_ROWS", "BLOCK_COLUMNS"))

    def _accumulated(self, target: str, combine: Combine, value: Value, dtype: DType) -> str:
        if combine in _OPERATORS:
            return f"{target} {_OPERATORS[combine]} {self._expressions.text(value, wanted=dtype)};"
        op = "maximum" if combine is Combine.MAXIMUM else "minimum"
        told = self._expressions.extreme(op, [target, self._expressions.converted(value, dtype)], dtype)
        return f"{target} = {told};"

    def _extreme(self, item: Extreme) -> Iterator[str]:
        place, key = self._element(Name(item.place)), self._element(Name(item.key))
        value = self._text(item.value)
        if not value.isidentifier():
            own = self._taken.names.fresh("own")
            yield f"const {type_name(self._taken.types.numbers[item.key])} {own} = {value};"
            value = own
        sign = ">" if item.combine is Combine.MAXIMUM else "<"
        yield f"if ({place} < 0 || {value} {sign} {key}) {{"
        yield f"    {place} = {item.lanes};"
        yield f"    {key} = {value};"
        yield "}"

    def _loaded(self, load: LoadPacks) -> Iterator[str]:
        if load.name not in self._declared:
            self._declared.add(load.name)
            yield f"{type_name(load.dtype)} {load.name}{self._extents(load.shape)};"
        yield from self._packs_moved("load", load)

    def _packs_moved(self, verb: str, step: LoadPacks | StorePacks) -> Iterator[str]:
        """Yields the call that moves the packs of a tile, for each of the other axis where it has two."""
        *slow, _ = self._threads.order(step.shape)
        if not slow:
            yield self._moved(verb, step, "")
            return
        (block,) = slow
        i, side, lane = self._words[block], self._threads.side(block), self._taken.lanes[block]
        self._indices, self._local = {block: i}, {lane}
        yield _UNROLL
        yield f"for (int {i} = 0; {i} < {side.each}; ++{i}) {{"
        yield f"    const int {lane} = {side.lane(i)};"
        yield f"    {self._moved(verb, step, f'[{i}]')}"
        yield "}"
        self._indices, self._local = {}, set()

    def _moved(self, verb: str, step: LoadPacks | StorePacks, index: str) -> str:
        packs = step.packs
        side = self._threads.side(self._threads.order(step.shape)[-1])
        count = self._expressions.text(packs.count, Level.OR)
        if packs.condition is not None:
            count = f"{self._expressions.text(packs.condition, Level.OR)} ? {count} : 0"
        tile, pointer = f"{step.name}{index}", self._text(packs.pointer)
        if isinstance(step, LoadPacks):
            passed = [tile, pointer, side.thread, count, _typed(step.other, step.dtype)]
        else:
            passed = [pointer, tile, side.thread, count]
        call = f"tile::{verb}<{side.threads}, kVector, kPack>({', '.join(passed)});"
        others = sorted(self._sides() - step.shape) if verb == "store" else []
        condition = " && ".join(f"{self._threads.side(block).thread} == 0" for block in others)
        return f"if ({condition}) {call}" if condition else call

    def _folded(self, step: Fold) -> str:
        functor = _FUNCTORS[step.combine]
        if not self._threads.has_both:
            return f"{step.name} = tile::fold<kThreads>({step.name}, {functor});"
        return f"tile::fold_rows<kRowThreads, kColumnThreads>({step.name}, {self._own_threads()}, {functor});"

    def _ran(self, step: Run) -> str:
        vector = "kVector" if self._threads.vector > 1 else "1"
        start = _typed(_identity(step.combine), step.dtype)
        total = f"const {type_name(step.dtype)} {step.total} = " if step.total else ""
        verb = "run_back" if step.is_reverse else "run"
        exclusive = "true" if step.is_exclusive else "false"
        passed = f"{step.name}, {start}, {_FUNCTORS[step.combine]}"
        return f"{total}tile::{verb}<kThreads, {vector}, {exclusive}>({passed});"

    def _placed(self, step: FoldPlace) -> str:
        better = _BETTER[step.combine]
        if not self._threads.has_both:
            return f"{step.place} = tile::place<kThreads>({step.key}, {step.place}, {better});"
        passed = f"{step.key}, {step.place}, {self._own_threads()}, {better}"
        return f"tile::place_rows<kRowThreads, kColumnThreads>({passed});"

    def _own_threads(self) -> str:
        return f"{self._threads.names['row_']}, {self._threads.names['column_']}"

    def _text(self, value: Value) -> str:
        return self._expressions.text(value)

    def _element(self, name: Name) -> str:
        """Returns the element of a tile within the open loops; a value of the whole block is just its name."""
        if name.name in self._local:
            return name.name
        shape = self._taken.shapes.get(name.name, NO_SHAPE)
        if any(block not in self._indices for block in self._threads.order(shape)):
            raise UnprintableError(f"elements of '{name.name}' are used where no loop goes through them")
        return name.name + "".join(f"[{self._indices[block]}]" for block in self._threads.order(shape))


def _is_wide(dtype: DType) -> bool:
    return dtype is DType.INT64


def _typed(value: Fraction | float, dtype: DType) -> str:
    """Returns a number whose type tells a function for which type it is instantiated."""
    if dtype is DType.BOOL:
        return "true" if value else "false"
    told = literal(value, dtype)
    return told if dtype.is_float or dtype is DType.INT32 else f"{type_name(dtype)}({told})"


def _identity(combine: Combine) -> float:
    return {Combine.SUM: 0.0, Combine.PRODUCT: 1.0, Combine.MAXIMUM: -inf, Combine.MINIMUM: inf}[combine]


def _start(combine: Combine, dtype: DType) -> str:
    """Returns the initial value of a reduction; whole numbers have no infinity."""
    if combine in (Combine.SUM, Combine.PRODUCT) or dtype.is_float:
        return literal(_identity(combine), dtype)
    return f"{dtype.value.upper()}_{'MIN' if combine is Combine.MAXIMUM else 'MAX'}"


def _needed(step: Elements, indices: dict[str, Value]) -> set[str]:
    """Returns the lanes and the tiles computed anew that the loop uses, those that they are made of among them."""
    found: set[str] = set()
    waiting = [name for item in step.items for name in _used(item)]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            if name in indices:
                waiting += _names(indices[name])
    return found


def _names(*values: Value | None) -> list[str]:
    return [one.name for value in values if value is not None for one in parts(value) if isinstance(one, Name)]


def _used(item: object) -> list[str]:
    match item:
        case Define(_, value) | Accumulate(_, _, value):
            return _names(value)
        case Extreme(value=value, lanes=lanes):
            return [*_names(value), lanes]
        case Store(pointer, value, mask):
            return _names(pointer, value, mask)
        case Count(_, left):
            return _names(left)
    return []


def _uses(steps: Sequence[Step]) -> Iterator[str]:
    """Yields the names that steps use, each as often as it is used."""
    for step in steps:
        match step:
            case Elements():
                for item in step.items:
                    yield from _used(item)
                for packs in (*(one.packs for one in step.loads), *(one.packs for one in step.stores)):
                    yield from _names(packs.pointer, packs.count, packs.condition)
                yield from (store.name for store in step.stores)
            case Fold(name) | Run(name):
                yield name
            case FoldPlace(place, key):
                yield from (place, key)
            case Repeat(loop, body):
                yield from _names(loop.start, loop.stop, loop.step)
                yield from _uses(body)
            case _:
                yield from _used(step)


def _indented(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.startswith("#") else f"    {line}"
