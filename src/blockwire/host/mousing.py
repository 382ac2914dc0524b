"""Who gets the mouse: the program that asked for it, or the reader.

Spec: docs/spec/host/reading.md, "The mouse".
"""

from __future__ import annotations

from typing import Literal

from blockwire.host.options import HostOptions
from blockwire.host.pointer import Pointer
from blockwire.host.programinput import ProgramInput
from blockwire.host.reading import SIDEWAYS_CELLS
from blockwire.screen import LIVE_SEGMENT_ID, Screen
from blockwire.tty.inputevents import Mouse


class Mousing:
    """Takes what the mouse does, on the history and on the program's screen."""

    def __init__(self, screen: Screen, to_program: ProgramInput, options: HostOptions) -> None:
        self._screen = screen
        self._to_program = to_program
        self._wheel_rows = options.wheel_rows
        self._pointer = Pointer(screen)
        # Who had the button pressed gets its release, wherever that is.
        self._owner: Literal["program", "reader"] | None = None

    @property
    def wake_at_s(self) -> float | None:
        """When :meth:`tick` is wanted."""
        return self._pointer.wake_at_s

    def tick(self, now_s: float) -> bool:
        """Scroll while the mouse is dragged past an edge; return whether anything was done."""
        return self._pointer.tick(now_s)

    def receive(self, event: Mouse, now_s: float, *, is_live: bool) -> bool:
        """Do what the mouse asks for; return whether something was selected thereby.

        Args:
            event: Places are those of the window.
            now_s: Any clock that does not go back.
            is_live: Whether keys are for the program, and its screen is seen.
        """
        owner = self._owner
        if owner is None:
            owner = "program" if is_live and self._is_for_program(event) else "reader"
        if event.kind == "press":
            self._owner = owner
        elif event.kind == "release":
            self._owner = None
        if owner == "program":
            self._forward(event)
            return False
        if event.kind.startswith("wheel"):
            self._scroll(event, is_live=is_live)
            return False
        return self._point(event, now_s)

    def live_top(self) -> int | None:
        """Return in which row of the window the program's screen begins; None if it is not seen."""
        for number, row in enumerate(self._screen.view()):
            if row is not None and row.place.segment_id == LIVE_SEGMENT_ID:
                return number - row.place.row
        return None

    def wheel_rows(self, event: Mouse) -> int:
        """Return by how many rows the wheel scrolls."""
        return {"wheel-up": -self._wheel_rows, "wheel-down": self._wheel_rows}.get(event.kind, 0)

    def _is_for_program(self, event: Mouse) -> bool:
        top = self.live_top()
        is_there = top is not None and top <= event.row < self._screen.viewport.rows
        # With Shift, the mouse is the reader's in every terminal.
        return is_there and self._to_program.wants_mouse and "shift" not in event.modifiers

    def _forward(self, event: Mouse) -> None:
        rows = self._screen.viewport.rows
        row = min(max(event.row - (self.live_top() or 0), 0), rows - 1)
        column = min(event.column, self._screen.history.paper.columns - 1)
        self._to_program.mouse(event._replace(row=row, column=column))

    def _scroll(self, event: Mouse, *, is_live: bool) -> None:
        viewport = self._screen.viewport
        rows = self.wheel_rows(event)
        if rows == 0:
            cells = -SIDEWAYS_CELLS if event.kind == "wheel-left" else SIDEWAYS_CELLS
            viewport.scroll_sideways(cells)
        elif is_live and self._to_program.wants_wheel_as_arrows and "shift" not in event.modifiers:
            self._to_program.wheel_as_arrows("wheel-up" if rows < 0 else "wheel-down", abs(rows))
        else:
            viewport.scroll(rows)

    def _point(self, event: Mouse, now_s: float) -> bool:
        match event.kind:
            case "press" if event.button == 1 and event.row >= self._screen.viewport.rows:
                # The status line tells that there is more below.
                self._screen.viewport.scroll_end()
            case "press" if event.button == 1:
                self._pointer.press(event.row, event.column, now_s)
            case "drag":
                self._pointer.drag(event.row, event.column, now_s)
            case "release":
                return self._pointer.release()
            case _:
                pass
        return False
