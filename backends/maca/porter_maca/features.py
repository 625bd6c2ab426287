"""Reads from its words what MACA C++ does: where it lies on the axes of `porter.evolve.features`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from porter.evolve.features import Family, Memory, Parallel, cell
from porter.source.lexer import TokenKind, significant, tokens
from porter.source.parse import parse
from porter.source.program import Function, Program
from porter.source_text import Source
from porter_maca.ways import launched_together

_VECTOR = re.compile(
    r"(?:float|int|uint|short|ushort|half|bfloat16|double|longlong)[248]|__half2|__maca_bfloat162|half2"
)
_EXCHANGE = re.compile(r"__shfl\w*|__reduce_\w+|__ballot\w*|BlockReduce|WarpReduce")
_SCAN = re.compile(r"(?:Block|Warp|Device)Scan|(?:inclusive|exclusive)_?[sS]can\w*|__shfl_up\w*")
_ASYNC = re.compile(r"memcpy_async|__pipeline_\w+|cp_async\w*|pipeline")
_PRODUCT = re.compile(r"wmma|mma_sync|load_matrix_sync|__builtin_mxc_mma\w*")
_ATOMIC = re.compile(r"atomic(?:Add|Max|Min|CAS|Exch|Or|And|Xor|Inc|Dec|Sub)\w*")


def features(text: str) -> tuple[int, ...]:
    """Returns the cell of a source: the highest of those of its ways.

    A way is the set of kernels that one call launches. Where a launcher chooses, as between aligned rows and others,
    the form written for speed decides, not the one beside it for all other sizes.
    """
    program = parse(Source(Path("candidate"), text))
    ways = launched_together(program) or frozenset({frozenset(kernel.name for kernel in program.kernels)})
    return max(_of_way(program, way) for way in ways)


def _of_way(program: Program, kernels: frozenset[str]) -> tuple[int, ...]:
    launched = [kernel for kernel in program.kernels if kernel.name in kernels]
    functions = _reached(program, launched)
    heads = [program.source.slice(kernel.header) for kernel in launched]
    words = frozenset().union(*(_words(part) for part in (*heads, *(f.body_text for f in functions))))
    shared = any(f.shared for f in functions)
    together = shared or _any(_EXCHANGE, words)
    return cell(_memory(words, shared=shared), _parallel(words, len(kernels), together), _family(words, together))


def _reached(program: Program, kernels: Sequence[Function]) -> list[Function]:
    """Returns the kernels and the device functions that they name, directly or not."""
    found, open_ones = [], list(kernels)
    while open_ones:
        function = open_ones.pop()
        found.append(function)
        named = _words(function.body_text)
        open_ones += [f for f in program.device_functions if f.name in named and f not in found and f not in open_ones]
    return found


def _words(text: str) -> frozenset[str]:
    return frozenset(t.text for t in significant(tokens(text)) if t.kind is TokenKind.IDENTIFIER)


def _any(pattern: re.Pattern[str], words: frozenset[str]) -> bool:
    return any(pattern.fullmatch(word) for word in words)


def _memory(words: frozenset[str], *, shared: bool) -> Memory:
    if _any(_ASYNC, words):
        return Memory.PIPELINED
    if shared:
        return Memory.KEPT
    return Memory.WIDE if _any(_VECTOR, words) else Memory.PLAIN


def _parallel(words: frozenset[str], launched: int, together: bool) -> Parallel:
    if launched > 1 or _any(_ATOMIC, words):
        return Parallel.PROGRAMS
    if together:
        return Parallel.LANES
    return Parallel.LOOP if words & {"for", "while", "do"} else Parallel.ELEMENT


def _family(words: frozenset[str], together: bool) -> Family:
    if _any(_PRODUCT, words):
        return Family.PRODUCT
    if _any(_SCAN, words):
        return Family.SCAN
    return Family.REDUCTION if together or _any(_ATOMIC, words) else Family.MAP
