"""Places inside a JSON text: pointers to them and the exact source that stands there.

Spec: docs/spec/content/json.md and docs/spec/content/keys.md: a block keeps the exact source slice of what
had to be changed in it (``input_json``); RFC 6901 for pointers.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

import jiter

_BLANKS: Final = re.compile(rb"[ \t\n\r]*+")
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
# A number or a word; the text is known to be valid, so the first delimiter ends it.
_SCALAR: Final = re.compile(rb'[^ \t\n\r,:\[\]{}"]++')
# What matters when a whole array or object is skipped. Strings come first: brackets in them do not.
_BRACKET: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[{]|[\]}]', re.DOTALL)

_OPENING: Final = frozenset({b"[", b"{"})
_CLOSING: Final = frozenset({b"]", b"}"})


def pointer(tokens: Iterable[str | int]) -> str:
    """Return the JSON Pointer (RFC 6901) of a place; the root is the empty string."""
    return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in tokens)


def member_source(data: bytes, path: Sequence[str | int]) -> bytes | None:
    """Return the source slice of one value inside a JSON text, without the blanks around it.

    Args:
        data: A text that :func:`blockwire.jsontext.decode_json` accepts.
        path: Names of object members and indexes (from 0) of array items; empty for the root.

    Returns:
        The slice, byte for byte, or None if there is no such place. Of a text that is not valid
        some slice or None. Takes time linear in the length of ``data``.
    """
    start = _skip_blanks(data, 0)
    for token in path:
        found = _find_member(data, start, token)
        if found is None:
            return None
        start = found
    end = _skip_value(data, start)
    return None if end is None else data[start:end]


def _find_member(data: bytes, start: int, token: str | int) -> int | None:
    if isinstance(token, str):
        return _find_named(data, start, token) if data[start : start + 1] == b"{" else None
    return _find_indexed(data, start, token) if data[start : start + 1] == b"[" else None


def _find_named(data: bytes, start: int, name: str) -> int | None:
    """Return where the value of the member begins, in the object that begins at ``start``."""
    position = _skip_blanks(data, start + 1)
    while key := _STRING.match(data, position):
        position = _skip_blanks(data, key.end())
        if data[position : position + 1] != b":":
            return None
        value_start = _skip_blanks(data, position + 1)
        if _is_name(key.group(), name):
            return value_start
        following = _skip_item(data, value_start)
        if following is None:
            return None
        position = following
    return None


def _find_indexed(data: bytes, start: int, index: int) -> int | None:
    """Return where the item begins, in the array that begins at ``start``."""
    position = _skip_blanks(data, start + 1)
    if index < 0 or data[position : position + 1] == b"]":
        return None
    for _ in range(index):
        following = _skip_item(data, position)
        if following is None:
            return None
        position = following
    return position


def _is_name(key: bytes, name: str) -> bool:
    if b"\\" not in key:
        return key[1:-1] == name.encode()
    # Escapes in names are rare; the string has been accepted already, so this cannot fail on a
    # valid text.
    try:
        return bool(jiter.from_json(key) == name)
    except ValueError:
        return False


def _skip_item(data: bytes, start: int) -> int | None:
    """Return where the item after the one at ``start`` begins; None if it was the last."""
    end = _skip_value(data, start)
    if end is None:
        return None
    position = _skip_blanks(data, end)
    return _skip_blanks(data, position + 1) if data[position : position + 1] == b"," else None


def _skip_value(data: bytes, start: int) -> int | None:
    """Return where the value that begins at ``start`` ends; None if nothing whole is there."""
    if data[start : start + 1] not in _OPENING:
        scalar = _STRING.match(data, start) or _SCALAR.match(data, start)
        return scalar.end() if scalar else None
    depth = 0
    for mark in _BRACKET.finditer(data, start):
        if mark.group() in _OPENING:
            depth += 1
        elif mark.group() in _CLOSING:
            depth -= 1
            if depth == 0:
                return mark.end()
    return None


def _skip_blanks(data: bytes, position: int) -> int:
    blanks = _BLANKS.match(data, position)
    assert blanks is not None, "the pattern matches the empty string"
    return blanks.end()
