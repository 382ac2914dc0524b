"""The screen of a program: what an emulator is to the host, whichever library does the work.

Spec: docs/spec/host/emulation.md. Bytes go in, rows of spans come out; no I/O, no clock. The libraries
are behind :mod:`blockwire.host.emulators`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

from msgspec import UNSET, UnsetType

from blockwire.errors import LocalProtocolError
from blockwire.screen import OrdinaryRow
from blockwire.terminal import Span, Style
from blockwire.terminal.content import Attribute
from blockwire.text import AmbiguousWidth, label_controls, width

EmulatorName: TypeAlias = Literal["auto", "ghostty", "pyte"]

# Styles of history whose values are shared; a program seldom has more looks at a time.
STYLES_KEPT: Final = 1_024

MouseTracking: TypeAlias = Literal["off", "press", "drag", "any"]
"""What of the mouse the program asked for: buttons, moves while one is down, all moves."""

LookAttribute: TypeAlias = Literal[
    "blink", "bold", "curly_underline", "dim", "double_underline", "hidden", "inverse", "italic",
    "overline", "strikethrough", "underline",
]  # fmt: skip


class Look(NamedTuple):
    """How a run of cells looks.

    Attributes:
        foreground: ``#rrggbb`` or a palette name, else that of the terminal.
        background: As ``foreground``.
        attributes: Unique and sorted; of the underlines at most one.
        link: A valid http, https or mailto URI.
    """

    foreground: str | None = None
    background: str | None = None
    attributes: tuple[LookAttribute, ...] = ()
    link: str | None = None


PLAIN_LOOK: Final = Look()


class LiveSpan(NamedTuple):
    """A run of cells in one look; its text takes as many cells as they are."""

    text: str
    look: Look


class LiveRow(NamedTuple):
    """One row of the screen.

    Attributes:
        spans: From the first column; neighbours look different, and none is empty. Blanks in the
            plain look at the end are left out, unless the row is wrapped.
        is_wrapped: Whether its line goes on in the next row.
    """

    spans: tuple[LiveSpan, ...]
    is_wrapped: bool = False


BLANK_ROW: Final = LiveRow(())


class Cursor(NamedTuple):
    """Where the program's cursor is, from 0.

    Attributes:
        column: At most the last one, also while a wrap is pending.
        row: From the top of the screen.
        is_visible: Whether the program wants it to be seen.
        shape: The parameter of DECSCUSR, 0 to 6; 0 is what the terminal prefers.
    """

    column: int
    row: int
    is_visible: bool = True
    shape: int = 0


class ProgramModes(NamedTuple):
    """What the program has asked its terminal for."""

    is_alternate: bool = False
    application_cursor: bool = False
    application_keypad: bool = False
    bracketed_paste: bool = False
    focus_events: bool = False
    mouse: MouseTracking = "off"
    mouse_sgr: bool = False
    alternate_scroll: bool = False
    synchronized: bool = False


class Emulator(Protocol):
    """A terminal of so many columns and rows that a program writes to."""

    @property
    def columns(self) -> int:
        """Its width in cells."""

    @property
    def rows(self) -> int:
        """Its height in cells."""

    def feed(self, data: bytes) -> bytes:
        """Show ``data``, cut anywhere, and return the replies that the program asked for.

        Replies are of the kinds that the specification lists, and nothing else.
        """

    def take_scrolled(self) -> list[OrdinaryRow]:
        """Return the rows that left the primary screen at its top since the last call, in order."""

    def take_top(self, count: int) -> list[OrdinaryRow]:
        """Let the first ``count`` rows of the primary screen leave, and return them.

        The rows below and the cursor move up, and blank rows come at the bottom.
        """

    def end_row(self) -> None:
        """Move the cursor to column 0 of the next row, scrolling if it is in the last."""

    def live_rows(self) -> tuple[LiveRow, ...]:
        """Return all rows of the active screen; a row that did not change is the same object."""

    def rows_in_use(self) -> int:
        """Return how many rows there are down to the last that is not blank or has the cursor."""

    @property
    def cursor(self) -> Cursor:
        """Where the cursor is, and how it is shown."""

    @property
    def is_wrap_pending(self) -> bool:
        """Whether the next character goes to the next row, the last column being full."""

    @property
    def modes(self) -> ProgramModes:
        """What the program has asked for."""

    def resize(self, columns: int, rows: int) -> None:
        """Take another size; rows that leave thereby are returned by :meth:`take_scrolled`."""


class SwallowingEmulator:
    """An emulator that shows nothing: whatever must not depend on one can be tested with it."""

    __slots__ = ("columns", "rows")

    def __init__(self, columns: int, rows: int) -> None:
        self.columns: int = columns
        self.rows: int = rows

    def feed(self, data: bytes) -> bytes:
        """Swallow ``data``."""
        del data
        return b""

    def take_scrolled(self) -> list[OrdinaryRow]:
        """Return nothing."""
        return []

    def take_top(self, count: int) -> list[OrdinaryRow]:
        """Return blank rows."""
        return [OrdinaryRow(())] * min(count, self.rows)

    def end_row(self) -> None:
        """Stay where it is."""

    def live_rows(self) -> tuple[LiveRow, ...]:
        """Return blank rows."""
        return (BLANK_ROW,) * self.rows

    def rows_in_use(self) -> int:
        """Return the row of the cursor."""
        return 1

    @property
    def cursor(self) -> Cursor:
        """The first cell."""
        return Cursor(0, 0)

    @property
    def is_wrap_pending(self) -> bool:
        """Never."""
        return False

    @property
    def modes(self) -> ProgramModes:
        """Those at the start."""
        return ProgramModes()

    def resize(self, columns: int, rows: int) -> None:
        """Take another size."""
        self.columns = columns
        self.rows = rows


# What a history can say of a look; what it cannot is left out, but what was hidden stays unseen.
_ORDINARY_ATTRIBUTES: Final[dict[LookAttribute, Attribute]] = {
    "bold": "bold",
    "curly_underline": "underline",
    "dim": "dim",
    "double_underline": "underline",
    "inverse": "inverse",
    "italic": "italic",
    "strikethrough": "strikethrough",
    "underline": "underline",
}


def to_ordinary(row: LiveRow) -> OrdinaryRow:
    """Return ``row`` as history: in the styles it knows, with a label for what acts."""
    return OrdinaryRow(tuple([_to_span(span) for span in row.spans]), row.is_wrapped)


def _to_span(span: LiveSpan) -> Span:
    text, look = span
    if look == PLAIN_LOOK and text.isprintable():
        return Span(text=text)
    if "hidden" in look.attributes:
        text = " " * width(text)
    return Span(text=label_controls(text, breaks="label", tabs="label"), style=_to_style(look))


@lru_cache(STYLES_KEPT)
def _to_style(look: Look) -> Style | UnsetType:
    known = [_ORDINARY_ATTRIBUTES[it] for it in look.attributes if it in _ORDINARY_ATTRIBUTES]
    if not (look.foreground or look.background or known or look.link):
        return UNSET
    return Style(
        foreground=look.foreground or UNSET,
        background=look.background or UNSET,
        attributes=tuple(known) or UNSET,
        link=look.link or UNSET,
    )


def best_emulator(  # noqa: PLR0913 - options, all but the size by name
    columns: int,
    rows: int,
    *,
    name: EmulatorName = "auto",
    foreground: str | None = None,
    background: str | None = None,
    ambiguous_width: AmbiguousWidth = 1,
) -> Emulator:
    """Return the fastest emulator that is installed, or the one that is named.

    Args:
        columns: At least 1.
        rows: At least 1.
        name: Which library; ``auto`` takes the first of ``ghostty`` and ``pyte`` that there is.
        foreground: The terminal's default, ``#rrggbb``: what a program is told that asks.
        background: Likewise.
        ambiguous_width: Cells of an ambiguous character where the rows will be painted.

    Raises:
        LocalProtocolError: ``emulator_missing`` if its library is not installed.
    """
    names = ("ghostty", "pyte") if name == "auto" else (name,)
    for one in names:
        try:
            # Only here: whoever has none of the libraries can use the rest of the room.
            module = import_module(f"blockwire.host.emulators.{one}_emulator")
        except (ImportError, OSError):
            # Not there, or its native part is of another system.
            continue
        make: Callable[..., Emulator] = module.new_emulator
        return make(
            columns,
            rows,
            foreground=foreground,
            background=background,
            ambiguous_width=ambiguous_width,
        )
    wanted = "" if name == "auto" else f" {name}"
    raise LocalProtocolError(
        "emulator_missing",
        f'there is no emulator{wanted} for the program\'s screen: pip install "blockwire[term]"',
    )
