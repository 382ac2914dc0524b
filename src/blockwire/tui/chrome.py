"""How the rows below a conversation look.

Spec: docs/spec/chat/drawing.md, "The prompt".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from blockwire.render import Row, Span, Style
from blockwire.tui.promptrows import Prompt, PromptRole, PromptRow

__all__ = ["SPINNER", "SPINNER_S", "prompt_rows", "spinner"]

LOOKS: Final[Mapping[PromptRole, Style]] = MappingProxyType(
    {
        "mark": Style(colour="blue", bold=True),
        "text": Style(),
        "placeholder": Style(colour="cyan"),
        "hint": Style(dim=True),
        "queued": Style(dim=True, italic=True),
        "attachment": Style(colour="cyan"),
        "question": Style(colour="yellow", bold=True),
        "choice": Style(),
        "selected": Style(bold=True, underline=True),
        "activity": Style(colour="magenta"),
        "status": Style(dim=True),
        "warning": Style(colour="yellow"),
    }
)
"""Role -> style; each that means something can be told without colours, by its words or weight."""

SPINNER: Final = "\u280b\u2819\u2839\u2838\u283c\u2834\u2826\u2827\u2807\u280f"
MARK_CELLS: Final = 2
"""With the blank behind it."""

SPINNER_S: Final = 0.1
"""One step of it; ten changes of one row a second."""


def spinner(now_s: float) -> str:
    """Return the mark of work in progress at a time."""
    return SPINNER[int(now_s / SPINNER_S) % len(SPINNER)]


def prompt_rows(prompt: Prompt, *, mark: str = "") -> list[Row]:
    """Return the rows of ``prompt``.

    Args:
        prompt: Its rows fit already.
        mark: Stands before what the turn does, if that is shown; perhaps nothing.
    """
    return [_row(row, mark) for row in prompt.rows]


def _row(row: PromptRow, mark: str) -> Row:
    spans: list[Span] = []
    owed_cells = 0  # that the mark has taken
    for span in row:
        text = span.text
        if mark and text and span.role == "activity":
            text = f"{mark} {text}"
            owed_cells = MARK_CELLS
        elif owed_cells and text.isspace() and len(text) > owed_cells:
            text, owed_cells = text[owed_cells:], 0
        spans.append(Span(text, LOOKS[span.role]))
    return Row(tuple(spans))
