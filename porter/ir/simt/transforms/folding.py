"""Constant folding: integers and truth values that are known are computed, and branches on them decided.

What leaves a number as it is goes, too, and an access behind an offset is one to the pointer itself. Of floats only
what IEEE 754 defines is computed, rounded as the IR says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from porter.ir.simt.interpret import integers
from porter.ir.simt.interpret.concrete import Concrete
from porter.ir.simt.interpret.domain import numpy_type
from porter.ir.simt.operations import COMPARISONS
from porter.ir.simt.ops import Attribute, Function, Op, Value
from porter.ir.simt.transforms.rewriting import Replacement, rewritten
from porter.ir.simt.types import Pointer, Scalar, Type

_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
_COMPUTED = frozenset(
    ("add", "sub", "mul", "div", "rem", "min", "max", "shl", "shr", "and", "or", "xor", "not", "neg", "abs", "popc",
     "clz", "brev", "mulhi", *COMPARISONS)
)  # fmt: skip
_ROUNDED = frozenset({"sqrt", "floor", "ceil", "trunc", "rint", "round"})
_FLOATS = Concrete()
_NEUTRAL_SECOND = {"add": 0, "sub": 0, "mul": 1, "div": 1, "shl": 0, "shr": 0, "or": 0, "xor": 0}
_COMMUTE = frozenset({"add", "mul", "or", "xor"})


def folded(function: Function) -> Function:
    """Returns `function` with what is known computed."""
    return rewritten(function, Folding())


def constant(type_: Type, value: Attribute, name: str = "") -> Op:
    """Returns the operation that makes a constant."""
    return Op("constant", (), (Value(type_, name),), (("value", value),))


class Folding:
    """The rule. It knows the operation that made each value that it has seen."""

    def __init__(self) -> None:
        self._makers: dict[Value, Op] = {}

    def __call__(self, op: Op) -> Replacement | None:
        """Returns what takes the place of an operation; None where it stays."""
        made = self._folded(op)
        for kept in (op,) if made is None else made.ops:
            self._makers.update(dict.fromkeys(kept.results, kept))
        return made

    def known(self, value: Value) -> Attribute | None:
        """Returns the number that a value is; None where it is not known."""
        maker = self._makers.get(value)
        return maker.attribute("value") if maker is not None and maker.kind == "constant" else None

    def _folded(self, op: Op) -> Replacement | None:
        if op.kind in ("load", "store", "atomic", "offset"):
            return self._access(op)
        if (special := _SPECIAL.get(op.kind)) is not None and (found := special(self, op)) is not None:
            return found
        return self._arithmetic(op) if op.kind in _COMPUTED | _ROUNDED else None

    def _arithmetic(self, op: Op) -> Replacement | None:
        type_ = op.operands[0].type
        if not isinstance(type_, Scalar):
            return None
        given = [self.known(operand) for operand in op.operands]
        if type_.is_float:
            return (
                None if None in given else _rounded(op, type_, [float(value) for value in given if value is not None])
            )
        if None not in given:
            return self._computed(op, type_, [value for value in given if value is not None])
        return self._unchanged(op, given)

    def _computed(self, op: Op, type_: Scalar, given: list[Attribute]) -> Replacement | None:
        if op.kind in ("div", "rem") and given[1] == 0:
            return None
        result = op.result.type
        assert isinstance(result, Scalar)
        with np.errstate(all="ignore"):
            made = integers.apply(op.kind, result, *(np.array(value, numpy_type(type_)) for value in given))
        return _one(constant(result, bool(made) if result is Scalar.BOOL else int(made)))

    @staticmethod
    def _unchanged(op: Op, given: list[Attribute | None]) -> Replacement | None:
        """Returns the operand that an operation with a neutral one leaves as it is."""
        if len(given) < 2:
            return None
        neutral = _NEUTRAL_SECOND.get(op.kind)
        if op.kind == "and" and True in given and op.result.type is Scalar.BOOL:
            return Replacement((), (op.operands[1 if given[0] is True else 0],))
        if op.kind == "mul" and 0 in given:
            return _one(constant(op.result.type, 0))
        if neutral is None:
            return None
        if given[1] is not None and given[1] == neutral:
            return Replacement((), (op.operands[0],))
        if op.kind in _COMMUTE and given[0] is not None and given[0] == neutral:
            return Replacement((), (op.operands[1],))
        return None

    def _access(self, op: Op) -> Replacement | None:
        """An access, or another offset, behind an offset: it is one from where that begins, if either is 0 or known."""
        maker = self._makers.get(op.operands[0])
        base, index = op.operands[:2]
        if op.kind == "offset" and self.known(index) == 0 and isinstance(base.type, Pointer):
            return Replacement((), (base,))
        if maker is None or maker.kind != "offset":
            return None
        before = maker.operands[1]
        steps = [self.known(before), self.known(index)]
        extra: tuple[Op, ...] = ()
        if steps[1] == 0:
            place = before
        elif steps[0] == 0:
            place = index
        elif all(isinstance(step, int) for step in steps):
            extra = (constant(Scalar.I64, sum(int(step) for step in steps if step is not None)),)
            place = extra[0].result
        else:
            return None
        moved = replace(op, operands=(maker.operands[0], place, *op.operands[2:]))
        return Replacement((*extra, moved), op.results)

    def _cast(self, op: Op) -> Replacement | None:
        source, target = op.operands[0].type, op.result.type
        if source == target:
            return Replacement((), op.operands)
        value = self.known(op.operands[0])
        if value is None or not isinstance(target, Scalar) or not isinstance(source, Scalar):
            return None
        if source.is_float:
            return _rounded(op, source, [float(value)]) if target.is_float or target is Scalar.BOOL else None
        if target.is_float:
            return _one(constant(target, float(_FLOATS.apply("cast", target, [source], [np.array(value)]))))
        made = integers.apply("cast", target, np.array(value, numpy_type(source)))
        return _one(constant(target, bool(made) if target is Scalar.BOOL else int(made)))

    def _not(self, op: Op) -> Replacement | None:
        maker = self._makers.get(op.operands[0])
        if maker is None or op.result.type is not Scalar.BOOL:
            return None
        if maker.kind in ("and", "or"):
            return self._neither(op, maker)
        made = self._opposite(op.operands[0], op.result.name)
        if made is None:
            return None
        return Replacement((), (made,)) if isinstance(made, Value) else _one(made)

    def _opposite(self, value: Value, name: str = "") -> Op | Value | None:
        """Returns what is true where a comparison is not; None where no comparison says it."""
        maker = self._makers.get(value)
        if maker is not None and maker.kind == "not":
            return maker.operands[0]
        if maker is None or maker.kind not in _OPPOSITE:
            return None
        compared = maker.operands[0].type
        if isinstance(compared, Scalar) and compared.is_float and maker.kind not in ("eq", "ne"):
            return None  # neither holds of NaN
        return Op(_OPPOSITE[maker.kind], maker.operands, (Value(Scalar.BOOL, name),))

    def _neither(self, op: Op, maker: Op) -> Replacement | None:
        """Not one or another is neither, and not both is one of the opposites."""
        sides = [self._opposite(operand) for operand in maker.operands]
        before = tuple(side for side in sides if isinstance(side, Op))
        values = tuple(side.result if isinstance(side, Op) else side for side in sides if side is not None)
        if len(values) < len(sides):
            return None
        kind = "or" if maker.kind == "and" else "and"
        made = Op(kind, values, (Value(Scalar.BOOL, op.result.name),))
        return Replacement((*before, made), (made.result,))

    def _select(self, op: Op) -> Replacement | None:
        condition = self.known(op.operands[0])
        return None if condition is None else Replacement((), (op.operands[1 if condition else 2],))

    def _if(self, op: Op) -> Replacement | None:
        condition = self.known(op.operands[0])
        if condition is None:
            maker = self._makers.get(op.operands[0])
            if maker is None or maker.kind != "not" or not op.results:
                return None
            return _one(replace(op, operands=maker.operands, regions=op.regions[::-1]))
        *inner, last = op.regions[0 if condition else 1].ops
        return Replacement(tuple(inner), last.operands)

    def _for(self, op: Op) -> Replacement | None:
        """A loop that is never entered leaves what it was given."""
        start, limit = (self.known(operand) for operand in op.operands[:2])
        if start is None or limit is None:
            return None
        entered = integers.apply(str(op.attribute("compare")), Scalar.BOOL, np.array(start), np.array(limit))
        return None if entered else Replacement((), op.operands[3:])

    def _add(self, op: Op) -> Replacement | None:
        """A sum with the negative of a number is a difference."""
        maker = self._makers.get(op.operands[1])
        if maker is None or maker.kind != "neg":
            return None
        return _one(Op("sub", (op.operands[0], *maker.operands), (Value(op.result.type, op.result.name),)))

    def _extract(self, op: Op) -> Replacement | None:
        maker = self._makers.get(op.operands[0])
        index = op.attribute("index")
        assert isinstance(index, int)
        return Replacement((), (maker.operands[index],)) if maker is not None and maker.kind == "pack" else None

    def _bitcast(self, op: Op) -> Replacement | None:
        """The bits of what is the bits of something are that thing's own; a pointer's are where it leads."""
        maker = self._makers.get(op.operands[0])
        (source,) = maker.operands if maker is not None and maker.kind == "bitcast" else op.operands
        if source.type == op.result.type:
            return Replacement((), (source,))
        return None if source is op.operands[0] else _one(Op("bitcast", (source,), (Value(op.result.type),)))


def _rounded(op: Op, type_: Scalar, given: list[float]) -> Replacement:
    """Returns an operation on floats that are known."""
    result = op.result.type
    assert isinstance(result, Scalar)
    with np.errstate(all="ignore"):
        operands = [_FLOATS.number(value, type_) for value in given]
        made = _FLOATS.apply(op.kind, result, [type_] * len(given), operands)
    return _one(constant(result, bool(made) if result is Scalar.BOOL else float(made)))


def _one(op: Op) -> Replacement:
    return Replacement((op,), op.results)


def _assert(folding: Folding, op: Op) -> Replacement | None:
    """Takes away an assertion that is known to hold."""
    return Replacement((), ()) if folding.known(op.operands[0]) is True else None


_SPECIAL: Mapping[str, Callable[[Folding, Op], Replacement | None]] = {
    "cast": Folding._cast,
    "not": Folding._not,
    "select": Folding._select,
    "if": Folding._if,
    "for": Folding._for,
    "add": Folding._add,
    "extract": Folding._extract,
    "bitcast": Folding._bitcast,
    "assert": _assert,
}
