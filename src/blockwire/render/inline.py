"""Inline Markdown to spans, and how much of an unfinished paragraph is decided.

Spec: docs/spec/rendering/markdown.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from blockwire.render.spans import PLAIN, Span, Style, clean, join_spans, safe_link
from blockwire.text import last_break

__all__ = ["inline_lines", "markdown_parser", "stable_source"]

_CODE: Final = Style(colour="cyan")
_URL: Final = Style(dim=True)

# Delimiters that later text may still turn into markup. A "*" before a blank opens nothing, and
# neither does a "_" inside a word. "<", "&", "!" and "\\" matter only within one word, and the
# last word of unfinished text is never decided.
_UNDECIDED: Final = re.compile(
    r"`|\*(?=\S|\Z)|(?<![^\W_])_(?=\S|\Z)|~~|\[(?![^\[\]`]*\][^(\[])|\\\Z"
)


@lru_cache(maxsize=1)
def markdown_parser() -> MarkdownIt:
    """Return the parser: CommonMark with tables and strikethrough; raw HTML is text.

    Link reference definitions are off: a definition that arrives at the end would change
    paragraphs that a terminal has printed already. They show as they were written.
    """
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False})
    return parser.enable(["table", "strikethrough"]).disable(["reference"])


def inline_lines(tokens: Sequence[Token] | None, base: Style = PLAIN) -> list[list[Span]]:
    """Return the spans of each line of inline ``tokens``; hard breaks separate lines."""
    lines: list[list[Span]] = [[]]
    styles = [base]
    link_starts: list[tuple[str, int, int]] = []
    for token in tokens or ():
        style = styles[-1]
        kind = token.type
        if kind == "text":
            lines[-1].append(Span(clean(token.content), style))
        elif kind == "code_inline":
            lines[-1].append(Span(clean(token.content), style._replace(colour=_CODE.colour)))
        elif kind == "softbreak":
            lines[-1].append(Span(" ", style))
        elif kind == "hardbreak":
            lines.append([])
        elif kind == "image":
            _add_image(lines[-1], token, style)
        elif token.nesting == 1:
            if kind == "link_open":
                target = str(token.attrs.get("href", ""))
                link_starts.append((target, len(lines) - 1, len(lines[-1])))
            styles.append(_opened(token, style))
        elif token.nesting == -1:
            styles.pop()
            if kind == "link_close":
                _add_target(lines, *link_starts.pop(), styles[-1])
        else:
            lines[-1].append(Span(clean(token.content), style))
    return [list(join_spans(line)) for line in lines]


def _opened(token: Token, style: Style) -> Style:
    match token.type:
        case "strong_open":
            return style._replace(bold=True)
        case "em_open":
            return style._replace(italic=True)
        case "s_open":
            return style._replace(strike=True)
        case "link_open":
            link = safe_link(str(token.attrs.get("href", "")))
            return style._replace(underline=True, link=link)
        case _:
            return style


def _add_image(line: list[Span], token: Token, style: Style) -> None:
    # Nothing is loaded: the description stands for the picture, with where it would come from.
    line.append(Span(clean(token.content or "image"), style._replace(italic=True)))
    line.append(Span(f" ({clean(str(token.attrs.get('src', '')))})", _URL))


def _add_target(
    lines: list[list[Span]], target: str, line_index: int, span_index: int, style: Style
) -> None:
    """Show where a link goes unless its text says so already: a label must not lie."""
    label = "".join(span.text for span in lines[line_index][span_index:])
    label += "".join(span.text for line in lines[line_index + 1 :] for span in line)
    shown = clean(target)
    if target and shown not in {label, f"mailto:{label}"}:
        link = safe_link(target)
        lines[-1].append(Span(" (", style))
        lines[-1].append(Span(shown, style._replace(dim=True, link=link)))
        lines[-1].append(Span(")", style))


def stable_source(source: str) -> tuple[list[Token], bool]:
    """Return the inline tokens of an unfinished paragraph that no later text can change.

    Args:
        source: The paragraph so far. Its last word may go on, so it is never decided; neither is
            what follows or surrounds a delimiter that may still find its partner.

    Returns:
        The tokens, and whether they reach up to a place where a row may break.
    """
    cut = max(last_break(source), source.rfind("\n"))
    children = markdown_parser().parseInline(source[:cut].rstrip(" \n"))[0].children or []
    stable: list[Token] = []
    depth = complete = 0
    for token in children:
        if token.type == "text":
            undecided = _UNDECIDED.search(token.content)
            if undecided is not None:
                if depth == 0:
                    part = token.copy()
                    part.content = token.content[: undecided.start()]
                    return [*stable, part], False
                return stable[:complete], False
        stable.append(token)
        depth += token.nesting
        if depth == 0:
            complete = len(stable)
    return stable, True
