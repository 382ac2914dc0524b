"""What a person does, and what becomes of it: the modes, and who gets a key or a click.

Spec: docs/spec/host/index.md, "Modes and keys". Which key means what is in the keymap; what scrolls,
selects and searches is done elsewhere; here is only which of them is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from blockwire.host.commands import Command, CopyText, Quit, Suspend
from blockwire.host.copymode import CopyMode
from blockwire.host.emulator import Emulator
from blockwire.host.keymap import MODE_RULES, Mode
from blockwire.host.mousing import Mousing
from blockwire.host.notices import Notices
from blockwire.host.options import HostOptions
from blockwire.host.programinput import ProgramInput
from blockwire.host.reading import SCROLLS, block_before, first_seen
from blockwire.host.searching import SLICE_CHARS, SearchPrompt
from blockwire.screen import Position, Range, Screen, copy
from blockwire.tty.inputevents import Focus, InputEvent, Key, Mouse, Pasted

# Within this time the second press ends the program.
QUIT_AGAIN_S: Final = 3.0


class Controls:
    """Takes what comes from the outer terminal, an event at a time.

    Attributes:
        commands: What the driver is to do, until it is taken.
        search: What is typed.
        copy_mode: The cursor.
        mousing: The mouse.
        notices: What is said for a moment.
        help_row: How far the help is scrolled.
        must_repaint: Whether everything is to be drawn anew; whoever does it sets it back.
    """

    def __init__(
        self, screen: Screen, emulator: Emulator, to_program: ProgramInput, options: HostOptions
    ) -> None:
        self.commands: list[Command] = []
        self.search = SearchPrompt(screen)
        self.copy_mode = CopyMode(screen)
        self.notices = Notices()
        self.mousing = Mousing(screen, to_program, options)
        self.help_row = 0
        self.must_repaint = False
        self._screen = screen
        self._emulator = emulator
        self._to_program = to_program
        self._keymap = options.keymap
        self._copies_on_select = options.copy_on_select
        self._own: Mode = "live"
        # Where the help and the search go back to.
        self._before: Mode = "live"
        self._quit_until_s = float("-inf")
        self._actions = self._tables()

    @property
    def mode(self) -> Mode:
        """What keys are for now."""
        is_reading = self._own == "live" and not self._screen.viewport.is_following
        return "reading" if is_reading else self._own

    @property
    def wake_at_s(self) -> float | None:
        """When :meth:`tick` is wanted."""
        times = [it for it in (self.mousing.wake_at_s, self.notices.until_s) if it is not None]
        return min(times, default=None)

    def receive(self, event: InputEvent, now_s: float) -> None:
        """Do what an event asks for."""
        match event:
            case Key():
                self._receive_key(event, now_s)
            case Pasted():
                self._receive_paste(event)
            case Mouse():
                self._receive_mouse(event, now_s)
            case Focus():
                self._to_program.focus(event)
            case _:
                # What the outer terminal answers, late or unasked, is nobody's input.
                pass

    def tick(self, now_s: float) -> bool:
        """Do what time asks for; return whether anything was done."""
        is_over = self.notices.tick(now_s)
        return self.mousing.tick(now_s) or is_over

    def step(self) -> bool:
        """Search a slice on; return whether there is more."""
        if self._own == "search":
            return self.search.step()
        return self._screen.search.step(SLICE_CHARS)

    def _receive_key(self, key: Key, now_s: float) -> None:
        mode = self.mode
        action = self._keymap.action(mode, key.name)
        if mode == "live" and self._emulator.modes.is_alternate and action != "prefix":
            # A program that has the whole window has all keys but one.
            action = None
        if action is not None:
            # The prefix is for one key.
            self._own = "live" if mode == "prefix" else self._own
            self._actions[mode](action, now_s)
        elif mode == "prefix":
            self._own = "live"
            if self._keymap.action("live", key.name) == "prefix":
                self._type(key)
            else:
                self.notices.say(f"{key.name}: no such key here", now_s)
        else:
            self._receive_other_key(key)

    def _receive_other_key(self, key: Key) -> None:
        match MODE_RULES[self.mode].rest:
            case "program":
                self._type(key)
            case "query":
                self.search.type(key.text)
            case _:
                pass

    def _type(self, key: Key) -> None:
        self._to_program.key(key)
        self._turn_to_program()

    def _turn_to_program(self) -> None:
        # Who types wants to see what becomes of it, and is done with what was selected.
        self._screen.viewport.scroll_end()
        self._screen.selection.clear()

    def _receive_paste(self, pasted: Pasted) -> None:
        match MODE_RULES[self.mode].rest:
            case "program":
                self._to_program.paste(pasted)
                self._turn_to_program()
            case "query":
                self.search.type(pasted.data.decode(errors="replace"))
            case _:
                pass

    def _receive_mouse(self, event: Mouse, now_s: float) -> None:
        mode = self.mode
        if mode == "help":
            self.help_row = max(self.help_row + self.mousing.wheel_rows(event), 0)
        elif mode == "copy" and event.kind in {"wheel-up", "wheel-down"}:
            self.copy_mode.scroll(self.mousing.wheel_rows(event))
        elif self.mousing.receive(event, now_s, is_live=mode == "live"):
            if self._copies_on_select:
                self._copy(self.copy_mode.text(), now_s)
        elif mode == "copy" and event.kind == "press" and event.button == 1:
            self.copy_mode.begin(event.row, event.column)

    def _tables(self) -> Mapping[Mode, Callable[[str, float], None]]:
        return {
            "live": self._scroll_or_prefix,
            "reading": self._scroll_or_prefix,
            "prefix": self._do_prefix,
            "search": self._do_search,
            "copy": self._do_copy,
            "help": self._do_help,
        }

    def _scroll_or_prefix(self, action: str, now_s: float) -> None:
        del now_s
        if action == "prefix":
            self._own = "prefix"
        else:
            SCROLLS[action](self._screen)

    def _do_prefix(self, action: str, now_s: float) -> None:
        match action:
            case "search":
                self._begin_search()
            case "copy-mode":
                self._begin_copy_mode()
            case "copy":
                self._copy(self.copy_mode.text(), now_s)
            case "copy-block":
                self._copy_block(now_s)
            case "help":
                self._begin_help()
            case "repaint":
                self.must_repaint = True
            case "suspend":
                self.commands.append(Suspend())
            case "quit":
                self._quit(now_s)
            case "cancel":
                pass
            case _:
                SCROLLS[action](self._screen)

    def _do_search(self, action: str, now_s: float) -> None:
        match action:
            case "accept":
                self._accept_search(now_s)
            case "cancel":
                self.search.cancel()
                self._own = self._before
            case "previous" | "next":
                self.search.go(is_next=action == "next")
            case "erase":
                self.search.erase()
            case "erase-word":
                self.search.erase_word()
            case _:
                self.search.erase_all()

    def _do_copy(self, action: str, now_s: float) -> None:
        match action:
            case "copy":
                text = self.copy_mode.text()
                self._copy(text, now_s)
                if text:
                    self._leave_copy_mode()
            case "search":
                self._begin_search()
            case "next" | "previous":
                self.search.go(is_next=action == "next")
                self.copy_mode.extend()
            case "help":
                self._begin_help()
            case "clear" if self._screen.selection.chosen is not None:
                self._screen.selection.clear()
            case "clear" | "leave":
                self._leave_copy_mode()
            case _:
                self.copy_mode.do(action)

    def _do_help(self, action: str, now_s: float) -> None:
        del now_s
        page = max(self._screen.viewport.rows - 1, 1)
        rows = {"row-up": -1, "row-down": 1, "page-up": -page, "page-down": page}
        if action == "leave":
            self._own = self._before
        else:
            self.help_row = max(self.help_row + rows[action], 0)

    def _begin_help(self) -> None:
        self._before, self._own, self.help_row = self._own, "help", 0

    def _begin_search(self) -> None:
        self._before, self._own = self._own, "search"
        self.search.begin()

    def _accept_search(self, now_s: float) -> None:
        current = self._screen.search.current
        if current is not None:
            self._screen.viewport.reveal(current.start)
            if self._before == "copy":
                self.copy_mode.extend()
            else:
                self._screen.selection.clear()
            self._own = "copy"
        elif self._screen.search.is_complete:
            if self.search.query:
                self.notices.say(f"not found: {self.search.query}", now_s)
            self.search.cancel()
            self._own = self._before

    def _begin_copy_mode(self) -> None:
        cursor = self._emulator.cursor
        row, column = self._screen.viewport.rows - 1, 0
        top = self.mousing.live_top()
        if top is not None:
            row, column = min(top + cursor.row, row), cursor.column
        self._screen.selection.clear()
        self.copy_mode.begin(row, column)
        self._own = "copy"

    def _leave_copy_mode(self) -> None:
        self._own = "live"
        self._screen.selection.clear()
        self._screen.search.clear()
        self._screen.viewport.scroll_end()

    def _copy(self, text: str, now_s: float) -> None:
        if not text:
            self.notices.say("nothing is selected", now_s)
            return
        self.commands.append(CopyText(text))
        lines = len(text.splitlines())
        self.notices.say("copied" if lines == 1 else f"copied {lines:,} lines", now_s)

    def _copy_block(self, now_s: float) -> None:
        segment_id = self._block_id()
        if segment_id is None:
            self.notices.say("there is no Block here", now_s)
            return
        history = self._screen.history
        text = history.segment(segment_id).content.text()
        # What keeps it apart from the Block above is none of it.
        start = len(text) - len(text.lstrip("\n"))
        chosen = Range(Position(segment_id, start), Position(segment_id, len(text)))
        self._screen.selection.select(chosen)
        self._copy(copy(history, chosen), now_s)

    def _block_id(self) -> int | None:
        """Return the lowest Block that is seen, else the nearest above."""
        seen = [row.place.segment_id for row in self._screen.view() if row is not None]
        last = max(seen, default=first_seen(self._screen).segment_id)
        return block_before(self._screen, last + 1)

    def _quit(self, now_s: float) -> None:
        if now_s < self._quit_until_s:
            self.commands.append(Quit())
            return
        self._quit_until_s = now_s + QUIT_AGAIN_S
        keymap = self._keymap
        keys = f"{keymap.first_key('live', 'prefix')} {keymap.first_key('prefix', 'quit')}"
        self.notices.say(f"{keys} again ends the program", now_s)
