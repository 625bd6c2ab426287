"""What MACA C++ does, read from its words: where it lies on the axes of `porter.evolve.features`."""

from __future__ import annotations

import re
from pathlib import Path

from porter.evolve.features import Family, Memory, Parallel, cell
from porter.source.lexer import TokenKind, significant, tokens
from porter.source.parse import parse
from porter.source.text import Source

_VECTOR = re.compile(
    r"(?:float|int|uint|short|ushort|half|bfloat16|double|longlong)[248]|__half2|__maca_bfloat162|half2"
)
_EXCHANGE = re.compile(r"__shfl\w*|__reduce_\w+|__ballot\w*|BlockReduce|WarpReduce")
_SCAN = re.compile(r"(?:Block|Warp|Device)Scan|(?:inclusive|exclusive)_?[sS]can\w*|__shfl_up\w*")
_ASYNC = re.compile(r"memcpy_async|__pipeline_\w+|cp_async\w*|pipeline")
_PRODUCT = re.compile(r"wmma|mma_sync|load_matrix_sync|__builtin_mxc_mma\w*")
_ATOMIC = re.compile(r"atomic(?:Add|Max|Min|CAS|Exch|Or|And|Xor|Inc|Dec|Sub)\w*")


def features(text: str) -> tuple[int, ...]:
    """The cell of a source."""
    program = parse(Source(Path("candidate"), text))
    bodies = [f.body_text for f in (*program.kernels, *program.device_functions)]
    heads = [program.source.slice(f.header) for f in program.kernels]
    code = [t for part in (*heads, *bodies) for t in significant(tokens(part)) if t.kind is TokenKind.IDENTIFIER]
    words = {token.text for token in code}
    shared = any(f.shared for f in (*program.kernels, *program.device_functions))
    together = shared or _any(_EXCHANGE, words)
    launched = {launch.kernel for launch in program.launches}
    return cell(_memory(words, shared=shared), _parallel(words, len(launched), together), _family(words, together))


def _any(pattern: re.Pattern[str], words: set[str]) -> bool:
    return any(pattern.fullmatch(word) for word in words)


def _memory(words: set[str], *, shared: bool) -> Memory:
    if _any(_ASYNC, words):
        return Memory.PIPELINED
    if shared:
        return Memory.KEPT
    return Memory.WIDE if _any(_VECTOR, words) else Memory.PLAIN


def _parallel(words: set[str], launched: int, together: bool) -> Parallel:
    if launched > 1 or _any(_ATOMIC, words):
        return Parallel.PROGRAMS
    if together:
        return Parallel.LANES
    return Parallel.LOOP if words & {"for", "while", "do"} else Parallel.ELEMENT


def _family(words: set[str], together: bool) -> Family:
    if _any(_PRODUCT, words):
        return Family.PRODUCT
    if _any(_SCAN, words):
        return Family.SCAN
    return Family.REDUCTION if together or _any(_ATOMIC, words) else Family.MAP
