"""``Range`` and the conditions of a download (RFC 9110, sections 13 and 14). Pure.

Spec: docs/spec/gateway/attachments.md, "Download".
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

__all__ = ["ByteRange", "matches_tag", "read_range"]

# One range; several, and other units, are answered with the whole.
_RANGE: Final = re.compile(r"bytes=[ \t]*(?P<first>[0-9]*)-(?P<last>[0-9]*)[ \t]*\Z", re.IGNORECASE)
_DIGITS_MAX: Final = 19


class ByteRange(NamedTuple):
    """Bytes ``start`` to ``end``, which is not included; an empty one cannot be answered."""

    start: int
    end: int


def read_range(
    header: str | None, if_range: str | None, *, size_bytes: int, etag: str
) -> ByteRange | None:
    """Return the part that is asked for, or None for the whole.

    A header that cannot be understood asks for the whole, and so does one whose ``If-Range`` is
    another version than the one that is there.
    """
    match = None if header is None else _RANGE.match(header)
    if match is None or (if_range is not None and if_range.strip() != etag):
        return None
    first, last = match["first"], match["last"]
    if max(len(first), len(last)) > _DIGITS_MAX or not first + last:
        return None
    if not first:
        return ByteRange(max(size_bytes - int(last), 0), size_bytes)
    if last and int(last) < int(first):
        return None
    end = min(int(last) + 1, size_bytes) if last else size_bytes
    return ByteRange(min(int(first), size_bytes), end)


def matches_tag(header: list[str], etag: str) -> bool:
    """Return whether ``If-None-Match`` names what is there."""
    tags = {tag.strip().removeprefix("W/") for line in header for tag in line.split(",")}
    return bool(tags & {etag, "*"})
