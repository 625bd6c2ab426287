"""Names that lead out of what a module of kernels and launchers is: the same for its text and for its run.

A module that only launches kernels has no use for any of them. What honest modules do have a use for is not here,
though it can be misused: that is for the run to tell. To import a module is no use of it.
"""

from __future__ import annotations

from collections.abc import Mapping

COMPILER, CODE, SYSTEM, FRAMES, INTERNALS = "PORT1902", "PORT1903", "PORT1904", "PORT1905", "PORT1906"
FILES, THREADS, ENVIRONMENT, JUDGE = "PORT1908", "PORT1909", "PORT1910", "PORT1912"


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _all(code: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), code)


# Modules, with everything below them, but for what is harmless of them.
MODULES: Mapping[str, str] = {
    **_all(COMPILER, "torch.compile torch.jit torch.fx torch._inductor torch._dynamo torch.utils.cpp_extension"),
    **_all(COMPILER, "numba cupy jax tvm tensorflow onnxruntime tensorrt scipy numexpr"),
    **_all(CODE, "importlib imp runpy pkgutil code codeop marshal pickle _pickle cloudpickle dill shelve copyreg"),
    **_all(CODE, "torch.hub torch.package torch.load torch.serialization cProfile profile pdb bdb builtins"),
    **_all(SYSTEM, "ctypes _ctypes cffi subprocess multiprocessing signal mmap resource fcntl pty posix socket os"),
    **_all(SYSTEM, "socketserver ssl http urllib requests ftplib numpy.ctypeslib torch.multiprocessing"),
    **_all(SYSTEM, "torch.ops.load_library torch.classes"),
    **_all(FRAMES, "gc inspect tracemalloc faulthandler sysconfig site __main__ unittest.mock sys"),
    **_all(FILES, "shutil tempfile fileinput io sqlite3 dbm zipfile tarfile torch.save numpy.load numpy.save"),
    **_all(FILES, "numpy.savez numpy.fromfile numpy.memmap torch.from_file"),
    **_all(THREADS, "threading _thread concurrent asyncio sched atexit"),
    **_all(JUDGE, "porter porter_triton triton.runtime.interpreter triton.knobs.runtime.interpret"),
}
_HARMLESS: Mapping[str, frozenset[str]] = {
    "os": _names("path PathLike fspath sep linesep cpu_count name curdir pardir"),
    "sys": _names(
        """path version version_info maxsize platform byteorder float_info int_info hexversion implementation argv
        executable stdout stderr getsizeof getrecursionlimit setrecursionlimit prefix intern"""
    ),
    "threading": _names("Lock RLock local"),
    "inspect": _names("signature Parameter isfunction isclass getdoc"),
    "importlib": _names("metadata"),
}
_ENVIRONMENT = frozenset(("environ", "getenv", "putenv", "unsetenv", "environb", "getenvb"))
# Attributes, whatever they are asked of.
_ATTRIBUTES: Mapping[str, str] = {
    **_all(FRAMES, "_getframe _current_frames currentframe f_back f_globals f_locals f_builtins f_code f_trace"),
    **_all(FRAMES, "tb_frame gi_frame cr_frame ag_frame settrace setprofile addaudithook call_tracing meta_path"),
    **_all(FRAMES, "path_hooks path_importer_cache get_objects get_referrers get_referents walk_stack walk_tb"),
    **_all(CODE, "attrgetter methodcaller FunctionType CodeType LambdaType get_field get_type_hints __import__"),
    **_all(CODE, "import_module exec_module load_module load_inline cpp_extension"),
    **_all(FILES, "read_bytes read_text write_bytes write_text from_file tofile loadtxt savetxt genfromtxt"),
    **_all(SYSTEM, "load_library ctypeslib ctypes subprocess builtins"),
    **_all(COMPILER, "_inductor _dynamo"),
    **_all(
        INTERNALS, "__globals__ __builtins__ __code__ __closure__ __subclasses__ __bases__ __base__ __mro__ __dict__"
    ),
    **_all(INTERNALS, "__getattribute__ __defaults__ __kwdefaults__ __self__ __func__ __reduce__ __reduce_ex__"),
    **_all(INTERNALS, "__loader__ __spec__ __setstate__ cell_contents mro _version _base _cdata _C _make_subclass"),
    **_all(
        INTERNALS,
        "_make_wrapper_subclass _backward_hooks _typed_storage _untyped_storage _disabled_torch_function_impl",
    ),
    **_all(JUDGE, "rewrite rewriter rewritten_fn"),  # of kernels that are interpreted, and of no others
    **_all(INTERNALS, "__array__ __dlpack__ __array_interface__ __cuda_array_interface__"),
}
# Functions of Python that are always there.
BUILTINS: Mapping[str, str] = {
    **_all(CODE, "exec eval compile __import__"),
    **_all(FILES, "open"),
    **_all(INTERNALS, "vars memoryview breakpoint __builtins__ __loader__ __spec__"),
}
# Modules of Python that others hold under their own name: `torch.os`.
THROUGH_OTHERS = _names(
    "os sys ctypes gc inspect builtins subprocess importlib threading pickle socket io shutil tempfile"
)
# Private names of torch and Triton that modules of kernels do have a use for.
_PRIVATE = _names("_cuda_getCurrentRawStream _assert")


def forbidden_module(name: str) -> str:
    """The code that using `name`, a module or something in it, breaks; empty where it breaks none.

    A module of which something is harmless may be named as a whole.
    """
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        head = ".".join(parts[:length])
        if head in MODULES:
            return MODULES[head] if head not in _HARMLESS else _forbidden_member(head, parts[length:])
    return ""


def _forbidden_member(module: str, members: list[str]) -> str:
    if not members or members[0] in _HARMLESS[module]:
        return ""
    if module == "os" and members[0] in _ENVIRONMENT:
        return ENVIRONMENT
    return _ATTRIBUTES.get(members[0], MODULES[module])


def forbidden_attribute(name: str) -> str:
    """The code that an attribute `name` of anything breaks; empty where it breaks none."""
    return _ATTRIBUTES.get(name, "")


def is_private(name: str) -> bool:
    """Whether an attribute of a module is that module's own affair."""
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__")) and name not in _PRIVATE


def private_part(name: str) -> str:
    """The code that using `name` breaks for what in it is private of torch, Triton or numpy.

    The language's own functions are for kernels, whatever they are called: `triton.language.standard._log2`.
    """
    root, *parts = name.split(".")
    foreign = root in ("torch", "triton", "numpy") and not name.startswith("triton.language.")
    allowed = parts[-1:] == ["_cuda_getCurrentRawStream"]
    return INTERNALS if foreign and not allowed and any(is_private(part) for part in parts) else ""
