"""The search through the history of inputs, as it is typed (Ctrl-R).

Spec: docs/spec/chat/input.md, "History".
"""

from __future__ import annotations

from blockwire.tui.inputhistory import InputHistory

__all__ = ["HistorySearch"]


class HistorySearch:
    """One search, from Ctrl-R until an entry is taken or the search is given up.

    Args:
        history: Where to look.

    Attributes:
        query: What was typed.
        found: The entry that is shown; None while none was found.
        is_failing: Nothing (more) has the query in it.
    """

    def __init__(self, history: InputHistory) -> None:
        self._entries = history.entries
        self._history = history
        self._at: int | None = None
        self.query = ""
        self.is_failing = False

    @property
    def found(self) -> str | None:
        """The entry that is shown."""
        return None if self._at is None else self._entries[self._at]

    def type(self, text: str) -> None:
        """Add to the query; the entry that is shown stays if it fits."""
        self.query += text
        self._look(None if self._at is None else self._at + 1)

    def delete(self) -> None:
        """Take the last character off the query, and look from the newest entry on."""
        self.query = self.query[:-1]
        self._at = None
        self._look(None)

    def older(self) -> None:
        """Show the next older entry."""
        self._look(self._at)

    def _look(self, before: int | None) -> None:
        if not self.query:
            self.is_failing = False
            return
        index = self._history.search(self.query, before)
        self.is_failing = index is None
        if index is not None:
            self._at = index
