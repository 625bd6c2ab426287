"""Shows what a server says of itself, to people and to programs."""

from __future__ import annotations

from rich.text import Text

from porter.report.machine import machine_document
from porter.serve.protocol import ServerReport
from porter.writing.columns import columns
from porter.writing.document import Json, as_record


def report_document(report: ServerReport) -> Json:
    """The machine of a server as `porter doctor` has it, with its devices."""
    return {**as_record(report), "machine": machine_document(report.machine)}


def report_text(report: ServerReport) -> Text:
    """The devices of a server, a line for each."""
    scored = "times candidates" if report.timed else "scores candidates by a model"
    rows = [
        (one.name, f"{one.queued} of {one.most_queued} requests wait", f"{one.running} are evaluated", scored)
        for one in report.devices
    ]
    text = Text("Evaluator\n", "bold").append_text(columns(rows, "  "))
    text.append(f"  a run may use {report.time_limit_s:g} s of processor time")
    return text
