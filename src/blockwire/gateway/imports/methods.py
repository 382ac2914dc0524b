"""Imports: an archive becomes conversations, all of them or none.

Spec: docs/spec/gateway/exports.md, "Import". Above is the route; below is ``archives``.

What comes is stored as it comes, in conversations that nobody sees; they are revealed together when
the archive has proven that it is whole, and deleted when it has not, or at the next start.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Mapping, Sequence
from contextlib import aclosing
from typing import NamedTuple

import anyio

from blockwire.archives import ArchiveItem, ArchiveReader
from blockwire.errors import RemoteProtocolError, StoreError
from blockwire.gateway.attachments import AttachmentMethods
from blockwire.gateway.bodies import check_idempotency_key
from blockwire.gateway.imports.conversation import ImportParts
from blockwire.gateway.imports.importer import Importer, Target
from blockwire.jsontext import Json
from blockwire.ports.imports import Imported, ImportRow

__all__ = ["ImportMethods", "ImportResult"]


class ImportResult(NamedTuple):
    """What an import led to.

    Attributes:
        shape: As the route answers.
        is_new: False when the same import had been made before.
    """

    shape: dict[str, Json]
    is_new: bool


class ImportMethods(AttachmentMethods):
    """The part of :class:`~blockwire.gateway.service.GatewayService` that imports."""

    async def import_archive(
        self, chunks: AsyncIterable[bytes], *, idempotency_key: str | None, tenant: str | None
    ) -> ImportResult:
        """Make the conversations of an archive; all of them become visible at once.

        Args:
            chunks: The archive, cut anywhere.
            idempotency_key: With the same content it names the same import for as long as one of
                its conversations is there.
            tenant: Whose they are to be.

        Raises:
            RemoteProtocolError: ``invalid_idempotency_key``, ``idempotency_key_reused``,
                ``limit_exceeded``, ``message_exists``, and the codes of
                :class:`~blockwire.archives.ArchiveReader`. Nothing is left then.
            StoreError: As well; with a key the same import may be tried again.
        """
        self._running_tasks()
        known: ImportRow | None = None
        if idempotency_key is not None:
            check_idempotency_key(idempotency_key)
            known = await self.store.find_import(tenant, idempotency_key)
        target = None
        if known is None:
            parts = ImportParts(
                self.store,
                self._clock,
                self._ids,
                self._redact,
                self._accounts,
                self.attachment_quota(),
                self.settings.attachment_bytes_max,
            )
            target = Target(parts, tenant)
        taker = Importer(target, conversations_max=self.settings.import_conversations_max)
        try:
            async with aclosing(self._items(chunks)) as items:
                await taker.take_all(items)
            if known is None:
                known = await self._complete(taker, idempotency_key, tenant)
        except BaseException:
            await taker.give_up()
            raise
        if known is not None:
            return _repeated(known, taker)
        self._reach("acknowledge.before")
        return ImportResult(_shape(taker.imported, taker.ignored), is_new=True)

    async def _items(self, chunks: AsyncIterable[bytes]) -> AsyncGenerator[ArchiveItem, None]:
        reader = ArchiveReader(line_bytes_max=self.settings.import_line_bytes_max)
        async for chunk in chunks:
            for item in reader.receive_data(chunk):
                yield item
        for item in reader.receive_eof():
            yield item

    async def _complete(
        self, taker: Importer, key: str | None, tenant: str | None
    ) -> ImportRow | None:
        """Reveal what was imported; return the import that had the key first, where one had."""
        try:
            # Whoever is cancelled meanwhile must not delete what has been revealed.
            with anyio.CancelScope(shield=True):
                await self.store.complete_import(
                    taker.imported, tenant=tenant, key=key, body_hash=taker.digest
                )
                taker.keep()
        except StoreError as error:
            if error.code != "idempotency_key_exists" or key is None:
                raise
            # The same import was made at the same time.
            known = await self.store.find_import(tenant, key)
            if known is None:
                raise
            await taker.give_up()
            return known
        return None


def _repeated(known: ImportRow, taker: Importer) -> ImportResult:
    if known.body_hash != taker.digest:
        raise RemoteProtocolError(
            "idempotency_key_reused", "the key was used for another archive; take a new one"
        )
    return ImportResult(_shape(known.conversations, taker.ignored), is_new=False)


def _shape(conversations: Sequence[Imported], ignored: Mapping[str, int]) -> dict[str, Json]:
    return {
        "conversations": [imported.result for imported in conversations],
        "ignored_lines": dict(ignored),
    }
