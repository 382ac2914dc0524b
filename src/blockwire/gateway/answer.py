"""A whole answer, and the headers of every one.

Spec: docs/spec/gateway/routes.md, "Answers".
"""

from __future__ import annotations

import hashlib
from typing import Final

from msgspec import Struct

from blockwire.jsontext import Json, encode_json

__all__ = ["PROTOCOL", "PROTOCOL_HEADER", "Answer", "base_headers", "json_answer"]

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


def base_headers() -> list[tuple[bytes, bytes]]:
    """Return the headers of every answer."""
    return [
        (PROTOCOL_HEADER.encode(), PROTOCOL.encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
    ]
