"""Checks as exceptions."""

from __future__ import annotations

from porter.syntax.nodes import Braces, Call, Expression, Literal, Name, TypeName
from porter_triton.host import expressions
from porter_triton.host.arithmetic import binary, negation
from porter_triton.host.codes import SUM, Code, Kind, string
from porter_triton.host.scope import Context, plain
from porter_triton.refusal import Refusal

# What `TORCH_CHECK_EQ(a, b)` and its like compare with, by what stands behind the last `CHECK_`.
COMPARING = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}


def check(cx: Context, node: Call, name: str) -> None:
    """Translates `TORCH_CHECK(condition, message...)`; `assert` stays one."""
    if plain(name).startswith("check"):
        _alike(cx, node, name)
        return
    first, *rest = node.arguments
    condition = expressions.expression(cx, first)
    if (operator := COMPARING.get(name.rpartition("CHECK_")[2])) and rest:
        condition = binary(operator, condition, expressions.expression(cx, rest.pop(0)))
    if condition.constant:
        return
    cx.dtypes.hold(condition.text)
    if name == "assert":
        cx.emit(f"assert {condition.text}")
        return
    text = joined(cx, rest) if rest else string(f"expected {condition.text}").text
    failing = negation(condition)
    if condition.constant is not None:
        cx.emit(f"raise RuntimeError({text})")
        return
    with cx.suite(f"if {failing.text}:"):
        cx.emit(f"raise RuntimeError({text})")


def _alike(cx: Context, node: Call, name: str) -> None:
    """Translates `at::checkAllSameType("f", {a, b})` and the like: tensors have one dtype, or lie on one device."""
    items = node.arguments[1].items if isinstance(node.arguments[1], Braces) else node.arguments[1:]
    texts = [expressions.expression(cx, item).text for item in items]
    asked = "device" if name.endswith("GPU") else "dtype"
    same = " == ".join(f"{text}.{asked}" for text in dict.fromkeys(texts))
    if len(set(texts)) > 1:
        with cx.suite(f"if not ({same}):"):
            cx.emit(f'raise RuntimeError("expected one {asked}: {", ".join(texts)}")')


def message(cx: Context, value: Expression | None) -> str:
    """Returns what an exception thrown says: the string it is made with."""
    if value is None:
        return '"failed"'
    if isinstance(value, Call) and isinstance(value.callee, Name):
        return joined(cx, list(value.arguments)) if value.arguments else '"failed"'
    if isinstance(value, Literal | Name):
        code = expressions.expression(cx, value)
        return code.text if code.kind is Kind.STRING else '"failed"'
    return joined(cx, [value])


def joined(cx: Context, parts: list[Expression]) -> str:
    """Joins the parts of a message to one string."""
    try:
        codes = [expressions.expression(cx, part) for part in parts]
    except Refusal:
        codes = [expressions.expression(cx, part) for part in parts if isinstance(part, Literal)]
    codes = [code for code in codes if code.text and not _is_written(code)]  # what is written into is not kept
    if not codes:
        return '"failed"'
    said = [code.said for code in codes if code.said is not None]
    if len(said) == len(codes):
        return string("".join(said)).text
    if any(code.said is None and {"'", "\\"} & {*code.text} for code in codes):  # which no f-string may hold
        return " + ".join(code.within(SUM) if code.kind is Kind.STRING else f"str({code.text})" for code in codes)
    return 'f"' + "".join(_embedded(code) for code in codes) + '"'


def _is_written(code: Code) -> bool:
    """Returns whether a part of a message is an array of characters, which something was written to."""
    inner = code.ctype.arguments[0] if code.kind is Kind.SEQUENCE and code.ctype and code.ctype.arguments else None
    return isinstance(inner, TypeName) and inner.name == "char" and not inner.pointers


def _embedded(code: Code) -> str:
    """Returns a part of an f-string."""
    if code.said is not None:
        text = code.said.replace("{", "{{").replace("}", "}}")
        return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
    return "{" + code.text.replace('"', "'") + "}"
