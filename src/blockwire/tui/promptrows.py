"""The rows below a conversation, as text with roles: what stands in them, not how it looks.

Spec: docs/spec/chat/index.md, "The prompt".
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from blockwire.text import AmbiguousWidth, cut, label_controls, width

__all__ = ["ELLIPSIS", "Prompt", "PromptRole", "PromptRow", "PromptSpan", "fit", "join_sides"]

PromptRole = Literal[
    "mark",  # what stands before the input
    "text",  # what was typed
    "placeholder",  # stands for a long paste
    "hint",  # what could be typed here
    "queued",  # a question that waits in line
    "attachment",  # a file that goes with the next question
    "question",  # what a suspended turn asks
    "choice",  # one of its answers, or of the completion
    "selected",  # the one that Enter takes
    "activity",  # what the turn does; a spinner may stand before it
    "status",  # engine, model, tokens, time
    "warning",  # the connection is lost, or the next key does more than it seems
]

ELLIPSIS = "\u2026"


class PromptSpan(NamedTuple):
    """Text of one role, one line, controls labelled."""

    text: str
    role: PromptRole


PromptRow: TypeAlias = tuple[PromptSpan, ...]


class Prompt(NamedTuple):
    """Everything below the conversation.

    Attributes:
        rows: None is wider than asked for; the last one is the status row where there is room.
        cursor_row: Index of the row that has the cursor.
        cursor_column: Cells before the cursor, less than the width.
    """

    rows: tuple[PromptRow, ...]
    cursor_row: int
    cursor_column: int


def fit(text: str, width_cells: int, ambiguous_width: AmbiguousWidth = 1) -> str:
    """Return ``text`` as one line of at most ``width_cells``, with an ellipsis where it was cut."""
    line = label_controls(text, breaks="label", tabs="label")
    if width(line, ambiguous_width=ambiguous_width) <= width_cells:
        return line
    room_cells = width_cells - width(ELLIPSIS, ambiguous_width=ambiguous_width)
    if room_cells < 0:
        return ""
    return cut(line, room_cells, ambiguous_width=ambiguous_width) + ELLIPSIS


def join_sides(
    left: PromptSpan, right: PromptSpan, width_cells: int, ambiguous_width: AmbiguousWidth = 1
) -> PromptRow:
    """Return a row with ``left`` at its beginning and ``right`` at its end.

    Where there is no room for both with a blank between, ``right`` goes, then the end of ``left``.
    """
    left_cells = width(left.text, ambiguous_width=ambiguous_width)
    right_cells = width(right.text, ambiguous_width=ambiguous_width)
    gap_cells = width_cells - left_cells - right_cells
    if not right.text or gap_cells < 1:
        text = fit(left.text, width_cells, ambiguous_width)
        return (PromptSpan(text, left.role),) if text else ()
    gap = PromptSpan(" " * gap_cells, right.role)
    return (left, gap, right) if left.text else (gap, right)
