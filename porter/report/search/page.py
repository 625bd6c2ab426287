"""Writes a search as one HTML file: it needs no network, no script, and no other file."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from porter.report.search.chart import chart
from porter.report.search.course import Course
from porter.report.search.lineage import lineage
from porter.report.search.map import island_maps
from porter.report.search.tables import (
    budget_table,
    cost_tables,
    improvements,
    lineage_table,
    outcomes,
    payoff_tables,
    rule_table,
)
from porter.report.search.words import best_words, ending, factor, factor_head, meaning, measured, number, title


def search_page(course: Course) -> str:
    """Returns the page of a search, as far as it has come."""
    steps = lineage(course)
    proposers, notes = payoff_tables(course)
    template = Environment(
        loader=PackageLoader("porter.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    ).get_template("search.html.j2")
    return template.render(
        title=title(course),
        best=best_words(course),
        ending=ending(course),
        meaning=meaning(course),
        measured=measured(course),
        head=factor_head(course.measure),
        chart=chart(course),
        improvements=improvements(course),
        maps=island_maps(course),
        steps=steps,
        lineage=lineage_table(course, steps),
        tables=(proposers, rule_table(course), notes, outcomes(course), *cost_tables(course), budget_table(course)),
        factor=factor,
        number=number,
    )
