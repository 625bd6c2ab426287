"""On a device: which operators of the library made a result, as on the CPU.

What a launch reads and writes is not seen there. So it reads whatever it is given, and writes it, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from triton.runtime.jit import JITFunction

from porter.simt.job import Fault, FaultKind
from porter_triton.judging.flow import Flow
from porter_triton.judging.habits import Habits
from porter_triton.observation import Observation
from porter_triton.tensors import tensors_in

_NOT_SEEN = Habits()


class Follower:
    """Follows the calls of modules in this process, one after the other."""

    def __init__(self) -> None:
        self._flow = Flow()
        self._follows = False
        launch = JITFunction.run

        def run(kernel: object, *given: object, **named: object) -> object:
            launched = launch(kernel, *given, **named)
            if self._follows:
                self.launched(given, named)
            return launched

        JITFunction.run = run

    def launched(self, given: Sequence[object], named: Mapping[str, object]) -> None:
        """A kernel was launched with these arguments."""
        arguments = {str(index): value for index, value in enumerate((*given, *named.values()))}
        touched = (self._flow.but_indices(region) for region in _NOT_SEEN.expected("", arguments))
        self._flow.launched(list(touched), arguments, {})

    @contextmanager
    def following(self, path: str, given: Sequence[object], permitted: frozenset[str]) -> Iterator[None]:
        """While a function of the module at `path` is called with `given`; operators `permitted` are the original's."""
        self._flow.begin(given, permitted, Observation(path))
        self._follows = True
        try:
            with self._flow:
                yield
        finally:
            self._follows = False

    def faults(self, path: str, results: Sequence[object]) -> list[Fault]:
        """What in `results`, of which arguments are some, the library computed."""
        found = []
        for tensor in filter(torch.Tensor.numel, tensors_in(list(results))):
            trouble = self._flow.trouble(tensor.untyped_storage().data_ptr(), returned=False)
            if trouble and trouble.kind is FaultKind.LIBRARY:
                found.append(Fault(trouble.kind, path, trouble.line, "", f"on the device a result {trouble.message}"))
        return found
