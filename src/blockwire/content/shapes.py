r"""Shapes of text that give a secret away, whatever its value: what :mod:`redact` looks for.

Spec: docs/spec/content/redaction.md.

Prose stays as it is, so every shape asks for more than an English word: a prefix, a digit, a
separator, an assignment. Every pattern takes linear time: no repetition stands inside a repetition
of the same characters, what may begin anywhere is bounded, and a path begins only where none of
its own characters stands before it.
"""

from __future__ import annotations

import base64
import binascii
import builtins
import re
from collections.abc import Callable
from typing import Final, NamedTuple

__all__ = ["REDACTED", "SHAPES", "Shape"]

REDACTED: Final = "[redacted]"


class Shape(NamedTuple):
    """A pattern, and what takes the place of a match."""

    name: str
    pattern: re.Pattern[str]
    replace: Callable[[re.Match[str]], str]


def _replace_all(_match: re.Match[str]) -> str:
    return REDACTED


def _keep_beginning(match: re.Match[str]) -> str:
    return f"{match[1]}{REDACTED}"


def _replace_basic(match: re.Match[str]) -> str:
    """Hide what decodes to ``user:password``; ``basic understanding`` does not."""
    try:
        decoded = base64.b64decode(match[2], validate=True)
    except binascii.Error:
        return match[0]
    return _keep_beginning(match) if b":" in decoded else match[0]


def _shape(name: str, *parts: str) -> Shape:
    """Return the shape of a pattern in ``parts``; it keeps its group 1, if it has one."""
    pattern = re.compile("".join(parts))
    return Shape(name, pattern, _keep_beginning if pattern.groups else _replace_all)


def _either(*patterns: str) -> str:
    return "(?:" + "|".join(patterns) + ")"


_WORD_BEFORE: Final = r"(?<![A-Za-z0-9_-])"
_HAS_DIGIT: Final = r"(?=[A-Za-z_.~+/=-]{0,256}[0-9])"
_UP_TO_LINE_END: Final = r"""[^\r\n"\\]+"""
_UP_TO_BLANK_LINE: Final = r"[^\r\n]*(?:\r?\n[^\r\n]+)*"
# Name and separator of an assignment or header, in plain text, in JSON, and in JSON in a string.
_TO_VALUE: Final = r"""\\?["']?[ \t]*[:=][ \t]*\\?["']?"""

_EXCEPTION_NAMES: Final = _either(
    *sorted(
        name
        for name, value in vars(builtins).items()
        if isinstance(value, type) and issubclass(value, BaseException)
    )
)
_INTERNALS: Final = (
    _shape("traceback", r"Traceback \(most recent call last\):", _UP_TO_BLANK_LINE),
    _shape("goroutine", r"goroutine [0-9]{1,9} \[[^\]\r\n]{1,80}\]:", _UP_TO_BLANK_LINE),
    _shape("frame", r'File "[^"\r\n]*", line [0-9]+(?:, in [^\s,]+)?'),
    _shape("stack frame", r"(?m)^([ \t]+at )[^\r\n]+:[0-9]+\)?[ \t]*$"),
    _shape("object", r"<[^<>\r\n]{1,200} at 0x[0-9A-Fa-f]{4,16}>"),
    _shape(
        "exception of a module",
        r"(?<![A-Za-z0-9_.])(?:[A-Za-z_][A-Za-z0-9_]{0,63}\.){1,8}",
        r"[A-Z][A-Za-z0-9]{0,63}(?:Error|Exception)(?::|\()[^\r\n]*",
    ),
    _shape("exception", r"(?<![A-Za-z0-9_.])", _EXCEPTION_NAMES, r"(?::[ \t]|\()[^\r\n]+"),
)

_STRONG_NAMES: Final = r"(?:[A-Za-z0-9]{1,32}[_-]){0,4}" + _either(
    r"api[_-]?key",
    r"(?:access|secret|private)[_-]?key",
    r"(?:access|auth|refresh|id|session|bearer)[_-]?token",
    r"(?:client[_-]?)?secret",
    r"password|passwd|passphrase",
)
_KEY_HEADERS: Final = _either(
    r"(?:proxy-)?authorization",
    r"(?:x-|x-goog-)?api-key",
    r"x-(?:auth|access|csrf)-token",
    r"ocp-apim-subscription-key",
)
_SCHEMES: Final = "(?:bearer|basic|digest|token|apikey|negotiate|aws4-hmac-sha256|hmac|oauth)"
_ASSIGNED: Final = (
    _shape(
        "cookie",
        rf"(?i){_WORD_BEFORE}((?:set-)?cookie2?{_TO_VALUE})",
        rf"(?=[^\r\n=]{{1,256}}=){_UP_TO_LINE_END}",
    ),
    _shape(
        "authorization",
        rf"(?i){_WORD_BEFORE}((?:proxy-)?authorization{_TO_VALUE})",
        rf"{_SCHEMES}[ \t]+{_UP_TO_LINE_END}",
    ),
    _shape(
        "key header",
        rf"(?i){_WORD_BEFORE}({_KEY_HEADERS}{_TO_VALUE})",
        r"""[^\s"'\\,;]{6,}""",
    ),
    Shape(
        "basic",
        re.compile(r"(?i)\b(basic[ \t]+)([A-Za-z0-9+/]{4,}={0,2})(?![A-Za-z0-9+/=])"),
        _replace_basic,
    ),
    _shape("bearer", rf"(?i)\b(bearer[ \t]+){_HAS_DIGIT}[A-Za-z0-9._~+/-]{{8,}}=*"),
    _shape("long bearer", r"(?i)\b(bearer[ \t]+)[A-Za-z0-9._~+/-]{24,}=*"),
    _shape("user information", r"""([A-Za-z][A-Za-z0-9+.-]{0,31}://)[^\s/?#"'<>]+(?=@)"""),
    _shape(
        "signed query",
        r"(?i)([?&](?:[a-z0-9_.-]{0,40}",
        r"(?:token|secret|signature|password|passwd|api[_-]?key|credential|accesskeyid)",
        r"|sig|key|auth|code|hmac|jwt|x-amz-[a-z-]{1,40}|x-goog-[a-z-]{1,40})=)",
        r"""[^&\s"'<>#\\]+""",
    ),
    _shape(
        "query alone",
        rf"(?i){_WORD_BEFORE}((?:x-amz-[a-z-]{{1,40}}|sig|signature|token|key)=)",
        rf"{_HAS_DIGIT}[A-Za-z0-9%._~+/=-]{{8,}}",
    ),
    _shape(
        "assignment",
        rf"""(?i){_WORD_BEFORE}({_STRONG_NAMES}(?:=|\\?["'][ \t]*[:=][ \t]*)\\?["']?)""",
        r"""[^\s"'\\,;&]+""",
    ),
    _shape(
        "assignment in prose",
        rf"(?i){_WORD_BEFORE}({_STRONG_NAMES}[ \t]*[:=][ \t]*)",
        rf"""{_HAS_DIGIT}[^\s"'\\,;&]{{8,}}""",
    ),
    _shape(
        "key in prose",
        r"(?i)\b(api[ _-]?key(?: provided| is)?[ \t]*[:=][ \t]*)",
        r"""[^\s"',;]{6,}""",
    ),
    _shape("user option", r"(?<!\S)(-u[ \t]+)[^\s:]{1,256}:\S+"),
)

_PREFIXES: Final = "(?:hf|gsk|r8|fw|npm|dop_v1|nvapi|pplx|tvly|xai|csk|e2b|lsv2_pt|lin_api)"
# What providers hand out: prefix, then random characters.
_KEYS: Final = _either(
    # Also masked as in an answer that repeats it: sk-ab***yz.
    r"sk-[A-Za-z0-9_-]{0,24}(?=[A-Za-z_-]{0,64}[0-9*])[A-Za-z0-9_*-]{12,}",
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{8,}|whsec_[A-Za-z0-9+/]{16,}",
    r"AIza[A-Za-z0-9_-]{30,}|GOCSPX-[A-Za-z0-9_-]{16,}|ya29\.[A-Za-z0-9_.-]{16,}",
    r"gh[opsur]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}",
    r"gl(?:pat|dt|rt)-[A-Za-z0-9_-]{16,}",
    r"(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{12,}|ABSK[A-Za-z0-9+/]{20,}={0,2}",
    r"xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}",
    _PREFIXES + "[_-](?=[A-Za-z_]{0,64}[0-9])[A-Za-z0-9_]{20,}",
    r"pypi-[A-Za-z0-9_-]{16,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    r"[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}",
    # JSON web tokens, signed or encrypted.
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){0,3}",
)
_MIXED: Final = r"(?=[A-Z0-9+/]{0,40}[a-z])(?=[a-z0-9+/]{0,40}[A-Z])(?=[A-Za-z+/]{0,40}[0-9])"
_KEY_SHAPES: Final = (
    _shape(
        "private key",
        r"(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----",
        r".*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----|\Z)",
    ),
    _shape("provider key", _WORD_BEFORE, _KEYS),
    # Keys without a prefix (Mistral, Cohere, the secret half of AWS) have exactly these lengths.
    _shape(
        "bare key",
        rf"(?<![A-Za-z0-9+/_.-]){_MIXED}",
        r"(?:[A-Za-z0-9]{32}|[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=_-])",
    ),
    _shape("slack hook", r"(hooks\.slack\.com/services/)[A-Za-z0-9/]{8,}"),
)

_SERVER_FOLDERS: Final = (
    "(?:home|root|usr|var|etc|opt|tmp|srv|mnt|media|private|proc|sys|run|nix"
    "|Users|Volumes|Library|Applications)"
)
_SOURCE_SUFFIXES: Final = (
    "(?:py|pyc|pyi|ipynb|js|mjs|cjs|jsx|ts|tsx|rb|go|rs|java|kt|php|sh|bash|so|dll|exe|toml|ya?ml"
    "|ini|conf|cfg|env|pem|crt|key|db|sqlite3?|log|sock|pid)"
)
_PATH_BEFORE: Final = r"(?<![A-Za-z0-9_.~%/\\@+-])"
_PATH: Final = r"""[^\s"'<>`:;,()\[\]{}|]*"""
_PATHS: Final = (
    _shape("file URL", "file://", _PATH),
    # The last of these may be the end of a sentence.
    _shape("path", _PATH_BEFORE, "/", _SERVER_FOLDERS, "/", _PATH, r"(?<![.?!])"),
    _shape(
        "source path",
        _PATH_BEFORE,
        r"/(?:[A-Za-z0-9_.@+-]+/)+[A-Za-z0-9_.@+-]+\.",
        _SOURCE_SUFFIXES,
        r"\b",
    ),
    _shape(
        "drive path",
        r"""\b[A-Za-z]:\\{1,2}(?:[^\\/:*?"'<>|\r\n]{1,255}\\{1,2}){0,64}""",
        r"""[^\\/:*?"'<>|\s,;)]*""",
    ),
    _shape("share path", r"""(?<![A-Za-z0-9\\])\\\\[A-Za-z0-9_.-]{1,255}\\""", r"""[^\s"'<>|]+"""),
)

SHAPES: Final[tuple[Shape, ...]] = (*_KEY_SHAPES, *_INTERNALS, *_ASSIGNED, *_PATHS)
"""In the order in which they are replaced: first what is known best."""
