"""Reads what host code says about the torch tensors it takes: ranks, extents by name, element types."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from porter.contract.analysis.axes import at_chosen_axis, axis_of, extents_around
from porter.contract.analysis.body import Body, rebuild, written
from porter.contract.analysis.elements import element_type, torch_type
from porter.contract.analysis.pointers import is_buffer, is_integer, root
from porter.contract.analysis.polynomial import Polynomial
from porter.contract.analysis.scope import Scope
from porter.contract.analysis.usage import Usage
from porter.contract.infer.dispatched import preferred_type
from porter.contract.infer.library_shapes import Counted, LibraryShapes, extent_name, extent_of
from porter.contract.model.dtype import DType
from porter.contract.model.expressions import children, parsed, render
from porter.contract.model.syntax import Binary, Braces, Call, Member, Name, Node, Number
from porter.source.program import Function
from porter.source.qualified import unqualified

_ALLOCATIONS = ("empty", "zeros", "ones", "full", "rand", "randn")
_RESHAPING = (
    "reshape", "view", "flatten", "ravel", "unflatten", "squeeze", "unsqueeze", "permute", "transpose", "t", "expand",
)  # fmt: skip
_ALIKE = ("empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like")


@dataclass
class TensorFacts:
    """`extents` maps an axis, negative from the end, to its name in host code; `rank` is 0 where nothing tells it."""

    rank: int = 0
    extents: dict[int, str] = field(default_factory=dict)
    counted: str = ""
    dtype: DType | None = None

    def learn(self, other: TensorFacts) -> None:
        """Adds the facts that `other` knows."""
        self.rank = self.rank or other.rank
        for axis, name in other.extents.items():
            self.extents[axis] = self.extents.get(axis) or name
        self.counted = self.counted or other.counted
        self.dtype = self.dtype or other.dtype

    def axes(self) -> int:
        """Returns the number of axes: the stated one, else the most that is used."""
        if self.rank:
            return self.rank
        used = max((axis + 1 for axis in self.extents if axis >= 0), default=0)
        behind = max((-axis for axis in self.extents if axis < 0), default=0)
        if behind and (self.counted or used):
            return max(used + (0 if used > 1 else 1), behind + 1, 2)
        return max(used, behind, 1 if self.counted else 0)


def tensor_facts(usage: Usage, function: Function, depth: int = 0) -> Mapping[str, TensorFacts]:
    """Returns facts about every tensor parameter of `function`, also from the functions it is passed on to."""
    facts = {p.name: TensorFacts() for p in function.params if "Tensor" in p.type.text and p.name}
    aliases = {a: o for a, o in usage.aliases(function).items() if o in facts}
    body = usage.body(function)
    text = written(body.words)
    axes = frozenset(p.name for p in function.params if is_integer(usage.types.of(p, function).base) and not p.default)
    reshaped = frozenset(name for name, nodes in body.definitions.items() if any(map(_has_another_shape, nodes)))
    for alias, owner in (*aliases.items(), *_alike(body, aliases)):
        if alias in reshaped and alias != owner:
            continue
        facts[owner].learn(_stated(alias, text))
        facts[owner].learn(TensorFacts(extents=extents_around(alias, text, axes)))
    for name, nodes in body.definitions.items():
        for node in nodes:
            _name_extent(facts, aliases, name, at_chosen_axis(Scope(usage, function).resolve(node), axes))
    for alias, owner in aliases.items():
        facts[owner].dtype = _dtype(usage, function, alias) or facts[owner].dtype
    if depth < 4:
        _learn_from_callees(usage, function, facts, aliases, depth)
    return facts


def _has_another_shape(node: Node) -> bool:
    """Returns whether an expression is a tensor with other axes than the one that it is made of: `x.reshape({-1})`."""
    match node:
        case Call(Member(owner, made), _):
            return made in _RESHAPING or _has_another_shape(owner)
        case _:
            return False


def _alike(body: Body, aliases: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yields the tensors that host code makes as large as one that it has, each with that one."""
    for name, nodes in body.definitions.items():
        for node in nodes if name not in aliases else ():
            match node:
                case Call(Name(made), (model, *_)) if unqualified(made) in _ALIKE and root(model) in aliases:
                    yield name, aliases[root(model)]


def _stated(alias: str, text: str) -> TensorFacts:
    """Reads ranks and used axes in the text of a body."""
    name = rf"\b{re.escape(alias)}\b"
    facts = TensorFacts()
    for pattern in (
        rf"{name}\.(?:size|stride)\((-?\d+)\)",
        rf"{name}\.(?:sizes|strides)\(\)\[(-?\d+)\]",
        rf"{name}\.sizes\(\)\.at\((-?\d+)\)",
    ):
        for match in re.finditer(pattern, text):
            facts.extents.setdefault(int(match.group(1)), "")
    for pattern in (
        rf"{name}\.(?:dim|ndimension)\(\)[=>]=(\d)",
        rf"(?<!\d)(\d)=={name}\.(?:dim|ndimension)\(\)",
        rf"{name}\.(?:packed_)?(?:generic_)?accessor(?:32|64)?<[^;()]*?,(\d)",
        rf"{name}\.sizes\(\)\.size\(\)==(\d)",
    ):
        stated = re.search(pattern, text)
        facts.rank = facts.rank or (int(stated.group(1)) if stated else 0)
    if re.search(rf"{name}\.numel\(\)", text):
        facts.counted = "n"
    return facts


def _name_extent(facts: Mapping[str, TensorFacts], aliases: Mapping[str, str], name: str, node: Node) -> None:
    """Reads names of extents: `int B = x.size(0)` names an extent, `int n = x.numel()` a count."""
    match node:
        case Call(Member(owner, "size"), (axis,)) if (param := aliases.get(root(owner))) and axis_of(axis) is not None:
            at = axis_of(axis)
            assert at is not None
            facts[param].extents[at] = facts[param].extents.get(at) or name
        case Call(Member(owner, "numel"), ()) if param := aliases.get(root(owner)):
            if facts[param].counted in ("", "n"):
                facts[param].counted = name
        case _:
            pass


def _dtype(usage: Usage, function: Function, alias: str) -> DType | None:
    """Returns the element type that host code expects of the tensor."""
    name, text = rf"\b{re.escape(alias)}\b", written(usage.body(function).words)
    for requirement in usage.requirements(function):
        stated = render(requirement)
        if re.search(name, stated) and (found := torch_type(stated)) is not None:
            return found
    for pattern in (
        rf"{name}\.(?:mutable_|const_)?data_ptr<([\w:\s]+)>",
        rf"{name}\.(?:packed_)?(?:generic_)?accessor(?:32|64)?<([\w:\s]+),",
        rf"<(?:const )?([\w:]+) ?(?:const ?)?\*>\({name}\.",
        rf"\((?:const )?([\w:]+) ?\*\){name}\.",
    ):
        match = re.search(pattern, text)
        if match is not None:
            base = match.group(1).strip()
            found = element_type(base)
            if found is not None and base != "void":
                return found
            return preferred_type(usage.meanings(function).get(base, ()))
    return None


def _learn_from_callees(
    usage: Usage, function: Function, facts: Mapping[str, TensorFacts], aliases: Mapping[str, str], depth: int
) -> None:
    for name, arguments in usage.body(function).calls:
        callee = usage.callee(name, len(arguments))
        if callee is None or callee is function:
            continue
        inner = tensor_facts(usage, callee, depth + 1) if callee.space == "host" else {}
        for param, node in zip(callee.params, arguments, strict=False):
            owner = aliases.get(root(node)) if node is not None else None
            if owner is None or not is_buffer(param.type):
                continue
            if param.name in inner:
                facts[owner].learn(inner[param.name])
            elif param.type.base not in ("void", *(t.name for t in callee.template)):
                facts[owner].learn(TensorFacts(dtype=element_type(usage.types.of(param, callee).base)))


@dataclass
class Extents:
    """Names the extents of tensors: equal ones share a symbol, and some are made of others."""

    facts: Mapping[str, TensorFacts]
    _same: dict[tuple[str, int], tuple[str, int]] = field(default_factory=dict)
    _names: dict[tuple[str, int], str] = field(default_factory=dict)
    _made: dict[tuple[str, int], Polynomial] = field(default_factory=dict)

    def learn(self, body: Body, counted: Sequence[Counted]) -> None:
        """Learns what torch's operators in `body`, and the extents of `counted` axes, say (`library_shapes.py`)."""
        known = {tensor: rank for tensor in self.facts if (rank := self.rank(tensor))}
        keys = {extent_name(tensor, axis): (tensor, axis) for tensor, axis in self._all()}
        named = frozenset(name for name, key in keys.items() if self._stated(key))
        found = LibraryShapes(body, dict(known), frozenset(self.facts), named, counted)
        found.solve()
        for tensor in found.ranks.keys() - known.keys():
            self.facts[tensor].rank = found.ranks[tensor]
        keys = {extent_name(tensor, axis): (tensor, axis) for tensor, axis in self._all()}
        for name, made in found.solved.items():
            (same,) = made.names if made == Polynomial.name(next(iter(made.names), "")) else ("",)
            if same:
                self.unify(keys[same], keys[name])
            else:
                self._made[self._leader(keys[name])] = made

    def unify(self, a: tuple[str, int], b: tuple[str, int]) -> None:
        """Makes the extents `a` and `b`, each (tensor, axis), equal."""
        first, second = self._leader(a), self._leader(b)
        if first != second:
            self._same[second] = first

    def _leader(self, key: tuple[str, int]) -> tuple[str, int]:
        tensor, axis = key
        if axis < 0 and (rank := self.rank(tensor)):
            key = (tensor, axis + rank)
        while key in self._same:
            key = self._same[key]
        return key

    def rank(self, tensor: str) -> int:
        """Returns the rank of `tensor`, 0 where nothing tells it."""
        return self.facts[tensor].axes()

    def symbol(self, tensor: str, axis: int) -> str:
        """Returns the name of an extent, or the names that it is made of."""
        leader = self._leader((tensor, axis))
        if (made := self._made.get(leader)) is not None:
            return str(made.with_names({name: Polynomial.name(self.symbol(*extent_of(name))) for name in made.names}))
        if leader not in self._names:
            members = [leader, *(k for k in self._all() if self._leader(k) == leader)]
            self._names[leader] = self._fresh(next(filter(None, map(self._stated, members)), ""), leader)
        return self._names[leader]

    def _all(self) -> Iterator[tuple[str, int]]:
        for tensor in self.facts:
            for axis in range(self.rank(tensor)):
                yield tensor, axis

    def _stated(self, key: tuple[str, int]) -> str:
        tensor, axis = key
        facts, rank = self.facts[tensor], self.rank(tensor)
        if rank == 1 and facts.counted and facts.counted != "n":
            return facts.extents.get(0) or facts.counted
        return facts.extents.get(axis) or facts.extents.get(axis - rank) or ""

    def _fresh(self, wish: str, leader: tuple[str, int]) -> str:
        tensor, axis = leader
        name = wish or (f"{tensor}_size" if self.rank(tensor) == 1 else f"{tensor}_size{axis}")
        taken = set(self._names.values()) | set(self.facts)
        return name if name not in taken else f"{tensor}_{name}"

    def shape(self, tensor: str) -> tuple[str, ...]:
        """Returns the extents of `tensor` in symbols; empty where nothing tells its rank."""
        return tuple(self.symbol(tensor, axis) for axis in range(self.rank(tensor)))

    def demand(self, node: Node, aliases: Mapping[str, str]) -> None:
        """Learns from a requirement: `a.size(0) == b.size(1)`, `a.sizes() == b.sizes()`."""
        match node:
            case Binary("==", Call(Member(a, "size"), (i,)), Call(Member(b, "size"), (j,))):
                left, right = (aliases.get(root(a)), axis_of(i)), (aliases.get(root(b)), axis_of(j))
                if left[0] and right[0] and left[1] is not None and right[1] is not None:
                    self.facts[left[0]].extents.setdefault(left[1], "")
                    self.facts[right[0]].extents.setdefault(right[1], "")
                    self.unify((left[0], left[1]), (right[0], right[1]))
            case Binary("==", Call(Member(a, "sizes" | "numel"), ()), Call(Member(b, "sizes" | "numel"), ())):
                first, second = aliases.get(root(a)), aliases.get(root(b))
                if first and second:
                    rank = max(self.rank(first), self.rank(second), 1)
                    for name in (first, second):
                        self.facts[name].rank = rank
                    for axis in range(rank):
                        self.unify((first, axis), (second, axis))
            case Binary("==", Call(Member(a, "dim"), ()), Call(Member(b, "dim"), ())):
                self.demand(Binary("==", Call(Member(a, "sizes"), ()), Call(Member(b, "sizes"), ())), aliases)
            case Binary("==", Call(Member(a, "size"), (i,)), Number(int() as extent)):
                param, at = aliases.get(root(a)), axis_of(i)
                if param and at is not None:
                    self.facts[param].extents.setdefault(at, "")
                    self._names[self._leader((param, at))] = str(extent)
            case _:
                pass

    def expressed(self, node: Node, aliases: Mapping[str, str]) -> Node:
        """Returns `node` with extents of tensors as symbols."""
        node = rebuild(node, [self.expressed(child, aliases) for child in children(node)])
        match node:
            case Call(Member(owner, "size"), (axis,)):
                at, param = axis_of(axis), aliases.get(root(owner))
                if param and at is not None and -self.rank(param) <= at < self.rank(param):
                    return parsed(self.symbol(param, at))
                return _of_allocation(owner, at) if at is not None and not param else node
            case Call(Member(owner, "numel"), ()) if (param := aliases.get(root(owner))) and self.rank(param):
                return product(list(map(parsed, self.shape(param))))
            case Call(Member(owner, "dim" | "ndimension"), ()) if param := aliases.get(root(owner)):
                return Number(self.rank(param))
            case _:
                return node


def product(factors: Sequence[Node]) -> Node:
    """Returns the product of one or more expressions."""
    total = factors[0]
    for factor in factors[1:]:
        total = Binary("*", total, factor)
    return total


def _of_allocation(owner: Node, axis: int) -> Node:
    """Returns the extent of a tensor that host code allocates: `torch::empty({B, N}).size(1)` is `N`."""
    match owner:
        case Call(Name(name), (Braces(items), *_)) if unqualified(name) in _ALLOCATIONS:
            if -len(items) <= axis < len(items):
                return items[axis]
        case _:
            pass
    return Call(Member(owner, "size"), (Number(axis),))
