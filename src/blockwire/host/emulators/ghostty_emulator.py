"""The screen of a program in libghostty-vt, through ``pyghostty``.

Spec: docs/spec/host/emulation.md. Rows that scroll off are taken out of the library's scrollback after
every :data:`SLICE_BYTES`, and that is cleared: it never gets so full that it forgets something, and what
a resize has to reflow stays small.
"""

from __future__ import annotations

import re
from typing import Any, Final

from pyghostty._ffi import check, ffi, lib
from pyghostty.core import Terminal, init_sized

from blockwire.host.emulator import (
    BLANK_ROW,
    Cursor,
    LiveRow,
    MouseTracking,
    ProgramModes,
    to_ordinary,
)
from blockwire.host.emulators.cells import count_rows_in_use
from blockwire.host.emulators.ghostty_cells import GhosttyRows
from blockwire.host.emulators.replies import allowed_replies
from blockwire.screen import OrdinaryRow
from blockwire.text import AmbiguousWidth

__all__ = ["SLICE_BYTES", "new_emulator"]

SLICE_BYTES: Final = 16_384
"""What is fed before the scrollback is emptied: at most as many rows as bytes, but for ``REP``."""

# The library counts both; its own bound in bytes would be 10,000.
SCROLLBACK_ROWS_MAX: Final = 60_000
SCROLLBACK_BYTES_MAX: Final = 1 << 30

# What makes the library forget its scrollback, or hides it: before it, the scrollback is emptied.
_FORGETS: Final = re.compile(
    rb"\x1b(?:c|\[\?(?:[0-9]*;)*0*(?:47|104[79])(?:;[0-9]*)*[hl]|\[\??[0-9;]*3J)"
)
_ERASE_SCROLLBACK: Final = b"\x1b[3J"
_SAVE_CURSOR: Final = b"\x1b7"

_ALTERNATE_SCROLL: Final = 1007
_APPLICATION_CURSOR: Final = 1
_APPLICATION_KEYPAD: Final = 66
_BRACKETED_PASTE: Final = 2004
_CLUSTERS: Final = 2027
_FOCUS_EVENTS: Final = 1004
_MOUSE_SGR: Final = 1006
_ORIGIN: Final = 6
_SYNCHRONIZED: Final = 2026
_VISIBLE: Final = 25

# The widest that is on counts.
_MOUSE: Final[tuple[tuple[int, MouseTracking], ...]] = (
    (1003, "any"),
    (1002, "drag"),
    (1000, "press"),
    (9, "press"),
)

# A shape that no program can ask for: who asked for none has this one.
_UNASKED_SHAPE: Final = lib.GHOSTTY_TERMINAL_CURSOR_STYLE_BLOCK_HOLLOW
# The parameter of DECSCUSR for a shape that blinks; the next one is steady.
_SHAPES: Final = {
    lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_BLOCK: 1,
    lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_UNDERLINE: 3,
    lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_BAR: 5,
}

_REGION_REPLY: Final = re.compile(rb"\x1bP1\$r([0-9]+);([0-9]+)r\x1b\\")
_PEN_REPLY: Final = re.compile(rb"\x1bP1\$r([0-9;:]*)m\x1b\\")


def new_emulator(
    columns: int,
    rows: int,
    *,
    foreground: str | None,
    background: str | None,
    ambiguous_width: AmbiguousWidth,
) -> GhosttyEmulator:
    """Return an emulator of this library; see :func:`blockwire.host.emulator.best_emulator`."""
    colours = [_rgb(colour) for colour in (foreground, background)]
    return GhosttyEmulator(columns, rows, colours, ambiguous_width)


def _rgb(colour: str | None) -> tuple[int, int, int] | None:
    if colour is None:
        return None
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue


class GhosttyEmulator:
    """An :class:`~blockwire.host.emulator.Emulator`."""

    def __init__(
        self,
        columns: int,
        rows: int,
        colours: list[tuple[int, int, int] | None],
        ambiguous_width: AmbiguousWidth,
    ) -> None:
        self.columns: int = columns
        self.rows: int = rows
        self._terminal = Terminal(
            columns, rows, scrollback=SCROLLBACK_ROWS_MAX, fg=colours[0], bg=colours[1]
        )
        self._handle = self._terminal._t[0]  # noqa: SLF001 - its calls are too slow, or missing
        self._replies: list[bytes] = []
        self._terminal.on_reply(self._replies.append)
        self._set_up()
        state = ffi.new("GhosttyRenderState *")
        check(lib.ghostty_render_state_new(ffi.NULL, state), "render_state_new")
        self._state = ffi.gc(state[0], lib.ghostty_render_state_free)
        self._iterator = ffi.new("GhosttyRenderStateRowIterator *")
        check(lib.ghostty_render_state_row_iterator_new(ffi.NULL, self._iterator), "row_iterator")
        self._iterator_owner = ffi.gc(self._iterator[0], lib.ghostty_render_state_row_iterator_free)
        self._reader = GhosttyRows(self._handle, ambiguous_width)
        self._count = ffi.new("size_t *")
        self._row_index = ffi.new("uint16_t *")
        self._dirty = ffi.new("GhosttyRenderStateDirty *")
        self._overscan = ffi.new("GhosttyRenderStateOverscan *")
        self._cursor = init_sized("GhosttyRenderStateCursor")
        self._scrolled: list[OrdinaryRow] = []
        # How many rows of the library's scrollback are among those that scrolled already.
        self._taken = 0
        self._live: tuple[LiveRow, ...] = (BLANK_ROW,) * rows
        # What the program asked for; None if it has written since that was asked of the library.
        self._modes: ProgramModes | None = None
        # Whether the dirty rows of the library are not all that differ from what is known.
        self._is_stale = True

    def _set_up(self) -> None:
        self._set("SCROLLBACK_MAX_BYTES", "size_t *", SCROLLBACK_BYTES_MAX)
        self._set("KITTY_IMAGE_STORAGE_LIMIT", "uint64_t *", 0)
        self._set("RESIZE_PULL_SCROLLBACK", "bool *", False)  # noqa: FBT003 - a value of the library
        self._set("DEFAULT_CURSOR_STYLE", "GhosttyTerminalCursorStyle *", _UNASKED_SHAPE)
        # Widths by cluster, as everywhere in this house, unless the program says otherwise.
        self._set("MODE_DEFAULT", "GhosttyTerminalModeConfig *", {"mode": _CLUSTERS, "value": True})
        self._size_callback = ffi.callback("GhosttyTerminalSizeFn", self._tell_size)
        check(
            lib.ghostty_terminal_set(
                self._handle, lib.GHOSTTY_TERMINAL_OPT_SIZE, self._size_callback
            ),
            "set size",
        )
        lib.ghostty_terminal_reset(self._handle)

    def _set(self, option: str, ctype: str, value: object) -> None:
        number = getattr(lib, f"GHOSTTY_TERMINAL_OPT_{option}")
        check(lib.ghostty_terminal_set(self._handle, number, ffi.new(ctype, value)), option)

    def _tell_size(self, terminal: Any, userdata: Any, size: Any) -> bool:
        del terminal, userdata
        size.rows = self.rows
        size.columns = self.columns
        return True

    def feed(self, data: bytes) -> bytes:
        """Show ``data`` and return the replies to it."""
        self._modes = None
        start = 0
        for match in _FORGETS.finditer(data):
            self._write(data, start, match.start())
            start = match.start()
            if self._taken:
                # What is half read would be cut off by the next byte as well.
                self._cancel()
        self._write(data, start, len(data))
        return self._take_replies()

    def _write(self, data: bytes, start: int, end: int) -> None:
        while start < end:
            piece = data[start : min(start + SLICE_BYTES, end)]
            if self._taken and not self._terminal.get("vt_ground", "bool"):
                # The piece before ended within something: once that is over, the rest can go.
                consumed = self._terminal.feed_until_ground(piece)
                start += len(piece) if consumed is None else consumed
            else:
                lib.ghostty_terminal_vt_write(self._handle, piece, len(piece))
                start += len(piece)
            self._drain()

    def _take_replies(self) -> bytes:
        if not self._replies:
            return b""
        data = allowed_replies(b"".join(self._replies))
        self._replies.clear()
        return data

    def _drain(self) -> None:
        """Take what is new in the scrollback, and empty it unless something is half read."""
        count = self._scrollback_rows()
        if not count:
            return
        if count > self._taken:
            self._update(overscan=count)
            for row in range(count):
                lib.ghostty_render_state_row_iterator_next(self._iterator[0])
                if row >= self._taken:
                    self._scrolled.append(to_ordinary(self._reader.read(self._iterator[0], row)))
            self._update(overscan=0)
            self._is_stale = True
        self._taken = count
        if self._terminal.get("vt_ground", "bool"):
            self._erase_scrollback()

    def _scrollback_rows(self) -> int:
        lib.ghostty_terminal_get(
            self._handle, lib.GHOSTTY_TERMINAL_DATA_SCROLLBACK_ROWS, self._count
        )
        count: int = self._count[0]
        return count

    def _erase_scrollback(self) -> None:
        lib.ghostty_terminal_vt_write(self._handle, _ERASE_SCROLLBACK, len(_ERASE_SCROLLBACK))
        self._taken = 0

    def _update(self, *, overscan: int) -> None:
        if overscan != self._overscan.above:
            self._overscan.above = overscan
            lib.ghostty_render_state_set(
                self._state, lib.GHOSTTY_RENDER_STATE_OPTION_OVERSCAN, self._overscan
            )
        check(lib.ghostty_render_state_update(self._state, self._handle), "render_state_update")
        lib.ghostty_render_state_get(
            self._state, lib.GHOSTTY_RENDER_STATE_DATA_ROW_ITERATOR, self._iterator
        )

    def take_scrolled(self) -> list[OrdinaryRow]:
        """Return the rows that left at the top since the last call."""
        rows = self._scrolled
        self._scrolled = []
        return rows

    def live_rows(self) -> tuple[LiveRow, ...]:
        """Return all rows of the active screen."""
        self._update(overscan=0)
        lib.ghostty_render_state_get(self._state, lib.GHOSTTY_RENDER_STATE_DATA_DIRTY, self._dirty)
        if self._is_stale or self._dirty[0] == lib.GHOSTTY_RENDER_STATE_DIRTY_FULL:
            self._read_all()
        elif self._dirty[0] == lib.GHOSTTY_RENDER_STATE_DIRTY_PARTIAL:
            self._read_dirty()
        lib.ghostty_render_state_clean(self._state)
        return self._live

    def _read_all(self) -> None:
        self._is_stale = False
        # Rows that only moved are the same objects.
        known = {row: row for row in self._live}
        first = self._scrollback_rows()
        rows: list[LiveRow] = []
        while lib.ghostty_render_state_row_iterator_next(self._iterator[0]):
            row = self._reader.read(self._iterator[0], first + len(rows))
            rows.append(known.get(row, row))
        self._live = tuple(rows)

    def _read_dirty(self) -> None:
        first = self._scrollback_rows()
        rows = list(self._live)
        while lib.ghostty_render_state_row_iterator_next_dirty(self._iterator[0], self._row_index):
            index = self._row_index[0]
            row = self._reader.read(self._iterator[0], first + index)
            if row != rows[index]:
                rows[index] = row
        if any(old is not new for old, new in zip(self._live, rows, strict=True)):
            self._live = tuple(rows)

    def rows_in_use(self) -> int:
        """Return how many rows there are down to the last that is not blank or has the cursor."""
        return count_rows_in_use(self.live_rows(), self._terminal.get("cursor_y"))

    @property
    def cursor(self) -> Cursor:
        """Where the cursor is, and how it is shown."""
        self._update(overscan=0)
        lib.ghostty_render_state_get(
            self._state, lib.GHOSTTY_RENDER_STATE_DATA_CURSOR, self._cursor
        )
        shape = _SHAPES.get(self._cursor.visual_style, 0)
        if shape and not self._cursor.blinking:
            shape += 1
        column, row = self._terminal.cursor
        return Cursor(column, row, is_visible=self._terminal.mode(_VISIBLE), shape=shape)

    @property
    def is_wrap_pending(self) -> bool:
        """Whether the next character goes to the next row."""
        return bool(self._terminal.get("cursor_pending_wrap", "bool"))

    @property
    def modes(self) -> ProgramModes:
        """What the program has asked for."""
        if self._modes is None:
            self._modes = self._read_modes()
        return self._modes

    def _read_modes(self) -> ProgramModes:
        is_on = self._terminal.mode
        return ProgramModes(
            is_alternate=self._is_alternate,
            application_cursor=is_on(_APPLICATION_CURSOR),
            application_keypad=is_on(_APPLICATION_KEYPAD),
            bracketed_paste=is_on(_BRACKETED_PASTE),
            focus_events=is_on(_FOCUS_EVENTS),
            mouse=next((name for mode, name in _MOUSE if is_on(mode)), "off"),
            mouse_sgr=is_on(_MOUSE_SGR),
            alternate_scroll=is_on(_ALTERNATE_SCROLL),
            synchronized=is_on(_SYNCHRONIZED),
        )

    @property
    def _is_alternate(self) -> bool:
        screen = self._terminal.get("active_screen", "GhosttyTerminalScreen")
        return bool(screen == lib.GHOSTTY_TERMINAL_SCREEN_ALTERNATE)

    def take_top(self, count: int) -> list[OrdinaryRow]:
        """Let the first ``count`` rows leave; nothing while the alternate screen is shown."""
        count = min(count, self.rows)
        if count <= 0 or self._is_alternate:
            return []
        self._cancel()
        rows = [to_ordinary(row) for row in self.live_rows()[:count]]
        column, row = self._terminal.cursor
        self._write_unbound(b"\x1b[%dS" % count, column, max(row - count, 0))
        self._erase_scrollback()
        self._is_stale = True
        return rows

    def end_row(self) -> None:
        """Begin the next row; nothing while the alternate screen is shown."""
        if self._is_alternate:
            return
        self._cancel()
        _, row = self._terminal.cursor
        # Without the region the cursor is at home, whatever it was.
        self._write_unbound(b"\x1b[%dH\n" % (row + 1), 0, min(row + 1, self.rows - 1))
        self._drain()

    def _cancel(self) -> None:
        """End what is half read: what follows is not the program's."""
        if not self._terminal.get("vt_ground", "bool"):
            self._terminal.feed(b"\x18")
            self._drain()

    def _write_unbound(self, data: bytes, column: int, row: int) -> None:
        """Write ``data`` without the program's margins and pen, and leave the cursor at a place."""
        # Replies that are still waiting would be the program's; there are none between feeds.
        self._terminal.feed(b"\x1bP$qr\x1b\\\x1bP$qm\x1b\\")
        asked = b"".join(self._replies)
        self._replies.clear()
        region, pen = _REGION_REPLY.search(asked), _PEN_REPLY.search(asked)
        assert region is not None, "the library answers DECRQSS"
        assert pen is not None, "the library answers DECRQSS"
        origin = b""
        if self._terminal.mode(_ORIGIN):
            origin = b"\x1b[?6h"
            row -= int(region[1]) - 1
        self._terminal.feed(
            b"\x1b[?6l\x1b[r\x1b[m%b\x1b[%b;%br\x1b[%bm%b\x1b[%d;%dH"
            % (data, region[1], region[2], pen[1], origin, max(row, 0) + 1, column + 1)
        )

    def resize(self, columns: int, rows: int) -> None:
        """Take another size: the library breaks the lines of the primary screen anew."""
        if (columns, rows) == (self.columns, self.rows):
            return
        self._cancel()
        is_smaller = rows < self.rows or columns < self.columns
        if is_smaller and not self._is_alternate:
            # The library would keep the row of the saved cursor, and push out that of the cursor for
            # it. What was saved before a program had the whole window is of no use any more.
            self._terminal.feed(_SAVE_CURSOR)
        self.columns = columns
        self.rows = rows
        self._terminal.resize(columns, rows)
        # A program may have asked to hear of it; it has SIGWINCH for that.
        self._replies.clear()
        self._is_stale = True
        self._drain()
