"""The key of an endpoint: where it is looked for, and that nobody gets to read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from porter.errors import UsageError

OPENAI = "https://api.openai.com/v1"
_OWN, _OPENAIS = "PORTER_API_KEY", "OPENAI_API_KEY"
_SHORTEST = 8  # letters of a key; endpoints of one's own take `EMPTY` or `none`


@dataclass(frozen=True, slots=True)
class Secret:
    """A key. It shows itself nowhere: not in a `repr`, and not in what went through `scrub`."""

    value: str = field(repr=False)

    def __str__(self) -> str:
        return "***"

    def scrub(self, text: str) -> str:
        """`text` without the key, should a server have echoed it."""
        return text.replace(self.value, "***") if self.value else text

    def scrub_program(self, text: str) -> str:
        """The same of what may be a program: there a short key is a word that it needs, and no secret."""
        return self.scrub(text) if len(self.value) >= _SHORTEST else text


def find_key(base_url: str, environment: Mapping[str, str]) -> Secret:
    """The key for an endpoint: `PORTER_API_KEY` of the environment, else what the keyring has for porter and the host.

    `OPENAI_API_KEY` counts for OpenAI's own endpoint alone: it is nobody else's to see. Empty where there is none,
    which is what endpoints of one's own expect. Raises `UsageError` for what cannot be a key.
    """
    host = urlsplit(base_url).hostname or ""
    names = (_OWN, _OPENAIS) if host == urlsplit(OPENAI).hostname else (_OWN,)
    found = next((environment[name] for name in names if environment.get(name)), "")
    key = found.strip() or _from_keyring(host)
    if not all("!" <= character <= "~" for character in key):
        raise UsageError("the model's key holds characters that no key has", "is it whole, and without quotes?")
    return Secret(key)


def _from_keyring(host: str) -> str:
    """Returns what the system's keyring has for `porter` at `host`; empty without one."""
    try:
        import keyring  # noqa: PLC0415 - optional, and asks the desktop for its services
        from keyring.errors import KeyringError  # noqa: PLC0415
    except ImportError:
        return ""
    try:
        return keyring.get_password("porter", host) or ""
    except KeyringError:
        return ""
