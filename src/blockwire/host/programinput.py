"""What goes to the program: replies, keys, mouse, pastes and focus, in one order.

Spec: docs/spec/host/index.md, "What the program gets". Whether something goes there is decided by the
session; here is how the program wants it said.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from blockwire.host.emulator import Emulator, MouseTracking
from blockwire.tty.inputevents import Focus, Key, Mouse, MouseKind, Pasted
from blockwire.tty.keysencoding import encode_key
from blockwire.tty.mouse import encode_mouse
from blockwire.tty.paste import PasteEncoder

_WHEEL: Final[frozenset[MouseKind]] = frozenset(
    {"wheel-up", "wheel-down", "wheel-left", "wheel-right"}
)

TRACKED: Final[Mapping[MouseTracking, frozenset[MouseKind]]] = MappingProxyType(
    {
        "off": frozenset[MouseKind](),
        "press": _WHEEL | {"press", "release"},
        "drag": _WHEEL | {"press", "release", "drag"},
        "any": _WHEEL | {"press", "release", "drag", "move"},
    }
)
"""What of the mouse a program hears of, by what it asked for."""

_ARROWS: Final = MappingProxyType(
    {"wheel-up": Key("up", "", b"\x1b[A"), "wheel-down": Key("down", "", b"\x1b[B")}
)


class ProgramInput:
    """Bytes for the program, until the driver takes them."""

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self._waiting = bytearray()
        self._paste = PasteEncoder()

    def take(self) -> bytes:
        """Return what is to be written, once."""
        data = bytes(self._waiting)
        self._waiting.clear()
        return data

    def reply(self, data: bytes) -> None:
        """Answer what the program asked."""
        self._waiting += data

    def key(self, key: Key) -> None:
        """Let the program have a key."""
        modes = self._emulator.modes
        self._waiting += encode_key(
            key,
            application_cursor=modes.application_cursor,
            application_keypad=modes.application_keypad,
        )

    def paste(self, pasted: Pasted) -> None:
        """Let the program have a piece of a paste, in brackets if it wants them."""
        self._waiting += self._paste.encode(
            pasted.data,
            is_last=pasted.is_last,
            bracketed=self._emulator.modes.bracketed_paste,
        )

    def focus(self, focus: Focus) -> None:
        """Tell the program of the focus, if it asked for that."""
        if self._emulator.modes.focus_events:
            self._waiting += b"\x1b[I" if focus.is_in else b"\x1b[O"

    @property
    def wants_mouse(self) -> bool:
        """Whether the program asked for the mouse."""
        return self._emulator.modes.mouse != "off"

    @property
    def wants_wheel_as_arrows(self) -> bool:
        """Whether a program without the mouse scrolls by arrow keys."""
        modes = self._emulator.modes
        return modes.is_alternate and modes.alternate_scroll and modes.mouse == "off"

    def mouse(self, event: Mouse) -> None:
        """Tell the program of the mouse, as far as it asked; places are those of its screen."""
        modes = self._emulator.modes
        if event.kind in TRACKED[modes.mouse]:
            self._waiting += encode_mouse(event, sgr=modes.mouse_sgr)

    def wheel_as_arrows(self, kind: Literal["wheel-up", "wheel-down"], rows: int) -> None:
        """Turn the wheel into so many arrow keys."""
        for _ in range(rows):
            self.key(_ARROWS[kind])
