"""Kernels as values: `auto k = fast ? &a : &b;`, a function that returns one, a parameter that is given one.

In Python such a value is the name of the instance. A launch of it is one launch for each kernel that it may name, so
what a value may name is followed: through variables, results and arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from porter.syntax.nodes import Expression, Launch, Literal, Name, TypeName
from porter_triton.host.codes import Code, Kind
from porter_triton.host.instances import settled
from porter_triton.host.scope import Context, KernelName
from porter_triton.refusal import Refusal

FUNCTION = TypeName("()", pointers=1)  # the type of a pointer to any function


def named(cx: Context, node: Name) -> KernelName | None:
    """Returns the kernel that `kernel<T>` names, its template arguments settled; None for any other name."""
    meaning = cx.find(node.name)
    if isinstance(meaning, KernelName):
        return meaning
    if meaning is not None or not any(f.head.space == "global" for f in cx.unit.named(node.name)):
        return None
    return KernelName(Name(node.name, tuple(settled(cx, a, node.line) for a in node.template), node.line))


def value(cx: Context, node: Name) -> Code | None:
    """Returns the kernel that `node` names as a value; None for any other name."""
    held = named(cx, node)
    if held is None:
        return None
    return Code(_literal(held.node), Kind.KERNEL, ctype=FUNCTION, kernels=(held.node,))


def joined(*values: Code) -> tuple[Name, ...]:
    """Returns all kernels that one of `values` may name, each once."""
    by_text = {_literal(kernel): kernel for value in values for kernel in value.kernels}
    return tuple(by_text.values())


def assigned(cx: Context, name: str, given: Code, line: int) -> None:
    """Adds what `given` names to the kernels that `name` may hold; raises `Refusal` if it does not hold kernels."""
    held = cx.find(name)
    if given.kernels and not (isinstance(held, Code) and held.kind is Kind.KERNEL):
        raise Refusal(line, f"'{name}' is given a kernel, which porter does not follow")
    if isinstance(held, Code) and held.kind is Kind.KERNEL:
        scope = next(scope for scope in reversed(cx.scopes) if name in scope)
        scope[name] = replace(held, kernels=joined(held, given))


def launch_each(cx: Context, node: Launch, held: Code, launch: Callable[[Context, Launch], None]) -> None:
    """Emits the launch of what `held` names: one kernel by itself, several under a condition each."""
    if not held.kernels:
        raise Refusal(node.line, f"which kernel '{node.kernel.name}' is cannot be told")
    if len(held.kernels) == 1 and not held.nullable:
        launch(cx, replace(node, kernel=held.kernels[0]))
        return
    for number, kernel in enumerate(held.kernels):
        with cx.suite(f"{'elif' if number else 'if'} {held.text} == {_literal(kernel)}:"):
            launch(cx, replace(node, kernel=kernel))
    with cx.suite("else:"):
        cx.emit(f'raise RuntimeError(f"no kernel is called {{{held.text}}}")')


def _literal(kernel: Name) -> str:
    """Returns the text that names an instance: the source's own."""
    return f'"{kernel.name}<{", ".join(map(_spelled, kernel.template))}>"' if kernel.template else f'"{kernel.name}"'


def _spelled(argument: TypeName | Expression) -> str:
    match argument:
        case TypeName():
            inner = f"<{', '.join(map(_spelled, argument.arguments))}>" if argument.arguments else ""
            return f"{argument.name}{inner}{'*' * argument.pointers}"
        case Literal():
            return str(argument.value).lower() if isinstance(argument.value, bool) else str(argument.value)
        case Name():
            inner = f"<{', '.join(map(_spelled, argument.template))}>" if argument.template else ""
            return f"{argument.name}{inner}"
    raise Refusal(getattr(argument, "line", 0), "a kernel with such a template argument is not followed as a value")
