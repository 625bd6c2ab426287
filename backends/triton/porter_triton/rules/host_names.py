"""Lists what host code may name of other modules: a positive list, by module.

A launcher allocates, moves, asks for sizes and launches. Of operators of torch a plan decides whether they may make a
result; what is not listed could tell a judgement from a use, or do what no plan shows, and has no place beside kernels.
"""

from __future__ import annotations

from collections.abc import Mapping

from porter.rules.operators import COMPUTING


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DTYPES = """
float float16 float32 float64 half double bfloat16 int int8 int16 int32 int64 short long uint8 uint16 uint32 uint64
bool float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz complex64 complex128
"""
_MAKING = """
empty empty_like empty_strided zeros zeros_like ones ones_like full full_like tensor as_tensor scalar_tensor arange
eye linspace logspace rand randn randint rand_like randn_like randperm tril_indices triu_indices tril triu
from_numpy
"""
_MOVING = """
cat concat stack split chunk tensor_split unbind permute transpose reshape flatten unflatten squeeze unsqueeze
movedim broadcast_to broadcast_tensors broadcast_shapes expand_copy atleast_1d clone narrow select view_as_real
view_as_complex flip roll repeat_interleave index_select gather take masked_select nonzero scatter index_put
"""
_ASKING = """
is_tensor is_floating_point is_complex isnan isinf isfinite isclose allclose equal eq ne lt le gt ge logical_and
logical_or logical_not logical_xor bitwise_and bitwise_or numel result_type promote_types can_cast finfo iinfo
get_default_dtype is_grad_enabled count_nonzero diff floor_divide remainder bitwise_left_shift bitwise_right_shift
"""
_OF_TORCH = """
Tensor Size device dtype Stream Generator strided contiguous_format channels_last channels_last_3d preserve_format
layout no_grad enable_grad inference_mode set_grad_enabled manual_seed float_power inf nan pi __version__
set_float32_matmul_precision get_device_module
"""
_OF_CUDA = """
current_device current_stream default_stream device device_of device_count get_device_capability get_device_name
get_device_properties is_available is_initialized is_current_stream_capturing is_bf16_supported mem_get_info
set_device set_stream stream synchronize Stream Event ExternalStream init empty_cache
"""
_OF_NN = """
Module ModuleList ModuleDict Sequential Parameter ParameterList ParameterDict Buffer Identity Dropout Flatten ReLU6
Hardtanh Hardsigmoid Hardswish Softplus Softsign ELU SELU LeakyReLU LogSoftmax InstanceNorm1d InstanceNorm2d
InstanceNorm3d BatchNorm1d BatchNorm3d MaxPool1d MaxPool3d AvgPool1d AvgPool3d ConvTranspose1d ConvTranspose3d
SmoothL1Loss HuberLoss KLDivLoss TripletMarginLoss
"""
_OF_TRITON = """
jit autotune heuristics Config cdiv next_power_of_2 reinterpret set_allocator TritonError OutOfResources JITFunction
constexpr_function __version__
"""
_OF_LANGUAGE = """
constexpr dtype tensor pointer_type float16 float32 float64 bfloat16 float8e4nv float8e5 int1 int8 int16 int32 int64
uint8 uint16 uint32 uint64 core
"""
_OF_MATH = """
ceil floor trunc sqrt isqrt exp exp2 expm1 log log2 log10 log1p pow prod gcd lcm comb perm fabs fmod hypot copysign
frexp ldexp isnan isinf isfinite isclose inf nan pi e tau sin cos tan tanh erf erfc cbrt fsum factorial
"""
_OF_TYPING = """
Any Callable ClassVar Dict Final FrozenSet Generic Iterable Iterator List Literal Mapping MutableMapping NamedTuple
NoReturn Optional ParamSpec Protocol Sequence Set Self Tuple Type TypeAlias TypedDict TypeVar Union TYPE_CHECKING
cast overload runtime_checkable Annotated Concatenate Hashable Sized Generator Text
"""
_OF_NUMPY = """
array asarray zeros ones empty full arange prod ceil floor sqrt exp log log2 float16 float32 float64 int8 int16
int32 int64 uint8 uint16 uint32 uint64 bool_ dtype ndarray integer floating number pi inf nan e maximum minimum
cumsum sum max min concatenate stack reshape generic
"""

# By module, the names of it that host code may use. A module that has a line here, or holds one, is no value itself.
NAMES: Mapping[str, frozenset[str]] = {
    module: _words(names)
    for module, names in {
        "torch": " ".join((_DTYPES, _MAKING, _MOVING, _ASKING, _OF_TORCH, *COMPUTING)),
        "torch.nn.functional": " ".join(("pad one_hot softmin", *COMPUTING)),
        "torch.nn": " ".join((_OF_NN, *COMPUTING)),
        "torch.nn.parameter": "Parameter Buffer",
        "torch.nn.init": """uniform_ normal_ zeros_ ones_ constant_ kaiming_uniform_ xavier_uniform_ trunc_normal_
            calculate_gain""",
        "torch.cuda": _OF_CUDA,
        "torch.cuda.amp": "custom_fwd custom_bwd",
        "torch.cuda.nvtx": "range range_push range_pop mark",
        "torch.amp": "custom_fwd custom_bwd autocast",
        "torch.autograd": "Function no_grad enable_grad",
        "torch.autograd.function": "once_differentiable FunctionCtx",
        "torch.autograd.profiler": "record_function",
        "torch.profiler": "record_function",
        "torch.library": """Library custom_op triton_op wrap_triton register_fake register_autograd register_kernel
            impl define impl_abstract infer_schema""",
        "torch.backends.cuda": "matmul",
        "torch.backends.cudnn": "allow_tf32 benchmark deterministic enabled",
        "torch.special": " ".join(COMPUTING),
        "torch.linalg": "norm vector_norm matrix_norm",
        "torch.compiler": "is_compiling disable allow_in_graph",
        "torch.version": "cuda hip",
        "torch.ops": "*",
        "torch.types": "Device Number",
        "torch._C": "_cuda_getCurrentRawStream",
        "triton": _OF_TRITON,
        "triton.language": _OF_LANGUAGE,
        "triton.testing": "perf_report Benchmark",
        "triton.runtime": "driver Autotuner Heuristics JITFunction Config OutOfResources",
        "triton.runtime.driver": "active",
        "triton.runtime.jit": "JITFunction",
        "triton.runtime.autotuner": "Autotuner Heuristics OutOfResources",
        "triton.runtime.errors": "OutOfResources PTXASError",
        "triton.compiler.errors": "CompilationError",
        "triton.tools.tensor_descriptor": "TensorDescriptor",
        "triton.tools.experimental_descriptor": "TensorDescriptor",
        "triton.experimental.gluon": "jit",
        "numpy": _OF_NUMPY,
        "math": _OF_MATH,
        "typing": _OF_TYPING,
        "typing_extensions": _OF_TYPING,
        "types": "SimpleNamespace MappingProxyType NoneType",
        "dataclasses": "dataclass field fields replace asdict astuple KW_ONLY",
        "functools": "lru_cache cache partial reduce wraps cached_property total_ordering",
        "itertools": """chain product repeat count cycle accumulate islice takewhile dropwhile zip_longest pairwise
            combinations""",
        "collections": "OrderedDict defaultdict deque namedtuple Counter ChainMap",
        "collections.abc": """Callable Iterable Iterator Sequence Mapping MutableMapping MutableSequence Hashable Sized
            Generator Collection""",
        "contextlib": "contextmanager nullcontext ExitStack suppress AbstractContextManager",
        "enum": "Enum IntEnum StrEnum Flag IntFlag auto unique",
        "operator": "mul add sub truediv floordiv mod neg itemgetter index pow and_ or_ xor lt le gt ge eq ne",
        "numbers": "Number Integral Real",
        "abc": "ABC abstractmethod",
        "copy": "copy deepcopy",
        "logging": "getLogger Logger NullHandler DEBUG INFO WARNING ERROR",
        "warnings": "warn filterwarnings simplefilter catch_warnings",
        "sys": "version_info maxsize float_info path platform",
        "os": "cpu_count sep",
        "os.path": "dirname abspath join basename realpath splitext",
        "weakref": "WeakKeyDictionary WeakValueDictionary ref",
        "threading": "Lock RLock",
        "__future__": "annotations",
    }.items()
}
# What is for kernels may be imported whatever it is called: what a kernel may use is checked where it is rebuilt.
FOR_KERNELS = ("triton.language", "triton.experimental.gluon")
# Settings that torch means to be assigned to.
SETTINGS = ("torch.backends.cuda.matmul.", "torch.backends.cudnn.")

BUILTINS = _words("""
abs all any bool bytes bytearray callable classmethod complex dict divmod enumerate filter float format frozenset
getattr hasattr hash id int isinstance issubclass iter len list map max min next object pow print property range
repr reversed round set setattr slice sorted staticmethod str sum super tuple type zip True False None
NotImplemented Ellipsis delattr ArithmeticError AssertionError AttributeError BaseException Exception ImportError
IndexError KeyError LookupError MemoryError ModuleNotFoundError NameError NotImplementedError OSError OverflowError
RuntimeError StopIteration SystemExit TypeError UnboundLocalError ValueError ZeroDivisionError Warning UserWarning
RuntimeWarning DeprecationWarning FutureWarning KeyboardInterrupt RecursionError __name__ __file__ __doc__
""")
# Names with underscores that mean nothing but what they say.
PLAIN_DUNDERS = _words("""
__name__ __qualname__ __doc__ __version__ __init__ __new__ __call__ __post_init__ __len__ __getitem__
__setitem__ __contains__ __iter__ __next__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__ __enter__ __exit__
__bool__ __int__ __float__ __index__ __add__ __sub__ __mul__ __truediv__ __floordiv__ __mod__ __neg__ __repr__
__str__ __all__ __annotations__ __module__ __slots__ _replace _asdict _fields __init_subclass__ __set_name__ __get__
__wrapped__ __radd__ __rmul__
""")
