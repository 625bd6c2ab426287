"""Writes the host function of an operator: it checks arguments, makes results, and launches the kernels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from porter.contract.model.contract import TensorArg
from porter.contract.model.dtype import DType
from porter.ir.tensor.quantities import Quantity
from porter.ir.tile.program import Buffer, Host, Launch, Operator
from porter.schedule.call_sizes import Extent, call_sizes
from porter.schedule.host_values import Names
from porter.schedule.schedule import HINTED
from porter_maca.tiles.alignment import PACK
from porter_maca.tiles.entries import GENERIC, ElementType, Entry
from porter_maca.tiles.kernels import WrittenKernel
from porter_maca.tiles.types import UnprintableError

_TORCH_TYPES = {
    DType.FLOAT64: "Float64",
    DType.FLOAT32: "Float32",
    DType.FLOAT16: "Float16",
    DType.BFLOAT16: "BFloat16",
    DType.INT64: "Int64",
    DType.INT32: "Int32",
    DType.INT16: "Int16",
    DType.INT8: "Int8",
    DType.UINT8: "UInt8",
    DType.BOOL: "Bool",
}


def _of_maca(schedule: str) -> str:
    """Returns the words of a schedule without what MACA C++ has no word for."""
    return schedule.replace(f", {HINTED}", "").replace(" warps", " warps of 32 lanes")


def torch_type(dtype: DType) -> str:
    """Returns PyTorch's name of an element type."""
    return f"torch::k{_TORCH_TYPES[dtype]}"


@dataclass(frozen=True, slots=True)
class _Choice:
    """The names of what a call is asked to choose an instance; empty where it is not asked."""

    aligned: str
    usual: str

    @property
    def names(self) -> tuple[str, str]:
        return self.aligned, self.usual


class Launcher:
    """Writes the host function of an operator: an entry, or `name` with the parameters of one.

    It is instantiated for the element type of `telling`, where that is a parameter of its kernels.
    """

    def __init__(  # noqa: PLR0917
        self,
        operator: Operator,
        entry: Entry,
        kernels: Sequence[WrittenKernel],
        elements: Mapping[str, ElementType],
        name: str,
        telling: str = "",
    ) -> None:
        self._elements = elements
        self._telling = telling
        self._operator = operator
        self._entry = entry
        self._kernels = kernels
        self._name = name
        used = {tensor for one in kernels for tensor in one.kernel.tensors}
        self._tensors = [a for a in entry.arguments if isinstance(a, TensorArg)]
        self._used = [one for one in self._tensors if one.name in used]
        self._made = {one.name: one for one in (*operator.results, *operator.buffers)}
        self._dense: dict[str, str] = {}
        self._known: list[tuple[str, str]] = []  # the text of sizes that have a name
        sizes = (size for size, _ in operator.sizes)
        numbers = (number for number, _ in operator.numbers)
        kernels_ = (one.kernel.name for one in kernels)
        self._names = Names({*sizes, *numbers, *kernels_, *self._made, *(one.name for one in entry.arguments)})
        self._stream = self._names.fresh("stream") if entry.is_torch else entry.stream

    def text(self) -> str:
        """Returns the function. Raises `UnprintableError` or `NotSchedulableError` where it cannot be written."""
        entry = self._entry
        lines = [f"// {_of_maca(self._operator.schedule)}"]
        lines += self._of_torch() if entry.is_torch else self._of_pointers()
        body = "\n".join(f"    {line}" for line in lines)
        template = f"template <typename {GENERIC}>\n" if self._telling else ""
        head = entry.head_of(self._name) if self._name else entry.head
        return f"{template}{head} {{\n{body}\n}}\n"

    def _of_torch(self) -> Iterator[str]:
        entry, operator = self._entry, self._operator
        if entry.returns == "void" and operator.results:
            raise UnprintableError(f"{entry.name} returns nothing but its formula does")
        if entry.returns != "void" and not operator.results:
            raise UnprintableError(f"{entry.name} returns what it is given")
        yield from self._checks()
        first = self._tensors[0].name
        yield f"const c10::cuda::CUDAGuard {self._names.fresh('guard')}({first}.device());"
        yield f"const auto {self._stream} = at::cuda::getCurrentCUDAStream();"
        yield from self._dense_tensors()
        yield from self._sizes(lambda tensor, axis: f"{tensor}.size({axis})")
        yield from (self._allocated(one, first) for one in (*operator.results, *operator.buffers))
        yield from self._launches()
        yield "C10_CUDA_KERNEL_LAUNCH_CHECK();"
        if operator.results:
            names = ", ".join(one.name for one in operator.results)
            is_one = len(operator.results) == 1 and re.fullmatch(r"(?:\w+::)*Tensor", entry.returns)
            yield f"return {names};" if is_one else f"return {{{names}}};"

    def _of_pointers(self) -> Iterator[str]:
        entry, operator = self._entry, self._operator
        if entry.returns not in ("void", "mcError_t"):
            raise UnprintableError(f"{entry.name} returns {entry.returns}")
        if operator.results:
            raise UnprintableError(f"{entry.name} returns a tensor by a pointer")
        yield from self._sizes(None)
        for one in operator.buffers:
            yield from self._workspace(one)
        yield from self._launches()
        for one in operator.buffers:
            yield self._checked(f"mcFree({one.name})")
        if entry.returns == "mcError_t":
            yield "return mcGetLastError();"
        else:
            yield self._checked("mcGetLastError()")

    def _checks(self) -> Iterator[str]:
        """Yields the checks of tensors: device, axes and type; written tensors must be dense, too."""
        stored = self._operator.stored_tensors
        for one in self._used:
            name = one.name
            axes = "1 axis" if len(one.shape) == 1 else f"{len(one.shape)} axes"
            condition = f"{name}.is_cuda() && {name}.dim() == {len(one.shape)}"
            yield f'TORCH_CHECK({condition}, "{name} must be on the device and have {axes}");'
            is_generic = self._elements[name].is_generic
            if name != self._telling:
                because = f"of the type of {self._telling}" if is_generic else one.dtype.value
                yield f'TORCH_CHECK({name}.scalar_type() == {self._scalar_type(name)}, "{name} must be {because}");'
            if name in stored:
                yield f'TORCH_CHECK({name}.is_contiguous(), "{name} must be contiguous");'

    def _dense_tensors(self) -> Iterator[str]:
        stored = self._operator.stored_tensors
        for one in self._used:
            if one.name in stored:
                continue
            if self._entry.is_owned(one.name):
                yield f"{one.name} = {one.name}.contiguous();"
            else:
                self._dense[one.name] = f"dense_{one.name}"
                yield f"const auto dense_{one.name} = {one.name}.contiguous();"

    def _sizes(self, extent: Extent | None) -> Iterator[str]:
        operator = self._operator
        for name, value in call_sizes(operator, self._entry.arguments, extent, "/"):
            yield f"const int64_t {name} = {value};"
        for condition, because in operator.demands:
            yield from self._demanded(self._host(condition), because)
        for name, size in operator.sizes:
            if name != size.text:
                yield f"const int64_t {name} = {self._host(size)};"
                self._known.append((_spelled(size), name))
        for name, number in operator.numbers:
            if (told := number_text(number)) != name:
                yield f"const double {name} = {told};"

    def _host(self, size: Host) -> str:
        """Returns a size as C++ computes it, by the names of those that it is made of."""
        text = _spelled(size)
        for told, name in sorted(self._known, key=lambda one: -len(one[0])):
            text = re.sub(rf"(?:(?<=[(])|(?<=, )|^){re.escape(told)}(?=[),]|$)", name, text)
        return text

    def _demanded(self, condition: str, because: str) -> Iterator[str]:
        if self._entry.is_torch:
            yield f'TORCH_CHECK({condition}, "{because}");'
        elif self._entry.returns == "mcError_t":
            yield f"if (!({condition})) return mcErrorInvalidValue;"
        else:
            yield f'tile::require({condition}, "{self._entry.name}: {because}");'

    def _checked(self, call: str) -> str:
        if self._entry.returns == "void":
            return f'tile::require({call} == mcSuccess, "{self._entry.name}: the device refused");'
        return f"if (const mcError_t error = {call}; error != mcSuccess) return error;"

    def _allocated(self, buffer: Buffer, first: str) -> str:
        shape = ", ".join(self._host(extent) for extent in buffer.extents)
        options = f"{first}.options()"
        if self._elements[buffer.name] != self._elements[first]:
            options += f".dtype({self._scalar_type(buffer.name)})"
        return f"auto {buffer.name} = torch::empty({{{shape}}}, {options});"

    def _workspace(self, buffer: Buffer) -> Iterator[str]:
        element = self._elements[buffer.name].name
        extent = " * ".join(_factor(self._host(one)) for one in buffer.extents) or "1"
        yield f"{element}* {buffer.name} = nullptr;"
        yield self._checked(f"mcMalloc(reinterpret_cast<void**>(&{buffer.name}), {extent} * sizeof({element}))")

    def _pointer(self, tensor: str) -> str:
        if not self._entry.is_torch:
            return tensor
        function = "template data_ptr" if self._telling else "data_ptr"
        return f"{self._dense.get(tensor, tensor)}.{function}<{self._elements[tensor].name}>()"

    def _scalar_type(self, tensor: str) -> str:
        """Returns how PyTorch calls the type of a tensor's elements."""
        element = self._elements[tensor]
        return f"c10::CppTypeToScalarType<{GENERIC}>::value" if element.is_generic else torch_type(element.dtype)

    def _pack(self, one: WrittenKernel) -> str:
        """Returns how many elements a pack has, by the size of their type where they are of any."""
        narrowest = min(self._elements[name].dtype.bytes for name in one.kernel.tensors)
        is_of_type = one.is_generic and one.pack * narrowest == PACK
        return f"tile::pack<{GENERIC}>()" if is_of_type else str(one.pack)

    def _launches(self) -> Iterator[str]:
        for one in self._kernels:
            when = one.launch.when
            if when is None:
                yield from self._launch(one)
                continue
            yield f"if ({self._host(when)}) {{"
            yield from (f"    {line}" for line in self._launch(one))
            yield "}"

    def _launch(self, one: WrittenKernel) -> Iterator[str]:
        if one.tiles:
            yield from self._by_tile(one)
            return
        grid = self._grid(one.launch)
        blocks, guard = grid, ""
        if not grid.isdecimal():
            blocks = grid if grid.isidentifier() else self._names.fresh("blocks")
            guard = f"if ({blocks} > 0) "
        if blocks != grid:
            yield f"const int64_t {blocks} = {grid};"
        passed = f"({', '.join(self._passed(one))});"
        choice = _Choice(*(self._names.fresh(word) if own else "" for word, own in self._conditions(one).items()))
        yield from self._tested(one, choice)
        if one.instances:
            yield from self._by_length(one, choice, blocks, guard, passed)
            return
        called = self._chosen(one, "", choice)
        if "?" in called:
            kernel = self._names.fresh("kernel")
            yield f"auto* {kernel} = {called};"
            called = kernel
        yield f"{guard}{called}<<<{blocks}, {one.threads}, 0, {self._stream}>>>{passed}"

    def _grid(self, launch: Launch) -> str:
        return ", ".join(map(self._host, launch.grid))

    def _by_tile(self, one: WrittenKernel) -> Iterator[str]:
        """Yields the choice of the tile of which a call needs fewest; a narrower one has to save an eighth."""
        blocks, kernel, fewer = map(self._names.fresh, ("blocks", "kernel", "fewer"))
        choice = _Choice(*(self._names.fresh(word) if own else "" for word, own in self._conditions(one).items()))
        yield from self._tested(one, choice)
        (rows, columns), *narrower = one.tiles
        yield f"int64_t {blocks} = {self._grid(one.launch)};"
        yield f"auto* {kernel} = {self._chosen(one, f'{rows}, {columns}', choice)};"
        for (rows, columns), launch in zip(narrower, one.launch.narrower, strict=True):
            yield f"if (const int64_t {fewer} = {self._grid(launch)}; 8 * {fewer} <= 7 * {blocks}) {{"
            yield f"    {blocks} = {fewer};"
            yield f"    {kernel} = {self._chosen(one, f'{rows}, {columns}', choice)};"
            yield "}"
        passed = f"({', '.join(self._passed(one))});"
        yield f"if ({blocks} > 0) {kernel}<<<{blocks}, {one.threads}, 0, {self._stream}>>>{passed}"

    def _conditions(self, one: WrittenKernel) -> Mapping[str, Sequence[str]]:
        """Returns what a call is asked, by the name of the answer."""
        usual = [f"{name} == {value}" for name, value in one.usual.items()]
        return {"is_aligned": list(self._alignment(one)), "is_usual": usual}

    def _tested(self, one: WrittenKernel, choice: _Choice) -> Iterator[str]:
        for name, conditions in zip(choice.names, self._conditions(one).values(), strict=True):
            if name:
                yield f"const bool {name} = {' && '.join(conditions)};"

    def _chosen(self, one: WrittenKernel, arguments: str, choice: _Choice) -> str:
        """Returns the instance of a kernel: that for usual sizes where they are, with packs where rows are aligned."""
        if not choice.usual:
            return self._of_pack(one, arguments, choice.aligned)
        usual, other = (
            self._of_pack(one, ", ".join(filter(None, (arguments, word))), choice.aligned) for word in ("true", "false")
        )
        if choice.aligned:
            usual, other = f"({usual})", f"({other})"
        return f"{choice.usual} ? {usual} : {other}"

    def _of_pack(self, one: WrittenKernel, arguments: str, aligned: str) -> str:
        generic = GENERIC if one.is_generic else ""
        packed, single = (", ".join(filter(None, (generic, n, arguments))) for n in (self._pack(one), "1"))
        if one.pack == 1:
            fixed = ", ".join(filter(None, (generic, arguments)))
            return f"{one.kernel.name}<{fixed}>" if fixed else one.kernel.name
        whole = f"{one.kernel.name}<{packed}>"
        return f"{aligned} ? {whole} : {one.kernel.name}<{single}>" if aligned else whole

    def _by_length(self, one: WrittenKernel, choice: _Choice, blocks: str, guard: str, passed: str) -> Iterator[str]:
        """Yields the choice of the smallest instance whose tile has all columns of a row, or of the widest."""
        columns = self._host(Host(one.columns))
        launch, kernel, threads = map(self._names.fresh, ("launch", "kernel", "threads"))
        yield f"const auto {launch} = [&](auto* {kernel}, int {threads}) {{"
        yield f"    {guard}{kernel}<<<{blocks}, {threads}, 0, {self._stream}>>>{passed}"
        yield "};"
        word = "if"
        for instance in one.instances:
            chosen = self._chosen(one, f"{instance.threads}, {instance.columns}", choice)
            is_last = instance is one.instances[-1] and not one.is_held
            test = "else" if is_last else f"{word} ({columns} <= {instance.columns})"
            yield f"{test} {launch}({chosen}, {instance.threads});"
            word = "else if"
        if not one.is_held:
            return
        (refused,) = self._demanded("false", f"rows of more than {one.instances[-1].columns} columns are not held")
        yield f"else {refused}"

    def _alignment(self, one: WrittenKernel) -> Iterator[str]:
        for size in one.sizes:
            yield f"{size} % {self._pack(one)} == 0"
        for tensor in one.tensors:
            if tensor not in self._made:
                yield f"tile::begins_pack({self._pointer(tensor)})"

    def _passed(self, one: WrittenKernel) -> Iterator[str]:
        yield from map(self._pointer, one.kernel.tensors)
        yield from one.kernel.sizes
        yield from one.kernel.numbers
        own = {name for name, _ in one.launch.blocks}
        yield from (name for name in one.kernel.blocks if name not in own)


def _spelled(size: Host) -> str:
    return size.text.replace("//", "/").replace("cdiv(", "tile::ceil_divide(")


def number_text(number: Quantity) -> str:
    """Returns a number as C++ computes it in double precision."""
    above = [_power(name, power) for name, power in number.powers if power > 0]
    below = [_power(name, -power) for name, power in number.powers if power < 0]
    factor = Fraction(number.factor)
    if not number.powers and not number.offset:
        return repr(float(factor))
    if abs(factor) != 1 or not above:
        above.insert(0, repr(float(abs(factor))))
    elif below or len(above) > 1:  # no quotient or product of whole numbers
        above[0] = f"static_cast<double>({above[0]})"
    told = ("-" if factor < 0 else "") + " * ".join(above)
    if below:
        product = " * ".join(below)
        told += f" / {_factor(product)}"
    if number.offset:
        offset = repr(float(abs(number.offset)))
        told = f"{offset} + {told}" if number.offset > 0 else f"{told} - {offset}"
    if number.inverse:
        return f"1.0 / ({told})"
    return told


def _power(name: str, power: int) -> str:
    return " * ".join([name] * power)


def _factor(text: str) -> str:
    return text if text.isidentifier() else f"({text})"
