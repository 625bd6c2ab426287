"""Numbers of a vector that are all computed alike: one row a thread, computed at once.

`v.x = f(v.x); v.y = f(v.y); ...` between a load of neighbours and a store of neighbours becomes `v = f(v)` on the tile
[threads, elements] that is loaded and stored anyway. It is packed from the stores on, as a compiler packs statements
into vector instructions (Larsen and Amarasinghe, PLDI 2000, superword level parallelism): what is stored has to be
alike but for names; names that differ have to be set by statements that are alike, or by a load of neighbours; a name
that all of them read is the same for a whole row. Where anything else reads one of the numbers, all stays as it is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from porter.python_tree import expression_tree
from porter_triton.lower.context import Context
from porter_triton.lower.emit import Branch, Line, Loop, Node, Suite, assigned, lines_of, names_in, nodes_of, suites_of
from porter_triton.lower.independent import elementwise
from porter_triton.lower.naming import stem
from porter_triton.lower.prune import live_around, live_before
from porter_triton.lower.row_ends import ACCESS, End, arguments, ends, tile_helper

_ATOM = re.compile(r"(?<![\w.\"])[A-Za-z_]\w*(?:\[\d+\])?")
_BLOCKS = re.compile(r"tl\.(full|zeros|arange)\(")
_Key = tuple[int, ...]  # of statements of a suite: one for each number of a row, or the load or the store of all


@dataclass(frozen=True, slots=True)
class _Row:
    """Statements that become one: `text` with rows for the names of `sources`, a column for each of `spread`.

    `shared` are all names that do not differ, `taken` the statements that take a load apart. Not `wide`: one number.
    """

    key: _Key
    text: str
    sources: Mapping[str, _Key]
    shared: frozenset[str]
    spread: frozenset[str]
    wide: bool
    taken: _Key = ()
    end: End | None = None

    @property
    def given(self) -> _Key:
        """The statements whose results there are no more under their names."""
        return (*(self.key if self.end is None else self.key[:-1]), *self.taken)


def as_rows(cx: Context, suite: Suite) -> None:
    """Rewrite a function's body."""
    _within(cx, suite, _kinds(cx, suite), frozenset())


def _within(cx: Context, suite: Suite, kinds: Mapping[str, bool], live: frozenset[str]) -> None:
    """A suite, behind which the names `live` are read."""
    after = live
    for node in reversed(suite.nodes):
        for inner in suites_of(node):
            _within(cx, inner, kinds, live_around(node, after) if isinstance(node, Loop) else after)
        after = live_before(Suite([node]), after)
    _Packing(cx, suite, kinds, live).rewrite()


def _kinds(cx: Context, suite: Suite) -> dict[str, bool]:
    """Returns whether the threads of a block have values of their own behind a name, where that is known."""
    kinds = dict.fromkeys(cx.unchanged, False) | {
        node.variable: False for node in nodes_of(suite) if isinstance(node, Loop)
    }
    for line in lines_of(suite):
        if line.value is not None:
            kinds[line.target] = line.value.varying or kinds.get(line.target, False)
    unknown = {line.target for line in lines_of(suite) if line.value is None}
    return {name: kind for name, kind in kinds.items() if name not in unknown} | {cx.thread: True}


class _Packing:
    """One suite. Its statements are told by their places."""

    def __init__(self, cx: Context, suite: Suite, kinds: Mapping[str, bool], live: frozenset[str]) -> None:
        self._cx, self._suite, self._kinds, self._live = cx, suite, kinds, live
        self._lines = {at: node for at, node in enumerate(suite.nodes) if isinstance(node, Line)}
        self._sets = [assigned(Suite([node])) for node in suite.nodes]
        self._reads = [_read(node) for node in suite.nodes]

    def rewrite(self) -> None:
        """Packs what ends somewhere, where all ends agree on what becomes a row."""
        plans: dict[_Key, dict[_Key, _Row]] = {}
        for end in ends(self._cx, self._lines):
            plan = self._plan(end) if all(set(key).isdisjoint(end.key) for key in plans) else None
            if plan is not None:
                plans[end.key] = plan
        while plans:
            rows: dict[_Key, _Row] = {}
            for row in chain.from_iterable(plan.values() for plan in plans.values()):
                rows[row.key] = _joined(rows.get(row.key), row)
            wrong = self._misread(rows)
            if not wrong:
                self._write(rows)
                return
            plans = {key: plan for key, plan in plans.items() if wrong.isdisjoint(_places(plan.values()))}

    def _plan(self, end: End) -> dict[_Key, _Row] | None:
        """The rows that an end is made of, itself among them; None where it is none of a row."""
        target = self._lines[end.key[0]].target
        if any(self._set_at(target, later) != at for at, later in pairwise(end.key)):
            return None
        if any(len({self._last_set(name, at) for at in end.key}) > 1 for name in names_in(end.frame) - {target}):
            return None
        rows: dict[_Key, _Row] = {}
        row = self._alike(end.key, end.texts, end.readers, rows)
        if row is None or not row.wide:
            return None
        return {**rows, row.key: replace(row, end=end)}

    def _alike(self, key: _Key, texts: Sequence[str], readers: _Key, rows: dict[_Key, _Row]) -> _Row | None:
        """Texts that differ in names of the same role as one; `rows` gets what these names become."""
        if len({tuple(_ATOM.split(text)) for text in texts}) > 1:
            return None
        sources: dict[str, _Key] = {}
        shared: set[str] = set()
        for atoms in zip(*map(_ATOM.findall, texts), strict=True):
            if len(set(atoms)) == 1 and len({self._last_set(atoms[0], reader) for reader in readers}) == 1:
                shared.add(atoms[0])
            elif (source := self._row(atoms, readers, rows)) is None or sources.setdefault(atoms[0], source) != source:
                return None
        text = _ATOM.sub(lambda found: "row" if found.group() in sources else found.group(), texts[0])
        values = _values(text) - {"row"}
        if shared & sources.keys() or not values <= self._kinds.keys() or not elementwise(text) or _BLOCKS.search(text):
            return None
        spread = frozenset(name for name in values if self._kinds[name])
        return _Row(key, texts[0], sources, values, spread, any(rows[k].wide for k in sources.values()))

    def _row(self, atoms: Sequence[str], readers: _Key, rows: dict[_Key, _Row]) -> _Key | None:
        """Returns what sets the numbers that some statements read."""
        base, _, _ = atoms[0].partition("[")
        if list(atoms) == [f"{base}[{k}]" for k in range(len(atoms))]:
            return self._loaded(base, readers, (), rows)
        made = tuple(self._set_at(name, reader) for name, reader in zip(atoms, readers, strict=True))
        if None in made or len(set(made)) < len(made):
            return None
        lines = [self._lines[at] for at in made if at is not None]
        key = tuple(at for at in made if at is not None)
        texts = [line.text for line in lines]
        base, _, _ = texts[0].partition("[")
        if texts == [f"{base}[{k}]" for k in range(len(texts))]:
            return self._loaded(base, key, key, rows)
        if any(line.effect or line.loads or line.value is None or line.value != lines[0].value for line in lines):
            return None
        row = rows.get(key) or self._alike(key, texts, key, rows)
        if row is None:
            return None
        rows[key] = row
        return key

    def _loaded(self, base: str, readers: _Key, taken: _Key, rows: dict[_Key, _Row]) -> _Key | None:
        """The load of all that `readers` take from what is called `base`."""
        made = {self._set_at(base, reader) for reader in readers}
        at = made.pop()
        access = None if at is None or made else ACCESS.match(self._lines[at].text)
        if at is None or access is None or int(access[2]) != len(readers):
            return None
        row = _Row((at,), self._lines[at].text, {}, frozenset(), frozenset(), wide=True, taken=taken)
        rows[row.key] = _joined(rows.get(row.key), row)
        return row.key

    def _set_at(self, name: str, reader: int) -> int | None:
        """Returns where a name got what a statement reads; None where that is not one statement of this suite."""
        at = self._last_set(name, reader)
        return at if at in self._lines else None

    def _last_set(self, name: str, reader: int) -> int | None:
        return next((at for at in reversed(range(reader)) if name in self._sets[at]), None)

    def _misread(self, rows: Mapping[_Key, _Row]) -> frozenset[int]:
        """Statements that cannot become rows, for what else reads them, or in which order."""
        places = [at for row in rows.values() for at in (*row.key, *row.taken)]
        given = {at for row in rows.values() for at in row.given}
        wrong = {at for at in places if places.count(at) > 1}
        readers = [(at, name) for at, names in enumerate(self._reads) for name in names if at not in places]
        readers += [(len(self._sets), name) for name in self._live]
        readers += [(row.key[0], name) for row in rows.values() for name in row.shared]
        for at, name in readers:
            made = self._set_at(name, at)
            wrong |= {made} & given if made is not None else {k for k in given if self._lines[k].target == name}
        return frozenset(wrong)

    def _write(self, rows: Mapping[_Key, _Row]) -> None:
        last = {source: max(row.key) for row in _ordered(rows) for source in row.sources.values()}
        names: dict[_Key, str] = {}
        held: dict[tuple[str, ...], _Key] = {}
        nodes = dict(enumerate(self._suite.nodes))
        for row in _ordered(rows):
            for at in (*row.key, *row.taken):
                del nodes[at]
            targets = tuple(self._lines[at].target for at in row.taken or row.key)
            before = held.get(targets)
            if row.end is None:
                free = before is not None and last[before] <= max(row.key)
                names[row.key] = names[before] if before and free else self._cx.names.temporary(_stem(targets))
                held[targets] = row.key
            nodes[max(row.key)] = self._written(row, names)
        self._suite.nodes = [nodes[at] for at in sorted(nodes)]

    def _written(self, row: _Row, names: Mapping[_Key, str]) -> Line:
        line = self._lines[row.key[-1]]
        renaming = {atom: names[key] for atom, key in row.sources.items()} | {n: f"{n}[:, None]" for n in row.spread}
        text = _ATOM.sub(lambda found: renaming.get(found.group(), found.group()), row.text)
        if row.end is not None:
            return replace(line, text=row.end.written(text), change=None)
        access = ACCESS.match(line.text)
        if access is None:
            return replace(line, text=text, target=names[row.key], value=None, change=None)
        pointer, *rest = arguments(line.text)
        made = f"{tile_helper(self._cx, 'load_tile', rest)}({', '.join([pointer, access[2], *rest])})"
        return replace(line, text=made, target=names[row.key], count=1)


def _read(node: Node) -> frozenset[str]:
    """The names that a statement and what it has inside read."""
    inside = frozenset(chain.from_iterable(_read(inner) for suite in suites_of(node) for inner in suite.nodes))
    match node:
        case Line(text=text) | Branch(condition=text) | Loop(header=text):
            return inside | names_in(text)
    return inside


def _joined(one: _Row | None, other: _Row) -> _Row:
    """The same row, as two that read it know it."""
    return other if one is None else replace(one, taken=tuple(sorted({*one.taken, *other.taken})))


def _ordered(rows: Mapping[_Key, _Row]) -> list[_Row]:
    return sorted(rows.values(), key=lambda row: max(row.key))


def _places(rows: Iterable[_Row]) -> set[int]:
    return {at for row in rows for at in (*row.key, *row.taken)}


def _values(text: str) -> frozenset[str]:
    """The names in a text but for those of modules and functions."""
    tree = expression_tree(text)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    owners = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called]
    return frozenset(node.id for node in names if not (node.id == "tl" and id(node) in owners))


def _stem(names: Sequence[str]) -> str:
    """Returns what a row is called whose numbers have these names."""
    first, last = min(map(stem, names)), max(map(stem, names))
    same = next((k for k, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return first[:same].rstrip("_") or "row"
