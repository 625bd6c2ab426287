"""Reports one migration as Markdown: what was dangerous, what was compared, how the numbers came about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from porter.contract.model.contract import Argument, Contract, TensorArg
from porter.diagnostics.findings import Effort, Finding, Severity
from porter.evaluate.model.migration import EntryOutcome, Migration
from porter.evaluate.model.outcome import Checked, Fidelity
from porter.evaluate.model.speed import Measured
from porter.report.findings.catalogue import EFFORTS
from porter.report.migration.software import Software
from porter.report.migration.speed import SPEED_HEAD, speed_remark, speed_rows
from porter.report.migration.verdict import checks, counted_lanes, describe, lanes_of, reason, verdict
from porter.source_text import Source
from porter.writing.counting import counted


def migration_markdown(migration: Migration, software: Software) -> str:
    """Returns the whole report."""
    target = f"{migration.target.backend} {migration.target.arch}"
    return "\n".join(
        [
            f"# {migration.source.path.name} on {target}: {describe(migration.outcome)}\n",
            f"{verdict(migration)}\n",
            "## What was dangerous, and what porter did\n",
            *_findings(migration),
            "## Contract\n",
            *(line for contract in migration.contracts for line in _contract(contract)),
            "## Workloads and errors\n",
            *(line for entry in migration.entries for line in _comparisons(entry)),
            *_times(migration),
            "## How the numbers were obtained\n",
            *_method(migration),
            "## Environment\n",
            *_environment(software),
        ]
    )


def _findings(migration: Migration) -> Iterator[str]:
    allowed = [finding for finding in migration.findings if finding.allowed]
    others = [finding for finding in migration.findings if not finding.allowed]
    told = [finding for finding in others if finding.severity is not Severity.NOTE]
    noted = len(others) - len(told)
    if not told:
        yield "Nothing.\n"
    for finding in told:
        yield from _finding(finding, migration.source)
    if noted:
        yield f"The JSON report has {counted(noted, 'more note')}.\n"
    for finding in allowed:
        yield f"- {finding.code} at {_place(finding)} is allowed: {finding.allowed}\n"


def _finding(finding: Finding, source: Source) -> Iterator[str]:
    source = finding.source or source
    yield f"- **{finding.code}** ({finding.severity}, {_place(finding)}): {finding.message}"
    if finding.hint:
        yield f"  {finding.hint}"
    if finding.effort is not Effort.NONE:
        yield f"  Left to do by hand: {EFFORTS[finding.effort]}."
    if finding.span:
        yield f"\n  ```cuda\n  {source.line(finding.span.line).strip()}\n  ```"
    yield ""


def _place(finding: Finding) -> str:
    place = f"line {finding.span.line}" if finding.span else "the whole file"
    return f"{finding.source.path.name}, {place}" if finding.source else place


def _contract(contract: Contract) -> Iterator[str]:
    """Yields arguments in call order, conditions, tolerances."""
    yield f"### `{contract.entry.name}` ({contract.entry.kind})\n"
    if contract.arguments:
        yield from _table(
            ("argument", "role", "type", "shape or value"), [_argument_row(a) for a in contract.arguments]
        )
    for condition in contract.conditions:
        yield f"- must hold: `{condition}`"
    for dtype, bound in contract.tolerance.items():
        yield f"- {dtype}: |got - want| <= {bound.atol:g} + {bound.rtol:g} |want|"
    for question in contract.questions:
        yield f"- open: {question.text} ({question.flag})"
    yield ""


def _argument_row(argument: Argument) -> tuple[str, ...]:
    if isinstance(argument, TensorArg):
        fields = ", ".join(f"{field.name} {field.dtype}" for field in argument.fields)
        dtype = f"structs of {argument.group} bytes: {fields}" if fields else argument.dtype
        return (f"`{argument.name}`", argument.role, dtype, f"`[{', '.join(argument.shape)}]`")
    return (f"`{argument.name}`", "in", argument.type, f"`{argument.value}`")


def _comparisons(entry: EntryOutcome) -> Iterator[str]:
    yield f"### `{entry.name}`: {describe(entry.outcome)}\n"
    yield f"{reason(entry.outcome)}\n"
    sizes = {workload.name: workload.sizes for workload in entry.contract.workloads}
    rows = [_comparison_row(check, sizes.get(check.name, {})) for check in checks(entry.outcome)]
    if rows:
        yield from _table(("workload", "sizes", "lanes", "max abs error", "max rel error", "result"), rows)


def _comparison_row(check: Checked, sizes: Mapping[str, int]) -> tuple[str, ...]:
    errors = (f"{check.max_abs_error:.3g}", f"{check.max_rel_error:.3g}")
    named = ", ".join(f"{name} = {size}" for name, size in sizes.items())
    return (check.name, named, lanes_of(check), *errors, "equal" if check.passed else check.worst or "differs")


def _times(migration: Migration) -> Iterator[str]:
    """Yields the times of each entry on a device; nothing without a device."""
    timed = [entry for entry in migration.entries if entry.speeds]
    if timed:
        yield "## Times\n"
    for entry in timed:
        yield f"### `{entry.name}`\n"
        if rows := speed_rows(entry):
            yield from _table(SPEED_HEAD, [[str(cell) for cell in row] for row in rows])
        yield from (f"- {speed_remark(speed)}" for speed in entry.speeds)
        yield ""


def _method(migration: Migration) -> Iterator[str]:
    if migration.of_module:
        yield (
            "porter asked the module itself, in double precision and at its own types, run by PyTorch on the CPU. The\n"
            "port was written from its exported graph, and was judged on inputs and sizes drawn for this verdict.\n"
        )
    elif migration.fidelity is Fidelity.EMULATED:
        lanes = counted_lanes(migration.warp_sizes)
        yield (
            "porter executed both on the CPU: the CUDA original at 32 lanes with its own SIMT executor, the port,\n"
            f"{lanes}, on the same seeded inputs, in device memory poisoned before use. An output may\n"
            "differ from the original's by the tolerance of the contract, plus the original's own rounding error.\n"
        )
    measured = [s for entry in migration.entries for s in entry.speeds if isinstance(s, Measured)]
    claimed = f"Times: {', '.join(dict.fromkeys(s.fidelity for s in measured))}, by device events."
    yield f"Fidelity: {migration.fidelity}. {claimed if measured else 'No speed was measured, and none is claimed.'}\n"


def _environment(software: Software) -> Iterator[str]:
    yield f"- porter {software.porter}, Python {software.python}, {software.platform}"
    for tool in (*software.compilers, *software.packages):
        if tool.version:
            yield f"- {tool.name}: {tool.version}"
    yield ""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
    yield ""
