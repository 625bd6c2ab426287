"""The names of types: which words are types, how they are spelt canonically, and how a type is read."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

from porter.source.arithmetic_types import canonical
from porter.source.vocabulary import HINTS, SPACES, TYPE_KEYS, WITH_ARGUMENTS
from porter.syntax.cursor import Cursor, NotReadError
from porter.syntax.nodes import Expression, Name, TypeName

_INTEGER_WORDS = frozenset(("unsigned", "signed", "long", "short", "int", "char", "double", "__int64"))
_SINGLE_WORDS = frozenset((
    "void", "bool", "float", "auto", "wchar_t", "char8_t", "char16_t", "char32_t", "__int128", "__half", "half",
    "__half2", "half2", "__nv_bfloat16", "__nv_bfloat162", "nv_bfloat16", "nv_bfloat162", "size_t", "ssize_t",
    "ptrdiff_t", "intptr_t", "uintptr_t", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t",
    "uint32_t", "uint64_t", "uint", "uchar", "ushort", "ulong", "__nv_fp8_e4m3", "__nv_fp8_e5m2",
))  # fmt: skip
_HEADER_NAMES = {"half": "__half", "half2": "__half2"} | {f"nv_{n}": f"__nv_{n}" for n in ("bfloat16", "bfloat162")}
VECTORS = frozenset(
    f"{base}{width}"
    for base in ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong", "float", "double")
    for width in (1, 2, 3, 4)
)
_CLASSES = frozenset((
    "dim3", "cudaStream_t", "cudaError_t", "cudaEvent_t", "cudaDeviceProp", "scalar_t", "accscalar_t", "opmath_t",
    "torch::Tensor", "at::Tensor", "Tensor", "at::Half", "c10::Half", "at::BFloat16", "c10::BFloat16", "std::string",
    "std::vector", "std::tuple", "std::pair", "at::TensorOptions", "torch::TensorOptions", "at::ScalarType",
))  # fmt: skip
BUILT_IN = _INTEGER_WORDS | _SINGLE_WORDS | VECTORS
# Types whose `T(x)` converts a number.
SCALARS = _INTEGER_WORDS | (_SINGLE_WORDS - {"void", "auto", "__half2", "half2", "__nv_bfloat162", "nv_bfloat162"})
_KNOWN = BUILT_IN | _CLASSES
_TYPES = ("type", "type parameter")
_CONSTANT = re.compile(r"value|size|k[A-Z]\w*|[A-Z][A-Z\d_]+")  # a member of a class named so is no type
_CV = frozenset(("const", "volatile"))
STORAGE = frozenset((
    "static", "inline", "extern", "constexpr", "register", "thread_local", "mutable", "virtual", "explicit",
    "friend", "consteval", "constinit", "__shared__", "__constant__", "__device__", "__host__", "__managed__",
    "__grid_constant__",
))  # fmt: skip
_IGNORED = (HINTS | SPACES) - {"__device__", "__host__"}
NOT_A_NAME = frozenset((
    "return", "if", "else", "for", "while", "do", "switch", "case", "default", "break", "continue", "goto", "throw",
    "new", "delete", "sizeof", "this", "true", "false", "nullptr", "operator", "using", "typedef", "template",
    "namespace", "static_assert", "static_cast", "reinterpret_cast", "const_cast", "dynamic_cast", "try", "catch",
    "asm", "__asm__", "public", "private", "protected", "alignof", "and", "or", "not", "noexcept",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Specifiers:
    """The part before a declarator: a type without pointers, and the words beside it."""

    type: TypeName
    words: frozenset[str]


class TypeReader(Cursor, ABC):
    """Reads types; template arguments may be expressions, which a later layer reads."""

    @abstractmethod
    def assignment(self) -> Expression:
        """An expression without a comma."""

    @abstractmethod
    def struct_in_place(self) -> TypeName:
        """`struct { ... }` or `union { ... }` where a type stands."""

    def is_type(self, name: str) -> bool:
        """Returns whether `name` is known to be a type."""
        meaning = self.scopes.meaning(name)
        return meaning in _TYPES if meaning else name in _KNOWN

    def may_be_type(self, name: str) -> bool:
        """Returns whether an unknown `name` looks like a type rather than like a constant or variable."""
        meaning = self.scopes.meaning(name)
        if meaning or name in _KNOWN:
            return meaning in ("", *_TYPES) or (meaning == "template" and name[:1].isupper())
        owner, _, last = name.rpartition("::")
        if owner:
            enumerator = "::".join(name.split("::")[-2:])
            return self.scopes.meaning(enumerator) != "value" and not _CONSTANT.fullmatch(last)
        return name not in NOT_A_NAME and (len(name) == 1 or not name.isupper())

    def specifiers(self, *, sure: bool = False) -> Specifiers:
        """`static const unsigned int`, `typename A<T>::B const`, ...; `sure` where nothing but a type can stand."""
        words: set[str] = set()
        numbers: list[str] = []
        named: TypeName | None = None
        while True:
            text = self.text
            if text in _CV or text in STORAGE:
                words.add(self.step())
            elif self.ignored():
                continue
            elif text in ("struct", "union") and self.ahead() == "{":
                named = self.struct_in_place()
            elif text in _INTEGER_WORDS and named is None:
                numbers.append(self.step())
            elif named is None and not numbers and self.is_name and text not in NOT_A_NAME:
                named = self.named_type()
            elif (
                named is None
                and not numbers
                and (named := self.global_type(sure=sure or bool(words & _CV))) is not None
            ):
                continue
            else:
                break
        if named is None:
            if not numbers:
                raise self.problem(f"expected a type before {self.text!r}")
            named = TypeName(canonical(numbers))
        kind = replace(named, const="const" in words, volatile="volatile" in words) if words & _CV else named
        return Specifiers(kind, frozenset(words))

    def ignored(self) -> bool:
        """Step over a hint, attribute or `struct`/`typename` key, which says nothing here."""
        text = self.text
        if text in WITH_ARGUMENTS:
            self.step()
            if self.text == "(":
                self.skip_bracket()
        elif text in _IGNORED or (text in TYPE_KEYS and self.ahead() not in ("{", "")):
            self.step()
        elif text == "[" and self.ahead() == "[":
            self.skip_bracket()
        else:
            return False
        return True

    def named_type(self) -> TypeName:
        """`a::B<T>::C`; the arguments of all its parts together."""
        if self.text == "decltype":
            self.step()
            self.expect("(")
            inside = self.unbracketed()
            self.expect(")")
            return TypeName("decltype", (inside,))
        self.take("::")
        parts = [self.name()]
        arguments: tuple[TypeName | Expression, ...] = ()
        while True:
            if self.text == "<" and (self.scopes.meaning("::".join(parts)) != "value"):
                arguments = (*arguments, *self.template_arguments())
            elif self.text == "::" and (self.ahead().isidentifier()):
                self.step()
                self.take("template")
                parts.append(self.name())
            else:
                return TypeName(spelled(self.scopes.qualified(parts)), arguments)

    def global_type(self, *, sure: bool) -> TypeName | None:
        """`::a::B` where it surely is a type, as a variable's that follows; None, nothing taken, for anything else."""
        if self.text != "::" or not self.ahead().isidentifier():
            return None
        mark = self.mark()
        named = self.named_type()
        if sure or self.known(named.name) or self.is_name:
            return named
        self.back(mark)
        return None

    def unbracketed(self) -> Expression:
        """An expression within brackets, where `>` is a comparison again."""
        outer, self.in_angles = self.in_angles, False
        try:
            return self.assignment()
        finally:
            self.in_angles = outer

    def template_arguments(self) -> tuple[TypeName | Expression, ...]:
        """`<float, 4, N + 1>`."""
        self.expect("<")
        outer, self.in_angles = self.in_angles, True
        try:
            arguments: list[TypeName | Expression] = []
            while not self.close_angle():
                arguments.append(self.template_argument())
                self.take("...")
                if not self.take(",") and self.text not in (">", ">>"):
                    raise self.problem(f"expected '>' before {self.text!r}")
            return tuple(arguments)
        finally:
            self.in_angles = outer

    def template_argument(self) -> TypeName | Expression:
        """One argument: a type where the words read as one, else an expression."""
        mark = self.mark()
        kind = self.type_here()
        if kind is not None and self.text in (",", ">", ">>", "..."):
            return kind
        self.back(mark)
        return self.assignment()

    def type_here(self, *, sure: bool = False) -> TypeName | None:
        """The type (with `*`, `&`) at this place; None, nothing taken, where no type can stand.

        `sure` demands a name known to be a type, or words that no expression has.
        """
        mark = self.mark()
        begin = self.at
        try:
            specifiers = self.specifiers()
        except NotReadError:
            self.back(mark)
            return None
        kind = self.pointers(specifiers.type)
        if self.in_angles and self.text == "[" and self.ahead() == "]":
            kind = TypeName("[]", (kind,))
            self.skip_bracket()
        kind = self.pointer_to_array(kind)
        plain = self.at == begin + 1
        known = self.known(specifiers.type.name) or bool(specifiers.words & _CV)
        certain = known or (not plain and kind.pointers > 0 and self.text in (")", ">", ","))
        if (certain if sure else known or self.may_be_type(specifiers.type.name)) and self.parameter_list_or_nothing():
            return kind
        self.back(mark)
        return None

    def pointer_to_array(self, kind: TypeName) -> TypeName:
        """`kind (*)[N]`, a pointer to rows, or `kind (&)[N]`; `kind` itself where there is no such declarator."""
        how = self.ahead()
        if self.texts[self.at : self.at + 4] != ["(", how, ")", "["] or how not in ("*", "&"):
            return kind
        for _ in range(3):
            self.step()
        sizes: list[TypeName | Expression] = []
        while self.take("["):
            sizes.append(self.unbracketed())
            self.expect("]")
        return TypeName("[]", (kind, *sizes), int(how == "*"), reference=how == "&")

    def parameter_list_or_nothing(self) -> bool:
        """Step over the parameters of a function type (`R(A, B)`, `R (*)(A)`) within template arguments."""
        if not self.in_angles or self.text != "(":
            return True
        self.skip_bracket()
        if self.text == "(":
            self.skip_bracket()
        return self.text in (",", ">", ">>")

    def known(self, name: str) -> bool:
        """Returns whether the canonical `name` is surely a type."""
        return self.is_type(name) or " " in name or name == "decltype" or name.endswith(("::type", "::TempStorage"))

    def pointers(self, kind: TypeName) -> TypeName:
        """`kind` with the `*`, `&`, `const` and `__restrict__` that come next."""
        count, reference, const, volatile = kind.pointers, kind.reference, kind.const, kind.volatile
        while True:
            text = self.text
            if text == "*":
                count += 1
            elif text in ("&", "&&"):
                reference = True
            elif text in _CV:
                const = const or (text == "const" and count == 0)
                volatile = volatile or (text == "volatile" and count == 0)
            elif text not in HINTS:
                break
            self.step()
        changed = (count, reference, const, volatile)
        if changed == (kind.pointers, kind.reference, kind.const, kind.volatile):
            return kind
        return TypeName(kind.name, kind.arguments, count, const, reference, volatile)


def spelled(name: str) -> str:
    """A built-in type without the `std::` it may have, and by the name its header gives it."""
    plain = name.removeprefix("std::")
    return _HEADER_NAMES.get(plain, plain) if plain in _SINGLE_WORDS else name


def as_type(name: Name) -> TypeName:
    """The type that `name` is when it is one."""
    return TypeName(spelled(name.name), name.template)
