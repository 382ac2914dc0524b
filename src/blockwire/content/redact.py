"""The one redactor: what errors, notices and diagnostics must not say.

Spec: docs/spec/content/redaction.md.

Credentials, exception text and paths of the server become ``[redacted]``. Two kinds of knowledge
meet here: the values that this process must not repeat (the environment of an engine), and the
shapes of :mod:`blockwire.content.shapes`, which give a secret away wherever it came from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import quote

from blockwire.content.shapes import REDACTED, SHAPES
from blockwire.jsontext import encode_json

__all__ = ["HARMLESS_NAMES", "REDACTED", "SECRET_CHARS_MIN", "Redactor", "environment_secrets"]

SECRET_CHARS_MIN: Final = 8
"""Unicode scalar values; a shorter value of the environment would blot out ordinary words."""

_LINE_CHARS_MIN: Final = 16
"""Unicode scalar values of one line of a secret of many lines that is looked for by itself."""

_PASSES_MAX: Final = 4
"""A replacement may bring together what looks like a secret; more passes have found no more."""

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
        secrets: Values to hide wherever they stand, also percent-encoded or escaped as in JSON.
            Blank ones, and those that :data:`REDACTED` itself contains, are left out.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret)}
        # Longer ones first: one may begin another.
        literals = sorted(forms, key=lambda form: (-len(form), form))
        self._secrets = re.compile("|".join(map(re.escape, literals))) if literals else None

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
        if self._secrets is not None:
            text = self._secrets.sub(REDACTED, text)
        for shape in SHAPES:
            text = shape.pattern.sub(shape.replace, text)
        return text


def _forms(secret: str) -> list[str]:
    """Return the ways in which a secret may be written, without those that cannot be told apart."""
    secret = secret.strip()
    lines = [line.strip() for line in secret.splitlines()]
    texts = [secret, *(line for line in lines if len(line) >= _LINE_CHARS_MIN)]
    forms = [*texts, *(quote(text, safe="", errors="replace") for text in texts)]
    # An environment may hold bytes that are no text, as lone surrogates; those have no JSON form.
    forms += [
        encode_json(text).decode()[1:-1]
        for text in texts
        if text.encode(errors="replace").decode() == text
    ]
    return [form for form in forms if form and form not in REDACTED]
