"""One session of the host: what the program writes and what the person does, to frames and bytes.

Spec: docs/spec/host/index.md. No I/O and no clock: a driver of some dozen lines reads, writes and waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from blockwire.host.commands import Command
from blockwire.host.compositor import Picture, compose
from blockwire.host.controls import Controls
from blockwire.host.emulator import Emulator
from blockwire.host.help import Help, help_height
from blockwire.host.keymap import Mode
from blockwire.host.options import HostOptions
from blockwire.host.outputpath import OutputPath
from blockwire.host.painter import Frame, Painter
from blockwire.host.picturing import Reader, diagnostics_section, help_sections, status_line
from blockwire.host.programinput import ProgramInput
from blockwire.host.transcribing import transcript_rows
from blockwire.host.updating import Updating, last_update
from blockwire.screen import Screen
from blockwire.tty.input import InputParser
from blockwire.tty.inputevents import InputEvent

# The status line has its row if this many are left, so that it is not a third of the window.
STATUS_WINDOW_ROWS_MIN: Final = 4

# A held ESC is the Escape key if nothing comes for so long; what xterm's own programs wait.
ESCAPE_S: Final = 0.05

# Cells of rows that are counted between two looks at the input: at most about 4 ms of a processor's
# time. Plain text takes a tenth of what wide characters do.
SLICE_CELLS: Final = 8_000


class HostCore:
    """A program in a window, and its history."""

    def __init__(self, columns: int, rows: int, emulator: Emulator, options: HostOptions) -> None:
        """Begin with an empty screen.

        Args:
            columns: Of the window, at least 1.
            rows: Of the window, at least 1.
            emulator: Of the program; it takes the size that :attr:`program_size` says.
            options: What the person chose.
        """
        self._options = options
        self._emulator = emulator
        self._columns, self._rows = columns, rows
        program_rows = rows - self._status_rows
        emulator.resize(columns, program_rows)
        self._screen = Screen(
            columns,
            program_rows,
            ambiguous_width=options.ambiguous_width,
            capacity_bytes=options.capacity_bytes,
        )
        self._to_program = ProgramInput(emulator)
        self._path = OutputPath(emulator, self._screen, self._to_program, options)
        self._controls = Controls(self._screen, emulator, self._to_program, options)
        self._parser = InputParser()
        self._escape_at_s: float | None = None
        self._painter = Painter(
            columns,
            rows,
            colours=options.colours,
            links=options.has_links,
            ambiguous_width=options.ambiguous_width,
            charset=options.charset,
        )
        self._help = help_sections(options.keymap)
        self._may_differ = True
        self._updating = Updating()
        # What was to be seen before the update that has begun; drawn unless a later one is.
        self._whole: Frame | None = None
        self._path.carry()

    @property
    def screen(self) -> Screen:
        """The history, to be read."""
        return self._screen

    @property
    def diagnostics(self) -> Mapping[str, int]:
        """How often something arrived for terminal blocks that was no good, by codes; for a log."""
        return MappingProxyType(self._path.diagnostics)

    @property
    def program_size(self) -> tuple[int, int]:
        """Columns and rows of the program's screen."""
        return self._emulator.columns, self._emulator.rows

    @property
    def wake_at_s(self) -> float | None:
        """When :meth:`tick` is wanted; None if it is not."""
        all_s = (self._escape_at_s, self._controls.wake_at_s, self._updating.until_s)
        return min([it for it in all_s if it is not None], default=None)

    def receive_output(self, data: bytes, now_s: float) -> None:
        """Take what the program wrote; nothing that it writes raises."""
        was_stopped = self._path.is_stopped
        begin = last_update(data)
        if begin is not None:
            self._receive_piece(data[:begin], now_s)
            if self._may_differ and self._updating.until_s is None:
                self._path.carry_news()
                self._whole = compose(self._picture())
        self._receive_piece(data[begin or 0 :], now_s)
        if self._path.is_stopped and not was_stopped:
            self._controls.notices.say("terminal blocks failed and are off", now_s)

    def _receive_piece(self, data: bytes, now_s: float) -> None:
        if data:
            self._path.receive_data(data)
            self._updating.note(now_s, is_on=self._emulator.modes.synchronized)
            self._may_differ = True

    def receive_input(self, data: bytes, now_s: float) -> None:
        """Take what the outer terminal sent."""
        self._path.carry_news()
        self._take(self._parser.receive_data(data), now_s)
        self._escape_at_s = now_s + ESCAPE_S if self._parser.is_holding else None

    def resize(self, columns: int, rows: int) -> None:
        """Take another size of the window; the program is to be told :attr:`program_size`."""
        self._path.carry_news()
        self._columns, self._rows = columns, rows
        program_rows = rows - self._status_rows
        self._emulator.resize(columns, program_rows)
        self._updating, self._whole = Updating(), None
        self._screen.resize(columns, program_rows)
        self._path.carry()
        self._painter.resize(columns, rows)
        self._may_differ = True

    def tick(self, now_s: float) -> None:
        """Do what is due."""
        self._path.carry_news()
        if self._escape_at_s is not None and now_s >= self._escape_at_s:
            self._escape_at_s = None
            self._take(self._parser.flush(), now_s)
        self._may_differ |= self._controls.tick(now_s) | self._updating.tick(now_s)

    def data_for_program(self) -> bytes:
        """Return what is to be written to the program, once, in order."""
        return self._to_program.take()

    def take_commands(self) -> list[Command]:
        """Return what else is to be done, once, in order."""
        commands = [*self._path.commands, *self._controls.commands]
        self._path.commands.clear()
        self._controls.commands.clear()
        return commands

    def paint(self) -> bytes:
        """Return what makes the outer terminal show what there is now; nothing if it does.

        Within an update of the program that is what there was before it.
        """
        whole, self._whole = self._whole, None
        if self._updating.until_s is not None:
            return b"" if whole is None else self._painter.paint(whole)
        self._path.carry_news()
        if self._controls.must_repaint:
            self._controls.must_repaint = False
            self._painter.forget()
        elif not self._may_differ:
            return b""
        self._may_differ = False
        return self._painter.paint(compose(self._picture()))

    def repaint(self) -> None:
        """The outer terminal shows something else: everything is to be painted anew."""
        self._controls.must_repaint = True

    def idle(self) -> bool:
        """Work some milliseconds on what nobody waits for; return whether there is more."""
        self._path.carry_news()
        is_searching = not self._screen.search.is_complete
        has_more = self._controls.step() if is_searching else False
        total_rows = self._screen.history.total_rows
        has_more |= self._screen.refine(max(SLICE_CELLS // self._columns, 1))
        # A reader is told how many rows there are below.
        self._may_differ |= is_searching or self._screen.history.total_rows != total_rows
        return has_more

    def program_ended(self) -> None:
        """The program is gone, and all that it wrote was received."""
        self._path.end()
        self._updating, self._whole = Updating(), None
        self._may_differ = True

    def transcript(self, *, last_rows: int | None = None) -> Iterator[str]:
        """Yield the rows of the history and of the program's screen, styled, without line ends.

        Args:
            last_rows: At most so many, the newest; None for all that are retained.
        """
        self._path.carry_news()
        return transcript_rows(self._screen, colours=self._options.colours, last_rows=last_rows)

    @property
    def _status_rows(self) -> int:
        return int(self._options.status_line and self._rows >= STATUS_WINDOW_ROWS_MIN)

    def _take(self, events: Iterable[InputEvent], now_s: float) -> None:
        for event in events:
            self._controls.receive(event, now_s)
            self._may_differ = True

    def _picture(self) -> Picture:
        controls, screen = self._controls, self._screen
        mode = controls.mode
        cell = controls.copy_mode.cursor.cell() if mode == "copy" else None
        has_status = self._status_rows > 0 or mode not in {"live", "reading"}
        notice = controls.notices.text
        rectangle = controls.copy_mode.rectangle()
        return Picture(
            columns=self._columns,
            rows=self._rows,
            view=screen.view(),
            live=self._path.live.shown,
            cursor=self._emulator.cursor if self._emulator.cursor.is_visible else None,
            theme=self._options.theme,
            ambiguous_width=self._options.ambiguous_width,
            selection=None if rectangle else screen.selection.chosen,
            rectangle=rectangle,
            matches=screen.search.matches_in,
            current_match=screen.search.current,
            copy_cursor=None if cell is None else cell[:2],
            status=status_line(self._reader(mode), self._options.keymap) if has_status else None,
            notice=notice,
            has_unseen=screen.viewport.has_unseen,
            help=self._shown_help() if mode == "help" else None,
        )

    def _shown_help(self) -> Help:
        shown = Help(self._help + diagnostics_section(self._path.diagnostics))
        width = self._options.ambiguous_width
        height = help_height(shown, self._columns, ambiguous_width=width)
        # Keys go no further than what there is to see.
        last_row = max(height - self._screen.viewport.rows, 0)
        self._controls.help_row = min(self._controls.help_row, last_row)
        return shown._replace(first_row=self._controls.help_row)

    def _reader(self, mode: Mode) -> Reader:
        controls, screen = self._controls, self._screen
        return Reader(
            mode=mode,
            is_alternate=self._emulator.modes.is_alternate,
            title=self._path.title,
            rows_below=screen.viewport.rows_below,
            query=screen.search.query,
            found=controls.search.summary,
            is_selecting=screen.selection.chosen is not None,
        )
