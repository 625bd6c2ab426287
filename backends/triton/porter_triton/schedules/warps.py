"""`num_warps` of a kernel's launches."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from math import prod

from porter.backend import Target
from porter.evolve.candidate import Value
from porter.evolve.proposing.edited import EditedKnob, Edits, edited_knob
from porter.source.edit import Edit
from porter_triton.schedules.text import Launch, ModuleText, last_name, number

_WARPS = (1, 2, 4, 8, 16, 32)
_MOST_ELEMENTS = 128  # of one tile in the registers of one lane
_SHAPED = {"arange": 1, "zeros": 0, "full": 0}  # which argument tells how many elements there are


def warps(module: ModuleText, target: Target) -> Iterator[EditedKnob]:
    """Yields a knob for each kernel that is launched."""
    for family, names in module.families.items():
        launches = [launch for launch in module.launches if launch.kernel in names]
        values = tuple(v for v in _WARPS if v * target.warp_size <= target.max_threads)
        yield edited_knob(f"{family}.num_warps", values, _Warps(module, launches, target))


class _Warps:
    def __init__(self, module: ModuleText, launches: Sequence[Launch], target: Target) -> None:
        self._module = module
        self._launches = launches
        self._target = target

    def __call__(self, value: Value) -> Edits:
        if not all(self._is_sensible(int(value), elements(self._module, launch)) for launch in self._launches):
            return None
        return [edit for launch in self._launches for edit in self._edits(launch, value)]

    def _is_sensible(self, count: int, tile: int | None) -> bool:
        """Returns whether lanes have something to do, and not more than registers hold; an unknown tile may be any."""
        lanes = count * self._target.warp_size
        return tile is None or (lanes <= max(tile, self._target.warp_size) and tile <= _MOST_ELEMENTS * lanes)

    def _edits(self, launch: Launch, value: Value) -> Iterator[Edit]:
        yield from self._module.with_keywords(launch.call, {"num_warps": str(value)})


def elements(module: ModuleText, launch: Launch) -> int | None:
    """Returns how many elements the largest tile of the launch's kernel has; None where the text does not tell."""
    kernel = module.jitted[launch.kernel]
    known = constants(kernel, launch)
    sizes = [_size(call, known) for call in ast.walk(kernel) if isinstance(call, ast.Call)]
    told = [size for size in sizes if size != 0]
    return None if None in told else max((size for size in told if size), default=1)


def constants(kernel: ast.FunctionDef, launch: Launch) -> Mapping[str, int]:
    """Returns the kernel's parameters that are whole numbers written at the launch."""
    names = [argument.arg for argument in kernel.args.args]
    by_place = zip(names, launch.call.args, strict=False)
    by_name = ((k.arg, k.value) for k in launch.call.keywords if k.arg)
    return {name: value for name, node in (*by_place, *by_name) if (value := number(node)) is not None}


def _size(call: ast.Call, known: Mapping[str, int]) -> int | None:
    """Returns the elements of the tile that `call` makes, 0 where it makes none."""
    index = _SHAPED.get(last_name(call.func), -1)
    if not 0 <= index < len(call.args):
        return 0
    shape = call.args[index]
    extents = shape.elts if isinstance(shape, (ast.List, ast.Tuple)) else [shape]
    values = [known.get(e.id) if isinstance(e, ast.Name) else number(e) for e in extents]
    return None if None in values else prod(value for value in values if value is not None)
