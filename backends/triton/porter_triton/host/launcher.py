"""The launchers of one module: each host function once, and those it calls before it."""

from __future__ import annotations

from dataclasses import replace

from porter.ir.simt.library import with_host_libraries
from porter.source.program import Program
from porter.source.qualified import unqualified
from porter.syntax.nodes import Braces, Call, Expression, Name, Parameter, TypeName
from porter.syntax.unit import FunctionTree, Unit
from porter.syntax.walk import walk
from porter_triton.host import (
    constants,
    expressions,
    followed,
    lasting,
    launch_configs,
    member_types,
    objects,
    records,
    statements,
)
from porter_triton.host.codes import MOMENT, NONE, Code, Kind, sequence
from porter_triton.host.instances import kind_of
from porter_triton.host.launches import extents
from porter_triton.host.nullable import acting_objects, nullable_parameters
from porter_triton.host.pointed import with_references
from porter_triton.host.scope import Context, Given, Template
from porter_triton.host.suites import Line, Suite, is_set, laid_out, pruned, without_flags, words_read
from porter_triton.kernel_records import LoweredKernel, ParameterKind
from porter_triton.kernels import Kernels
from porter_triton.naming import python_name
from porter_triton.refusal import Refusal


class Hosts:
    """Translates host functions on demand. Instances of a template with the same text are one."""

    def __init__(self, program: Program, unit: Unit, kernels: Kernels) -> None:
        self._program = program
        self._unit = unit = with_references(with_host_libraries(unit))
        self._kernels = kernels
        self._nullable = nullable_parameters(unit)
        self._taken = frozenset(f.head.name for f in unit.functions)
        self._names: dict[tuple[str, int, Template, Given], str | Refusal] = {}
        self._gives: dict[str, tuple[Name, ...]] = {}  # the kernels that a function may return, by its Python name
        self._texts: dict[str, str] = {}  # by text, the name
        self.prints: dict[str, list[int]] = {}  # by C++ name, the lines that no longer print
        self.lacking: dict[str, dict[str, Refusal]] = {}  # by C++ name, the dtypes that the port does not take
        self.undefined: dict[str, dict[str, int]] = {}  # by C++ name, functions it calls that another file defines

    def texts(self) -> tuple[str, ...]:
        """Returns all that were translated; a function stands before those that call it."""
        return tuple(self._texts)

    def named(self, name: str, template: tuple[TypeName | Expression, ...] = (), place: int = 0) -> str:
        """Returns the Python name of the host function `name`, plain or qualified; raises `Refusal`.

        Of overloads it is the one that begins at `place` of the source.
        """
        found = [f for f in self._unit.named(name) if f.head.space in ("host", "host device")]
        if not found:
            raise Refusal(0, f"the source defines no host function '{name}'")
        found = [f for f in found if f.head.span.start == place] or found
        exact = [f for f in found if f.arguments and f.arguments == template]
        fitting = exact or [f for f in found if bool(f.head.template) == bool(template)]
        return self.python_name((fitting or found)[-1], template)

    def python_name(self, function: FunctionTree, template: Template, given: Given = ()) -> str:
        """Returns the Python name of an instance of `function`, translated on demand; raises `Refusal`.

        `given` are the kernels that each of its arguments may name.
        """
        key = (function.head.qualified, function.head.span.start, template, given)
        if key not in self._names:
            self._names[key] = name = self._free(python_name(function.head.name))
            self._names[key] = self._translate(function, template, given, name)
        found = self._names[key]
        if isinstance(found, Refusal):
            raise found
        return found

    def named_type(self, cx: Context, name: TypeName) -> TypeName | None:
        """Returns the type that a template of the source or the standard library names; None for any other."""
        return member_types.named(cx, name)

    def constants(self, kernel: FunctionTree, lowered: LoweredKernel) -> dict[str, str]:
        """Returns the tensors for the `__constant__` variables of a kernel that no host function launches."""
        cx = Context(self._unit, self._kernels, kernel, self._taken, self)
        cx.tensor = next((p.name for p in lowered.parameters if p.kind is ParameterKind.POINTER), "")
        return constants.given(cx, lowered, kernel.head.header.line)

    def keep(self, name: str, text: str) -> None:
        """Puts a function before the launchers that call it; raises `Refusal` where the source has one of that name."""
        if name in self._taken:
            raise Refusal(0, f"'{name}' is a function of the source")
        if any(name == other and text != known for known, other in self._texts.items()):
            raise Refusal(0, f"several variables are called '{name}'")
        self._texts.setdefault(text, name)

    def kernels_of(self, python_name: str) -> tuple[Name, ...]:
        """Returns the kernels that a function of the module may return."""
        return self._gives.get(python_name, ())

    def _translate(self, function: FunctionTree, template: Template, given: Given, name: str) -> str | Refusal:
        try:
            head, body, gives = self._parts(function, template, given, name)
        except Refusal as refusal:
            return refusal.within(function.file)
        existing = next((n for t, n in self._texts.items() if t == _text(n, head, body)), None)
        if existing is not None:
            return existing
        self._texts[_text(name, head, body)] = name
        self._gives[name] = gives
        return name

    def _free(self, name: str) -> str:
        used = set(self._names.values())
        number, chosen = 1, name
        while chosen in used:
            number += 1
            chosen = f"{name}__{number}"
        return chosen

    def _parts(
        self, function: FunctionTree, template: Template, given: Given, name: str
    ) -> tuple[list[str], list[str], tuple[Name, ...]]:
        """Returns the parameters, the lines of the body, and the kernels that it may return."""
        function = replace(function, body=launch_configs.spelled_out(function.body))
        cx = Context(self._unit, self._kernels, function, self._taken, self, python=name)
        lasting.bind_all(cx)
        for parameter, argument in zip(function.head.template, template, strict=False):
            cx.bind(parameter.name, _bound(cx, argument))
        nullable = [(function.head.name, i) in self._nullable for i in range(len(function.parameters))]
        parameters = [_parameter(cx, p, i, nullable[i]) for i, p in enumerate(function.parameters)]
        _bind_fields(cx, function)
        for taken, kernels in zip(function.parameters, given, strict=False):
            if kernels and isinstance(held := cx.find(taken.name), Code):
                cx.bind(taken.name, replace(held, kind=Kind.KERNEL, kernels=kernels))
        statements.block(cx, function.body)
        cx.check_dtypes()
        body = pruned(without_flags(_without_last_return(cx.body), cx.own_lasting))
        if MOMENT.text in words_read(body):
            raise Refusal(function.head.span.line, "what this does depends on the time that a clock gives")
        lines = laid_out(body or [Line("pass")], "    ")
        lines = [*self._lasting(cx, body), *lines]
        self.prints[function.head.qualified] = cx.prints
        self.lacking[function.head.qualified] = cx.lacking
        self.undefined[function.head.qualified] = cx.undefined
        return parameters, [*self._origin(function), *lines], tuple(dict.fromkeys(cx.gives))

    def _lasting(self, cx: Context, body: list[Line | Suite]) -> list[str]:
        """Puts the variables that outlive the call into the module; returns the statement for those that it sets."""
        read = words_read(body)
        changed = [name for name in cx.lasting if is_set(body, name)]
        for name in cx.lasting:
            if name in read or name in changed:
                self.keep(name, cx.lasting[name])
        return [f"    global {', '.join(changed)}"] if changed else []

    def _origin(self, function: FunctionTree) -> list[str]:
        """Returns a comment with the lines of the source, for a function that is not a header's."""
        span, source = function.head.span, self._program.source
        if not any(f.name == function.head.name and f.span == span for f in self._program.host_functions):
            return []
        last = source.span(span.end - 1, span.end).line
        lines = f"{span.line}-{last}" if last > span.line else f"{span.line}"
        return [f"    # {source.path.name}:{lines}"]


def _bind_fields(cx: Context, function: FunctionTree) -> None:
    """Binds the fields of the object that a method is given, which its parameters hide."""
    this = cx.find(objects.THIS)
    if isinstance(this, Code) and function.parameters[0].name == objects.THIS:
        parameters = [(p.name, cx.find(p.name)) for p in function.parameters[1:]]
        objects.bind(cx, this)
        for name, held in parameters:
            if held is not None:
                cx.bind(name, held)


def _bound(cx: Context, argument: TypeName | Expression) -> Code | TypeName:
    return argument if isinstance(argument, TypeName) else expressions.expression(cx, argument)


def _parameter(cx: Context, parameter: Parameter, index: int, nullable: bool) -> str:
    """Binds a parameter, `nullable` if the source passes it a null pointer; returns its text, with its default.

    A struct has a parameter for each of its fields.
    """
    kind = kind_of(cx, parameter.type)
    name = cx.python_name(parameter.name or f"unused_{index}")
    cx.changes[name] = cx.changes_of(parameter.name)
    own = kind in (Kind.STREAM, Kind.TIME) or (kind is Kind.TENSOR and not _is_called(cx))
    cx.demand_own(parameter.name, parameter.type, own, cx.function.head.span.line)
    if kind is Kind.OPTIONS:
        raise Refusal(cx.function.head.span.line, f"Python has no tensor options to pass for '{parameter.name}'")
    if kind is Kind.DIM3:
        return _extents(cx, parameter, name)
    if nullable and kind is Kind.POINTER and _is_object(cx, parameter):
        _expect_null(cx, name)
        cx.bind(parameter.name, NONE)
    elif (kind is Kind.OTHER or followed.is_followed(cx, cx.function, parameter)) and (
        held := _record_of(cx, parameter.name or name, replace(cx.type(parameter.type), pointers=0))
    ) is not None:
        cx.bind(parameter.name, held)
        return _one_by_one(cx, held, parameter.default)
    else:
        text = "" if kind is Kind.STREAM else MOMENT.text if kind is Kind.TIME else name
        cx.bind(parameter.name, Code(text, kind, ctype=cx.type(parameter.type), nullable=nullable))
    if kind in (Kind.TENSOR, Kind.POINTER) and not cx.tensor:
        cx.tensor = name
    if parameter.default is None:
        return name
    default = "None" if kind is Kind.STREAM else expressions.expression(cx, parameter.default).text
    return f"{name}={default or 'None'}"


def _is_called(cx: Context) -> bool:
    """Returns whether the source itself calls the function: Python sees no tensor that is put into a `Tensor&`."""
    nodes = (node for function in cx.unit.functions for node in walk(function.body))
    names = (n.callee.name for n in nodes if isinstance(n, Call) and isinstance(n.callee, Name))
    return any(unqualified(name) == cx.function.head.name for name in names)


def _extents(cx: Context, parameter: Parameter, name: str) -> str:
    """Returns the parameters for the extents of a `dim3`, one for each axis, with their defaults."""
    parts = tuple(Code(cx.python_name(f"{name}_{axis}"), Kind.INT) for axis in "xyz")
    cx.bind(parameter.name, Code("", Kind.DIM3, parts=parts))
    if parameter.default is None:
        return ", ".join(part.text for part in parts)
    given = extents(expressions.expression(cx, parameter.default))
    return ", ".join(f"{part.text}={value.text}" for part, value in zip(parts, given, strict=True))


def _is_object(cx: Context, parameter: Parameter) -> bool:
    """Returns whether a pointer leads to an object of a class that only acts by itself."""
    return cx.built_in(TypeName(parameter.type.name)) is None and parameter.name in acting_objects(cx.function)


def _expect_null(cx: Context, name: str) -> None:
    """Emits the exception for an object of a class, which Python has no counterpart of, unless it is null."""
    with cx.suite(f"if {name} is not None:"):
        cx.emit(f'raise NotImplementedError("{name} has no counterpart here: only None can be given")')


def _record_of(cx: Context, name: str, kind: TypeName) -> Code | None:
    """Binds a struct or vector that is passed on, a parameter for each field; None for any other type."""
    fields = () if kind.pointers else records.fields(cx, cx.type(kind))
    parts = tuple(_field(cx, f"{name}_{field.name}", field.type, records.extents(cx, field)) for field in fields)
    names = tuple(field.name for field in fields)
    return Code(name, Kind.RECORD, ctype=cx.type(kind), parts=parts, names=names) if fields else None


def _field(cx: Context, name: str, kind: TypeName, extents: tuple[int, ...]) -> Code:
    """Returns a field by name; an array is a sequence of elements, each a parameter. References are left out."""
    if extents:
        parts = tuple(_field(cx, f"{name}_{i}", kind, extents[1:]) for i in range(extents[0]))
        return sequence(parts).typed(TypeName("std::array", (kind,)))
    inner = _record_of(cx, name, kind) if not kind.reference else None
    return inner or Code(cx.python_name(name), kind_of(cx, kind), ctype=cx.type(kind))


def _one_by_one(cx: Context, held: Code, default: Expression | None) -> str:
    """Returns the parameters for the fields of a struct, with their defaults."""
    parts = list(records.leaves(held))
    cx.tensor = cx.tensor or next((part.text for part in parts if part.kind is Kind.POINTER), "")
    if default is None:
        return ", ".join(part.text for part in parts)
    given = expressions.returned(cx, default, held.ctype) if isinstance(default, Braces) and held.ctype else None
    values = list(records.leaves(given or expressions.expression(cx, default)))
    if len(values) != len(parts):
        raise Refusal(cx.function.head.span.line, f"the default of '{held.text}' does not say what its fields are")
    return ", ".join(f"{part.text}={value.text}" for part, value in zip(parts, values, strict=True))


def _without_last_return(body: list[Line | Suite]) -> list[Line | Suite]:
    while body and isinstance(body[-1], Line) and body[-1].text == "return":
        body = body[:-1]
    return body


def _text(name: str, parameters: list[str], body: list[str]) -> str:
    return "\n".join([f"def {name}({', '.join(parameters)}):", *body])
