"""The driver behind the user's source: the few lines of C++ that hand its entries to the executor."""

from __future__ import annotations

import re
from collections.abc import Container

from porter.contract.model.contract import EntryKind
from porter.execution.job import BuildRequest, Callee, Part
from porter.simt.translate import USER_MAIN

DRIVER_FILE = "porter's driver"
BEGUN = "porter's driver begins"

# The compiler tells when it comes to the driver: what it complains of before has nothing to do with what is called.
_FRAME = """
#line 1 "{file}"
#pragma message "{begun}"
extern "C" const int porter_warp_size = {warp_size};
extern "C" const bool porter_watched = {watched};
{blocks}
#line 1 "{file}"
static const ::porter::simt::Entry porter_entries[] = {{ {names}nullptr }};
{begin}int main() {{ ::porter::simt::mention_marks(); {keep}::porter::simt::serve(porter_entries); }}
"""
# The linker drops a list of kernels that nobody mentions.
_LIST = 'extern "C" const char __start_porter_kernels[] __attribute__((weak));\n'
_MENTION = '__asm__ volatile("" : : "r"(__start_porter_kernels)); '
# A name of its own for each block: an error in it tells which entry does not compile.
_BLOCK = """#line 1 "{file} {index}"
static void porter_entry_{index}(::porter::simt::Arguments& arguments, ::porter::simt::Results& results) {{
    (void)arguments, (void)results;
    {call};
}}"""
_GIVE = "::porter::simt::give(record_{index}{field}, arguments[{at}]);"
_STRUCT = "::porter::simt::Record<{index}, decltype({function})> record_{index}{{}};"
_LIST_OF = "::porter::simt::ListOf<::porter::simt::Record<{index}, decltype({function})>> record_{index}({count});"
_IN_NAMESPACE = "namespace {scope} {{\n{block}\n}}"


def driver(request: BuildRequest, by_parameters: Container[Callee]) -> str:
    """C++ text to append to the translated source.

    The overloads of callees `by_parameters` are picked with their parameter types, and those and the template arguments
    are looked up in the entry's namespace; of others a name must stand for one function and its arguments mean
    something anywhere.
    """
    callees = request.callees
    scopes = [callee.entry.name.rpartition("::")[0] if callee in by_parameters else "" for callee in callees]
    blocks = [_block(i, c, scopes[i], by_parameters=c in by_parameters) for i, c in enumerate(callees)]
    return without_macros(_FRAME + _BLOCK + _LIST + _MENTION) + _FRAME.format(
        file=DRIVER_FILE,
        begun=BEGUN,
        warp_size=request.warp_size,
        watched="true" if request.watched else "false",
        blocks="\n".join(blocks),
        begin=_LIST if request.part is Part.HOST else "",
        keep=_MENTION if request.part is Part.HOST else "",
        names="".join(f"&{scope}::porter_entry_{i}, " for i, scope in enumerate(scopes)),
    )


def without_macros(text: str) -> str:
    """Directives after which `text` means what it says, whatever macros a source has."""
    words = dict.fromkeys(re.findall(r"\b[A-Za-z_]\w*", text))
    return "\n" + "".join(f"#undef {word}\n" for word in words if word != "defined")


def _block(index: int, callee: Callee, scope: str, *, by_parameters: bool) -> str:
    block = _BLOCK.format(file=DRIVER_FILE, index=index, call=_call(callee, by_parameters=by_parameters))
    return _IN_NAMESPACE.format(scope=scope, block=block) if scope else block


def _call(callee: Callee, *, by_parameters: bool) -> str:
    entry = callee.entry
    if entry.kind is EntryKind.PROGRAM:
        main = f"::porter::simt::run_main(&{USER_MAIN}, count, words)"
        return f"::porter::simt::run_program([](int count, char** words) {{ return {main}; }})"
    named = f"{entry.name}<{', '.join(entry.template)}>" if entry.template else entry.name
    function = f"&{named}"
    if by_parameters:
        types = [p.text for p in callee.parameters]
        returns = f"decltype({named}({', '.join(f'std::declval<{t}>()' for t in types)}))"
        function = f"static_cast<{returns} (*)({', '.join(types)})>({function})"
    given = _given(callee, function) if any(callee.fields) else ""
    arguments = "whole" if given else "arguments"
    if entry.kind is EntryKind.KERNEL:
        return f'{given}::porter::simt::launch_entry("{entry.name}", {function}, {arguments})'
    return f'{given}::porter::simt::call_entry("{entry.name}", {function}, {arguments}, results)'


def _given(callee: Callee, function: str) -> str:
    """Statements that put the structs and lists among the parameters together, in `whole` with all other arguments."""
    made, passed, at = list[str](), list[str](), 0
    for index, fields in enumerate(callee.fields):
        is_list = bool(fields) and fields[0].startswith("[")
        if fields:
            kind, dot = (_LIST_OF, "") if is_list else (_STRUCT, ".")
            made.append(kind.format(index=index, function=function, count=len(fields)))
            made.extend(_GIVE.format(index=index, field=f"{dot}{f}", at=at + i) for i, f in enumerate(fields))
        whole = f"record_{index}.whole()" if is_list else f"&record_{index}"
        passed.append(f"::porter::simt::record({whole})" if fields else f"arguments[{at}]")
        at += len(fields) or 1
    expected = f'::porter::simt::expect_arguments(arguments, {at}, "{callee.entry.name}");'
    return " ".join([expected, *made, f"::porter::simt::Arguments whole{{{', '.join(passed)}}}; "])
