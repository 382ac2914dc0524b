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
    """A pattern, and what takes the place of a match.

    Attributes:
        name: For people.
        pattern: What is looked for.
        replace: Returns what takes its place.
        hints: Without one of these, in lower case, nothing matches: most texts have none, and
            asking costs a hundredth of looking.
    """

    name: str
    pattern: re.Pattern[str]
    replace: Callable[[re.Match[str]], str]
    hints: tuple[str, ...] = ()


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


def _shape(name: str, *parts: str, hints: str = "") -> Shape:
    """Return the shape of a pattern in ``parts``; it keeps its group 1, if it has one."""
    pattern = re.compile("".join(parts))
    replace = _keep_beginning if pattern.groups else _replace_all
    return Shape(name, pattern, replace, tuple(hints.split()))


def _either(*patterns: str) -> str:
    return "(?:" + "|".join(patterns) + ")"


# The beginning of a word, also behind the escape of a space or a line break: a letter stands there.
_ESCAPED_BEFORE: Final = (
    r"(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=%25[0-9A-Fa-f]{2})|(?<=\\u00[0-9A-Fa-f]{2})"
)
# In every name of a key, a header or a parameter that is one.
_KEYISH: Final = "key token secret passw passphrase pwd auth credential pass signature"
_WORD_BEFORE: Final = rf"(?:(?<![A-Za-z0-9_-])|{_ESCAPED_BEFORE})"
# The beginning of a name, which may be an option: --password.
_NAME_BEFORE: Final = rf"(?:(?<![A-Za-z0-9_-])-{{0,2}}|{_ESCAPED_BEFORE})"
# Space, also line breaks, and both as JSON escapes them, in strings in strings.
_GAP: Final = r"(?:[ \t\r\n]|\\{1,4}[nrt]){0,64}"
_HAS_DIGIT: Final = r"(?=[A-Za-z_.~+/=-]{0,256}[0-9])"
_UP_TO_LINE_END: Final = r"""[^\r\n"\\]+"""
_UP_TO_BLANK_LINE: Final = r"[^\r\n]*(?:\r?\n[^\r\n]+)*"
# A quotation mark: plain, in JSON in a string, in that in a string.
_QUOTE: Final = r"""\\{0,7}["']"""
_BEGIN: Final = rf"b?{_QUOTE}"
# Name and separator of an assignment or header: in plain text, in JSON in strings, in pairs.
_TO_VALUE: Final = rf"(?:(?:{_QUOTE})?[ \t]*[:=]{_GAP}(?:{_BEGIN})?|{_QUOTE}[ \t]*,{_GAP}{_BEGIN})"
# The same where only quotation marks tell a value from prose.
_TO_QUOTED: Final = (
    rf"(?:=(?:{_BEGIN})?|(?:{_QUOTE})?[ \t]*[:=]{_GAP}{_BEGIN}|{_QUOTE}[ \t]*,{_GAP}{_BEGIN})"
)
# What stands for a value in instructions: <token>, $TOKEN, {{token}}, ...
_NO_EXAMPLE: Final = r"(?![<$\[{(]|%(?:25)?(?:3C|24|5B|7B)|\.\.\.|YOUR)"

_EXCEPTION_NAMES: Final = _either(
    *sorted(
        name
        for name, value in vars(builtins).items()
        if isinstance(value, type) and issubclass(value, BaseException)
    )
)
_INTERNALS: Final = (
    _shape(
        "traceback", r"Traceback \(most recent call last\):", _UP_TO_BLANK_LINE, hints="traceback"
    ),
    _shape(
        "goroutine",
        r"goroutine [0-9]{1,9} \[[^\]\r\n]{1,80}\]:",
        _UP_TO_BLANK_LINE,
        hints="goroutine",
    ),
    _shape("frame", r'File "[^"\r\n]*", line [0-9]+(?:, in [^\s,]+)?', hints="file"),
    _shape("stack frame", r"(?m)^([ \t]+at )[^\r\n]+:[0-9]+\)?[ \t]*$", hints="at"),
    _shape("object", r"<[^<>\r\n]{1,200} at 0x[0-9A-Fa-f]{4,16}>", hints="0x"),
    _shape(
        "exception of a module",
        r"(?<![A-Za-z0-9_.])(?:[A-Za-z_][A-Za-z0-9_]{0,63}\.){1,8}",
        r"[A-Z][A-Za-z0-9]{0,63}(?:Error|Exception)(?::|\()[^\r\n]*",
        hints="error exception",
    ),
    _shape("exception", r"(?<![A-Za-z0-9_.])", _EXCEPTION_NAMES, r"(?::[ \t]|\()[^\r\n]+"),
)

_STRONG_NAMES: Final = r"(?:[A-Za-z0-9]{1,32}[_-]){0,4}" + _either(
    r"api[_-]?key",
    r"(?:access|secret|private|account|shared[_-]?access)[_-]?key",
    r"(?:access|auth|refresh|id|session|security|bearer)[_-]?token",
    r"(?:client[_-]?)?secret",
    r"password|passwd|passphrase|pwd",
)
_KEY_HEADERS: Final = _either(
    r"(?:[a-z0-9]{1,32}-){0,4}authorization",
    r"(?:[a-z0-9]{1,32}-){0,4}(?:api|subscription)-key",
    r"x-(?:[a-z0-9]{1,32}-){0,4}(?:token|key|secret|signature)",
)
_SCHEMES: Final = "(?:bearer|basic|digest|token|apikey|negotiate|aws4-hmac-sha256|hmac|oauth)"
_ASSIGNED: Final = (
    _shape(
        "cookie",
        rf"(?i){_WORD_BEFORE}((?:set-)?cookie2?{_TO_VALUE})",
        rf"(?=[^\r\n=]{{1,256}}=){_UP_TO_LINE_END}",
        hints="cookie",
    ),
    _shape(
        "authorization",
        rf"(?i){_WORD_BEFORE}((?:[a-z0-9]{{1,32}}-){{0,4}}authorization{_TO_VALUE})",
        rf"{_SCHEMES}(?:[ \t]|\r?\n[ \t]|\\{{1,4}}r\\{{1,4}}n[ \t]|\\{{1,4}}n[ \t]){{1,64}}",
        rf"{_NO_EXAMPLE}{_UP_TO_LINE_END}",
        hints="authorization",
    ),
    _shape(
        "key header",
        rf"(?i){_WORD_BEFORE}({_KEY_HEADERS}{_TO_VALUE})",
        rf"""(?!{_SCHEMES}[\s\\]|\+){_NO_EXAMPLE}[^\s"'\\,;&]{{6,}}""",
        hints=_KEYISH,
    ),
    Shape(
        "basic",
        re.compile(r"(?i)\b(basic[ \t]+)([A-Za-z0-9+/]{4,}={0,2})(?![A-Za-z0-9+/=])"),
        _replace_basic,
        ("basic",),
    ),
    _shape("bearer", rf"(?i)\b(bearer[ \t]+){_HAS_DIGIT}[A-Za-z0-9._~+/-]{{8,}}=*", hints="bearer"),
    _shape("long bearer", r"(?i)\b(bearer[ \t]+)[A-Za-z0-9._~+/-]{24,}=*", hints="bearer"),
    _shape(
        "user information", r"""([A-Za-z][A-Za-z0-9+.-]{0,31}://)[^\s/?#"'<>]+(?=@)""", hints="://"
    ),
    _shape(
        "signed query",
        r"(?i)([?&#](?:[a-z0-9_.-]{0,40}",
        r"(?:token|secret|signature|password|passwd|api[_-]?key|credential|accesskeyid)",
        r"|sig|key|auth|code|hmac|jwt|x-amz-[a-z-]{1,40}|x-goog-[a-z-]{1,40})=)",
        r"""[^&\s"'<>#\\]+""",
        hints="=",
    ),
    _shape(
        "query alone",
        rf"(?i){_WORD_BEFORE}((?:x-amz-[a-z-]{{1,40}}|sig|signature|token|key)=)",
        rf"{_HAS_DIGIT}[A-Za-z0-9%._~+/=-]{{8,}}",
        hints="=",
    ),
    _shape(
        "assignment",
        rf"(?i){_NAME_BEFORE}({_STRONG_NAMES}{_TO_QUOTED})",
        rf"""{_NO_EXAMPLE}[^\s"'\\,;&]+""",
        hints=_KEYISH,
    ),
    _shape(
        "assignment in prose",
        rf"(?i){_NAME_BEFORE}({_STRONG_NAMES}[ \t]*[:=][ \t]*)",
        rf"""{_NO_EXAMPLE}(?:{_HAS_DIGIT}[^\s"'\\,;&()]{{8,}}|[A-Za-z]{{16,}}(?![A-Za-z.(]))""",
        hints=_KEYISH,
    ),
    _shape(
        "variable",
        rf"{_WORD_BEFORE}([A-Za-z0-9_]{{0,64}}_(?:KEY|AUTH|(?i:token|secret|password|pass|credentials))",
        rf"=(?:{_QUOTE})?)",
        rf"""{_NO_EXAMPLE}[^\s"'\\,;&]{{6,}}""",
        hints=_KEYISH,
    ),
    _shape(
        "option",
        rf"(?i){_WORD_BEFORE}(--?{_STRONG_NAMES}[ \t]+(?:{_QUOTE})?)",
        rf"""{_NO_EXAMPLE}(?:{_HAS_DIGIT}[^\s"'\\,;]{{6,}}|[A-Za-z]{{16,}})""",
        hints=_KEYISH,
    ),
    _shape(
        "element",
        rf"(?i)(<(?:[a-z0-9]{{1,32}}:)?{_STRONG_NAMES}(?:[ \t][^<>]{{0,200}})?>)",
        r"[^<>\s][^<>]{3,}",
        hints=_KEYISH,
    ),
    _shape(
        "netrc",
        r"(?i)(\blogin[ \t\r\n]{1,8}\S{1,256}[ \t\r\n]{1,8}password[ \t\r\n]{1,8})",
        r"\S+",
        hints="login",
    ),
    _shape(
        "key in prose",
        r"(?i)\b(api (?:key|token)(?: provided| is)?[ \t]*[:=][ \t]*)",
        rf"""{_NO_EXAMPLE}[^\s"',;]{{6,}}""",
        hints="api",
    ),
    _shape(
        "user option",
        r"(?i)(?<!\S)((?:-u|--(?:proxy-)?user)[ \t]+)[^\s:]{1,256}:\S+",
        hints="-u --user --proxy-user",
    ),
)

_PREFIXES: Final = (
    "(?:hf|gsk|r8|fw|npm|dop_v1|nvapi|pplx|tvly|xai|csk|e2b|lsv2_pt|lsv2_sk|lin_api|ntn|secret"
    "|figd|PMAK|NRAK|sntrys|sntryu)"
)
# What providers hand out: prefix, then random characters.
_KEYS: Final = _either(
    # Also masked as in an answer that repeats it: sk-ab***yz.
    r"sk-[A-Za-z0-9_-]{0,24}(?=[A-Za-z_-]{0,64}[0-9*])[A-Za-z0-9_*-]{12,}",
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{8,}|whsec_[A-Za-z0-9+/]{16,}",
    r"AIza[A-Za-z0-9_-]{30,}|GOCSPX-[A-Za-z0-9_-]{16,}|ya29\.[A-Za-z0-9_.-]{16,}",
    r"gh[opsur]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}",
    r"gl(?:pat|dt|rt|ptt|soat|cbt)-[A-Za-z0-9_-]{16,}",
    # Ours.
    r"bw[lst]?_[A-Za-z0-9_-]{40,}",
    r"(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{12,}|ABSK[A-Za-z0-9+/]{20,}={0,2}",
    r"xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}",
    _PREFIXES + "[_-](?=[A-Za-z_-]{0,64}[0-9])[A-Za-z0-9_-]{20,}",
    r"1//0[A-Za-z0-9_-]{24,}|[A-Za-z0-9]{3,5}8Q~[A-Za-z0-9_.~-]{30,}",
    r"dapi[0-9a-f]{32}(?:-[0-9]+)?|hv[sbr]\.[A-Za-z0-9_-]{20,}|ATATT[A-Za-z0-9_=-]{20,}",
    r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|v1\.0-[0-9a-f]{16,}-[0-9a-f]{64,}",
    r"(?:SK|AC)[0-9a-f]{32}|key-[0-9a-f]{32}",
    r"pypi-[A-Za-z0-9_-]{16,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    r"(?:bot)?[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}",
    r"AGE-SECRET-KEY-1[A-Z0-9]{40,}|ops_eyJ[A-Za-z0-9_-]{20,}",
    r"EAA(?=[A-Za-z]{0,64}[0-9])[A-Za-z0-9]{40,}",
    # JSON web tokens, signed or encrypted.
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){0,3}",
)
_MIXED: Final = r"(?=[A-Z0-9+/]{0,40}[a-z])(?=[a-z0-9+/]{0,40}[A-Z])(?=[A-Za-z+/]{0,40}[0-9])"
_KEY_SHAPES: Final = (
    _shape(
        "private key",
        r"(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----",
        r".*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----|\Z)",
        hints="private",
    ),
    _shape("provider key", _WORD_BEFORE, _KEYS),
    # Keys without a prefix (Mistral, Cohere, the secret half of AWS) have exactly these lengths.
    _shape(
        "bare key",
        rf"(?:(?<![A-Za-z0-9%+/_.-])|{_ESCAPED_BEFORE}){_MIXED}",
        r"(?:[A-Za-z0-9]{32}|[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=_-])",
    ),
    # The keys of Azure's storage: 64 bytes.
    _shape("long key", rf"(?:(?<![A-Za-z0-9%+/_.-])|{_ESCAPED_BEFORE})[A-Za-z0-9+/]{{86}}=="),
    _shape(
        "hook",
        r"((?:hooks\.slack\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/webhooks)/)",
        r"[A-Za-z0-9/_-]{8,}",
        hints="hooks",
    ),
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
    _shape("file URL", "file://", _PATH, hints="file://"),
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
