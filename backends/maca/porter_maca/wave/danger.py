"""Names the dangers on a wave of 64 lanes, by finding code, and describes one dangerous place of the source."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from porter.source.edit import Edit
from porter.source.nesting import Wrap


class Danger(StrEnum):
    """The finding code of each kind of 32-lane assumption; `findings.toml` explains them."""

    WARP_SIZE_LITERAL = "PORT1001"
    LANE_MASK = "PORT1002"
    SHUFFLE = "PORT1003"
    BALLOT = "PORT1004"
    WARP_PARTIALS = "PORT1005"
    LOCKSTEP = "PORT1006"
    LANE_REGISTER = "PORT1007"
    WARP_SIZE = "PORT1008"
    HOST_WARP_SIZE = "PORT1009"
    VOTE = "PORT1010"
    WARP_BARRIER = "PORT1011"
    LEGACY = "PORT1012"
    HALF_WAVE_BLOCK = "PORT1013"
    LIBRARY = "PORT1014"
    COALESCED_GROUP = "PORT1015"
    TENSOR_CORE = "PORT1016"
    DIVIDED_BARRIER = "PORT1017"
    SPIN_WAIT = "PORT1018"
    UNCLEAR_PRIMITIVE = "PORT1020"
    UNCLEAR_LOCKSTEP = "PORT1021"


@dataclass(frozen=True, slots=True)
class Change:
    """One dangerous place `[start, end)`. `what` is the text of the source; `wraps` and `edits` mend it.

    `reason` says why it cannot be mended; else it is empty.
    """

    danger: Danger
    start: int
    end: int
    what: str
    wraps: tuple[Wrap, ...] = ()
    edits: tuple[Edit, ...] = ()
    reason: str = ""
