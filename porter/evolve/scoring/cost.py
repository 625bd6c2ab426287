"""Says what a candidate costs by a model of its target. A cost ranks candidates without a device; it is not a time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """`units` are the model's: about microseconds on the device that it describes.

    `launches` says of each launch of a call what it does and what bounds it. `moved_bytes` are read from and written to
    device memory by all of them; `returned_bytes` are those of the tensors that the call returns. `built` is the digest
    of what the compiler made, empty where that is not known.
    """

    units: float
    launches: tuple[str, ...]
    moved_bytes: float
    returned_bytes: int
    built: str = ""
