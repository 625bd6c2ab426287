"""What Python gives the module: builtins that refuse ways out, and modules of which only the harmless part is there.

The rules on its text read the same names (`rules/forbidden.py`). What a module does so that its text does not show it
(`getattr(torch, "o" + "s")`) ends here: it is noted, and then refused. Torch and Triton keep Python's own builtins.
"""

from __future__ import annotations

import builtins
import functools
import importlib.util
import types
from collections.abc import Callable, Mapping, Sequence

from porter_triton.rules.forbidden import (
    BUILTINS,
    MODULES,
    THROUGH_OTHERS,
    forbidden_attribute,
    forbidden_module,
    private_part,
)

Note = Callable[[str, str], None]  # is told of a code and of what was tried
_IMPORT = builtins.__import__
# Modules that are given as they are, with all below them.
_OFFERED = frozenset(
    [
        "torch",
        "triton",
        "numpy",
        "math",
        "cmath",
        "numbers",
        "typing",
        "typing_extensions",
        "functools",
        "itertools",
        "operator",
        "collections",
        "dataclasses",
        "enum",
        "abc",
        "contextlib",
        "warnings",
        "logging",
        "copy",
        "random",
        "statistics",
        "re",
        "json",
        "argparse",
        "pathlib",
        "time",
        "datetime",
        "textwrap",
        "pprint",
        "bisect",
        "heapq",
        "array",
        "struct",
        "decimal",
        "fractions",
        "hashlib",
        "platform",
        "packaging",
        "weakref",
        "types",
        "__future__",
        "traceback",
        "string",
        "uuid",
        "queue",
        "base64",
        "unittest",
        "ast",
        "glob",
        "einops",
        "timeit",
    ]
)
_FOREIGN = ("torch", "triton", "numpy")


def guarded(note: Note) -> Mapping[str, object]:
    """Builtins for a module; `note` is told of what is tried."""
    own = dict(vars(builtins))
    for name, code in BUILTINS.items():
        if name in own:
            own[name] = _refusing(name, code, note)
    own["__import__"] = functools.partial(_import, note)
    own["getattr"] = functools.partial(_getattr, note)
    own["hasattr"] = lambda of, name: not _broken(of, name) and hasattr(of, name)
    own["setattr"] = lambda of, name, value: setattr(_changeable(note, of, name), name, value)
    own["delattr"] = lambda of, name: delattr(_changeable(note, of, name), name)
    return own


def _refusing(name: str, code: str, note: Note) -> Callable[..., object]:
    def refuse(*_: object, **__: object) -> object:
        note(code, f"it calls {name}")
        raise PermissionError(f"{name} is not for modules of kernels")

    return refuse


def _getattr(note: Note, of: object, name: str, *otherwise: object) -> object:
    if code := _broken(of, name):
        note(code, f"it asks for {name}")
        raise AttributeError(name)
    return getattr(of, name, *otherwise)


def _broken(of: object, name: str) -> str:
    """The code that asking `of` for its attribute `name` breaks; empty where it breaks none."""
    plain = str(name)
    if isinstance(of, types.ModuleType):
        if code := forbidden_module(f"{of.__name__}.{plain}"):
            return code
        if code := private_part(f"{of.__name__}.{plain}"):
            return code
        if plain in THROUGH_OTHERS:
            return MODULES[plain]
    return forbidden_attribute(plain)


def _changeable(note: Note, of: object, name: str) -> object:
    """`of`, unless it is a module or class of somebody else's."""
    owner = (
        of.__name__
        if isinstance(of, types.ModuleType)
        else getattr(of, "__module__", "")
        if isinstance(of, type)
        else ""
    )
    settings = isinstance(of, types.ModuleType) and owner.startswith(("torch.backends", "triton.knobs"))
    if str(owner).split(".")[0] in (*_FOREIGN, "builtins") and not settings:
        note("PORT1907", f"it replaces {owner}.{name}")
        raise PermissionError(f"{owner}.{name} is not the module's own")
    return of


def _import(  # noqa: PLR0917 - as Python calls it
    note: Note,
    name: str,
    space: Mapping[str, object] | None = None,
    local: Mapping[str, object] | None = None,
    wanted: Sequence[str] | None = (),
    level: int = 0,
) -> object:
    for member in wanted or ():
        through = MODULES[member] if member in THROUGH_OTHERS else ""
        if code := forbidden_attribute(member) or through or private_part(f"{name}.{member}"):
            note(code, f"it imports {name}.{member}")
            raise ImportError(f"{name}.{member} is not for modules of kernels")
    root = name.split(".", maxsplit=1)[0]
    if level == 0 and (root not in _OFFERED or (root not in _FOREIGN and forbidden_module(name))):
        if importlib.util.find_spec(root) is None:
            raise ModuleNotFoundError(f"No module named '{root}'")
        return _Door(note, name if wanted else root)
    return _IMPORT(name, space, local, wanted or (), level)


class _Door(types.ModuleType):
    """A module of which only the harmless part is there."""

    def __init__(self, note: Note, name: str) -> None:
        super().__init__(name)
        self.__note = note

    def __getattr__(self, name: str) -> object:
        whole = f"{self.__name__}.{name}"
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        if code := forbidden_module(whole):
            self.__note(code, f"it uses {whole}")
            raise AttributeError(f"{whole} is not for modules of kernels")
        if self.__name__.split(".")[0] not in (*_OFFERED, *MODULES):
            raise ImportError(f"{self.__name__} is not offered to modules of kernels")
        return getattr(_IMPORT(self.__name__, fromlist=("*",)), name)
