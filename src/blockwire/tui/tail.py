"""The rows at the end of the output that change: drawn, changed and taken back, as bytes.

Spec: docs/spec/chat/fallback.md.

Above them everything is printed once and left to the terminal's own scrollback. Only rows whose
place is known are ever touched: there is no scroll region, no SU, and no ED at all (some
terminals save the screen when ED clears all of it).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from blockwire.render import Row, Span, TerminalLook, encode_row, row_width
from blockwire.text import clusters, width
from blockwire.tui.reflow import Spot, rows_above

__all__ = ["ASK_PLACE", "LiveTail", "cut_row", "wrap_row"]

ASK_PLACE: Final = b"\x1b[6n"
"""Where is the cursor? The answer is a CPR."""

_SYNC_BEGIN: Final = "\x1b[?2026h"
_SYNC_END: Final = "\x1b[?2026l"
_HIDE: Final = "\x1b[?25l"
_SHOW: Final = "\x1b[?25h"
_WRAP_OFF: Final = "\x1b[?7l"
_WRAP_ON: Final = "\x1b[?7h"
_ERASE_ROW: Final = "\x1b[K"
_SAVE: Final = "\x1b7"
_RESTORE: Final = "\x1b8"
_PLAIN_STYLE: Final = "\x1b[0m"
_ANYWHERE: Final = -1
"""The column behind a text, whose width the terminal may see otherwise."""


class _Drawn(NamedTuple):
    """What stands on the screen: rows from the top one on, and where the cursor is in them."""

    rows: tuple[str, ...]
    widths: tuple[str, ...]  # the text of each row, without its styles
    cursor: Spot


_NOTHING: Final = _Drawn((), (), Spot(0, 0))


def cut_row(row: Row, look: TerminalLook) -> Row:
    """Return as much of ``row`` as one row of the screen takes, in whole clusters."""
    return row if row_width(row, look) <= look.columns else wrap_row(row, look)[0]


def wrap_row(row: Row, look: TerminalLook) -> list[Row]:
    """Return ``row`` as a terminal would break it: anywhere between two clusters."""
    parts: list[list[Span]] = [[]]
    used_cells = 0
    for span in row.spans:
        piece = ""
        for cluster in clusters(span.text):
            cells = width(cluster, ambiguous_width=look.ambiguous_width)
            if cells and used_cells + cells > look.columns and used_cells:
                parts[-1].append(Span(piece, span.style))
                parts.append([])
                piece, used_cells = "", 0
            piece += cluster
            used_cells += cells
        parts[-1].append(Span(piece, span.style))
    return [Row(tuple(span for span in part if span.text)) for part in parts]


class LiveTail:
    """The changing end of what a program has written to a terminal.

    Args:
        look: Of the terminal.
        rows: Of its window; at least 1.
        reflows: Whether it breaks rows anew when its width changes; None where nobody knows.
    """

    def __init__(self, look: TerminalLook, rows: int, *, reflows: bool | None = None) -> None:
        self.look = look
        self.rows = max(rows, 1)
        self.reflows = reflows
        self._drawn = _NOTHING
        self._is_cursor_shown = True
        self._is_fresh = True
        self._questions = 0
        self._columns_min = look.columns  # of all since the rows were drawn
        self._is_lost = False
        self._is_cut = False  # what is drawn was cut by a window narrower than was known

    @property
    def height(self) -> int:
        """How many rows are drawn."""
        return len(self._drawn.rows)

    @property
    def rows_max(self) -> int:
        """How many rows may be drawn: one of the window is left to what is above."""
        return max(self.rows - 1, 1)

    @property
    def is_located(self) -> bool:
        """Whether it is known where the rows stand; :meth:`paint` may only be called then."""
        return not self._is_lost

    # painting -----------------------------------------------------------------------------
    def paint(
        self, finished: Iterable[Row], live: Sequence[Row], cursor: Spot | None = None
    ) -> bytes:
        """Return what prints ``finished`` above, and makes the changing rows ``live``.

        Args:
            finished: Printed once and for good; a soft row may be longer than the screen.
            live: Each is cut to the width; of more than :attr:`rows_max` the last are shown.
            cursor: Where it stands in ``live``; None hides it, at the end.
        """
        assert not self._is_lost, "nobody knows where the rows stand"
        dropped = max(len(live) - self.rows_max, 0)
        shown = [cut_row(row, self.look) for row in live[dropped:]]
        texts = tuple("".join(span.text for span in row.spans) for row in shown)
        encoded = tuple(encode_row(row, self.look) for row in shown)
        spot = Spot(max(len(shown) - 1, 0), 0)
        is_shown = not live
        if cursor is not None and cursor.row >= dropped:
            spot = Spot(cursor.row - dropped, min(cursor.column, self.look.columns - 1))
            is_shown = True
        printed = [encode_row(row, self.look) for row in finished]
        new = _Drawn(encoded, texts, spot)
        body, changes = self._reprint(printed, new) if printed else self._patch(new)
        self._drawn = new
        self._is_cut = False
        return self._framed(body, changes, is_shown=is_shown)

    def _framed(self, body: str, changes: int, *, is_shown: bool) -> bytes:
        was_shown, self._is_cursor_shown = self._is_cursor_shown, is_shown
        if not changes:
            visibility = "" if was_shown == is_shown else _SHOW if is_shown else _HIDE
            return self.look.charset.encode(body + visibility)
        start = _PLAIN_STYLE if self._is_fresh else ""
        self._is_fresh = False
        before = _HIDE if was_shown else ""
        after = _SHOW if is_shown else ""
        framed = f"{before}{_WRAP_OFF}{start}{body}{_WRAP_ON}{after}"
        whole = f"{_SYNC_BEGIN}{framed}{_SYNC_END}" if changes > 1 else framed
        return self.look.charset.encode(whole)

    def _reprint(self, printed: Sequence[str], new: _Drawn) -> tuple[str, int]:
        """Erase what is drawn, print above it, and draw the new rows."""
        parts = [self._erased()]
        # What is printed may be longer than the screen, and wraps.
        parts += [_WRAP_ON, *(f"{text}\r\n" for text in printed), _WRAP_OFF]
        parts.append("\r\n".join(new.rows))
        if new.rows:
            parts.append(_moved(Spot(len(new.rows) - 1, _ANYWHERE), new.cursor))
        return "".join(parts), len(printed) + 1

    def _erased(self) -> str:
        """Return what erases the drawn rows and leaves the cursor at the beginning of the first."""
        count = len(self._drawn.rows)
        if not count:
            return "\r"
        top = _moved(self._drawn.cursor, Spot(0, 0))
        back = _up(count - 1)
        return top + "\n".join([_ERASE_ROW] * count) + back

    def _patch(self, new: _Drawn) -> tuple[str, int]:
        """Write the rows that are other ones, and no more."""
        old = self._drawn
        # The first row of all begins where somebody else has left the cursor.
        parts = [] if old.rows else ["\r"]
        at = old.cursor
        changes = 0
        for index, text in enumerate(new.rows):
            if index < len(old.rows) and old.rows[index] == text:
                continue
            changes += 1
            if index < len(old.rows) or index == 0:
                parts.append(_moved(at, Spot(index, 0)))
            else:
                # A new row: only a line feed scrolls.
                parts.append(_moved(at, Spot(index - 1, 0)) + "\r\n")
            # Before the text: behind a full row it would erase the last cell.
            parts.append(_ERASE_ROW + text)
            at = Spot(index, _ANYWHERE)
        for index in range(len(new.rows), len(old.rows)):
            changes += 1
            parts.append(_moved(at, Spot(index, 0)) + _ERASE_ROW)
            at = Spot(index, 0)
        if at != new.cursor:
            parts.append(_moved(at, new.cursor))
        return "".join(parts), changes

    # among frames -------------------------------------------------------------------------
    def park(self) -> bytes:
        """Return what puts the cursor to the beginning of the top row, for :meth:`unpark`."""
        return _moved(self._drawn.cursor, Spot(0, 0)).encode()

    def unpark(self) -> bytes:
        """Return what brings it back."""
        return _moved(Spot(0, 0), self._drawn.cursor).encode()

    # sizes --------------------------------------------------------------------------------
    def resize(self, look: TerminalLook, rows: int, *, is_drawn: bool = False) -> bytes:
        """Take a new size; return a question whose answer goes to :meth:`locate`.

        Until then nothing may be painted. Without rows on the screen there is no question.

        Args:
            look: With the new width.
            rows: Of the window; at least 1.
            is_drawn: The window had this size already when the rows were drawn, so that none of
                them was broken anew.
        """
        self._is_cut |= is_drawn
        self.look = look
        self.rows = max(rows, 1)
        self._columns_min = min(self._columns_min, look.columns)
        if not self._drawn.rows:
            return b""
        self._is_lost = True
        self._questions += 1
        return ASK_PLACE

    def locate(self, column: int | None) -> bytes:
        """Return what erases the rows of the former size; nothing as long as answers are missing.

        Args:
            column: Of the cursor, from 0, as the terminal answered; None if it did not in time.
        """
        self._questions = max(self._questions - 1, 0) if column is not None else 0
        if self._questions or not self._is_lost:
            return b""
        drawn, self._drawn = self._drawn, _NOTHING
        self._is_lost = False
        flat = Spot(drawn.cursor.row, min(drawn.cursor.column, self._columns_min - 1))
        flowed = rows_above(drawn.widths, drawn.cursor, self.look)
        if column is not None and flat.column != flowed.column and not self._is_cut:
            # Only one kind of terminal leaves the cursor there.
            if column == flowed.column:
                self.reflows = True
            elif column == flat.column:
                self.reflows = False
        self._columns_min = self.look.columns
        # Final rows stand above: where it is not known better, none of them may be erased.
        above = flowed.row if self.reflows and not self._is_cut else flat.row
        sweep = "\x1b[B".join([_ERASE_ROW] * self.rows)
        body = f"\r{_up(above)}{_SAVE}{sweep}{_RESTORE}"
        was_shown, self._is_cursor_shown = self._is_cursor_shown, False
        hide = _HIDE if was_shown else ""
        return f"{_SYNC_BEGIN}{hide}{body}{_SYNC_END}".encode()

    def forget(self) -> None:
        """Leave what is drawn where it is: somebody else has written meanwhile."""
        self._drawn = _NOTHING
        self._is_lost = self._is_cut = False
        self._questions = 0
        self._is_fresh = True
        self._is_cursor_shown = True
        self._columns_min = self.look.columns


def _up(count: int) -> str:
    return f"\x1b[{count}A" if count > 0 else ""


def _moved(start: Spot, end: Spot) -> str:
    rows = end.row - start.row
    # Down by LF: a window that has become lower, of which nobody has told us yet, has dropped rows
    # below the cursor. LF makes them again; CUD would stop short, and the way up end too high.
    vertical = _up(-rows) if rows <= 0 else "\n" * rows
    if rows <= 0 and start.column == end.column:
        return vertical
    # A terminal device makes CR LF of it.
    return vertical + ("\r" if end.column == 0 else f"\x1b[{end.column + 1}G")
