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
_IN_NAMESPACE = "namespace {scope} {{ {entry} }}"


def driver(request: BuildRequest, *, by_parameters: bool) -> str:
    """C++ text to append to the translated source.

    `by_parameters` picks the overload with the request's parameter types, and looks those and the template arguments up
    in the entry's namespace; without, its name must stand for one function and its arguments mean something anywhere.
    """
    if request.entry.kind is EntryKind.PROGRAM:
        entry = ""
        call = f"::porter::simt::run_main(&{USER_MAIN}, count, words)"
        serve = f"::porter::simt::serve_program([](int count, char** words) {{ return {call}; }});"
    else:
        entry = _ENTRY.format(call=_call(request, by_parameters=by_parameters))
        scope = request.entry.name.rpartition("::")[0] if by_parameters else ""
        entry = _IN_NAMESPACE.format(scope=scope, entry=entry) if scope else entry
        serve = f"::porter::simt::serve({scope}::porter_entry);"
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
        types = [p.text for p in request.parameters]
        returns = f"decltype({name}{template}({', '.join(f'std::declval<{t}>()' for t in types)}))"
        function = f"static_cast<{returns} (*)({', '.join(types)})>(&{name}{template})"
    if request.entry.kind is EntryKind.KERNEL:
        return f'::porter::simt::launch_entry("{name}", {function}, arguments)'
    return f'::porter::simt::call_entry("{name}", {function}, arguments, results)'
