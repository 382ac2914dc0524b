"""A whole answer, and the headers of every one.

Spec: docs/spec/gateway/routes.md, "Answers".
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from blockwire.jsontext import Json, encode_json

__all__ = ["PROTOCOL", "PROTOCOL_HEADER", "Answer", "json_answer", "with_base"]

PROTOCOL: Final = "1"
"""Version of what gateway and client speak (docs/spec/gateway/routes.md, "Answers")."""

PROTOCOL_HEADER: Final = "blockwire-protocol"


class Answer(Struct, frozen=True, kw_only=True):
    """A whole answer. ``has_etag`` lets it be revalidated by ``If-None-Match``."""

    status: int = 200
    body: bytes = b""
    media_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    has_etag: bool = False

    @property
    def etag(self) -> str:
        """The strong entity tag of the body."""
        return f'"{hashlib.blake2b(self.body, digest_size=16).hexdigest()}"'


def json_answer(
    value: Json, *, status: int = 200, has_etag: bool = False, **headers: str
) -> Answer:
    """Return an answer with a JSON body; ``headers`` name theirs with ``_`` for ``-``."""
    pairs = tuple((name.replace("_", "-"), text) for name, text in headers.items())
    return Answer(status=status, body=encode_json(value), headers=pairs, has_etag=has_etag)


BASE_HEADERS: Final[tuple[tuple[bytes, bytes], ...]] = (
    (PROTOCOL_HEADER.encode(), PROTOCOL.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""Headers of every answer."""

DEFAULT_HEADERS: Final[tuple[tuple[bytes, bytes], ...]] = (
    # Whatever a browser makes of an answer, it is no page: it runs nothing and loads nothing.
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; sandbox"),
    (b"cache-control", b"no-store"),
)
"""Headers of every answer that does not say otherwise."""


def with_base(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer, with those of every answer."""
    own = [*headers]
    names = {name for name, _value in own}
    return [*BASE_HEADERS, *(pair for pair in DEFAULT_HEADERS if pair[0] not in names), *own]
