"""Packages of porter import each other in one direction: whoever reads one need not read those above it."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _modules() -> dict[str, Path]:
    """Returns the modules of porter by name; a package is named as its `__init__`."""
    found = {}
    for path in (ROOT / "porter").rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _imported(tree: ast.AST) -> Iterator[str]:
    """Returns what a module imports when it runs, also within functions, but not for annotations alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        yield from _imported(node)


def _package(name: str, modules: dict[str, Path]) -> str | None:
    """Returns the package of what is imported as `name`; a module at the top stands for itself."""
    module = name if name in modules else name.rpartition(".")[0]
    if module not in modules:
        return None
    if modules[module].name == "__init__.py" or module.count(".") == 1:
        return module
    return module.rpartition(".")[0]


def _imports() -> dict[str, dict[str, str]]:
    """Returns for each package those it imports, with a module that does so."""
    modules = _modules()
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for name, path in modules.items():
        package = _package(name, modules)
        for target in {_package(imported, modules) for imported in _imported(ast.parse(path.read_text("utf-8")))}:
            if package and target and target not in {package, "porter"}:
                found[package].setdefault(target, name)
    return found


def _cycle(imports: dict[str, dict[str, str]]) -> list[str]:
    """Returns the packages that are left when those that import no other of them are taken away, again and again."""
    left = {*imports, *(target for targets in imports.values() for target in targets)}
    while settled := {package for package in left if not left & imports.get(package, {}).keys()}:
        left -= settled
    return sorted(left)


def test_packages_do_not_import_each_other_in_a_circle():
    imports = _imports()
    left = _cycle(imports)
    assert not left, [f"{imports[a][b]} imports {b}" for a in left for b in imports[a] if b in left]


def test_a_circle_is_seen():
    assert _cycle({"a": {"b": "a.one"}, "b": {"c": "b.one"}, "c": {"a": "c.one"}, "d": {"a": "d.one"}}) == list("abcd")
