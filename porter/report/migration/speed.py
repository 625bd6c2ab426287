"""Shows times: a line for each on the terminal, and all of them with their samples as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from porter.evaluate.model.migration import EntryOutcome
from porter.evaluate.model.speed import Baseline, Measured, NotMeasured, Speed, speedup
from porter.measure.timing import Timing
from porter.writing.columns import Cell, columns
from porter.writing.document import Json, as_record

SPEED_HEAD = ("workload", "fidelity", "time", "of it within 95 %", "beside", "its time", "times as fast")


def speeds_text(entry: EntryOutcome) -> Text:
    """Returns the times of an entry, each line with its fidelity, or why there are none."""
    text = Text()
    if rows := speed_rows(entry):
        text.append_text(columns([SPEED_HEAD, *rows], indent="  "))
    for speed in entry.speeds:
        text.append(f"  {speed_remark(speed)}\n", "yellow" if isinstance(speed, NotMeasured) else "dim")
    return text


def speed_rows(entry: EntryOutcome) -> list[Sequence[Cell]]:
    """Returns a row below `SPEED_HEAD` for each time, and for each of its baselines."""
    return [row for speed in entry.speeds if isinstance(speed, Measured) for row in _rows(speed)]


def speed_remark(speed: Speed) -> str:
    """Returns where and how a time was taken, or why there is none."""
    if isinstance(speed, Measured):
        return "; ".join(_remarks(speed))
    at = f" at '{speed.workload.name}'" if speed.workload else ""
    return f"not timed{at} ({speed.fidelity.value}): {speed.because}"


def _rows(speed: Measured) -> Iterator[Sequence[Cell]]:
    timing = speed.timing
    low, high = timing.interval_us
    head = (_named(speed), speed.fidelity.value, duration(timing.median_us), f"{duration(low)} to {duration(high)}")
    if not speed.baselines:
        yield (*head, "-", "", "")
    for index, baseline in enumerate(speed.baselines):
        style = "green" if baseline.speedup >= 1 else "red"
        factor = Text(f"{baseline.speedup:.3f}", style)
        yield (*(head if index == 0 else ("",) * 4), baseline.name, duration(baseline.timing.median_us), factor)


def _named(speed: Measured) -> str:
    sizes = ", ".join(f"{name} = {size}" for name, size in speed.workload.sizes.items())
    return f"{speed.workload.name} ({sizes})" if sizes else speed.workload.name


def duration(us: float) -> str:
    """Returns three digits or more: `1.35 us`, `130 us`, `12.4 ms`."""
    for unit, factor in (("us", 1.0), ("ms", 1e3), ("s", 1e6)):
        if us < 1000 * factor or unit == "s":
            return f"{us / factor:.{2 if us < 100 * factor else 1}f} {unit}"
    return ""


def _remarks(speed: Measured) -> Iterator[str]:
    """Yields where it was measured, and what of it is out of the ordinary."""
    where = speed.environment
    count = len(speed.timing.samples_us)
    moved = f"{speed.bytes_per_s / 1e9:.0f} GB/s if every tensor is moved once"
    yield f"{where.device}, {count} samples, {moved}, {speed.share_of_limit:.0%} of what a copy reaches"
    yield speed.stopped.value
    if speed.by_calls:
        yield f"calls were timed, not graphs: {speed.by_calls}"
    yield from (f"not beside {because}" for because in speed.without)
    if speed.left_out:
        yield f"{speed.left_out} disturbed blocks left out"
    yield from where.disturbances


def speeds_document(entries: Sequence[EntryOutcome]) -> dict[str, Json]:
    """Returns `timing` and `baseline` of the first time, the `speedup` over all, and every time of every entry.

    `speedup` is null where nothing was measured beside a baseline: nothing that was emulated has a speed.
    """
    speeds = [speed for entry in entries for speed in entry.speeds]
    first = next((s for s in speeds if isinstance(s, Measured)), None)
    baseline = first.baselines[0] if first is not None and first.baselines else None
    return {
        "timing": None if first is None else timing_document(first.timing),
        "baseline": None if baseline is None else _baseline(baseline),
        "speedup": speedup(speeds),
        "times": [{"entry": entry.name, **_speed(speed)} for entry in entries for speed in entry.speeds],
    }


def device_document(entries: Sequence[EntryOutcome]) -> Json:
    """Returns the device of the times, with its state; null where there are none."""
    speeds = (speed for entry in entries for speed in entry.speeds)
    first = next((s for s in speeds if isinstance(s, Measured)), None)
    return None if first is None else as_record(first.environment)


def timing_document(timing: Timing) -> dict[str, Json]:
    """Returns a timing in microseconds; `samples` are in the order in which they were taken."""
    return {
        "median_us": round(timing.median_us, 4),
        "interval_us": [round(bound, 4) for bound in timing.interval_us],
        "samples": [round(sample, 4) for sample in timing.samples_us],
    }


def _baseline(baseline: Baseline) -> dict[str, Json]:
    low, high = baseline.ratio.interval
    return {
        "name": baseline.name,
        **timing_document(baseline.timing),
        "speedup": round(baseline.speedup, 5),
        "speedup_interval": [round(1 / high, 5), round(1 / low, 5)],
    }


def _speed(speed: Speed) -> dict[str, Json]:
    workload = None if speed.workload is None else speed.workload.name
    if isinstance(speed, NotMeasured):
        return {"workload": workload, "fidelity": speed.fidelity.value, "because": speed.because}
    return {
        "workload": workload,
        "sizes": dict(speed.workload.sizes),
        "fidelity": speed.fidelity.value,
        "timing": timing_document(speed.timing),
        "baselines": [_baseline(baseline) for baseline in speed.baselines],
        "by_calls": speed.by_calls,
        "stopped": speed.stopped.value,
        "left_out": speed.left_out,
        "without": list(speed.without),
        "bytes": speed.bytes,
        "copy_bytes_per_s": round(speed.copy_bytes_per_s),
        "share_of_limit": round(speed.share_of_limit, 4),
        "disturbances": list(speed.environment.disturbances),
    }
