"""What a program of a launch knows of the others: what they wrote before an atomic operation whose outcome it saw.

One that asks at the same place and does what the answer says comes behind them; what they write after theirs it does
not know of, whichever of both the interpreter happens to run first.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

_Told = dict[int, int]  # by program, the moment before which everybody who is told knows what it wrote


class ProgramOrder:
    """The programs of one launch, which are run one after the other; each atomic operation begins a new `moment`."""

    def __init__(self) -> None:
        self.moment = 0
        self._begins: list[int] = []  # the moment at which each program begins
        self._places: dict[int, _Told] = {}
        self._heard: list[_Told] = []
        self._known: list[_Told] = []

    def begin_program(self) -> None:
        """The next program begins, which knows nothing of others."""
        self.moment += 1
        self._begins.append(self.moment)
        self._heard, self._known = [], []

    def tell(self, place: int) -> None:
        """Whoever asks at `place` from here on may know what the program has written, and what it knows itself."""
        self.moment += 1
        told = self._places.setdefault(place, {})
        for other in self._known:
            if other is not told:
                told.update({program: max(then, told.get(program, 0)) for program, then in other.items()})
        told[len(self._begins)] = self.moment

    def hear(self, place: int) -> None:
        """The program asks at `place`."""
        if place in self._places:
            self._heard.append(self._places[place])

    def listen(self) -> None:
        """What it does depends on an answer."""
        self._known += [told for told in self._heard if all(told is not known for known in self._known)]
        self._heard = []

    @property
    def is_told(self) -> bool:
        """Returns True where the program does what an answer says."""
        return bool(self._known)

    def knows(self, moments: NDArray[np.int64]) -> bool:
        """Returns True where the program comes behind all that was written at `moments`."""
        return all(self._is_known(int(moment)) for moment in np.unique(moments))

    def _is_known(self, moment: int) -> bool:
        program = bisect_right(self._begins, moment)
        return any(told.get(program, 0) > moment for told in self._known)
