"""Statements without what changes no result: decorators that register or compile, and docstrings."""

from __future__ import annotations

import ast

from porter.python_tree import module_tree


def stripped(node: ast.stmt) -> ast.stmt:
    """Returns a copy of a statement without docstrings and without the decorators of its repository, which register,
    and those of compilers.
    """
    (copy,) = module_tree(ast.unparse(node)).body
    return _without_docstrings(_undecorated(copy))


def _undecorated(node: ast.stmt) -> ast.stmt:
    """Takes away decorators of functions of a repository, which register, and of compilers: both change no result."""
    for inner in ast.walk(node):
        if isinstance(inner, (ast.FunctionDef, ast.ClassDef)):
            inner.decorator_list = [one for one in inner.decorator_list if _is_kept(one)]
    return node


_KEPT = ("property", "staticmethod", "classmethod", "dataclass", "dataclasses.", "functools.", "torch.no_grad",
         "torch.inference_mode", "abstractmethod", "abc.", "contextmanager", "lru_cache", "cached_property", "wraps",
         "torch.autograd", "once_differentiable")  # fmt: skip


def _is_kept(decorator: ast.expr) -> bool:
    text = ast.unparse(decorator)
    return text.startswith(_KEPT) or text.endswith((".setter", ".getter"))


def _without_docstrings(node: ast.stmt) -> ast.stmt:
    for inner in ast.walk(node):
        if isinstance(inner, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(inner) is not None:
            inner.body = inner.body[1:] or [ast.Pass()]
    return node
