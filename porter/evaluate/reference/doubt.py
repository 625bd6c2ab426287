"""Says why an original cannot be compared with its port: it was not built, asks for more, or cannot be believed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from porter.comparison.garbage import is_fresh
from porter.contract.analysis.records import COMPONENTS, EXTENT_TYPE
from porter.contract.model.contract import Contract, EntryKind, Question, Role, ScalarArg, TensorArg, Values, with_parts
from porter.contract.model.dtype import DType
from porter.contract.model.expressions import names_in
from porter.contract.model.questions import (
    guessed_launch,
    open_questions,
    others,
    unanswerable,
    unknown_bounds,
    unknown_extents,
    unknown_values,
)
from porter.execution.job import BuildFailure, FaultKind, TensorValue
from porter.oracle.faults import LEFT_BOUNDS, RACED, UNWRITTEN, is_of_sizes
from porter.oracle.reference import Reference
from porter.simt.failure import missing_header
from porter.source.directives import outermost_macro
from porter.source.program import Program

_MISFIT = "the contract is open: runs at other sizes showed '{}' to span {} elements; it spans more (--contract), or"
_UNRELATED = "the contract is open: the source does not say how '{}' is sized for the others (--contract), or"
_LEFT = re.compile(r"`argument (\d+)` \(\d+ bytes\) at byte \d")
_UNVALUED = "the contract is open: the source does not say which values {} may have (--contract), or"
_APART = "the contract is open: the source does not say how {} go together (--contract), or"
_ELSEWHERE = "the original does not run at these sizes (others: --size, or `conditions` in --contract)"
_DRAWN = "the original refuses the inputs that porter drew (others: `values` in --contract, or --size)"
_ANOTHER_BLOCK = re.compile(r"`argument (\d+)`.*another block")
# Names that begin with an underscore are for compilers to define.
_CONDITION_OF_INCLUDE = re.compile(
    r"^\s*#\s*if(?:def\s+|\s+defined[\s(]+)([A-Za-z]\w*)\s*\)?\s*\n\s*#\s*include", re.MULTILINE
)
_QUOTED = re.compile("[\u2018']([^\u2019']+)[\u2019']")  # a compiler's quotation marks are those of its language
_BELIEVED, _RUN = "the original's own result is unreliable", "the original does not run here"
_SOME = 2
_OF_BYTES = (Values.INDEX, "128")  # what any integer can hold
_FAR_OUT = "far outside every allocation"


def not_built(failure: BuildFailure, contract: Contract, program: Program) -> str:
    """Returns why the original cannot be executed: what the compiler said, or what porter itself could not read before.

    Where only the call of the entry does not compile, or a guessed argument may be the reason, the contract has no
    values for it. A launch that was guessed explains no error of a compiler.
    """
    only_values = failure.line and not missing_header(failure)  # kernels are built without headers, too
    asked = unknown_values(contract) if only_values else others(contract)
    if asked := tuple(question for question in asked if question != guessed_launch(contract)):
        return f"{_asked(*asked)}; {failure.placed}"
    if failure.line or not program.not_understood:
        alone = (
            f"; without that header {contract.name} does not compile alone: {failure.alone}" if failure.alone else ""
        )
        return f"the CUDA source itself does not compile: {failure.placed}{alone}{_left_to_the_build(program, failure)}"
    first = program.not_understood[0]
    return f"the CUDA source is not C++ from line {first.span.line} on: {first.reason}"


def _left_to_the_build(program: Program, failure: BuildFailure) -> str:
    """Returns macros that the build must set: without them the source, or a missing header, includes less."""
    known = {macro.name for macro in program.macros} | {define.partition("=")[0] for define in program.defines}
    wanted = (*_CONDITION_OF_INCLUDE.findall(program.source.text), *_guards(program, failure))
    unset = dict.fromkeys(name for name in wanted if name not in known)
    return f"; it includes more with {' or '.join(unset)} (--define)" if unset else ""


def _guards(program: Program, failure: BuildFailure) -> Iterator[str]:
    """Yields the macros that `#ifdef` asks for around the names that `failure` quotes, in local headers."""
    names = {name for quoted in _QUOTED.findall(failure.message) for name in re.findall(r"\w+", quoted)}
    for _, header in program.headers:
        for name in sorted(names):
            for at in (m.start() for m in re.finditer(rf"\b{name}\b", header.text)):
                if macro := outermost_macro(header.text, at):
                    yield macro


def never_answered(contract: Contract) -> str:
    """Returns what keeps a port from being verified whatever is run: an argument that porter has no value for."""
    asked = unanswerable(contract)
    return _asked(*asked) if asked else ""


def still_open(contract: Contract, trouble: str) -> str:
    """Returns what keeps a port from being verified: questions that trying, which ran into `trouble`, did not answer.

    An answer that porter made up may leave nothing to do, and then everything is equal.
    """
    if contract.entry.kind is EntryKind.PROGRAM:
        return ""
    if trouble.startswith(FaultKind.UNDEFINED):  # no answer would change that
        return f"{_RUN}: {trouble}"
    asked = open_questions(contract)
    if asked or not contract.workloads:
        return _asked(*asked) + (f"; a trial run ended with: {trouble}" if trouble else "")
    return ""


def misled(reference: Reference, drafted: Contract) -> str:
    """Returns what of the contract, not of the original, explains that `reference` is unsound; empty for nothing."""
    settled = reference.contract
    if left := _outgrown(reference, drafted):
        misfit = _MISFIT.format(left.name, " * ".join(left.shape))
        return f"{misfit} the original leaves it: {reference.because}"
    if lone := next((t for t in _left(reference) if _sized_alone(t, settled)), None):
        return f"{_UNRELATED.format(lone.name)} the original leaves it: {reference.because}"
    if any(t.name in {u.name for u in unknown_extents(drafted)} for t in _overwritten(reference)):
        sizes = ", ".join(f"'{symbol}'" for symbol in settled.symbols)
        return f"{_APART.format(sizes)} the original is wrong: {reference.because}"
    if question := guessed_launch(settled):
        return f"{_asked(question)}; {launch_words(settled)} gave: {reference.because or unsound(reference)}"
    return ""


def misvalued(reference: Reference, drafted: Contract, examine: Callable[[Contract], Reference]) -> str:
    """Returns that the values of integers in the contract may be why the original is wrong; empty if they are not.

    Running it with zeros shows that: an access that stays out of bounds is its own fault, if it also stays where it is
    with other values. What counts letters leaves its bins with zeros, too, but elsewhere with each letter.
    """
    names = [t.name for t in drafted.parts if _is_guessed(t, drafted)]
    if not names or not any(f.code == LEFT_BOUNDS for f in reference.findings):
        return ""
    zeros, others = (examine(_holding(reference.contract, names, *v)) for v in ((Values.ZEROS, ""), _OF_BYTES))
    if zeros.at_fault and _places(zeros) == _places(others):
        return ""
    listed = ", ".join(f"'{name}'" for name in names)
    return f"{_UNVALUED.format(listed)} the original is wrong with these: {reference.because}"


def _holding(contract: Contract, names: Sequence[str], values: Values, bound: str) -> Contract:
    """Returns `contract` with these values in the tensors `names`."""
    arguments = with_parts(
        contract.arguments, lambda part: replace(part, values=values, bound=bound) if part.name in names else part
    )
    return replace(contract, arguments=arguments)


def _places(reference: Reference) -> list[str]:
    """Returns where the original left bounds."""
    return [f.message for f in reference.findings if f.code == LEFT_BOUNDS]


def _is_guessed(tensor: TensorArg, drafted: Contract) -> bool:
    """Returns whether porter chose the integers that `tensor` holds."""
    whole = not tensor.dtype.is_float and tensor.dtype is not DType.BOOL and tensor.role is not Role.OUT
    chosen = tensor.values is Values.NORMAL or tensor in unknown_bounds(drafted)
    return whole and chosen and not tensor.elements


def _overwritten(reference: Reference) -> Iterator[TensorArg]:
    """Yields the tensors in which blocks overwrite each other at several sizes: these sizes may have to agree."""
    arguments = reference.contract.arguments
    if len(reference.contract.symbols) < _SOME or not reference.because.startswith(FaultKind.RACE):
        return
    for match in (_ANOTHER_BLOCK.search(f.message) for f in reference.findings if f.code == RACED):
        argument = arguments[int(match.group(1))] if match else None
        if isinstance(argument, TensorArg):
            yield argument


def _outgrown(reference: Reference, drafted: Contract) -> TensorArg | None:
    """Returns the first tensor used beyond an extent that no source states: the guessed extent may be wrong."""
    inferred = {t.name for t in unknown_extents(drafted)}
    return next((tensor for tensor in _left(reference) if tensor.name in inferred), None)


def _left(reference: Reference) -> Iterator[TensorArg]:
    """Yields the tensors that the original was seen to use beyond their ends.

    A wrong extent is no excuse for an access before the first element, or to an array whose size the source states.
    """
    arguments = reference.contract.arguments
    for message in (f.message for f in reference.findings if f.code == LEFT_BOUNDS):
        places = range(len(arguments)) if _FAR_OUT in message else [int(m.group(1)) for m in _LEFT.finditer(message)]
        yield from (a for a in (arguments[place] for place in places) if isinstance(a, TensorArg))


def _sized_alone(tensor: TensorArg, contract: Contract) -> bool:
    """Returns whether an extent of a torch tensor is a size of its own: it may have to agree with another one."""
    shapes = [t.shape for t in contract.tensors if t is not tensor]
    texts = (
        *(text for shape in shapes for text in shape),
        *(a.value for a in contract.arguments if isinstance(a, ScalarArg)),
    )
    elsewhere = frozenset[str]().union(*map(names_in, texts))
    own = frozenset[str]().union(*map(names_in, tensor.shape)) - elsewhere
    return contract.entry.kind is EntryKind.TORCH and bool(own) and bool(elsewhere)


def unsound(reference: Reference) -> str:
    """Returns why the original's answers cannot be compared with; empty when they can."""
    if reference.because:
        if not reference.at_fault and is_of_sizes(reference.because):
            refused = reference.because.startswith(FaultKind.DEVICE_ASSERT)
            return f"{_DRAWN if refused else _ELSEWHERE}: {reference.because}"
        return f"{_BELIEVED if reference.at_fault else _RUN}: {reference.because}"
    if asked := open_questions(reference.contract):
        return _asked(*asked)
    if not reference.complete:
        done = len(reference.expected)
        return f"the original is too slow here: {done} workloads in {reference.seconds:.0f} s; smaller sizes: --size"
    if not reference.expected:
        return "the original did not finish any workload"
    left = written(reference)
    if not any(tensor.storage.size for tensor in left):
        return _nothing_left(reference)
    if _untouched(reference, left):
        return "the original writes none of its outputs"
    return ""


def _untouched(reference: Reference, left: Sequence[TensorValue]) -> bool:
    """Returns whether outputs hold just what fresh memory holds, also when that is filled with another byte.

    The first fill alone does not tell: its bytes are those of -1, which searches return when they find nothing.
    """
    return all(map(is_fresh, left)) and any(finding.code == UNWRITTEN for finding in reference.findings)


def too_slow(reference: Reference) -> bool:
    """Returns whether the original took too long at the sizes of its workloads."""
    stopped = reference.because.startswith(FaultKind.TIMEOUT) and not reference.at_fault
    return stopped or not (reference.because or reference.complete)


def _nothing_left(reference: Reference) -> str:
    """Returns what became of a call that left no tensor: a program may want arguments before it launches anything."""
    if reference.contract.entry.kind is not EntryKind.PROGRAM or reference.launched:
        return "the original leaves no tensor that could be compared"
    said = next((line.strip() for line in reference.expected[0].outputs.text.splitlines() if line.strip()), "")
    given = " ".join(a.value for a in reference.contract.arguments if isinstance(a, ScalarArg))
    run = f"with the arguments {given}" if given else "without arguments"
    return f"the program launches no kernel when it is run {run}" + (f"; it says: {said[:80]}" if said else "")


def _asked(*questions: Question) -> str:
    asked = "; ".join(f"{q.text} ({q.flag})" for q in questions) or "its sizes are not known"
    return f"the contract is open: {asked}"


def launch_words(contract: Contract) -> str:
    """Returns the extents of a launch as they are told."""
    launch = contract.entry.launch
    if launch is not None:
        return f"a grid of ({', '.join(launch.grid)}) and a block of ({', '.join(launch.block)})"
    return " and ".join(f"a '{name}' of ({', '.join(extents)})" for name, extents in handed_extents(contract))


def handed_extents(contract: Contract) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields the arguments of type `dim3`, each with its extents."""
    numbers = {a.name: a for a in contract.arguments if isinstance(a, ScalarArg) and a.type == EXTENT_TYPE}
    for name in dict.fromkeys(name.rpartition(".")[0] for name in numbers):
        parts = [numbers.get(f"{name}.{axis}") for axis in COMPONENTS[:3]]
        extents = tuple(part.value for part in parts if part is not None)
        if len(extents) == len(parts):
            yield name, extents


def written(reference: Reference) -> list[TensorValue]:
    """Returns what the original was seen to leave, without the arguments that it only reads."""
    read = {tensor.name for tensor in reference.contract.parts if tensor.role is Role.IN}
    return [t for expected in reference.expected for name, t in expected.outputs.tensors if name not in read]
