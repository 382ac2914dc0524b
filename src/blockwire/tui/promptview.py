"""Puts the rows below a conversation together, in the room that there is.

Spec: docs/spec/chat/index.md, "The prompt". A function of values: what stands here is decided by the
chat, what it looks like by whoever draws it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from blockwire.text import AmbiguousWidth, expand_tabs, label_controls, wrap
from blockwire.tui.asked import Asked
from blockwire.tui.completion import Candidate
from blockwire.tui.editor import Editor
from blockwire.tui.outbox import Question
from blockwire.tui.promptrows import (
    ELLIPSIS,
    Prompt,
    PromptRole,
    PromptRow,
    PromptSpan,
    fit,
    join_sides,
)

__all__ = ["PromptParts", "lay_out_prompt"]

MARK_COLUMNS_MIN: Final = 12
"""Narrower windows need the cells of the mark for the text."""

MENU_ROWS_MAX: Final = 8
QUEUE_ROWS_MAX: Final = 4
STATUS_ROWS_MIN: Final = 3
"""A window part with fewer rows shows the input instead of the status."""


class PromptParts(NamedTuple):
    """What is to be shown.

    Attributes:
        editor: The input that is edited.
        mark: What stands before it; two cells.
        hint: Stands in an empty input.
        questions: On their way and in line.
        files: Names of the files that go with the next question.
        asked: What a suspended turn asks.
        choice: Index of the choice that Enter takes.
        candidates: What is offered for the word before the cursor.
        selected: Index of the one that is taken.
        activity: Left half of the status row.
        facts: Right half.
    """

    editor: Editor
    mark: str = "> "
    hint: str = ""
    questions: Sequence[Question] = ()
    files: Sequence[str] = ()
    asked: Asked | None = None
    choice: int | None = None
    candidates: Sequence[Candidate] = ()
    selected: int | None = None
    activity: PromptSpan = PromptSpan("", "status")
    facts: str = ""


def lay_out_prompt(
    parts: PromptParts, columns: int, rows_max: int, ambiguous_width: AmbiguousWidth = 1
) -> Prompt:
    """Return the rows of ``parts``, at least one, at most ``rows_max``, none wider than asked for.

    Where there is too little room, the status goes first, then most of what waits in line; the row
    with the cursor always stays.
    """
    columns, rows_max = max(columns, 1), max(rows_max, 1)
    layout = _Layout(parts, columns, ambiguous_width)
    left = rows_max - 1
    status = layout.status() if rows_max >= STATUS_ROWS_MIN else []
    left -= len(status)
    # The input may always have a third of the rows; what is asked comes before the rest.
    kept = min(left, rows_max // 3, layout.input_row_count() - 1)
    asked = layout.asked(left - kept)
    left -= len(asked)
    menu = layout.menu(min(left - min(kept, left // 2), MENU_ROWS_MAX))
    left -= len(menu)
    files = layout.files(left - min(kept, left // 2))
    left -= len(files)
    queue = layout.queue(min(left - min(kept, left // 2), QUEUE_ROWS_MAX))
    left -= len(queue)
    above = [*queue, *files, *asked]
    inputs, cursor_row, cursor_column = layout.input(1 + left)
    return Prompt((*above, *inputs, *menu, *status), len(above) + cursor_row, cursor_column)


class _Layout:
    def __init__(self, parts: PromptParts, columns: int, ambiguous_width: AmbiguousWidth) -> None:
        self._parts = parts
        self._columns = columns
        self._ambiguous_width: AmbiguousWidth = ambiguous_width

    def _row(self, text: str, role: PromptRole) -> PromptRow:
        return (PromptSpan(fit(text, self._columns, self._ambiguous_width), role),)

    def status(self) -> list[PromptRow]:
        facts = PromptSpan(fit(self._parts.facts, self._columns, self._ambiguous_width), "status")
        activity = self._parts.activity
        text = fit(activity.text, self._columns, self._ambiguous_width)
        activity = PromptSpan(text, activity.role)
        return [join_sides(activity, facts, self._columns, self._ambiguous_width)]

    def asked(self, rows_max: int) -> list[PromptRow]:
        asked = self._parts.asked
        if asked is None or rows_max < 1:
            return []
        choices = [
            self._row(
                f"{'>' if index == self._parts.choice else ' '} "
                f"{choice.key or f'{index + 1}.'} {choice.label}",
                "selected" if index == self._parts.choice else "choice",
            )
            for index, choice in enumerate(asked.choices)
        ]
        # At least one row of each, and the choice that Enter takes among them.
        choices = _window(choices, self._parts.choice or 0, max(rows_max // 2, rows_max - 6))
        prompt = [
            self._row(row, "question")
            for line in label_controls(asked.prompt).split("\n")
            for row in wrap(
                expand_tabs(line, ambiguous_width=self._ambiguous_width),
                self._columns,
                ambiguous_width=self._ambiguous_width,
            )
        ]
        room = rows_max - len(choices)
        if len(prompt) > room:
            prompt = [*prompt[: room - 1], self._row(ELLIPSIS, "question")] if room > 0 else []
        return [*prompt, *choices]

    def menu(self, rows_max: int) -> list[PromptRow]:
        candidates = self._parts.candidates
        if not candidates or rows_max < 1:
            return []
        selected = self._parts.selected
        longest = max(len(candidate.text) for candidate in candidates)
        rows = [
            self._row(
                f"  {candidate.text:<{min(longest, 24)}}  {candidate.summary}".rstrip(),
                "selected" if index == selected else "choice",
            )
            for index, candidate in enumerate(candidates)
        ]
        return _window(rows, selected or 0, rows_max)

    def files(self, rows_max: int) -> list[PromptRow]:
        if not self._parts.files or rows_max < 1:
            return []
        return [self._row(f"with {', '.join(self._parts.files)}", "attachment")]

    def queue(self, rows_max: int) -> list[PromptRow]:
        questions = self._parts.questions
        if not questions or rows_max < 1:
            return []
        rows = [self._row(f"{_stage_words(q)}: {q.text}", "queued") for q in questions]
        if len(rows) <= rows_max:
            return rows
        more = self._row(f"and {len(rows) - rows_max + 1} more", "queued")
        return [*rows[: rows_max - 1], more]

    def _mark_cells(self) -> int:
        return len(self._parts.mark) if self._columns >= MARK_COLUMNS_MIN else 0

    def input_row_count(self) -> int:
        return self._parts.editor.row_count(self._columns - self._mark_cells())

    def input(self, rows_max: int) -> tuple[list[PromptRow], int, int]:
        parts = self._parts
        mark_cells = self._mark_cells()
        width_cells = self._columns - mark_cells
        view = parts.editor.view(width_cells, rows_max)
        rows: list[PromptRow] = []
        for index, row in enumerate(view.rows):
            spans = row
            if parts.hint and parts.editor.is_empty:
                spans = (PromptSpan(fit(parts.hint, width_cells, self._ambiguous_width), "hint"),)
            if mark_cells:
                mark = parts.mark if index + view.above == 0 else " " * mark_cells
                spans = (PromptSpan(mark, "mark"), *spans)
            rows.append(spans)
        return rows, view.cursor_row, mark_cells + view.cursor_column


def _window(rows: list[PromptRow], index: int, rows_max: int) -> list[PromptRow]:
    """Return at most ``rows_max`` of the rows, the one at ``index`` among them."""
    start = min(max(index - rows_max // 2, 0), max(len(rows) - rows_max, 0))
    return rows[start : start + max(rows_max, 0)]


def _stage_words(question: Question) -> str:
    if question.stage == "queued":
        return "next" if question.position == 1 else f"in line ({question.position or '?'})"
    return "to be sent" if question.stage == "waiting" else "sending"
