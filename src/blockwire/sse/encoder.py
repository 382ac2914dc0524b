"""Values to event-stream bytes.

Spec: WHATWG HTML, "Server-sent events", "Parsing an event stream": every function here returns
whole lines and a blank line, so pieces can be joined in any order.
"""

import re
from typing import Final

from blockwire.errors import LocalProtocolError

# The three line ends of an event stream; nothing else ends a line in it.
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
# These would end the field, or make a reader ignore it.
_NOT_IN_FIELDS: Final = re.compile(r"[\r\n\x00]")


def encode_sse(data: bytes, *, event: str | None = None, id: str | None = None) -> bytes:  # noqa: A002 - the field's name
    """Return the bytes of one event.

    The id comes first, so that a reader that gives up on the data knows what it missed.

    Args:
        data: UTF-8 of any length. Each line break in it, also CR or CRLF, is read back as LF.
        event: The type; None for the default, ``message``.
        id: None leaves the reader's last event id as it is, an empty one clears it.

    Raises:
        LocalProtocolError: ``invalid_sse_field`` if ``event`` or ``id`` holds CR, LF, U+0000 or a
            lone surrogate.
    """
    if b"\n" in data or b"\r" in data:
        data = _LINE_END.sub(b"\ndata: ", data)
    id_line = b"" if id is None else b"id: %b\n" % _field_value(id)
    event_line = b"" if event is None else b"event: %b\n" % _field_value(event)
    return b"%b%bdata: %b\n\n" % (id_line, event_line, data)


def encode_comment(text: str = "") -> bytes:
    """Return a comment, which readers ignore; it keeps a quiet connection open.

    Each line of ``text`` becomes a comment line.

    Raises:
        LocalProtocolError: ``invalid_sse_field`` if ``text`` holds a lone surrogate.
    """
    lines = _LINE_END.split(_utf8(text))
    return b"".join([*(b": %b\n" % line if line else b":\n" for line in lines), b"\n"])


def encode_retry(delay_ms: int) -> bytes:
    """Return the field that tells readers how long to wait before they reconnect.

    Raises:
        LocalProtocolError: ``invalid_sse_field`` if the delay is negative.
    """
    if delay_ms < 0:
        raise LocalProtocolError("invalid_sse_field", "a delay is negative")
    return b"retry: %d\n\n" % delay_ms


def _field_value(value: str) -> bytes:
    # Printable text, which nearly all is, holds none of what is refused.
    if not value.isprintable() and _NOT_IN_FIELDS.search(value):
        raise LocalProtocolError("invalid_sse_field", "an id or event holds CR, LF or U+0000")
    return _utf8(value)


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise LocalProtocolError("invalid_sse_field", "a field holds a lone surrogate") from None
