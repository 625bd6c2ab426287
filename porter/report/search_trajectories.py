"""All that a search tried, as JSON lines to train on: what a proposer was shown, what it proposed, what came of it."""

from __future__ import annotations

import json
from pathlib import Path

from porter.errors import InputError
from porter.evolve.candidate import Candidate
from porter.evolve.proposer import Member
from porter.report.document import Json, as_json, as_record
from porter.report.search_course import Course, Trial
from porter.report.search_lineage import gain_of


def trajectory(course: Course, trial: Trial) -> dict[str, Json]:
    """A candidate: the state in which it was asked for, the action, and the outcome, as it was told first.

    `gain` is the score over that of its best parent, as they were measured last; None without them.
    """
    request, proposed, member = trial.request, trial.proposed, course.member(trial.candidate.digest)
    assert trial.told is not None
    scored = trial.told.scored
    return {
        "name": course.name,
        "about": as_json(course.about),
        "state": {
            "step": proposed.step,
            "round": proposed.round,
            "island": proposed.island,
            "parents": [_shown(parent) for parent in request.parents],
            "failures": [_shown(failure) for failure in request.failures],
            "memory": request.memory,
        },
        "action": {
            "digest": trial.candidate.digest,
            "proposer": proposed.proposer,
            "note": trial.candidate.origin.note,
            "made_of": as_json(trial.candidate.origin.parents),
            "point": as_json(trial.candidate.point),
            "files": _files(trial.candidate),
            "exchanges": [as_record(exchange) for exchange in proposed.account.exchanges],
        },
        "outcome": {
            **_outcome(Member(trial.candidate, scored)),
            "gain": gain_of(course, member) if member else None,
            "added": trial.told.added.name.lower(),
            "decision": trial.told.because,
        },
    }


def write_trajectories(course: Course, file: Path) -> Path:
    """A line for each candidate that was evaluated, in the order of the journal.

    Raises:
        InputError: the file exists, or cannot be written.
    """
    told = (trial for trial in course.trials.values() if trial.told is not None)
    try:
        with file.open("x", encoding="ascii") as lines:  # half a surrogate pair, too, is ASCII in JSON
            lines.writelines(json.dumps(trajectory(course, trial), allow_nan=False) + "\n" for trial in told)
    except FileExistsError as error:
        raise InputError(f"{file}: exists", "name a new file") from error
    except OSError as error:
        raise InputError(f"cannot write {file}: {error.strerror}") from error
    return file


def _shown(member: Member) -> dict[str, Json]:
    return {"digest": member.candidate.digest, "files": _files(member.candidate), **_outcome(member)}


def _files(candidate: Candidate) -> dict[str, Json]:
    return {file.name: file.text for file in candidate.files}


def _outcome(member: Member) -> dict[str, Json]:
    scored = member.scored
    return {
        "outcome": scored.outcome,
        "because": scored.because,
        "feedback": scored.feedback,
        "score": as_json(scored.score),
        "cell": as_json(scored.cell),
    }
