"""What is typed wrong is said before anything is done, with exit code 2."""

import pytest

from porter.cli.search import model_words

KERNEL = "__global__ void k(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 1; }\n"
MIGRATE = ["migrate", "k.cu", "--target", "maca"]
JUDGE = ["verify", "k.cu", "--against", "k.cu"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([*MIGRATE, "--size", "n=0"], "--size n=0: not a name and a positive integer"),
        ([*MIGRATE, "--size", "n=" + "9" * 5000], "not a name and a positive integer"),
        ([*MIGRATE, "--size", "2n=1"], "not a name and a positive integer"),
        ([*MIGRATE, "--size", "rows=4"], "k.cu has no size 'rows'\n  hint: its sizes are: n"),
        (["inspect", "k.cu", "--as", "contract", "--size", "rows=4"], "k.cu has no size 'rows'"),
        ([*MIGRATE, "--include-dir", "gone"], "--include-dir gone: no such folder"),
        (["inspect", "k.cu", "--include-dir", "k.cu"], "--include-dir k.cu: no such folder"),
        ([*MIGRATE, "--define", "1x"], "--define 1x: not the name of a macro"),
        ([*JUDGE, "--define", "A B=2"], "--define A B=2: not the name of a macro"),
        ([*MIGRATE, "--time-limit", "inf"], "--time-limit"),
        (["watch", ".", "--every", "inf"], "--every"),
        ([*MIGRATE, "--resume"], "--resume applies to a search"),
        ([*MIGRATE, "--tokens", "9"], "--tokens limits a language model, and none is named"),
        ([*MIGRATE, "--base-url", "http://localhost"], "there are settings for a model, but no model is named"),
        ([*MIGRATE, "--recording", "."], "--recording replaces the answers of a language model, and none is named"),
        (["suite", "run", "op_suites", "--target", "maca", "--tokens", "9"], "--tokens limits a language model"),
        (["suite", "run", "op_suites", "--target", "maca", "--patience", "3"], "--patience applies to a search"),
        (["suite", "run", "op_suites", "--target", "maca", "--out", "k.cu"], "--out k.cu: k.cu is not a directory"),
        (["suite", "new", "k.cu", "--out", "k.cu"], "--out k.cu: k.cu is not a directory"),
        (["suite", "new", "k.cu", "--out", "s", "--category", ".."], "..: not a name for a folder"),
        (["suite", "new", "k.cu", "--out", "s", "--name", "a/b"], "a/b: not a name for a folder"),
        (["verify", "k.cu", "--golden", "k.cu"], "--golden k.cu: a recording's name ends in .golden"),
        (["verify", "k.cu", "--against", "k.py"], "a reference in Python is a function 'reference' or a class 'Model'"),
        (["verify", "k.cu", "--against", "broken.py"], "broken.py:2: is not Python: '(' was never closed"),
        ([*MIGRATE, "--contract", "gone.toml"], "gone.toml: no such file"),
        ([*MIGRATE, "--contract", "."], ".: is a folder"),
    ],
)
def test_wrong_usage_is_named(porter, tmp_path, monkeypatch, arguments, complaint):
    monkeypatch.chdir(tmp_path)
    texts = {"k.cu": KERNEL, "k.py": "def answers(x):\n    return x\n", "broken.py": "import torch\ndef reference(\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    done = porter(*arguments)
    assert (done.code, done.stdout) == (2, "")
    assert complaint in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == texts.keys()


@pytest.mark.parametrize(
    "arguments",
    [
        [*MIGRATE, "--out", ""],
        [*MIGRATE, "--contract", ""],
        [*MIGRATE, "--include-dir", ""],
        [*MIGRATE, "--reference", ""],
        [*MIGRATE, "--recording", ""],
        ["verify", "", "--against", "k.cu"],
        ["verify", "k.cu", "--against", ""],
        ["verify", "k.cu", "--golden", ""],
        ["record", "", "-o", "k.golden"],
        ["record", "k.cu", "-o", ""],
        ["bench", "k.cu", "--against", ""],
        ["report", ".", "-o", ""],
        ["regress", ".", "--junit", ""],
        ["regress", ".", "--known-failures", ""],
        ["suite", "run", "op_suites", "--target", "maca", "--out", ""],
    ],
)
def test_an_empty_path_which_an_unset_variable_leaves_names_nothing(porter, arguments):
    done = porter(*arguments)
    assert (done.code, done.stdout) == (2, "")
    assert "an empty path names nothing" in done.stderr


def test_a_suite_hands_on_the_models_that_it_was_given(tmp_path):
    file = tmp_path / "models.toml"
    file.write_text('[[model]]\nname = "large"\nbase_url = "http://localhost:1/v1"\n')
    words = model_words(["tiny"], "http://localhost:2/v1", file, ["attempts=2"], 90_000)
    url, tokens = ("--base-url", "http://localhost:2/v1"), ("--tokens", "90000")
    assert words == ("--model", "tiny", "--model-set", "attempts=2", *url, "--models", str(file), *tokens)
    assert model_words(None, "", None, None, None) == ()
