"""Snippets of a search as rows of a terminal.

Spec: docs/spec/gateway/search.md, "In a terminal".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from blockwire.render.layout import indent, wrap_spans
from blockwire.render.spans import Row, Span, Style, TerminalLook, clean, join_spans

__all__ = ["snippet_rows"]

_TITLE: Final = Style(bold=True)
_FOUND: Final = Style(bold=True, underline=True, colour="yellow")
_MUTED: Final = Style(dim=True)

_INDENT_COLUMNS: Final = 2
_CUT: Final = "\u2026"


def snippet_rows(  # noqa: PLR0913 - what a hit consists of
    text: str,
    matches: Sequence[tuple[int, int]],
    look: TerminalLook,
    *,
    title: str,
    caption: str,
    place: str,
    is_cut: tuple[bool, bool],
) -> list[Row]:
    """Return the rows of one hit; nothing in it can reach the terminal as a control.

    Args:
        text: The snippet.
        matches: What was found in it, in scalars, in order, apart.
        look: Of the terminal.
        title: Names the conversation.
        caption: When, who, what.
        place: The command that opens it.
        is_cut: Whether the block goes on before and behind the snippet.
    """
    spans: list[Span] = [Span(_CUT, _MUTED)] if is_cut[0] else []
    last = 0
    for start, end in matches:
        spans += (Span(_flat(text[last:start], look)), Span(_flat(text[start:end], look), _FOUND))
        last = end
    spans.append(Span(_flat(text[last:], look)))
    if is_cut[1]:
        spans.append(Span(_CUT, _MUTED))
    prefix = indent(_INDENT_COLUMNS)
    return [
        *wrap_spans(
            join_spans(
                (Span(_flat(title, look), _TITLE), Span(f"  {_flat(caption, look)}", _MUTED))
            ),
            look,
        ),
        *wrap_spans(join_spans(spans), look, first_prefix=prefix, rest_prefix=prefix),
        # Whole, so that it can be copied, also where it is wider than the screen.
        Row((*prefix, Span(_flat(place, look), _MUTED)), is_soft=True),
    ]


def _flat(text: str, look: TerminalLook) -> str:
    """Return ``text`` for one line: its breaks and tabs as blanks, other controls as labels."""
    for sign in "\r\n\t":
        text = text.replace(sign, " ")
    return clean(text, ambiguous_width=look.ambiguous_width)
