"""What a port changed."""

from dataclasses import replace

from porter.report.migration.diff import port_diff


def test_a_diff_names_both_files_and_holds_only_what_changed(migration):
    lines = port_diff(migration.files[0]).plain.splitlines()
    assert lines[:2] == ["--- ops/sum.cu", "+++ sum.maca.cpp"]
    assert [line for line in lines[3:] if line[0] in "+-"] == [
        "-\t__shared__ float partial[32];",
        "+\t__shared__ float partial[64];",
    ]


def test_an_unchanged_file_has_no_diff(migration):
    same = replace(migration.files[0], text=migration.source.text)
    assert port_diff(same).plain == ""
