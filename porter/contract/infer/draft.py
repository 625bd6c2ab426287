"""Drafts contracts of a program: what the source says about how its operators are called, and questions about the rest.

One contract for each entry (`entries.py`). Torch tensors get ranks and extents from host code (`tensors.py`), sizes
passed by value become symbols (`scalars.py`), roles and indices come from what kernels do (`usage.py`), a bare kernel
gets a launch (`launch.py`). The extent behind a raw pointer is rarely written down anywhere: it is drafted as the
product of all symbols with a question, which running the kernel answers (`confirm.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, reduce
from itertools import chain, starmap

import numpy as np

from porter.comparison.compare import DEFAULT_TOLERANCE
from porter.contract.analysis.access import Use
from porter.contract.analysis.body import quietly
from porter.contract.analysis.elements import element_type
from porter.contract.analysis.indexed_axes import indexed_by_numbers
from porter.contract.analysis.instances import Instance
from porter.contract.analysis.passing import behind_void, handles_of, taken_for
from porter.contract.analysis.pointers import is_integer, viewed
from porter.contract.analysis.records import InStruct, Structs, is_stream, symbol
from porter.contract.analysis.scope import Scope, demands
from porter.contract.analysis.shares import evenly, shares
from porter.contract.analysis.usage import Usage, usage_of
from porter.contract.infer.branches import branches
from porter.contract.infer.category import category
from porter.contract.infer.conditions import MAX_THREADS, conditions
from porter.contract.infer.dispatched import preferred_type
from porter.contract.infer.entries import entries, reach
from porter.contract.infer.functors import function_objects
from porter.contract.infer.launch import launch_shape, leaves_blocks_out, own_launch, states_block, template_arguments
from porter.contract.infer.launch_parameters import LaunchParameters
from porter.contract.infer.library_shapes import Counted
from porter.contract.infer.number_lists import elements
from porter.contract.infer.optional import is_optional
from porter.contract.infer.pitches import in_elements
from porter.contract.infer.planes import of_planes, planes, taken_apart
from porter.contract.infer.program_arguments import program_arguments
from porter.contract.infer.scalars import FunctionObject, Size, Unsupported, is_guess, scalar
from porter.contract.infer.size_lists import size_lists
from porter.contract.infer.tensors import Extents, tensor_facts
from porter.contract.infer.whole_blocks import grid_extents, whole_blocks
from porter.contract.model.asked import check_sizes, sizes_in
from porter.contract.model.contract import (
    Argument,
    Contract,
    Entry,
    EntryKind,
    Field,
    LaunchShape,
    Question,
    Role,
    ScalarArg,
    TensorArg,
    Values,
)
from porter.contract.model.dtype import DType
from porter.contract.model.expressions import names_in, render
from porter.contract.model.questions import (
    block_question,
    bound_question,
    callable_question,
    element_question,
    extent_question,
    extents_question,
    few_blocks_question,
    launch_question,
    list_question,
    scalar_question,
    sizes_question,
    unknown_extents,
)
from porter.contract.model.syntax import Node
from porter.contract.workload.probing import unshaped
from porter.contract.workload.workloads import with_workloads
from porter.source.program import CType, Function, Param, Program
from porter.source_text import Source

_MOST_TOLD = 64
_STREAMS = "16"  # null handles, each the default stream, where host code is handed an array of streams


def draft(
    program: Program,
    *,
    kernels: tuple[str, ...] = (),
    sizes: Mapping[str, int] | None = None,
    whole_program: bool = True,
    headers: tuple[Source, ...] = (),
) -> tuple[Contract, ...]:
    """Returns a contract for each entry of `program`, or for those that reach `kernels`.

    `whole_program` False looks past `main` at the launchers and kernels behind it: for a program that is too large to
    be emulated. `headers` are the local files it includes: they may name its types. `sizes` fixes symbols the user has
    chosen. Raises `UsageError` for a name that is not a kernel, or not a size of any entry, launcher or kernel.
    """
    usage, chosen = usage_of(program, headers), tuple((sizes or {}).items())
    drafted = _drafted(program, headers, kernels, chosen, whole_program)
    if sizes and not sizes_in(drafted).issuperset(sizes):
        behind = dict.fromkeys((*entries(usage, (), whole_program=False), *program.kernels))
        check_sizes(sizes, (*drafted, *draft_each(usage, behind)), program.source.path)
    return drafted


@lru_cache(maxsize=4)
def _drafted(
    program: Program,
    headers: tuple[Source, ...],
    kernels: tuple[str, ...],
    sizes: tuple[tuple[str, int], ...],
    whole_program: bool,
) -> tuple[Contract, ...]:
    """Returns the contracts of the entries, the same to all who judge a port of the program."""
    usage = usage_of(program, headers)
    return draft_each(usage, entries(usage, kernels, whole_program=whole_program), dict(sizes))


def draft_each(
    usage: Usage, functions: Iterable[Function], sizes: Mapping[str, int] | None = None
) -> tuple[Contract, ...]:
    """Returns a contract for each of `functions` as an entry of its own: a kernel gets a launch in any case."""
    chosen = dict(sizes or {})
    return tuple(_distinct([_Drafter(usage, function).contract(chosen) for function in functions]))


def _distinct(contracts: list[Contract]) -> list[Contract]:
    """Numbers the contracts of overloads, which share a name, from the second on."""
    seen: dict[str, int] = {}
    named: list[Contract] = []
    for contract in contracts:
        seen[contract.name] = seen.get(contract.name, 0) + 1
        count = seen[contract.name]
        named.append(contract if count == 1 else replace(contract, name=f"{contract.name}_{count}"))
    return named


class _Drafter:
    """Drafts the contract of one entry."""

    def __init__(self, usage: Usage, function: Function) -> None:
        self.usage = usage
        self.function = function
        self.uses = usage.of(function)
        self.extents = Extents(tensor_facts(usage, function))
        self.aliases = {a: o for a, o in usage.aliases(function).items() if o in self.extents.facts}
        self.scope = Scope(usage, function)
        self.size_lists = size_lists(usage, function)
        self.template = template_arguments(usage, function)
        self.symbols: list[str] = []
        self.questions: list[Question] = []
        self.guessed = 0  # parameters so far that are floats of unknown meaning

    def contract(self, sizes: Mapping[str, int]) -> Contract:
        """Returns the drafted contract, with workloads where sizes satisfying its conditions were found."""
        kind = self._kind()
        if kind is EntryKind.PROGRAM:
            return self._contract(kind, program_arguments(self.usage, self.function), (), None)
        for demand in demands(self.usage, self.function):
            self.extents.demand(demand, self.aliases)
        self.extents.learn(self.usage.body(self.function), tuple(self._counted()))
        arguments = in_elements(self._arguments(), self.usage, self.function, self.template)
        launch = None
        if kind is not EntryKind.KERNEL:
            arguments = self._launched(arguments)
        else:
            launch = self._launch()
        arguments = tuple(self._placed(a) if isinstance(a, TensorArg) else a for a in arguments)
        conditions = (*self._conditions(), *_startable(launch))
        contract = taken_apart(self._contract(kind, arguments, conditions, launch), self._planes())
        if kind is EntryKind.KERNEL:
            contract = of_planes(contract, self.usage, self.function)
        own = {s: n for s, n in sizes.items() if s in contract.symbols}
        contract = with_workloads(contract, own)
        if contract.workloads or (unknown_extents(contract) and with_workloads(unshaped(contract), own).workloads):
            return contract  # sizes that guessed extents leave no room for are chosen once these are known
        return replace(contract, questions=(*contract.questions, sizes_question(contract)))

    def _launch(self) -> LaunchShape:
        """Returns the launch of a kernel, and asks how it is launched where nothing says so."""
        symbols = tuple(self.symbols)
        launch, fresh = launch_shape(self.usage, self.function, symbols)
        self.symbols.extend(fresh)
        if own_launch(self.usage, self.function, symbols) is not None:
            return launch
        if not states_block(self.usage, self.function):
            launched = self.usage.program.launches_of(self.function)
            self.questions.append((block_question if launched else launch_question)(self.function.qualified))
        elif leaves_blocks_out(self.usage, self.function, tuple(self.symbols)):
            self.questions.append(few_blocks_question(self.function.qualified))
        return launch

    def _conditions(self) -> tuple[str, ...]:
        return conditions(self.usage, self.function, self.template, self._expressed, frozenset(self.symbols))

    def _expressed(self, node: Node) -> Node:
        """Returns what host code writes in terms of the symbols."""
        return self.extents.expressed(self.scope.with_fields(self.scope.resolve(node)), self.aliases)

    def _counted(self) -> Iterator[Counted]:
        """Yields the axes of tensors that kernels index with numbers alone, each with the least extent for these."""
        for name, arguments in self.usage.body(self.function).calls:
            kernel = self.usage.callee(name, len(arguments))
            if kernel is None or kernel.space != "global":
                continue
            handed = zip(kernel.params, arguments, strict=False)
            given = {p.name: viewed(a) for p, a in handed if a is not None and "Accessor" in p.type.base}
            body = self.usage.body(kernel)
            for (accessor, axis), count in indexed_by_numbers(body, given):
                yield (count, (given[accessor], axis))

    def _planes(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yields the sizes of tensors of which only the count is said, with the axes that kernels take apart."""
        counted = {f.counted for f in self.extents.facts.values() if f.counted}
        for found in planes(self.usage, self.function) if counted else ():
            count, *axes = (render(self._expressed(node)) for node in (found.count, *found.axes))
            yield count, tuple(dict.fromkeys(axes))

    def _kind(self) -> EntryKind:
        if self.function.space == "global":
            return EntryKind.KERNEL
        if self.function.name == "main":
            return EntryKind.PROGRAM
        torch = "Tensor" in self.function.returns.text or any("Tensor" in p.type.text for p in self.function.params)
        return EntryKind.TORCH if torch else EntryKind.POINTER

    def _contract(
        self, kind: EntryKind, arguments: tuple[Argument, ...], conditions: tuple[str, ...], launch: LaunchShape | None
    ) -> Contract:
        dtypes = {a.dtype for a in arguments if isinstance(a, TensorArg) and a.dtype.is_float} or {DType.FLOAT32}
        return Contract(
            name=self.function.name,
            category=category(self.usage, self.function.name, reach(self.usage, self.function)),
            entry=Entry(kind, self.function.qualified, self.template, launch),
            arguments=arguments,
            symbols=tuple(dict.fromkeys(self.symbols)),
            conditions=conditions,
            workloads=(),
            tolerance={d: DEFAULT_TOLERANCE[d] for d in DType if d in dtypes},
            questions=tuple(self.questions),
            branches=branches(self._instance(arguments), self._expressed, frozenset(self.symbols)),
            shares=tuple(s for s in self._shares() if s not in conditions),
        )

    def _shares(self) -> Iterator[str]:
        """Returns the conditions by which sizes that code divides by others, or into blocks, come out even."""
        found = shares(self.usage, self.function)
        told = (
            replace(share, whole=self._expressed(share.whole), divisor=self._expressed(share.divisor))
            for share in found
        )
        grids = (self._expressed(extent) for extent in grid_extents(self.usage, self.function))
        symbols = frozenset(self.symbols)
        return chain(evenly(told, symbols), whole_blocks(grids, symbols))

    def _instance(self, arguments: tuple[Argument, ...]) -> Instance:
        """Returns the entry with the type that dispatching macros give its first tensor of floats."""
        floats = [a.dtype.bytes for a in arguments if isinstance(a, TensorArg) and a.dtype.is_float]
        return Instance(self.usage, self.function, {}, {"scalar_t": floats[0]} if floats else {})

    def _arguments(self) -> tuple[Argument, ...]:
        """Returns the arguments in call order: for a struct passed by value those of its fields, for a list of numbers
        those of its elements.
        """
        handed = ((i, p, self._parts(p)) for i, p in enumerate(self.function.params))
        return tuple(self._argument(part, i) for i, param, inner in handed for part in inner or (param,))

    def _parts(self, param: Param) -> tuple[Param, ...]:
        """Returns the fields of a struct, or the elements of a list; none of any other parameter."""
        fields = self.usage.records.fields(self.function, param, self.template)
        return fields or elements(self.usage, self.function, param)

    def _launched(self, arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
        """Returns `arguments` with values for the extents of launches among them, and a question about `dim3` ones."""
        parameters = LaunchParameters(self.usage, self.function)
        if parameters.triples:
            self.questions.append(extents_question(self.function.qualified))
        found, symbols = parameters.given(arguments, self.symbols)
        self.symbols = list(symbols)
        return found

    def _argument(self, param: Param, index: int) -> Argument:
        named = param if param.name else replace(param, name=f"argument{index}")
        sized = self._sized(named)
        if sized is not None:
            return sized
        type_ = self.usage.types.of(param, self.function, self.template)
        if (type_.pointers or is_integer(type_.base)) and self.usage.is_unread(self.function, named.name):
            return _of_no_meaning(named, type_)
        if type_.pointers and self._is_of_streams(named, type_):
            return TensorArg(named.name, Role.IN, DType.UINT64, (_STREAMS,), Values.ZEROS)
        if type_.pointers == 1 and any(map(is_stream, handles_of(self.usage, self.function, named.name))):
            return TensorArg(named.name, Role.IN, DType.UINT8, ("1",), Values.NULL)
        if self.usage.is_tensor(type_, self.function):
            return self._tensor(replace(named, type=type_))
        found = scalar(self.usage, self.function, named, self.template, self.guessed)
        if isinstance(found, Size):
            size = symbol(found.name)
            self.symbols.append(size)
            return ScalarArg(found.name, param.type.text, size)
        if isinstance(found, FunctionObject):
            if made := function_objects(self.usage, self.function).get(found.type):
                return ScalarArg(named.name, made, "0")
            self.questions.append(callable_question(named.name, found.type))
            return ScalarArg(named.name, param.type.text, "0")
        if isinstance(found, Unsupported):
            self.questions.append(scalar_question(named.name, found.type))
            return ScalarArg(named.name, param.type.text, "0")
        self.guessed += is_guess(found)
        return found

    def _sized(self, param: Param) -> Argument | None:
        """Returns an array of sizes that host code reads, or a number about one."""
        for sizes in self.size_lists:
            if param.name == sizes.name:
                self.symbols.extend(sizes.symbols)
                dtype = self._dtype(param, Use())
                return TensorArg(param.name, Role.IN, dtype, (str(sizes.rank),), elements=sizes.symbols)
            if value := sizes.scalar(param.name):
                return ScalarArg(param.name, param.type.text, value)
        return None

    def _tensor(self, param: Param) -> TensorArg:
        """Returns a tensor or pointer; its shape stays empty where only running the kernel will tell."""
        optional = is_optional(self.usage, self.function, param)
        if optional and self._is_object(param):
            return TensorArg(param.name, Role.IN, DType.UINT8, ("1",), Values.NULL)
        if (structs := self.usage.records.structs(self.function, param)) is not None:
            return self._array(param, structs, optional)
        use = self.uses.get(param.name, Use())
        dtype = self._dtype(param, use)
        shape = self.extents.shape(param.name) if param.name in self.extents.facts else ()
        self.symbols.extend(name for extent in shape for name in sorted(names_in(extent)))
        if "vector<" in param.type.text or "TensorList" in param.type.text or param.type.pointers > 1:
            self.questions.append(list_question(param.name, param.type.text))
        role, (values, bound), (_, group) = _role(param, use), self._values(dtype, use), self._inside(param)
        told = _told(dtype, values, use)
        return TensorArg(param.name, role, dtype, shape, values, bound, optional=optional, group=group, told=told)

    def _array(self, param: Param, structs: Structs, optional: bool) -> TensorArg:
        """Returns an array of structs, of which each field is filled as a tensor of its own would be."""
        uses = [self.uses.get(f"{param.name}{n.path}", Use()) for n in structs.numbers]
        fields = tuple(starmap(self._field, zip(structs.numbers, uses, strict=True)))
        role = _role(param, reduce(Use.joined, uses, self.uses.get(param.name, Use())))
        role = Role.INOUT if role is Role.OUT else role  # fields that no thread writes keep what they have
        return TensorArg(param.name, role, DType.UINT8, (), optional=optional, group=structs.bytes, fields=fields)

    def _field(self, number: InStruct, use: Use) -> Field:
        """Returns a field with what it is filled with: enumerations with their own values."""
        count = self.usage.records.enumerated(number.type)
        values, bound = (Values.INDEX, str(count)) if count else self._values(number.dtype, use)
        told = _told(number.dtype, values, use)
        return Field(number.path.removeprefix("."), number.dtype, number.at, values, bound, told)

    def _inside(self, param: Param) -> tuple[DType | None, int]:
        """Returns the type of the numbers in each struct or vector that `param` points to, and how many there are."""
        return self.usage.records.elements(self.function, param) or (None, 1)

    def _is_of_streams(self, param: Param, type_: CType) -> bool:
        """Returns whether a pointer leads to an array of streams, if only by what a `void*` is taken for."""
        if type_.base != "void" or type_.pointers > 1:
            return is_stream(type_.base)
        return any(map(is_stream, taken_for(self.usage, self.function, param.name)))

    def _is_object(self, param: Param) -> bool:
        """Returns whether a pointer leads to an object of a class whose elements no code reads or writes."""
        open_ = {t.name for t in self.function.template}
        is_class = element_type(param.type.base) is None and param.type.base not in open_
        return is_class and self.function.space == "host" and self.uses.get(param.name) == Use()

    def _dtype(self, param: Param, use: Use) -> DType:
        if param.name in self.extents.facts:
            stated = self.extents.facts[param.name].dtype
            return stated or (DType.INT64 if use.selects else self._any_dispatched())
        base = param.type.base
        if base == "void" and (behind := behind_void(self.usage, self.function, param.name)) is not None:
            return behind
        found = element_type(base) or self._inside(param)[0]
        if found is None:
            self.questions.append(element_question(param.name, base))
        return found or DType.FLOAT32

    def _any_dispatched(self) -> DType:
        """Returns float32, unless the entry's dispatch macros leave it out."""
        return preferred_type(self.usage.dispatched(self.function)) or DType.FLOAT32

    def _values(self, dtype: DType, use: Use) -> tuple[Values, str]:
        if dtype is DType.BOOL:
            return Values.BOOLEAN, ""
        if use.counts and not use.offsets and not dtype.is_float:
            return Values.ZEROS, ""
        if not use.selects:
            return Values.NORMAL, self._equal(use)
        names = {p.name for p in self.function.params}
        bound = next((b for b in use.bounds if b in names or b.isdigit()), "")
        if use.offsets:
            return Values.SORTED, bound or "1"
        return Values.INDEX, bound or "1"

    def _equal(self, use: Use) -> str:
        """Returns the limit of indices that values are compared with; empty where they are not compared with any."""
        found = (quietly(text) for text in use.equals)
        return next((render(self._expressed(node)) for node in found if node is not None), "")

    def _placed(self, tensor: TensorArg) -> TensorArg:
        """Returns `tensor` with its widest possible shape, where the source names none, and the question about it."""
        fields = tuple(replace(f, bound=self._bound(f"{tensor.name}.{f.name}", f)) for f in tensor.fields)
        tensor = replace(tensor, bound=self._bound(tensor.name, tensor), fields=fields)
        if tensor.shape:
            return tensor
        group = (str(tensor.group),) if fields else ()
        widest = " * ".join((*group, *dict.fromkeys(self.symbols))) or "1"
        self.questions.append(extent_question(tensor.name))
        return replace(tensor, shape=(widest,))

    def _bound(self, name: str, filled: TensorArg | Field) -> str:
        """Returns the bound of a tensor's values, or of a field's, and asks about one that the source does not name."""
        if filled.values is Values.NORMAL:
            return filled.bound if names_in(filled.bound or "0") <= {*self.symbols} else ""
        known = not filled.bound or filled.bound in self.symbols or filled.bound.isdigit()
        bound = filled.bound if known else "1"
        if bound == "1":
            self.questions.append(bound_question(name))
        return bound


def _told(dtype: DType, values: Values, use: Use) -> tuple[int, ...]:
    """Returns the numbers that whole numbers are compared with, as far as their type has them."""
    if dtype.is_float or values is not Values.NORMAL or dtype is DType.BOOL:
        return ()
    limits = np.iinfo(dtype.value)
    return tuple(number for number in use.numbers if limits.min <= number <= limits.max)[:_MOST_TOLD]


def _of_no_meaning(field: Param, type_: CType) -> Argument:
    """Returns a field that no code reads: it is no size, and its extents do not matter."""
    if type_.pointers:
        return TensorArg(field.name, Role.IN, element_type(type_.base) or DType.UINT8, ("1",), Values.ZEROS)
    return ScalarArg(field.name, field.type.text, "0")


def _startable(launch: LaunchShape | None) -> tuple[str, ...]:
    """Returns the condition that a block whose extents are sizes has no more threads than a device takes."""
    sized = [extent for extent in launch.block if not extent.isdigit()] if launch is not None else []
    parts = [extent for extent in launch.block if extent != "1"] if launch is not None else []
    whole = " * ".join(parts if len(parts) == 1 else [f"({extent})" for extent in parts])
    return (f"{whole} <= {MAX_THREADS}",) if sized else ()


def _role(param: Param, use: Use) -> Role:
    if (param.type.const and param.type.pointers) or not use.writes:
        return Role.IN if param.type.const or use.reads else Role.INOUT
    return Role.INOUT if use.reads else Role.OUT
