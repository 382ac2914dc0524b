"""What was sent before, newest last, and the way through it.

Spec: docs/spec/chat/input.md, "History".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

__all__ = ["ENTRIES_MAX", "ENTRY_CHARS_MAX", "InputHistory"]

ENTRIES_MAX: Final = 1_000
"""As bash keeps by default, twice over."""

ENTRY_CHARS_MAX: Final = 262_144
"""A longer input is not kept: it is a document that was pasted, and stands in the conversation."""


class InputHistory:
    """Entries, and where a walk through them stands.

    Args:
        entries: From earlier times, the oldest first.
    """

    def __init__(self, entries: Iterable[str] = ()) -> None:
        self._entries: list[str] = []
        self._at: int | None = None
        self._prefix = ""
        for entry in entries:
            self.add(entry)

    @property
    def entries(self) -> Sequence[str]:
        """All entries, the oldest first."""
        return tuple(self._entries)

    @property
    def is_walking(self) -> bool:
        """Whether an entry is shown in place of what was typed."""
        return self._at is not None

    def add(self, text: str) -> bool:
        """Keep ``text`` as the newest entry, and return whether it is to be kept at all.

        It is not if it is blank or begins with one, is longer than :data:`ENTRY_CHARS_MAX`, or
        repeats the newest. The oldest goes when there are more than :data:`ENTRIES_MAX`.
        """
        self.stop()
        if not text.strip() or text[0].isspace() or len(text) > ENTRY_CHARS_MAX:
            return False
        if self._entries and self._entries[-1] == text:
            return False
        self._entries.append(text)
        del self._entries[:-ENTRIES_MAX]
        return True

    def older(self, prefix: str) -> str | None:
        """Return the next older entry that begins like the walk did; None where there is none.

        Args:
            prefix: What entries have to begin with; counts when the walk begins.
        """
        if self._at is None:
            self._prefix = prefix
        shown = None if self._at is None else self._entries[self._at]
        start = len(self._entries) if self._at is None else self._at
        return self._go(range(start - 1, -1, -1), shown)

    def newer(self) -> str | None:
        """Return the next newer entry of the walk; None at its end, and the walk is over then."""
        if self._at is None:
            return None
        found = self._go(range(self._at + 1, len(self._entries)), self._entries[self._at])
        if found is None:
            self.stop()
        return found

    def stop(self) -> None:
        """End the walk."""
        self._at = None

    def search(self, part: str, before: int | None = None) -> int | None:
        """Return the newest entry that has ``part`` in it, whatever its case; None without one.

        Args:
            part: What is looked for.
            before: Only entries older than this one.
        """
        end = len(self._entries) if before is None else before
        wanted = part.casefold()
        for index in range(end - 1, -1, -1):
            if wanted in self._entries[index].casefold():
                return index
        return None

    def _go(self, indices: range, shown: str | None) -> str | None:
        for index in indices:
            entry = self._entries[index]
            # The same text twice would look like a key that does nothing.
            if entry.startswith(self._prefix) and entry != shown:
                self._at = index
                return entry
        return None
