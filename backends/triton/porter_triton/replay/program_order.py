"""Tracks what a program of a launch knows of others: what they wrote before an atomic operation whose outcome it saw.

A program that asks at the same place and acts on the answer comes behind them. It does not know what they write after
their operations, whichever of the two the interpreter happens to run first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_Told = dict[int, int]  # by program, the moment before which everybody who is told knows what it wrote


class ProgramOrder:
    """The programs of one launch, of which one at a time runs; each atomic operation begins a new `moment`."""

    def __init__(self) -> None:
        self.program = -1  # the one that runs
        self._programs: list[int] = []  # the one that runs at each moment
        self._places: dict[int, _Told] = {}
        self._heard: list[_Told] = []
        self._known: list[_Told] = []
        self._left: dict[int, tuple[list[_Told], list[_Told]]] = {}  # what each program that waits has heard and knows

    @property
    def moment(self) -> int:
        """Returns the moment at which whatever happens now happens."""
        return len(self._programs) - 1

    def begin_program(self, program: int) -> None:
        """Begins a program, which knows nothing of others."""
        self.program = program
        self._heard, self._known = [], []
        self._pass()

    def leave(self) -> None:
        """Notes that the running program waits."""
        self._left[self.program] = self._heard, self._known

    def resume(self, program: int) -> None:
        """Lets a program that waited go on."""
        self.program = program
        self._heard, self._known = self._left[program]
        self._pass()

    def _pass(self) -> None:
        self._programs.append(self.program)

    def tell(self, place: int) -> None:
        """Lets a program that asks at `place` later know what this one has written, and what it knows itself."""
        self._pass()
        told = self._places.setdefault(place, {})
        for other in self._known:
            if other is not told:
                told.update({program: max(then, told.get(program, 0)) for program, then in other.items()})
        told[self.program] = self.moment

    def hear(self, place: int) -> None:
        """Notes that the program asks at `place`."""
        if place in self._places:
            self._heard.append(self._places[place])

    def listen(self) -> None:
        """Notes that what the program does depends on an answer: it knows from here on what it has heard."""
        self._known += [told for told in self._heard if all(told is not known for known in self._known)]
        self._heard = []

    @property
    def is_told(self) -> bool:
        """Returns whether the program acts on an answer."""
        return bool(self._known)

    def knows(self, moments: NDArray[np.int64]) -> bool:
        """Returns True where the program comes behind all that was written at `moments`."""
        return all(self._is_known(int(moment)) for moment in np.unique(moments))

    def _is_known(self, moment: int) -> bool:
        program = self._programs[moment]
        return any(told.get(program, 0) > moment for told in self._known)
