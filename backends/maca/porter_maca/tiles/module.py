"""Writes operators of the tile IR as a MACA source: helpers, kernels, and a host function for each entry."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from porter import __version__
from porter.backend import PortedFile
from porter.contract.model.contract import Contract
from porter.contract.model.dtype import DType
from porter.ir.tile.program import Operator
from porter.schedule.host_values import Names
from porter.schedule.polynomial import NotSchedulableError
from porter.source.lexer import TokenKind, tokens
from porter.source.parse import parse
from porter.source.program import HostForm, Program
from porter.source.qualified import unqualified
from porter.source.vocabulary import MODULES
from porter.source_text import Source
from porter_maca.port import port_name
from porter_maca.stamp import stamp
from porter_maca.targets import targets
from porter_maca.tiles.entries import Entry, element_types, entry_of, is_foreign
from porter_maca.tiles.helpers import helpers
from porter_maca.tiles.kernels import written_kernel
from porter_maca.tiles.launcher import Launcher, torch_type
from porter_maca.tiles.types import UnprintableError
from porter_maca.tiles.usual import usual_sizes
from porter_maca.tiles.wrapping import wrapped

_TORCH = ("ATen/cuda/CUDAContext.h", "c10/cuda/CUDAGuard.h", "mc_runtime.h", "torch/extension.h")
_NARROW = {"__half": "maca_fp16.h", "__maca_bfloat16": "maca_bfloat16.h"}


def module(operators: Sequence[tuple[Operator, Contract]], source: Source) -> PortedFile:
    """Returns the file. Raises `NotSchedulableError` where a size is told by no argument, or C++ lacks a word."""
    program = parse(source)
    try:
        text = _text(operators, program)
    except UnprintableError as error:
        raise NotSchedulableError(str(error)) from error
    return PortedFile(_name(program), text, source)


def _name(program: Program) -> str:
    """Returns the name of the file; without a CUDA source it is an extension's."""
    return f"{program.source.path.stem}.maca.cu" if is_foreign(program) else port_name(program)


def _text(operators: Sequence[tuple[Operator, Contract]], program: Program) -> str:
    groups: dict[str, list[tuple[Operator, Contract]]] = {}
    for one, contract in operators:
        groups.setdefault(contract.entry.name, []).append((one, contract))
    taken = set(map(unqualified, groups))
    written = []
    for group in groups.values():
        written.append(_written(group, program, taken))
        taken |= written[-1].names
    kernels = [text for one in written for text in one.kernels]
    functions = [one.function for one in written]
    shared = helpers([*kernels, *functions])
    inner = "\n".join([*([shared] if shared else []), *kernels])
    head = stamp(program.source, targets()[0])
    head += f"// Written from its formula and scheduled by porter {__version__}.\n"
    head += _includes([inner, *functions], program)
    parts = [head, f"namespace {{\n\n{inner}\n}}  // namespace\n", *functions]
    binding = _binding(program, {unqualified(name) for name in groups})
    return wrapped("\n".join(parts)) + (f"\n{binding}" if binding else "")


@dataclass(frozen=True, slots=True)
class _Written:
    """An entry: the text before its function, and the function; `names` are those of kernels."""

    kernels: tuple[str, ...]
    function: str
    names: frozenset[str]


def _written(group: Sequence[tuple[Operator, Contract]], program: Program, taken: Collection[str]) -> _Written:
    """Returns an entry, which chooses by the type of a tensor where it has several instances."""
    entry = entry_of(group[0][1], program, len(group[0][0].results))
    if len(group) == 1 or entry.instance:
        return _each(group, program, taken)
    telling = _telling(group, entry)
    name = f"{entry.name}_of"
    generic = _generic(group, telling)
    found = [_instance(one, contract, entry, taken, name, telling, generic) for one, contract in group]
    dtypes = [_dtypes(one, contract)[telling] for one, contract in group]
    calls = [f"{name}<{entry.element(dtype)}>" for dtype in dtypes]
    if any(one != found[0] for one in found):
        found, others = [], frozenset[str]()
        calls = [f"{entry.name}_{dtype.value}" for dtype in dtypes]
        for (one, contract), own in zip(group, calls, strict=True):
            found.append(_instance(one, contract, entry, {*taken, *others}, own))
            others |= found[-1].names
    else:
        found = found[:1]
    kernels = tuple(text for one in found for text in (*one.kernels, one.function))
    chosen = _choosing(entry, telling, zip(dtypes, calls, strict=True))
    names = frozenset[str]().union(*(one.names for one in found))
    return _Written(kernels, entry.in_scope(chosen), names)


def _each(group: Sequence[tuple[Operator, Contract]], program: Program, taken: Collection[str]) -> _Written:
    """Returns an entry by itself, or those instances of a template that are contracts' entries."""
    found: list[_Written] = []
    names = frozenset[str]()
    for one, contract in group:
        entry = entry_of(contract, program, len(one.results))
        found.append(_instance(one, contract, entry, {*taken, *names}))
        names |= found[-1].names
    functions = [*([entry.declared] if entry.declared else []), *(one.function for one in found)]
    kernels = tuple(text for one in found for text in one.kernels)
    return _Written(kernels, entry.in_scope("\n".join(functions)), names)


def _choosing(entry: Entry, telling: str, instances: Iterable[tuple[DType, str]]) -> str:
    """Returns the function that calls the instance for the type of the tensor `telling`."""
    passed = ", ".join(argument.name for argument in entry.arguments)
    lines, words = [], []
    for dtype, call in instances:
        lines.append(f"    if ({telling}.scalar_type() == {torch_type(dtype)}) return {call}({passed});")
        words.append(dtype.value)
    lines.append(f'    TORCH_CHECK(false, "{telling} must be {", ".join(words[:-1])} or {words[-1]}");')
    body = "\n".join(lines)
    return f"{entry.head} {{\n{body}\n}}\n"


def _telling(group: Sequence[tuple[Operator, Contract]], entry: Entry) -> str:
    """Returns the tensor whose type is another one in each instance."""
    for place, tensor in enumerate(group[0][1].tensors):
        own = [contract.tensors[place] for _, contract in group]
        is_one = all(one.name == tensor.name for one in own)
        if entry.is_torch and is_one and len({one.dtype for one in own}) == len(group):
            return tensor.name
    raise UnprintableError(f"no argument of {entry.name} tells its instances apart by its type")


def _generic(group: Sequence[tuple[Operator, Contract]], telling: str) -> frozenset[str]:
    """Returns the tensors that have the type of `telling` in all instances."""
    found = [{name for name, dtype in own.items() if dtype is own[telling]} for own in (_dtypes(*one) for one in group)]
    return frozenset(found[0].intersection(*found[1:]))


def _dtypes(operator: Operator, contract: Contract) -> dict[str, DType]:
    made = {one.name: one.dtype for one in (*operator.results, *operator.buffers)}
    return {**{one.name: one.dtype for one in contract.tensors}, **made}


def _instance(  # noqa: PLR0917 - what is written, and for which type
    operator: Operator,
    contract: Contract,
    entry: Entry,
    taken: Collection[str],
    name: str = "",
    telling: str = "",
    generic: Collection[str] = (),
) -> _Written:
    names = Names(taken)
    elements = element_types(entry, _dtypes(operator, contract), contract, generic)
    by_name = {kernel.name: kernel for kernel in operator.kernels}
    usual = usual_sizes(operator, contract)
    kernels = []
    for launch in operator.launches:
        kernel = replace(by_name[launch.kernel], name=names.fresh(launch.kernel))
        kernels.append(written_kernel(kernel, replace(launch, kernel=kernel.name), operator, elements, usual))
    function = Launcher(operator, entry, kernels, elements, name, telling).text()
    return _Written(tuple(one.text for one in kernels), function, frozenset(k.kernel.name for k in kernels))


def _includes(texts: Sequence[str], program: Program) -> str:
    whole = "\n".join(texts)
    is_torch = is_foreign(program) or program.form in (HostForm.TORCH_EXTENSION, HostForm.TORCH_LAUNCHER)
    found = [*_TORCH] if is_torch else ["mc_runtime.h"]
    found += [header for word, header in _NARROW.items() if word in whole]
    own = "".join(f"#include <{path}>\n" for path in sorted(found))
    standard = ["cmath", "cstdint", *(("cstdio", "cstdlib") if "std::abort" in whole else ())]
    return own + "\n" + "".join(f"#include <{path}>\n" for path in standard)


def _binding(program: Program, written: set[str]) -> str:
    """Returns how the source gives its functions to Python. Raises `UnprintableError` where it gives others, too."""
    if is_foreign(program):
        bound = "".join(f'    m.def("{name}", &{name});\n' for name in sorted(written))
        return f"PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{\n{bound}}}\n"
    others = sorted({unqualified(one.function) for one in program.bindings} - written)
    if others:
        raise UnprintableError(f"Python is given {others[0]}, too")
    text = program.source.text
    found = [
        text[token.start : _closing(text, token.start)]
        for token in tokens(text)
        if token.kind is TokenKind.IDENTIFIER and token.text in MODULES
    ]
    return "\n\n".join(found) + "\n" if found else ""


def _closing(text: str, start: int) -> int:
    """Returns the offset behind the brace that closes the first block after `start`."""
    depth = 0
    for token in tokens(text):
        if token.start < start or token.text not in ("{", "}"):
            continue
        depth += 1 if token.text == "{" else -1
        if depth == 0:
            return token.end
    return len(text)
