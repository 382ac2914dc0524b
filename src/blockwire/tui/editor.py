"""The input: a draft, what undoes it, what was cut from it, and its way through the history.

Spec: docs/spec/chat/input.md. Knows no command and no conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from blockwire.text import AmbiguousWidth
from blockwire.tty.inputevents import Key
from blockwire.tui.draft import (
    EMPTY,
    Draft,
    Fragment,
    PastedText,
    Place,
    atom_text,
    fragment_of,
    insert,
    replace,
    span,
    text_of,
)
from blockwire.tui.draftlayout import LayoutCache
from blockwire.tui.draftmoves import MOVES
from blockwire.tui.editing import CHANGES, KILLS, kill
from blockwire.tui.inputhistory import InputHistory
from blockwire.tui.keys import KeyLookup, default_action
from blockwire.tui.pastes import clean_text, is_long
from blockwire.tui.promptrows import PromptRow

__all__ = ["Editor", "EditorView"]

UNDO_MAX: Final = 200
"""Steps; drafts share their unchanged lines, so a step costs about the line that it changed."""

KILLS_MAX: Final = 32
"""What is kept for a yank; as readline's ring, thrice over."""

COLUMNS_DEFAULT: Final = 80


class EditorView(NamedTuple):
    """What of the input is to be drawn.

    Attributes:
        rows: At least one.
        cursor_row: In which of them the cursor stands.
        cursor_column: Cells before it.
        above: Rows that are not shown above these.
        below: Rows that are not shown below these.
    """

    rows: tuple[PromptRow, ...]
    cursor_row: int
    cursor_column: int
    above: int
    below: int


class Editor:
    """Edits one text.

    Args:
        history: What was sent before.
        lookup: What keys do.
        ambiguous_width: Cells of a character of ambiguous width.

    Attributes:
        history: As given; :meth:`take` does not add to it.
    """

    def __init__(
        self,
        history: InputHistory | None = None,
        *,
        lookup: KeyLookup = default_action,
        ambiguous_width: AmbiguousWidth = 1,
    ) -> None:
        self.history = InputHistory() if history is None else history
        self._lookup = lookup
        self._cache = LayoutCache(ambiguous_width)
        self._columns = COLUMNS_DEFAULT
        self._draft = EMPTY
        self._undo: list[Draft] = []
        self._redo: list[Draft] = []
        self._kills: list[Fragment] = []
        self._yanked: tuple[Place, Place, int] | None = None
        # What the last action was, for those that go on with it.
        self._last = ""
        self._goal: int | None = None
        self._top = 0
        self._paste_count = 0
        self._before_walk = EMPTY
        self._others: Mapping[str, Callable[[], bool]] = {
            "newline": self._break_line,
            "undo": self._step_back,
            "redo": self._step_forth,
            "yank": self._yank,
            "yank-older": self._yank_older,
            "up": self._up,
            "down": self._down,
            "history-older": self._older,
            "history-newer": self._newer,
        }

    # what it holds ------------------------------------------------------------------------
    @property
    def text(self) -> str:
        """The whole text, pastes included."""
        return text_of(self._draft.lines)

    @property
    def text_before_cursor(self) -> str:
        """What stands before the cursor."""
        return text_of(span(self._draft, Place(0, 0), self._draft.cursor))

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it."""
        return self._draft.is_empty

    @property
    def is_at_end(self) -> bool:
        """Whether the cursor stands behind everything."""
        return self._draft.cursor == self._draft.end

    def row_count(self, columns: int) -> int:
        """Return how many rows the whole text takes."""
        return self._cache.lay_out(self._draft, columns).row_count

    def view(self, columns: int, rows_max: int) -> EditorView:
        """Return at most ``rows_max`` rows, no wider than ``columns``; the cursor is in one."""
        self._columns = columns
        layout = self._cache.lay_out(self._draft, columns)
        cursor = layout.stop(self._draft.cursor)
        rows_max = max(rows_max, 1)
        # As little as possible moves: the window of rows follows the cursor, and has no empty end.
        self._top = min(self._top, cursor.row, max(layout.row_count - rows_max, 0))
        self._top = max(self._top, cursor.row - rows_max + 1)
        end = min(self._top + rows_max, layout.row_count)
        return EditorView(
            layout.rows(self._top, end),
            cursor.row - self._top,
            cursor.column,
            self._top,
            layout.row_count - end,
        )

    # changing it --------------------------------------------------------------------------
    def press(self, key: Key) -> bool:
        """Do what ``key`` does, and return whether it does anything here."""
        action = self._lookup(key.name)
        if action is not None:
            return self.do(action)
        if not key.text:
            return False
        self.type(key.text)
        return True

    def type(self, text: str) -> None:
        """Insert what a key typed."""
        # One step back takes a word, not a letter and not everything.
        goes_on = self._last == "type" and not text.isspace()
        self._change(insert(self._draft, fragment_of(clean_text(text))), keeps_step=goes_on)
        self._last = "type"

    def paste(self, text: str) -> None:
        """Insert a paste, in one step; a placeholder stands for a long one."""
        self._change(insert(self._draft, self._shown(clean_text(text))))

    def set_text(self, text: str) -> None:
        """Replace everything, in one step, the cursor at the end."""
        lines = self._shown(text)
        self._change(Draft(lines, Draft(lines, Place(0, 0)).end))

    def complete_word(self, word: str, text: str) -> None:
        """Replace ``word``, which stands before the cursor, by ``text``."""
        row, column = self._draft.cursor
        left_chars = len(word)
        while column and left_chars > 0:
            column -= 1
            left_chars -= len(atom_text(self._draft.lines[row][column]))
        start = Place(row, column)
        self._change(replace(self._draft, start, self._draft.cursor, fragment_of(text)))

    def take(self) -> str:
        """Return the text and begin a new one that no undo leads back from."""
        text = self.text
        self._change(EMPTY)
        self._undo.clear()
        self._cache.clear()
        return text

    def do(self, action: str) -> bool:
        """Do one of the actions of :data:`~blockwire.tui.keys.EditAction`.

        Returns:
            Whether it is one, and there was something to do.
        """
        if action in MOVES:
            self._move(MOVES[action](self._draft))
            return True
        if action in CHANGES:
            return self._changed(CHANGES[action](self._draft))
        if action in KILLS:
            return self._kill(action)
        return action in self._others and self._others[action]()

    # steps --------------------------------------------------------------------------------
    def _changed(self, draft: Draft) -> bool:
        if draft == self._draft:
            return False
        self._change(draft)
        return True

    def _change(self, draft: Draft, *, keeps_step: bool = False) -> None:
        if not keeps_step:
            self._undo.append(self._draft)
            del self._undo[:-UNDO_MAX]
        self._redo.clear()
        self._put(draft)
        self.history.stop()

    def _put(self, draft: Draft) -> None:
        self._draft = draft
        self._last = ""
        self._goal = None

    def _move(self, place: Place) -> None:
        self._put(self._draft.at(place))
        self.history.stop()

    def _shown(self, text: str) -> Fragment:
        if not is_long(text):
            return fragment_of(text)
        self._paste_count += 1
        return ((PastedText(text, self._paste_count),),)

    def _step_back(self) -> bool:
        if not self._undo:
            return False
        self._redo.append(self._draft)
        self._put(self._undo.pop())
        self.history.stop()
        return True

    def _step_forth(self) -> bool:
        if not self._redo:
            return False
        self._undo.append(self._draft)
        self._put(self._redo.pop())
        self.history.stop()
        return True

    def _break_line(self) -> bool:
        self._change(insert(self._draft, ((), ())))
        return True

    # cutting and putting back -------------------------------------------------------------
    def _kill(self, action: str) -> bool:
        killed = kill(self._draft, KILLS[action])
        if killed is None:
            return False
        fragment = killed.fragment
        if self._last == "kill" and self._kills:
            # Kills in a row are one: what is put back is what was there.
            joined = Draft(self._kills.pop(), Place(0, 0))
            joined = joined.at(joined.end) if killed.side == "right" else joined
            fragment = insert(joined, fragment).lines
        self._kills.append(fragment)
        del self._kills[:-KILLS_MAX]
        self._change(killed.draft)
        self._last = "kill"
        return True

    def _yank(self) -> bool:
        return bool(self._kills) and self._put_back(self._draft.cursor, self._draft.cursor, 1)

    def _yank_older(self) -> bool:
        if self._last != "yank" or self._yanked is None:
            return False
        start, end, nth = self._yanked
        return self._put_back(start, end, nth % len(self._kills) + 1)

    def _put_back(self, start: Place, end: Place, nth: int) -> bool:
        self._change(replace(self._draft, start, end, self._kills[-nth]))
        self._yanked = (start, self._draft.cursor, nth)
        self._last = "yank"
        return True

    # rows and history ---------------------------------------------------------------------
    def _up(self) -> bool:
        return self._go_row(-1) or self._older()

    def _down(self) -> bool:
        return self._go_row(1) or self._newer()

    def _go_row(self, step: int) -> bool:
        # In a walk through the history each key goes one entry on, however long the entry is.
        if self.history.is_walking:
            return False
        layout = self._cache.lay_out(self._draft, self._columns)
        stop = layout.stop(self._draft.cursor)
        goal = stop.column if self._goal is None else self._goal
        row = stop.row + step
        if not 0 <= row < layout.row_count:
            return False
        self._move(layout.place(row, goal))
        self._goal = goal
        return True

    def _older(self) -> bool:
        is_first = not self.history.is_walking
        entry = self.history.older(self.text_before_cursor)
        if entry is None:
            return False
        if is_first:
            self._before_walk = self._draft
        self._show_entry(entry)
        return True

    def _newer(self) -> bool:
        if not self.history.is_walking:
            return False
        entry = self.history.newer()
        if entry is not None:
            self._show_entry(entry)
        else:
            self._put(self._before_walk)
        return True

    def _show_entry(self, entry: str) -> None:
        lines = self._shown(entry)
        self._put(Draft(lines, Draft(lines, Place(0, 0)).end))
