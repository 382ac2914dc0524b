"""The one redactor: what errors, notices and diagnostics must not say.

Spec: docs/spec/content/redaction.md.

Credentials, exception text and paths of the server become ``[redacted]``. Two kinds of knowledge
meet here: the values that this process must not repeat (the environment of an engine), and the
shapes of :mod:`blockwire.content.shapes`, which give a secret away wherever it came from.
"""

from __future__ import annotations

import re
from base64 import b64encode, urlsafe_b64encode
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import quote, quote_plus, unquote, unquote_plus

from blockwire.content.shapes import REDACTED, SHAPES
from blockwire.jsontext import encode_json

__all__ = ["HARMLESS_NAMES", "REDACTED", "SECRET_CHARS_MIN", "Redactor", "environment_secrets"]

SECRET_CHARS_MIN: Final = 8
"""Unicode scalar values; a shorter value of the environment would blot out ordinary words."""

_LINE_CHARS_MIN: Final = 16
"""Unicode scalar values of one line of a secret of many lines that is looked for by itself."""

_PASSES_MAX: Final = 4
"""A replacement may bring together what looks like a secret; more passes have found no more."""

_ENCODINGS_MAX: Final = 3
"""How often what was percent-encoded may have been percent-encoded again."""

_LINE_BREAK: Final = re.compile(r"\\?\r?\n[ \t]*|(?:\\{1,4}r)?\\{1,4}n[ \t]*")
"""What a terminal, an encoder of JSON or a writer of headers puts into a long line."""

_WORD: Final = re.compile(r"[^\s\"'<>]+")

_HARMLESS: Final = """
    PATH HOME PWD OLDPWD USER LOGNAME USERNAME SHELL SHLVL HOSTNAME HOST HOSTTYPE MACHTYPE OSTYPE
    LANG LANGUAGE TZ TERM TERMINFO TERM_PROGRAM TERM_PROGRAM_VERSION COLORTERM COLORFGBG COLUMNS
    LINES NO_COLOR FORCE_COLOR CLICOLOR LS_COLORS GREP_COLORS PAGER LESS EDITOR VISUAL BROWSER MAIL
    MANPATH INFOPATH TMPDIR TMP TEMP DISPLAY WAYLAND_DISPLAY DESKTOP_SESSION WINDOWID VTE_VERSION
    DEBIAN_FRONTEND CI MAKEFLAGS MAKELEVEL INVOCATION_ID JOURNAL_STREAM SYSTEMD_EXEC_PID
    PYTHONPATH PYTHONHOME PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONWARNINGS
    PYTHONIOENCODING PYTHONUTF8 PYTHON_VERSION VIRTUAL_ENV VIRTUAL_ENV_PROMPT CONDA_PREFIX
    CONDA_DEFAULT_ENV NODE_ENV NODE_PATH NODE_OPTIONS NODE_VERSION NVM_DIR NVM_BIN GOPATH GOROOT
    CARGO_HOME RUSTUP_HOME JAVA_HOME LD_LIBRARY_PATH LD_PRELOAD SSL_CERT_FILE SSL_CERT_DIR
    REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS SYSTEMROOT WINDIR COMSPEC PATHEXT OS
    PROGRAMFILES PROGRAMDATA APPDATA LOCALAPPDATA USERPROFILE HOMEDRIVE HOMEPATH COMPUTERNAME
    NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE SSH_TTY PYTEST_CURRENT_TEST PYTEST_VERSION _
"""
HARMLESS_NAMES: Final = frozenset(_HARMLESS.split())
"""Variables whose values say nothing that must be hidden."""

_HARMLESS_PREFIXES: Final = ("LC_", "XDG_", "COVERAGE_", "HYPOTHESIS_")


def environment_secrets(environment: Mapping[str, str]) -> list[str]:
    """Return the values that must not be repeated, of the environment handed to an engine.

    A value counts when it has at least :data:`SECRET_CHARS_MIN` characters, is not purely digits,
    and its variable is not among :data:`HARMLESS_NAMES`.
    """
    return [
        value
        for name, value in environment.items()
        if len(value) >= SECRET_CHARS_MIN
        and not value.isdigit()
        and name.upper() not in HARMLESS_NAMES
        and not name.upper().startswith(_HARMLESS_PREFIXES)
    ]


class Redactor:
    """Replaces what must not be said by :data:`REDACTED`; immutable.

    Args:
        secrets: Values to hide wherever they stand: in any casing, wrapped, in base64, percent-encoded, or
            escaped as in JSON.
            Blank ones, and those that :data:`REDACTED` itself contains, are left out.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret)}
        self._secrets = _any_of(forms)
        self._long_secrets = _any_of({form for form in forms if len(form) >= _LINE_CHARS_MIN})

    def redact(self, text: str) -> str:
        """Return ``text`` without credentials, exception text and paths of the server.

        Redacting the result again changes nothing. Takes time linear in the length of ``text``.
        """
        for _ in range(_PASSES_MAX):
            redacted = self._pass(text)
            if redacted == text:
                break
            text = redacted
        return text

    def _pass(self, text: str) -> str:
        if "%" in text:
            text = _WORD.sub(self._decode_word, text)
        return self._look(text)

    def _look(self, text: str) -> str:
        if self._secrets is not None and self._long_secrets is not None:
            text = _hide(text, self._secrets)
            text = _hide_wrapped(text, self._long_secrets)
        elif self._secrets is not None:
            text = _hide(text, self._secrets)
        # What is replaced brings in no hint.
        hint = text.lower()
        for shape in SHAPES:
            if not shape.hints or any(word in hint for word in shape.hints):
                text = shape.pattern.sub(shape.replace, text)
        return text

    def _decode_word(self, match: re.Match[str]) -> str:
        """Return a word; decoded, if percent-encoding hides from us what must not be said."""
        word = match[0]
        if "%" not in word:
            return word
        plain = self._look(word)
        readings = {word}
        for _ in range(_ENCODINGS_MAX):
            # A form writes spaces as +.
            readings = {
                read(it) for it in readings if "%" in it for read in (_unquote, _unquote_form)
            }
            found = [
                redacted
                for reading in sorted(readings)
                if (redacted := self._look(reading)) != reading
                and redacted not in {_unquote(plain), _unquote_form(plain)}
            ]
            if found:
                # The reading in which most is hidden.
                return min(found, key=len)
        return plain


def _any_of(literals: Iterable[str]) -> re.Pattern[str] | None:
    """Return what finds any of ``literals``; longer ones first, as one may begin another."""
    ordered = sorted({_lower(it) for it in literals}, key=lambda literal: (-len(literal), literal))
    return re.compile("|".join(map(re.escape, ordered))) if ordered else None


def _hide(text: str, secrets: re.Pattern[str]) -> str:
    """Return ``text`` without secrets, whose pattern is in lower case."""
    spans = [match.span() for match in secrets.finditer(_lower(text))]
    return _without(text, spans) if spans else text


def _hide_wrapped(text: str, secrets: re.Pattern[str]) -> str:
    """Return ``text`` without secrets that a line break was put into."""
    lower = _lower(text)
    joined, break_count = _LINE_BREAK.subn("", lower)
    if not break_count:
        return text
    found = [match.span() for match in secrets.finditer(joined)]
    if not found:
        return text
    # Where each stretch between two breaks begins: without breaks, and in the text.
    starts, sources, length, end = [0], [0], 0, 0
    for match in _LINE_BREAK.finditer(lower):
        length += match.start() - end
        end = match.end()
        starts.append(length)
        sources.append(end)

    def source(at: int) -> int:
        stretch = bisect_right(starts, at) - 1
        return sources[stretch] + at - starts[stretch]

    return _without(text, [(source(first), source(last - 1) + 1) for first, last in found])


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    shown: list[str] = []
    done = 0
    for first, last in spans:
        shown += [text[done:first], REDACTED]
        done = last
    return "".join([*shown, text[done:]])


def _lower(text: str) -> str:
    """Return ``text`` in lower case, character for character."""
    lower = text.lower()
    # A few letters have no lower case of one character; those stay.
    return (
        lower
        if len(lower) == len(text)
        else "".join(low if len(low := char.lower()) == 1 else char for char in text)
    )


def _unquote(text: str) -> str:
    return unquote(text, errors="replace")


def _unquote_form(text: str) -> str:
    return unquote_plus(text, errors="replace")


def _forms(secret: str) -> list[str]:
    """Return the ways in which a secret may be written, without those that cannot be told apart."""
    secret = secret.strip()
    lines = [line.strip() for line in secret.splitlines()]
    texts = [secret, *(line for line in lines if len(line) >= _LINE_CHARS_MIN)]
    data = secret.encode(errors="replace")
    encoded = [encode(data).decode().rstrip("=") for encode in (b64encode, urlsafe_b64encode)]
    forms = [*texts, *encoded]
    for text in texts:
        forms += [quote(text, safe="", errors="replace"), quote_plus(text, errors="replace")]
    # An environment may hold bytes that are no text, as lone surrogates; those have no JSON form.
    forms += [
        encode_json(text).decode()[1:-1]
        for text in texts
        if text.encode(errors="replace").decode() == text
    ]
    return [form for form in forms if form and form not in REDACTED]
