"""Questions a draft asks, and which of them running the kernel can answer."""

from __future__ import annotations

from porter.contract.contract import Contract, Question, TensorArg

_EXTENT = "the source does not say how many elements '{name}' has"
_BOUND = "the source does not say below which bound the values of '{name}' lie"
_LAUNCH = "the source does not say how '{name}' is launched"
_ELEMENT = "'{name}' points to {type}"
_TAKEN = "; its bytes are taken to be float32"
_CALLABLE = "'{name}' is an object of the type {type} that is called"
_NO_VALUE = "; name a class without state as its type and as the template argument"
_FLAG = "--contract"


def extent_question(name: str) -> Question:
    """What does this pointer span?"""
    return Question(name, _EXTENT.format(name=name), _FLAG)


def bound_question(name: str) -> Question:
    """What do these indices index?"""
    return Question(name, _BOUND.format(name=name), _FLAG)


def launch_question(name: str) -> Question:
    """What are the grid and the block of this kernel?"""
    return Question(name, _LAUNCH.format(name=name), _FLAG)


def element_question(name: str, type_: str) -> Question:
    """What are the elements behind this pointer?"""
    return Question(name, _ELEMENT.format(name=name, type=type_) + _TAKEN, _FLAG)


def unknown_elements(contract: Contract) -> frozenset[str]:
    """The names of tensors whose element type the draft guessed."""
    return frozenset(q.about for q in contract.questions if q.text.endswith(_TAKEN))


def callable_question(name: str, type_: str) -> Question:
    """What is the function object of a type that only callers know?"""
    return Question(name, _CALLABLE.format(name=name, type=type_) + _NO_VALUE, _FLAG)


def unknown_callables(contract: Contract) -> tuple[Question, ...]:
    """The questions about function objects: whose type is a guess that the source may not even compile with."""
    return tuple(q for q in contract.questions if q.text.endswith(_NO_VALUE))


def guessed_launch(contract: Contract) -> Question | None:
    """The question about the launch, where the draft had to guess one."""
    question = launch_question(contract.entry.name)
    return question if question in contract.questions else None


def unknown_extents(contract: Contract) -> tuple[TensorArg, ...]:
    """The tensors whose shape the draft guessed."""
    return tuple(t for t in contract.tensors if extent_question(t.name) in contract.questions)


def unknown_bounds(contract: Contract) -> tuple[TensorArg, ...]:
    """The index tensors whose bound the draft guessed."""
    return tuple(t for t in contract.tensors if bound_question(t.name) in contract.questions)


def others(contract: Contract) -> tuple[Question, ...]:
    """The questions that only the user can answer."""
    return tuple(q for q in contract.questions if q not in (extent_question(q.about), bound_question(q.about)))
