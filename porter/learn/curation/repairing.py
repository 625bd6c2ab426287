"""The next guesses, from how far a trial came and from what its error says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from porter.learn.curation.guessing import BATCH, CHANNELS, SHAPES, all_of, optional_parts, shapes_for
from porter.learn.curation.records import Call, Contents, Given, Reached, Report, Setting, Signature

# What else an argument may be that a constructor was given wrongly.
_OTHERS: tuple[str, ...] = (
    str(CHANNELS), "torch.nn.ReLU", "torch.nn.ReLU()", "torch.nn.functional.relu", f"[{CHANNELS}, {CHANNELS}]",
    f"({CHANNELS}, {CHANNELS}, {CHANNELS}, {CHANNELS})", "(16, 16)", "2", "1", "3", "None", "False", "'relu'", "'mean'",
    "torch.nn.LayerNorm", "torch.nn.BatchNorm2d", f"torch.nn.Linear({CHANNELS}, {CHANNELS})",
    f"torch.nn.Conv2d({CHANNELS}, {CHANNELS}, 1)", "[3, 5]", "0.5", f"torch.ones({CHANNELS})",
)  # fmt: skip
_NUMBER = r"(\d+)"
Repair = Callable[[Call, "re.Match[str]"], Iterator[Call]]


def repairs(call: Call, report: Report) -> Iterator[Call]:
    """Yields what the error of a trial asks for, the most promising first."""
    for pattern, repair in _REPAIRS:
        if found := re.search(pattern, report.error):
            yield from repair(call, found)
    if report.reached is Reached.BUILT:
        for shape, below in shapes_for(report.layers):
            yield _as_indices(call, shape, below) if below else all_of(shape, call)


def alternatives(call: Call, report: Report, signature: Signature) -> Iterator[Call]:
    """Yields what else could be tried after `call` came as far as `report` says."""
    if report.reached is not Reached.IMPORTED:
        for name in optional_parts(signature):
            yield _with(call, name, Given(name, Contents.LITERAL, text="None"))
        for shape in SHAPES:
            yield all_of(shape, call)
    if report.reached in (Reached.IMPORTED, Reached.BUILT):
        yield from _rebuilt(call, report, signature)


def _rebuilt(call: Call, report: Report, signature: Signature) -> Iterator[Call]:
    """Yields other arguments of the constructor: of those first that the line names which raised."""
    if found := re.search(r"unexpected keyword argument '(\w+)'", report.error):
        yield Call(tuple(one for one in call.settings if one.name != found[1]), call.inputs)
    named = [one for one in call.settings if re.search(rf"\b{re.escape(one.name)}\b", report.line)]
    preferred = _preferred(report.error)
    for one in named or call.settings:
        for text in dict.fromkeys((*preferred, *_OTHERS)):
            if text != one.text:
                yield _set(call, one.name, text)
    known = {one.name for one in call.settings}
    for parameter in signature.constructor:
        if parameter.name not in known and re.search(rf"\b{re.escape(parameter.name)}\b", report.line):
            for text in preferred or ("2", str(CHANNELS)):
                yield Call((*call.settings, Setting(parameter.name, text)), call.inputs)


def _preferred(error: str) -> tuple[str, ...]:
    """Returns what an error asks for in place of an argument."""
    for pattern, texts in _ASKED:
        if re.search(pattern, error):
            return texts
    return ()


_ASKED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"'int' object is not (iterable|subscriptable)|has no len|object of type 'int'|cannot unpack non-iterable",
     (f"[{CHANNELS}, {CHANNELS}]", "(16, 16)", f"[{CHANNELS}, {CHANNELS}, {CHANNELS}, {CHANNELS}]")),
    (r"'(int|float|str|bool|NoneType)' object is not callable",
     ("torch.nn.ReLU", "torch.nn.LayerNorm", "torch.nn.BatchNorm2d", "torch.nn.functional.relu")),
    (r"not a Module subclass|is not a Module", (f"torch.nn.Linear({CHANNELS}, {CHANNELS})", "torch.nn.ReLU()")),
    (r"list|tuple", ("2", str(CHANNELS))),
    (r"KeyError|NotImplementedError|[Uu]nknown|[Uu]nsupported|[Ii]nvalid",
     ("'relu'", "'gelu'", "'mean'", "'bn'", "'batch'", "'layer'", "'add'", "None")),
    (r"divisible|divide|multiple", ("4", "8", "16", "64", "1")),
)  # fmt: skip


def _set(call: Call, name: str, text: str) -> Call:
    return Call(tuple(Setting(name, text) if one.name == name else one for one in call.settings), call.inputs)


def _with(call: Call, name: str, given: Given) -> Call:
    return Call(call.settings, tuple(given if one.name == name else one for one in call.inputs))


def _as_indices(call: Call, shape: tuple[int, ...], below: int) -> Call:
    inputs = (replace(one, contents=Contents.INDICES, shape=shape, below=below) if one.is_tensor else one
              for one in call.inputs)  # fmt: skip
    return Call(call.settings, tuple(inputs))


def _axis(call: Call, axis: int, before: int, after: int) -> Iterator[Call]:
    """Yields `call` with `after` on an axis on which it had `before`: in all inputs, then in each alone."""
    for whole in (True, False):
        for place in range(1 if whole else len(call.inputs)):
            inputs = tuple(
                _resized(one, axis, before, after) if whole or at == place else one
                for at, one in enumerate(call.inputs)
            )
            if inputs != call.inputs:
                yield Call(call.settings, inputs)


def _resized(given: Given, axis: int, before: int, after: int) -> Given:
    place = axis + len(given.shape) if axis < 0 else axis
    if not given.is_tensor or not 0 <= place < len(given.shape) or given.shape[place] != before:
        return given
    return replace(given, shape=(*given.shape[:place], after, *given.shape[place + 1 :]))


def _product(call: Call, found: re.Match[str]) -> Iterator[Call]:
    yield from _axis(call, -1, int(found[1]), int(found[2]))


def _channels(call: Call, found: re.Match[str]) -> Iterator[Call]:
    wanted, given = int(found[1]), int(found[2])
    for axis in (1, 0, -1, 2):
        yield from _axis(call, axis, given, wanted)


def _last(call: Call, found: re.Match[str]) -> Iterator[Call]:
    for one in call.inputs:
        if one.shape:
            yield from _axis(call, -1, one.shape[-1], int(found[1]))


def _elements(call: Call, found: re.Match[str]) -> Iterator[Call]:
    for before, after in ((int(found[2]), int(found[1])), (int(found[1]), int(found[2]))):
        for axis in (1, -1):
            yield from _axis(call, axis, before, after)


def _matching(call: Call, found: re.Match[str]) -> Iterator[Call]:
    one, other = int(found[1]), int(found[2])
    for before, after in ((one, other), (other, one)):
        for axis in range(4):
            yield from _axis(call, axis, before, after)
        for setting in call.settings:
            if setting.text == str(before):
                yield _set(call, setting.name, str(after))


def _of_rank(call: Call, found: re.Match[str]) -> Iterator[Call]:
    for shape in SHAPES:
        if len(shape) == int(found[1]):
            yield all_of(shape, call)


def _indices(call: Call, _: re.Match[str]) -> Iterator[Call]:
    for place, one in enumerate(call.inputs):
        for shape in ((BATCH, 64), one.shape, one.shape[:1]):
            if one.contents is Contents.NORMAL:
                given = replace(one, contents=Contents.INDICES, shape=shape, below=10)
                yield Call(call.settings, (*call.inputs[:place], given, *call.inputs[place + 1 :]))


def _several(call: Call, _: re.Match[str]) -> Iterator[Call]:
    for place, one in enumerate(call.inputs):
        if one.contents is Contents.NORMAL:
            given = replace(one, contents=Contents.SEVERAL)
            yield Call(call.settings, (*call.inputs[:place], given, *call.inputs[place + 1 :]))


def _image(call: Call, found: re.Match[str]) -> Iterator[Call]:
    """Yields `call` with another size in place of one, on all axes but the first."""
    before, after = int(found[1]), int(found[2])
    for first, second in ((before, after), (after, before)):
        inputs = tuple(_replaced(one, first, second) for one in call.inputs)
        if inputs != call.inputs:
            yield Call(call.settings, inputs)


def _replaced(given: Given, before: int, after: int) -> Given:
    shape = tuple(after if size == before and place else size for place, size in enumerate(given.shape))
    return replace(given, shape=shape)


_REPAIRS: tuple[tuple[str, Repair], ...] = (
    (rf"shapes cannot be multiplied \(\d+x{_NUMBER} and {_NUMBER}x\d+\)", _product),
    (rf"to have {_NUMBER} channels, but got {_NUMBER} channels", _channels),
    (rf"normalized_shape=\[{_NUMBER}\]", _last),
    (rf"should contain {_NUMBER} elements not {_NUMBER}", _elements),
    (rf"size of tensor a \({_NUMBER}\) must match the size of tensor b \({_NUMBER}\)", _matching),
    (rf"Sizes of tensors must match .* Expected size {_NUMBER} but got size {_NUMBER}", _matching),
    (rf"[Ee]xpected (?:query|input).* {_NUMBER},? (?:but )?got {_NUMBER}", _matching),
    (rf"input\.size\(-1\) must be equal to input_size\. Expected {_NUMBER}, got {_NUMBER}", _elements),
    (rf"[Ee]xpected {_NUMBER}D", _of_rank),
    (rf"Expected \w+ \(unbatched\) or {_NUMBER}D", _of_rank),
    (rf"unpack \(expected {_NUMBER}", _of_rank),
    (rf"einsum.* {_NUMBER}", _of_rank),
    (r"scalar types?:? Long|must be long|expected.* Long|integral|IntTensor|one_hot|indices", _indices),
    (r"'Tensor' object is not iterable|list|tuple of Tensors", _several),
    (rf"{_NUMBER}\D{{1,40}}doesn't match\D{{1,40}}{_NUMBER}", _image),
)
