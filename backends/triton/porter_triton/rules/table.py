"""The rules: a code, and what in a module's host code breaks it. The reasons are in the catalogue (`findings.toml`)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import AsyncGeneratorType, CodeType, CoroutineType, FrameType, GeneratorType, TracebackType

from porter.rules.operators import METHODS, library_operator
from porter_triton.rules.host_names import BUILTINS, FOR_KERNELS, NAMES, PLAIN_DUNDERS, SETTINGS
from porter_triton.rules.module import Module

_ANY = "*"
_OF_CLASSES = frozenset(("__name__", "__qualname__"))
_BY_NAME = frozenset(("getattr", "setattr", "delattr", "hasattr"))
# What frames, code and generators have beside their methods: the way from a value to what runs around it.
_INTROSPECTION = frozenset(
    name
    for kind in (FrameType, CodeType, GeneratorType, CoroutineType, AsyncGeneratorType, TracebackType)
    for name in dir(kind)
    if not name.startswith("_") and name.partition("_")[0] in ("f", "co", "gi", "cr", "ag", "tb")
)


@dataclass(frozen=True, slots=True)
class Broken:
    """A place at which a rule is broken, and the text there."""

    code: str
    node: ast.AST
    message: str


@dataclass(frozen=True, slots=True)
class Asked:
    """The input of a rule: a module, the operators that the original's host code uses, the module's other files."""

    module: Module
    permitted: frozenset[str]
    siblings: frozenset[str] = frozenset()


def _library(asked: Asked) -> Iterator[Broken]:
    """Yields an operator of the library in a function that an entry reaches."""
    for function in asked.module.reached:
        if function.name == "__init__":  # what it makes are modules that hold parameters; to call one is work
            continue
        given = {argument.arg for argument in (*function.args.posonlyargs, *function.args.args)}
        for node in asked.module.within(function):
            name = _operator(node, given, asked.module)
            if name and name not in asked.permitted:
                yield Broken("PORT1901", node, f"the library's {name} does the work in '{function.name}'")


def _operator(node: ast.AST, given: set[str], module: Module) -> str:
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.MatMult):
        return "matmul"
    if not isinstance(node, ast.Call):
        return ""
    if found := library_operator(module.dotted(node.func)):
        return found
    called = node.func
    of_argument = isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id in given
    return called.attr if of_argument and isinstance(called, ast.Attribute) and called.attr in METHODS else ""


def _not_of_launchers(asked: Asked) -> Iterator[Broken]:
    """Yields names of other modules, attributes and builtins that host code for launching kernels does not need."""
    module = asked.module
    inner = {id(node.value) for node in module.host if isinstance(node, ast.Attribute)}
    inner |= {id(node.args[0]) for node in module.host if isinstance(node, ast.Call) and _names_attribute(node)}
    aliases = {id(node.value) for node in module.host if isinstance(node, ast.Assign) and _is_name(node.targets)}
    for node in module.host:
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            if not (node.module or "").startswith(FOR_KERNELS):
                yield Broken("PORT1902", node, f"it imports everything of {node.module}")
        elif isinstance(node, (ast.Attribute, ast.Name)) and id(node) not in inner and isinstance(node.ctx, ast.Load):
            for message in _dotted(node, asked, is_alias=id(node) in aliases):
                yield Broken("PORT1902", node, message)
        elif isinstance(node, ast.Call):
            yield from _by_name(node, asked)


def _names_attribute(node: ast.Call) -> bool:
    """Returns True for `getattr(x, ...)` and its like."""
    return isinstance(node.func, ast.Name) and node.func.id in _BY_NAME and bool(node.args)


def _is_name(targets: list[ast.expr]) -> bool:
    return len(targets) == 1 and isinstance(targets[0], ast.Name)


def _dotted(node: ast.Attribute | ast.Name, asked: Asked, *, is_alias: bool) -> Iterator[str]:
    """Yields what in a chain of names such as `torch.cuda.current_stream` is not listed."""
    module = asked.module
    names: list[str] = []
    base: ast.expr = node
    while isinstance(base, ast.Attribute):
        names.insert(0, base.attr)
        base = base.value
    path = module.dotted(base) if isinstance(base, ast.Name) else ""
    if path:
        yield from _of_modules((*path.split("."), *names), asked, is_alias=is_alias)
        return
    if isinstance(base, ast.Name) and base.id not in module.bound and base.id not in BUILTINS:
        yield f"it uses {base.id}"
    for index, name in enumerate(names):
        after = names[index + 1] if index + 1 < len(names) else ""
        if name != "__class__" or after not in _OF_CLASSES:  # which leads to what is no tensor of torch's
            yield from _attribute(name, asked)


def _of_modules(parts: tuple[str, ...], asked: Asked, *, is_alias: bool) -> Iterator[str]:
    """Yields what of a path that begins with an imported module is not listed."""
    if parts[0] in asked.siblings:
        return
    path = ".".join(parts)
    for length in range(1, len(parts)):
        space, name = ".".join(parts[:length]), parts[length]
        if _is_module(f"{space}.{name}"):
            continue
        listed = NAMES.get(space, frozenset())
        if name not in listed and _ANY not in listed:
            yield f"it uses {'.'.join(parts[: length + 1])}"
            return
        for attribute in parts[length + 1 :]:
            yield from _attribute(attribute, asked)
        return
    if not _is_module(path):
        yield f"it uses {path}"
    elif not is_alias:
        yield f"it hands the module {path} around"


def _is_module(path: str) -> bool:
    return path in NAMES or any(module.startswith(f"{path}.") for module in NAMES)


def _attribute(name: str, asked: Asked) -> Iterator[str]:
    """Yields an attribute of a value: private ones are the module's own, and nothing leads to what runs around."""
    if name in PLAIN_DUNDERS:
        return
    if name in _INTROSPECTION or (name.startswith("__") and name.endswith("__")):
        yield f"it uses .{name}"
    elif name.startswith("_") and name not in asked.module.own_attributes:
        yield f"it uses .{name}, which is private"


def _where_it_lies(asked: Asked) -> Iterator[Broken]:
    """Yields questions where the file lies, which is elsewhere while it is judged, but to find what lies beside it."""
    module = asked.module
    searching = {
        id(inner) for node in module.host for part in _searching(node, module) for inner in module.within(part)
    }
    given = [n for n in module.host if isinstance(n, ast.Assign) and _is_name(n.targets) and _tells_where(n, module)]
    named = {target.id for node in given for target in node.targets if isinstance(target, ast.Name)}
    searching |= {id(inner) for node in given for inner in module.within(node)}
    for node in module.host:
        if id(node) in searching or not isinstance(getattr(node, "ctx", None), ast.Load):
            continue
        if _is_place(node, module) or (isinstance(node, ast.Name) and node.id in named):
            yield Broken("PORT1902", node, "it asks where the file lies, which is elsewhere while it is judged")


def _searching(node: ast.AST, module: Module) -> Iterator[ast.AST]:
    """Yields what tells Python where else to look for modules: `sys.path.append(here)`, `if here not in sys.path:`."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        if isinstance(called, ast.Attribute) and module.dotted(called.value) == "sys.path":
            yield node
    if isinstance(node, ast.If) and isinstance(node.test, ast.Compare):
        test = node.test
        if isinstance(test.ops[0], (ast.In, ast.NotIn)) and module.dotted(test.comparators[-1]) == "sys.path":
            yield test


def _tells_where(node: ast.AST, module: Module) -> bool:
    return any(_is_place(inner, module) for inner in module.within(node))


def _is_place(node: ast.AST, module: Module) -> bool:
    if isinstance(node, ast.Name) and node.id == "__file__":
        return True
    return isinstance(node, (ast.Attribute, ast.Name)) and module.dotted(node) == "sys.path"


def _by_name(node: ast.Call, asked: Asked) -> Iterator[Broken]:
    """Yields uses of `getattr` and the like: a constant name counts as one that is written out."""
    if not isinstance(node.func, ast.Name) or node.func.id not in _BY_NAME or node.func.id in asked.module.bound:
        return
    named = node.args[1] if len(node.args) > 1 else None
    if not isinstance(named, ast.Constant) or not isinstance(named.value, str) or not named.value.isidentifier():
        yield Broken("PORT1902", node, f"it calls {node.func.id} with a name that is made while it runs")
        return
    written = ast.Attribute(node.args[0], named.value, ast.Load())
    for message in _dotted(written, asked, is_alias=False):
        yield Broken("PORT1902", node, message)


def _replaced(asked: Asked) -> Iterator[Broken]:
    """Attributes that are assigned to of anything but the module's own objects."""
    for node in asked.module.host:
        for target in _assigned(node):
            dotted = asked.module.dotted(target)
            if dotted and not dotted.startswith(SETTINGS):
                yield Broken("PORT1907", node, f"it replaces {dotted}")
            elif not dotted and not _is_own(target.value, asked.module):
                yield Broken("PORT1907", node, f"it replaces .{target.attr} of what may not be its own")


def _assigned(node: ast.AST) -> Iterator[ast.Attribute]:
    """Yields the attribute that a node stores to or deletes, or what `setattr` is given."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del)):
        yield node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr"):
        named = node.args[1] if len(node.args) > 1 else None
        name = str(named.value) if isinstance(named, ast.Constant) else "?"
        if node.args:
            yield ast.Attribute(node.args[0], name, ast.Store())


def _is_own(base: ast.expr, module: Module) -> bool:
    """Returns True for an object that the module itself made, as far as its text tells."""
    while isinstance(base, (ast.Attribute, ast.Subscript)):
        base = base.value
    return isinstance(base, ast.Name) and base.id in module.own_objects


RULES: tuple[Callable[[Asked], Iterator[Broken]], ...] = (_library, _not_of_launchers, _where_it_lies, _replaced)
