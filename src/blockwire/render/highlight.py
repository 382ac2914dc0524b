"""Code to HTML, coloured by classes where it is short and its language is well known.

Spec: docs/spec/rendering/html.md.

Lexers are regular expressions of others, and the text is whatever a model wrote. So only the
lexers below run, and only on short code; everything else is plain text, which is as true.
"""

from __future__ import annotations

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

__all__ = ["HIGHLIGHTED_CHARS_MAX", "LANGUAGES", "highlighted_html"]

HIGHLIGHTED_CHARS_MAX: Final = 20_000
"""Longest code that is coloured."""

LANGUAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        name: lexer
        for lexer, names in {
            "bash": "bash sh shell zsh",
            "c": "c h",
            "console": "console shell-session",
            "cpp": "cpp c++ cc hpp",
            "csharp": "csharp c# cs",
            "css": "css",
            "diff": "diff patch",
            "docker": "dockerfile docker",
            "go": "go golang",
            "html": "html",
            "ini": "ini cfg",
            "java": "java",
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


_COLOURED: Final = frozenset(" ".join(CODE_CLASSES.values()).split())


@lru_cache(maxsize=len(LANGUAGES))
def _lexer(name: str) -> Lexer:
    # As it is: no line breaks taken away or added, no tabs made blanks.
    return get_lexer_by_name(name, stripnl=False, ensurenl=False)


def _class_of(kind: _TokenType) -> str:
    # A kind that the table lacks is coloured as what it is a kind of.
    while kind.parent is not None and kind not in STANDARD_TYPES:
        kind = kind.parent
    css_class = STANDARD_TYPES[kind]
    return css_class if css_class in _COLOURED else ""


def highlighted_html(code: str, language: str) -> str:
    """Return ``code`` as HTML, in spans with classes where it can be coloured."""
    name = LANGUAGES.get(language.lower())
    if name is None or len(code) > HIGHLIGHTED_CHARS_MAX:
        return html_text(code)
    pieces = ((_class_of(kind), value) for kind, value in _lexer(name).get_tokens(code))
    out: list[str] = []
    for css_class, group in groupby(pieces, key=itemgetter(0)):
        text = html_text("".join(value for _class, value in group))
        out.append(f'<span class="{css_class}">{text}</span>' if css_class else text)
    return "".join(out)
