"""Calls of functions: PyTorch's, the C library's, the source's own host functions."""

from __future__ import annotations

from dataclasses import replace

from porter.source.qualified import unqualified
from porter.syntax import packs
from porter.syntax.nodes import (
    Assign,
    Call,
    Evaluate,
    Expression,
    Lambda,
    Member,
    Name,
    Return,
    Statement,
    TypeName,
    Variable,
)
from porter.syntax.unit import FunctionTree
from porter_triton.host import (
    checks,
    device_wide,
    expressions,
    followed,
    functors,
    held_kernels,
    indexing,
    inplace,
    member_types,
    methods,
    objects,
    overloads,
    pointers,
    predefined,
    records,
    runtime,
    times,
    undefined,
    vector_memory,
)
from porter_triton.host.arithmetic import negative
from porter_triton.host.c_types import BUILT_IN, Arithmetic, Record
from porter_triton.host.codes import ATOM, MOMENT, NONE, SIGN, SUCCESS, Code, Kind, integer, sequence, string, truth
from porter_triton.host.instances import instance, kind_of, settled
from porter_triton.host.scope import Closure, Context, Template, plain
from porter_triton.host.table import table
from porter_triton.refusal import Refusal

_SEQUENCES = ("std::vector", "std::initializer_list", "std::array")
_TUPLES = ("std::make_tuple", "std::tuple", "std::make_pair", "std::pair", "std::tie", "std::forward_as_tuple")


def call(cx: Context, node: Call) -> Code:
    """Translates `callee(arguments)` as a value."""
    callee = node.callee
    if runtime.memory_call(cx, node):
        return SUCCESS
    if isinstance(callee, Member):
        owner = expressions.expression(cx, callee.owner)
        return objects.call(cx, node, callee, owner) or methods.method(cx, node, callee, owner)
    if isinstance(callee, Lambda):
        return _value_of(cx, callee, node)
    if not isinstance(callee, Name):
        return functors.call(cx, node)
    if (without := _without_meaning(callee.name)) is not None:
        return without
    if isinstance(meaning := cx.find(callee.name), Closure):
        return _value_of(cx, meaning.node, node)
    if (own_method := objects.own_call(cx, node, callee)) is not None:
        return own_method
    found = _of_check(cx, callee.name, node)
    found = found or device_wide.thrust_call(cx, node) or times.told(cx, node) or _accumulated(cx, node)
    if found is not None:
        return found
    if (function := inplace.setter(cx, node)) is not None:
        return inplace.call(cx, function, node)
    arguments = tuple(expressions.expression(cx, a) for a in node.arguments)
    if any(a.kind is Kind.ERROR for a in arguments):
        return SUCCESS
    found = made(cx, TypeName(callee.name, callee.template), arguments, node.line)
    if found is None and (own := _fitting(cx, callee, arguments, node.line)):
        return _own(cx, callee, own, arguments, node.line)
    found = found or _vector_of_cuda(cx, TypeName(callee.name), arguments, node.line)
    found = found or (MOMENT if times.is_any(*arguments) else _library(cx, callee, arguments, node.line))
    return found or functors.static(cx, node, callee, arguments) or _only_declared(cx, callee, arguments, node.line)


def _of_check(cx: Context, name: str, node: Call) -> Code | None:
    """Translates what a check says, `STD_TORCH_CHECK_MSG(condition, type, message)`, and `__builtin_expect(x, 1)`."""
    if plain(name) in table().messages:
        return Code(checks.joined(cx, list(node.arguments[2:])), Kind.STRING)
    return expressions.expression(cx, node.arguments[0]) if name == "__builtin_expect" else None


def _only_declared(cx: Context, callee: Name, arguments: tuple[Code, ...], line: int) -> Code:
    """Returns the call of a function that another file defines; raises `Refusal` for any other."""
    if cx.unit.named(callee.name):
        raise Refusal(line, _unfit(cx, callee))
    missing = undefined.call(cx, callee, _all_passed(arguments), line)
    if missing is None:
        raise Refusal(
            line,
            f"the function '{callee.name}' is not known: no header or file that is at hand defines it (--include-dir)",
        )
    return _answer(cx, missing)


def _without_meaning(name: str) -> Code | None:
    """Returns the result of a runtime call that Python does not need; None for any other function."""
    if name in table().streams or name.endswith("getCurrentCUDAStream"):
        return Code("", Kind.STREAM)
    if name.endswith(("getCurrentDeviceProperties", "getDeviceProperties")):
        return Code("", Kind.PROPERTIES)
    return SUCCESS if name in table().dropped_calls else None


def made(cx: Context, kind: TypeName, arguments: tuple[Code, ...], line: int, *, listed: bool = False) -> Code | None:
    """Returns the object `T(arguments)`, or `T{arguments}` where `listed`, of a type known here; else None."""
    kind = cx.type(kind)
    name = kind.name
    if name == "dim3":
        ones = (integer(1),) * (3 - len(arguments))
        if len(arguments) == 1 and arguments[0].kind is Kind.DIM3:
            return arguments[0]
        return Code("", Kind.DIM3, parts=(*arguments, *ones))
    is_list = name in _SEQUENCES or plain(name) == "IntArrayRef"
    if is_list and listed and all(a.kind is not Kind.SEQUENCE for a in arguments):
        return sequence(arguments, as_list=True).typed(kind)
    if (memory := vector_memory.made(cx, kind, arguments, line)) is not None:
        return memory
    if is_list:
        return _vector(kind, arguments, line)
    if name in _TUPLES:
        return sequence(arguments)
    if plain(name) == "TensorOptions":
        return methods.options_of() if not arguments else _options(arguments)
    if plain(name) in ("Tensor", "TensorArg", "optional") and not cx.is_own(kind):
        return arguments[0] if arguments else NONE
    if plain(name) == "Device":
        return arguments[0]
    if isinstance(cx.built_in(kind), Arithmetic):
        return pointers.cast(cx, kind, arguments[0], line) if arguments else integer(0)
    own = record(cx, kind, arguments)
    return own or (_vector_of_cuda(cx, kind, arguments, line) if not cx.unit.named(kind.name) else None)


def _vector_of_cuda(cx: Context, kind: TypeName, arguments: tuple[Code, ...], line: int) -> Code | None:
    """Translates `make_int2(a, b)` or `int2{a, b}` to a struct of its components; None for any other type."""
    vector = BUILT_IN.get(kind.name.removeprefix("make_"))
    if not isinstance(vector, Record) or len(arguments) != len(vector.fields):
        return None
    types = [TypeName(component.name) for _, component in vector.fields if isinstance(component, Arithmetic)]
    parts = tuple(pointers.cast(cx, type_, given, line) for type_, given in zip(types, arguments, strict=True))
    names = tuple(name for name, _ in vector.fields)
    return Code("", Kind.RECORD, ctype=TypeName(vector.name), parts=parts, names=names)


def record(cx: Context, kind: TypeName, arguments: tuple[Code, ...]) -> Code | None:
    """Returns a struct of the source made of its fields in order, or by its constructor; None for any other type."""
    structs = cx.unit.struct(kind.name)
    if not structs:
        return None
    if constructors := [m for m in structs[-1].methods if m.head.name == unqualified(kind.name)]:
        fitting = [m for m in constructors if len(m.parameters) == len(arguments)]
        return _constructed(cx, kind, fitting[0], arguments) if len(fitting) == 1 else None
    fields = tuple(f for f in structs[-1].fields if f.storage != "static")
    if len(arguments) > len(fields):
        return None
    rest = tuple(left_out(cx, f) for f in fields[len(arguments) :])
    parts = (*(_field(cx, f, given) for f, given in zip(fields, arguments, strict=False)), *rest)
    return Code("", Kind.RECORD, ctype=kind, parts=parts, names=tuple(f.name for f in fields))


def _constructed(cx: Context, kind: TypeName, constructor: FunctionTree, arguments: tuple[Code, ...]) -> Code | None:
    """Returns a struct whose constructor sets each field to an expression; None where it does anything else."""
    given = dict(filter(None, map(_field_given, constructor.body.statements)))
    found = member_types.definition(cx, cx.type(kind))
    if found is None or len(given) != len(constructor.body.statements):
        return None
    fields = tuple(f for f in found[0].fields if f.storage != "static")
    values = [value for f in fields if (value := given.get(f.name, f.value)) is not None]
    if len(values) != len(fields) or not given.keys() <= {f.name for f in fields}:
        return None
    with cx.scope():
        for name, meaning in found[1]:
            cx.bind(name, meaning if isinstance(meaning, TypeName) else expressions.expression(cx, meaning))
        for parameter, argument in zip(constructor.parameters, arguments, strict=True):
            cx.bind(parameter.name, pointers.cast(cx, parameter.type, argument, constructor.body.line))
        parts = tuple(expressions.expression(cx, value) for value in values)
    return Code("", Kind.RECORD, ctype=kind, parts=parts, names=tuple(f.name for f in fields))


def _field_given(step: Statement) -> tuple[str, Expression] | None:
    """Returns the field and the value of `this->field = value`; None for any other statement."""
    if not isinstance(step, Evaluate) or not isinstance(step.expression, Assign) or step.expression.operator:
        return None
    target = step.expression.target
    own = isinstance(target, Member) and target.arrow and isinstance(target.owner, Name) and target.owner.name == "this"
    return (target.name, step.expression.value) if own and isinstance(target, Member) else None


def _field(cx: Context, field: Variable, given: Code) -> Code:
    """Returns what a field begins with: a struct of its own by `{a, b}`."""
    made = record(cx, cx.type(field.type), given.parts) if given.kind is Kind.SEQUENCE and not field.extents else None
    return made or given


def left_out(cx: Context, field: Variable) -> Code:
    """Returns the initial value of a field that a list does not reach: the declared one, else 0."""
    if field.value is not None:
        return expressions.initial(cx, field)
    if field.extents:
        one = left_out(cx, replace(field, extents=field.extents[1:]))
        return sequence((one,) * records.extents(cx, field)[0]).typed(TypeName("std::array", (field.type,)))
    kind = cx.type(field.type)
    return NONE if kind.pointers else record(cx, kind, ()) or made(cx, kind, (), field.line) or integer(0)


def _vector(kind: TypeName, arguments: tuple[Code, ...], line: int) -> Code:
    if len(arguments) == 1 and arguments[0].kind is Kind.SEQUENCE:
        return replace(arguments[0], ctype=kind)
    if any(a.kind is Kind.INT for a in arguments) and kind.name == "std::vector" and len(arguments) < 3:
        raise Refusal(line, "a std::vector whose size is only known at run time has no counterpart")
    return replace(sequence(arguments, as_list=True), ctype=kind)


def _options(arguments: tuple[Code, ...]) -> Code:
    return arguments[0] if arguments[0].kind is Kind.OPTIONS else methods.options_of(arguments[0])


def _value_of(cx: Context, callee: Lambda, node: Call) -> Code:
    """Translates `[&](int n) { return n + 1; }(2)`: the expression, with the arguments in it."""
    statements = callee.body.statements
    if len(statements) != 1 or not isinstance(statements[0], Return) or statements[0].value is None:
        raise Refusal(node.line, "a lambda of several statements is not a value in Python")
    if len(callee.parameters) != len(node.arguments):
        raise Refusal(node.line, "a lambda with defaults is not a value in Python")
    arguments = [expressions.expression(cx, argument) for argument in node.arguments]
    with cx.scope():
        for parameter, argument in zip(callee.parameters, arguments, strict=True):
            numeric = argument.is_number and isinstance(cx.built_in(parameter.type), Arithmetic)
            given = pointers.cast(cx, cx.type(parameter.type), argument, node.line) if numeric else argument
            cx.bind(parameter.name, given)
        return expressions.expression(cx, statements[0].value)


def _library(cx: Context, callee: Name, arguments: tuple[Code, ...], line: int) -> Code | None:
    """Returns a function of PyTorch or the C library."""
    short, known = plain(callee.name), table()
    if short == "alignof" and arguments:
        return arguments[0]  # what the size of a number or vector is, too
    if callee.name.startswith(("torch::", "at::", "c10::")) and short in ("dtype", "device"):
        return methods.options_of(**{short: arguments[0]})
    if callee.name.startswith(("torch::", "at::")):
        return _torch(short, arguments, line)
    if callee.name == "std::get" and callee.template:
        index = expressions.expression(cx, callee.template[0])  # type: ignore[arg-type]
        return Code(f"{arguments[0].text}[{index.text}]", Kind.TENSOR)
    if callee.name == "thrust::raw_pointer_cast" or callee.name in (
        "std::move",
        "std::ref",
        "std::cref",
        "std::forward",
    ):
        return arguments[0]
    if callee.name in ("std::is_same_v",):
        return truth(False)
    if callee.name.startswith("std::numeric_limits::"):
        return _limit(cx, callee)
    if (found := _of_strings(callee.name, arguments)) is not None:
        return found
    if short in known.numbers:
        return _folded(short, known.numbers[short].apply(None, arguments), arguments)
    if callee.name in known.own:
        return known.own[callee.name].apply(None, arguments)
    if short in ("nullopt", "nullptr_t"):
        return NONE
    return indexing.range_of(arguments) if short == "Slice" else None


def _of_strings(name: str, arguments: tuple[Code, ...]) -> Code | None:
    """Returns a variable of the environment, a number that a string holds, the string of a number or of characters."""
    short, given = plain(name), all(a.kind is Kind.STRING and not a.nullable for a in arguments)
    if name == "std::string" and given and len(arguments) < 2:
        return arguments[0] if arguments else string("")
    if name in ("getenv", "std::getenv") and len(arguments) == 1:
        return Code(f"os.environ.get({arguments[0].text})", Kind.STRING, nullable=True)
    if short in ("atoi", "atol", "stoi", "atof", "stof") and arguments and arguments[0].kind is Kind.STRING:
        kind = Kind.FLOAT if short.endswith("f") else Kind.INT
        return Code(f"{kind.value}({arguments[0].text})", kind)
    if name == "std::to_string" and len(arguments) == 1 and arguments[0].kind is Kind.INT:
        return Code(f"str({arguments[0].text})", Kind.STRING)
    return None


def _accumulated(cx: Context, node: Call) -> Code | None:
    """Translates `std::accumulate(v.begin(), v.end(), 1, std::multiplies<int>())`, a product of numbers, or their sum;
    None for any other.
    """
    if not isinstance(node.callee, Name) or node.callee.name != "std::accumulate" or len(node.arguments) not in (3, 4):
        return None
    first, last, begin, *how = node.arguments
    owners = [_end_of(first, ("begin", "cbegin")), _end_of(last, ("end", "cend"))]
    name = how[0].callee.name if how and isinstance(how[0], Call) and isinstance(how[0].callee, Name) else ""
    if None in owners or owners[0] != owners[1] or (how and name not in ("std::multiplies", "std::plus")):
        return None
    assert owners[0] is not None
    held, given = expressions.expression(cx, owners[0]), expressions.expression(cx, begin)
    if held.kind is not Kind.SEQUENCE or not given.is_number:
        return None
    text = f"math.prod({held.text}, start={given.text})" if "mult" in name else f"sum({held.text}, {given.text})"
    return Code(text, given.kind, ctype=given.ctype)


def _end_of(node: Expression, names: tuple[str, ...]) -> Expression | None:
    """Returns what `node` is an end of, `v` of `v.begin()`."""
    is_end = isinstance(node, Call) and isinstance(node.callee, Member) and node.callee.name in names
    return node.callee.owner if isinstance(node, Call) and isinstance(node.callee, Member) and is_end else None


def _limit(cx: Context, callee: Name) -> Code | None:
    """Translates `std::numeric_limits<T>::max()` and its like."""
    argument = callee.template[0] if callee.template else None
    type_ = cx.built_in(argument) if isinstance(argument, TypeName) else None
    if not isinstance(argument, TypeName) or not isinstance(type_, Arithmetic):
        return None
    if type_.is_float:
        return _float_limit(unqualified(callee.name), type_.bits, argument)
    values = {"max": type_.high, "min": type_.low, "lowest": type_.low}
    short = unqualified(callee.name)
    return integer(values[short]).typed(argument) if short in values else None


def _float_limit(name: str, bits: int, kind: TypeName) -> Code | None:
    """Returns a limit of `float` or `double`; None for any other."""
    prefix = {32: "FLT", 64: "DBL"}.get(bits)
    if name in ("infinity", "quiet_NaN") and prefix is not None:
        return Code("math.inf" if name == "infinity" else "math.nan", Kind.FLOAT, ctype=kind)
    last = {"max": "MAX", "lowest": "MAX", "min": "MIN", "epsilon": "EPSILON"}.get(name)
    found = predefined.constant(f"{prefix}_{last}")
    if found is None:
        return None
    value = float(found[0])
    positive = Code(repr(value), Kind.FLOAT, constant=value, ctype=kind)
    return negative(positive) if name == "lowest" else positive


def _folded(name: str, code: Code, arguments: tuple[Code, ...]) -> Code:
    """Translates `min` and `max` of constants."""
    values = [a.constant for a in arguments]
    if name in ("min", "max") and all(v is not None for v in values):
        known = [v for v in values if v is not None]
        chosen = min(known) if name == "min" else max(known)
        if isinstance(chosen, float):
            return Code(repr(chosen), Kind.FLOAT, ATOM if chosen >= 0 else SIGN, chosen, arguments[0].ctype)
        return integer(int(chosen))
    return code


def _torch(name: str, arguments: tuple[Code, ...], line: int) -> Code | None:
    """Translates `torch::name(arguments)`."""
    known = table()
    if name in known.from_sizes:
        return Code(f"torch.{name}({', '.join(_factory(arguments))})", Kind.TENSOR)
    if name in known.like or name in known.functions:
        inside = ", ".join(methods.passed(name, a) for a in arguments)
        return Code(f"torch.{name}({inside})", known.functions.get(name, Kind.TENSOR))
    if name == "indexing::Slice":
        return indexing.range_of(arguments)
    if name in ("CUDA", "CPU") and len(arguments) == 1:
        return methods.options_of(arguments[0], Code(f'"{name.lower()}"', Kind.DEVICE))
    if name in ("tensor", "scalar_tensor"):
        return Code(f"torch.tensor({', '.join(_factory(arguments))})", Kind.TENSOR)
    of_tensor = bool(arguments) and arguments[0].kind is Kind.TENSOR and name in known.same_methods
    if arguments and (of_tensor or name in known.methods):
        return methods.of_tensor(arguments[0], name, arguments[1:], line)
    if (own := unqualified(name)) in known.own:
        return known.own[own].apply(None, arguments)
    raise Refusal(line, f"the function 'torch::{name}' is not known")


def _factory(arguments: tuple[Code, ...]) -> list[str]:
    """Sizes and values as they are; the options as keywords, on the device of the function's tensors."""
    texts: list[str] = []
    options = methods.options_of()
    for argument in arguments:
        if argument.kind in (Kind.OPTIONS, Kind.DTYPE, Kind.DEVICE):
            options = _merged(options, argument)
        else:
            texts.append(argument.text)
    return texts + methods.keywords(options)


def _merged(options: Code, argument: Code) -> Code:
    dtype, device = options.parts
    if argument.kind is Kind.OPTIONS:
        return argument
    return methods.options_of(argument, device) if argument.kind is Kind.DTYPE else methods.options_of(dtype, argument)


def _fitting(cx: Context, callee: Name, arguments: tuple[Code, ...], line: int) -> list[FunctionTree]:
    """Returns the host functions of the source that a call may mean."""
    named = [f for f in cx.unit.named(callee.name) if f.head.space != "global"]
    hosts = [packs.with_arguments(f, len(arguments)) for f in named]
    explicit = tuple(settled(cx, t, line) for t in callee.template) if hosts else ()
    return [
        f
        for f in hosts
        if overloads.fits(cx, f, arguments) and (not f.arguments or overloads.specialised(cx, f, explicit))
    ]


def _unfit(cx: Context, callee: Name) -> str:
    """Returns why no function of the source is what a call means."""
    packs = (p for f in cx.unit.named(callee.name) for p in f.parameters if p.type.name.endswith("..."))
    if next(packs, None) is not None:
        return f"'{callee.name}' takes a pack of arguments, which is not understood"
    return f"no function '{callee.name}' takes these arguments"


def operator(cx: Context, symbol: str, left: Code, right: Code, line: int) -> Code:
    """Returns `left symbol right` of structs or vectors by the source's own operator; raises `Refusal` without one."""
    callee = Name(f"operator{symbol}", (), line)
    fitting = _fitting(cx, callee, (left, right), line)
    found = _one_liner(cx, fitting[0], (left, right)) if len(fitting) == 1 else None
    if found is None:
        raise Refusal(line, f"'{symbol}' of a struct has no counterpart in a launcher")
    return found


def _own(cx: Context, callee: Name, fitting: list[FunctionTree], arguments: tuple[Code, ...], line: int) -> Code:
    """Returns a call of another host function of the source, which is translated, too; a ceiling division is `cdiv`."""
    target = max(fitting, key=lambda f: bool(f.arguments))
    for parameter, argument in zip(target.parameters, arguments, strict=False):
        if argument.kind is not Kind.RECORD and followed.is_followed(cx, target, parameter):
            raise Refusal(line, f"'{callee.name}' needs the fields of what '{parameter.name}' points to")
    inlined = _one_liner(cx, target, arguments)
    if inlined is not None:
        return inlined
    explicit = tuple(settled(cx, t, line) for t in callee.template)
    template = explicit if target.arguments else instance(cx, target, callee.template, arguments, line)
    return called(cx, target, template, arguments)


def called(cx: Context, target: FunctionTree, template: Template, arguments: tuple[Code, ...]) -> Code:
    """Returns the call of an instance of a host function of the source, which is translated, too."""
    arguments = tuple(_as_extents(target, i, argument) for i, argument in enumerate(arguments))
    given = tuple(argument.kernels for argument in arguments)
    python = cx.callees.python_name(target, template, given if any(given) else ())
    text = f"{python}({_all_passed(arguments)})"
    if kernels := cx.callees.kernels_of(python):
        return Code(text, Kind.KERNEL, ctype=held_kernels.FUNCTION, nullable=True, kernels=kernels)
    return _answer(cx, Code(text, kind_of(cx, target.returns), ctype=cx.type(target.returns)))


def _as_extents(target: FunctionTree, index: int, argument: Code) -> Code:
    """Returns a number that is given for a `dim3`, as one."""
    if not argument.is_number or index >= len(target.parameters):
        return argument
    wanted = target.parameters[index].type
    is_extents = not wanted.pointers and wanted.name == "dim3"
    return Code("", Kind.DIM3, parts=(argument, integer(1), integer(1))) if is_extents else argument


def _answer(cx: Context, code: Code) -> Code:
    """Returns the value of a call; one whose error code is only compared with success is a statement."""
    if code.kind is Kind.ERROR:
        cx.emit(code.text)
        return SUCCESS
    return _extents(cx, code) if code.kind is Kind.DIM3 else code


def _all_passed(arguments: tuple[Code, ...]) -> str:
    return ", ".join(map(_passed, arguments))


def _passed(argument: Code) -> str:
    """Returns an argument as text: of a struct its fields, one by one.

    A stream, or a function object without members, is nothing in Python; its parameter is still there.
    """
    if argument.kind is Kind.DIM3:
        return ", ".join(part.text for part in argument.parts)
    if argument.kind is not Kind.RECORD or not argument.parts:
        return methods.spread(argument) or "None"
    return ", ".join(methods.spread(part) or "None" for part in records.leaves(argument))


def _extents(cx: Context, made: Code) -> Code:
    """Returns a `dim3` that a function returns, under a name: its extents are asked for one by one."""
    name = cx.python_name("extents")
    cx.emit(f"{name} = {made.text}")
    return replace(made, text=name, parts=tuple(Code(f"{name}[{axis}]", Kind.INT) for axis in range(3)))


def _one_liner(cx: Context, function: FunctionTree, arguments: tuple[Code, ...]) -> Code | None:
    """Returns the value of a function that is `return` of an expression of numbers; None for any other."""
    statements = function.body.statements
    if len(statements) != 1 or not isinstance(statements[0], Return) or statements[0].value is None:
        return None
    makes_record = isinstance(cx.built_in(function.returns), Record) and not function.head.template
    stands = all(a.is_number or (makes_record and a.kind is Kind.RECORD) for a in arguments)
    if not stands or len(arguments) != len(function.parameters):
        return None
    with cx.scope():
        for parameter, argument in zip(function.parameters, arguments, strict=True):
            cx.bind(parameter.name, argument)
        return expressions.expression(cx, statements[0].value)
