"""The kernels of one module, each lowered once for every way in which it is launched."""

from __future__ import annotations

from dataclasses import replace

from porter.ir.simt.builder.enabled import is_enabled
from porter.syntax.nodes import Expression, Literal, TypeName
from porter.syntax.unit import FunctionTree, Unit
from porter_triton.device.source import helpers
from porter_triton.kernel_records import LaunchInfo, LoweredKernel
from porter_triton.merging import Instance, Key, merged
from porter_triton.naming import python_name
from porter_triton.refusal import Refusal
from porter_triton.thread_level.kernel import PreparedKernel, prepared_kernel, print_kernel


class Kernels:
    """Lowers on demand. Instances of one kernel with the same text are one; others are numbered from the second on.

    CUDA may call a kernel and its launcher the same, Python may not: then it is the kernel that gets another name, as
    one that is called like a helper does.
    """

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self.host_names = frozenset(python_name(f.head.name) for f in unit.functions if f.head.space.startswith("host"))
        self._lowered: dict[Key, LoweredKernel | Refusal] = {}
        self._trees: dict[Key, FunctionTree] = {}
        self._prepared: dict[Key, PreparedKernel] = {}
        self._by_text: dict[str, LoweredKernel] = {}

    def lowered(self, tree: FunctionTree, info: LaunchInfo) -> LoweredKernel:
        """Returns the kernel for the launches of `info`; raises `Refusal`."""
        key = (tree.head.qualified, tree.head.span.start, info)
        if key not in self._lowered:
            self._trees[key] = tree
            self._lowered[key] = self._lower(key, tree)
        result = self._lowered[key]
        if isinstance(result, Refusal):
            raise result
        shared = self._by_text.setdefault(result.text, self._renamed(result))
        if not set(result.helpers) <= set(shared.helpers):  # the same text for other types
            shared = replace(shared, helpers=tuple(sorted({*shared.helpers, *result.helpers})))
            self._by_text[result.text] = shared
        return replace(shared, parameters=result.parameters)  # whose types are this instance's own

    def merge(self) -> bool:
        """Make one kernel of instances that differ only in numbers; True where launches must be written anew."""
        found = merged(
            {
                key: Instance(kernel, self._prepared[key], _numbers(self._trees[key], key[2]))
                for key, kernel in self._lowered.items()
                if isinstance(kernel, LoweredKernel)
            }
        )
        self._lowered |= found
        if found:
            self._by_text.clear()
        return bool(found)

    def texts(self) -> tuple[LoweredKernel, ...]:
        """Returns all that were lowered, in the order in which they were first asked for."""
        return tuple(self._by_text.values())

    def _lower(self, key: Key, tree: FunctionTree) -> LoweredKernel | Refusal:
        """Returns the kernel printed from the SIMT IR, or why it is not."""
        try:
            self._prepared[key] = prepared_kernel(self._unit, tree, key[2], self.host_names)
            return print_kernel(self._prepared[key])
        except Refusal as refusal:
            return refusal

    def tree(self, name: str, template: tuple[TypeName | Expression, ...], place: int = 0) -> FunctionTree:
        """Returns the kernel, an explicit specialisation only for its own arguments; raises `Refusal` without one.

        Of overloads it is the one that begins at `place` of the source.
        """
        named = self.overloads(name)
        found = [f for f in named if f.head.span.start == place] or named
        if not found:
            raise Refusal(
                0, f"the source defines no kernel '{name}': another file does, with which it has to be ported"
            )
        plain = [f for f in found if not f.arguments]
        chosen = (plain or found)[0]
        if chosen.head.template and not template:  # an entry that is the specialisation itself
            return next((f for f in found if f.arguments), chosen)
        return self.specialised(chosen, template)

    def overloads(self, name: str) -> list[FunctionTree]:
        """Returns all kernels called `name`, explicit specialisations among them."""
        return [f for f in self._unit.named(name) if f.head.space == "global"]

    def enabled(self, kernel: FunctionTree, template: tuple[TypeName | Expression, ...]) -> bool:
        """Returns whether an overload that `std::enable_if` limits is one for these template arguments."""
        return is_enabled(self._unit, kernel, template)

    def specialised(self, kernel: FunctionTree, template: tuple[TypeName | Expression, ...]) -> FunctionTree:
        """Returns the explicit specialisation of `kernel` for these arguments; itself where there is none."""
        named = self.overloads(kernel.head.qualified)
        alike = (f for f in named if f.arguments and len(f.parameters) == len(kernel.parameters))
        return next((f for f in alike if f.arguments == template), kernel)

    def _renamed(self, kernel: LoweredKernel) -> LoweredKernel:
        taken = kernel.name in self.host_names or kernel.name in helpers()
        plain = f"{kernel.name}_kernel" if taken else kernel.name
        count = sum(other.name.rsplit("__", 1)[0] == plain for other in self._by_text.values()) + 1
        name = f"{plain}__{count}" if count > 1 else plain
        return replace(kernel, name=name)


def _numbers(tree: FunctionTree, info: LaunchInfo) -> tuple[tuple[str, int], ...]:
    """Returns the template parameters that are integers, with their values."""
    given = zip(tree.head.template, info.template, strict=False)
    return tuple((p.name, a.value) for p, a in given if isinstance(a, Literal) and type(a.value) is int)


def template_argument(text: str) -> TypeName | Literal:
    """Returns a template argument as written: a number, a truth value or a type."""
    if text in ("true", "false"):
        return Literal(text == "true", "bool")
    if text.lstrip("-").isdecimal():
        return Literal(int(text), "int")
    words = text.removeprefix("const ").split("*")
    return TypeName(words[0].strip(), pointers=len(words) - 1, const=text.startswith("const "))
