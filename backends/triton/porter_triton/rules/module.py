"""Reads a module for its rules: the meanings of names, its kernels, and the functions that an entry reaches."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from porter.python_tree import module_tree

Function = ast.FunctionDef | ast.AsyncFunctionDef
_JIT = ("triton.jit", "triton.runtime.jit.jit", "triton.experimental.gluon.jit")


@dataclass(frozen=True)
class Module:
    """The tree of one file, without the code below `if __name__ == "__main__"`, which never runs."""

    tree: ast.Module
    entries: frozenset[str] = frozenset()

    @classmethod
    def read(cls, text: str, entries: Iterable[str] = ()) -> Module:
        """Returns the module with this text; raises `SyntaxError`."""
        tree = module_tree(text)
        tree.body = [node for node in tree.body if not _is_main_guard(node)]
        return cls(tree, frozenset(entries))

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes that have parts, each before these, as they are written."""
        return self._walked[0]

    @cached_property
    def _walked(self) -> tuple[tuple[ast.AST, ...], dict[int, slice]]:
        """The nodes, and where among them each and its parts are: what asks for parts need not walk again."""
        nodes: list[ast.AST] = []
        parts: dict[int, slice] = {}
        pending: list[ast.AST | int] = [self.tree]
        while pending:
            node = pending.pop()
            if isinstance(node, int):
                parts[id(nodes[node])] = slice(node, len(nodes))
                continue
            pending.append(len(nodes))
            nodes.append(node)
            pending += reversed(list(_inner(node)))
        return tuple(nodes), parts

    def within(self, node: ast.AST) -> tuple[ast.AST, ...]:
        """Returns a node of the module and its parts; nothing for a node without parts, such as `pass`."""
        place = self._walked[1].get(id(node))
        return () if place is None else self.nodes[place]

    def _without(self, left_out: Iterable[ast.AST], among: Iterable[ast.AST]) -> tuple[ast.AST, ...]:
        """Returns the nodes `among` that are neither left out nor parts of a node that is."""
        gone = {id(inner) for node in left_out for inner in self.within(node)}
        return tuple(node for node in among if id(node) not in gone)

    @cached_property
    def names(self) -> dict[str, str]:
        """Returns the meanings of imported names: `F` for `torch.nn.functional`, and second names as well."""
        found: dict[str, str] = {}
        for node in self.nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    found[alias.asname or alias.name.split(".")[0]] = alias.name if alias.asname else _root(alias.name)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        for node in self.nodes:
            if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
                continue
            if meant := _dotted(node.value, found):
                found.setdefault(node.targets[0].id, meant)
        return found

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that the module itself gives to anything."""
        stored = (n.id for n in self.nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))
        arguments = (n.arg for n in self.nodes if isinstance(n, ast.arg))
        defined = (n.name for n in self.nodes if isinstance(n, (ast.FunctionDef, ast.ClassDef)))
        return frozenset((*stored, *arguments, *defined, *self.names))

    @cached_property
    def _entry_classes(self) -> tuple[ast.ClassDef, ...]:
        return tuple(node for node in self.nodes if isinstance(node, ast.ClassDef) and node.name in self.entries)

    @cached_property
    def host(self) -> tuple[ast.AST, ...]:
        """The nodes of `running` outside of kernels, which are checked where they are rebuilt."""
        parts = (part for k in self.kernels for part in (*k.body, k.args, k.returns) if part is not None)
        return self._without(parts, self.running)

    @cached_property
    def own_attributes(self) -> frozenset[str]:
        """The attributes that the module itself gives to anything."""
        stored = (n.attr for n in self.nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))
        named = (
            n.args[1].value
            for n in self.nodes
            if isinstance(n, ast.Call)
            and len(n.args) > 1
            and _called(n) == "setattr"
            and isinstance(n.args[1], ast.Constant)
        )
        in_classes = (n for c in self.nodes if isinstance(c, ast.ClassDef) for n in self.within(c))
        declared = (n.id for n in in_classes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        defined = (n.name for n in self.nodes if isinstance(n, (ast.FunctionDef, ast.ClassDef)))
        return frozenset((*stored, *(str(name) for name in named), *declared, *defined))

    @cached_property
    def own_objects(self) -> frozenset[str]:
        """The names of what the module itself defines or makes: functions, classes, objects with called methods."""
        defined = {n.name for n in self.nodes if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
        methods = (
            f for c in self.nodes if isinstance(c, ast.ClassDef) for f in c.body if isinstance(f, ast.FunctionDef)
        )
        first = {f.args.args[0].arg for f in methods if f.args.args}
        made = {
            target.id
            for n in self.nodes
            if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call)
            for target in n.targets
            if isinstance(target, ast.Name) and _called(n.value) not in ("type", "getattr", "next", "iter")
        }
        return frozenset(defined | first | made)

    def dotted(self, node: ast.AST) -> str:
        """Returns `torch.nn.functional.relu` for `F.relu`; empty unless it begins with an imported name."""
        return _dotted(node, self.names)

    @cached_property
    def kernels(self) -> tuple[Function, ...]:
        """The functions that Triton compiles."""
        functions = (node for node in self.nodes if isinstance(node, Function))
        return tuple(f for f in functions if any(self._is_jit(decorator) for decorator in f.decorator_list))

    def _is_jit(self, decorator: ast.expr) -> bool:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        return self.dotted(called) in _JIT

    @cached_property
    def running(self) -> tuple[ast.AST, ...]:
        """The nodes that may run: all but the bodies of functions that no entry reaches; all where it has no entry."""
        if not self.reached:
            return self.nodes
        active = {
            inner for f in (*self.reached, *self.kernels) for inner in self.within(f) if isinstance(inner, Function)
        }
        idle = [node for node in self.nodes if isinstance(node, Function) and node not in active]
        # Of decorators those of torch (`torch.compile`) do nothing until the function is called.
        parts = ((*f.body, *(d for d in f.decorator_list if self.dotted(d).startswith("torch."))) for f in idle)
        return self._without((node for part in parts for node in part), self.nodes)

    @cached_property
    def reached(self) -> tuple[Function, ...]:
        """The functions that may run, kernels left out: names that are mentioned count as called, and methods, too."""
        functions = [node for node in self.nodes if isinstance(node, Function) and node not in self.kernels]
        by_name: dict[str, list[Function]] = {}
        for function in functions:
            by_name.setdefault(function.name, []).append(function)
        methods = {f for c in self.nodes if isinstance(c, ast.ClassDef) for f in c.body if isinstance(f, Function)}
        if not any(f.name in self.entries for f in functions) and not self._entry_classes:
            return ()
        outside = set(_mentioned_outside(self.tree))
        pending = [f for f in functions if f.name in self.entries or f in methods or f.name in outside]
        seen: list[Function] = []
        while pending:
            current = pending.pop()
            seen.append(current)
            for name in _mentioned(self.within(current)):
                pending.extend(f for f in by_name.get(name, ()) if f not in seen and f not in pending)
        return tuple(seen)


def _inner(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the parts of a node that have parts of their own; `ast.iter_child_nodes` takes twice the time."""
    for name in node._fields:
        value = getattr(node, name, None)
        for inner in value if isinstance(value, list) else (value,):
            if isinstance(inner, ast.AST) and inner._fields:
                yield inner


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _root(name: str) -> str:
    return name.split(".", maxsplit=1)[0]


def _dotted(node: ast.AST, names: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    if isinstance(node, ast.Attribute):
        holder = _dotted(node.value, names)
        return f"{holder}.{node.attr}" if holder else ""
    return ""


def _mentioned_outside(tree: ast.Module) -> Iterator[str]:
    """Yields the names that code outside of functions mentions: tables, decorators, defaults, bodies of classes."""
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name):
            yield node.id
        if isinstance(node, Function):
            pending += [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]
        else:
            pending += ast.iter_child_nodes(node)


def _mentioned(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def _is_main_guard(node: ast.stmt) -> bool:
    """Returns whether it is `if __name__ == "__main__":` without an `else`."""
    if not isinstance(node, ast.If) or node.orelse or not isinstance(node.test, ast.Compare):
        return False
    sides = [node.test.left, *node.test.comparators]
    named = any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
    equal = len(node.test.ops) == 1 and isinstance(node.test.ops[0], ast.Eq)
    return named and equal and any(isinstance(s, ast.Constant) and s.value == "__main__" for s in sides)
