"""Decides what stands for a parameter passed by value: a symbol for a size, else a sensible value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from porter.contract.analysis.axes import CHOSEN_AXIS
from porter.contract.analysis.body import quietly, walk, written
from porter.contract.analysis.passing import is_name, passed_on
from porter.contract.analysis.records import COMPONENTS, is_stream
from porter.contract.analysis.row_strides import is_row_stride
from porter.contract.analysis.scope import Scope
from porter.contract.analysis.shares import divides_a_size
from porter.contract.analysis.usage import Usage
from porter.contract.infer.selectors import choices, is_marker, special_values
from porter.contract.model.contract import ScalarArg
from porter.contract.model.expressions import render
from porter.contract.model.parser import parse
from porter.contract.model.syntax import Binary, Call, ExpressionError, Name, Node, Number
from porter.source.arithmetic_types import ArithmeticType, Kind, arithmetic
from porter.source.program import CType, Function, Launch, Param
from porter.source.qualified import unqualified

# Parameters that modify a loop rather than give it an extent go by these names wherever they occur; any value is legal.
_CUSTOMARY = (
    (r"stride", "2"),
    (r"pad(?!ded)", "1"),
    (r"dilation|groups?$", "1"),
    (r"(?:^|_|[a-z])radius|^rad_?[xyzwhd]?$|half_?(?:width|window|size|kernel)", "1"),
    (r"kernel_?(size|h|w|d)|ksize|window|pool_?size|filter_?(size|width)", "3"),
)
# How many windows fit, `(height + 2 * p - k) / s + 1`, with a dilation `2 * p - d * (k - 1) - 1`: parameters by their
# places there. Probed as sizes windows would fit into few planes, and large ones take as long as they have elements.
_WINDOWS = (
    (r"(?:-[A-Za-z_]\w*|\*\(\w+-1\)-1)\)/{name}\+1\b", "2"),
    (r"\+2\*{name}-[^;]*?\)/\w+\+1\b", "1"),
    (r"-{name}\)/\w+\+1\b|\*\({name}-1\)-1\)/\w+\+1\b", "3"),
    (r"-{name}\*\(\w+-1\)-1\)/\w+\+1\b", "1"),
)
_CARRIERS = re.compile(r"(?:(?:std|c10|at|torch)::)?(?:optional|vector|ArrayRef) ?<(.+)>")
_SCALARS = re.compile(r"(?:(?:c10|at|torch)::)?Scalar")
_OF_DEVICE = r"SetDevice\((?:\(int\))?{0}\)"
# As how far a number is shifted an integer numbers a bit; another one than the lowest tells `1 << bit` from `bit`.
_SHIFT = r"(?<![<>])(?:<<|>>)(?![<>])\(*(?:\d+-)?{0}\b"  # no part of a launch
_BIT = "2"
_CAST = r"(?:static_cast<[^<>]*>)?\([^()]*\)(?:\w|\.)*"  # brackets that only group go, too
_OF_INDICES = re.compile(r"(?i:idx|index|size|offset|count)|^(?:int|Int)(?:eger)?(?![a-z])")
_BLOCK_EDGE = {1: "256", 2: "16", 3: "8"}
# What floats of unknown meaning are, in the order of the parameters: bounds that are equal leave nothing between them,
# and two equal factors could be exchanged unnoticed. Each lies within (0, 1), and in bfloat16.
_GUESSES = ("0.5", "0.75", "0.625", "0.875", "0.5625", "0.8125", "0.6875", "0.9375")


@dataclass(frozen=True, slots=True)
class Size:
    """A parameter that is an extent: a symbol."""

    name: str


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A parameter no number stands for."""

    type: str


@dataclass(frozen=True, slots=True)
class FunctionObject:
    """A parameter that is called, and whose type a template leaves to its callers."""

    type: str


def scalar(
    usage: Usage, function: Function, param: Param, arguments: tuple[str, ...] = (), guessed: int = 0
) -> ScalarArg | Size | FunctionObject | Unsupported:
    """Returns how a parameter that is not a buffer is passed to `function`, instantiated with `arguments`.

    `guessed` counts the earlier parameters that are floats of unknown meaning.

    An unknown type, or one that has no numbers, is unsupported: a guess would be a size of 0.
    """
    text = param.type.text
    open_ = {t.name for t in function.template if t.kind.startswith("typename")}
    if is_stream(param.type.base):
        return ScalarArg(param.name, text, "0")
    if param.type.base in open_ and _is_called(usage, function, param):
        return FunctionObject(param.type.base)
    base = _carried(usage, function, usage.types.of(param, function, arguments))
    default = _literal(param.default)
    if values := usage.enumerations.get(unqualified(base)):
        texts = tuple(map(str, values))
        return ScalarArg(param.name, text, texts[0], texts if len(texts) > 1 else ())
    number = arithmetic(base)
    if number is None:
        return Unsupported(text)
    if number.kind is Kind.BOOL:
        return ScalarArg(param.name, text, default or "1", _with(default or "1", ("1", "0")))
    if number.is_integer:
        return _integer(usage, function, param, number, default)
    value = default or ("1e-5" if "eps" in param.name.lower() else _GUESSES[guessed % len(_GUESSES)])
    special = special_values(usage, function, param.name)
    return ScalarArg(param.name, text, value, _with(value, special))


def is_guess(given: ScalarArg) -> bool:
    """Returns whether a value is one that floats of unknown meaning get."""
    return given.value in _GUESSES


def _carried(usage: Usage, function: Function, type_: CType) -> str:
    """Returns the type of the number behind a parameter: of an optional number, a list of one, torch's `Scalar`."""
    if type_.pointers:
        return type_.text
    if _SCALARS.fullmatch(type_.base):
        return "double"
    found = _CARRIERS.fullmatch(type_.base)
    return usage.types.followed(CType(found[1], found[1]), function.scope).base if found else type_.base


def numbers_elements(usage: Usage, function: Function, type_: str) -> bool:
    """Returns whether a type that a template leaves to its callers is one of indices.

    Its name may say so, or its values: the number of a thread is an index, while a value that is loaded at its place,
    or that a function computes from it, is none. C++ takes whole numbers alone in a subscript, if they are not cast
    there.
    """
    if _OF_INDICES.search(type_):
        return True
    body = written(usage.body(function).words)
    texts = re.findall(rf"\b{re.escape(type_)} ?\w+ ?[={{(]([^;]*)", body)
    called = rf"\b(?!{re.escape(type_)}\b|min\b|max\b|static_cast\b)[A-Za-z_]\w*\([^()]*\)"
    if any(re.search(r"\b(?:threadIdx|blockIdx)\.", _without(text, r"\[[^\[\]]*\]", called)) for text in texts):
        return True
    handed = "|".join(p.name for p in function.params if p.name and p.type.base == type_ and not p.type.pointers)
    subscripts = (_without(text, called, _CAST) for text in re.findall(r"\[([^\[\]]*)\]", body))
    return bool(handed) and any(re.search(rf"\b(?:{handed})\b", text) for text in subscripts)


def component_count(usage: Usage, function: Function, type_: str) -> int:
    """Returns how many components a type that a template leaves open has: 4 where `v.w` is used, 0 for a number."""
    words = [word.text for word in usage.body(function).words]
    named = {p.name for p in function.params if p.type.base == type_}
    for i, word in enumerate(words[:-1]):
        if word == type_:
            named.add(next((w for w in words[i + 1 : i + 4] if w not in ("const", "*", "&", "__restrict__")), ""))
    ends = (_end_of_subscripts(words, i + 1) for i, word in enumerate(words) if word in named)
    used = {words[end + 1] for end in ends if end + 1 < len(words) and words[end] in (".", "->")}
    return max((count for count, name in enumerate(COMPONENTS, 1) if name in used), default=0)


def _end_of_subscripts(words: Sequence[str], place: int) -> int:
    """Returns where `[i][j]` behind a name ends; `place` itself where there is none."""
    depth = 0
    for end in range(place, len(words)):
        depth += (words[end] == "[") - (words[end] == "]")
        if not depth and words[end] != "]":
            return end
    return len(words)


def _without(text: str, *patterns: str) -> str:
    """Returns `text` without all matches, from the inside out."""
    before = ""
    while before != text:
        before = text
        for pattern in patterns:
            text = re.sub(pattern, "", text)
    return text


def _is_called(usage: Usage, function: Function, param: Param) -> bool:
    """Returns whether `param` is called, has a member used, is wrapped (`Factory<F>(f)`), or passed on to such use."""
    type_ = re.escape(param.type.base)
    for alias, text in _texts(usage, function, param.name):
        name = re.escape(alias)
        wrapped = rf"(?<!_cast)<[^;(){{}}]*\b{type_}\b[^;(){{}}]*>\({name}\)"
        handed = rf"\(\)\([^;]*?(?<![\w.]){name}\b"
        if re.search(rf"(?<![\w.>]){name}(?:\(|\.|->)|{wrapped}|{handed}", text):
            return True
    return False


def is_number(type_: str) -> bool:
    """Returns whether values of a type are numbers: neither handles of streams nor objects of classes."""
    base = re.sub(r"\bconst\b|&", "", type_).strip()
    carried = _CARRIERS.fullmatch(base)
    return arithmetic(carried[1].strip() if carried else base) is not None or bool(_SCALARS.fullmatch(base))


def _literal(text: str) -> str:
    """Returns a default argument as a number; empty when it is not a number."""
    try:
        node = parse(text)
    except ExpressionError:
        return ""
    match node:
        case Number() | Call(Name(), ()):
            return render(node) if isinstance(node, Number) else ""
        case _:
            return render(node) if not any(isinstance(n, Name) for n in walk(node)) else ""


def _integer(usage: Usage, function: Function, param: Param, number: ArithmeticType, default: str) -> ScalarArg | Size:
    name, type_ = param.name, param.type.text
    if default:
        return ScalarArg(name, type_, default, _with(default, choices(usage, function, name, number)))
    if any(re.search(rf"\.(?:size|stride|sum|argmax)\({re.escape(n)}\)", t) for n, t in _texts(usage, function, name)):
        return ScalarArg(name, type_, str(CHOSEN_AXIS))
    if any(re.search(_OF_DEVICE.format(re.escape(alias)), text) for alias, text in _texts(usage, function, name)):
        return ScalarArg(name, type_, "0")
    edge = _block_edge(usage, function, name)
    if edge:
        return ScalarArg(name, type_, edge)
    value = _customary(usage, function, name)
    is_stride = bool(value) and "stride" in name.lower()
    if value and (divides_a_size(usage, function, name) or (is_stride and is_row_stride(usage, function, name))):
        return Size(name)
    if value:
        return ScalarArg(name, type_, value)
    if _numbers_a_bit(usage, function, name):
        return ScalarArg(name, type_, _BIT)
    modes = choices(usage, function, name, number)
    if modes:
        return ScalarArg(name, type_, modes[0], modes)
    return ScalarArg(name, type_, "0") if is_marker(usage, function, name) else Size(name)


def _numbers_a_bit(usage: Usage, function: Function, name: str) -> bool:
    """Returns whether an integer only shifts something, in device code or everywhere, alone or with a constant.

    Host code prints its sizes with the same operator.
    """
    shifts = 0
    for inner, alias in passed_on(usage, function, name):
        body, escaped = usage.body(inner), re.escape(alias)
        handed = sum(1 for _, args in body.calls for a in args if is_name(a, alias))
        found = len(re.findall(_SHIFT.format(escaped), written(body.words)))
        if found and "host" not in inner.space:
            return True
        if len(re.findall(rf"(?<![\w.]){escaped}\b", written(body.words))) > found + handed:
            return False
        shifts += found
    return shifts > 0


def _customary(usage: Usage, function: Function, name: str) -> str:
    """Returns the usual value of a parameter of a loop by its name, or of a window by its place; else empty."""
    by_name = (value for pattern, value in _CUSTOMARY if re.search(pattern, name.lower()))
    texts = list(_texts(usage, function, name))
    by_place = (
        value
        for pattern, value in _WINDOWS
        if any(re.search(pattern.format(name=rf"\b{re.escape(alias)}"), text) for alias, text in texts)
    )
    return next(chain(by_name, by_place), "")


def _with(value: str, others: tuple[str, ...]) -> tuple[str, ...]:
    """Returns `value` and the others it may have; none where there are no others."""
    return tuple(dict.fromkeys((value, *others))) if others else ()


def _texts(usage: Usage, function: Function, name: str) -> Iterator[tuple[str, str]]:
    for inner, alias in passed_on(usage, function, name):
        yield alias, written(usage.body(inner).words)


def launches_in(usage: Usage, function: Function) -> Iterator[Launch]:
    """Returns the launches written in `function`."""
    start, end = function.body.start, function.body.end
    return (x for x in usage.program.launches if start <= x.span.start < end)


def _block_edge(usage: Usage, function: Function, name: str) -> str:
    """Returns a value for a parameter that is an edge of a block and divides the grid; empty when it is not."""
    for inner, alias in passed_on(usage, function, name):
        scope = Scope(usage, inner)
        for launch in launches_in(usage, inner):
            edges, grid = dimensions(scope, launch.block.text), dimensions(scope, launch.grid.text)
            divisors = [n.right for g in grid for n in walk(g) if isinstance(n, Binary) and n.operator == "/"]
            divisors += [
                n.arguments[1] for g in grid for n in walk(g) if isinstance(n, Call) and n.callee == Name("cdiv")
            ]
            handed = any(is_name(quietly(a.text), alias) for a in launch.args)
            bare = [e for e in edges if e == Name(alias)]
            if bare and (any(Name(alias) in walk(d) for d in divisors) or not handed):
                return _BLOCK_EDGE[sum(1 for e in edges if e != Number(1)) or 1]
    return ""


def dimensions(scope: Scope, text: str) -> tuple[Node, ...]:
    """Returns the one to three expressions of a grid or block."""
    node = quietly(text)
    if node is None:
        return ()
    resolved = scope.resolve(node)
    if isinstance(resolved, Call) and resolved.callee == Name("dim3"):
        return resolved.arguments
    return (resolved,)
