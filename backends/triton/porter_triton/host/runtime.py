"""CUDA's memory functions in PyTorch: an allocation is a tensor, a copy is `copy_`."""

from __future__ import annotations

from dataclasses import replace

from porter.syntax.nodes import Binary, Call, Cast, Expression, Launch, Member, Name, SizeOf, Subscript, TypeName, Unary
from porter_triton.host import (
    constants,
    device_wide,
    expressions,
    launch_configs,
    launches,
    layouts,
    methods,
    pointers,
    times,
)
from porter_triton.host.arithmetic import binary
from porter_triton.host.codes import MOMENT, Code, Kind, integer
from porter_triton.host.scope import Addresses, Context
from porter_triton.host.table import table
from porter_triton.refusal import Refusal

_ALLOCATIONS = ("cudaMalloc", "cudaMallocManaged", "cudaMallocAsync", "cudaMallocHost", "cudaHostAlloc")
_COPIES = ("cudaMemcpy", "cudaMemcpyAsync", "memcpy", "std::memcpy")
_ASKS = (
    "cudaGetDevice", "cudaGetDeviceCount", "cudaGetDeviceProperties", "cudaDeviceGetAttribute",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
)  # fmt: skip
_PROPOSALS = ("cudaOccupancyMaxPotentialBlockSize", "cudaOccupancyMaxPotentialBlockSizeVariableSMem")
_OF_DEVICE = ("THCudaMalloc", "c10::cuda::CUDACachingAllocator::raw_alloc")
_FILLS = ("cudaMemset", "cudaMemsetAsync", "memset", "std::memset")
SYMBOL_COPIES = ("cudaMemcpyToSymbol", "cudaMemcpyToSymbolAsync")
_FROM_SYMBOLS = ("cudaMemcpyFromSymbol", "cudaMemcpyFromSymbolAsync")
_LAUNCHES = ("cudaLaunchKernel", "cudaLaunchCooperativeKernel", launch_configs.CALL)
_ALLOCATOR = ("DeviceAllocate", "DeviceFree")  # methods of CUB's
_CALLS = (
    *_ALLOCATIONS,
    *_COPIES,
    *_FILLS,
    *SYMBOL_COPIES,
    *_ASKS,
    *_PROPOSALS,
    *_LAUNCHES,
    *_FROM_SYMBOLS,
    times.ELAPSED,
)


def is_memory_call(node: Call) -> bool:
    """Returns whether `memory_call` emits `node`, which answers with an error code."""
    if isinstance(node.callee, Member):
        return node.callee.name in _ALLOCATOR
    return isinstance(node.callee, Name) and (node.callee.name in _CALLS or device_wide.is_cub_call(node.callee.name))


def memory_call(cx: Context, node: Call) -> bool:
    """Emits a call that allocates, fills or copies memory; False for any other call."""
    name = node.callee.name if isinstance(node.callee, Name) else ""
    method = node.callee.name if isinstance(node.callee, Member) else ""
    if method == "DeviceFree" or device_wide.cub_call(cx, node):
        return True
    if name in _ALLOCATIONS or method == "DeviceAllocate":
        _allocate(cx, node)
    elif name in _COPIES:
        _copy(cx, node)
    elif name in _FILLS:
        _fill(cx, node)
    elif name in SYMBOL_COPIES:
        _to_symbol(cx, node)
    elif name in _FROM_SYMBOLS:
        _from_symbol(cx, node)
    elif name in _ASKS:
        _ask(cx, node, name)
    elif name in _PROPOSALS:
        _propose(cx, node)
    elif name in _LAUNCHES:
        _launch(cx, node)
    elif name == times.ELAPSED:
        _time(cx, node)
    else:
        return False
    return True


def _allocate(cx: Context, node: Call) -> None:
    meaning = _holder(cx, node)
    assert meaning.ctype is not None
    bytes_ = meaning.ctype.name == "void"
    dtype = "uint8" if bytes_ else layouts.memory_dtype(cx, meaning.ctype, node.line)
    asked = node.arguments[1]
    count = expressions.expression(cx, asked) if bytes_ else elements(cx, asked, meaning.ctype)
    device = f"{cx.tensor}.device" if cx.tensor else '"cuda"'
    cx.changed(meaning.text)
    if cx.settled(count) and meaning.text.isidentifier() and meaning.text not in cx.lasting:
        cx.lengths[meaning.text] = count.text
    is_variable = meaning.text.isidentifier()  # and no element of a list, which others name
    made = f"{meaning.text} = torch.empty({count.text}, dtype=torch.{dtype}, device={device})"
    cx.emit(made, meaning.text if is_variable else "")


def _holder(cx: Context, node: Call) -> Code:
    """Returns the variable that an allocation gives its memory to, or the field of a struct of this function."""
    target = node.arguments[0]
    while isinstance(target, Cast):
        target = target.operand
    place = target.operand if isinstance(target, Unary) and target.operator == "&" else None
    if isinstance(place, Name):
        meaning = cx.find(place.name)
    elif isinstance(place, Member | Subscript):
        meaning = expressions.expression(cx, place)
    else:
        raise Refusal(node.line, "memory is only allocated for a variable")
    if not isinstance(meaning, Code) or meaning.ctype is None or not _can_be_set(place, meaning):
        raise Refusal(node.line, "memory is only allocated for a variable of this function")
    return meaning


def _can_be_set(place: Expression, meaning: Code) -> bool:
    """Returns whether Python can assign to a variable, or to an element of a list of pointers."""
    return meaning.kind is Kind.POINTER if isinstance(place, Subscript) else meaning.text.isidentifier()


def host_memory(cx: Context, node: Cast | Call) -> Code | None:
    """Translates `malloc`, `calloc` and `new T[n]` to a tensor of the host; None for anything else."""
    call = node.operand if isinstance(node, Cast) else node
    if not isinstance(call, Call) or not isinstance(call.callee, Name):
        return None
    name, line = call.callee.name.removeprefix("std::"), call.line
    if name == "malloc" and isinstance(node, Cast):
        pointer = cx.type(node.type)
        count = elements(cx, call.arguments[0], pointer)
    elif name in _OF_DEVICE and isinstance(node, Cast) and call.arguments:
        return _device_memory(cx, cx.type(node.type), call.arguments[-1], line)
    elif name == "calloc" and isinstance(node, Cast) and len(call.arguments) == 2:
        pointer = cx.type(node.type)
        number, size = call.arguments
        count = elements(cx, Binary("*", number, size, line), pointer)
    elif name == "new" and call.arguments and isinstance(call.callee.template[0], TypeName):
        inner = cx.type(call.callee.template[0])
        pointer = TypeName(inner.name, inner.arguments, 1)
        per = layouts.items(cx, inner, line)
        count = expressions.expression(cx, call.arguments[0])
        count = binary("*", count, integer(per)) if per > 1 else count
    else:
        return None
    made = "zeros" if name == "calloc" else "empty"
    text = f"torch.{made}({count.text}, dtype=torch.{layouts.memory_dtype(cx, pointer, line)})"
    return Code(text, Kind.POINTER, ctype=pointer, length=count.text)


def _device_memory(cx: Context, pointer: TypeName, bytes_: Expression, line: int) -> Code:
    """Translates `(T*)THCudaMalloc(state, bytes)`, PyTorch's allocator, to a tensor of the device."""
    count = elements(cx, bytes_, pointer)
    device = f"{cx.tensor}.device" if cx.tensor else '"cuda"'
    dtype = layouts.memory_dtype(cx, pointer, line)
    text = f"torch.empty({count.text}, dtype=torch.{dtype}, device={device})"
    return Code(text, Kind.POINTER, ctype=pointer, length=count.text)


def elements(cx: Context, size: Expression, pointer: TypeName) -> Code:
    """Returns how many elements behind `pointer` are `size` bytes."""
    item = TypeName(pointer.name, pointer.arguments)
    rest = _without_size(cx, size, item)
    if rest is not None:
        return rest
    given = expressions.expression(cx, size)
    width = integer(_width(cx, item))
    if given.constant is not None and width.constant is not None:
        return integer(int(given.constant) // int(width.constant))
    return binary("/", given, width)


def _width(cx: Context, item: TypeName) -> int:
    """Returns the element bytes of the tensor for an array of `item`: for a vector type those of one component."""
    return layouts.WIDTHS.get(layouts.memory_dtype(cx, item, 0), 1)


def _without_size(cx: Context, size: Expression, item: TypeName) -> Code | None:
    """Returns `n` of `n * sizeof(item)`; None without that factor, or if an element is several of a tensor."""
    if not isinstance(size, Binary) or size.operator != "*":
        return None
    for factor, other in ((size.left, size.right), (size.right, size.left)):
        if isinstance(factor, SizeOf) and expressions.expression(cx, factor).constant == _width(cx, item):
            return expressions.expression(cx, other)
    for factor, other in ((size.left, size.right), (size.right, size.left)):
        inner = _without_size(cx, factor, item)
        if inner is not None:
            return binary("*", inner, expressions.expression(cx, other))
    return None


def _fill(cx: Context, node: Call) -> None:
    target = expressions.expression(cx, node.arguments[0])
    value = expressions.expression(cx, node.arguments[1])
    if target.kind is not Kind.POINTER or target.ctype is None or value.constant is None:
        raise Refusal(node.line, "only a known byte can fill what a variable points to")
    count = elements(cx, node.arguments[2], target.ctype)
    part = _part(cx, target, count)
    if value.constant == 0:
        cx.emit(f"{part}.zero_()")
    else:
        cx.emit(f"{part}.view(torch.uint8).fill_({int(value.constant) & 0xFF})")


def _copy(cx: Context, node: Call) -> None:
    ends = [_address(cx, argument) for argument in node.arguments[:2]]
    if any(ends):
        _copy_number(cx, node, ends[0], ends[1])
        return
    target, source = (expressions.expression(cx, a) for a in node.arguments[:2])
    if Kind.SEQUENCE in (target.kind, source.kind):
        _copy_list(cx, node, target, source)
        return
    if Kind.POINTER not in (target.kind, source.kind) or target.ctype is None or source.ctype is None:
        raise Refusal(node.line, "only what variables point to can be copied")
    typed = target if target.ctype.name != "void" else source
    assert typed.ctype is not None
    count = elements(cx, node.arguments[2], typed.ctype)
    cx.emit(f"{_part(cx, target, count)}.copy_({_part(cx, source, count)})")


def _copy_list(cx: Context, node: Call, target: Code, source: Code) -> None:
    """Translates a copy to or from an array of the launcher, which is a list."""
    array, other = (target, source) if target.kind is Kind.SEQUENCE else (source, target)
    inner = array.ctype.arguments[0] if array.ctype is not None and array.ctype.arguments else None
    if not isinstance(inner, TypeName) or inner.pointers or other.kind not in (Kind.POINTER, Kind.SEQUENCE):
        raise Refusal(node.line, "only what variables point to can be copied")
    count = elements(cx, node.arguments[2], replace(inner, pointers=1))
    some = f"{source.text}{pointers.part(end=count)}"
    if other.kind is Kind.SEQUENCE:
        cx.emit(f"{target.text}{pointers.part(end=count)} = {some}")
    elif array is target:
        cx.emit(f"{target.text}{pointers.part(end=count)} = {_part(cx, source, count)}.tolist()")
    else:
        cx.emit(f"{_part(cx, target, count)}.copy_(torch.tensor({some}, dtype=torch.{cx.dtype(inner, node.line)}))")


def _address(cx: Context, node: Expression) -> Code | None:
    """Returns the number whose address `node` is; None for a pointer."""
    while isinstance(node, Cast):
        node = node.operand
    if not isinstance(node, Unary) or node.operator != "&" or not isinstance(node.operand, Name):
        return None
    code = expressions.expression(cx, node.operand)
    return code if code.is_number else None


def _copy_number(cx: Context, node: Call, target: Code | None, source: Code | None) -> None:
    """Translates a copy to or from a variable of the host."""
    if target is not None and source is None:
        pointer = expressions.expression(cx, node.arguments[1])
        cx.changed(target.text)
        cx.emit(f"{target.text} = {pointers.flat(cx, pointer)}[0].item()", target.text)
    elif source is not None and target is None:
        pointer = expressions.expression(cx, node.arguments[0])
        cx.emit(f"{pointers.flat(cx, pointer)}[:1].fill_({source.text})")
    else:
        raise Refusal(node.line, "one of the ends of a copy must be memory")


def _ask(cx: Context, node: Call, name: str) -> None:
    """Translates a question about the device, whose answer goes to a variable."""
    if name == "cudaGetDeviceProperties":
        return
    target = _address(cx, node.arguments[0])
    if target is None:
        raise Refusal(node.line, "the answer must go to a variable of this function")
    if name == "cudaDeviceGetAttribute":
        asked = node.arguments[1].name if isinstance(node.arguments[1], Name) else ""
        answer = methods.device_property(cx, table().attributes.get(asked, asked), node.line)
    elif name.startswith("cudaOccupancy"):
        threads = expressions.expression(cx, node.arguments[2])
        resident = binary("/", methods.device_property(cx, "maxThreadsPerMultiProcessor", node.line), threads)
        answer = Code(f"max(1, {resident.text})", Kind.INT)
    else:
        answer = integer(int(name == "cudaGetDeviceCount"))
    cx.changed(target.text)
    cx.emit(f"{target.text} = {answer.text}", target.text)


def _launch(cx: Context, node: Call) -> None:
    """Translates `cudaLaunchKernel((void*)kernel, grid, block, arguments, shared_bytes, stream)` and the like."""
    if isinstance(node.callee, Name) and node.callee.name == launch_configs.CALL:
        told = launch_configs.launch_of(node)
        if told is None:
            raise Refusal(node.line, "a launch whose kernel and extents are not given beside it")
        launches.launch(cx, told)
        return
    kernel, grid, block, passed, *rest = node.arguments
    while isinstance(kernel, Cast) or (isinstance(kernel, Unary) and kernel.operator == "&"):
        kernel = kernel.operand
    held = cx.find(passed.name) if isinstance(passed, Name) else None
    if not isinstance(kernel, Name) or not isinstance(held, Addresses):
        raise Refusal(node.line, "a launch whose kernel and arguments are not given beside it")
    shared = rest[0] if rest else None
    launches.launch(cx, Launch(kernel, grid, block, shared, None, held.operands, node.line))


def _time(cx: Context, node: Call) -> None:
    """Sets a variable to the milliseconds between two events, which a port does not know."""
    target = _address(cx, node.arguments[0])
    if target is not None:
        cx.changed(target.text)
        cx.emit(f"{target.text} = {MOMENT.text}", target.text)


def _propose(cx: Context, node: Call) -> None:
    """Translates `cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel, bytes, limit)`: the largest blocks."""
    grid, block = (_address(cx, argument) for argument in node.arguments[:2])
    if grid is None or block is None:
        raise Refusal(node.line, "the answer must go to a variable of this function")
    limit = expressions.expression(cx, node.arguments[4]) if len(node.arguments) > 4 else integer(0)
    asked = ("maxThreadsPerBlock", "maxThreadsPerMultiProcessor", "multiProcessorCount")
    threads, resident, count = (methods.device_property(cx, name, node.line) for name in asked)
    if limit.constant != 0:
        threads = Code(f"min({limit.text} or {threads.text}, {threads.text})", Kind.INT)
    for target, answer in ((block, threads), (grid, binary("*", count, binary("/", resident, block)))):
        cx.changed(target.text)
        cx.emit(f"{target.text} = {answer.text}", target.text)


def _to_symbol(cx: Context, node: Call) -> None:
    """Makes a `__constant__` variable a tensor that the launches after it pass on."""
    symbol = node.arguments[0]
    if isinstance(symbol, Unary):
        symbol = symbol.operand
    known = [v for v in cx.unit.variables if isinstance(symbol, Name) and v.name == symbol.name]
    if not known:
        raise Refusal(node.line, "only a variable of the file can be copied to")
    if len(node.arguments) > 3 and expressions.expression(cx, node.arguments[3]).constant != 0:
        raise Refusal(node.line, f"only the beginning of '{known[-1].name}' can be copied to")
    name, dtype = cx.python_name(known[-1].name), cx.dtype(known[-1].type, node.line)
    device = f"{cx.tensor}.device" if cx.tensor else '"cuda"'
    number = _address(cx, node.arguments[1])
    if number is not None:
        cx.emit(f"{name} = torch.full((1,), {number.text}, dtype=torch.{dtype}, device={device})", name)
    else:
        count = elements(cx, node.arguments[2], replace(known[-1].type, pointers=1))
        held = expressions.expression(cx, node.arguments[1])
        if held.kind is Kind.SEQUENCE:
            given = f"{held.text}{pointers.part(end=count)}"
            cx.emit(f"{name} = torch.tensor({given}, dtype=torch.{dtype}, device={device})", name)
        else:
            cx.emit(f"{name} = {_part(cx, held, count)}.to({device})", name)
    cx.constants[known[-1].name] = name


def _from_symbol(cx: Context, node: Call) -> None:
    """Translates a copy from a `__constant__` or `__device__` variable, to a number, an array or memory."""
    symbol = node.arguments[1]
    known = [v for v in cx.unit.variables if isinstance(symbol, Name) and v.name == symbol.name]
    source = (cx.constants.get(known[-1].name) or constants.kept(cx, known[-1].name, node.line)) if known else ""
    if not source:
        raise Refusal(node.line, "the contents of this device variable are not known")
    if len(node.arguments) > 3 and expressions.expression(cx, node.arguments[3]).constant != 0:
        raise Refusal(node.line, f"only the beginning of '{known[-1].name}' can be copied from")
    number = _address(cx, node.arguments[0])
    if number is not None:
        cx.changed(number.text)
        cx.emit(f"{number.text} = {source}[0].item()", number.text)
        return
    count = elements(cx, node.arguments[2], replace(known[-1].type, pointers=1))
    target, some = expressions.expression(cx, node.arguments[0]), f"{source}{pointers.part(end=count)}"
    if target.kind is Kind.SEQUENCE:
        cx.emit(f"{target.text}{pointers.part(end=count)} = {some}.tolist()")
    else:
        cx.emit(f"{_part(cx, target, count)}.copy_({some})")


def _part(cx: Context, pointer: Code, count: Code) -> str:
    """Returns the first `count` elements: the tensor itself if it has that many."""
    if cx.lengths.get(pointer.text) == count.text:
        return pointer.text
    return f"{pointers.flat(cx, pointer)}{pointers.part(end=count)}"
