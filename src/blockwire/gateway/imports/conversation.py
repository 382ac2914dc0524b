"""One conversation of an archive while it is stored, where nobody sees it yet.

Spec: docs/spec/gateway/exports.md, "Import".
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final, NamedTuple

from msgspec import structs

from blockwire.archives import (
    ArchiveError,
    ArchiveItem,
    AttachmentData,
    AttachmentHead,
    AttachmentStarted,
    MessageLine,
)
from blockwire.content import ConversationState, MessageCreated, redact_message
from blockwire.content.naming import safe_file_name
from blockwire.errors import RemoteProtocolError, StoreError
from blockwire.gateway.imports.adapting import adapted_message
from blockwire.gateway.turns.accounts import Accounts
from blockwire.gateway.turns.drafts import Batch
from blockwire.jsontext import Json
from blockwire.ports import (
    Append,
    AttachmentQuota,
    AttachmentRow,
    Clock,
    ConversationRow,
    IdFactory,
    Store,
)
from blockwire.ports.imports import Imported

__all__ = ["ImportParts", "IncomingConversation"]

BATCH_BYTES: Final = 1_048_576
BATCH_MESSAGES: Final = 256
"""Messages of one commit: so many bytes or so many, whichever comes first."""

ATTACHMENTS_MAX: Final = 10_000
"""Attachments of one conversation, and as many that its messages name in vain."""


class ImportParts(NamedTuple):
    """What an import stands on."""

    store: Store
    clock: Clock
    ids: IdFactory
    redact: Callable[[str], str]
    accounts: Accounts
    quota: AttachmentQuota
    attachment_bytes_max: int


class IncomingConversation:
    """One conversation while it is stored.

    Attributes:
        turn_count: Turns that its archive told of.
    """

    def __init__(self, parts: ImportParts, row: ConversationRow, source_id: str) -> None:
        self._parts = parts
        self._row = row
        self._source_id = source_id
        self._state = ConversationState(row.id)
        self._batch = Batch(self._state, parts.clock.now_ms())
        # Attachments that messages name, each with whether the public sees it, until it is held.
        self._named: dict[str, bool] = {}
        self._there: set[str] = set()
        self._renamed: dict[str, str] = {}
        self._first_line = 0
        self._message_count = 0
        self.turn_count = 0

    # messages -----------------------------------------------------------------------------
    async def add_message(self, item: MessageLine) -> None:
        """Store a message, with those that follow it."""
        adapted = adapted_message(item.message, self._row.id, self._renamed)
        message = redact_message(adapted, self._parts.redact)
        event = MessageCreated(message)
        if not self._batch.drafts:
            self._first_line = item.line
        try:
            self._batch.add(event)
        except RemoteProtocolError as error:
            place = None if error.pointer is None else f"/message{error.pointer}"
            raise ArchiveError(error.code, error.detail, item.line, place) from None
        self._message_count += 1
        is_full = len(self._batch.drafts) >= BATCH_MESSAGES
        if is_full or self._batch.size_bytes >= BATCH_BYTES:
            await self._commit(item.line)

    async def _commit(self, line: int) -> None:
        batch = self._batch
        for name, is_public in batch.attachments.items():
            self._named[name] = self._named.get(name, False) or is_public
        if len(self._named) > ATTACHMENTS_MAX:
            detail = f"names over {ATTACHMENTS_MAX} attachments that the archive lacks"
            raise ArchiveError("limit_exceeded", detail, line)
        # What the archive does not bring is somebody else's, even where it is there.
        held = {name: seen for name, seen in self._named.items() if name in self._there}
        if not (batch.drafts or held):
            return
        title = self._parts.accounts.title(self._row, (one for one, _ in batch.finished))
        change = Append(
            conversation_id=self._row.id,
            drafts=batch.drafts,
            ts=batch.ts,
            finished=batch.finished,
            auto_title=title,
            attachments=[*held.items()],
        )
        try:
            appended = await self._parts.store.append(change)
        except StoreError as error:
            if error.code != "message_exists":
                raise
            detail = f"{error.detail}; it is one of those since line {self._first_line}"
            raise ArchiveError(error.code, detail, line) from None
        if title is not None:
            self._row = structs.replace(self._row, auto_title=title)
        if appended.entries:
            seq = appended.entries[-1].seq
            self._state = batch.state.without_finished().at(seq, self._row.id)
        self._batch = Batch(self._state, self._parts.clock.now_ms())
        for name in held:
            del self._named[name]

    # attachments --------------------------------------------------------------------------
    async def add_attachment(
        self, item: AttachmentStarted, items: AsyncGenerator[ArchiveItem, None]
    ) -> None:
        """Store an attachment, whose bytes are the next of ``items``."""
        head = item.attachment
        async with aclosing(_content(items)) as content:
            known = await self._parts.store.load_attachment(head.id)
            if not self._is_same(known, head):
                await self._write(item, None if known is None else self._rename(item), content)
            async for _piece in content:
                # Those of an attachment that is there.
                pass
        self._there.add(self._renamed.get(head.id, head.id))
        if len(self._there) > ATTACHMENTS_MAX:
            detail = f"over {ATTACHMENTS_MAX} attachments in a conversation"
            raise ArchiveError("limit_exceeded", detail, item.line)

    async def _write(
        self, item: AttachmentStarted, new_id: str | None, content: AsyncGenerator[bytes, None]
    ) -> None:
        parts, head = self._parts, item.attachment
        now_ms = parts.clock.now_ms()
        try:
            await parts.store.write_attachment(
                self._row.id,
                attachment_id=new_id or head.id,
                name=safe_file_name(head.name),
                media_type=None,
                claimed_type=head.media_type,
                created_at=min(head.created_at or now_ms, now_ms),
                chunks=content,
                size_bytes_max=parts.attachment_bytes_max,
                quota=parts.quota,
            )
        except StoreError as error:
            if error.code != "attachment_exists":
                raise
            # Another import of the same archive was faster.
            if not self._is_same(await parts.store.load_attachment(head.id), head):
                raise

    def _is_same(self, known: AttachmentRow | None, head: AttachmentHead) -> bool:
        """Tell whether what is there is what comes: whoever brings the bytes may hold them."""
        return (
            known is not None
            and known.tenant == self._row.tenant
            and (known.sha256, known.size_bytes, known.name)
            == (head.sha256, head.size_bytes, safe_file_name(head.name))
        )

    def _rename(self, item: AttachmentStarted) -> str:
        """Return a new id for an attachment whose own belongs to another one here."""
        attachment_id = item.attachment.id
        if attachment_id in self._named or attachment_id in self._batch.attachments:
            raise ArchiveError(
                "attachment_exists",
                "its id is taken, and a message before it names it; put attachments first",
                item.line,
                "/attachment/id",
            )
        return self._renamed.setdefault(attachment_id, self._parts.ids.new_id("attachment"))

    async def complete(self) -> Imported:
        """Store the rest and say what came of it."""
        await self._commit(self._first_line)
        result: dict[str, Json] = {
            "id": self._row.id,
            "source_id": self._source_id,
            "message_count": self._message_count,
            "attachment_count": len(self._there),
            "turns_dropped": self.turn_count,
            "attachments_renamed": len(self._renamed),
            "attachments_missing": len(self._named),
        }
        return Imported(self._row.id, result)


async def _content(items: AsyncGenerator[ArchiveItem, None]) -> AsyncGenerator[bytes, None]:
    async for item in items:
        assert isinstance(item, AttachmentData), "nothing else follows the start of an attachment"
        yield item.data
        if item.is_last:
            return
