"""Prompts hold what is known, in the order of its weight, and fit."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from porter.agent.changes import briefly, difference
from porter.agent.model import UnansweredError
from porter.agent.prompt import Material, fenced, size, written
from porter.agent.question import estimated_tokens
from porter.agent.task import task as task_of
from porter.diagnostics.findings import Finding, Severity
from porter.evolve.candidate import File
from porter.evolve.scoring.subject import StandardKind
from porter.registry import loadable_backends
from porter.source_text import Source, Span
from tests.pure.agent.world import CUDA, member, task

LONG = "x = 1  # a line that takes room\n" * 60


def material(**changed):
    values = {
        "task": task(),
        "current": member(factor=1.25, feedback="12 registers"),
        "others": tuple(member(f"# other {i}\n{LONG}", factor=2.0 - i) for i in range(2)),
        "history": tuple(f"attempt {i} {LONG}" for i in range(2)),
        "headers": (File("own.h", f"// header\n{LONG}"),),
        "findings": (f"PORT1 {LONG}", f"PORT2 {LONG}"),
        **changed,
    }
    return Material(**values)


def text_of(made, room=10**6):
    return written(made, room).messages[1].text


def test_all_that_is_known_stands_in_it():
    text = text_of(material())
    for words in (
        CUDA.strip(),
        "`scale(x, n)` is called",
        "- bench: n = 4096",
        "other 0",
        "other 1",
        "attempt 0",
        "// header",
        "PORT1",
        "12 registers",
    ):
        assert words in text
    assert "right, score 1.25 (95 %: 1.23 to 1.27)" in text
    assert text.count("both measured on the device") == 1
    assert "leaves out" not in text


WORDS = {
    StandardKind.CUDA: "the CUDA original",
    StandardKind.PYTHON: "the PyTorch reference",
    StandardKind.RECORDING: "recorded answers",
}


@pytest.mark.parametrize("standard_kind", list(StandardKind))
def test_a_model_is_told_what_its_program_is_held_to(standard_kind):
    shown = None if standard_kind is StandardKind.RECORDING else File("scale.cu", CUDA)
    made = replace(task(), original=shown, standard_kind=standard_kind)
    system, user = (message.text for message in written(material(task=made), 10**6).messages)
    assert [other for other, words in WORDS.items() if words in system] == [standard_kind]
    assert (CUDA.strip() in user) == (standard_kind is not StandardKind.RECORDING)
    titles = ("# The CUDA original" in user, "# The PyTorch reference" in user)
    assert titles == (standard_kind is StandardKind.CUDA, standard_kind is StandardKind.PYTHON)


def test_what_does_not_fit_goes_in_the_order_of_what_it_tells():
    """Each part takes about 650 tokens: with every 600 less another one must go, and only from the end of the list."""
    order = ["other 1", "other 0", "attempt 1", "attempt 0", "// header", "PORT2", "PORT1"]
    whole = size(written(material(), 10**6).messages)
    seen = []
    for room in range(
        whole, size(written(material(others=(), history=(), headers=(), findings=()), 10**6).messages), -50
    ):
        prompt = written(material(), room)
        assert size(prompt.messages) <= room
        gone = [words for words in order if words not in prompt.messages[1].text]
        assert gone == order[: len(gone)]
        assert ("leaves out" in prompt.messages[1].text) == bool(gone)
        seen.append(len(gone))
    assert sorted(set(seen)) == list(range(len(order) + 1))


def test_what_always_stays_may_be_too_much():
    with pytest.raises(UnansweredError, match=r"the shortest prompt has \d+ tokens, 100 are allowed"):
        written(material(), 100)


def test_long_feedback_loses_its_middle():
    wrong = member(outcome="crashed", because="died", feedback="first line\n" + "x" * 50_000 + "\nlast line")
    text = text_of(material(current=wrong))
    assert "first line" in text
    assert "last line" in text
    assert "characters ...]" in text
    assert len(text) < 40_000


def test_a_fence_is_longer_than_any_in_the_text():
    text = "a\n````\nb ``` c"
    assert fenced(File("x.cu", text)) == f"FILE: x.cu\n`````cuda\n{text}\n`````"


@pytest.mark.parametrize("left", [{}, {"others": ()}, {"history": ()}, {"findings": ()}, {"idea": "Go."}])
def test_sections_stand_under_headings_and_none_is_empty(left):
    text = text_of(material(**left))
    parts = re.split(r"^# ", text, flags=re.M)[1:]
    for part in parts:
        if not part.startswith(("other", "header")):
            assert part.split("\n", 1)[1].strip(), f"an empty section: {part}"
    assert "\n\n\n\n" not in text


def test_another_program_says_how_it_differs_and_what_it_is_like():
    axes = loadable_backends()[0].axes()
    similar = member(LONG + "y = 2\n", factor=1.4, note="one more", cell=(1, 2, 0))
    changed = {"history": (), "headers": (), "findings": ()}
    text = text_of(
        material(task=task(axes=axes), current=member(LONG), **changed, others=(similar, member("z = 3\n", factor=1.2)))
    )
    place = ", ".join(f"{axis.name}: {axis.labels[at]}" for axis, at in zip(axes, (1, 2, 0), strict=True))
    assert f"## score 1.4 (95 %: 1.37 to 1.43) ({place}), made with this in mind: one more" in text
    assert "+y = 2\n" in text
    assert text.count(f"```python\n{LONG}") == 1, "the current program alone is shown in whole"
    assert "```python\nz = 3\n```" in text, "what has little in common is shown as it is"


def test_the_reason_of_a_failure_is_told_once():
    wrong = member(outcome="wrong", because="off by 3 at [7]", feedback="off by 3 at [7]\nthe worst of 4096")
    assert text_of(material(current=wrong)).count("off by 3 at [7]") == 1


def test_a_replaced_line_is_told_briefly():
    old, new = ([File("a.py", "\n".join(lines))] for lines in (["a", "b", "c"], ["a", "x", "c"]))
    assert briefly(old, new, 10) == "-b\n+x"
    assert briefly(old, new, 1) == "-b\n(1 more changed lines)"
    assert not difference(old, old)


def test_tokens_are_rather_over_estimated():
    assert estimated_tokens("") == 0
    assert estimated_tokens("abcd") == 2
    assert estimated_tokens("中文注释") == 4, "about a token a character"


def test_a_task_has_the_gravest_finding_first():
    (backend, *_) = loadable_backends()
    findings = [
        Finding("PORT1002", Severity.NOTE, "a note"),
        Finding("PORT1001", Severity.ERROR, "an error", Span(0, 1, 7, 1), "do that"),
        Finding("PORT1002", Severity.NOTE, "a note"),
    ]
    source = Source(Path("/somewhere/scale.cu"), CUDA)
    made = task_of(backend, backend.targets()[0], source, [], contracts=(), scored=(), findings=findings)
    assert made.findings == ("PORT1001: line 7: an error (do that)", "PORT1002: a note")
    assert made.original == File("scale.cu", CUDA)
    assert made.brief == backend.brief(backend.targets()[0])
