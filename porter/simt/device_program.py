"""The kernels of a source alone, built for the process that carries plans out.

Which instances of which kernels host code can launch, its own executable knows: each of them stands in a list there.
They are built from what kernels mention of the source, without any host function or object of it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from porter.execution.job import BuildFailure, Built, DeviceProgram, Executable
from porter.simt.compiler import Diagnostics
from porter.simt.driver import DRIVER_FILE, without_macros
from porter.simt.elf import demangled, read_elf
from porter.simt.failure import blamed, build_failure, lines_behind
from porter.simt.unit import VARIABLES, Unit

_LIST = "porter_kernels"
_MOST_ROUNDS = 8  # in each of which host code is left out
_OF_COMPILERS = ("_ZSt", "_ZGV", "_ZTV", "_ZTI", "_ZTS", ".L")
_ANONYMOUS = re.compile(r"\(anonymous namespace\)::|\{anonymous\}::")
_FRAME = """
#line 1 "{file}"
extern "C" const int porter_warp_size = {warp_size};
extern "C" const bool porter_watched = {watched};
static const ::porter::simt::ReplayedKernel porter_replayed[] = {{
{kernels}
#line 1 "{file}"
{{nullptr, nullptr, 0}} }};
int main() {{ ::porter::simt::mention_marks(); ::porter::simt::replay(porter_replayed, {count}); }}
"""
_KERNEL = """#line 1 "{file} {index}"
::porter::simt::replayed<{function}>(),"""


def with_devices(whole: Unit, built: Sequence[Built]) -> tuple[Built, ...]:
    """`built`, each with what carries out its plans; where that does not build, why."""
    made: dict[str, DeviceProgram | BuildFailure] = {}
    found = list[Built]()
    for one in built:
        if not isinstance(one, Executable):
            found.append(one)
            continue
        if one.path not in made:
            made[one.path] = _device_program(whole, one)
        device = made[one.path]
        found.append(device if isinstance(device, BuildFailure) else replace(one, device=device))
    return tuple(found)


def _device_program(whole: Unit, planning: Executable) -> DeviceProgram | BuildFailure:
    """The kernels that `planning` can launch, but for those that C++ cannot name from outside.

    Headers that it was built without are empty for them, too.
    """
    kernels = launchable(planning.path)
    while True:
        unit = reduce(Unit.treating_as_empty, planning.absent, whole.of_device(_ending(whole, kernels)))
        unit, done = _made(unit, has_all=not planning.absent)
        if done.ok:
            variables = unit.program.with_name(VARIABLES).read_text().split()
            own = tuple(filter(_is_of_source, variables))
            others = tuple(name for name in variables if not _is_of_source(name))
            return DeviceProgram(str(unit.program), kernels, unit.sides, own, others)
        guilty = blamed(done.log)
        if not guilty:
            failure = build_failure(done.log, whole.request)
            return replace(failure, message=f"the kernels do not build without host code: {failure.message}")
        kernels = tuple(kernel for index, kernel in enumerate(kernels) if index not in guilty)


def _made(unit: Unit, *, has_all: bool) -> tuple[Unit, Diagnostics]:
    """Makes `unit`, without host code in which errors lie unless it `has_all` headers; returns what was made."""
    done = unit.make()
    for _ in range(_MOST_ROUNDS):
        fewer = None if has_all or done.ok else unit.without_host_code(lines_behind(done.log))
        if fewer is None:
            break
        unit, done = fewer, fewer.make()
    return unit, done


def _is_of_source(variable: str) -> bool:
    """Returns False for what the executor's headers and the compiler keep, and for shared memory."""
    return "porter" not in variable and not variable.startswith(_OF_COMPILERS)


def launchable(planning: str) -> tuple[str, ...]:
    """The symbols of all kernels in a planning executable."""
    host = read_elf(planning)
    places = struct.iter_unpack("<Q", host.sections.get(_LIST, b""))
    return tuple(dict.fromkeys(host.function_at(place) for (place,) in places))


def _ending(whole: Unit, kernels: Sequence[str]) -> str:
    request = whole.request
    functions = enumerate(map(_function, demangled(kernels)))
    frame = _FRAME.format(
        file=DRIVER_FILE,
        warp_size=request.warp_size,
        watched="true" if request.watched else "false",
        kernels="\n".join(_KERNEL.format(file=DRIVER_FILE, index=i, function=text) for i, text in functions),
        count=len(kernels),
    )
    return without_macros(frame) + frame


def _function(spelled: str) -> str:
    """The address of the kernel `ns::k<float>(float*, int)`, picked by its parameters."""
    text = _ANONYMOUS.sub("", spelled).removeprefix("void ")
    opening = _last_group(text)
    if opening is None:
        return f"&{text}"
    return f"static_cast<void (*){text[opening:]}>(&{text[:opening]})"


def _last_group(text: str) -> int | None:
    """Returns where the brackets open that end `text`; None where it ends in none."""
    depth = 0
    for index in range(len(text) - 1, -1, -1):
        depth += (text[index] == ")") - (text[index] == "(")
        if depth == 0:
            return index if text[index] == "(" else None
    return None
