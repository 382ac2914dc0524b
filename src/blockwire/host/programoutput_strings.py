"""What the operating system commands (OSC) of a program say.

Spec: docs/spec/host/emulation.md, "Control strings". :data:`READERS` is the table of all that are
understood; every other control string is dropped.
"""

from __future__ import annotations

import re
from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import quote

from blockwire.host.emulators.palette import PALETTE
from blockwire.host.programoutput_events import (
    ClipboardWritten,
    Notified,
    ProgramEvent,
    ProgramReply,
    Progress,
    PromptMark,
    Text,
    Title,
    WorkingDirectory,
)
from blockwire.terminal import is_valid_link
from blockwire.text import label_controls

TITLE_CHARS_MAX: Final = 4_096
"""Of titles and notifications; what is longer is cut."""

CLIPBOARD_BYTES_MAX: Final = 1_048_576
"""Of what a program copies; more is not copied at all."""

STRING_BYTES_MAX: Final = 4 * TITLE_CHARS_MAX
"""What is kept of the content of a string that copies nothing."""

CLIPBOARD_STRING_BYTES_MAX: Final = 4 * -(-CLIPBOARD_BYTES_MAX // 3) + 32
"""What is kept of one that does: Base64, the number and the selection."""

_CLIPBOARD: Final = b"52;"
_C0: Final = bytes(range(32))
_SELECTION: Final = re.compile(r"[cpqs0-7]{0,12}")
_PROMPT_MARK: Final = re.compile(r"[A-Z](?:;[ -~]*)?")
_PROGRESS: Final = re.compile(r"4;([0-4](?:;(?:100|[0-9]{1,2})?)?)")
# ConEmu's commands, of which only progress is wanted; text that begins like one is none.
_CONEMU: Final = re.compile(r"[0-9]{1,2}(?:;|\Z)")
_PALETTE_INDEX: Final = re.compile(r"[0-9]{1,3}")
_URI_SAFE: Final = "!#$%&'()*+,/:;=?@[]~"


class TerminalColours(NamedTuple):
    """What is known of the colours of the terminal: ``#rrggbb``, or None.

    Attributes:
        palette: Those of the first 16, as far as they are known.
    """

    foreground: str | None = None
    background: str | None = None
    cursor: str | None = None
    palette: Mapping[int, str] = MappingProxyType({})


class OscCommand(NamedTuple):
    """An OSC that came to its end.

    Attributes:
        text: What follows the number.
        terminator: What it ended with; an answer ends the same way.
        colours: What questions about colours are answered with.
    """

    number: int
    text: str
    terminator: bytes
    colours: TerminalColours


OscReader: TypeAlias = Callable[[OscCommand], Sequence[ProgramEvent]]


def content_bytes_max(content: bytes | bytearray) -> int:
    """Return how much is kept of a string that begins with ``content``."""
    return CLIPBOARD_STRING_BYTES_MAX if content.startswith(_CLIPBOARD) else STRING_BYTES_MAX


def read_osc(
    content: bytes, terminator: bytes, colours: TerminalColours, *, is_cut: bool
) -> Sequence[ProgramEvent]:
    """Return what an OSC says.

    Args:
        content: What stands between introducer and terminator.
        terminator: BEL or ST.
        colours: What questions about colours are answered with.
        is_cut: Whether ``content`` is only the beginning of what was too long.
    """
    number, _, rest = content.translate(None, _C0).partition(b";")
    reader = READERS.get(number)
    if reader is None or (is_cut and number not in _CUTTABLE):
        return ()
    text = rest.decode("utf-8", "replace")
    return reader(OscCommand(int(number), text, terminator, colours))


def _clean(text: str) -> str:
    """Return ``text`` without what acts or is not seen."""
    text = text[:TITLE_CHARS_MAX]
    if text.isprintable():
        return text
    return "".join([it for it in text if label_controls(it, breaks="label", tabs="label") == it])


def _read_title(command: OscCommand) -> Sequence[ProgramEvent]:
    return (Title(_clean(command.text)),)


def _read_working_directory(command: OscCommand) -> Sequence[ProgramEvent]:
    uri = quote(command.text.encode(), safe=_URI_SAFE)
    return (WorkingDirectory(uri),) if uri.startswith("file://") else ()


def _read_link(command: OscCommand) -> Sequence[ProgramEvent]:
    parameters, separator, uri = command.text.partition(";")
    if not separator or not (parameters.isascii() and parameters.isprintable()):
        return ()
    # A link that is none ends the one before it, as every link does.
    if not is_valid_link(uri):
        parameters = uri = ""
    return (Text(f"\x1b]8;{parameters};{uri}\x1b\\".encode()),)


def _read_notification(command: OscCommand) -> Sequence[ProgramEvent]:
    if match := _PROGRESS.fullmatch(command.text):
        return (Progress(match[1]),)
    if _CONEMU.match(command.text):
        return ()
    return _notified(command.text)


def _read_extension(command: OscCommand) -> Sequence[ProgramEvent]:
    verb, *parts = command.text.split(";", 2)
    return _notified(": ".join([it for it in parts if it])) if verb == "notify" else ()


def _notified(text: str) -> Sequence[ProgramEvent]:
    text = _clean(text)
    return (Notified(text),) if text else ()


def _read_clipboard(command: OscCommand) -> Sequence[ProgramEvent]:
    selection, separator, encoded = command.text.partition(";")
    if not separator or encoded == "?" or not _SELECTION.fullmatch(selection):
        return ()
    try:
        data = a2b_base64(encoded, strict_mode=True) if encoded else b""
    except (Base64Error, ValueError):
        return ()
    # Without a letter xterm means the selection that is set up, and the first buffer.
    return (ClipboardWritten(selection or "s0", data),) if len(data) <= CLIPBOARD_BYTES_MAX else ()


def _read_prompt_mark(command: OscCommand) -> Sequence[ProgramEvent]:
    return (PromptMark(command.text),) if _PROMPT_MARK.fullmatch(command.text) else ()


def _read_colours(command: OscCommand) -> Sequence[ProgramEvent]:
    """Answer what is asked of foreground (10), background (11), cursor (12), and those after."""
    known = command.colours[:3]
    answers = [
        _colour_answer(command, str(number), known[number - 10])
        for number, wanted in enumerate(command.text.split(";")[:3], start=command.number)
        if wanted == "?" and number - 10 < len(known)
    ]
    return [it for it in answers if it is not None]


def _read_palette(command: OscCommand) -> Sequence[ProgramEvent]:
    parts = command.text.split(";")
    answers = [
        _colour_answer(command, f"4;{int(index)}", _palette_colour(int(index), command.colours))
        for index, wanted in zip(parts[::2], parts[1::2], strict=False)
        if wanted == "?" and _PALETTE_INDEX.fullmatch(index)
    ]
    return [it for it in answers if it is not None]


def _palette_colour(index: int, colours: TerminalColours) -> str | None:
    if index in colours.palette:
        return colours.palette[index]
    return PALETTE[index] if 16 <= index < len(PALETTE) else None


def _colour_answer(command: OscCommand, what: str, colour: str | None) -> ProgramReply | None:
    if colour is None:
        return None
    levels = "/".join([colour[at : at + 2] * 2 for at in (1, 3, 5)])
    return ProgramReply(b"\x1b]%b;rgb:%b%b" % (what.encode(), levels.encode(), command.terminator))


READERS: Final[Mapping[bytes, OscReader]] = MappingProxyType(
    {
        b"0": _read_title,
        b"2": _read_title,
        b"4": _read_palette,
        b"7": _read_working_directory,
        b"8": _read_link,
        b"9": _read_notification,
        b"10": _read_colours,
        b"11": _read_colours,
        b"12": _read_colours,
        b"52": _read_clipboard,
        b"133": _read_prompt_mark,
        b"777": _read_extension,
    }
)
"""By number: who reads it."""

# The beginning of these says enough.
_CUTTABLE: Final = frozenset({b"0", b"2", b"9", b"777"})
