"""Local headers by the name they are included with."""

from pathlib import Path

from porter.source.headers import DiskHeaders, folders_of, local_headers
from porter.source.parse import parse
from porter.source_text import Source


def project(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "headers" / "lib").mkdir(parents=True)
    (tmp_path / "src" / "near.cuh").write_text('#include "lib/far.h"\n#include <cuda_runtime.h>\n')
    (tmp_path / "headers" / "lib" / "far.h").write_text('#include "../lib/far.h"\n#define WIDTH 4\n')
    return Source(tmp_path / "src" / "a.cu", '#include "near.cuh"\n#include "gone.h"\n#include "torch/extension.h"\n')


def test_headers_are_found_transitively_by_the_name_used(tmp_path):
    found = local_headers(project(tmp_path), [tmp_path / "headers"])
    assert [(name, header.path.name) for name, header in found][:2] == [
        ("near.cuh", "near.cuh"),
        ("lib/far.h", "far.h"),
    ]


def test_a_program_knows_the_headers_that_are_compiled(tmp_path):
    source = project(tmp_path)
    dead = '#ifdef ANOTHER_FRAMEWORK\n#include "dead.h"\n#include "nowhere.h"\n#endif\n'
    (tmp_path / "src" / "dead.h").write_text('#include "dead_too.h"\n')
    (tmp_path / "src" / "dead_too.h").write_text("")
    whole = Source(source.path, dead + source.text + '#if __has_include("near.cuh")\n#include "./near.cuh"\n#endif\n')
    finder = DiskHeaders((tmp_path / "headers",))
    assert [name for name, _ in parse(whole, headers=finder).headers] == [
        "near.cuh",
        "lib/far.h",
        "../lib/far.h",
        "./near.cuh",
    ]
    assert "nowhere.h" not in str(parse(whole, headers=finder).findings)
    defined = parse(whole, headers=finder, defines=("ANOTHER_FRAMEWORK",))
    assert [name for name, _ in defined.headers][:2] == ["dead.h", "dead_too.h"]
    assert any('"nowhere.h" was not found' in f.message for f in defined.findings)
    assert parse(whole).headers == ()


def test_missing_headers_are_findings_that_name_the_flag(tmp_path):
    source = project(tmp_path)
    missing = [f for f in parse(source, headers=DiskHeaders()).findings if f.code == "PORT2002"]
    assert [f.message.split(",")[0] for f in missing] == ['"gone.h" was not found', '"lib/far.h"']
    assert all("--include-dir" in f.hint for f in missing)
    assert missing[0].span is not None
    assert missing[0].span.line == 2
    with_folder = parse(source, headers=DiskHeaders((tmp_path / "headers",))).findings
    assert [f.message for f in with_folder if f.code == "PORT2002"] == ['"gone.h" was not found']


def test_a_header_that_includes_itself_ends(tmp_path):
    path = tmp_path / "self.h"
    path.write_text('#include "self.h"\nint x;\n')
    assert len(local_headers(Source(path, path.read_text()))) == 1
    assert parse(Source(Path(path), path.read_text()), headers=DiskHeaders()).kernels == ()


def test_standard_headers_in_quotes_are_not_missing(tmp_path):
    source = Source(tmp_path / "a.cu", '#include "cmath"\n#include "stdlib.h"\n__global__ void k() {}\n')
    assert parse(source, headers=DiskHeaders()).findings == ()


def test_kernels_of_a_header_count(tmp_path):
    (tmp_path / "k.cuh").write_text("__global__ void k() {}\nvoid run() { k<<<1, 1>>>(); }\n")
    source = Source(tmp_path / "a.cu", '#include "k.cuh"\nvoid entry() { run(); }\n')
    assert parse(source, headers=DiskHeaders()).findings == ()
    assert [f.code for f in parse(source).findings] == ["PORT2003"]


def test_a_header_is_found_above_the_file_unless_the_repository_ends_below(tmp_path):
    source = Source(tmp_path / "lib" / "kernels" / "cuda" / "a.cu", '#include "common/traits.h"\n')
    source.path.parent.mkdir(parents=True)
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "traits.h").write_text("")
    ((_, header),) = local_headers(source)
    assert header.path == tmp_path / "common" / "traits.h"
    assert folders_of([("common/traits.h", header), ("./traits.h", header)]) == (tmp_path, tmp_path / "common")
    (tmp_path / "lib" / ".git").mkdir()
    assert local_headers(source) == ()


def test_a_header_that_a_repository_has_once_is_found_and_of_two_the_places_are_named(tmp_path):
    source = Source(tmp_path / "ops" / "sum" / "a.cu", '#include "shared/types.h"\n#include "twice.h"\n')
    for name in ("common/cuda/shared/types.h", "other/types.h", "one/twice.h", "two/twice.h", ".git/shared/types.h"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("")
    ((_, header),) = local_headers(source)
    assert header.path == tmp_path / "common" / "cuda" / "shared" / "types.h"
    (missing,) = (f for f in parse(source, headers=DiskHeaders()).findings if f.code == "PORT2002")
    assert missing.message == '"twice.h" was not found'
    assert missing.hint.endswith(f"--include-dir: {tmp_path / 'one'} or {tmp_path / 'two'}")


def test_a_header_is_found_in_an_include_folder_beside_or_above_the_file(tmp_path):
    source = Source(tmp_path / "src" / "ops" / "a.cu", '#include "lib/far.h"\n#include "near.h"\n#include "cmath"\n')
    for folder, name in (("include/lib", "far.h"), ("src/ops/include", "near.h"), ("src/include", "cmath")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / name).write_text("")
    found = [header.path.relative_to(tmp_path).as_posix() for _, header in local_headers(source)]
    assert found == ["include/lib/far.h", "src/ops/include/near.h"]


def test_a_header_that_is_missing_twice_is_said_once(tmp_path):
    source = Source(tmp_path / "op.cu", '#include "gone.h"\n#include "gone.h"\n#include "too.h"\n')
    missing = [f for f in parse(source, headers=DiskHeaders()).findings if f.code == "PORT2002"]
    assert [(f.message, f.span.line) for f in missing] == [('"gone.h" was not found', 1), ('"too.h" was not found', 3)]


def test_a_library_may_call_its_own_headers_like_those_of_the_toolkit(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "include").mkdir()
    for name in ("cuda_utils.h", "device_ops.cuh", "cuda_runtime.h", "vector_types.h"):
        (tmp_path / "include" / name).write_text("")
    text = '#include "cuda_utils.h"\n#include "device_ops.cuh"\n#include "cuda_runtime.h"\n#include "vector_types.h"\n'
    found = local_headers(Source(tmp_path / "src" / "a.cu", text))
    assert [name for name, _ in found] == ["cuda_utils.h", "device_ops.cuh"]


def test_a_missing_header_that_is_called_like_the_toolkits_is_a_finding(tmp_path):
    found = parse(Source(tmp_path / "a.cu", '#include "cuda_utils.h"\n#include "cuda_fp16.h"\n'), headers=DiskHeaders())
    assert [f.message for f in found.findings if f.code == "PORT2002"] == ['"cuda_utils.h" was not found']


def test_headers_that_have_to_lie_within_a_folder_are_not_found_outside(tmp_path):
    source = project(tmp_path)
    outside = tmp_path / "headers" / "lib" / "far.h"
    (source.path.parent / "link.h").symlink_to(outside)
    finder = DiskHeaders((tmp_path / "headers",), within=source.path.parent)
    names = ("near.cuh", "lib/far.h", str(outside), "../headers/lib/far.h", "link.h")
    assert [name for name in names if finder(name, source)] == ["near.cuh"]
    assert all(DiskHeaders((tmp_path / "headers",))(name, source) for name in names)
