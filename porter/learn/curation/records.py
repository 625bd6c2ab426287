"""The records of a curation: a class as it was read, how it is called, what came of a trial, and its task."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of code. `licence` is the name of the file that has it; empty where the repository has none."""

    repository: str
    commit: str
    file: str
    line: int
    licence: str


@dataclass(frozen=True, slots=True)
class ReadClass:
    """A class that was found, and its `code`: a file with all that it needs. `refusal` says why there is none."""

    name: str
    provenance: Provenance
    code: str
    digest: str
    refusal: str

    @property
    def key(self) -> str:
        """Returns what no other class is called."""
        return f"{self.provenance.repository}/{self.provenance.file}:{self.name}"


class Contents(StrEnum):
    """The contents of an input."""

    NORMAL = "normal"
    INDICES = "indices"  # whole numbers below a bound
    LITERAL = "literal"  # no tensor but the value of an expression
    SEVERAL = "several"  # a list of three tensors of that shape


@dataclass(frozen=True, slots=True)
class Given:
    """One argument of `forward`; `below` bounds indices, `text` is the expression of a literal."""

    name: str
    contents: Contents
    shape: tuple[int, ...] = ()
    below: int = 0
    text: str = ""

    @property
    def is_tensor(self) -> bool:
        """Returns whether it has a shape."""
        return self.contents is not Contents.LITERAL


@dataclass(frozen=True, slots=True)
class Setting:
    """An argument of the constructor, an expression that needs no name but `torch`."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments with which a class is built and called."""

    settings: tuple[Setting, ...]
    inputs: tuple[Given, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function; `default` is how its default value prints, None where there is none."""

    name: str
    annotation: str
    default: str | None


@dataclass(frozen=True, slots=True)
class Signature:
    """The needs of a class: the parameters of its constructor and of `forward`."""

    constructor: tuple[Parameter, ...]
    forward: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer of torch within a module, and the size that its input has to have."""

    kind: str
    size: int


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of an ATen operator; `sources` are the places of the operations whose results it reads."""

    operator: str
    sources: tuple[int, ...]
    is_view: bool


class Reached(StrEnum):
    """The stage that a trial reached."""

    NOTHING = "import"
    IMPORTED = "build"
    BUILT = "forward"
    RAN = "checks"
    FIT = "fit"


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of one trial. `error` says why it went no further, and `line` is the text of the line that raised."""

    reached: Reached
    error: str
    line: str
    layers: tuple[Layer, ...]
    operations: tuple[Operation, ...]
    bytes_moved: int


@dataclass(frozen=True, slots=True)
class Trial:
    """All trials of a class. `call` is the one with which it ran, None where none did.

    `scaled` is the same call at sizes worth timing, of which shapes alone were checked, and None where there are none;
    then `bytes_moved` are those of `call`.
    """

    key: str
    digest: str
    tries: int
    reached: Reached
    error: str
    call: Call | None
    scaled: Call | None
    bytes_moved: int
    operations: tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class Curated:
    """A class that can be executed. `same_as` is the key of the task that it repeats, and empty for a task.

    `cluster` counts the groups of similar graphs, from 0; one task of each stands for it.
    """

    key: str
    name: str
    family: str
    graph: str
    same_as: str
    because: str
    cluster: int
    stands_for_cluster: bool
