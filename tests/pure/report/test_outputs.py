"""Writing what a migration leaves behind, without harm to what is the user's."""

from dataclasses import replace

import pytest

from porter.contract.model.toml import loads
from porter.errors import InputError
from porter.report.migration.outputs import output_texts, write_outputs


def tree(folder):
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_a_migration_leaves_port_contract_and_two_reports(migration, software, tmp_path, sum_contract):
    texts = output_texts(migration, tmp_path, software, with_contract=True)
    names = ["sum.maca.cpp", "sum.contract.toml", "sum.maca.report.md", "sum.maca.report.json"]
    assert [path.name for path in texts] == names
    path = tmp_path / "sum.contract.toml"
    assert loads(texts[path], path) == (sum_contract,)
    assert str(tmp_path / "sum.maca.report.json") in texts[tmp_path / "sum.maca.report.json"]


def test_a_contract_of_the_users_is_not_written_again(migration, software, tmp_path):
    assert tmp_path / "sum.contract.toml" not in output_texts(migration, tmp_path, software, with_contract=False)


def test_what_porter_wrote_it_may_write_again(tmp_path):
    root = tmp_path / "out"
    write_outputs({root / "a" / "x.cpp": "one"}, root, [], force=False)
    write_outputs({root / "a" / "x.cpp": "two", root / "y.md": "new"}, root, [], force=False)
    write_outputs({root / "a" / "x.cpp": "three"}, root, [], force=False)
    assert {name: text for name, text in tree(root).items() if not name.startswith(".")} == {
        "a/x.cpp": "three",
        "y.md": "new",
    }


def test_a_file_that_was_edited_stays_unless_forced_and_nothing_else_is_written(tmp_path):
    write_outputs({tmp_path / "x.cpp": "one"}, tmp_path, [], force=False)
    (tmp_path / "x.cpp").write_text("edited")
    before = tree(tmp_path)
    texts = {tmp_path / "a.md": "report", tmp_path / "x.cpp": "two"}
    with pytest.raises(InputError, match=r"x\.cpp was changed since porter wrote it") as caught:
        write_outputs(texts, tmp_path, [], force=False)
    assert "--force" in caught.value.hint
    assert tree(tmp_path) == before
    write_outputs(texts, tmp_path, [], force=True)
    assert (tmp_path / "x.cpp").read_text() == "two"


def test_a_file_of_the_users_is_not_overwritten(tmp_path):
    (tmp_path / "notes.md").write_text("mine")
    with pytest.raises(InputError, match=r"notes\.md"):
        write_outputs({tmp_path / "notes.md": "report"}, tmp_path, [], force=False)
    assert tree(tmp_path) == {"notes.md": "mine"}


def test_a_source_is_not_written_over_even_by_force(tmp_path):
    (tmp_path / "op.cu").write_text("cuda")
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(InputError, match="is a source"):
        write_outputs({tmp_path / "link" / "op.cu": "port"}, tmp_path, [tmp_path / "op.cu"], force=True)
    assert tree(tmp_path) == {"op.cu": "cuda"}


def test_nothing_is_written_outside_the_output_folder(tmp_path):
    root = tmp_path / "out"
    with pytest.raises(InputError, match="outside the output folder"):
        write_outputs({root / ".." / "common.h": "port"}, root, [], force=True)
    assert tree(tmp_path) == {}


def test_line_endings_are_kept(tmp_path):
    write_outputs({tmp_path / "x.cpp": "a\r\nb\n"}, tmp_path, [], force=False)
    assert (tmp_path / "x.cpp").read_bytes() == b"a\r\nb\n"


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "out").write_text("a file")
    with pytest.raises(InputError, match="cannot write"):
        write_outputs({tmp_path / "out" / "x.cpp": "port"}, tmp_path / "out", [], force=False)


def test_a_refused_source_leaves_only_the_reports(migration, software, tmp_path):
    bare = replace(migration, files=(), entries=())
    names = [path.name for path in output_texts(bare, tmp_path, software, with_contract=True)]
    assert names == ["sum.maca.report.md", "sum.maca.report.json"]


def test_who_was_stopped_while_writing_begins_again_and_edits_are_seen_even_then(tmp_path):
    """A folder that cannot be made stops the second file, as a full disk does."""
    write_outputs({tmp_path / "x.cpp": "one"}, tmp_path, [], force=False)
    texts = {tmp_path / "x.cpp": "two", tmp_path / "notes" / "a.md": "report"}
    (tmp_path / "notes").write_text("in the way")
    with pytest.raises(InputError, match="cannot write"):
        write_outputs(texts, tmp_path, [], force=False)
    assert (tmp_path / "x.cpp").read_text() == "two"
    (tmp_path / "notes").unlink()
    (tmp_path / "x.cpp").write_text("edited")
    with pytest.raises(InputError, match=r"x\.cpp was changed since porter wrote it"):
        write_outputs(texts, tmp_path, [], force=False)
    for left in ("one", "two"):
        (tmp_path / "x.cpp").write_text(left)
        write_outputs({**texts, tmp_path / "x.cpp": "two"}, tmp_path, [], force=False)
    (tmp_path / "x.cpp").write_text("one")
    with pytest.raises(InputError, match=r"x\.cpp was changed since porter wrote it"):
        write_outputs(texts, tmp_path, [], force=False)


def test_two_targets_leave_two_reports(migration, software, tmp_path):
    other = replace(migration, target=replace(migration.target, backend="triton"), files=())
    first, second = (output_texts(m, tmp_path, software, with_contract=False) for m in (migration, other))
    assert not first.keys() & second.keys()
