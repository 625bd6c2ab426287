"""The classes of modules in repositories, each as a file that stands alone, or with the reason why it does not."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from porter.learn.curation.alike import renamed_digest
from porter.learn.curation.closure import NeedsMoreError, classes, meaning, standing_alone
from porter.learn.curation.records import Provenance, ReadClass
from porter.learn.curation.sources import Repository, SourceFile

_MODULES = ("torch.nn.", "nn.")
_NO_MODULES = ("torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.nn.Parameter")
_DEEPEST = 12


def read_classes(repository: Repository) -> Iterator[ReadClass]:
    """Yields each class of `repository` that is a `torch.nn.Module`, in the order of the files."""
    for file in repository.files.values():
        for node in classes(file):
            if _is_module(repository, file, node, 0):
                yield _read(repository, file, node)


def _is_module(repository: Repository, file: SourceFile, node: ast.ClassDef, depth: int) -> bool:
    if depth > _DEEPEST:
        return False
    for base in node.bases:
        if not isinstance(base, (ast.Name, ast.Attribute)):
            continue
        found = meaning(repository, file, base)
        if isinstance(found, str):
            if found.startswith(_MODULES) and not found.startswith(_NO_MODULES):
                return True
            continue
        place, name = found
        inner = place.bindings[name][-1]
        if isinstance(inner, ast.ClassDef) and inner is not node and _is_module(repository, place, inner, depth + 1):
            return True
    return False


def _read(repository: Repository, file: SourceFile, node: ast.ClassDef) -> ReadClass:
    root = repository.root
    where = Provenance(root.name, repository.commit, file.path, node.lineno, repository.licence)
    try:
        code, name = standing_alone(repository, file, node.name)
    except NeedsMoreError as error:
        return ReadClass(node.name, where, "", "", str(error))
    except (ValueError, SyntaxError, RecursionError) as error:
        return ReadClass(node.name, where, "", "", f"cannot be written down: {error}")
    return ReadClass(name, where, code, renamed_digest(code), "")
