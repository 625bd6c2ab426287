"""Whose key goes where."""

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked

from porter.agent.secret import OPENAI, Secret, find_key
from porter.errors import UsageError

MINE = "http://models.example:8000/v1"


class Keyring(KeyringBackend):
    """A keyring in memory."""

    priority = 1

    def __init__(self, kept):
        super().__init__()
        self._kept = kept

    def get_password(self, service, username):
        if self._kept is None:
            raise KeyringLocked("locked")
        return self._kept.get((service, username))

    def set_password(self, service, username, password):
        self._kept[service, username] = password


@pytest.fixture
def kept():
    before, kept = keyring.get_keyring(), {("porter", "models.example"): "from-keyring"}
    keyring.set_keyring(Keyring(kept))
    yield kept
    keyring.set_keyring(before)


def test_the_environment_comes_first_and_then_the_keyring_by_host(kept):
    assert find_key(MINE, {"PORTER_API_KEY": " mine "}).value == "mine"
    assert find_key(MINE, {}).value == "from-keyring"
    kept.clear()
    assert find_key(MINE, {}).value == ""


def test_openais_key_is_shown_to_openai_alone(kept):
    kept.clear()
    environment = {"OPENAI_API_KEY": "openais"}
    assert find_key(OPENAI, environment).value == "openais"
    assert find_key(MINE, environment).value == ""
    assert find_key("http://api.openai.com.example/v1", environment).value == ""
    assert find_key(OPENAI, {**environment, "PORTER_API_KEY": "mine"}).value == "mine"


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "schlüssel", "“quoted”"])
def test_what_cannot_be_a_key_is_not_sent_and_not_shown(key):
    with pytest.raises(UsageError) as raised:
        find_key(MINE, {"PORTER_API_KEY": key})
    assert key not in str(raised.value)


def test_a_locked_keyring_has_no_key():
    before = keyring.get_keyring()
    keyring.set_keyring(Keyring(None))
    try:
        assert find_key(MINE, {}).value == ""
    finally:
        keyring.set_keyring(before)


def test_a_secret_shows_itself_nowhere():
    secret = Secret("hush")
    assert "hush" not in f"{secret} {secret!r} {[secret]}"
    assert secret.scrub("they said hush, hush") == "they said ***, ***"
    assert Secret("").scrub("nothing") == "nothing"
