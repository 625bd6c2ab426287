"""Indexing of tensors as PyTorch's C++ writes it, `x.index({Slice(0, n), mask, "..."})`, in Python."""

from __future__ import annotations

from porter.source.qualified import unqualified
from porter_triton.host.codes import ATOM, NONE, Code, Kind
from porter_triton.host.scope import Context
from porter_triton.refusal import Refusal

_NAMES = {"None": NONE, "Ellipsis": Code("...", Kind.OTHER)}
_VIEWED_ANEW = frozenset({"transpose_", "squeeze_", "unsqueeze_", "t_"})  # they leave the elements where they are


def named(name: str) -> Code | None:
    """Translates `torch::indexing::None` and `Ellipsis`; None for any other name."""
    return _NAMES.get(unqualified(name)) if "indexing::" in name or name in _NAMES else None


def range_of(arguments: tuple[Code, ...]) -> Code:
    """Translates `Slice(start, stop, step)`."""
    texts = ["" if argument.kind is Kind.NOTHING else argument.text for argument in arguments]
    return Code(_range(*texts), Kind.OTHER)


def method(cx: Context, owner: Code, name: str, arguments: tuple[Code, ...], line: int) -> Code | None:
    """Translates `x.index(...)`, `x.index_put_(..., values)`, `x.slice(dim, start, end, step)`, `x.transpose_(a, b)`.

    Returns None for any other method.
    """
    held = owner.within(ATOM)
    if name == "index" and len(arguments) == 1:
        return Code(f"{held}[{_indices(arguments[0], line)}]", Kind.TENSOR)
    if name == "index_put_" and len(arguments) == 2:
        cx.emit(f"{held}[{_indices(arguments[0], line)}] = {arguments[1].text}")
        return owner
    handed = {
        parameter.name for parameter in cx.function.parameters
    }  # whose caller sees the change, as Python's does not
    if name in _VIEWED_ANEW and owner.text.isidentifier() and owner.text not in handed:
        inside = ", ".join(argument.text for argument in arguments)
        cx.changed(owner.text)
        cx.emit(f"{owner.text} = {owner.text}.{name[:-1]}({inside})", owner.text)
        return owner
    if name == "slice":
        return Code(f"{held}[{_slice(arguments, line)}]", Kind.TENSOR)
    return None


def _indices(given: Code, line: int) -> str:
    """Returns the indices in a list, one for each axis."""
    if given.kind is not Kind.SEQUENCE or not given.parts:
        raise Refusal(line, "which axes are indexed is not known")
    return ", ".join("..." if part.text == '"..."' else part.text for part in given.parts)


def _slice(arguments: tuple[Code, ...], line: int) -> str:
    axis = arguments[0].constant if arguments else 0
    if not isinstance(axis, int):
        raise Refusal(line, "the axis of a slice is not known")
    whole = ", ".join([":"] * axis if axis >= 0 else ["..."])
    behind = [":"] * (-axis - 1) if axis < 0 else []
    part = range_of(arguments[1:]).text
    return ", ".join([*([whole] if whole else []), part, *behind])


def _range(start: str = "", stop: str = "", step: str = "") -> str:
    plain = all(not text or text.isidentifier() or text.lstrip("-").isdecimal() for text in (start, stop))
    text = f"{start}:{stop}" if plain else f"{start} : {stop}".strip()
    return f"{text}:{step}" if step not in ("", "1") else text
