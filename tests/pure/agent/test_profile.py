"""Models as users name them: on the command line, in a file, in a journal."""

import pytest

from porter.agent.ledger import Prices
from porter.agent.profile import named_profile, profile_of_text, read_profile
from porter.agent.secret import OPENAI
from porter.errors import InputError, UsageError

FILE = """\
most_cost = 5

[[model]]
name = "large"
base_url = "http://localhost:8000/v1"
weight = 3
answer_limit = "max_completion_tokens"
input_price = 2.5
output_price = 10.0

[[model]]
name = "small"
temperature = 1
"""


def written(tmp_path, text=FILE):
    path = tmp_path / "models.toml"
    path.write_text(text)
    return path


def test_a_file_a_name_and_changes_make_models(tmp_path):
    prices = ["input_price=1", "output_price=1"]
    profile = named_profile(["third"], "", written(tmp_path), ["timeout_s=30", *prices, "most_cost=2.5"])
    large, small, third = profile.models(tokens=100_000).each
    assert (large.weight, large.base_url, large.limit) == (3.0, "http://localhost:8000/v1", "max_completion_tokens")
    assert (small.sampling.temperature, small.base_url) == (1.0, OPENAI)
    assert {one.timeout_s for one in (large, small, third)} == {30.0}
    assert {one.prices for one in (large, small, third)} == {Prices(1, 1)}
    assert profile.models(None).budget.cost == 2.5


def test_a_journal_keeps_what_was_asked_for(tmp_path):
    profile = read_profile(written(tmp_path))
    assert profile_of_text(profile.text) == profile


def test_a_folder_is_a_local_model(tmp_path):
    (row,) = named_profile([str(tmp_path)], "", None, []).rows
    assert row.local
    (row,) = named_profile([str(tmp_path)], "http://h/v1", None, []).rows
    assert not row.local
    assert named_profile([], "", None, []) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1", "nothing is called x"),
        ("[[model]]\nweight = 1", "has no name"),
        ('[[model]]\nname = "a"\ncolour = "red"', "has no colour"),
        ('[[model]]\nname = "a"\ntop_p = "high"', "top_p is a number"),
        ('[[model]]\nname = "a"\ntries = 1.5', "tries has to be of the type int"),
        ("[[model", "not a profile of models"),
    ],
)
def test_a_file_that_is_no_profile_is_named(tmp_path, text, words):
    with pytest.raises(InputError, match=words) as raised:
        read_profile(written(tmp_path, text))
    assert "models.toml" in raised.value.message


@pytest.mark.parametrize("change", ["temperature", "colour=red", "tries=many"])
def test_a_change_that_says_nothing_is_refused(change):
    with pytest.raises(UsageError):
        named_profile(["a"], "", None, [change])


def test_settings_without_a_model_are_refused():
    with pytest.raises(UsageError, match="no model is named"):
        named_profile([], "http://h/v1", None, [])
