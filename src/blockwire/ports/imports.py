"""Archives that became conversations: all of one at once, and none of them twice.

Spec: docs/spec/gateway/exports.md, "Import".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from blockwire.jsontext import Json

__all__ = ["ImportRow", "ImportStore", "Imported"]


class Imported(Struct, frozen=True):
    """One conversation that came out of an archive.

    Attributes:
        conversation_id: A hidden conversation (:meth:`ForkStore.create_hidden_conversation`).
        result: What the importer is told of it, a JSON object.
    """

    conversation_id: str
    result: dict[str, Json]


class ImportRow(Struct, frozen=True):
    """What is kept of an import that had a key.

    Attributes:
        body_hash: SHA-256 of what was imported, hexadecimal.
        conversations: Those that are still there, in the order of the archive.
    """

    body_hash: str
    conversations: Sequence[Imported]


class ImportStore(Protocol):
    """The part of a store that makes an import visible and remembers its key."""

    async def complete_import(
        self,
        conversations: Sequence[Imported],
        *,
        tenant: str | None,
        key: str | None,
        body_hash: str,
    ) -> None:
        """Let everybody see the hidden ``conversations``, all at the same moment.

        Args:
            conversations: In the order of the archive.
            tenant: Whose they are.
            key: Idempotency key, kept as long as one of them is there; None keeps nothing.
            body_hash: SHA-256 of what was imported.

        Raises StoreError ``conversation_not_found`` where one is gone, and
        ``idempotency_key_exists`` when the tenant has an import of this key. Nothing changed then.
        """
        ...

    async def find_import(self, tenant: str | None, key: str) -> ImportRow | None:
        """Return the import with this key of this tenant, or None."""
        ...
