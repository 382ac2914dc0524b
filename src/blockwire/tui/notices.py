"""How a notice of the chat looks.

Spec: docs/spec/chat/drawing.md, "Notices".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from blockwire.render import Span, Style, TerminalLook
from blockwire.render.layout import FlowLine, indent
from blockwire.render.spans import shown_text
from blockwire.tui.intents import Notice, NoticeKind

__all__ = ["notice_lines"]

# kind -> mark, its style, the style of the text
_LOOKS: Final[Mapping[NoticeKind, tuple[str, Style, Style]]] = MappingProxyType(
    {
        "info": ("\u2013 ", Style(dim=True), Style(dim=True, italic=True)),
        "warning": ("! ", Style(colour="yellow", bold=True), Style()),
        "error": ("\u2717 ", Style(colour="red"), Style(colour="red", bold=True)),
    }
)


def notice_lines(notice: Notice, look: TerminalLook) -> list[FlowLine]:
    """Return the lines of ``notice``, hanging on the mark of its kind."""
    mark, mark_style, style = _LOOKS[notice.kind]
    first: tuple[Span, ...] = (Span(mark, mark_style),)
    lines: list[FlowLine] = []
    for text in notice.text.split("\n"):
        lines.append(FlowLine((Span(shown_text(text, look), style),), first, indent(2)))
        first = indent(2)
    return lines
