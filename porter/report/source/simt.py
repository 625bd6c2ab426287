"""Shows kernels in the SIMT IR, or why they are not expressed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from porter.ir.simt.builder.errors import NotExpressibleError
from porter.ir.simt.builder.instances import BuiltKernel
from porter.ir.simt.printer import printed
from porter.source_text import Source
from porter.writing.document import Json


def simt_text(kernels: Sequence[BuiltKernel], source: Source) -> Text:
    """Returns each kernel as text, or a line that says why there is none."""
    return Text("\n".join(_text(kernel, source).rstrip() + "\n" for kernel in kernels).rstrip() or "no kernel")


def _text(kernel: BuiltKernel, source: Source) -> str:
    function = kernel.function
    if not isinstance(function, NotExpressibleError):
        return printed(function)
    file = function.location.file or source.path.name
    place = f"{file}:{function.location.line or kernel.line}"
    return f"{place}: the kernel '{kernel.name}' is not expressed: {function.construct}"


def simt_document(kernels: Sequence[BuiltKernel]) -> Json:
    """Returns the same for programs; for a kernel that is not expressed `because` says why."""
    return [_row(kernel) for kernel in kernels]


def _row(kernel: BuiltKernel) -> Json:
    function = kernel.function
    if isinstance(function, NotExpressibleError):
        line = function.location.line or kernel.line
        return {"kernel": kernel.name, "text": "", "because": function.construct, "line": line}
    return {"kernel": kernel.name, "text": printed(function), "because": "", "line": kernel.line}
