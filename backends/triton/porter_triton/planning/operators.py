"""Records operators of torch in a plan, as memory, moves and views; anything else becomes a `Compute`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch._library.custom_ops import OPDEFS
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

from porter.execution.job import FaultKind
from porter.launch_plan.steps import Argument, Compute, ElementType, Fill, Move, Number, Scalar, Sequence
from porter_triton.planning.device_tensor import DEVICE, DeviceTensor, buffer_of, contents_of, view_of
from porter_triton.planning.recorder import Recorder, dtype_name

_EMPTY = frozenset(
    ("empty", "empty_strided", "empty_like", "new_empty", "new_empty_strided", "empty_permuted", "empty_quantized")
)
_FILLED: Mapping[str, Number | None] = {
    "zeros": 0, "zeros_like": 0, "new_zeros": 0, "ones": 1, "ones_like": 1, "new_ones": 1,
    "full": None, "full_like": None, "new_full": None,
}  # fmt: skip
_MADE_BY_HOST = frozenset(
    ("arange", "scalar_tensor", "linspace", "logspace", "eye", "tril_indices", "triu_indices", "_to_copy", "range")
)
_COPIES = frozenset(("clone", "_to_copy", "contiguous", "lift_fresh_copy", "lift_fresh", "_copy_from"))
_HARMLESS_SPACES = frozenset(("profiler",))
_VIEWS_BY_NAME = frozenset(("_unsafe_view", "_reshape_alias"))
_MOST_KNOWN = 1 << 18  # elements of a filled tensor that the host keeps in mind
# Below Python a `DeviceTensor` lies on `meta`: what torch makes to go with one names that.
_DEVICE_TYPES = ("cuda", "meta")
_TORCH_SPACES = frozenset(("aten", "prims", "prim"))


# No source can spell this as an attribute.
_DRAWN = "drawn at random"


class Operators:
    """Carries out operators for `recorder`: operators on the host alone run as they are."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._written: set[int] = set()  # buffers whose elements the host no longer knows
        self._handlers: Mapping[str, Callable[..., object]] = {
            "copy_": self._copy_into, "fill_": self._fill, "zero_": self._zero, "cat": self._cat, "stack": self._stack,
            "constant_pad_nd": self._pad, "_local_scalar_dense": self._item, "item": self._item,
            **dict.fromkeys(_COPIES, self._copy),
        }  # fmt: skip

    def begin(self) -> None:
        """Forgets all records."""
        self._written.clear()

    def __call__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns the result of `function`, an overload of an operator."""
        space, name = function.namespace, function._schema.name.split("::")[1]
        if space in _HARMLESS_SPACES:
            return function(*args, **kwargs)
        if space not in _TORCH_SPACES:
            return self._registered(function, args, kwargs)
        given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, DeviceTensor)]
        wanted = kwargs.get("device")
        device = torch.device(wanted) if wanted is not None else None
        if not given:
            return self._made(function, name, args, kwargs, device)
        if all(self._is_known(tensor) for tensor in given):
            return self._on_host(function, name, args, kwargs, device)
        self._check_same_side(name, args, kwargs)
        if name in _EMPTY:
            return self.allocated(_geometry(function, args, kwargs))
        if name in _FILLED:
            return self._filled(function, name, args, kwargs)
        if name in self._handlers:
            return self._handlers[name](function, args, kwargs)
        if name == "is_pinned":
            return False
        if _is_view(function) or name in _VIEWS_BY_NAME:
            return self._view(function, args, kwargs, given[0])
        return self._computed(function, name, args, kwargs)

    def wrote(self, buffer: int) -> None:
        """Notes that from here on only the device knows the contents of `buffer`."""
        self._written.add(buffer)

    def allocated(self, meta: torch.Tensor) -> DeviceTensor:
        """Returns a new tensor with the geometry of `meta`."""
        return DeviceTensor(meta, self._recorder.allocate(meta.untyped_storage().nbytes()))

    def from_host(self, value: torch.Tensor) -> DeviceTensor:
        """Returns a tensor of the host, on the device."""
        with _disable_current_modes():
            dense = value.detach().contiguous()
            return DeviceTensor(_dense(dense), None, dense)

    def _made(
        self, function: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], device: torch.device | None
    ) -> Any:
        """Returns what is made of nothing, or of tensors of the host."""
        if device is None or device.type not in _DEVICE_TYPES:
            return self._of_host(function, name, args, kwargs)
        if name in _EMPTY:
            return self.allocated(_on_meta(function, args, kwargs))
        if name in _FILLED:
            return self._filled(function, name, args, kwargs)
        if name in _MADE_BY_HOST:
            return self.from_host(function(*args, **{**_unpinned(kwargs), "device": "cpu"}))
        return self._computed(function, name, args, kwargs)

    def _of_host(self, function: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Carries out what the device has no part in. What was drawn at random must not decide what is asked of it."""
        drawn = torch.Tag.nondeterministic_seeded in function.tags or any(map(is_drawn, tree_leaves((args, kwargs))))
        if drawn and self._handlers.get(name) == self._item:
            self.refuse_chance()
        got = function(*args, **kwargs)
        for leaf in tree_leaves(got) if drawn else ():
            if isinstance(leaf, torch.Tensor):
                leaf.__dict__[_DRAWN] = True
        return got

    def refuse_chance(self) -> None:
        """Ends the call, which looks at a number that was drawn at random."""
        self._recorder.refuse(FaultKind.UNKNOWN, "its host code reads numbers that it draws at random")

    def _is_known(self, tensor: DeviceTensor) -> bool:
        """Returns True where the host knows the elements, which it made from sizes alone."""
        return contents_of(tensor).host is not None and contents_of(tensor).number not in self._written

    def _on_host(
        self, function: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], device: torch.device | None
    ) -> Any:
        """Keeps what is made of sizes alone with the host until a step needs it."""
        if name in _EMPTY:
            return self.allocated(_on_meta(function, args, kwargs))
        if name in _FILLED:
            return self._filled(function, name, args, kwargs)
        if any(a.alias_info and a.alias_info.is_write for a in function._schema.arguments):
            return self._changed_on_host(function, args, kwargs)
        view = _is_view(function)
        if view:
            for tensor in _device_tensors(args):
                buffer_of(tensor)  # writing to one of them writes to both
        here = {**_unpinned(kwargs), **({"device": "cpu"} if device is not None else {})}
        got = function(*tree_map(_host, args), **tree_map(_host, here))
        if not isinstance(got, (torch.Tensor, list, tuple)) or (device is not None and device.type == "cpu"):
            return got
        if not view:
            return tree_map(lambda x: self.from_host(x) if isinstance(x, torch.Tensor) else x, got)
        buffer = buffer_of(next(_device_tensors(args)))
        shaped = _on_meta(function, args, kwargs)
        if isinstance(shaped, torch.Tensor):
            return DeviceTensor(shaped, buffer, got if isinstance(got, torch.Tensor) else None)
        return type(got)(DeviceTensor(m, buffer, h) for m, h in zip(shaped, got, strict=True))

    def _changed_on_host(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns a tensor that the host made and changes: tensors that share its memory change, too."""
        changed = args[0]
        if not isinstance(changed, DeviceTensor) or _is_resizing(function):
            return self._computed(function, function._schema.name.split("::")[1], args, kwargs)
        function(*tree_map(_host, args), **tree_map(_host, kwargs))
        elements = contents_of(changed).host
        assert isinstance(elements, torch.Tensor)
        source = self.from_host(elements.clone())
        self._recorder.step(Move(view_of(changed), view_of(source), self._recorder.stream))
        return changed

    def _check_same_side(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raises what torch raises where tensors of host and device meet."""
        leaves = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        mixed = any(not isinstance(leaf, DeviceTensor) and leaf.dim() for leaf in leaves)
        if mixed and name not in ("copy_", "index", "index_put_", "index_put", "_index_put_impl_", "set_"):
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
            )

    def _filled(self, function: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> DeviceTensor:
        value = _FILLED[name]
        if value is None:
            value = kwargs["fill_value"] if "fill_value" in kwargs else args[2 if name == "new_full" else 1]
        made = self.allocated(_geometry(function, args, kwargs))
        number = value.item() if isinstance(value, torch.Tensor) else value
        self._recorder.step(Fill(view_of(made), number, self._recorder.stream))
        if made.numel() <= _MOST_KNOWN:
            contents_of(made).host = torch.full(made.shape, number, dtype=made.dtype)
        return made

    def _fill(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> DeviceTensor:
        del function
        to, value = args[0], args[1] if len(args) > 1 else kwargs["value"]
        if isinstance(value, DeviceTensor):
            return self._move(to, value.expand(to.shape))
        number = value.item() if isinstance(value, torch.Tensor) else value
        if not isinstance(number, (bool, int, float)):
            self._recorder.refuse(FaultKind.RESULT, f"it fills a tensor with a {type(number).__name__}")
        self.wrote(buffer_of(to))
        self._recorder.step(Fill(view_of(to), number, self._recorder.stream))
        return to  # type: ignore[no-any-return]

    def _zero(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> DeviceTensor:
        return self._fill(function, (args[0], 0), kwargs)

    def _move(self, to: Any, source: Any) -> DeviceTensor:
        self.wrote(buffer_of(to))
        self._recorder.step(Move(view_of(to), view_of(source), self._recorder.stream))
        return to  # type: ignore[no-any-return]

    def _copy(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        device = kwargs.get("device")
        if device is not None and torch.device(device).type == "cpu":
            return function(self.read(args[0]), **{**kwargs, "device": "cpu"})
        return self._move(self.allocated(_on_meta(function, args, kwargs)), args[0])

    def _copy_into(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        del function, kwargs
        to, source = args[0], args[1]
        if not isinstance(to, DeviceTensor):
            return to.copy_(self.read(source))
        if not isinstance(source, DeviceTensor):
            source = self.from_host(source.to(to.dtype))
        return self._move(to, source.expand(to.shape) if source.shape != to.shape else source)

    def _cat(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        dim = args[1] if len(args) > 1 else kwargs.get("dim", 0)
        out = self.allocated(_on_meta(function, args, kwargs))
        begin = 0
        for part in args[0]:
            if part.dim() == 1 and not part.numel():
                continue
            size = part.shape[dim]
            self._move(out.narrow(dim, begin, size), part)
            begin += size
        return out

    def _stack(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        dim = args[1] if len(args) > 1 else kwargs.get("dim", 0)
        out = self.allocated(_on_meta(function, args, kwargs))
        for index, part in enumerate(args[0]):
            self._move(out.select(dim, index), part)
        return out

    def _pad(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Pads a tensor; sizes are given from the last axis on, negative ones cut off."""
        value = args[2] if len(args) > 2 else kwargs.get("value", 0)
        out = self._fill(None, (self.allocated(_on_meta(function, args, kwargs)), value), {})
        to: Any = out
        source = args[0]
        for index in range(len(args[1]) // 2):
            axis = source.dim() - 1 - index
            for low, size in ((True, args[1][2 * index]), (False, args[1][2 * index + 1])):
                outer, begin = (source, -size) if size < 0 else (to, size)
                cut = outer.narrow(axis, begin if low else 0, outer.shape[axis] - begin)
                source, to = (cut, to) if size < 0 else (source, cut)
        self._move(to, source)
        return out

    def _item(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        del function, kwargs
        return self.read(args[0]).item()

    def read(self, tensor: DeviceTensor) -> torch.Tensor:
        """Returns the elements of `tensor`, for which the device has to be asked."""
        numbers = self._recorder.read(view_of(tensor))
        return torch.tensor(numbers, dtype=tensor.dtype).reshape(tensor.shape)

    def _view(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], source: DeviceTensor) -> Any:
        shaped = _on_meta(function, args, kwargs)
        if isinstance(shaped, torch.Tensor):
            return DeviceTensor(shaped, buffer_of(source))
        return type(shaped)(DeviceTensor(one, buffer_of(source)) for one in shaped)

    def _registered(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs an operator that the module registered itself: its parts are recorded."""
        if (own := OPDEFS.get(function._schema.name)) is not None:
            return own._init_fn(*args, **kwargs)
        for key in ("CUDA", "CompositeExplicitAutograd", "CompositeImplicitAutograd"):
            found = getattr(torch._C.DispatchKey, key)
            if torch._C._dispatch_has_kernel_for_dispatch_key(function.name(), found):
                from porter_triton.planning.modes import Planned  # noqa: PLC0415 - which needs this module

                with Planned(self):
                    return function._op_dk(found, *args, **kwargs)
        self._recorder.refuse(FaultKind.LIBRARY, f"the operator {function.name()} is not the module's own")
        return None

    def _computed(self, function: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Computes any other operator of the library; in-place ones get the result of their other form."""
        if any(a.alias_info and a.alias_info.is_write for a in function._schema.arguments):
            plain = getattr(getattr(torch.ops.aten, name.rstrip("_"), None), function._overloadname, None)
            if not name.endswith("_") or plain is None:
                self._recorder.refuse(
                    FaultKind.LIBRARY, f"it calls the library's {name}, which changes a tensor in place"
                )
            return self._move(args[0], self._computed(plain, name.rstrip("_"), args, kwargs))
        try:
            shaped = _on_meta(function, args, kwargs)
        except (RuntimeError, NotImplementedError) as error:
            if isinstance(error, NotImplementedError) or "meta" in str(error).lower():
                self._recorder.refuse(
                    FaultKind.LIBRARY, f"it calls the library's {name}, whose result depends on numbers"
                )
            raise
        results = [shaped] if isinstance(shaped, torch.Tensor) else list(shaped)
        made = [DeviceTensor(_dense(one), self._recorder.new_buffer()) for one in results]
        schema = function._schema.arguments
        named = [(schema[i].name, a) for i, a in enumerate(args)] + list(kwargs.items())
        passed = tuple((n, self._argument(a, name)) for n, a in named if n not in ("device", "layout", "pin_memory"))
        views = tuple(view_of(tensor) for tensor in made)
        operator, (_, line) = function.name().removeprefix("aten::"), self._recorder.place()
        self._recorder.step(Compute(operator, passed, views, self._recorder.stream, line))
        return made[0] if isinstance(shaped, torch.Tensor) else tuple(made)

    def _argument(self, value: Any, name: str) -> Argument:
        match value:
            case DeviceTensor():
                return view_of(value)
            case torch.Tensor():
                return view_of(self.from_host(value))
            case None | bool() | int() | float() | str():
                return Scalar(value)
            case torch.dtype():
                return ElementType(dtype_name(value))
            case list() | tuple():
                return Sequence(tuple(self._argument(item, name) for item in value))
        self._recorder.refuse(FaultKind.LIBRARY, f"it calls the library's {name}")
        raise AssertionError


def is_drawn(value: object) -> bool:
    """Returns True for a tensor of the host that depends on numbers drawn at random."""
    return isinstance(value, torch.Tensor) and _DRAWN in value.__dict__


def _is_view(function: Any) -> bool:
    """Returns True for an operator all of whose results share memory with its arguments, and which writes none."""
    writes = any(a.alias_info and a.alias_info.is_write for a in function._schema.arguments)
    shares = [r.alias_info for r in function._schema.returns]
    return bool(shares) and not writes and all(a is not None and not a.is_write for a in shares)


def _is_resizing(function: Any) -> bool:
    """Returns True for an operator that changes the geometry of a tensor, not its elements."""
    return function._schema.name.split("::")[1] in (
        "resize_",
        "resize_as_",
        "set_",
        "t_",
        "squeeze_",
        "unsqueeze_",
        "transpose_",
    )


def _device_tensors(args: object) -> Iterator[DeviceTensor]:
    return (leaf for leaf in tree_leaves(args) if isinstance(leaf, DeviceTensor))


def _host(value: object) -> object:
    return contents_of(value).host if isinstance(value, DeviceTensor) else value


def _unpinned(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in kwargs.items() if name != "pin_memory"}


def _on_meta(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns what `function` gives for tensors without storage."""

    def here(value: object) -> object:
        if isinstance(value, DeviceTensor):
            return contents_of(value).meta
        if isinstance(value, torch.device):
            return torch.device("meta")
        return value.to("meta") if isinstance(value, torch.Tensor) and value.dim() else value

    named = tree_map(here, _unpinned(kwargs))
    if kwargs.get("device") is not None:
        named["device"] = torch.device("meta")
    return function(*tree_map(here, args), **named)


def _geometry(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns a new tensor without storage. Like one that is dense it is so: torch would import SymPy to say it."""
    given = args[0] if args else None
    if function._schema.name.endswith("_like") and isinstance(given, DeviceTensor):
        meta = contents_of(given).meta
        if meta.is_contiguous() and kwargs.get("memory_format") in (None, torch.preserve_format):
            return torch.empty(meta.shape, dtype=kwargs.get("dtype") or meta.dtype, device="meta")
    return _on_meta(function, args, kwargs)


def _dense(meta: torch.Tensor) -> torch.Tensor:
    return torch.empty(meta.shape, dtype=meta.dtype, device="meta")


__all__ = ["DEVICE", "Operators"]
