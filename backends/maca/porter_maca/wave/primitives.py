"""Lists the warp primitives of CUDA, and what each of them assumes about a warp.

A row is all that the rewrite knows of a primitive; a new primitive needs a new row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from porter_maca.wave.danger import Danger

FULL_WARP = "warp32::lanes(0xffffffff)"
WIDTH = "32"


@dataclass(frozen=True, slots=True)
class Primitive:
    """A function of the warp. `required` arguments must be there; `defaults` are the warp's own for the optional rest.

    `mask` is the position of the lane mask; `gives_lanes` when the result is one.
    """

    danger: Danger
    required: int
    defaults: tuple[str, ...] = ()
    mask: int | None = None
    gives_lanes: bool = False

    @property
    def most(self) -> int:
        """The number of arguments of a call that leaves nothing to defaults."""
        return self.required + len(self.defaults)


_SHUFFLE = Primitive(Danger.SHUFFLE, required=3, defaults=(WIDTH,), mask=0)
_LEGACY_SHUFFLE = Primitive(Danger.LEGACY, required=2, defaults=(WIDTH,))
_VOTE = Primitive(Danger.VOTE, required=2, mask=0)

PRIMITIVES: Mapping[str, Primitive] = {
    **{f"__shfl{way}_sync": _SHUFFLE for way in ("", "_up", "_down", "_xor")},
    **{f"__shfl{way}": _LEGACY_SHUFFLE for way in ("", "_up", "_down", "_xor")},
    **{f"__reduce_{operator}_sync": _VOTE for operator in ("add", "min", "max", "and", "or", "xor")},
    "__any_sync": _VOTE,
    "__all_sync": _VOTE,
    "__uni_sync": _VOTE,
    "__ballot_sync": Primitive(Danger.BALLOT, required=2, mask=0, gives_lanes=True),
    "__ballot": Primitive(Danger.LEGACY, required=1, gives_lanes=True),
    "__activemask": Primitive(Danger.BALLOT, required=0, gives_lanes=True),
    "__match_any_sync": Primitive(Danger.BALLOT, required=2, mask=0, gives_lanes=True),
    "__match_all_sync": Primitive(Danger.BALLOT, required=3, mask=0, gives_lanes=True),
    "__syncwarp": Primitive(Danger.WARP_BARRIER, required=0, defaults=(FULL_WARP,), mask=0),
}

# Votes without a mask count the active lanes of the whole wave. The ballot can be confined to the warp: how its bits
# are compared with 0, and what is put before the predicate.
LEGACY_VOTES: Mapping[str, tuple[str, str]] = {"__any": ("!=", ""), "__all": ("==", "!")}

_ATEN_SHUFFLE = Primitive(Danger.LIBRARY, required=2, defaults=(WIDTH, FULL_WARP), mask=3)
_ATEN_VOTE = Primitive(Danger.LIBRARY, required=1, defaults=(FULL_WARP,), mask=1)

# ATen/cuda/DeviceUtils.cuh: wrappers whose defaults are the whole wave where PyTorch is built for MACA.
ATEN_PRIMITIVES: Mapping[str, Primitive] = {
    **{f"WARP_SHFL{way}": _ATEN_SHUFFLE for way in ("", "_UP", "_DOWN", "_XOR")},
    "WARP_ANY": _ATEN_VOTE,
    "WARP_ALL": _ATEN_VOTE,
    "WARP_BALLOT": Primitive(Danger.LIBRARY, required=1, defaults=(FULL_WARP,), mask=1, gives_lanes=True),
}

# cub's warp collectives: the position of the template argument that sets the logical warp, the wave's width by default.
CUB_COLLECTIVES: Mapping[str, int] = {"WarpReduce": 1, "WarpScan": 1, "WarpExchange": 2, "WarpMergeSort": 2}
