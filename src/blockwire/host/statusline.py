"""The row at the bottom: what the host is doing, and which keys do something now.

Spec: docs/spec/host/drawing.md, "Status line".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from blockwire.host.compositor_spans import cells_of, fit
from blockwire.host.emulator import LiveSpan
from blockwire.host.painter_rows import PaintRow
from blockwire.host.theme import Theme
from blockwire.text import AmbiguousWidth, clusters, cut, label_controls, width

UNSEEN_HINT: Final = "\u25bc new output below"
"""What says that there is text below what is read."""

_EDGE: Final = " "
_GAP: Final = "  "
_CUT_MARK: Final = "\u2026"


class KeyHint(NamedTuple):
    """A key and what it does now, each in a word or two."""

    key: str
    does: str


class Prompt(NamedTuple):
    """A line that is typed into the status line.

    Attributes:
        label: Before it, such as ``/``.
        text: What is typed.
        cursor: Scalars of it before the cursor.
    """

    label: str
    text: str
    cursor: int


class StatusLine(NamedTuple):
    """What the status line says.

    Attributes:
        state: On the left: what is going on, such as ``reading: 12 rows below``.
        keys: On the right, the most useful first; what has no room is left out.
        prompt: Instead of the state, if something is typed.
    """

    state: str = ""
    keys: tuple[KeyHint, ...] = ()
    prompt: Prompt | None = None


class StatusRow(NamedTuple):
    """The status line as it is drawn.

    Attributes:
        spans: As wide as the window.
        cursor_column: Where something is typed; None if nothing is.
    """

    spans: PaintRow
    cursor_column: int | None


def status_row(  # noqa: PLR0913 - options, all but what is drawn by name
    status: StatusLine,
    columns: int,
    theme: Theme,
    *,
    notice: str | None = None,
    has_unseen: bool = False,
    ambiguous_width: AmbiguousWidth = 1,
) -> StatusRow:
    """Return the status line as wide as the window.

    What is typed has all the room that it needs; then come the hint, the keys in half of what is
    left, or more if the state leaves it, and the state, which is cut.

    Args:
        status: What it says.
        columns: Of the window.
        theme: Its looks.
        notice: Said instead of the state.
        has_unseen: Whether to say that there is new text below.
        ambiguous_width: As of the painter.
    """
    line = _Line(columns, theme, ambiguous_width)
    hint = hint_spans(theme, columns, ambiguous_width) if has_unseen else ()
    if status.prompt is not None:
        return line.with_prompt(status.prompt, hint)
    look = theme.status if notice is None else theme.notice
    text = status.state if notice is None else notice
    return line.with_state(LiveSpan(_EDGE + _labelled(text), look), status.keys, hint)


def hint_spans(theme: Theme, columns: int, ambiguous_width: AmbiguousWidth) -> PaintRow:
    """Return what says that there is new text below, as short as the window wants it."""
    for text, parts in ((UNSEEN_HINT, 2), (UNSEEN_HINT[0], 1)):
        hint = (LiveSpan(f"{_EDGE}{text}{_EDGE}", theme.hint),)
        if parts * cells_of(hint, ambiguous_width) < columns:
            return hint
    return ()


class _Line:
    def __init__(self, columns: int, theme: Theme, ambiguous_width: AmbiguousWidth) -> None:
        self._columns = columns
        self._theme = theme
        self._ambiguous_width: AmbiguousWidth = ambiguous_width

    def with_state(self, state: LiveSpan, keys: tuple[KeyHint, ...], hint: PaintRow) -> StatusRow:
        room_cells = self._columns - self._cells(hint)
        state_cells = self._cells((state,))
        shown_keys = self._keys(keys, max(room_cells - state_cells, room_cells // 2))
        left_cells = room_cells - self._cells(shown_keys)
        if state_cells > left_cells:
            mark_cells = width(_CUT_MARK, ambiguous_width=self._ambiguous_width)
            kept = cut(state.text, left_cells - mark_cells, ambiguous_width=self._ambiguous_width)
            state = state._replace(text=kept + _CUT_MARK)
        left = self._fit((state,), left_cells)
        return StatusRow(self._fit((*left, *shown_keys, *hint), self._columns), None)

    def with_prompt(self, prompt: Prompt, hint: PaintRow) -> StatusRow:
        look = self._theme.prompt
        label = _EDGE + _labelled(prompt.label)
        before, after = (
            _labelled(part) for part in (prompt.text[: prompt.cursor], prompt.text[prompt.cursor :])
        )
        # One more for a cursor at the end.
        needed_cells = self._cells((LiveSpan(label + before + after, look),)) + 1
        if needed_cells + self._cells(hint) > self._columns:
            hint = ()
        room_cells = self._columns - self._cells(hint)
        label = cut(label, room_cells - 1, ambiguous_width=self._ambiguous_width)
        label_cells = width(label, ambiguous_width=self._ambiguous_width)
        before = self._end_of(before, room_cells - label_cells - 1)
        column = label_cells + width(before, ambiguous_width=self._ambiguous_width)
        left = self._fit((LiveSpan(label + before + after, look),), room_cells)
        return StatusRow(self._fit((*left, *hint), self._columns), column)

    def _keys(self, keys: tuple[KeyHint, ...], cells: int) -> PaintRow:
        """Return as many keys as fit, the first ones first."""
        shown: list[LiveSpan] = []
        for key, does in keys:
            added = (
                LiveSpan(_GAP, self._theme.status),
                LiveSpan(_labelled(key), self._theme.status_key),
                LiveSpan(" " * bool(key) + _labelled(does), self._theme.status),
            )
            # With the blank at the edge.
            if self._cells((*shown, *added)) + 1 > cells:
                break
            shown += added
        return (*shown, LiveSpan(_EDGE, self._theme.status)) if shown else ()

    def _end_of(self, text: str, cells: int) -> str:
        """Return the end of a text that fits, in whole clusters."""
        excess_cells = width(text, ambiguous_width=self._ambiguous_width) - cells
        for cluster in clusters(text):
            if excess_cells <= 0:
                break
            excess_cells -= width(cluster, ambiguous_width=self._ambiguous_width)
            text = text[len(cluster) :]
        return text

    def _fit(self, spans: PaintRow, cells: int) -> PaintRow:
        return fit(spans, cells, self._ambiguous_width, self._theme.status)

    def _cells(self, spans: Iterable[LiveSpan]) -> int:
        return cells_of(spans, self._ambiguous_width)


def _labelled(text: str) -> str:
    return label_controls(text, breaks="label", tabs="label")
