"""Compares sizes that the source fixes with the limits of the target's blocks."""

from __future__ import annotations

from collections.abc import Iterator

from porter.backend import Target
from porter.diagnostics.findings import Finding
from porter.source.constants import environment_of
from porter.source.folding import Environment, evaluate
from porter.source.lexer import TokenKind, significant, split_arguments, tokens
from porter.source.program import Launch, Program, SharedArray
from porter.source_text import Span
from porter_maca.places import Places

SETS_ATTRIBUTE = frozenset({"cudaFuncSetAttribute", "mcFuncSetAttribute", "hcFuncSetAttribute"})
_SHARED_ATTRIBUTE = "MaxDynamicSharedMemorySize"


def over_limits(program: Program, target: Target, places: Places) -> tuple[Finding, ...]:
    """Returns a finding for every launch, array and attribute that certainly asks for more than `target` has.

    A size that depends on an argument cannot be judged from the source: the launch itself then fails, and says so.
    """
    environment = environment_of(program)
    return (
        *_shared_arrays(program, environment, target, places),
        *_launches(program, environment, target, places),
        *_attributes(program, environment, target, places),
    )


def _shared_arrays(program: Program, known: Environment, target: Target, places: Places) -> Iterator[Finding]:
    for function in (*program.kernels, *program.device_functions):
        sizes = [_array_bytes(array, known) for array in function.shared if not array.dynamic]
        total = sum(size for size in sizes if size is not None)
        if total > target.shared_bytes:
            what = f"the shared arrays of {function.name} take {total} bytes"
            yield _too_much_shared(what, function.header, target, places)


def _array_bytes(array: SharedArray, known: Environment) -> int | None:
    """Returns the size of a static array; None where the source does not determine it."""
    factors = [evaluate(f"sizeof({array.element})", known), *(evaluate(extent, known) for extent in array.extents)]
    size = 1
    for factor in factors:
        if factor is None:
            return None
        size *= factor
    return size


def _launches(program: Program, known: Environment, target: Target, places: Places) -> Iterator[Finding]:
    for launch in program.launches:
        dynamic = evaluate(launch.shared_bytes.text, known) if launch.shared_bytes else 0
        if dynamic is not None and dynamic > target.shared_bytes:
            what = f"{launch.kernel} is launched with {dynamic} bytes of dynamic shared memory"
            yield _too_much_shared(what, launch.span, target, places)
        threads = _threads(launch, known)
        if threads is not None and threads > target.max_threads:
            message = f"{launch.kernel} is launched with {threads} threads a block, {target.description} allows "
            hint = "launch smaller blocks and let each thread do more"
            yield places.finding("PORT1151", [launch.span], f"{message}{target.max_threads}", hint)


def _threads(launch: Launch, known: Environment) -> int | None:
    """Returns the threads of a block written as a number or as `dim3(...)`; None where the source does not say."""
    words = significant(tokens(launch.block.text))
    if len(words) > 2 and words[0].text == "dim3" and words[1].text in ("(", "{"):
        sides = [" ".join(t.text for t in side) for side in split_arguments(words, 1)]
    else:
        sides = [launch.block.text]
    threads = 1
    for side in sides:
        extent = evaluate(side, known)
        if extent is None:
            return None
        threads *= extent
    return threads


def _attributes(program: Program, known: Environment, target: Target, places: Places) -> Iterator[Finding]:
    """Yields `cudaFuncSetAttribute(kernel, …MaxDynamicSharedMemorySize, bytes)`."""
    text = program.source.text
    code = [t for t in significant(tokens(text)) if t.kind is not TokenKind.DIRECTIVE]
    for i, token in enumerate(code[:-1]):
        if token.text not in SETS_ATTRIBUTE or code[i + 1].text != "(":
            continue
        arguments = split_arguments(code, i + 1)
        if len(arguments) != 3 or not any(t.text.endswith(_SHARED_ATTRIBUTE) for t in arguments[1]):
            continue
        size = evaluate(" ".join(t.text for t in arguments[2]), known)
        if size is not None and size > target.shared_bytes:
            span = program.source.span(token.start, arguments[2][-1].end)
            yield _too_much_shared(f"{size} bytes of dynamic shared memory are asked for", span, target, places)


def _too_much_shared(what: str, span: Span, target: Target, places: Places) -> Finding:
    message = f"{what}, {target.description} has {target.shared_bytes} for a block"
    return places.finding("PORT1150", [span], message, "use smaller tiles, or fewer stages of a pipeline")
