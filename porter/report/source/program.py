"""Shows a `Program` on the terminal: what the file defines, what it launches, what was not understood."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from porter.source.program import Function, Launch, Program, SharedArray
from porter.source_text import Span
from porter.writing.columns import Cell, columns


def program_text(program: Program) -> Text:
    """Returns everything in a program that a reader may want to check against the source."""
    sections: list[tuple[str, list[Sequence[Cell]]]] = [
        ("kernels", [row for kernel in program.kernels for row in _kernel_rows(kernel)]),
        ("device functions", [_function_row(function) for function in program.device_functions]),
        ("host functions", [_function_row(function) for function in program.host_functions]),
        ("launches", [_launch_row(launch) for launch in program.launches]),
        ("constants", [(_line(constant.span), constant.name, constant.text) for constant in program.constants]),
        ("bindings", [(_line(b.span), b.python_name, b.function) for b in program.bindings]),
        ("not understood", [(_line(stretch.span), stretch.reason) for stretch in program.not_understood]),
    ]
    text = Text.assemble((str(program.source.path), "bold"), f": {program.form}\n")
    for title, rows in sections:
        if rows:
            text.append(f"\n{title}\n", "bold").append_text(columns(rows, indent="  "))
    text.rstrip()
    return text


def _kernel_rows(kernel: Function) -> Iterator[Sequence[Cell]]:
    yield _function_row(kernel)
    for array in kernel.shared:
        yield (_line(array.span), f"  shared {array.name}", _shared_type(array))


def _function_row(function: Function) -> Sequence[Cell]:
    parameters = ", ".join(f"{param.type.text} {param.name}" for param in function.params)
    template = ", ".join(f"{param.kind} {param.name}" for param in function.template)
    named = f"{function.qualified}<{template}>" if template else function.qualified
    return (_line(function.span), named, f"({' '.join(parameters.split())})")


def _shared_type(array: SharedArray) -> str:
    if array.dynamic:
        return f"{array.element}[] (dynamic)"
    return array.element + "".join(f"[{extent}]" for extent in array.extents)


def _launch_row(launch: Launch) -> Sequence[Cell]:
    named = f"{launch.kernel}<{', '.join(launch.template_args)}>" if launch.template_args else launch.kernel
    shape = f"grid {launch.grid.text}, block {launch.block.text}"
    shared = f", shared {launch.shared_bytes.text}" if launch.shared_bytes else ""
    return (_line(launch.span), named, f"{shape}{shared}", f"in {launch.inside}" if launch.inside else "")


def _line(span: Span) -> str:
    return f"{span.line:>5}"
