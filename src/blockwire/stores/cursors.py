"""Opaque cursors of lists: where the last page ended, as text that nobody should read.

Spec: docs/spec/gateway/routes.md, "Lists".
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

from msgspec import Struct

from blockwire.errors import RemoteProtocolError, StoreError
from blockwire.jsontext import SAFE_INTEGER_MAX, Json, decode_json, encode_json

__all__ = [
    "SearchPlace",
    "decode_list_cursor",
    "decode_search_cursor",
    "decode_turn_cursor",
    "encode_cursor",
    "encode_search_cursor",
]

# Characters; ids have at most 256, which may be escaped.
_CURSOR_CHARS_MAX: Final = 4096
# Of a search, with six ids.
_SEARCH_CURSOR_CHARS_MAX: Final = 6 * _CURSOR_CHARS_MAX


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


class SearchPlace(Struct, frozen=True):
    """Where a page of a search ended.

    Attributes:
        is_strong: Whether among the blocks that the query is about.
        start: Conversation, message and block of the newest candidate that was ranked with the last.
        score: Of the last.
        last: Conversation, message and block of the last.
    """

    is_strong: bool
    start: tuple[str, str, str]
    score: int
    last: tuple[str, str, str]


def encode_search_cursor(place: SearchPlace, request_digest: str) -> str:
    """Return an opaque cursor that names ``place`` in the hits of one request."""
    return encode_cursor(
        request_digest, int(place.is_strong), *place.start, place.score, *place.last
    )


def decode_search_cursor(cursor: str, request_digest: str) -> SearchPlace:
    """Return where a search ended.

    Raises:
        StoreError: ``invalid_cursor``, also for the cursor of another request.
    """
    match _decode(cursor, _SEARCH_CURSOR_CHARS_MAX):
        case [
            str(digest),
            int(is_strong),
            str(first),
            str(second),
            str(third),
            int(score),
            str(fourth),
            str(fifth),
            str(sixth),
        ] if _is_number(is_strong) and _is_number(score) and digest == request_digest:
            start, last = (first, second, third), (fourth, fifth, sixth)
            return SearchPlace(bool(is_strong), start, score, last)
        case _:
            raise _invalid()


def _is_number(value: int) -> bool:
    return not isinstance(value, bool) and 0 <= value <= SAFE_INTEGER_MAX


def _decode(cursor: str, chars_max: int = _CURSOR_CHARS_MAX) -> Json:
    if len(cursor) > chars_max:
        raise _invalid()
    try:
        data = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        return decode_json(data)
    except (UnicodeEncodeError, binascii.Error, RemoteProtocolError):
        raise _invalid() from None


def _invalid() -> StoreError:
    return StoreError("invalid_cursor", "this is not a cursor of this list")
