"""What an import of a foreign history did with what it did not understand.

Spec: docs/spec/gateway/exports.md, "Histories of other programs".
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from blockwire.errors import RemoteProtocolError

__all__ = ["HistoryError", "Note", "NoteKind", "Report"]

NOTES_MAX: Final = 500
"""Different notes of one history; others are counted as ``others``."""

WHAT_CHARS_MAX: Final = 120
"""Of what a note is about, which may be somebody else's word."""

NoteKind = Literal["kept", "left_out", "repaired", "unreadable"]
"""``kept``: not understood, and kept as it came, for the owner. ``left_out``: not taken over.
``repaired``: taken over with a change. ``unreadable``: a conversation, or a line, that is none."""


class HistoryError(RemoteProtocolError):
    """A history cannot be read at all."""


class Note(Struct):
    """How often something was met.

    Attributes:
        kind: What was done with it.
        what: What it is: a type, a reason.
        count: How often.
        first: Where it was met first, a JSON Pointer into the file, or a line.
    """

    kind: NoteKind
    what: str
    count: int
    first: str


class Report:
    """Counts, by what was met, with the place where it was met first."""

    def __init__(self) -> None:
        self._notes: dict[tuple[NoteKind, str], Note] = {}

    @property
    def notes(self) -> list[Note]:
        """All notes, the worst first, then in the order in which they came up."""
        kinds: tuple[NoteKind, ...] = ("unreadable", "left_out", "repaired", "kept")
        return sorted(self._notes.values(), key=lambda note: kinds.index(note.kind))

    @property
    def is_whole(self) -> bool:
        """Whether everything could be read."""
        return all(note.kind != "unreadable" for note in self._notes.values())

    def add(self, kind: NoteKind, what: str, place: str) -> None:
        """Count one thing."""
        what = what[:WHAT_CHARS_MAX]
        if (kind, what) not in self._notes and len(self._notes) >= NOTES_MAX:
            what = "others"
        note = self._notes.get((kind, what))
        if note is None:
            note = self._notes[kind, what] = Note(kind, what, 0, place)
        note.count += 1
