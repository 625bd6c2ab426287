"""Takes the uniform part of a condition out: `if (a && b)` with a uniform `a` is an `if` around one on `b`.

So a block leaves out together what none of its threads does, and what stands behind a test of a pointer for null is
compiled only where there is one.
"""

from __future__ import annotations

from dataclasses import replace

from porter.ir.simt.analyses.uniformity import uniformity
from porter.ir.simt.analyses.uses import makers
from porter.ir.simt.ops import Block, Function, Op
from porter.ir.simt.transforms.rewriting import Replacement, rewritten


def with_uniform_conditions(function: Function) -> Function:
    """Returns `function` with branches that have no results and one side, split where a part of their condition is
    uniform.
    """
    varying, made_by = uniformity(function).varying, makers(function)

    def split(op: Op) -> Replacement | None:
        if op.kind != "if" or op.results or len(op.regions[1].ops) > 1 or op.operands[0] not in varying:
            return None
        maker = made_by.get(op.operands[0])
        if maker is None or maker.kind != "and":
            return None
        uniform = [operand for operand in maker.operands if operand not in varying]
        others = [operand for operand in maker.operands if operand in varying]
        if len(uniform) != 1 or len(others) != 1:
            return None
        inner = replace(op, operands=(others[0],))
        end = op.regions[1]
        outer = replace(op, operands=(uniform[0],), regions=(Block((), (inner, *end.ops)), end))
        return Replacement((outer,), ())

    return rewritten(function, split)
