"""The questions for the process that holds a Python reference, and what it says of itself. Both cross as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from porter.contract.model.contract import Distribution

CHANGED = "changed"  # said of arguments, beside an answer


class Ask(StrEnum):
    """The questions."""

    DESCRIBE = "describe"  # inputs, parameters and results at given sizes, without memory for them
    INPUTS = "inputs"  # what `get_inputs` gives, and the parameters of the module
    ANSWER = "answer"  # of the arguments of the job, at their own dtypes
    EXACT = "exact"  # the same in double precision
    EXPORT = "export"  # its graph of ATen operators at given sizes, without memory for them


@dataclass(frozen=True, slots=True)
class Question:
    """One question. `extents` maps sizes that the reference is written with to those it is asked at.

    `seed`, `distribution` and `scale` say how inputs are drawn; unless `signed`, numbers that the reference draws from
    [0, 1) stay there. `written` are the positions of arguments that it may change, `blank` of those that hold nothing.
    Inputs that share their first axis with the first of them have so many `axes` more, or fewer, than it says.
    """

    ask: Ask
    extents: Mapping[int, int] = field(default_factory=dict)
    seed: int = 0
    distribution: Distribution = Distribution.DECLARED
    scale: float = 1.0
    signed: bool = True
    written: tuple[int, ...] = ()
    blank: tuple[int, ...] = ()
    axes: int = 0

    def encoded(self) -> str:
        """Returns it as JSON."""
        return json.dumps(asdict(self) | {"extents": [list(pair) for pair in self.extents.items()]})


def decoded(text: str) -> Question:
    """The question that was `encoded`."""
    fields = json.loads(text)
    return Question(
        Ask(fields["ask"]),
        dict(fields["extents"]),
        fields["seed"],
        Distribution(fields["distribution"]),
        fields["scale"],
        fields["signed"],
        tuple(fields["written"]),
        tuple(fields["blank"]),
        fields["axes"],
    )


@dataclass(frozen=True, slots=True)
class Described:
    """A tensor, or a number where `dtype` is empty."""

    name: str
    dtype: str
    shape: tuple[int, ...] = ()
    value: float = 0.0


@dataclass(frozen=True, slots=True)
class Description:
    """The signature of a reference: inputs, parameters of its module, results; `initial` are sizes it is built with.

    `built_with` is all that it is built with, a list as JSON, and empty where that is no text; `state` are the names of
    its parameters.
    """

    inputs: tuple[Described, ...]
    parameters: tuple[Described, ...]
    results: tuple[Described, ...]
    initial: tuple[int, ...]
    built_with: str = ""
    state: tuple[str, ...] = ()

    def encoded(self) -> str:
        """Returns it as JSON."""
        return json.dumps(asdict(self))

    @property
    def arguments(self) -> tuple[Described, ...]:
        """All that a candidate is given, in order."""
        return (*self.inputs, *self.parameters)


def description(text: str) -> Description:
    """The description that was `encoded`; raises `ValueError` for anything else: its process is not trusted."""
    try:
        fields = json.loads(text)
        groups = [
            tuple(Described(str(d["name"]), str(d["dtype"]), tuple(map(int, d["shape"])), float(d["value"])) for d in g)
            for g in (fields["inputs"], fields["parameters"], fields["results"])
        ]
        initial, state = tuple(map(int, fields["initial"])), tuple(map(str, fields["state"]))
        return Description(groups[0], groups[1], groups[2], initial, str(fields["built_with"]), state)
    except (KeyError, TypeError) as error:
        raise ValueError(f"no description: {error}") from error
