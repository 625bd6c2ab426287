"""The kernels of a program by the symbols that launches name them with."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from porter.ir.simt.builder.errors import NotExpressibleError
from porter.ir.simt.builder.kernel import build
from porter.ir.simt.builder.spelling import taken_apart
from porter.ir.simt.ops import Function
from porter.simt.elf import demangled
from porter.syntax.nodes import Expression, TypeName
from porter.syntax.type_resolution import Types
from porter.syntax.unit import FunctionTree, Unit

_CAST = re.compile(r"^\([\w: ]+\)(?=-?\d)")


@dataclass(frozen=True, slots=True)
class Instance:
    """A kernel and the template arguments of one of its instances."""

    tree: FunctionTree
    template: tuple[TypeName | Expression, ...]


@dataclass
class Kernels:
    """The kernels of `unit`, each instance built once."""

    unit: Unit
    _built: dict[str, Function | NotExpressibleError] = field(default_factory=dict)

    def function(self, symbol: str) -> Function:
        """The instance that `symbol` names. Raises `NotExpressibleError`."""
        if symbol not in self._built:
            try:
                found = self.instance(symbol)
                self._built[symbol] = build(self.unit, found.tree, found.template)
            except NotExpressibleError as error:
                self._built[symbol] = error
        built = self._built[symbol]
        if isinstance(built, NotExpressibleError):
            raise built
        return built

    def instance(self, symbol: str) -> Instance:
        """The kernel and its template arguments that `symbol` names. Raises `NotExpressibleError` for no kernel."""
        (spelled,) = demangled([symbol])
        name, arguments, count = taken_apart(spelled)
        types = Types(self.unit)
        template = tuple(types.argument(_CAST.sub("", argument)) for argument in arguments)
        alike = [k for k in self.unit.kernels if k.head.qualified == name or k.head.qualified.endswith(f"::{name}")]
        alike = alike or [k for k in self.unit.kernels if k.head.name == name.rpartition("::")[2]]
        fitting = [k for k in alike if len(k.parameters) == count and len(k.head.template) >= len(template)] or alike
        if not fitting:
            raise NotExpressibleError(f"the kernel '{name}' is not in the source")
        special = [k for k in fitting if k.arguments and k.arguments == template]
        return Instance((special or fitting)[0], () if special else template)
