"""Code in colours, where it is short and its language is well known.

Spec: docs/spec/rendering/html.md; of single lines: docs/spec/rendering/projector.md.

Lexers are regular expressions of others, and the text is whatever a model wrote. So only the
lexers below run, and only on short code; everything else is plain text, which is as true.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from types import MappingProxyType
from typing import Final

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES, _TokenType

from blockwire.render.htmltext import html_text
from blockwire.render.stylesheet import CODE_CLASSES
from blockwire.text import label_controls

__all__ = [
    "COLOURED_CHARS_MAX",
    "HIGHLIGHTED_CHARS_MAX",
    "LANGUAGES",
    "LINE_CHARS_MAX",
    "Colours",
    "line_pieces",
]

HIGHLIGHTED_CHARS_MAX: Final = 5_000
"""Longest code that is coloured: for some texts the lexers need the square of its time."""
LINE_CHARS_MAX: Final = 500
"""Longest line of it."""
COLOURED_CHARS_MAX: Final = 40_000
"""All that is coloured in one message."""

LANGUAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        name: lexer
        for lexer, names in {
            "bash": "bash sh shell zsh",
            "c": "c h",
            "console": "console shell-session",
            # Java and C# look alike; the lexers of their own need the square of the time.
            "cpp": "cpp c++ cc hpp java csharp c# cs",
            "css": "css",
            "diff": "diff patch",
            "docker": "dockerfile docker",
            "go": "go golang",
            "html": "html",
            "ini": "ini cfg",
            "javascript": "javascript js jsx mjs",
            "json": "json jsonc",
            "kotlin": "kotlin kt",
            "lua": "lua",
            "make": "makefile make",
            "php": "php",
            "python": "python py python3",
            "ruby": "ruby rb",
            "rust": "rust rs",
            "sql": "sql",
            "swift": "swift",
            "toml": "toml",
            "typescript": "typescript ts tsx",
            "xml": "xml svg",
            "yaml": "yaml yml",
        }.items()
        for name in names.split()
    }
)
"""What a fence or a block may be called -> the lexer that colours it."""


_LAST_END: Final = re.compile(r"\n((?:</span>)?)\Z")
_USES: Final[Mapping[str, str]] = MappingProxyType(
    {name: use for use, names in CODE_CLASSES.items() for name in names.split()}
)


@lru_cache(maxsize=len(LANGUAGES))
def _lexer(name: str) -> Lexer:
    # As it is: no line breaks taken away or added, no tabs made blanks.
    return get_lexer_by_name(name, stripnl=False, ensurenl=False)


def _class_of(kind: _TokenType) -> str:
    # A kind that the table lacks is coloured as what it is a kind of.
    while kind.parent is not None and kind not in STANDARD_TYPES:
        kind = kind.parent
    css_class = STANDARD_TYPES[kind]
    return css_class if css_class in _USES else ""


class Colours:
    """Colours the code of one message, as much of it as may be.

    Args:
        chars_max: Of all coloured code together.
    """

    def __init__(self, chars_max: int = COLOURED_CHARS_MAX) -> None:
        self._chars_left = chars_max

    def html(self, code: str, language: str) -> str:
        """Return ``code`` as HTML, in spans with classes where it can be coloured."""
        name = LANGUAGES.get(language.lower())
        if name is None or len(code) > min(HIGHLIGHTED_CHARS_MAX, self._chars_left):
            return html_text(code)
        if max(map(len, code.split("\n"))) > LINE_CHARS_MAX:
            return html_text(code)
        self._chars_left -= len(code)
        return _coloured(code, name)


def line_pieces(line: str, language: str) -> list[tuple[str, str]] | None:
    """Return one line of code as pieces, each with the use of its colour (perhaps empty).

    A line is looked at by itself, so it looks the same whatever comes before and after it.

    Args:
        line: Without its break; controls are labels already.
        language: As a fence names it.

    Returns:
        None where it cannot be coloured: unknown language, or too long.
    """
    name = LANGUAGES.get(language.lower())
    if name is None or len(line) > LINE_CHARS_MAX:
        return None
    pieces = _pieces(line + "\n", name)
    if pieces is None:
        return None
    return [(_USES.get(css_class, ""), value.removesuffix("\n")) for css_class, value in pieces]


def _pieces(whole: str, name: str) -> list[tuple[str, str]] | None:
    pieces = [(_class_of(kind), value) for kind, value in _lexer(name).get_tokens(whole)]
    # A lexer that loses or changes a character shows other code than was written.
    return pieces if "".join(value for _class, value in pieces) == whole else None


def _coloured(code: str, name: str) -> str:
    # Some lexers overlook a last line without its end.
    pieces = _pieces(label_controls(code) + "\n", name)
    if pieces is None:
        return html_text(code)
    out: list[str] = []
    for css_class, group in groupby(pieces, key=itemgetter(0)):
        text = html_text("".join(value for _class, value in group))
        out.append(f'<span class="{css_class}">{text}</span>' if css_class else text)
    return _LAST_END.sub(r"\1", "".join(out))
