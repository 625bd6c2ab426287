"""Kernels rebuilt from their texts: Triton's functions that hold nothing but what was checked."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import triton
import triton.language as tl

from porter.launch_plan.steps import ElementType, KernelName, Scalar
from porter.python_tree import module_tree
from porter_triton.kernel_rules import KernelRefusedError, check
from porter_triton.language import BUILTINS, member
from porter_triton.records import Binding, Builtin, CompileTime, Foreign, KernelText, LanguageName, Values

# Triton rewrites a text before it interprets it, and what it adds imports; no checked text can name this.
_OF_TRITON = ("__import__", "__build_class__")


class KernelFunctions:
    """The kernels of a plan by their keys; their files lie in `folder`, each line where it was."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._texts: dict[str, KernelText] = {}
        self._functions: dict[str, Any] = {}
        self._keys: dict[int, str] = {}

    def add(self, texts: Iterable[KernelText]) -> None:
        """Takes these texts, each once."""
        for text in texts:
            self._texts.setdefault(text.key, text)

    def text(self, key: str) -> KernelText:
        """Returns the text of a kernel."""
        return self._texts[key]

    def may_wait(self) -> bool:
        """Returns whether a text of these has a loop that ends when something happens elsewhere."""
        return any(map(_has_while, self._texts.values()))

    def key_of(self, function: object) -> str:
        """Returns the key of a rebuilt function; raises `KeyError` for any other."""
        return self._keys[id(function)]

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - Triton has no types
        """Returns the function itself. Raises `KernelRefusedError` for a text that is not allowed."""
        if key not in self._functions:
            self._build(self._texts[key])
        return self._functions[key]

    def _build(self, kernel: KernelText) -> None:
        check(kernel)
        path = self._folder / kernel.key / Path(kernel.file).name
        path.parent.mkdir(parents=True, exist_ok=True)
        decorator = "@_jit(noinline=True)" if kernel.noinline else "@_jit"
        text = "\n" * max(0, kernel.line - 2) + f"{decorator}\n{kernel.text}"
        path.write_text(text, "utf-8")
        scope: dict[str, object] = {
            "__name__": kernel.key, "__file__": str(path), "__builtins__": _builtins(), "_jit": triton.jit,
        }  # fmt: skip
        scope |= {name: self._value(binding, kernel) for name, binding in kernel.bindings}
        exec(compile(text, str(path), "exec", dont_inherit=True), scope)
        self._functions[kernel.key] = built = scope[kernel.name]
        self._keys[id(built)] = kernel.key

    def _value(self, binding: Binding, kernel: KernelText) -> object:
        match binding:
            case Scalar(value):
                return value
            case ElementType(name):
                return tl.dtype(name)
            case KernelName(key):
                if key not in self._texts:
                    raise KernelRefusedError(f"the kernel '{kernel.name}' uses one that was not sent", kernel)
                return self[key]
            case LanguageName(path):
                return member(path)
            case Builtin(name):
                return getattr(builtins, name)
            case CompileTime(value):
                return tl.constexpr(self._value(value, kernel))
            case Values(items):
                return tuple(self._value(item, kernel) for item in items)
            case Foreign(what):  # which nothing in the text uses, or it would have been refused
                return what


@cache
def _has_while(kernel: KernelText) -> bool:
    return any(isinstance(node, ast.While) for node in ast.walk(module_tree(kernel.text)))


def _builtins() -> Mapping[str, object]:
    return {name: getattr(builtins, name) for name in (*BUILTINS, *_OF_TRITON)}
