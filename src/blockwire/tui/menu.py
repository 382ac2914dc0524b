"""The list of ways to go on with a command, and which of them is taken.

Spec: docs/spec/chat/commands.md, "Completion".
"""

from __future__ import annotations

from blockwire.tui.completion import Candidate, Completion, Known, complete
from blockwire.tui.editor import Editor

__all__ = ["CompletionMenu"]


class CompletionMenu:
    """What is offered for the word before the cursor.

    Attributes:
        completion: None while nothing is offered.
        selected: Index of the candidate that is taken; None while none is.
    """

    def __init__(self) -> None:
        self.completion: Completion | None = None
        self.selected: int | None = None
        self._is_closed_for: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether something is offered."""
        return self.completion is not None

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """What is offered."""
        return () if self.completion is None else self.completion.candidates

    def refresh(self, editor: Editor, known: Known) -> None:
        """Offer what fits the text before the cursor now."""
        text = editor.text_before_cursor
        if text != self._is_closed_for:
            self._is_closed_for = None
        offered = text.startswith("/") and editor.is_at_end and self._is_closed_for is None
        completion = complete(text, known) if offered else None
        if completion == self.completion:
            return
        self.completion = completion
        # A name that is begun is meant; behind a name anything may be typed.
        self.selected = 0 if completion is not None and completion.is_command else None

    def close(self, editor: Editor) -> None:
        """Offer nothing until another text stands there."""
        self._is_closed_for = editor.text_before_cursor
        self.completion = None
        self.selected = None

    def go(self, step: int) -> None:
        """Select the next candidate, or the one before; behind the last comes the first."""
        count = len(self.candidates)
        if count:
            start = self.selected if self.selected is not None else (-1 if step > 0 else 0)
            self.selected = (start + step) % count

    def take(self, editor: Editor, known: Known) -> Candidate | None:
        """Put the selected candidate, or the first, in the place of the word, and return it."""
        if self.completion is None:
            return None
        candidate = self.candidates[self.selected or 0]
        blank = " " if self.completion.is_command and candidate.goes_on else ""
        editor.complete_word(self.completion.word, candidate.text + blank)
        self.refresh(editor, known)
        return candidate
