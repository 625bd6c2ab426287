"""A suite run as a table, a spreadsheet and a page."""

import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from porter.cli.main import main
from porter.report.suite.page import suite_page
from porter.report.suite.scale import distribution, kind, mean_interval, scale
from porter.report.suite.tables import stages, suite_document, suite_tables, suite_text
from porter.report.suite.text import suite_csv, suite_markdown
from porter.suite.result import Result, SuiteResult, Time, read_result, write_result, write_run


def result(name, outcome="verified", category="norm", because="", speedup=None):
    speedups, time_us, device = ({"cuda": speedup}, Time(8.0, 7.5, 8.5), "a device") if speedup else ({}, None, "")
    return Result(
        "mine", category, name, "", outcome, because, "native", ("PORT1001",), f"mine/{category}/{name}/kernel.py", 1.0,
        speedups, time_us, device,
    )  # fmt: skip


RUN = SuiteResult(
    "triton", "sm_90", "1.0",
    (
        result("fast", speedup=4.0),
        result("slow", speedup=0.5),
        result("odd", "wrong", because='at [0] got 1 | want "2", a<b>'),
        result("other", category="loss", speedup=1.0),
    ),
)  # fmt: skip
COUNTED = SuiteResult(
    "triton", "sm_90", "1.0",
    (replace(result("a"), stages={"prove": 2.0, "wait": 3.5}), replace(result("b"), stages={"prove": 4.4})),
)  # fmt: skip
UNTIMED = SuiteResult("maca", "c500", "1.0", (result("plain"), result("open", "not_verified")))


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "mine/norm/fast"
    (place / "original").mkdir(parents=True)
    (place / "original/kernel.cu").write_text("same\nold\n")
    (place / "kernel.py").write_text("same\nnew <b>\n")
    return tmp_path


class Page(HTMLParser):
    """What a page loads from elsewhere, and its text."""

    def __init__(self, text):
        super().__init__()
        self.loaded, self.text, self.tags = [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.loaded += [value for name, value in attrs if name in {"src", "href"}]

    def handle_data(self, data):
        self.text += data


def test_the_page_stands_alone_and_shows_sources_as_text(folder):
    page = suite_page(RUN, suite_tables(RUN), folder)
    parsed = Page(page)
    assert all(reference.startswith("#") for reference in parsed.loaded)
    assert not {"link", "img", "iframe"} & set(parsed.tags)
    assert not re.search(r"url\(|@import|fetch\(|<script[^>]", page)
    assert "<b>\n" not in page.split("<pre>")[1].split("</pre>")[0]
    assert "+new <b>" in parsed.text
    assert "-old" in parsed.text
    assert 'at [0] got 1 | want "2", a<b>' in parsed.text
    assert "PORT1001" in parsed.text


def test_an_operator_of_the_page_has_its_times_and_what_they_were_taken_beside(folder):
    one = replace(
        RUN.results[0],
        times_us={"forward at bench": Time(4034.46, 4030.0, 4040.0)},
        speedups={"cuda": 1.581, "pytorch": 2.824},
        share_of_limit=0.87,
        factor=1.31,
        measure="native",
    )
    run = replace(RUN, results=(one,))
    text = Page(suite_page(run, suite_tables(run), folder)).text
    assert "forward at bench: 4.03 ms; times as fast as cuda 1.58, pytorch 2.82; 87% of what memory allows" in text
    assert "1 port searched: 1 better than what they began with" in text


def test_without_a_time_a_table_has_no_columns_for_them():
    head, *rows = suite_text(UNTIMED, suite_tables(UNTIMED)).plain.splitlines()[:3]
    assert head.split() == ["category", "operators", "ported", "verified", "corr"]
    assert [row.split() for row in rows] == [["norm", "2", "2", "1", "50%"], ["all", "2", "2", "1", "50%"]]


def test_without_a_time_a_page_has_no_bars(tmp_path):
    page = suite_page(UNTIMED, suite_tables(UNTIMED), tmp_path)
    assert "Times as fast" not in page
    assert "no speed was measured" in page


def test_what_fell_short_comes_first_and_headline_numbers_above_it(folder):
    run = replace(RUN, operators=(*(one.key for one in RUN.results), "mine/norm/gone"))
    text = Page(suite_page(run, suite_tables(run), folder)).text
    assert [text.index(words) for words in ("3 of 5", "What fell short", "mine/norm/odd", "Operators")] == sorted(
        text.index(words) for words in ("3 of 5", "What fell short", "mine/norm/odd", "Operators")
    )
    assert "the run has no result for it" in text
    assert "geometric mean of 3 operators" in text
    assert "5 operators on triton" in text


def test_bars_begin_at_one_and_half_as_fast_is_as_long_as_twice_as_fast():
    spread = scale([4.0, 0.25, 2.0])
    fast, slow, half = (spread.bar(speedup) for speedup in (4.0, 0.25, 2.0))
    assert fast.left == pytest.approx(spread.at(1.0))
    assert slow.left + slow.width == pytest.approx(spread.at(1.0))
    assert fast.width == pytest.approx(slow.width) == pytest.approx(2 * half.width)
    assert slow.left > 0
    assert fast.left + fast.width < 100
    assert [kind(speedup) for speedup in (1.02, 0.98, 1.05, 0.95)] == ["even", "even", "fast", "slow"]


def test_the_mean_has_an_interval_where_there_are_operators_enough():
    assert mean_interval([2.0, 2.0]) is None
    assert mean_interval([2.0] * 5) == pytest.approx((2.0, 2.0))
    low, high = mean_interval([1.0, 2.0, 4.0])
    assert low < 2.0 < high


def test_the_distribution_counts_every_speedup_once():
    bins = list(distribution([0.5, 0.6, 1.0, 1.2, 4.0]))
    assert sum(one.count for one in bins) == 5
    assert [one.count for one in bins if one.kind == "slow"] == [2, 0]
    assert (bins[0].label, bins[-1].label) == ("0.50 to 0.71", "4.00 to 5.66")
    assert list(distribution([])) == []


def test_csv_is_read_back():
    first, *_ = rows = list(csv.DictReader(io.StringIO(suite_csv(RUN))))
    assert [row["speedup_cuda"] for row in rows] == ["4.0", "0.5", "", "1.0"]
    assert (first["median_us"], first["device"]) == ("8.0", "a device")
    assert rows[2]["because"] == 'at [0] got 1 | want "2", a<b>'


def test_every_row_of_a_markdown_table_has_its_columns():
    for table in re.findall(r"(?:^\|.*\n)+", suite_markdown(RUN, suite_tables(RUN)), re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


def test_the_command_writes_what_it_is_asked_for(tmp_path, capsys):
    write_run(tmp_path, RUN)
    assert main(["report", str(tmp_path), "--json", "--baseline", "cuda", "--p", "2"]) == 0
    assert json.loads(capsys.readouterr().out)["overall"]["fast"] == 0.25
    assert main(["report", str(tmp_path / "suite.json"), "--format", "html", "-o", str(tmp_path / "r.html")]) == 0
    assert capsys.readouterr().out == ""
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")


def test_a_folder_that_is_no_run_is_an_error(tmp_path, capsys):
    assert main(["report", str(tmp_path)]) == 2
    assert "suite.json" in capsys.readouterr().err


def test_a_searched_run_has_tables_from_before():
    searched = replace(result("a", speedup=4.0), speedups={"cuda": 4.0, "seed": 2.0}, share_of_limit=0.8, factor=2.0)
    run = replace(RUN, results=(searched, *RUN.results[1:]))
    now, then = suite_tables(run)
    assert (now.overall.amsr, now.overall.fast) == ((4 + 0 + 0 + 1) / 4, 0.25)
    assert then.before
    assert then.categories["norm"].amsr == pytest.approx((2 + 0 + 0) / 3)
    assert then.categories["norm"].limit == pytest.approx(0.4)
    assert "times as fast as cuda, before the search" in suite_text(run, (now, then)).plain
    assert suite_document(run, (now, then))["before"]["cuda"]["overall"]["amsr"] == pytest.approx((2 + 0 + 0 + 1) / 4)
    assert [table.before for table in suite_tables(RUN)] == [False]


def test_stages_are_summed_over_all_operators():
    assert stages(COUNTED) == "time spent: prove 6 s, wait 4 s, of 2 s in all"
    assert stages(COUNTED) in suite_markdown(COUNTED, suite_tables(COUNTED))
    assert stages(UNTIMED) == ""


def test_times_that_are_missing_are_told_everywhere(tmp_path):
    because = "forward at bench: out of <memory>"
    run = SuiteResult("triton", "sm_90", "1.0", (replace(result("a", speedup=2.0), untimed=(because,)),))
    tables = suite_tables(run)
    assert f"mine/norm/a  {because}" in suite_text(run, tables).plain
    assert f"| mine/norm/a | {because} |" in suite_markdown(run, tables).replace("\\", "")
    assert because in suite_csv(run)
    assert because in Page(suite_page(run, tables, tmp_path)).text
    assert "missing" not in suite_text(RUN, suite_tables(RUN)).plain


def test_a_result_with_times_is_read_as_it_was_written(tmp_path):
    one = replace(
        result("a", speedup=2.0), untimed=("why",), times_us={"bench": Time(1.0, 0.5, 1.5)}, stages={"prove": 1.0}
    )
    write_result(tmp_path, one)
    assert read_result(tmp_path) == one


def earlier(path):
    """The run as it was before: one operator was right that is now wrong, one was slower, and one was not there."""
    slow, odd = result("fast", speedup=2.0), result("odd")
    was = (replace(slow, time_us=Time(16.0, 15.0, 17.0)), odd, result("gone"))
    write_run(path / "old", replace(RUN, results=was))
    write_run(path / "new", RUN)
    return path / "new", path / "old"


def test_a_report_says_what_changed_since_an_earlier_run(tmp_path, capsys):
    new, old = earlier(tmp_path)
    assert main(["report", str(new), "--against", str(old), "--json"]) == 0
    since = json.loads(capsys.readouterr().out)["against"]
    changes = {one["key"].rpartition("/")[2]: one["change"] for one in since["operators"]}
    assert changes == {"fast": "faster", "slow": "fixed", "odd": "wrong", "other": "fixed", "gone": "missing"}
    assert since["lost"] == 2
    page = tmp_path / "page.html"
    assert main(["report", str(new), "--against", str(old), "--format", "html", "-o", str(page)]) == 0
    assert f"worse than in {old}" in page.read_text()
    assert main(["report", str(new), "--against", str(old), "--format", "csv"]) == 0
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    assert (rows["odd"]["change"], rows["fast"]["change"]) == ("no longer right", "faster")
    assert main(["report", str(new), "--against", str(old)]) == 0
    assert "1 no longer right, 1 missing, 2 now right, 1 faster" in capsys.readouterr().out


def test_runs_of_different_targets_are_not_compared(tmp_path, capsys):
    new, old = earlier(tmp_path)
    write_run(old, replace(RUN, target="maca", arch="c500"))
    assert main(["report", str(new), "--against", str(old)]) == 2
    assert "the runs are of different targets: maca c500 and triton sm_90" in capsys.readouterr().err
