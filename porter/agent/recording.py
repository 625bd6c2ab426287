"""Questions with their answers, one file each: a cache that, without a model behind it, is a recording played back."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from porter.agent.model import Model, UnansweredError
from porter.agent.question import Answer, Ending, Question, Usage
from porter.errors import InputError
from porter.whole_file import whole_file

_VERSION = 1


@dataclass(frozen=True, slots=True)
class Recorded:
    """`model`, asked only what `folder` does not hold; None is no model: then nothing goes over the network.

    What stayed unanswered is recorded, too: played back it stays so, with the same words; a model is asked again.
    """

    model: Model | None
    folder: Path

    def ask(self, question: Question) -> Answer:
        """The recorded answer, or the model's, which is recorded before it is handed on."""
        found = self._found(question)
        if isinstance(found, Answer):
            return found
        if self.model is None:
            raise UnansweredError(found or f"the recording has no answer to question {question.digest}")
        try:
            answer = self.model.ask(question)
        except UnansweredError as error:
            self._write(question, {"unanswered": error.because})
            raise
        self._write(question, {"answer": asdict(answer)})
        return answer

    def _found(self, question: Question) -> Answer | str:
        """The answer; else why there was none, empty where it was never asked."""
        path = self.folder / f"{question.digest}.json"
        if not path.exists():
            return ""
        asked, found = _read(path)
        if asked != json.loads(question.canonical):
            raise InputError(f"{path}: it answers another question", "delete the file to ask again")
        return found

    def _write(self, question: Question, outcome: dict[str, object]) -> None:
        document = {"version": _VERSION, "question": json.loads(question.canonical), **outcome}
        self.folder.mkdir(parents=True, exist_ok=True)
        with whole_file(self.folder / f"{question.digest}.json") as fresh:
            fresh.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", "utf-8")


def recorded_usage(folder: Path, model: str) -> Usage:
    """Returns what all recorded answers of `model` took."""
    rows = (_read(path) for path in sorted(folder.glob("*.json")))
    of_model = (answer for question, answer in rows if isinstance(question, dict) and question.get("model") == model)
    return sum((answer.usage for answer in of_model if isinstance(answer, Answer)), Usage())


def _read(path: Path) -> tuple[object, Answer | str]:
    """A question, and its answer or why it has none. Raises `InputError` for a file that is no recording."""
    try:
        document = json.loads(path.read_text("utf-8"))
        if document["version"] != _VERSION:
            raise ValueError(f"version {document['version']!r} is not {_VERSION}")
        question = document["question"]
        if "unanswered" in document:
            return question, str(document["unanswered"])
        row = document["answer"]
        answer = Answer(str(row["text"]), Ending(row["ending"]), Usage(**row["usage"]), tuple(row["tries"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: this is not a recorded answer: {error}", "delete the file to ask again") from error
    return question, answer
