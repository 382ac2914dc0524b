"""The cells of a screen, on pyte's: what that lacks for a terminal of today.

Spec: docs/spec/host/emulation.md. pyte moves the cursor, inserts, deletes and knows margins, tab stops and
character sets. Here are clusters instead of characters, wrapped rows, what scrolls off, the alternate
screen, whole looks, and lines that are broken anew by a resize.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from pyte import charsets, modes
from pyte.screens import Cursor, Screen

from blockwire.host.emulator import PLAIN_LOOK, Look
from blockwire.text import clusters, width

__all__ = ["Line", "ProgramScreen", "StoredCell"]

# Its cells and lines have types of their own, for which ours stand in.
_PyteScreen: Any = Screen
_PyteCursor: Any = Cursor

PRIVATE: Final = 5
"""pyte keeps a private mode as its number shifted by so many bits."""


class StoredCell(NamedTuple):
    """A cell; ``data`` is empty in the second half of a wide character."""

    data: str = " "
    look: Look = PLAIN_LOOK


BLANK: Final = StoredCell()


class Line(dict[int, StoredCell]):
    """The cells of a row by column; those that are missing are blank."""

    __slots__ = ("is_wrapped",)

    def __init__(self) -> None:
        super().__init__()
        self.is_wrapped = False

    def __missing__(self, column: int) -> StoredCell:
        return BLANK

    def written(self, columns: int) -> int:
        """Return how many columns there is something in; all of them if the line goes on."""
        if self.is_wrapped:
            # Where a wide character did not fit, the last column is none of the line's.
            return columns if columns - 1 in self else columns - 1
        return min(max(self, default=-1) + 1, columns)

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to be seen."""
        return all(cell == BLANK for cell in self.values())


class _Saved(NamedTuple):
    column: int
    row: int
    pen: StoredCell
    g0: str
    g1: str
    charset: int
    is_origin: bool


class ProgramScreen(_PyteScreen):  # type: ignore[misc] # as said there
    """A screen of so many columns and lines.

    Attributes:
        scrolled: Lines that left the primary screen at its top, until somebody takes them.
    """

    buffer: defaultdict[int, Line]
    columns: int
    lines: int
    dirty: set[int]
    mode: set[int]
    tabstops: set[int]
    margins: tuple[int, int] | None
    cursor: Any

    def __init__(self, columns: int, lines: int) -> None:
        self.scrolled: list[Line] = []
        self._primary: defaultdict[int, Line] | None = None
        self._saved: _Saved | None = None
        self._last = ""
        super().__init__(columns, lines)
        self.reset()

    @property
    def default_char(self) -> StoredCell:
        """A blank in no look."""
        return BLANK

    @property
    def is_alternate(self) -> bool:
        """Whether the alternate screen is shown."""
        return self._primary is not None

    @property
    def primary(self) -> defaultdict[int, Line]:
        """The lines of the primary screen."""
        return self.buffer if self._primary is None else self._primary

    def reset(self) -> None:
        """Begin anew; what scrolled off stays."""
        self._primary = None
        self._saved = None
        self._last = ""
        super().reset()
        self.buffer = defaultdict(Line)
        self.cursor = _PyteCursor(0, 0, BLANK)
        self.dirty.update(range(self.lines))

    def has_mode(self, number: int) -> bool:
        """Whether a private mode is on."""
        return number << PRIVATE in self.mode

    def switch_mode(self, number: int, *, is_private: bool, is_on: bool) -> None:
        """Switch a mode, save for what it does to the screen at once."""
        key = number << PRIVATE if is_private else number
        (self.mode.add if is_on else self.mode.discard)(key)

    # --- text

    def draw(self, data: str) -> None:
        """Write text, without controls, at the cursor."""
        table = self.g1_charset if self.charset else self.g0_charset
        if table != charsets.LAT1_MAP:
            data = data.translate(table)
        for cluster in clusters(data):
            if cluster.isascii() or not self._join(cluster):
                self._put(cluster, width(cluster))

    def repeat(self, count: int) -> None:
        """Write the last character again (REP)."""
        for _ in range(min(count, self.columns * self.lines)):
            self._put(self._last, width(self._last))

    def _join(self, cluster: str) -> bool:
        """Add ``cluster`` to the character before the cursor, if they are one."""
        line = self.buffer[self.cursor.y]
        column = self.cursor.x - 1
        if column > 0 and line[column].data == "":
            column -= 1
        if column < 0 or column not in line:
            return False
        joined = line[column].data + cluster
        if next(iter(clusters(joined))) != joined:
            return False
        pen = self.cursor.attrs
        self.cursor.attrs = line[column]
        self.cursor.x = column
        self._put(joined, width(joined))
        self.cursor.attrs = pen
        return True

    def _put(self, cluster: str, cells: int) -> None:
        if not cells:
            return
        if cells > self.columns:
            cluster, cells = "?", 1
        self._last = cluster
        if self.cursor.x + cells > self.columns:
            if self.has_mode(7):
                self.buffer[self.cursor.y].is_wrapped = True
                self.dirty.add(self.cursor.y)
                self.carriage_return()
                self.index()
            else:
                self.cursor.x = self.columns - cells
        if modes.IRM in self.mode:
            self.insert_characters(cells)
        column, row = self.cursor.x, self.cursor.y
        line = self.buffer[row]
        pen = self.cursor.attrs
        self._break_wide(line, column)
        self._break_wide(line, column + cells)
        line[column] = pen._replace(data=cluster)
        if cells > 1:
            line[column + 1] = pen._replace(data="")
        self.cursor.x = column + cells
        self.dirty.add(row)

    @staticmethod
    def _break_wide(line: Line, column: int) -> None:
        """Blank a wide character that would lose the half at ``column``, or the one before it."""
        if column in line and line[column].data == "":
            line[column] = line[column]._replace(data=" ")
            line[column - 1] = line[column - 1]._replace(data=" ")

    # --- scrolling

    def index(self) -> None:
        """Move down, scrolling at the bottom of the region."""
        top, bottom = self.margins or (0, self.lines - 1)
        scrolls = self.cursor.y == bottom
        if scrolls and top == 0 and not self.is_alternate:
            self.scrolled.append(self.buffer.get(0, Line()))
        super().index()
        if scrolls and self.cursor.attrs.look.background:
            self.erase(bottom, 0, self.columns)

    def scroll_up(self, count: int) -> None:
        """Scroll the region (SU); the cursor stays."""
        row = self.cursor.y
        _, bottom = self.margins or (0, self.lines - 1)
        for _ in range(min(count, self.lines)):
            self.cursor.y = bottom
            self.index()
        self.cursor.y = row

    def scroll_down(self, count: int) -> None:
        """Scroll the region back (SD); the cursor stays."""
        row = self.cursor.y
        top, _ = self.margins or (0, self.lines - 1)
        for _ in range(min(count, self.lines)):
            self.cursor.y = top
            self.reverse_index()
        self.cursor.y = row

    def next_line(self) -> None:
        """Begin the next row (NEL)."""
        self.carriage_return()
        self.index()

    def tab_forward(self, count: int) -> None:
        """Go to a tab stop further on (CHT)."""
        for _ in range(min(count, self.columns)):
            self.tab()

    def tab_back(self, count: int) -> None:
        """Go to a tab stop before (CBT)."""
        for _ in range(min(count, self.columns)):
            stops = [it for it in self.tabstops if it < self.cursor.x]
            self.cursor.x = max(stops, default=0)

    # --- erasing

    def erase(self, row: int, start: int, end: int) -> None:
        """Blank some columns of a row, in the background of the pen."""
        line = self.buffer[row]
        blank = StoredCell(" ", Look(background=self.cursor.attrs.look.background))
        self._break_wide(line, start)
        self._break_wide(line, end)
        for column in range(start, min(end, self.columns)):
            line[column] = blank
        if end >= self.columns:
            line.is_wrapped = False
        self.dirty.add(row)

    def erase_characters(self, count: int | None = None) -> None:
        """Blank so many characters from the cursor on (ECH)."""
        column = min(self.cursor.x, self.columns - 1)
        self.erase(self.cursor.y, column, min(column + (count or 1), self.columns))

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:  # noqa: FBT001, FBT002, ARG002 - pyte's
        """Blank to the end (0), from the start (1), or all (2) of the line (EL)."""
        column = min(self.cursor.x, self.columns - 1)
        start = column if how == 0 else 0
        self.erase(self.cursor.y, start, column + 1 if how == 1 else self.columns)

    def erase_in_display(self, how: int = 0, *args: Any, **kwargs: Any) -> None:
        """Blank the rows below (0), above (1), or all (2) of the screen (ED)."""
        del args, kwargs
        rows = {
            0: range(self.cursor.y + 1, self.lines),
            1: range(self.cursor.y),
            2: range(self.lines),
        }
        for row in rows.get(how, ()):
            self.erase(row, 0, self.columns)
        if how < 2:
            self.erase_in_line(how)

    # --- cursor and screens

    def save_cursor(self) -> None:
        """Remember the cursor (DECSC)."""
        cursor = self.cursor
        self._saved = _Saved(
            cursor.x, cursor.y, cursor.attrs, self.g0_charset, self.g1_charset, self.charset,
            self.has_mode(6),
        )  # fmt: skip

    def restore_cursor(self) -> None:
        """Go back to the cursor that was remembered (DECRC)."""
        saved = self._saved
        if saved is None:
            saved = _Saved(0, 0, BLANK, charsets.LAT1_MAP, charsets.VT100_MAP, 0, is_origin=False)
        self.switch_mode(6, is_private=True, is_on=saved.is_origin)
        self.g0_charset, self.g1_charset, self.charset = saved.g0, saved.g1, saved.charset
        self.cursor.x, self.cursor.y, self.cursor.attrs = saved.column, saved.row, saved.pen
        self.cursor.x = min(self.cursor.x, self.columns)
        self.cursor.y = min(self.cursor.y, self.lines - 1)

    def show_alternate(self) -> None:
        """Show the alternate screen, which is blank."""
        if self._primary is None:
            self._primary = self.buffer
        self.buffer = defaultdict(Line)
        self.dirty.update(range(self.lines))

    def show_primary(self) -> None:
        """Show the primary screen, as it was."""
        if self._primary is not None:
            self.buffer = self._primary
            self._primary = None
            self.dirty.update(range(self.lines))

    # --- size

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        """Take another size: lines of the primary screen are broken anew, others cut."""
        assert lines is not None, "our own call names both"
        assert columns is not None, "our own call names both"
        alternate = self.buffer if self.is_alternate else None
        # While the alternate screen is shown, the cursor of the primary one is the saved one.
        saved = self._saved
        row, column = self.cursor.y, self.cursor.x
        if alternate is not None:
            row, column = (saved.row, saved.column) if saved is not None else (0, 0)
        rows, (row, column) = _reflow(self.primary, row, column, self.columns, columns)
        excess = max(0, len(rows) - lines)
        self.scrolled += rows[:excess]
        kept = defaultdict(Line, enumerate(rows[excess:]))
        row = min(max(0, row - excess), lines - 1)
        self.columns, self.lines, self.margins = columns, lines, None
        self.tabstops = set(range(8, columns, 8))
        if alternate is None:
            self.buffer = kept
            self.cursor.y, self.cursor.x = row, column
        else:
            self._primary = kept
            if saved is not None:
                self._saved = saved._replace(row=row, column=column)
            for line in alternate.values():
                for at in [it for it in line if it >= columns]:
                    del line[at]
            for at in [it for it in alternate if it >= lines]:
                del alternate[at]
            self.cursor.y = min(self.cursor.y, lines - 1)
        self.cursor.x = min(self.cursor.x, columns - 1)
        self.dirty = set(range(lines))


def _reflow(
    buffer: dict[int, Line], row: int, column: int, old: int, columns: int
) -> tuple[list[Line], tuple[int, int]]:
    """Return the rows of ``buffer`` in other columns, and where the cursor is in them."""
    used = max([row, *[at for at, line in buffer.items() if not line.is_blank]]) + 1
    rows: list[Line] = []
    cursor = (0, 0)
    out, at = Line(), 0
    for index in range(used):
        line = buffer.get(index, Line())
        end = 0
        for source, cell in _cells(line, old):
            cells = 2 if width(cell.data) == 2 and columns > 1 else 1
            if at + cells > columns:
                out.is_wrapped = True
                rows.append(out)
                out, at = Line(), 0
            if index == row and source <= column:
                cursor = (len(rows), at)
            out[at] = cell
            if cells > 1:
                out[at + 1] = cell._replace(data="")
            at += cells
            end = source + cells
        if index == row and column >= end:
            cursor = (len(rows), min(at + column - end, columns - 1))
        if not line.is_wrapped or index == used - 1:
            rows.append(out)
            out, at = Line(), 0
    return rows, cursor


def _cells(line: Line, columns: int) -> Iterator[tuple[int, StoredCell]]:
    """Yield what is in a row by column, without blanks at its end and second halves."""
    end = line.written(columns)
    while not line.is_wrapped and end and line[end - 1] == BLANK:
        end -= 1
    for at in range(end):
        if line[at].data:
            yield at, line[at]
