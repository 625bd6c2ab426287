"""Defines the records that the lowering of a kernel takes, and those that it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from porter.syntax.nodes import Expression, TypeName
from porter_triton.device.helper_calls import HelperCall


@dataclass(frozen=True, slots=True)
class Dimension:
    """One extent of the block: its value where every launch agrees on one, and what the source calls it.

    With a name it is a constexpr parameter of the kernel; without one it is written as a number. `sizes` are all that
    it may have where launches do not agree, as far as that is known.
    """

    value: int | None
    name: str = ""
    sizes: tuple[int, ...] = ()

    @property
    def is_power(self) -> bool:
        """Returns whether it is certainly a power of two."""
        sizes = self.sizes if self.value is None else (self.value,)
        return bool(sizes) and all(size & (size - 1) == 0 for size in sizes)


@dataclass(frozen=True, slots=True)
class LaunchInfo:
    """The facts known of the launches of one instance of a kernel.

    `template` holds its template arguments in order; `shared_bytes` is the dynamic shared memory where it is known.
    With `together`, several turns of a loop may become one tile. `same` pairs a parameter that is given the memory of
    an earlier one with the first that is given it.
    """

    block: tuple[Dimension, Dimension, Dimension] = (Dimension(None, "BLOCK_SIZE"), Dimension(1), Dimension(1))
    template: tuple[TypeName | Expression, ...] = ()
    shared_bytes: int | None = None
    together: bool = True
    same: tuple[tuple[str, str], ...] = ()


class ParameterKind(StrEnum):
    """The kind of value that the launcher passes: the kernel's own argument, or a number known when it launches."""

    POINTER = "pointer"
    SCALAR = "scalar"
    BLOCK = "block"  # an extent of the block, a constexpr
    THREADS = "threads"  # the power of two the block is padded to, a constexpr
    SHARED = "shared"  # elements of the dynamic shared array, padded to a power of two, a constexpr
    TEMPLATE = "template"  # an integer template argument, `elements`, a constexpr
    CONSTANT = "constant"  # the tensor behind a `__constant__` or `__device__` variable
    SCRATCH = "scratch"  # a buffer for every program: `elements` of it, as many as SHARED has where that is 0


CONSTEXPRS = frozenset({ParameterKind.BLOCK, ParameterKind.THREADS, ParameterKind.SHARED, ParameterKind.TEMPLATE})


@dataclass(frozen=True, slots=True)
class LoweredParameter:
    """A parameter of the Triton function; `dtype` is that of the value or of the pointer's elements, in torch's names.

    `source` is the CUDA parameter it stands for (`p.scale` for a struct's field), or for BLOCK `x`, `y` or `z`. For
    SCRATCH that is `per_thread`, each thread has `elements`. `asked`: the kernel asks whether it is null; `unread`: it
    does not look at it at all.
    """

    name: str
    kind: ParameterKind
    dtype: str = ""
    source: str = ""
    elements: int = 0
    per_thread: bool = False
    asked: bool = False
    unread: bool = False


class RemarkKind(StrEnum):
    """The kind of thing that a kernel does and its port does in part only."""

    ASSERTS = "asserts"  # checked in the interpreter and with TRITON_DEBUG=1
    PRINTS = "prints"  # left out


@dataclass(frozen=True, slots=True)
class Remark:
    """Something the user should know of `line`."""

    kind: RemarkKind
    line: int


@dataclass(frozen=True, slots=True)
class LoweredKernel:
    """A Triton function with the lines of its `body`; `helpers` are its calls of functions of `porter_triton.device`.

    `source` is the CUDA kernel's qualified name. `threads_per_lane` is how many threads of the source a lane of the
    device should hold.
    """

    name: str
    body: str
    parameters: tuple[LoweredParameter, ...]
    helpers: tuple[HelperCall, ...]
    source: str = ""
    remarks: tuple[Remark, ...] = ()
    threads_per_lane: int = 2

    @property
    def head(self) -> str:
        """The function's first line, or lines."""
        declared = [_declared(parameter) for parameter in self.parameters]
        line = f"def {self.name}({', '.join(declared)}):"
        if len(line) <= _LONGEST_LINE:
            return line
        return "\n".join([f"def {self.name}(", *(f"    {one}," for one in declared), "):"])

    @property
    def text(self) -> str:
        """The whole function, with a newline at its end."""
        return f"@triton.jit\n{self.head}\n{self.body}\n"


def _declared(parameter: LoweredParameter) -> str:
    if parameter.kind in CONSTEXPRS:
        return f"{parameter.name}: tl.constexpr"
    if parameter.kind is ParameterKind.SCALAR:
        return f"{parameter.name}: tl.{parameter.dtype}"
    return parameter.name


_LONGEST_LINE = 100
