"""`porter backend`: platforms of your own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from porter.cli.console import Console
from porter.cli.options import DebugFlag, JsonFlag, check_writable, named_path
from porter.errors import DONE

backend = typer.Typer(name="backend", help="Add a platform of your own.", rich_markup_mode=None)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The platform, such as acme.")]
OutOption = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="DIR", parser=named_path, help="The folder to write; porter-NAME without it."),
]


@backend.command("new")
def new(
    context: typer.Context, name: NameArgument, out: OutOption = None, json: JsonFlag = False, debug: DebugFlag = False
) -> int:
    """Write a package for a new platform; it passes the conformance tests as it is."""
    from rich.text import Text

    from porter.testing.backend_skeleton import write_skeleton

    folder = out or Path(f"porter-{name}")
    check_writable("--out", folder)
    files = write_skeleton(name, folder)
    console: Console = context.obj
    if json:
        console.document({"name": name, "folder": str(folder), "files": [str(file) for file in files]})
    else:
        console.show(Text(f"wrote {len(files)} files to {folder}; {folder}/README.md says what is yours to fill in"))
        for step in (f"pip install -e '{folder}[test]'", f"pytest {folder}", f"porter migrate op.cu --target {name}"):
            console.show(Text(f"  {step}"))
    return DONE
