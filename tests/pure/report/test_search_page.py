"""A search as one HTML file, its chart, and its maps."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from porter.evolve.scored import Measure, Score
from porter.report.search.chart import chart
from porter.report.search.course import course
from porter.report.search.map import island_maps
from porter.report.search.page import search_page
from tests.pure.report.search_world import HINT, STAGES, WARPS, World, place, searched, without_a_score

VOID = {"meta", "br", "line", "path"}


class Page(HTMLParser):
    """The tags of a page, its text, what it loads from elsewhere, and whether all that is opened is closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.loaded, self.text, self.open, self.attributes = [], [], "", [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.loaded += [value for name, value in attrs if name in {"src", "href", "xlink:href", "action"}]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def native(tmp_path_factory):
    return course(searched(tmp_path_factory.mktemp("native")))


@pytest.fixture(scope="module")
def deep(tmp_path_factory):
    axes = (WARPS, STAGES, HINT)
    return course(searched(tmp_path_factory.mktemp("deep"), World(Measure.MODELLED, axes), rounds=10, islands=3))


def test_the_page_stands_alone_and_shows_what_models_wrote_as_text(native):
    text = search_page(native)
    text.encode()
    page = Page(text)
    assert page.loaded == []
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert "url(" not in text
    assert "https://example.org" in page.text
    assert "soft<max> for triton" in page.text


def test_the_page_has_a_chart_and_a_map_for_each_island(native, deep):
    for found in (native, deep):
        page = Page(search_page(found))
        islands = found.state.settings.islands
        assert page.tags.count("svg") == 1
        assert page.attributes.count(("class", "map")) == islands
        assert page.tags.count("figure") == page.tags.count("figcaption") == 1 + islands
        assert page.tags.count("h1") == 1
        for heading in ("Best so far", "Archive", "Island 0", "Lineage of the best", "Pay-off by proposer", "Budget"):
            assert heading in page.text


def test_every_caption_says_how_its_numbers_were_obtained(native, deep):
    for found, measure in ((native, "native on a device"), (deep, "modelled, a static ranking")):
        captions = re.findall(r'<(?:fig)?caption>.*?</|class="caption">.*?</', search_page(found), re.DOTALL)
        numbers = [text for text in captions if "Only verified" not in text and "Seconds are" not in text]
        assert len(numbers) >= 5
        assert [text for text in numbers if measure not in text and "Factors are" not in text] == []
    assert "times as fast" not in search_page(deep)


def test_what_scrolls_can_be_reached_by_key(native):
    text = search_page(native)
    scrolled = re.findall(r'<div class="scroll"[^>]*>|<pre[^>]*>', text)
    assert scrolled
    assert [tag for tag in scrolled if 'tabindex="0"' not in tag] == []


def test_without_anything_right_there_is_neither_chart_nor_lineage(tmp_path):
    page = Page(search_page(course(searched(tmp_path, without_a_score(World())))))
    assert "svg" not in page.tags
    assert "nothing was verified" in page.text
    assert "Lineage" not in page.text


def test_the_line_steps_up_to_the_best(native):
    found = chart(native)
    points = [tuple(map(float, pair.split(","))) for pair in re.findall(r"[-\d.]+,[-\d.]+", found.line)]
    assert points[0][0] == 0
    assert points[-1][0] == 100
    assert len(points) == 2 * len(native.rounds)
    heights = [y for _, y in points]
    assert heights == sorted(heights, reverse=True)
    assert heights[0] > heights[-1]
    assert all(0 <= value <= 100 for point in points for value in point)


def test_the_band_holds_the_line_and_a_modelled_cost_has_none(native, deep):
    (band,) = chart(native).bands
    corners = [tuple(map(float, pair.split(","))) for pair in re.findall(r"[-\d.]+,[-\d.]+", band)]
    above, below = corners[: len(corners) // 2], corners[len(corners) // 2 :][::-1]
    line = [tuple(map(float, pair.split(","))) for pair in re.findall(r"[-\d.]+,[-\d.]+", chart(native).line)]
    for (x, high), (x_low, low), (x_line, y) in zip(above, below, line, strict=True):
        assert x == x_low == x_line
        assert high < y < low
    assert chart(deep).bands == ()


def test_there_is_a_dot_for_each_candidate_that_is_right(native):
    right = [member for member in native.state.members.values() if member.scored.score]
    assert len(chart(native).dots) == len(right)


def test_ticks_are_few_and_ascend(native, deep):
    for found in (native, deep):
        drawn = chart(found)
        for ticks in (drawn.across, drawn.upwards):
            assert 2 <= len(ticks) <= 10
            numbers = [float(tick.label) for tick in ticks]
            assert numbers == sorted(numbers)
            assert len(set(numbers)) == len(numbers)


def test_a_map_has_a_square_for_each_elite_and_frames_the_best(native, deep):
    for found in (native, deep):
        maps = island_maps(found)
        for shown, archive in zip(maps, found.state.islands.archives, strict=True):
            squares = [square for row in shown.rows for square in row.squares if square]
            assert {s.digest for s in squares} == {m.scored.digest for m in archive.elites.values()}
            assert len(shown.elites) == len(squares)
            assert all(0 <= square.heat <= 1 for square in squares)
        framed = {square.digest for m in maps for row in m.rows for square in row.squares if square and square.best}
        assert framed == {found.champion[0].scored.digest}


def test_what_is_about_as_good_is_about_as_hot(tmp_path):
    class Flat(World):
        def evaluate(self, known):
            scored = super().evaluate(known)
            near = 1 + 0.001 * sum(place(known))
            return replace(scored, score=scored.score and Score(Measure.MODELLED, near, near, near))

    maps = island_maps(course(searched(tmp_path, Flat(Measure.MODELLED))))
    heats = {square.heat for shown in maps for row in shown.rows for square in row.squares if square}
    assert len(heats) > 1
    assert max(heats) == 1
    assert min(heats) > 0.9


def test_a_square_stands_at_its_labels(native):
    axes = native.state.settings.axes
    shown = island_maps(native)[0]
    for cell, member in native.state.islands.archives[0].elites.items():
        row = next(row for row in shown.rows if row.labels == (axes[0].labels[cell[0]],))
        assert row.squares[cell[1]].digest == member.scored.digest


def test_rows_that_are_empty_everywhere_are_left_out_where_there_are_several_axes(native, deep):
    small, large = island_maps(native)[0], island_maps(deep)[0]
    assert (len(small.rows), small.left_out) == (5, 0)
    assert large.left_out > 0
    assert len(large.rows) + large.left_out == 20
    assert large.cells == 40
