"""A place in a file's words, and the names known there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from porter.source.lexer import CLOSING, OPENING, Token, TokenKind
from porter.source.vocabulary import LIBRARIES
from porter.syntax.words import Words


class NotReadError(Exception):
    """The words at a place do not read; caught where a statement or definition begins, which then is Unread."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


@dataclass
class Scopes:
    """The meanings of names, innermost last: `type`, `type parameter`, `concept`, `value`, `template` (of a function).

    An alias of a namespace is taken to be the same in the whole program, as is what a using brings into scope.
    """

    levels: list[dict[str, str]] = field(default_factory=lambda: [{}])
    namespaces: dict[str, str] = field(default_factory=dict)  # by alias
    used: dict[str, str] = field(default_factory=dict)  # qualified names of libraries, by their last part

    def meaning(self, name: str) -> str:
        """Returns what `name` was last declared as; empty for one nobody declared."""
        for level in reversed(self.levels):
            if name in level:
                return level[name]
        return ""

    def qualified(self, parts: Sequence[str]) -> str:
        """The parts joined, an alias of a namespace at the beginning and what a using leaves out written out."""
        if parts[0] in self.used and not self.meaning(parts[0]):
            return "::".join((self.used[parts[0]], *parts[1:]))
        first = self.namespaces.get(parts[0], parts[0]) if len(parts) > 1 else parts[0]
        return "::".join((first, *parts[1:]))

    def use(self, parts: Sequence[str]) -> None:
        """`using a::b;`, or `using namespace a;` for what is known of `a`, where these are a library's."""
        name = self.namespaces.get("::".join(parts), self.qualified(parts))
        owner, _, last = name.rpartition("::")
        if last in LIBRARIES.get(owner, ()):
            self.used[last] = name
        self.used |= {member: f"{name}::{member}" for member in LIBRARIES.get(name, ())}

    def declare(self, name: str, meaning: str) -> None:
        """Make `name` known in the innermost scope."""
        self.levels[-1][name] = meaning

    @contextmanager
    def inner(self) -> Iterator[None]:
        """A scope that ends with the `with`, also by a problem."""
        depth = len(self.levels)
        self.levels.append({})
        try:
            yield
        finally:
            del self.levels[depth:]


Mark = tuple[int, bool, int]


class Cursor:
    """Steps through words; `>>` can be taken as two `>`."""

    def __init__(self, file: Words, scopes: Scopes) -> None:
        self.file = file
        self.scopes = scopes
        self.words: Sequence[Token] = file.words
        self.texts = [*("#unroll" if w.kind is TokenKind.DIRECTIVE else w.text for w in file.words), ""]
        self.at = 0
        self.half = False  # the first `>` of the `>>` at `at` is used up
        self.in_angles = False  # a `>` closes template arguments

    @property
    def text(self) -> str:
        """The word that comes next; empty at the end, `#unroll` for a `#pragma unroll`."""
        return ">" if self.half else self.texts[self.at]

    @property
    def kind(self) -> TokenKind:
        """The kind of the word that comes next; OTHER at the end."""
        return self.words[self.at].kind if self.at < len(self.words) else TokenKind.OTHER

    @property
    def line(self) -> int:
        """The line of the word that comes next, or of the last one."""
        lines = self.file.lines
        return lines[min(self.at, len(lines) - 1)] if lines else 1

    @property
    def is_name(self) -> bool:
        """Returns whether an identifier or keyword comes next."""
        return self.kind is TokenKind.IDENTIFIER

    def ahead(self, count: int = 1) -> str:
        """The word `count` places further; empty beyond the end."""
        return self.texts[self.at + count] if self.at + count < len(self.texts) else ""

    def mark(self) -> Mark:
        """A place to come back to."""
        return self.at, self.half, len(self.scopes.levels)

    def back(self, mark: Mark) -> None:
        """Return to `mark`, scopes opened since closed."""
        self.at, self.half, depth = mark
        del self.scopes.levels[depth:]

    def step(self) -> str:
        """Take the next word, whatever it is."""
        text, self.half = self.text, False
        self.at = min(self.at + 1, len(self.words))
        return text

    def take(self, text: str) -> bool:
        """Step over `text` if it comes next."""
        if self.texts[self.at] != text or self.half:
            return False
        self.at = min(self.at + 1, len(self.words))
        return True

    def expect(self, text: str) -> None:
        """Step over `text`, which must come next."""
        if not self.take(text):
            raise self.problem(f"expected {text!r} before {self.text!r}")

    def name(self) -> str:
        """Take an identifier."""
        if not self.is_name or self.half:
            raise self.problem(f"expected a name before {self.text!r}")
        return self.step()

    def close_angle(self) -> bool:
        """Step over one `>`, that of a `>>` included; False when none comes."""
        if self.half or self.texts[self.at] == ">":
            self.step()
            return True
        if self.texts[self.at] == ">>":
            self.half = True
            return True
        return False

    def problem(self, reason: str) -> NotReadError:
        """Returns the error which says that the words here do not read."""
        return NotReadError(reason, self.line)

    def skip_bracket(self) -> None:
        """Step over the bracket that opens here and all that is in it."""
        closer = self.closer(self.at)
        if closer is None:
            raise self.problem(f"{self.text!r} is never closed")
        self.at, self.half = closer + 1, False

    def closer(self, index: int) -> int | None:
        """Index of the word that closes the round, square or curly bracket at `index`."""
        depth = 0
        for i in range(index, len(self.words)):
            text = self.texts[i]
            if text in OPENING:
                depth += 1
            elif text in CLOSING:
                depth -= 1
                if depth == 0:
                    return i
        return None

    def spelled(self, begin: int, end: int) -> str:
        """The text of the words `[begin, end)` with single blanks."""
        return self.file.reading.written(self.words[begin:end])
