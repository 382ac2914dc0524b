"""Everything that is to be seen, put together to a frame.

Spec: docs/spec/host/drawing.md, "Frames". A function from values to a value; it decides nothing that
keys or the mouse could ask for.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from msgspec import UnsetType

from blockwire.host.compositor_spans import cells_of, fit, mark
from blockwire.host.emulator import PLAIN_LOOK, Cursor, LiveRow, LiveSpan, Look
from blockwire.host.help import Help, help_rows
from blockwire.host.painter import Frame
from blockwire.host.painter_rows import PaintRow
from blockwire.host.sgr import LOOKS_KEPT
from blockwire.host.statusline import StatusLine, hint_spans, status_row
from blockwire.host.theme import DARK, Theme
from blockwire.screen import LIVE_SEGMENT_ID, Position, Range, View, ViewRow
from blockwire.terminal import Style
from blockwire.text import AmbiguousWidth

Matches: TypeAlias = Callable[[int], Sequence[Range]]
"""The matches in a segment, in order: :meth:`blockwire.screen.Search.matches_in`."""


def no_matches(segment_id: int) -> Sequence[Range]:
    """Return nothing: there is no search."""
    del segment_id
    return ()


class Rectangle(NamedTuple):
    """Cells of the viewport, whatever stands in them: a selection by blocks.

    Attributes:
        top: Its first row.
        left: Its first column.
        bottom: The row behind its last.
        right: The column behind its last.
    """

    top: int
    left: int
    bottom: int
    right: int


class Picture(NamedTuple):
    """What is to be seen.

    Attributes:
        columns: Of the window.
        rows: Of the window.
        view: The rows of the viewport, from the top of the window. Rows of the live tail are drawn
            as ``live`` has them. With a status line, what would stand in its row is not seen.
        live: The rows of the program's screen.
        cursor: The program's, in its screen; None hides it.
        theme: How to draw what is not the program's.
        ambiguous_width: As of the painter.
        selection: What is selected.
        rectangle: What is selected by blocks.
        matches: What a search found.
        current_match: The one of them that it is at.
        copy_cursor: The cursor of the copy mode: row and column of the viewport.
        status: What the status line says; None if there is none.
        notice: What is said for a moment, instead of the state.
        has_unseen: Whether to say that there is new text below.
        help: What is shown instead of the viewport.
    """

    columns: int
    rows: int
    view: View
    live: tuple[LiveRow, ...] = ()
    cursor: Cursor | None = None
    theme: Theme = DARK
    ambiguous_width: AmbiguousWidth = 1
    selection: Range | None = None
    rectangle: Rectangle | None = None
    matches: Matches = no_matches
    current_match: Range | None = None
    copy_cursor: tuple[int, int] | None = None
    status: StatusLine | None = None
    notice: str | None = None
    has_unseen: bool = False
    help: Help | None = None


def compose(picture: Picture) -> Frame:
    """Return the frame that shows ``picture``."""
    has_status = picture.status is not None and picture.rows > 1
    height = picture.rows - has_status
    if picture.help is None:
        body, cursor = _body(picture, height), _cursor(picture, height)
    else:
        body, cursor = _help(picture, height), None
    if picture.status is None or not has_status:
        return Frame(_with_note(picture, body), cursor)
    line = status_row(
        picture.status,
        picture.columns,
        picture.theme,
        notice=picture.notice,
        has_unseen=picture.has_unseen,
        ambiguous_width=picture.ambiguous_width,
    )
    if line.cursor_column is not None:
        cursor = Cursor(line.cursor_column, height)
    return Frame((*body, line.spans), cursor)


def _help(picture: Picture, height: int) -> tuple[PaintRow, ...]:
    assert picture.help is not None, "whoever asks has seen that there is one"
    return help_rows(
        picture.help,
        picture.columns,
        height,
        picture.theme,
        ambiguous_width=picture.ambiguous_width,
    )


def _body(picture: Picture, height: int) -> tuple[PaintRow, ...]:
    view = picture.view[:height]
    rows = [() if row is None else _spans(picture, row) for row in view]
    rows += [()] * (height - len(rows))
    marks = _Marks(picture)
    if marks.has_any:
        for number, row in enumerate(view):
            if row is not None:
                rows[number] = marks.lay_over(row, rows[number])
    if picture.rectangle is not None:
        _mark_rectangle(picture, picture.rectangle, rows)
    return tuple(rows)


def _spans(picture: Picture, row: ViewRow) -> PaintRow:
    segment_id, number = row.place
    # A live row that is gone already is drawn as the history has it.
    if segment_id == LIVE_SEGMENT_ID and number < len(picture.live):
        return picture.live[number].spans
    return tuple([LiveSpan(span.text, _look(span.style)) for span in row.row.spans])


@lru_cache(LOOKS_KEPT)
def _look(style: Style | UnsetType) -> Look:
    if not style:
        return PLAIN_LOOK
    return Look(
        style.foreground or None,
        style.background or None,
        tuple(sorted(style.attributes or ())),
        style.link or None,
    )


class _Marks:
    """What is marked in the text: matches, then the current one, then the selection over them."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self._matches: dict[int, Sequence[Range]] = {}
        self.has_any = (
            picture.matches is not no_matches
            or picture.current_match is not None
            or picture.selection is not None
        )

    def lay_over(self, row: ViewRow, spans: PaintRow) -> PaintRow:
        """Return the spans of a row with everything marked that is in it."""
        picture = self._picture
        theme = picture.theme
        ranges: list[tuple[Range | None, Look]] = [
            (found, theme.match) for found in self._matches_in(row)
        ]
        ranges.append((picture.current_match, theme.current_match))
        ranges.append((picture.selection, theme.selection))
        for chosen, look in ranges:
            if chosen is not None:
                start, end = row.columns_of(chosen, picture.columns)
                if start < end:
                    spans = mark(spans, start, end, look, picture.ambiguous_width)
        return spans

    def _matches_in(self, row: ViewRow) -> Sequence[Range]:
        segment_id = row.place.segment_id
        matches = self._matches.get(segment_id)
        if matches is None:
            matches = self._matches[segment_id] = self._picture.matches(segment_id)
        if not matches:
            return ()
        first = bisect_right(matches, row.position(row.row.start), key=_end)
        last = bisect_left(matches, row.position(row.row.end), key=_start)
        return matches[first:last]


def _start(chosen: Range) -> Position:
    return chosen.start


def _end(chosen: Range) -> Position:
    return chosen.end


def _mark_rectangle(picture: Picture, rectangle: Rectangle, rows: list[PaintRow]) -> None:
    top, left, bottom, right = rectangle
    for number in range(max(top, 0), min(bottom, len(rows))):
        cells = max(right, cells_of(rows[number], picture.ambiguous_width))
        wide = fit(rows[number], cells, picture.ambiguous_width)
        look = picture.theme.selection
        rows[number] = mark(wide, left, right, look, picture.ambiguous_width)


def _with_note(picture: Picture, body: tuple[PaintRow, ...]) -> tuple[PaintRow, ...]:
    """Return the rows with what a status line would say for a moment over the end of the last."""
    note: PaintRow = ()
    if picture.notice is not None:
        note = (LiveSpan(f" {picture.notice} ", picture.theme.notice),)
    elif picture.has_unseen:
        note = hint_spans(picture.theme, picture.columns, picture.ambiguous_width)
    cells = picture.columns - cells_of(note, picture.ambiguous_width)
    if not note or cells < 0:
        return body
    return (*body[:-1], (*fit(body[-1], cells, picture.ambiguous_width), *note))


def _cursor(picture: Picture, height: int) -> Cursor | None:
    if picture.copy_cursor is not None:
        at_row, column = picture.copy_cursor
        return _within(picture, height, Cursor(column, at_row))
    if picture.cursor is None:
        return None
    for number, row in enumerate(picture.view):
        if row is not None and row.place.segment_id == LIVE_SEGMENT_ID:
            # The live rows that are seen follow one another.
            shown_at = number - row.place.row + picture.cursor.row
            return _within(picture, height, picture.cursor._replace(row=shown_at))
    return None


def _within(picture: Picture, height: int, cursor: Cursor) -> Cursor | None:
    if not 0 <= cursor.row < height:
        return None
    return cursor._replace(column=min(max(cursor.column, 0), picture.columns - 1))
