"""Another reader of Markdown: one that takes raw HTML for HTML, and knows nothing of our bounds."""

from __future__ import annotations

import re
from functools import cache
from typing import Any
from unittest import mock

from markdown_it import MarkdownIt
from markdown_it.token import Token

from blockwire.render import htmlprose
from blockwire.render.htmlprose import prose_html
from blockwire.render.prosesource import contained_prose
from blockwire.text import label_controls

__all__ = [
    "assert_contained",
    "assert_reads_the_same",
    "contained",
    "html_in",
    "outline",
    "parsed",
    "sections",
]


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


def contained(source: str) -> str:
    """Return Markdown as the first block of a document has it."""
    return contained_prose(source, 1).text


def flat(source: str, shift: int) -> str:
    """Return what a page shows of Markdown, heading levels and the ends of lines left out."""
    with mock.patch.object(htmlprose, "HEADING_SHIFT", shift):
        html = prose_html(source)
    html = re.sub(r"<(/?)h[1-6]>", r"<\1h>", html.replace("<br>", " "))
    # Of blanks, only those between words are seen.
    return " ".join(re.sub(r"\s*(<[^>]*>)\s*", r"\1", html).split())


def assert_contained(source: str) -> None:
    """Check that an edited source reads the same, opens nothing, and defines nothing for others."""
    part = contained_prose(source, 1)
    tokens, references = parsed(part.text + "\n\n## Next\n\n[a] [foo] [^1]\n")

    assert html_in(tokens) == []
    assert outline(tokens)[-2:] == ["heading", "paragraph"]
    assert [child.type for child in tokens[-2].children or ()] == ["text"]
    assert all(label.startswith("/1/") for label in references)
    assert "h2" not in [token.tag for token in tokens[:-6] if token.level == 0]


def assert_reads_the_same(source: str) -> None:
    assert flat(contained(source), 0) == flat(label_controls(source), 2)
