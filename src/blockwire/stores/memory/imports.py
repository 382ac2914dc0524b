"""Imports of the memory store."""

from __future__ import annotations

from collections.abc import Sequence

from blockwire.errors import StoreError
from blockwire.ports.imports import Imported, ImportRow
from blockwire.stores.changes import conversation_not_found
from blockwire.stores.memory.forks import MemoryForks

__all__ = ["MemoryImports"]


class MemoryImports(MemoryForks):
    """The part of the memory store that makes imports visible and remembers their keys."""

    def __init__(self) -> None:
        super().__init__()
        self._imports: dict[tuple[str | None, str], ImportRow] = {}

    async def complete_import(
        self,
        conversations: Sequence[Imported],
        *,
        tenant: str | None,
        key: str | None,
        body_hash: str,
    ) -> None:
        """Let everybody see the hidden conversations, all at the same moment."""
        if any(self._find(imported.conversation_id) is None for imported in conversations):
            raise conversation_not_found()
        if key is not None:
            if await self.find_import(tenant, key) is not None:
                raise StoreError("idempotency_key_exists", "there is an import with this key")
            self._imports[tenant, key] = ImportRow(body_hash, tuple(conversations))
        self._hidden -= {imported.conversation_id for imported in conversations}

    def _forget_imported(self, conversation_id: str) -> None:
        kept: dict[tuple[str | None, str], ImportRow] = {}
        for place, row in self._imports.items():
            there = [one for one in row.conversations if one.conversation_id != conversation_id]
            if there:
                kept[place] = ImportRow(row.body_hash, there)
        self._imports = kept

    async def find_import(self, tenant: str | None, key: str) -> ImportRow | None:
        """Return the import with this key of this tenant, or None."""
        self._check_open()
        return self._imports.get((tenant, key))
