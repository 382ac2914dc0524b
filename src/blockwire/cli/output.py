"""How text leaves the program.

Spec: docs/reference/cli.md.
"""

from __future__ import annotations

import contextlib
import re
import sys
from typing import Final

from blockwire.errors import LocalProtocolError
from blockwire.jsontext import Json, encode_json
from blockwire.text import label_controls

__all__ = [
    "OutputClosedError",
    "draw_transient",
    "erase_transient",
    "note",
    "one_line",
    "write",
    "write_bytes",
    "write_json",
]


_STYLES_AT_END: Final = re.compile(r"(?:\x1b\[[0-9;]*m)+\Z")


class _Line:
    """What stands in the terminal's last row; there is one terminal.

    Attributes:
        is_open: The last row of standard output has no end yet.
        is_transient: A row of progress stands there, on standard error.
    """

    is_open = False
    is_transient = False


class OutputClosedError(Exception):
    """Nobody reads standard output any more: nothing went wrong, and there is nobody to tell."""


def write(text: str) -> None:
    """Write to standard output at once.

    Raises:
        OutputClosedError: Its reader has left.
        LocalProtocolError: ``output_failed``.
    """
    if text:
        _put(text)


def write_utf8(text: str) -> None:
    """Write text that is UTF-8 whatever the locale says; raises as :func:`write`."""
    if text:
        sys.stdout.flush()
        _put(text.encode())


def write_bytes(data: bytes) -> None:
    """Write the bytes of a file; raises as :func:`write`."""
    if data:
        sys.stdout.flush()
        _put(data)


def write_json(value: Json) -> None:
    """Write one line of JSON, which is UTF-8 whatever the locale says; raises as :func:`write`."""
    sys.stdout.flush()
    _put(encode_json(value) + b"\n")


def _put(data: str | bytes) -> None:
    if _Line.is_transient and sys.stdout.isatty():
        erase_transient()
    try:
        if isinstance(data, str):
            sys.stdout.write(data)
        else:
            sys.stdout.buffer.write(data)
        sys.stdout.flush()
        _Line.is_open = isinstance(data, str) and not _STYLES_AT_END.sub("", data).endswith("\n")
    except BrokenPipeError:
        raise OutputClosedError from None
    except OSError as error:
        raise LocalProtocolError(
            "output_failed", f"standard output cannot be written: {error.strerror}"
        ) from None


def one_line(text: str) -> str:
    """Return text for one line of a terminal: nothing in it can act."""
    return label_controls(text, breaks="label", tabs="label")


def note(text: str) -> None:
    """Say something to the person on standard error; nothing in it can act on a terminal.

    On a terminal that also shows an answer it gets rows of its own, in the middle of that too.
    """
    # Whoever closed it does not want to hear it, and that ends no work.
    erase_transient()
    with contextlib.suppress(OSError):
        if _Line.is_open and sys.stdout.isatty() and sys.stderr.isatty():
            _Line.is_open = False
            sys.stderr.write("\n")
        sys.stderr.write("".join(f"{one_line(line)}\n" for line in text.split("\n")))
        sys.stderr.flush()


def draw_transient(row: str) -> None:
    """Show a row on the terminal of standard error, instead of the one that was drawn before.

    Args:
        row: Safe for a terminal, and shorter than it is wide.
    """
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"\r\x1b[K{row}")
        sys.stderr.flush()
        _Line.is_transient = True


def erase_transient() -> None:
    """Remove the row that was drawn, if any."""
    if _Line.is_transient:
        _Line.is_transient = False
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
