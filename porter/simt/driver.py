"""The driver behind the user's source: the few lines of C++ that hand its entry to the executor."""

from __future__ import annotations

from porter.contract.contract import EntryKind
from porter.simt.job import BuildRequest
from porter.simt.translate import USER_MAIN

DRIVER_FILE = "porter's driver"

_FRAME = """
#line 1 "{file}"
#undef main
extern "C" const int porter_warp_size = {warp_size};
extern "C" const bool porter_watched = {watched};
{entry}
int main() {{ {serve} }}
"""
_ENTRY = """static void porter_entry(::porter::simt::Arguments& arguments, ::porter::simt::Results& results) {{
    (void)results;
    {call};
}}"""


def driver(request: BuildRequest, *, by_parameters: bool) -> str:
    """C++ text to append to the translated source.

    `by_parameters` picks the overload with the request's parameter types, which must then be nameable at file scope;
    without, the entry's name must stand for one function.
    """
    if request.entry.kind is EntryKind.PROGRAM:
        entry = ""
        call = f"::porter::simt::run_main(&{USER_MAIN}, count, words)"
        serve = f"::porter::simt::serve_program([](int count, char** words) {{ return {call}; }});"
    else:
        entry = _ENTRY.format(call=_call(request, by_parameters=by_parameters))
        serve = "::porter::simt::serve(porter_entry);"
    return _FRAME.format(
        file=DRIVER_FILE,
        warp_size=request.warp_size,
        watched="true" if request.watched else "false",
        entry=entry,
        serve=serve,
    )


def _call(request: BuildRequest, *, by_parameters: bool) -> str:
    name = request.entry.name
    template = f"<{', '.join(request.entry.template)}>" if request.entry.template else ""
    function = f"&{name}{template}"
    if by_parameters:
        types = ", ".join(p.text for p in request.parameters)
        function = f"::porter::simt::Overload<{types}>::pick({name}{template})"
    if request.entry.kind is EntryKind.KERNEL:
        return f'::porter::simt::launch_entry("{name}", {function}, arguments)'
    return f'::porter::simt::call_entry("{name}", {function}, arguments, results)'
