"""Defines the questions a draft asks, and tells which of them running the kernel can answer."""

from __future__ import annotations

from porter.contract.model.contract import Contract, Question, TensorArg

_EXTENT = "the source does not say how many elements '{name}' has"
_BOUND = "the source gives no upper bound for the values of '{name}'"
_LAUNCH = "the source does not say how '{name}' is launched"
_BLOCK = "no launch of '{name}' gives the size of its blocks as numbers"
_FEW = "'{name}' has more blocks than can be run here, whatever its sizes"
_EXTENTS = "the source does not say with which grid and block '{name}' is called"
_ELEMENT = "'{name}' points to {type}"
_TAKEN = "; its bytes are taken to be float32"
_SCALAR = "'{name}' has the type {type}"
_UNVALUED = ", for which porter knows no value"
_NO_VALUES = "a list of tensors, for which a contract has no values"
_LIST = "'{name}' is {type}: " + _NO_VALUES
_SIZES = "no sizes were found with {conditions}"
_NO_SIZES = "no sizes were found that make small tensors"
_CALLABLE = "'{name}' is an object of the type {type} that is called"
_NO_VALUE = "; name a class without state as its type and as the template argument"
_FLAG = "--contract"


def extent_question(name: str) -> Question:
    """Returns what does this pointer span?"""
    return Question(name, _EXTENT.format(name=name), _FLAG)


def bound_question(name: str) -> Question:
    """Returns what do these indices index?"""
    return Question(name, _BOUND.format(name=name), _FLAG)


def launch_question(name: str) -> Question:
    """Returns what are the grid and the block of this kernel?"""
    return Question(name, _LAUNCH.format(name=name), _FLAG)


def block_question(name: str) -> Question:
    """Returns the question how many threads a block of this kernel has, where its launches leave that to a run."""
    return Question(name, _BLOCK.format(name=name), _FLAG)


def few_blocks_question(name: str) -> Question:
    """Returns the question whether a few blocks of this kernel stand for all that a constant of the source says."""
    return Question(name, _FEW.format(name=name), _FLAG)


def extents_question(name: str) -> Question:
    """Returns the question which extents of launches this host function is handed."""
    return Question(name, _EXTENTS.format(name=name), _FLAG)


def element_question(name: str, type_: str) -> Question:
    """Returns what are the elements behind this pointer?"""
    return Question(name, _ELEMENT.format(name=name, type=type_) + _TAKEN, _FLAG)


def unknown_elements(contract: Contract) -> frozenset[str]:
    """Returns the names of tensors whose element type the draft guessed."""
    return frozenset(q.about for q in contract.questions if q.text.endswith(_TAKEN))


def scalar_question(name: str, type_: str) -> Question:
    """Returns the question which values a parameter takes whose type is not known or no number."""
    return Question(name, _SCALAR.format(name=name, type=type_) + _UNVALUED, _FLAG)


def list_question(name: str, type_: str) -> Question:
    """Returns which tensors are in this list?"""
    return Question(name, _LIST.format(name=name, type=type_), _FLAG)


def sizes_question(contract: Contract) -> Question:
    """Returns the question at which sizes the operator runs."""
    conditions = "; ".join(contract.conditions)
    flag = " ".join(f"--size {symbol}=..." for symbol in contract.symbols) or _FLAG
    return Question("sizes", _SIZES.format(conditions=conditions) if conditions else _NO_SIZES, flag)


def callable_question(name: str, type_: str) -> Question:
    """Returns what is the function object of a type that only callers know?"""
    return Question(name, _CALLABLE.format(name=name, type=type_) + _NO_VALUE, _FLAG)


def guessed_launch(contract: Contract) -> Question | None:
    """Returns the question about the launch, where the draft had to guess one."""
    name = contract.entry.name
    asked = (launch_question(name), block_question(name), extents_question(name), few_blocks_question(name))
    return next((q for q in asked if q in contract.questions), None)


def unknown_extents(contract: Contract) -> tuple[TensorArg, ...]:
    """Returns the tensors whose shape the draft guessed."""
    return tuple(t for t in contract.tensors if extent_question(t.name) in contract.questions)


def unknown_bounds(contract: Contract) -> tuple[TensorArg, ...]:
    """Returns the index tensors, and fields of structs, whose bound the draft guessed."""
    return tuple(t for t in contract.parts if bound_question(t.name) in contract.questions)


def unknown_values(contract: Contract) -> tuple[Question, ...]:
    """Returns questions about arguments of a type with which the source, as it was guessed, may not even compile."""
    return tuple(q for q in contract.questions if q.text.endswith((_NO_VALUE, _UNVALUED)))


def unanswerable(contract: Contract) -> tuple[Question, ...]:
    """Returns questions about arguments that porter has no value for: no run answers them, so none is made."""
    return tuple(q for q in contract.questions if q.text.endswith((_NO_VALUE, _UNVALUED, _NO_VALUES)))


def open_questions(contract: Contract) -> tuple[Question, ...]:
    """Returns questions that prevent a verification: all except those about a launch or an element type.

    Under another launch every line of the kernel still runs, and elements of another type still are bytes that are read
    and written. Another size, extent or number may leave nothing to do.
    """
    launch, elements = guessed_launch(contract), unknown_elements(contract)
    guessed = [q for q in contract.questions if q == launch or (q.about in elements and q.text.endswith(_TAKEN))]
    return tuple(q for q in contract.questions if q not in guessed)


def others(contract: Contract) -> tuple[Question, ...]:
    """Returns the questions that only the user can answer."""
    return tuple(q for q in contract.questions if q not in (extent_question(q.about), bound_question(q.about)))
