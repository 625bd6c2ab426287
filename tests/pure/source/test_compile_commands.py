"""What `compile_commands.json` says of a source: folders of headers and macros, in every form that builds write."""

import json

import pytest

from porter.errors import InputError
from porter.source.compile_commands import flags_of_build


@pytest.fixture
def project(tmp_path):
    """A project with a source; `project(command)` writes its compilation database."""
    for folder in ("src", "include", "third_party/small", "cuda", "build"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "cuda/cuda_runtime.h").write_text("")
    (tmp_path / "src/k.cu").write_text("")
    (tmp_path / ".git").mkdir()

    def database(command, place="build"):
        how = {"arguments": command} if isinstance(command, list) else {"command": command}
        entry = {"directory": str(tmp_path / "build"), "file": "../src/k.cu", **how}
        (tmp_path / place / "compile_commands.json").write_text(json.dumps([entry]))
        return flags_of_build(tmp_path / "src/k.cu")

    return tmp_path, database


def told(project, flags):
    return [str(one.relative_to(project)) for one in flags.include_dirs], list(flags.defines)


FORMS = [
    "nvcc -I../include -I=../third_party/small -I/usr/include -DN=4 -D WIDE -O3 -c ../src/k.cu",
    ["nvcc", "-I", "../include", "-isystem=../third_party/small", "-DN=4", "--define-macro", "WIDE", "../src/k.cu"],
    "nvcc --options-file flags.rsp -D'N=4' -DWIDE -x cu ../src/k.cu",
    "clang++ -I../cuda -I../gone -iquote ../include @flags.rsp -DN=4 -DWIDE ../src/k.cu",
]


@pytest.mark.parametrize("command", FORMS)
def test_folders_and_macros_are_read_in_the_forms_that_builds_write(project, command):
    root, database = project
    (root / "build/flags.rsp").write_text('-I"../include" -isystem ../third_party/small')
    assert told(root, database(command)) == (["include", "third_party/small"], ["N=4", "WIDE"])


@pytest.mark.parametrize("place", [".", "src", "src/build", "build"])
def test_the_file_is_found_beside_and_above_the_source(project, place):
    root, database = project
    (root / place).mkdir(exist_ok=True)
    assert database("nvcc -DN=4 ../src/k.cu", place).database == root / place / "compile_commands.json"


def test_a_file_above_the_repository_and_one_that_does_not_name_the_source_say_nothing(project):
    root, database = project
    (root / "src/.git").mkdir()
    assert database("nvcc -DN=4 ../src/k.cu") is None
    (root / "other.cu").write_text("")
    assert flags_of_build(root / "other.cu") is None


@pytest.mark.parametrize("text", ["{", "[1]", '{"file": 1}', '[{"directory": "."}]'])
def test_a_file_that_is_no_database_is_named(tmp_path, text):
    (tmp_path / "compile_commands.json").write_text(text)
    with pytest.raises(InputError, match=r"compile_commands.json: this is not a compilation database"):
        flags_of_build(tmp_path / "k.cu")
