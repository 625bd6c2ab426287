"""Prints a kernel's tree as a Triton function, through the SIMT IR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from porter.contract.analysis.records import symbol
from porter.ir.simt.analyses.ranges import ANY_BLOCK, Extents
from porter.ir.simt.builder.c_types import PointerTo, Record
from porter.ir.simt.builder.errors import NotExpressibleError
from porter.ir.simt.builder.kernel import ParameterSource, build, parameter_sources
from porter.ir.simt.cleanup import without_dead_code
from porter.ir.simt.ops import Function, Value
from porter.ir.simt.transforms.array_choices import with_array_choices
from porter.ir.simt.transforms.array_columns import arrays_as_columns
from porter.ir.simt.transforms.array_values import arrays_as_values
from porter.ir.simt.transforms.bounded_loops import with_bounded_loops
from porter.ir.simt.transforms.common import without_repetition
from porter.ir.simt.transforms.conditions_within import with_conditions_within
from porter.ir.simt.transforms.counted_loops import with_counted_loops
from porter.ir.simt.transforms.dead_memory import without_dead_memory
from porter.ir.simt.transforms.exits_at_bounds import without_exits_at_bounds
from porter.ir.simt.transforms.folding import folded
from porter.ir.simt.transforms.invariant_loads import with_invariant_loads_ahead
from porter.ir.simt.transforms.joined_branches import with_joined_branches
from porter.ir.simt.transforms.joined_stores import with_joined_stores
from porter.ir.simt.transforms.loads_ahead import with_loads_ahead
from porter.ir.simt.transforms.masked_sums import with_masked_sums
from porter.ir.simt.transforms.null_tests import with_null_tests_first
from porter.ir.simt.transforms.powers import with_products_for_powers
from porter.ir.simt.transforms.range_folding import folded_by_ranges
from porter.ir.simt.transforms.reductions import with_reductions
from porter.ir.simt.transforms.uniform_conditions import with_uniform_conditions
from porter.ir.simt.transforms.uniform_loops import with_uniform_loops
from porter.ir.simt.transforms.unrolling import unrolled
from porter.ir.simt.transforms.unswitching import unswitched
from porter.ir.simt.transforms.vector_rows import with_vector_rows
from porter.ir.simt.types import Pointer, Scalar
from porter.syntax.unit import FunctionTree, Unit
from porter_triton.device.source import helpers
from porter_triton.kernel_records import (
    CONSTEXPRS,
    LaunchInfo,
    LoweredKernel,
    LoweredParameter,
    ParameterKind,
)
from porter_triton.refusal import Refusal
from porter_triton.thread_level import memory
from porter_triton.thread_level.expressions import Expression, dtype_name, element_type, type_text
from porter_triton.thread_level.lanes import lanes_of
from porter_triton.thread_level.lines import text_of, without_dead_lines
from porter_triton.thread_level.names import Names
from porter_triton.thread_level.printer import Printer
from porter_triton.thread_level.prologue import begin

_NOTHING: Mapping[Value, Expression] = {}
Sources = Mapping[tuple[int, int], ParameterSource]
_BYTES = {"__nv_fp8_e4m3": "float8_e4m3fn", "__nv_fp8_e5m2": "float8_e5m2"}  # tensors that are passed as bytes


@dataclass(frozen=True, slots=True)
class PreparedKernel:
    """A function of the IR that can be printed, for launches like `launch`.

    `sources` says what its parameters are, `host_names` are the names of functions beside it in the module.
    """

    function: Function
    launch: LaunchInfo
    name: str
    qualified: str
    sources: Sources
    host_names: frozenset[str] = frozenset()


def prepared_kernel(
    unit: Unit, kernel: FunctionTree, launch: LaunchInfo, host_names: frozenset[str] = frozenset()
) -> PreparedKernel:
    """Returns the function that `kernel` is printed from for launches like `launch`; raises `Refusal`."""
    try:
        function = build(unit, kernel, launch.template)
        sources = parameter_sources(unit, kernel, launch.template)
    except NotExpressibleError as error:
        line = error.location.line or kernel.head.header.line
        raise Refusal(line, error.construct, error.location.file or kernel.file) from None
    function = with_one_name_a_buffer(function, sources, launch)
    function = prepared(function, launch)
    return PreparedKernel(function, launch, kernel.head.name, kernel.head.qualified, sources, host_names)


def prepared(function: Function, launch: LaunchInfo) -> Function:
    """Returns a function ready to be printed: known values are computed, loops have one length for all threads."""
    extents = extents_of(launch)
    found = unrolled(folded_by_ranges(function, extents))
    found = arrays_as_values(with_array_choices(with_products_for_powers(found)))
    found = folded_by_ranges(folded(found), extents)
    found = folded(arrays_as_columns(found))
    found = without_dead_memory(with_reductions(without_repetition(found), block_sizes(launch)))
    found = folded(with_vector_rows(with_null_tests_first(with_joined_stores(found))))
    found = with_invariant_loads_ahead(with_counted_loops(found))
    found = without_repetition(without_exits_at_bounds(found, extents))
    found = unswitched(with_bounded_loops(with_uniform_loops(found, extents)))
    found = with_joined_branches(with_conditions_within(with_uniform_conditions(found)))
    found = with_loads_ahead(without_repetition(with_masked_sums(found)))
    return without_repetition(folded(found))


def with_one_name_a_buffer(function: Function, sources: Sources, launch: LaunchInfo) -> Function:
    """Returns a function that asks one parameter where launches pass one buffer as several."""
    by_name = {}
    for parameter in function.parameters:
        told = sources.get((parameter.argument, parameter.offset))
        by_name[told.path if told is not None else parameter.value.name] = parameter.value
    pairs = [(by_name.get(name), by_name.get(first)) for name, first in launch.same]
    same = {one: other for one, other in pairs if one is not None and other is not None and one.type == other.type}
    return without_dead_code(function, same)


def block_sizes(launch: LaunchInfo) -> tuple[tuple[int, int, int], ...]:
    """Returns all extents that a block may have; none where they are not known."""
    x, *others = launch.block
    y, z = (dimension.value for dimension in others)
    if y is None or z is None:
        return ()
    return tuple((size, y, z) for size in ((x.value,) if x.value is not None else x.sizes))


def extents_of(launch: LaunchInfo) -> Extents:
    """Returns between which numbers the extents of the block lie."""
    x, y, z = (
        (d.value, d.value) if d.value is not None else (min(d.sizes), max(d.sizes)) if d.sizes else ANY_BLOCK[axis]
        for axis, d in enumerate(launch.block)
    )
    return x, y, z


def print_kernel(
    kernel: PreparedKernel, template: Sequence[LoweredParameter] = (), spelled: Mapping[Value, Expression] = _NOTHING
) -> LoweredKernel:
    """Returns a function of the IR as a Triton function.

    Constants that are `spelled` stand for parameters of the `template`. Raises `Refusal` where the text uses one of
    these names for something else.
    """
    function, launch, sources = kernel.function, kernel.launch, kernel.sources
    x, y, z = (dimension.value for dimension in launch.block)
    p = Printer(
        function,
        Names(frozenset(helpers())),
        extents=extents_of(launch),
        sizes=(x, y, z),
        shared_bytes=launch.shared_bytes,
        together=launch.together,
        spelled=spelled,
        host_names=kernel.host_names,
    )
    own = [_parameter(p, function, number, sources) for number in range(len(function.parameters))]
    begin(p, launch)
    memory.reserve(p)
    p.block(function.body)
    told = [_told(p, parameter.value, made) for parameter, made in zip(function.parameters, own, strict=True)]
    kept = [parameter for parameter in told if not parameter.unread or "." not in parameter.source]
    parameters = sorted([*kept, *p.parameters], key=lambda parameter: parameter.kind in CONSTEXPRS)
    if taken := [parameter.name for parameter in template if p.names.knows(parameter.name)]:
        raise Refusal(0, f"'{taken[0]}' is called something else")
    return LoweredKernel(
        kernel.name,
        text_of(without_dead_lines(p.lines)),
        (*parameters, *template),
        tuple(sorted(p.helpers)),
        kernel.qualified,
        tuple(p.remarks),
        lanes_of(p),
    )


def _told(p: Printer, value: Value, parameter: LoweredParameter) -> LoweredParameter:
    """Returns a parameter with the printed kernel's use of it."""
    return replace(parameter, asked=value in p.null_tested, unread=value not in p.uses)


def _parameter(p: Printer, function: Function, number: int, sources: Sources) -> LoweredParameter:
    """Declares a parameter."""
    parameter = function.parameters[number]
    value = parameter.value
    told = sources.get((parameter.argument, parameter.offset))
    source = parameter.variable or (told.path if told is not None else value.name)
    name = p.names.reserve(symbol(source) or f"argument_{number}", "parameter")
    if isinstance(value.type, Pointer):
        coded = _float8(told)
        seen_as = f"tl.pointer_type({type_text(element_type(value.type))})"
        cast = f".to({seen_as}, bitcast=True)" if not coded and _holds_structs(p, value, told) else ""
        p.values[value] = Expression(f"{name}{cast}", value.type)  # of a tensor of any type
        p.pointer_parameters.add(name)
        kind = ParameterKind.CONSTANT if parameter.variable else ParameterKind.POINTER
        dtype = coded or dtype_name(element_type(value.type))
    else:
        assert isinstance(value.type, Scalar)
        p.values[value] = Expression(name, value.type, loose=value.type.is_float)
        kind, dtype = ParameterKind.SCALAR, dtype_name(value.type)
    return LoweredParameter(name, kind, dtype, source)


def _float8(source: ParameterSource | None) -> str:
    """Returns the dtype of 8-bit floats that a parameter leads to; empty for anything else."""
    held = source.type.element if source is not None and isinstance(source.type, PointerTo) else None
    return _BYTES.get(held.name, "") if isinstance(held, Record) else ""


def _holds_structs(p: Printer, pointer: Value, source: ParameterSource | None) -> bool:
    """Returns whether a pointer leads to structs, or to bytes that are read as numbers of other types."""
    held = source.type.element if source is not None and isinstance(source.type, PointerTo) else None
    if isinstance(held, Record) and held.vector is None:
        return True
    assert isinstance(pointer.type, Pointer)
    return pointer.type.element is Scalar.U8 and _is_seen_otherwise(p, pointer)


def _is_seen_otherwise(p: Printer, pointer: Value) -> bool:
    users = p.uses.get(pointer, ())
    return any(user.kind == "bitcast" or (user.kind == "offset" and _is_seen_otherwise(p, user.result))
               for user in users)  # fmt: skip
