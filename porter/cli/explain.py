"""`porter explain CODE`: what a finding means."""

from __future__ import annotations

from typing import Annotated

import typer

from porter.cli.console import Console
from porter.cli.options import DebugFlag, JsonFlag


def explain(
    context: typer.Context,
    code: Annotated[
        str, typer.Argument(metavar="CODE", help="A finding code such as PORT1007; all are listed without one.")
    ] = "",
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Explain a finding: what it means, why it matters, what to do."""
    from porter.diagnostics.catalogue import lookup
    from porter.report.findings.catalogue import entry_document, entry_text, listing_document, listing_text
    from porter.report.findings.full_catalogue import full_catalogue

    console: Console = context.obj
    if code:
        entry = lookup(code, full_catalogue())
        console.document(entry_document(entry)) if json else console.show(entry_text(entry))
    else:
        entries = tuple(full_catalogue().values())
        console.document(listing_document(entries)) if json else console.show(listing_text(entries))
    return 0
