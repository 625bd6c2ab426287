"""The page of a suite run in a browser: it sorts, filters, opens what a link names, and fits a telephone."""

import json
import shutil
import subprocess
from dataclasses import replace

import pytest

from porter.report.suite.page import suite_page
from porter.report.suite.tables import suite_tables
from porter.suite.result import Result, SuiteResult, Time

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here")


def result(name, speedup=None, outcome="verified", because="executed"):
    times = ({"cuda": speedup}, Time(8.0 * speedup, 7.5, 8.5), "a device") if speedup else ({}, None, "")
    return Result("mine", "norm", name, "", outcome, because, "native", ("PORT1001",), "", 1.0, *times)


RUN = SuiteResult(
    "triton",
    "sm_90",
    "1.0",
    (
        result("middle", 1.5),
        result("a_slow_one", 0.5),
        result("broken", outcome="wrong", because="at [0] got 1 where 2 is right, " * 8),
        replace(result("fast", 4.0), share_of_limit=0.9),
    ),
)
NAMES = "[...document.querySelectorAll('#operators tbody tr')].filter(r => !r.hidden).map(r => r.cells[0].textContent)"


@pytest.fixture
def ask(tmp_path):
    """`ask(script, width)` opens the page, runs the script in it, and returns what that evaluates to."""
    page = suite_page(RUN, suite_tables(RUN), tmp_path)

    def asked(script, width=1280, anchor=""):
        answer = "<script>parent.postMessage(JSON.stringify((() => {" + script + "})()), '*');</script></body>"
        (tmp_path / "page.html").write_text(page.replace("</body>", answer))
        # In a frame, for a window of a headless browser is never as narrow as a telephone.
        (tmp_path / "frame.html").write_text(
            "<title>unanswered</title><script>onmessage = (event) => { document.title = event.data; };</script>"
            f'<iframe src="page.html{anchor}" width="{width}" height="900" style="border: 0"></iframe>'
        )
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--dump-dom"]
        command = [BROWSER, *options, f"--user-data-dir={tmp_path / 'profile'}", f"file://{tmp_path}/frame.html"]
        shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
        title = shown.split("<title>")[1].split("</title>")[0]
        return json.loads(title.replace("&quot;", '"').replace("&amp;", "&"))

    return asked


def test_a_click_on_a_head_sorts_and_another_turns_the_order_around(ask):
    clicks = "const head = document.querySelectorAll('#operators thead th button')[3]; head.click();"
    assert ask(f"return {NAMES};") == ["broken", "middle", "a_slow_one", "fast"]
    assert ask(f"{clicks} return {NAMES};") == ["a_slow_one", "middle", "fast", "broken"]
    assert ask(f"{clicks} head.click(); return {NAMES};") == ["fast", "middle", "a_slow_one", "broken"]


def test_words_and_an_outcome_filter_the_table_and_the_details(ask):
    typed = "words.value = 'norm SLOW'; words.dispatchEvent(new Event('input'));"
    assert ask(f"{typed} return {NAMES};") == ["a_slow_one"]
    chosen = "outcome.value = 'wrong'; outcome.dispatchEvent(new Event('change'));"
    details = "[...document.querySelectorAll('details')].filter(d => !d.hidden).map(d => d.id)"
    assert ask(f"{chosen} return {details};") == ["mine/norm/broken"]
    assert ask(f"{chosen} return document.getElementById('shown').textContent;") == "1 shown"


def test_a_link_opens_the_details_it_names(ask):
    opened = "return [...document.querySelectorAll('details[open]')].map(d => d.id);"
    assert ask(opened, anchor="#mine/norm/fast") == ["mine/norm/fast"]
    assert ask(opened) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_window(ask, width):
    sizes = "const root = document.documentElement; return [innerWidth, root.scrollWidth <= root.clientWidth];"
    assert ask(sizes, width) == [width, True]


def test_every_bar_has_its_length(ask):
    lengths = ask("return [...document.querySelectorAll('.bar')].map(b => [b.className, b.offsetWidth]);")
    by_kind = sorted(lengths)
    assert [name for name, _ in by_kind] == ["bar fast", "bar fast", "bar slow"]
    assert all(length > 2 for _, length in by_kind)
