"""Reads from its tree what a module of Triton kernels does: where it lies on the axes of `porter.evolve.features`."""

from __future__ import annotations

import ast

from porter.evolve.features import Family, Memory, Parallel, cell
from porter_triton.schedules.loops import STAGES
from porter_triton.schedules.text import ModuleText, last_name, number
from porter_triton.schedules.warps import elements
from porter_triton.schedules.ways import launched_together

_REDUCING = frozenset(("sum", "max", "min", "argmax", "argmin", "reduce", "xor_sum", "reduce_or"))
_SCANNING = frozenset(("cumsum", "cumprod", "associative_scan"))
_EXCHANGING = frozenset(("gather", "sort", "flip", "histogram", "trans", "permute", "topk", "interleave"))
_DESCRIPTORS = frozenset(("make_tensor_descriptor", "make_block_ptr", "async_copy"))
_PRODUCTS = frozenset(("dot", "dot_scaled"))
_ATOMICS = "atomic_"
_WIDE_ELEMENTS = 4  # a lane, from which accesses of 32-bit elements are 128 bits wide
_WARP_SIZE = 32
_USUAL_WARPS = 4  # what Triton takes where a launch does not say


def features(text: str) -> tuple[int, ...]:
    """Returns the cell of a module: the highest of those of its ways; the first one where it is not Python.

    A way is the set of kernels that one call launches. Where a launcher chooses, as between rows that fit on the chip
    and longer ones, the form written for speed decides, not the one beside it for all other sizes.
    """
    module = ModuleText.of(text)
    if module is None:
        return cell(Memory.PLAIN, Parallel.ELEMENT, Family.MAP)
    ways = launched_together(module) or frozenset({frozenset(module.jitted)})
    return max(_of_way(module, way) for way in ways)


def _of_way(module: ModuleText, kernels: frozenset[str]) -> tuple[int, ...]:
    nodes = [node for name in _reached(module, kernels) for node in ast.walk(module.jitted[name])]
    names = {last_name(node.func) for node in nodes if isinstance(node, ast.Call)}
    launches = [index for index, launch in enumerate(module.launches) if launch.kernel in kernels]
    families = {next((f for f, names in module.families.items() if kernel in names), kernel) for kernel in kernels}
    several = len(families) > 1
    return cell(_memory(module, launches, nodes, names), _parallel(nodes, names, several=several), _family(names))


def _reached(module: ModuleText, kernels: frozenset[str]) -> list[str]:
    """Returns the kernels and the functions that they call, one by another."""
    found, open_ones = [], sorted(kernels)
    while open_ones:
        name = open_ones.pop()
        if name not in found:
            found.append(name)
            calls = (n for n in ast.walk(module.jitted[name]) if isinstance(n, ast.Call))
            open_ones += [called for called in map(last_name, calls) if called in module.jitted]
    return found


def _memory(module: ModuleText, launches: list[int], nodes: list[ast.AST], names: set[str]) -> Memory:
    stages = [k.value for n in nodes if isinstance(n, ast.Call) for k in n.keywords if k.arg == STAGES]
    if names & _DESCRIPTORS or any((number(value) or 0) > 1 for value in stages):
        return Memory.PIPELINED
    loads_in_loops = any(_loads(node) for node in nodes if isinstance(node, (ast.For, ast.While)))
    if names & (_EXCHANGING | _PRODUCTS) or (names & (_REDUCING | _SCANNING) and not loads_in_loops):
        return Memory.KEPT
    return Memory.WIDE if any(_is_wide(module, index) for index in launches) else Memory.PLAIN


def _loads(loop: ast.AST) -> bool:
    return any(isinstance(node, ast.Call) and last_name(node.func) == "load" for node in ast.walk(loop))


def _is_wide(module: ModuleText, index: int) -> bool:
    """Returns whether a lane of the launch has several elements of a tile."""
    launch = module.launches[index]
    lanes = _WARP_SIZE * (number(launch.keyword("num_warps")) or _USUAL_WARPS)
    return (elements(module, launch) or 0) >= _WIDE_ELEMENTS * lanes


def _parallel(nodes: list[ast.AST], names: set[str], *, several: bool) -> Parallel:
    if several or any(name.startswith(_ATOMICS) for name in names):
        return Parallel.PROGRAMS
    if names & (_REDUCING | _SCANNING | _EXCHANGING | _PRODUCTS):
        return Parallel.LANES
    return Parallel.LOOP if any(isinstance(node, (ast.For, ast.While)) for node in nodes) else Parallel.ELEMENT


def _family(names: set[str]) -> Family:
    for found, family in ((_PRODUCTS, Family.PRODUCT), (_SCANNING, Family.SCAN), (_REDUCING, Family.REDUCTION)):
        if names & found:
            return family
    return Family.MAP
