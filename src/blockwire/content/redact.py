r"""The one redactor: what errors, notices and diagnostics must not say.

Spec: docs/spec/content/visibility.md, "Errors and diagnostics".

Credentials, exception text and paths of the server become ``[redacted]``. Two kinds of knowledge
meet here: the values that this process must not repeat (the environment of an engine), and shapes
that give a credential away wherever it came from. Prose stays as it is, so every shape asks for
more than an English word: a prefix, a digit, a separator, an assignment.

Time is linear in the text. No pattern has a repetition inside a repetition of the same characters;
where a prefix of free length is looked for, its length is bounded.
"""

from __future__ import annotations

import base64
import binascii
import builtins
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final
from urllib.parse import quote

from blockwire.jsontext import encode_json

__all__ = ["HARMLESS_NAMES", "REDACTED", "SECRET_CHARS_MIN", "Redactor", "environment_secrets"]

REDACTED: Final = "[redacted]"

SECRET_CHARS_MIN: Final = 8
"""Unicode scalar values; a shorter value of the environment would blot out ordinary words."""

_LINE_CHARS_MIN: Final = 16
"""Unicode scalar values of one line of a secret of many lines that is looked for by itself."""

_PASSES_MAX: Final = 4
"""A replacement may bring together what looks like a secret; after this many passes it is enough."""

HARMLESS_NAMES: Final = frozenset(
    """
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
    """.split()
)
"""Variables whose values say nothing that must be hidden."""

_HARMLESS_PREFIXES: Final = ("LC_", "XDG_", "COVERAGE_", "HYPOTHESIS_")

# name and separator of an assignment or header, in plain text, JSON, and JSON inside a string
_TO_VALUE: Final = r"""\\?["']?[ \t]*[:=][ \t]*\\?["']?"""
_UP_TO_LINE_END: Final = r"""[^\r\n"\\]+"""
_STRONG_NAMES: Final = (
    r"(?:[A-Za-z0-9]{1,32}[_-]){0,4}(?:api[_-]?key|access[_-]?key|access[_-]?token|auth[_-]?token"
    r"|refresh[_-]?token|id[_-]?token|session[_-]?token|bearer[_-]?token|client[_-]?secret"
    r"|secret[_-]?key|private[_-]?key|secret|password|passwd|passphrase)"
)
_HAS_DIGIT: Final = r"(?=[A-Za-z_.~+/=-]{0,256}[0-9])"

# Prefix and shape of the keys that providers hand out, longest habit first.
_KEYS: Final = "|".join(
    (
        r"sk-[A-Za-z0-9_-]{0,24}(?=[A-Za-z_-]{0,64}[0-9*])[A-Za-z0-9_*-]{12,}",  # and masked ones
        r"(?:sk|rk|pk|whsec)_(?:live|test)_[A-Za-z0-9]{8,}|whsec_[A-Za-z0-9+/]{16,}",
        r"AIza[A-Za-z0-9_-]{30,}|GOCSPX-[A-Za-z0-9_-]{16,}|ya29\.[A-Za-z0-9_.-]{16,}",
        r"gh[opsur]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|gl(?:pat|dt|rt)-[A-Za-z0-9_-]{16,}",
        r"(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{12,}|ABSK[A-Za-z0-9+/]{20,}={0,2}",
        r"xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}",
        r"(?:hf|gsk|r8|fw|npm|dop_v1|nvapi|pplx|tvly|xai|csk|e2b|lsv2_pt|lin_api)"
        r"[_-](?=[A-Za-z_]{0,64}[0-9])[A-Za-z0-9_]{20,}",
        r"pypi-[A-Za-z0-9_-]{16,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
        r"[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}",
        r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){0,3}",  # JSON web tokens
    )
)
_WORD_BEFORE: Final = r"(?<![A-Za-z0-9_-])"
_MIXED: Final = r"(?=[A-Z0-9+/]{0,40}[a-z])(?=[a-z0-9+/]{0,40}[A-Z])(?=[A-Za-z+/]{0,40}[0-9])"

_EXCEPTION_NAMES: Final = "|".join(
    sorted(
        name
        for name, value in vars(builtins).items()
        if isinstance(value, type) and issubclass(value, BaseException)
    )
)

_SERVER_FOLDERS: Final = (
    "home|root|usr|var|etc|opt|tmp|srv|mnt|media|private|proc|sys|run|nix|Users|Volumes|Library"
    "|Applications"
)
_SOURCE_SUFFIXES: Final = (
    "py|pyc|pyi|ipynb|js|mjs|cjs|jsx|ts|tsx|rb|go|rs|java|kt|php|sh|bash|so|dll|exe|toml|ya?ml|ini"
    "|conf|cfg|env|pem|crt|key|db|sqlite3?|log|sock|pid"
)
_PATH_BEFORE: Final = r"(?<![A-Za-z0-9_.~%/\\-])"
_PATH_END: Final = r"""\s"'<>`:;,()\[\]{}|"""

# Each keeps its group 1, if it has one. The order matters little: whatever one of them leaves is
# seen by the others.
_SHAPES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        (
            "private key",
            r"(?s)()-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----"
            r".*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----|\Z)",
        ),
        (
            "traceback",
            r"()Traceback \(most recent call last\):[^\r\n]*(?:\r?\n[^\r\n]+)*",
        ),
        ("goroutine", r"()goroutine [0-9]{1,9} \[[^\]\r\n]{1,80}\]:(?:\r?\n[^\r\n]+)*"),
        ("frame", r'()File "[^"\r\n]*", line [0-9]+(?:, in [^\s,]+)?'),
        ("stack frame", r"(?m)^([ \t]+at )[^\r\n]+:[0-9]+\)?[ \t]*$"),
        ("object", r"()<[^<>\r\n]{1,200} at 0x[0-9A-Fa-f]{4,16}>"),
        (
            "exception",
            r"()(?<![A-Za-z0-9_.])(?:[A-Za-z_][A-Za-z0-9_]{0,63}\.){1,8}"
            r"[A-Z][A-Za-z0-9]{0,63}(?:Error|Exception)(?::|\()[^\r\n]*",
        ),
        (
            "built-in exception",
            rf"()(?<![A-Za-z0-9_.])(?:{_EXCEPTION_NAMES})(?::[ \t]|\()[^\r\n]+",
        ),
        (
            "cookie",
            rf"(?i){_WORD_BEFORE}((?:set-)?cookie2?{_TO_VALUE})(?=[^\r\n=]{{1,256}}=)"
            rf"{_UP_TO_LINE_END}",
        ),
        (
            "authorization with a scheme",
            rf"(?i){_WORD_BEFORE}((?:proxy-)?authorization{_TO_VALUE})"
            r"(?:bearer|basic|digest|token|apikey|negotiate|aws4-hmac-sha256|hmac|oauth)"
            rf"[ \t]+{_UP_TO_LINE_END}",
        ),
        (
            "key header",
            rf"(?i){_WORD_BEFORE}((?:(?:proxy-)?authorization|x-api-key|api-key|x-goog-api-key"
            rf"|x-auth-token|x-access-token|x-csrf-token|ocp-apim-subscription-key){_TO_VALUE})"
            r"""[^\s"'\\,;]{6,}""",
        ),
        ("basic", r"(?i)\b(basic[ \t]+)([A-Za-z0-9+/]{4,}={0,2})(?![A-Za-z0-9+/=])"),
        ("bearer", rf"(?i)\b(bearer[ \t]+){_HAS_DIGIT}[A-Za-z0-9._~+/-]{{8,}}=*"),
        ("long bearer", r"(?i)\b(bearer[ \t]+)[A-Za-z0-9._~+/-]{24,}=*"),
        ("user information", r"""([A-Za-z][A-Za-z0-9+.-]{0,31}://)[^\s/?#"'<>]+(?=@)"""),
        (
            "signed query",
            r"(?i)([?&](?:[a-z0-9_.-]{0,40}(?:token|secret|signature|password|passwd|api[_-]?key"
            r"|credential|accesskeyid)|sig|key|auth|code|hmac|jwt|x-amz-[a-z-]{1,40}"
            r"""|x-goog-[a-z-]{1,40})=)[^&\s"'<>#\\]+""",
        ),
        (
            "query alone",
            rf"(?i){_WORD_BEFORE}((?:x-amz-[a-z-]{{1,40}}|sig|signature|token|key)=)"
            rf"{_HAS_DIGIT}[A-Za-z0-9%._~+/=-]{{8,}}",
        ),
        (
            "assignment",
            rf"""(?i){_WORD_BEFORE}({_STRONG_NAMES}(?:=|\\?["'][ \t]*[:=][ \t]*)\\?["']?)"""
            r"""[^\s"'\\,;&]+""",
        ),
        (
            "assignment in prose",
            rf"(?i){_WORD_BEFORE}({_STRONG_NAMES}[ \t]*[:=][ \t]*)"
            rf"""{_HAS_DIGIT}[^\s"'\\,;&]{{8,}}""",
        ),
        ("key in prose", r"(?i)\b(api[ _-]?key(?: provided| is)?[ \t]*[:=][ \t]*)[^\s\"',;]{6,}"),
        ("user option", r"(?<!\S)(-u[ \t]+)[^\s:]{1,256}:\S+"),
        ("provider key", rf"(){_WORD_BEFORE}(?:{_KEYS})"),
        (
            "bare key",
            rf"()(?<![A-Za-z0-9+/=_.-]){_MIXED}(?:[A-Za-z0-9]{{32}}|[A-Za-z0-9+/]{{40}})"
            r"(?![A-Za-z0-9+/=_-])",
        ),
        ("slack hook", r"(hooks\.slack\.com/services/)[A-Za-z0-9/]{8,}"),
        ("file URL", rf"()file://[^{_PATH_END}]+"),
        ("path", rf"(){_PATH_BEFORE}/(?:{_SERVER_FOLDERS})(?:/[^{_PATH_END}]*)(?<![.?!])"),
        (
            "source path",
            rf"(){_PATH_BEFORE}/(?:[A-Za-z0-9_.@+-]+/)+[A-Za-z0-9_.@+-]+\.(?:{_SOURCE_SUFFIXES})\b",
        ),
        (
            "drive path",
            r"""()\b[A-Za-z]:\\{1,2}(?:[^\\/:*?"'<>|\r\n]{1,255}\\{1,2}){0,64}[^\\/:*?"'<>|\s,;)]*""",
        ),
        ("share path", r"""()(?<![A-Za-z0-9\\])\\\\[A-Za-z0-9_.-]{1,255}\\[^\s"'<>|]+"""),
    )
)  # fmt: skip


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
    """Replaces what must not be said by :data:`REDACTED`; immutable and free of state.

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
        for name, pattern in _SHAPES:
            text = pattern.sub(_REPLACEMENTS.get(name, _keep_beginning), text)
        return text


def _forms(secret: str) -> list[str]:
    secret = secret.strip()
    lines = [line for line in secret.splitlines() if len(line) >= _LINE_CHARS_MIN]
    texts = [secret, *lines] if len(lines) > 1 else [secret]
    forms = [
        form
        for text in texts
        for form in (
            text,
            quote(text, safe="", errors="replace"),
            encode_json(text).decode()[1:-1] if text.isprintable() else text,
        )
    ]
    return [form for form in forms if form and form not in REDACTED]


def _keep_beginning(match: re.Match[str]) -> str:
    return f"{match[1]}{REDACTED}"


def _replace_basic(match: re.Match[str]) -> str:
    """Hide what decodes to ``user:password``; ``basic understanding`` does not."""
    try:
        decoded = base64.b64decode(match[2], validate=True)
    except binascii.Error:
        return match[0]
    return _keep_beginning(match) if b":" in decoded else match[0]


_REPLACEMENTS: Final[Mapping[str, Callable[[re.Match[str]], str]]] = {"basic": _replace_basic}
