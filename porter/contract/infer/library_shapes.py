"""Finds the shapes that torch's own operators demand of the tensors which host code hands them.

`addmm(bias, cat({h, x}, 1), w.transpose(0, 1))` only works where `w` has as many columns as `h` and `x` together. Ranks
are found first; then each expression gets a shape, of extents that are sums of products of the parameters' extents, and
what has to be equal is solved for one of them. Operators that are not known here demand nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from porter.contract.analysis.axes import axis_of
from porter.contract.analysis.body import Body, walk
from porter.contract.analysis.polynomial import Polynomial
from porter.contract.model.syntax import Binary, Braces, Call, Cast, Member, Name, Node, Number, Unary
from porter.source.qualified import unqualified

Shape = tuple[Polynomial, ...]
Counted = tuple[int, tuple[Node, int]]  # an extent, and the tensor and axis that have it
_ROUNDS = 3
_ONE = Polynomial.number(1)
_ALIKE = frozenset((
    "contiguous", "clone", "detach", "to", "cuda", "cpu", "exp", "log", "sqrt", "rsqrt", "sigmoid", "tanh", "relu",
    "abs", "neg", "softmax", "log_softmax", "zeros_like", "ones_like", "empty_like", "full_like", "rand_like",
    "randn_like", "copy_", "zero_", "fill_", "type", "toType", "clamp", "pow", "requires_grad_", "sign", "reciprocal",
    "sin", "cos",
))  # fmt: skip
_MADE = frozenset(("zeros", "ones", "empty", "full", "rand", "randn"))
_ELEMENTWISE = frozenset(("add", "sub", "mul", "div", "add_", "sub_", "mul_", "div_"))
_REDUCED = frozenset(("sum", "mean", "amax", "amin", "prod", "logsumexp"))
_PRODUCTS: Mapping[str, tuple[int, int, int]] = {  # the rank, and the places of the two factors
    "mm": (2, 0, 1), "addmm": (2, 1, 2), "bmm": (3, 0, 1), "baddbmm": (3, 1, 2),
}  # fmt: skip


def extent_name(tensor: str, axis: int) -> str:
    """Returns the name that an extent of a parameter has in the shapes found here."""
    return f"{tensor}#{axis}"


def extent_of(name: str) -> tuple[str, int]:
    """Returns the parameter and the axis that an extent's name stands for."""
    tensor, _, axis = name.rpartition("#")
    return tensor, int(axis)


@dataclass
class LibraryShapes:
    """The shapes of the parameters whose `ranks` are known, and of more once `solve` has read `body`.

    `named` are the extents that host code has names for: they stay, the others are expressed by them. `counted` are the
    axes that kernels index with numbers alone. `solved` maps extents to what they are.
    """

    body: Body
    ranks: dict[str, int]
    parameters: frozenset[str]
    named: frozenset[str] = frozenset()
    counted: Sequence[Counted] = ()
    solved: dict[str, Polynomial] = field(default_factory=dict)
    _known: dict[str, Shape | None] = field(default_factory=dict)

    def solve(self) -> None:
        """Reads all of the body."""
        nodes = list(self._nodes())
        for _ in range(_ROUNDS):
            for node in nodes:
                self._demand_ranks(node)
        for node in nodes:
            self.shape(node)
        for extent, (tensor, axis) in self.counted:
            if (shape := self.shape(tensor)) is not None and axis < len(shape):
                self._equal(shape[axis], Polynomial.number(extent))

    def _nodes(self) -> Iterator[Node]:
        """Yields every call that is assigned to a name, or is an argument, inner ones first."""
        whole = [node for nodes in self.body.definitions.values() for node in nodes]
        whole += [a for _, arguments in self.body.calls for a in arguments if a is not None]
        for node in whole:
            yield from (part for part in reversed(list(walk(node))) if isinstance(part, Call))

    def _meaning(self, name: str) -> Node | None:
        nodes = self.body.definitions.get(name, ())
        return nodes[0] if len(nodes) == 1 and name not in self.parameters else None

    # Ranks

    def _rank(self, node: Node, depth: int = 0) -> int:
        """Returns the number of axes; 0 where it is not known."""
        name, operands = _operation(node)
        if isinstance(node, Name):
            inner = self._meaning(node.name) if depth < _DEEPEST else None
            return self.ranks.get(node.name, 0) or (self._rank(inner, depth + 1) if inner is not None else 0)
        if name in _PRODUCTS:
            return _PRODUCTS[name][0]
        if name in ("cat", "concat") and operands:
            return max((self._rank(item, depth) for item in _items(operands[0])), default=0)
        if name == "t":
            return 2
        if name in _ALIKE or name in ("transpose", "permute"):
            return self._rank(operands[0], depth) if operands else 0
        return 0

    def _require(self, node: Node, rank: int, depth: int = 0) -> None:
        """Takes note that an expression has `rank` axes."""
        name, operands = _operation(node)
        if isinstance(node, Name):
            if node.name in self.parameters:
                self.ranks.setdefault(node.name, rank)
            elif depth < _DEEPEST and (inner := self._meaning(node.name)) is not None:
                self._require(inner, rank, depth + 1)
        elif name in ("cat", "concat") and operands:
            for item in _items(operands[0]):
                self._require(item, rank, depth)
        elif (name in _ALIKE or name in ("transpose", "permute")) and operands:
            self._require(operands[0], rank, depth)

    def _demand_ranks(self, node: Node) -> None:
        name, operands = _operation(node)
        if name in _PRODUCTS and len(operands) > _PRODUCTS[name][2]:
            rank, left, right = _PRODUCTS[name]
            self._require(operands[left], rank)
            self._require(operands[right], rank)
            if left and not self._rank(operands[0]):
                self._require(operands[0], 1)
        elif name == "t" and operands:
            self._require(operands[0], 2)
        elif name == "linear" and len(operands) > 1:
            self._require(operands[1], 2)
            for bias in operands[2:]:
                self._require(bias, 1)
        elif name in ("cat", "concat") and operands and (rank := self._rank(node)):
            self._require(node, rank)

    # Shapes

    def shape(self, node: Node) -> Shape | None:
        """Returns the shape of an expression; None where it is not known, or no tensor."""
        if isinstance(node, Name):
            return self._named_shape(node.name)
        if isinstance(node, Unary):
            return self.shape(node.operand)
        if isinstance(node, Binary):
            return self._together(self.shape(node.left), self.shape(node.right))
        name, operands = _operation(node)
        rule = self._rule(name)
        return rule(operands) if rule is not None and operands else None

    def _named_shape(self, name: str) -> Shape | None:
        if name in self.parameters:
            rank = self.ranks.get(name, 0)
            return tuple(self._extent(name, axis) for axis in range(rank)) if rank else None
        if name not in self._known:
            self._known[name] = None  # a name that is defined by itself
            inner = self._meaning(name)
            self._known[name] = self.shape(inner) if inner is not None else None
        return self._known[name]

    def _extent(self, tensor: str, axis: int) -> Polynomial:
        return Polynomial.name(extent_name(tensor, axis)).with_names(self.solved)

    def _rule(self, name: str) -> Callable[[Sequence[Node]], Shape | None] | None:
        if name in _ALIKE:
            return lambda operands: self.shape(operands[0])
        if name in _MADE:
            return lambda operands: self._sizes(_items(operands[0]))
        if name in _PRODUCTS:
            return lambda operands: self._product(name, operands)
        if name in _ELEMENTWISE:
            return lambda operands: self._together(*map(self.shape, operands[:2]))
        if name in _REDUCED:
            return self._reduced
        rules: Mapping[str, Callable[[Sequence[Node]], Shape | None]] = {
            "cat": self._joined, "concat": self._joined, "t": self._turned, "transpose": self._turned,
            "reshape": self._reshaped, "view": self._reshaped, "flatten": self._flattened, "linear": self._linear,
            "unsqueeze": self._unsqueezed, "matmul": lambda operands: self._product("mm", operands),
        }  # fmt: skip
        return rules.get(name)

    def _together(self, left: Shape | None, right: Shape | None = None) -> Shape | None:
        """Returns the shape of what is computed of two tensors; of a tensor and a number that of the tensor."""
        if left is None or right is None or len(left) != len(right):
            return left or right if left is None or right is None else max(left, right, key=len)
        return tuple(map(self._broadcast, left, right))

    def _broadcast(self, left: Polynomial, right: Polynomial) -> Polynomial:
        if 1 in (left.constant, right.constant):
            return right if left.constant == 1 else left
        self._equal(left, right)
        return left.with_names(self.solved)

    def _product(self, name: str, operands: Sequence[Node]) -> Shape | None:
        rank, left, right = _PRODUCTS[name]
        shapes = [self.shape(operand) for operand in operands]
        if len(shapes) <= right or (a := shapes[left]) is None or (b := shapes[right]) is None:
            return None
        if len(a) != rank or len(b) != rank:
            return None
        self._equal(a[-1], b[-2])
        for one, other in zip(a[:-2], b[:-2], strict=True):
            self._equal(one, other)
        found = tuple(e.with_names(self.solved) for e in (*a[:-1], b[-1]))
        bias = shapes[0] if left else None
        if bias is not None:
            self._fit(bias, found)
        return tuple(e.with_names(self.solved) for e in found)

    def _fit(self, bias: Shape, found: Shape) -> None:
        """Takes note that `bias` is added to what has the shape `found`: a row of it is added to each row."""
        self._equal(bias[-1], found[-1])
        for extent in bias[:-1]:
            self._equal(extent, _ONE)

    def _linear(self, operands: Sequence[Node]) -> Shape | None:
        x, weight, *rest = (self.shape(operand) for operand in operands)
        if x is None or weight is None or len(weight) != 2:
            return None
        self._equal(x[-1], weight[1])
        if rest and rest[0] is not None:
            self._equal(rest[0][-1], weight[0])
        return tuple(e.with_names(self.solved) for e in (*x[:-1], weight[0]))

    def _joined(self, operands: Sequence[Node]) -> Shape | None:
        found = [self.shape(item) for item in _items(operands[0])]
        shapes = [shape for shape in found if shape is not None]
        axis = axis_of(operands[1]) if len(operands) > 1 else 0
        if not shapes or len(shapes) < len(found) or axis is None or len({*map(len, shapes)}) > 1:
            return None
        axis %= len(shapes[0])
        first, *others = shapes
        for other in others:
            for i, (a, b) in enumerate(zip(first, other, strict=True)):
                if i != axis:
                    self._equal(a, b)
        total = reduce(Polynomial.__add__, (shape[axis] for shape in shapes))
        return tuple((total if i == axis else e).with_names(self.solved) for i, e in enumerate(first))

    def _turned(self, operands: Sequence[Node]) -> Shape | None:
        shape = self.shape(operands[0])
        axes = [axis_of(o) for o in operands[1:3]] or [0, 1]
        if shape is None or len(axes) != 2 or any(a is None or not -len(shape) <= a < len(shape) for a in axes):
            return None
        first, second = (axis % len(shape) for axis in axes if axis is not None)
        places = {first: second, second: first}
        return tuple(shape[places.get(i, i)] for i in range(len(shape)))

    def _reshaped(self, operands: Sequence[Node]) -> Shape | None:
        items = _items(operands[1]) if len(operands) == 2 else operands[1:]
        given, wanted = self.shape(operands[0]), self._sizes([i for i in items if not _is_rest(i)])
        if given is None or wanted is None:
            return None
        whole, told = reduce(Polynomial.__mul__, given, _ONE), reduce(Polynomial.__mul__, wanted, _ONE)
        rests = [i for i, item in enumerate(items) if _is_rest(item)]
        if not rests:
            if not self._equal(whole, told):
                self._equal(given[0], wanted[0])  # most often the first axis stays
                self._equal(whole, told)
            return _with(wanted, self.solved)
        rest = whole.over(told)
        return (*wanted[: rests[0]], rest, *wanted[rests[0] :]) if rest is not None and len(rests) == 1 else None

    def _flattened(self, operands: Sequence[Node]) -> Shape | None:
        shape = self.shape(operands[0])
        begin, end = ([axis_of(o) for o in operands[1:3]] + [0, -1][len(operands) - 1 :])[:2]
        if shape is None or begin is None or end is None or not -len(shape) <= end < len(shape):
            return None
        begin, end = begin % len(shape), end % len(shape)
        whole = reduce(Polynomial.__mul__, shape[begin : end + 1], _ONE)
        return (*shape[:begin], whole, *shape[end + 1 :])

    def _unsqueezed(self, operands: Sequence[Node]) -> Shape | None:
        shape, axis = self.shape(operands[0]), axis_of(operands[1]) if len(operands) > 1 else None
        if shape is None or axis is None:
            return None
        axis %= len(shape) + 1
        return (*shape[:axis], _ONE, *shape[axis:])

    def _reduced(self, operands: Sequence[Node]) -> Shape | None:
        shape, axis = self.shape(operands[0]), axis_of(operands[1]) if len(operands) > 1 else None
        if shape is None or axis is None or not -len(shape) <= axis < len(shape):
            return None
        kept = (_ONE,) if len(operands) > 2 and operands[2] == Number(1) else ()
        axis %= len(shape)
        return (*shape[:axis], *kept, *shape[axis + 1 :])

    def _sizes(self, items: Sequence[Node]) -> Shape | None:
        found = [self._size(item) for item in items]
        known = tuple(size for size in found if size is not None)
        return known if len(known) == len(found) else None

    def _size(self, node: Node) -> Polynomial | None:
        """Returns a whole number of host code by the extents of parameters; None where it is none of these."""
        match node:
            case Number(int() as value):
                return Polynomial.number(value)
            case Cast(_, operand):
                return self._size(operand)
            case Name(name):
                inner = self._meaning(name)
                return self._size(inner) if inner is not None and not isinstance(inner, Name) else None
            case Call(Member(owner, "size"), (place,)):
                shape, axis = self.shape(owner), axis_of(place)
                fits = shape is not None and axis is not None and -len(shape) <= axis < len(shape)
                return shape[axis] if fits and shape is not None and axis is not None else None
            case Binary("*" | "+" | "-" as operator, left, right):
                a, b = self._size(left), self._size(right)
                if a is None or b is None:
                    return None
                return a * b if operator == "*" else a + b if operator == "+" else a - b
            case _:
                return None

    def _equal(self, left: Polynomial, right: Polynomial) -> bool:
        """Solves what says that two extents are equal for one of the extents in it, rather for one without a name.

        Returns whether they are equal now.
        """
        zero = (left - right).with_names(self.solved).primitive()
        found = sorted(
            zero.solutions(), key=lambda one: (min(one[1].terms.values(), default=0) < 0, one[0] in self.named)
        )
        if not found:
            return not zero.terms
        name, meaning = found[0]
        self.solved = {n: m.with_names({name: meaning}) for n, m in self.solved.items()} | {name: meaning}
        self._known = {n: _with(shape, {name: meaning}) for n, shape in self._known.items()}
        return True


_DEEPEST = 8  # names that are defined by names


def _with(shape: Shape | None, meanings: Mapping[str, Polynomial]) -> Shape | None:
    return None if shape is None else tuple(extent.with_names(meanings) for extent in shape)


def _operation(node: Node) -> tuple[str, tuple[Node, ...]]:
    """Returns an operator of torch, a function or a method, with its operands; no name for anything else."""
    match node:
        case Call(Member(owner, name), arguments):
            return name, (owner, *arguments)
        case Call(Name(name), arguments) if name.startswith(("torch::", "at::")):
            return unqualified(name), arguments
        case _:
            return "", ()


def _items(node: Node) -> tuple[Node, ...]:
    """Returns the items of a list in braces; `node` itself of anything else."""
    return node.items if isinstance(node, Braces) else (node,)


def _is_rest(node: Node) -> bool:
    return node in (Number(-1), Unary("-", Number(1)))
