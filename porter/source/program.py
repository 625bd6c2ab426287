"""The definitions of a CUDA source: the `Program` that every later stage reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from porter.diagnostics.findings import Finding
from porter.source.qualified import unqualified
from porter.source_text import Source, Span


class HostForm(StrEnum):
    """The ways in which a file offers its kernels to a caller (shares of real code: docs/design/source.md)."""

    TORCH_EXTENSION = "torch extension"  # functions on torch::Tensor, bound by PYBIND11_MODULE or TORCH_LIBRARY
    TORCH_LAUNCHER = "torch launcher"  # functions on torch::Tensor without a binding
    EXTERN_C = "extern C"  # extern "C" functions on raw pointers
    POINTER_LAUNCHER = "pointer launcher"  # C++ functions on raw pointers
    PROGRAM = "program"  # a main()
    KERNELS_ONLY = "kernels only"  # no host code that launches


@dataclass(frozen=True, slots=True)
class CType:
    """A parsed C++ parameter or return type: `const float* __restrict__` is `("float", 1, const=True)`."""

    text: str
    base: str
    pointers: int = 0
    const: bool = False
    reference: bool = False


@dataclass(frozen=True, slots=True)
class Param:
    """A function parameter; `default` is source text, empty when there is none."""

    name: str
    type: CType
    default: str
    span: Span


@dataclass(frozen=True, slots=True)
class TemplateParam:
    """`typename T` has kind "typename"; `int N = 4` has kind "int" and default "4"."""

    kind: str
    name: str
    default: str


@dataclass(frozen=True, slots=True)
class Expr:
    """Source text with its place."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class SharedArray:
    """A `__shared__` variable: its element type and extents as written; `dynamic` for `extern __shared__`."""

    name: str
    element: str
    extents: tuple[str, ...]
    dynamic: bool
    span: Span


@dataclass(frozen=True, slots=True)
class ConstantVariable:
    """A `__constant__` or namespace-scope `__device__` variable."""

    name: str
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Function:
    """A function definition. `space` is "global", "device", "host" or "host device".

    `body_text` is the body after preprocessing; where a macro made the function, `body` only spans the macro's use.
    """

    name: str
    scope: tuple[str, ...]
    space: str
    template: tuple[TemplateParam, ...]
    returns: CType
    params: tuple[Param, ...]
    shared: tuple[SharedArray, ...]
    extern_c: bool
    launch_bounds: tuple[str, ...]
    header: Span
    body: Span
    span: Span
    body_text: str = ""

    @property
    def qualified(self) -> str:
        """The name with its namespaces and classes: `ns::kernel`."""
        return "::".join((*self.scope, self.name))

    @property
    def is_macro(self) -> bool:
        """Returns whether what reads as a function without a type is the call of a macro with a block behind it,
        `FOR_EACH(i, n) {...}`: only `main` and members that make, end or convert an object are functions without one.
        """
        is_member = self.name in self.scope[-1:] or self.name.startswith(("~", "operator"))
        return not (self.returns.text or self.space != "host" or is_member or self.name == "main")


@dataclass(frozen=True, slots=True)
class Launch:
    """One `kernel<template_args><<<grid, block, shared_bytes, stream>>>(args)`.

    `inside` names the host function that holds it; empty when it stands in a macro or at top level.
    """

    kernel: str
    template_args: tuple[str, ...]
    grid: Expr
    block: Expr
    shared_bytes: Expr | None
    stream: Expr | None
    args: tuple[Expr, ...]
    inside: str
    span: Span


@dataclass(frozen=True, slots=True)
class Macro:
    """A `#define`; `params` is None for an object macro, `...` is the last of a variadic one."""

    name: str
    params: tuple[str, ...] | None
    body: str
    span: Span


@dataclass(frozen=True, slots=True)
class Include:
    """`#include <path>` (angled) or `#include "path"`."""

    path: str
    angled: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Binding:
    """A host function given to Python: `m.def("forward", &softmax_forward)`."""

    python_name: str
    function: str
    span: Span


@dataclass(frozen=True, slots=True)
class NotUnderstood:
    """A stretch of source that could not be parsed; `reason` says what was expected."""

    reason: str
    span: Span


@dataclass(frozen=True)
class Program:
    """One CUDA source, parsed.

    Spans of functions and launches point into `source.text` even where a macro generated them: then at the macro's use.
    `kernels` are the `__global__` functions, `device_functions` the device-only ones, `host_functions` the rest.
    `headers` are the local headers the compiler comes to, with the names they are included by; `defines` are the
    macros that the build sets, `NAME` or `NAME=VALUE`. `elsewhere` are pieces of other files that define what it only
    declares; `shared` are the `__shared__` variables outside of functions.
    """

    source: Source
    form: HostForm
    kernels: tuple[Function, ...]
    device_functions: tuple[Function, ...]
    host_functions: tuple[Function, ...]
    launches: tuple[Launch, ...]
    macros: tuple[Macro, ...]
    includes: tuple[Include, ...]
    constants: tuple[ConstantVariable, ...]
    bindings: tuple[Binding, ...]
    headers: tuple[tuple[str, Source], ...] = ()
    not_understood: tuple[NotUnderstood, ...] = ()
    findings: tuple[Finding, ...] = field(default=())
    defines: tuple[str, ...] = ()
    elsewhere: tuple[Source, ...] = ()
    shared: tuple[SharedArray, ...] = ()

    def kernel(self, name: str) -> Function | None:
        """The kernel called `name`, plain or qualified; None when the file has none."""
        return next((k for k in self.kernels if name in (k.name, k.qualified)), None)

    def launches_of(self, kernel: Function) -> tuple[Launch, ...]:
        """Every launch whose callee is `kernel`."""
        return tuple(x for x in self.launches if unqualified(x.kernel) == kernel.name)
