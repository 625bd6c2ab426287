"""Writes the check that PyTorch makes when asked for a tensor's data as elements of a type: that they have it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from porter_triton.host.suites import Line, Suite

# What has the dtype of the tensor it is made of, and what says its own.
_SAME = r"(?:\.(?:contiguous|clone|detach|view|reshape|flatten|squeeze|unsqueeze|transpose|permute|t)\([^()]*\))"
_DERIVED = re.compile(rf"(\w+) = (\w+){_SAME}+")
_LIKE = re.compile(r"(\w+) = torch\.\w+_like\((\w+)(?:, device=[\w.]+)?\)")
_OWN = re.compile(r"(\w+) = torch\.\w+\(.*\bdtype=((\w+)\.\w+)[,)]")
_COMPARED = re.compile(r"(\w+)\.dtype == (torch\.\w+|\w+\.dtype)")
_ASSIGNED = re.compile(r"(\w+) = ")
_TENSOR = re.compile(rf"(\w+(?:\[\d+\])?){_SAME}*")


@dataclass(frozen=True, slots=True)
class _Asked:
    """`tensor` must have `dtype`, where `condition` holds."""

    tensor: str
    dtype: str
    condition: str = ""


@dataclass(frozen=True)
class Dtypes:
    """The facts known of the dtypes of tensors, by their texts, and the checks that the next statement needs first.

    `like` maps a tensor to one with the same dtype. `subjects` are the expressions whose value a dispatch turned into a
    type, by the name of that.
    """

    asked: dict[_Asked, None] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)
    like: dict[str, str] = field(default_factory=dict)
    subjects: dict[str, str] = field(default_factory=dict)
    conditions: tuple[str, ...] = ()

    def inside(self) -> Dtypes:
        """Returns the same facts for a suite: those found there only hold in it."""
        return replace(self, asked={}, known=dict(self.known), like=dict(self.like), subjects=dict(self.subjects))

    def ask(self, tensor: str, dtype: str, is_steady: Callable[[str], bool]) -> None:
        """Demands `dtype` of a tensor, unless it is known to have it."""
        found = _TENSOR.fullmatch(tensor)
        if found is None:
            return
        root = found[1]
        while (origin := self.like.get(root)) is not None and is_steady(origin) and is_steady(root):
            root = origin
        if dtype == f"{root}.dtype" or (self.known.get(root) == dtype and is_steady(root)):
            return
        self.asked[_Asked(root, dtype, " and ".join(self.conditions))] = None
        if not self.conditions:
            self.known[root] = dtype

    def hold(self, condition: str) -> None:
        """Note what a condition says that holds from here on."""
        for part in condition.split(" and "):
            if found := _COMPARED.fullmatch(part):
                self.known[found[1]] = found[2]

    def emitted(self, text: str, is_steady: Callable[[str], bool]) -> None:
        """Note what a statement says of the variable it sets."""
        target = _ASSIGNED.match(text)
        if target is None:
            return
        name = target[1]
        derived = _DERIVED.fullmatch(text) or _LIKE.fullmatch(text)
        if derived is not None and derived[2] == name:
            return
        self.known.pop(name, None)
        self.like.pop(name, None)
        for other in [tensor for tensor, origin in self.like.items() if origin == name]:
            del self.like[other]
        own = _OWN.fullmatch(text)
        origin = derived[2] if derived is not None else own[3] if own is not None and own[3] != "torch" else ""
        if origin and is_steady(origin):
            self.like[name] = origin
        elif own is not None:
            self.known[name] = own[2]

    def checks(self, free_name: Callable[[str], str]) -> list[Line | Suite]:
        """Returns the statements for what was asked since the last call."""
        groups: dict[tuple[str, str], list[str]] = {}
        for asked in self.asked:
            groups.setdefault((asked.dtype, asked.condition), []).append(asked.tensor)
        self.asked.clear()
        made: list[Line | Suite] = []
        for (dtype, condition), tensors in groups.items():
            if len(tensors) == 1 or condition:
                made.extend(_check(t, dtype, condition) for t in tensors)
            else:
                name = free_name("tensor")
                made.append(Suite(f"for {name} in ({', '.join(tensors)}):", [_check(name, dtype, "")]))
        return made


def _check(tensor: str, dtype: str, condition: str) -> Suite:
    head = f"if {condition} and " if condition else "if "
    wanted = dtype if dtype.startswith("torch.") else f"{{{dtype}}}"
    raised = Line(f'raise RuntimeError(f"expected {wanted} but found {{{tensor}.dtype}}")')
    return Suite(f"{head}{tensor}.dtype != {dtype}:", [raised])
