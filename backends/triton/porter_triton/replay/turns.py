"""Programs of a launch that wait for each other: each has a thread, and one of them at a time runs.

A program that asks an atomic operation for the same thing twice, and gets the same answer, waits for somebody else: the
next one goes on in its place, or begins. Kernels without a `while` cannot wait, and run without threads.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

MOST_AT_ONCE = 128  # programs that may have begun and not ended; every device of today runs more at once
_MOST_FRUITLESS = 200  # rounds in which every program that waits asks again and hears nothing new


class ProgramsWaitError(Exception):
    """Programs wait for each other in a way that no device brings to an end, or not every device."""


class _Abandoned(BaseException):
    """Ends the thread of a program whose launch has failed."""


@dataclass
class _Program:
    run: Callable[[], object]
    resumed: Callable[[], None] = lambda: None  # puts the interpreter back to where this program was
    turn: threading.Event = field(default_factory=threading.Event)
    asked: object = None  # what it asked last, and the answer
    is_fruitless: bool = False
    is_over: bool = False
    is_abandoned: bool = False
    error: Exception | None = None


class Turns:
    """The programs of one launch that have begun and not ended, in the order in which they began."""

    def __init__(self, leave: Callable[[], Callable[[], None]]) -> None:
        self._leave = leave
        self._waiting: list[_Program] = []
        self._running: _Program | None = None
        self._given_back = threading.Event()

    def begin(self, run: Callable[[], object]) -> None:
        """Runs a program until it ends or waits. Raises what it raises, and where too many have begun."""
        if len(self._waiting) >= MOST_AT_ONCE:
            raise ProgramsWaitError(f"{MOST_AT_ONCE} programs wait for one that may only begin when they are done")
        program = _Program(run)
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._run, program), daemon=True).start()
        self._let(program)
        if program.is_over:
            self._go_round()  # programs that waited for it finish before others begin
        else:
            self._waiting.append(program)

    def finish(self) -> None:
        """Lets those that wait go on, one after the other, until all have ended."""
        fruitless = 0
        while self._waiting:
            self._go_round()
            fruitless = fruitless + 1 if all(one.is_fruitless for one in self._waiting) else 0
            if fruitless > _MOST_FRUITLESS:
                raise ProgramsWaitError("programs wait for something that no program does")

    def _go_round(self) -> None:
        """Lets each program that waits ask once more."""
        for program in tuple(self._waiting):
            program.resumed()
            self._let(program)
            if program.is_over:
                self._waiting.remove(program)

    def abandon(self) -> None:
        """Ends the programs that still wait; there are some only if a launch has failed."""
        for program in self._waiting:
            program.is_abandoned = True
            self._let(program)

    def asked(self, question: object) -> None:
        """Notes an answer to the running program; it waits where it has had the same one last."""
        program = self._running
        if program is None:
            return
        program.is_fruitless = question == program.asked
        program.asked = question
        if program.is_fruitless:
            program.resumed = self._leave()
            self._give_back()
            program.turn.wait()
            program.turn.clear()
            if program.is_abandoned:
                raise _Abandoned

    def did(self) -> None:
        """Notes that the running program stored something: it does not wait."""
        if self._running is not None:
            self._running.asked, self._running.is_fruitless = None, False

    def _let(self, program: _Program) -> None:
        """Lets a program run until it ends or waits. Raises what it raises."""
        self._running = program
        program.turn.set()
        self._given_back.wait()
        self._given_back.clear()
        if program.error is not None:
            self._waiting = [one for one in self._waiting if one is not program]
            raise program.error

    def _give_back(self) -> None:
        self._running = None
        self._given_back.set()

    def _run(self, program: _Program) -> None:
        program.turn.wait()
        program.turn.clear()
        try:
            with torch._C.DisableTorchFunction():
                program.run()
        except _Abandoned:
            pass
        except Exception as error:  # noqa: BLE001 - it is raised where the launch was begun
            program.error = error
        program.is_over = True
        program.is_fruitless = False
        self._give_back()
