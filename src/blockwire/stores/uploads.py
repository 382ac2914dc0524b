"""An upload as it passes into a store: its pieces, its hash, its type, its size.

Spec: docs/spec/gateway/attachments.md, "Storing". The same for every store.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, AsyncIterable
from typing import Final

from blockwire.content.filetypes import FileSniffer
from blockwire.errors import StoreError

__all__ = ["CHUNK_BYTES", "UploadMeter", "attachment_not_found", "even_chunks", "quota_error"]

CHUNK_BYTES: Final = 256 * 1024
"""Content lies in pieces of this size, the last one shorter; a commit takes one of an upload."""


def attachment_not_found() -> StoreError:
    """Return the refusal to read what is not there."""
    return StoreError("attachment_not_found", "there is no such attachment")


def quota_error(*, of_tenant: bool) -> StoreError:
    """Return the refusal of what would be more than may be kept."""
    if of_tenant:
        return StoreError(
            "quota_exceeded",
            "the attachments would take more room than allowed: delete conversations with large "
            "ones, or ask for a larger quota",
        )
    return StoreError(
        "storage_exceeded", "the gateway has no room for more attachments", retryable=True
    )


class UploadMeter:
    """Measures content that is fed to it in order.

    Args:
        size_bytes_max: What the content may have.

    Attributes:
        size_bytes: What was fed so far.
    """

    def __init__(self, size_bytes_max: int) -> None:
        self.size_bytes = 0
        self._size_bytes_max = size_bytes_max
        self._hash = hashlib.sha256()
        self._sniffer = FileSniffer()

    def feed(self, data: bytes) -> None:
        """Take the next bytes. Raises StoreError ``attachment_too_large``."""
        self.size_bytes += len(data)
        if self.size_bytes > self._size_bytes_max:
            raise StoreError(
                "attachment_too_large",
                f"an attachment may have {self._size_bytes_max} bytes",
            )
        self._hash.update(data)
        self._sniffer.feed(data)

    @property
    def sha256(self) -> str:
        """Of what was fed, hexadecimal."""
        return self._hash.hexdigest()

    def media_type(self, claimed: str | None) -> str:
        """Return the type of what was fed, which is all."""
        return self._sniffer.finish(claimed)


async def even_chunks(
    chunks: AsyncIterable[bytes], meter: UploadMeter
) -> AsyncGenerator[bytes, None]:
    """Yield the content in pieces of :data:`CHUNK_BYTES`, measured; only the last is shorter."""
    held = bytearray()
    async for data in chunks:
        meter.feed(data)
        held += data
        start = 0
        while len(held) - start >= CHUNK_BYTES:
            yield bytes(held[start : start + CHUNK_BYTES])
            start += CHUNK_BYTES
        del held[:start]
    if held:
        yield bytes(held)
