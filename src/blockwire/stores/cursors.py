"""Opaque cursors of lists: where the last page ended, as text that nobody should read.

Spec: docs/spec/gateway/routes.md, "Lists".
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

from blockwire.errors import RemoteProtocolError, StoreError
from blockwire.jsontext import SAFE_INTEGER_MAX, Json, decode_json, encode_json

__all__ = ["decode_list_cursor", "decode_turn_cursor", "encode_cursor"]

# Characters; ids have at most 256, which may be escaped.
_CURSOR_CHARS_MAX: Final = 4096


def encode_cursor(*place: str | int) -> str:
    """Return an opaque cursor, safe in a URL, that names ``place``."""
    return urlsafe_b64encode(encode_json(list(place))).decode().rstrip("=")


def decode_list_cursor(cursor: str) -> tuple[int, str]:
    """Return time and id at which a list of conversations ended.

    Raises:
        StoreError: ``invalid_cursor``.
    """
    match _decode(cursor):
        case [int(created_at), str(conversation_id)] if _is_number(created_at):
            return created_at, conversation_id
        case _:
            raise _invalid()


def decode_turn_cursor(cursor: str) -> int:
    """Return the number at which a list of turns ended.

    Raises:
        StoreError: ``invalid_cursor``.
    """
    match _decode(cursor):
        case [int(number)] if _is_number(number):
            return number
        case _:
            raise _invalid()


def _is_number(value: int) -> bool:
    return not isinstance(value, bool) and 0 <= value <= SAFE_INTEGER_MAX


def _decode(cursor: str) -> Json:
    if len(cursor) > _CURSOR_CHARS_MAX:
        raise _invalid()
    try:
        data = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        return decode_json(data)
    except (UnicodeEncodeError, binascii.Error, RemoteProtocolError):
        raise _invalid() from None


def _invalid() -> StoreError:
    return StoreError("invalid_cursor", "this is not a cursor of this list")
