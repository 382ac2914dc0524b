"""Another reader of Markdown: one that takes raw HTML for HTML, and knows nothing of our bounds."""

from __future__ import annotations

from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

__all__ = ["html_in", "outline", "parsed", "sections"]


@cache
def _reader() -> MarkdownIt:
    # Its own bound would drop what is nested deeper.
    reader = MarkdownIt("commonmark", {"html": True, "maxNesting": 100})
    return reader.enable(["table", "strikethrough"])


def parsed(source: str) -> tuple[list[Token], dict[str, Any]]:
    """Return what the reader makes of a document, and the link definitions that it found."""
    env: dict[str, Any] = {}
    return _reader().parse(source, env), env.get("references", {})


def html_in(tokens: list[Token]) -> list[str]:
    """Return the raw HTML in a document."""
    inline = [child for token in tokens for child in token.children or ()]
    pieces = [token for token in (*tokens, *inline) if token.type in {"html_block", "html_inline"}]
    return [piece.content for piece in pieces]


def outline(tokens: list[Token]) -> list[str]:
    """Return the kinds of the blocks at the top level."""
    kinds = [token.type for token in tokens if token.level == 0 and token.nesting >= 0]
    return [kind.removesuffix("_open") for kind in kinds]


def sections(source: str) -> list[list[str]]:
    """Return the outline below each message's heading, its other lines left out."""
    found: list[list[str]] = []
    tokens, _references = parsed(source)
    for token in tokens:
        if token.level or token.nesting < 0:
            continue
        if token.type == "heading_open" and token.tag == "h2":
            found.append([])
        elif found:
            found[-1].append(token.type.removesuffix("_open"))
    # The first paragraph is model and time.
    return [section[1:] for section in found]
