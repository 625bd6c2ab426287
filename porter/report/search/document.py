"""Writes a search as a JSON document. Scripts rely on its names; they stay stable."""

from __future__ import annotations

from porter.evolve.payoff import by_proposer, by_rule
from porter.evolve.proposer import Member
from porter.report.search.course import Completed, Course
from porter.report.search.lineage import Step, lineage
from porter.report.search.words import meaning
from porter.writing.document import Json, as_json, as_record


def search_document(course: Course) -> dict[str, Json]:
    """Returns settings, what was spent, every round, the best and its lineage, the archives, and who paid."""
    state = course.state
    return {
        "name": course.name,
        "run": str(course.folder),
        "about": as_json(course.about),
        "measure": as_json(course.measure),
        "caption": meaning(course),
        "ended": state.ended,
        "best": _member(state.best) if state.best else None,
        "confirmed": state.best_is_confirmed,
        "settings": as_record(state.settings),
        "budget": as_json(state.budget),
        "spent": as_record(state.progress),
        "rounds": [_round(one) for one in course.rounds],
        "lineage": [_step(step) for step in lineage(course)],
        "islands": [[_member(elite) for elite in archive.ranked()] for archive in state.islands.archives],
        "proposers": [as_record(row) for row in by_proposer(state.ledger.rows)],
        "rules": [as_record(row) for row in by_rule(state.ledger.rows)],
        "remarks": [
            {"proposer": proposer, "what": what, "times": times}
            for (proposer, what), times in state.ledger.remarks.items()
        ],
        "notes": [as_record(row) for row in state.ledger.rows],
    }


def run_document(course: Course) -> dict[str, Json]:
    """Returns a search in a list of searches."""
    champion = course.champion
    return {
        "run": str(course.folder),
        "name": course.name,
        "target": course.about.get("target", ""),
        "rounds": course.state.progress.rounds,
        "evaluations": course.state.progress.evaluations,
        "measure": as_json(course.measure),
        "best": champion[0].scored.digest if champion else "",
        "score": as_json(champion[1]) if champion else None,
        "ended": course.state.ended,
    }


def _member(member: Member) -> dict[str, Json]:
    """Returns a candidate without the text of its files, which lie in the run under its digest."""
    candidate, scored = member.candidate, member.scored
    return {
        "digest": scored.digest,
        "files": [file.name for file in candidate.files],
        "origin": as_record(candidate.origin),
        "point": as_json(candidate.point),
        "outcome": scored.outcome,
        "because": scored.because,
        "score": as_json(scored.score),
        "cell": as_json(scored.cell),
    }


def _round(one: Completed) -> dict[str, Json]:
    closed = one.closed
    return {
        "round": closed.round,
        "evaluated": closed.evaluated,
        "best": closed.best,
        "score": as_json(one.score),
        "cells": as_json(closed.cells),
        "spent": as_record(one.progress),
    }


def _step(step: Step) -> dict[str, Json]:
    return {
        **_member(step.member),
        "round": step.round,
        "parent": step.parent.scored.digest if step.parent else "",
        "gain": step.gain,
        "diff": "\n".join(step.diff),
    }
