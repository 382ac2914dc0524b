"""What a program writes, read for a screen of pyte's cells.

Spec: docs/spec/host/emulation.md. pyte's own reader raises for a sequence with more parameters than it
expects, and knows no modes, no reports and no subparameters of today. :data:`_SEQUENCES`,
:data:`_ESCAPES` and :data:`_CONTROLS` are the tables of all that is done here.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final, TypeAlias

from pyte import modes as pyte_modes

from blockwire.host.emulator import Look
from blockwire.host.emulators.pyte_screen import Line, ProgramScreen, StoredCell
from blockwire.host.emulators.replies import allowed_replies
from blockwire.host.emulators.sgr import read_parameter, select_graphic_rendition
from blockwire.terminal import is_valid_link

__all__ = ["ProgramReader"]

HELD_CHARS_MAX: Final = 32_768
"""Of a sequence that is not whole; a longer one is shown as text. Links are the longest."""

_TOKEN: Final = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    r"|\x1b\[(?P<private>[<=>?]?)(?P<parameters>[0-9;:]*)(?P<middle>[ -/]*)(?P<final>[@-~])"
    r"|\x1b\]8;(?P<link>[^\x07\x1b]*)(?:\x07|\x1b\\)"
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"
    r"|\x1b(?P<between>[ -/]*)(?P<escape>[0-OQ-WYZ\\`-~])"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f-\x9f])",
)
# What may become a token with more characters.
_BEGINNING: Final = re.compile(r"\x1b(?:\[[ -?]*|[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?)\Z")

# What DECRQM is answered for, beside those that are on.
_MODES_KNOWN: Final = frozenset(
    {1, 5, 6, 7, 9, 25, 47, 66, 1000, 1002, 1003, 1004, 1006, 1007, 1047, 1048, 1049, 2004, 2026}
)
_ANSI_MODES_KNOWN: Final = frozenset({pyte_modes.IRM, pyte_modes.LNM})
_MODES_AT_START: Final = (7, 25, 1007)


class ProgramReader:
    """Reads what a program writes, and does to its screen what it says.

    Attributes:
        screen: The cells.
        shape: The parameter of DECSCUSR.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.screen = ProgramScreen(columns, rows)
        self.shape = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._replies: list[str] = []
        self.reset()

    def feed(self, data: bytes) -> bytes:
        """Show ``data`` and return the replies to it."""
        text = self._held + self._decoder.decode(data)
        self._held = ""
        position = 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is not None:
                self._act(match)
                position = match.end()
            elif _BEGINNING.match(text, position) and len(text) - position <= HELD_CHARS_MAX:
                self._held = text[position:]
                break
            else:
                # An ESC that begins nothing.
                position += 1
        replies = allowed_replies("".join(self._replies).encode())
        self._replies.clear()
        return replies

    def _act(self, match: re.Match[str]) -> None:
        screen = self.screen
        match match.lastgroup:
            case "text":
                screen.draw(match["text"])
            case "final":
                key = match["private"] + match["middle"] + match["final"]
                if key == "m":
                    pen = screen.cursor.attrs
                    look = select_graphic_rendition(pen.look, match["parameters"])
                    screen.cursor.attrs = pen._replace(look=look)
                elif (act := _SEQUENCES.get(key)) is not None:
                    parts = match["parameters"].replace(":", ";").split(";")
                    act(self, [read_parameter(it) for it in parts])
            case "link":
                uri = match["link"].partition(";")[2]
                look = screen.cursor.attrs.look._replace(link=uri if is_valid_link(uri) else None)
                screen.cursor.attrs = screen.cursor.attrs._replace(look=look)
            case "escape":
                self._act_on_escape(match["between"], match["escape"])
            case "control":
                if (control := _CONTROLS.get(match["control"])) is not None:
                    control(screen)
            case _:
                pass

    def _act_on_escape(self, between: str, final: str) -> None:
        if between in {"(", ")"}:
            self.screen.define_charset(final, between)
        elif (act := _ESCAPES.get(between + final)) is not None:
            act(self)

    def reset(self) -> None:
        """Begin anew (RIS)."""
        self.screen.reset()
        self.shape = 0
        for number in _MODES_AT_START:
            self.screen.switch_mode(number, is_private=True, is_on=True)

    def reset_softly(self, parameters: list[int]) -> None:
        """Reset modes and pen (DECSTR)."""
        del parameters
        screen = self.screen
        screen.margins = None
        screen.cursor.attrs = screen.default_char
        for number, is_on in ((1, False), (6, False), (7, True), (25, True), (66, False)):
            screen.switch_mode(number, is_private=True, is_on=is_on)
        screen.switch_mode(4, is_private=False, is_on=False)

    def switch_modes(self, parameters: list[int], *, is_private: bool, is_on: bool) -> None:
        """Switch modes (SM, RM) and do what they do at once."""
        screen = self.screen
        for number in parameters:
            screen.switch_mode(number, is_private=is_private, is_on=is_on)
            if not is_private:
                continue
            if number == 6:
                screen.cursor_position()
            elif number in {1048, 1049} and is_on:
                screen.save_cursor()
            if number in {47, 1047, 1049}:
                (screen.show_alternate if is_on else screen.show_primary)()
            if number in {1048, 1049} and not is_on:
                screen.restore_cursor()

    def set_margins(self, parameters: list[int]) -> None:
        """Set the region that scrolls (DECSTBM)."""
        top, bottom = [*parameters, 0][:2]
        bottom = bottom or self.screen.lines
        if (top, bottom) in {(0, self.screen.lines), (1, self.screen.lines)}:
            self.screen.margins = None
            self.screen.cursor_position()
        else:
            self.screen.set_margins(top, bottom)

    def erase_display(self, parameters: list[int]) -> None:
        """Erase in the screen (ED)."""
        self.screen.erase_in_display(parameters[0])

    def tell_status(self, parameters: list[int]) -> None:
        """Answer DSR."""
        if parameters[0] == 5:
            self._replies.append("\x1b[0n")
        elif parameters[0] == 6:
            column, row = min(self.screen.cursor.x, self.screen.columns - 1), self.screen.cursor.y
            if self.screen.has_mode(6) and self.screen.margins is not None:
                row -= self.screen.margins[0]
            self._replies.append(f"\x1b[{row + 1};{column + 1}R")

    def tell_mode(self, parameters: list[int]) -> None:
        """Answer DECRQM for a private mode."""
        number = parameters[0]
        known = 2 if number in _MODES_KNOWN else 0
        self._replies.append(f"\x1b[?{number};{1 if self.screen.has_mode(number) else known}$y")

    def tell_ansi_mode(self, parameters: list[int]) -> None:
        """Answer DECRQM for another mode."""
        number = parameters[0]
        known = 2 if number in _ANSI_MODES_KNOWN else 0
        self._replies.append(f"\x1b[{number};{1 if number in self.screen.mode else known}$y")

    def tell_size(self, parameters: list[int]) -> None:
        """Answer what the size in cells is."""
        if parameters[0] == 18:
            self._replies.append(f"\x1b[8;{self.screen.lines};{self.screen.columns}t")

    def tell_attributes(self, parameters: list[int]) -> None:
        """Answer DA1."""
        if not parameters[0]:
            self._replies.append("\x1b[?62;22c")

    def tell_version(self, parameters: list[int]) -> None:
        """Answer DA2."""
        if not parameters[0]:
            self._replies.append("\x1b[>1;0;0c")

    def set_shape(self, parameters: list[int]) -> None:
        """Set the shape of the cursor (DECSCUSR)."""
        if parameters[0] <= 6:
            self.shape = parameters[0]


_Act: TypeAlias = Callable[[ProgramReader, list[int]], None]


def _counted(name: str) -> _Act:
    """Return what calls a method of the screen with a count, of which 0 means 1."""

    def act(reader: ProgramReader, parameters: list[int]) -> None:
        getattr(reader.screen, name)(max(parameters[0], 1))

    return act


def _placed(reader: ProgramReader, parameters: list[int]) -> None:
    line, column = [*parameters, 0][:2]
    reader.screen.cursor_position(line, column)


def _erased(reader: ProgramReader, parameters: list[int]) -> None:
    reader.screen.erase_in_line(parameters[0])


def _stop_cleared(reader: ProgramReader, parameters: list[int]) -> None:
    reader.screen.clear_tab_stop(parameters[0])


def _fill(screen: ProgramScreen) -> None:
    """Fill the screen with E (DECALN); pyte's own way takes a hundred times as long."""
    pen = screen.cursor.attrs.look
    look = Look(pen.foreground, pen.background, link=pen.link)
    screen.cursor.attrs = StoredCell(look=look)
    screen.margins = None
    screen.cursor_position()
    for row in range(screen.lines):
        line = Line()
        line.update(dict.fromkeys(range(screen.columns), StoredCell("E", look._replace(link=None))))
        screen.buffer[row] = line
    screen.dirty.update(range(screen.lines))


def _modes(*, is_private: bool, is_on: bool) -> _Act:
    return partial(ProgramReader.switch_modes, is_private=is_private, is_on=is_on)


# Private marker, intermediates and final byte -> what is done.
_SEQUENCES: Final[Mapping[str, _Act]] = MappingProxyType(
    {
        "@": _counted("insert_characters"),
        "A": _counted("cursor_up"),
        "B": _counted("cursor_down"),
        "C": _counted("cursor_forward"),
        "D": _counted("cursor_back"),
        "E": _counted("cursor_down1"),
        "F": _counted("cursor_up1"),
        "G": _counted("cursor_to_column"),
        "H": _placed,
        "I": _counted("tab_forward"),
        "J": ProgramReader.erase_display,
        "K": _erased,
        "L": _counted("insert_lines"),
        "M": _counted("delete_lines"),
        "P": _counted("delete_characters"),
        "S": _counted("scroll_up"),
        "T": _counted("scroll_down"),
        "X": _counted("erase_characters"),
        "Z": _counted("tab_back"),
        "`": _counted("cursor_to_column"),
        "a": _counted("cursor_forward"),
        "b": _counted("repeat"),
        "c": ProgramReader.tell_attributes,
        ">c": ProgramReader.tell_version,
        "d": _counted("cursor_to_line"),
        "e": _counted("cursor_down"),
        "f": _placed,
        "g": _stop_cleared,
        "h": _modes(is_private=False, is_on=True),
        "?h": _modes(is_private=True, is_on=True),
        "l": _modes(is_private=False, is_on=False),
        "?l": _modes(is_private=True, is_on=False),
        "n": ProgramReader.tell_status,
        "!p": ProgramReader.reset_softly,
        "$p": ProgramReader.tell_ansi_mode,
        "?$p": ProgramReader.tell_mode,
        " q": ProgramReader.set_shape,
        "r": ProgramReader.set_margins,
        "s": lambda reader, _: reader.screen.save_cursor(),
        "t": ProgramReader.tell_size,
        "u": lambda reader, _: reader.screen.restore_cursor(),
    }
)

_ESCAPES: Final[Mapping[str, Callable[[ProgramReader], None]]] = MappingProxyType(
    {
        "#8": lambda reader: _fill(reader.screen),
        "7": lambda reader: reader.screen.save_cursor(),
        "8": lambda reader: reader.screen.restore_cursor(),
        "=": lambda reader: reader.switch_modes([66], is_private=True, is_on=True),
        ">": lambda reader: reader.switch_modes([66], is_private=True, is_on=False),
        "D": lambda reader: reader.screen.index(),
        "E": lambda reader: reader.screen.next_line(),
        "H": lambda reader: reader.screen.set_tab_stop(),
        "M": lambda reader: reader.screen.reverse_index(),
        "Z": lambda reader: reader.tell_attributes([0]),
        "c": lambda reader: reader.reset(),
    }
)

_CONTROLS: Final[Mapping[str, Callable[[ProgramScreen], None]]] = MappingProxyType(
    {
        "\b": lambda screen: screen.backspace(),
        "\t": lambda screen: screen.tab(),
        "\n": lambda screen: screen.linefeed(),
        "\v": lambda screen: screen.linefeed(),
        "\f": lambda screen: screen.linefeed(),
        "\r": lambda screen: screen.carriage_return(),
        "\x0e": lambda screen: screen.shift_out(),
        "\x0f": lambda screen: screen.shift_in(),
    }
)
