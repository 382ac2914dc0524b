"""An outer terminal that is none of ours: pyte, and an eye on every byte that it is given.

What a frame should look like is computed here from its spans, cell by cell, by the widths of
:mod:`blockwire.text` alone.
"""

from __future__ import annotations

import importlib.util
import re
import unicodedata
from functools import cache
from types import ModuleType
from typing import Final

import pyte

from blockwire.host.emulator import LiveSpan, Look
from blockwire.host.painter import Frame, PaintRow
from blockwire.text import AmbiguousWidth, clusters, width
from tests.suites import suite_path

# Everything that a painter may write beside text: looks, links, places, ends of rows, moved rows,
# and a few modes. No ED, no SU, no SD, no LF.
ALLOWED: Final = re.compile(
    r"\x1b\[(?:[0-9;:]*m|\d+(?:;\d+)?H|\d+G|K|\d+;\d+r|\d+[ML]|\d q|\?(?:25|7|2026)[hl])"
    r"|\x1b\]8;[^\x1b]*\x1b\\"
)
SGR: Final = re.compile(r"\x1b\[([0-9;:]*)m")
COLOURS: Final = {None: "default", "red": "red", "blue": "blue"}


def row(*pieces: str | tuple[str, Look]) -> PaintRow:
    """Return a row of plain text and of text with looks."""
    return tuple(
        LiveSpan(piece, Look()) if isinstance(piece, str) else LiveSpan(*piece) for piece in pieces
    )


@cache
def check_terminal() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "check_terminal", suite_path("tools/check_terminal.py")
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def assert_harmless(data: bytes) -> None:
    """Demand that nothing but the few sequences of a painter is in ``data``."""
    text = data.decode()
    left = ALLOWED.sub("", text)
    assert not re.search(r"[\x00-\x1f\x7f-\x9f]", left)
    findings, _visible = check_terminal().scan(text, mode="live", bidi="refuse")
    assert findings == []
    look = ""
    for part in re.finditer(r"\x1b\[([0-9;:]*)m|\x1b\[K", text):
        if part[0] == "\x1b[K":
            assert look in {"", "0"}, "rows are erased in the plain look"
        else:
            look = part[1]
    assert look in {"", "0"}, "a frame ends in the plain look"


class Outer:
    """A terminal window.

    Attributes:
        fed: All that it was given.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.fed = b""

    def feed(self, data: bytes) -> None:
        assert_harmless(data)
        self.feed_anything(data)
        modes = self.screen.mode
        assert pyte.modes.DECAWM in modes, "automatic wrap is on between frames"
        assert 2026 << 5 not in modes, "a synchronized update ends"
        margins = self.screen.margins
        assert margins is None or margins == (0, self.screen.lines - 1)
        assert self.screen.cursor.attrs == self.screen.default_char

    def feed_anything(self, data: bytes) -> None:
        self.fed += data
        self._stream.feed(data)

    def resize(self, columns: int, rows: int) -> None:
        self.screen.resize(rows, columns)

    def texts(self) -> list[str]:
        return [line.rstrip(" ") for line in self.screen.display]

    def assert_shows(self, frame: Frame, ambiguous_width: AmbiguousWidth = 1) -> None:
        columns = self.screen.columns
        for number, spans in enumerate(frame.rows):
            line = self.screen.buffer[number]
            for column, cell in enumerate(expected_cells(spans, columns, ambiguous_width)):
                if cell is None:
                    continue  # of a cluster that pyte takes apart
                text, look = cell
                char = line[column]
                at = f"row {number}, column {column}"
                assert unicodedata.normalize("NFC", char.data) == text, at
                if text != "":
                    assert_look(char, look, at)
        if frame.cursor is None:
            assert self.screen.cursor.hidden
            return
        assert self.screen.cursor.hidden is not frame.cursor.is_visible
        assert (self.screen.cursor.y, self.screen.cursor.x) == frame.cursor[1::-1]


def assert_look(char: pyte.screens.Char, look: Look, at: str) -> None:
    is_blank = char.data == " " and look.background is None
    if not is_blank:
        assert char.fg == COLOURS.get(look.foreground, (look.foreground or "")[1:]), at
    assert char.bg == COLOURS.get(look.background, (look.background or "")[1:]), at
    for name, is_set in (
        ("bold", char.bold),
        ("italic", char.italics),
        ("underline", char.underscore),
        ("strikethrough", char.strikethrough),
        ("inverse", char.reverse),
    ):
        if not is_blank or name in {"underline", "strikethrough", "inverse"}:
            assert is_set is (name in look.attributes), f"{at}: {name}"


def expected_cells(
    spans: PaintRow, columns: int, ambiguous_width: AmbiguousWidth
) -> list[tuple[str, Look] | None]:
    """Return what is to stand in each cell; None where terminals disagree."""
    cells: list[tuple[str, Look] | None] = []
    looks = [span.look for span in spans for _ in span.text]
    at = 0
    for cluster in clusters("".join(span.text for span in spans)):
        look, at = looks[at], at + len(cluster)
        # There is an emulator that has a cell for DEL.
        shown = cluster.replace("\x7f", "\u2421")
        count = width(shown, ambiguous_width=ambiguous_width)
        if len(cells) + count > columns:
            break
        is_sure = all(map(unicodedata.combining, cluster[1:]))
        text = unicodedata.normalize("NFC", shown)
        cells += [(text, look), *[("", look)] * (count - 1)] if is_sure else [None] * count
    return cells + [(" ", Look())] * (columns - len(cells))
