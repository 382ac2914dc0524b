"""Frames to bytes: the least that turns what an outer terminal shows into what it is to show.

Spec: docs/spec/host/drawing.md. It belongs on the alternate screen. Nothing is ever erased but ends
of rows, nothing that a frame holds can act, and rows that moved are moved, not written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import inf
from typing import Final, NamedTuple, TypeAlias

from blockwire.host.emulator import Cursor
from blockwire.host.painter_rows import PaintRow, RowEncoder
from blockwire.host.sgr import RESET, ColourDepth
from blockwire.text import AmbiguousWidth
from blockwire.text.charset import UTF_8, Charset

__all__ = ["Frame", "PaintRow", "Painter"]

_BEGIN_UPDATE: Final = b"\x1b[?2026h"
_END_UPDATE: Final = b"\x1b[?2026l"
_HIDE_CURSOR: Final = b"\x1b[?25l"
_SHOW_CURSOR: Final = b"\x1b[?25h"
# A terminal that draws a cluster wider than we think must not begin a new row at the edge.
_WRAP_OFF: Final = b"\x1b[?7l"
_WRAP_ON: Final = b"\x1b[?7h"

# Fewer rows that moved alike are written faster than found.
MOVED_ROWS_MIN: Final = 2

_KnownRows: TypeAlias = Sequence[PaintRow | None]

# Where the cursor is that nobody knows: it may well be seen.
_UNKNOWN_CURSOR: Final = Cursor(0, -1)


class Frame(NamedTuple):
    """Everything that is seen.

    Attributes:
        rows: Exactly those of the window, from the top; what is beyond its edge is not drawn.
        cursor: Where in the window, counted from 0; None hides it.
    """

    rows: tuple[PaintRow, ...]
    cursor: Cursor | None = None


class Painter:
    """What an outer terminal shows, and how it comes to show something else."""

    def __init__(  # noqa: PLR0913 - what a terminal can
        self,
        columns: int,
        rows: int,
        *,
        colours: ColourDepth = "truecolor",
        links: bool = True,
        ambiguous_width: AmbiguousWidth = 1,
        charset: Charset = UTF_8,
    ) -> None:
        """Begin with a terminal of which nothing is known.

        Args:
            columns: At least 1.
            rows: At least 1.
            colours: Which the terminal shows.
            links: Whether it may be given links (OSC 8).
            ambiguous_width: Cells that it gives a character of ambiguous width.
            charset: What it can write.
        """
        self._colours: ColourDepth = colours
        self._has_links = links
        self._ambiguous_width: AmbiguousWidth = ambiguous_width
        self._charset = charset
        self.resize(columns, rows)

    def resize(self, columns: int, rows: int) -> None:
        """Take another size of the window; what it shows then, nobody knows."""
        self._columns, self._row_count = columns, rows
        self._rows = RowEncoder(
            columns,
            colours=self._colours,
            links=self._has_links,
            ambiguous_width=self._ambiguous_width,
            charset=self._charset,
        )
        self.forget()

    def forget(self) -> None:
        """Know nothing of what the terminal shows: somebody else has written to it."""
        self._shown: _KnownRows = (None,) * self._row_count
        self._cursor: Cursor | None = None
        self._shape = -1
        self._is_known = False

    def paint(self, frame: Frame) -> bytes:
        """Return what makes the terminal show ``frame``; nothing if it does.

        It ends in the plain look, with automatic wrap and all rows in the scrolling region.
        """
        assert len(frame.rows) == self._row_count, "a frame has the rows of the window"
        was = self._cursor if self._is_known else _UNKNOWN_CURSOR
        changes = self._changes(frame.rows)
        if not changes:
            return self._move_cursor(was, frame.cursor)
        parts = [_HIDE_CURSOR] if _is_visible(was) else []
        if not self._is_known:
            parts.append(self._clean_slate())
        parts += [_WRAP_OFF, *changes, _WRAP_ON]
        hidden = None if was is None else was._replace(is_visible=False, row=-1)
        parts.append(self._move_cursor(hidden, frame.cursor))
        self._is_known = True
        if len(changes) > 1:
            parts = [_BEGIN_UPDATE, *parts, _END_UPDATE]
        return b"".join(parts)

    def _changes(self, rows: tuple[PaintRow, ...]) -> list[bytes]:
        """Return what makes the terminal show ``rows``, in pieces of one row each."""
        shown, self._shown = self._shown, rows
        changed = [
            at
            for at, (old, new) in enumerate(zip(shown, rows, strict=True))
            if old is not new and old != new
        ]
        if len(changed) < MOVED_ROWS_MIN:
            return self._written(shown, rows)
        move = _find_move(shown, rows, changed[0], changed[-1] + 1)
        if move is None:
            return self._written(shown, rows)
        moved = [self._scroll(move), *self._written(_after(move, shown), rows)]
        moved_bytes = _length(moved)
        written = self._written(shown, rows, moved_bytes)
        return moved if moved_bytes < _length(written) else written

    def _written(
        self, old: _KnownRows, new: tuple[PaintRow, ...], bytes_max: float = inf
    ) -> list[bytes]:
        """Return rows that differ as they are written, up to the first that makes it too much."""
        pieces: list[bytes] = []
        for at, (was, row) in enumerate(zip(old, new, strict=True)):
            if was is not row and was != row:
                piece = self._rows.encode(at, was, row)
                bytes_max -= len(piece)
                pieces += [piece] * bool(piece)
                if bytes_max < 0:
                    break
        return pieces

    def _scroll(self, move: _Move) -> bytes:
        # Deleted and inserted rows never become anybody's scrollback, as scrolled ones may.
        count, final = (move.distance, "M") if move.distance > 0 else (-move.distance, "L")
        shift = f"\x1b[{move.top + 1}H\x1b[{count}{final}"
        if move.end < self._row_count:
            shift = f"\x1b[{move.top + 1};{move.end}r{shift}\x1b[1;{self._row_count}r"
        return shift.encode()

    def _clean_slate(self) -> bytes:
        if self._row_count == 1:
            return RESET.encode()
        return f"{RESET}\x1b[1;{self._row_count}r".encode()

    def _move_cursor(self, was: Cursor | None, cursor: Cursor | None) -> bytes:
        """Return what brings the cursor from ``was`` to its place, hidden or shown."""
        self._cursor = cursor
        if was == cursor:
            return b""
        is_visible = _is_visible(cursor)
        parts = [_HIDE_CURSOR] if _is_visible(was) and not is_visible else []
        if cursor is not None:
            parts.append(b"\x1b[%d;%dH" % (cursor.row + 1, cursor.column + 1))
            if is_visible and cursor.shape != self._shape:
                self._shape = cursor.shape
                parts.append(b"\x1b[%d q" % cursor.shape)
        if is_visible and not _is_visible(was):
            parts.append(_SHOW_CURSOR)
        return b"".join(parts)


class _Move(NamedTuple):
    """Rows from ``top`` up to ``end`` that go up by ``distance``, or down if it is negative."""

    top: int
    end: int
    distance: int


def _find_move(old: _KnownRows, new: tuple[PaintRow, ...], top: int, end: int) -> _Move | None:
    """Return how most of the rows moved that stand between two others, if some did."""
    # What stood there more than once votes for many distances, and so for none.
    places = {row: at for at in range(top, end) if (row := old[at])}
    distances = Counter(places[row] - at for at in range(top, end) if (row := new[at]) in places)
    del distances[0]
    if not distances:
        return None
    distance, count = distances.most_common(1)[0]
    return _Move(top, end, distance) if count >= MOVED_ROWS_MIN else None


def _after(move: _Move, rows: _KnownRows) -> _KnownRows:
    """Return what is shown then; of rows that come in new, terminals have various ideas."""
    top, end, distance = move
    new = (None,) * abs(distance)
    if distance > 0:
        return (*rows[:top], *rows[top + distance : end], *new, *rows[end:])
    return (*rows[:top], *new, *rows[top : end + distance], *rows[end:])


def _length(pieces: list[bytes]) -> int:
    return sum(map(len, pieces))


def _is_visible(cursor: Cursor | None) -> bool:
    return cursor is not None and cursor.is_visible
