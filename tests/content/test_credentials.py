"""The redactor against the corpus of credentials: every value, place, frame, casing and encoding."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Final
from urllib.parse import quote, quote_plus

import pytest

from blockwire.content import REDACTED, Redactor, environment_secrets
from blockwire.jsontext import encode_json
from tests.content.credentials import (
    ENVIRONMENTS,
    FRAMES,
    HARMLESS,
    PLACES,
    SECRETS,
    VALUES,
)


def in_json(text: str) -> str:
    return encode_json({"error": {"message": text}}).decode()


ENCODINGS: Final[dict[str, Callable[[str], str]]] = {
    "plain": lambda text: text,
    "JSON": in_json,
    "JSON in JSON": lambda text: in_json(in_json(text)),
    "Python": repr,
    "percent-encoded": lambda text: quote(text, safe=""),
    "form": lambda text: "error=" + quote_plus(f"it said: {text}"),
    "percent-encoded twice": lambda text: quote(quote(text, safe=""), safe=""),
    "a parameter of a URL": lambda text: f"https://h.example/x?error={quote(text, safe='')}&n=1",
}
CASINGS: Final[dict[str, Callable[[str], str]]] = {
    "as it is": lambda text: text,
    "lower": str.lower,
    "upper": str.upper,
    "title": str.title,
}
REDACTOR: Final = Redactor()


def parts_of(value: str) -> list[str]:
    """Return what of a value must not be there any more, with or without its escapes."""
    return re.findall(r"[A-Za-z0-9+/_-]{12,}", value) or [value]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.requirement("content:redact:credentials", "content:redact:encodings")
def test_a_credential_is_hidden_in_every_frame_and_encoding(name: str, encoding: str) -> None:
    encode, value = ENCODINGS[encoding], SECRETS[name]
    for frame in FRAMES.values():
        text = encode(frame.format(value))

        redacted = REDACTOR.redact(text)

        assert REDACTED in redacted
        left = [part for part in parts_of(value) if part in redacted]
        # The name of a service is no secret.
        assert [part for part in left if not part.startswith("/")] == [], redacted
        assert REDACTOR.redact(redacted) == redacted


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.requirement("content:redact:credentials", "content:redact:encodings")
def test_a_value_is_hidden_where_its_place_gives_it_away(place: str, encoding: str) -> None:
    encode = ENCODINGS[encoding]
    for change in CASINGS.values():
        # `\R` is no escape: what a JSON encoder writes is in lower case.
        template = change(PLACES[place].replace("{}", "\x00")).replace("\x00", "{}")
        for value in VALUES.values():
            text = encode(template.format(value))

            redacted = REDACTOR.redact(text)

            assert value not in redacted
            assert quote(value, safe="") not in redacted
            assert [part for part in parts_of(value) if part in redacted] == []
            assert REDACTOR.redact(redacted) == redacted


@pytest.mark.parametrize("text", HARMLESS)
@pytest.mark.requirement("content:redact:prose")
def test_a_harmless_text_stays_in_every_encoding(text: str) -> None:
    for encode in ENCODINGS.values():
        assert REDACTOR.redact(encode(text)) == encode(text)


@pytest.mark.parametrize("name", ENVIRONMENTS)
@pytest.mark.requirement("content:redact:environment")
def test_values_of_the_environment_are_hidden_in_every_writing(name: str) -> None:
    value, is_secret = ENVIRONMENTS[name]
    redactor = Redactor(environment_secrets({name: value}))
    bare = re.sub(r"[^A-Za-z0-9]", "", value)

    for encode in ENCODINGS.values():
        for change in (str, str.lower, str.upper):
            text = encode(f"it said {change(value)} twice")

            redacted = redactor.redact(text)

            assert (REDACTED in redacted) or not is_secret
            assert redactor.redact(redacted) == redacted
            if is_secret:
                words = re.sub(r"[^A-Za-z0-9]|%[0-9A-F]{2}", "", redacted)
                assert bare.lower() not in words.lower()


WRAPS: Final = ("\n", "\r\n", "\n    ", "\\\n", "\\n")


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.requirement("content:redact:environment")
def test_a_value_of_the_environment_is_hidden_though_its_line_was_wrapped(wrap: str) -> None:
    value = "a-long-secret-of-the-environment-that-a-terminal-wraps"
    redactor = Redactor([value])

    for at in (1, 10, len(value) - 1):
        text = f"before {value[:at]}{wrap}{value[at:]} after"

        assert redactor.redact(text) == f"before {REDACTED} after"


@pytest.mark.requirement("content:redact:environment")
def test_a_value_of_the_environment_is_hidden_in_base64() -> None:
    value = "correct horse battery staple?>"
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for text in (encode(value.encode()).decode(), encode(value.encode()).decode().rstrip("=")):
            assert value not in Redactor([value]).redact(text)
            assert Redactor([value]).redact(f"is {text}.").startswith(f"is {REDACTED}")
