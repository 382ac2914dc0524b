"""Imports: an archive becomes conversations, all of them or none.

Spec: docs/spec/gateway/exports.md, "Import". Above is the route; below is ``archives``.

What comes is stored as it comes, in conversations that nobody sees; they are revealed together when
the archive has proven that it is whole, and deleted when it has not, or at the next start.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Final, NamedTuple, cast

import anyio
from msgspec import structs

from blockwire.archives import (
    ArchiveError,
    ArchiveItem,
    ArchiveReader,
    AttachmentData,
    AttachmentHead,
    AttachmentStarted,
    ConversationCompleted,
    ConversationStarted,
    IgnoredLine,
    MessageLine,
    TurnLine,
)
from blockwire.content import (
    ConversationState,
    Message,
    MessageCreated,
    redact_message,
)
from blockwire.content.naming import named_attachments, safe_file_name
from blockwire.errors import BlockwireError, RemoteProtocolError, StoreError
from blockwire.gateway.attachments import AttachmentMethods
from blockwire.gateway.bodies import check_idempotency_key, read_conversation_body
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
from blockwire.ports.imports import Imported, ImportRow

__all__ = ["ImportMethods", "ImportResult"]

BATCH_BYTES: Final = 1_048_576
BATCH_MESSAGES: Final = 256
"""Messages of one commit: so many bytes or so many, whichever comes first."""

ATTACHMENTS_MAX: Final = 10_000
"""Attachments of one conversation, and as many that its messages name in vain."""

IGNORED_TYPES_MAX: Final = 32
"""Types of unknown lines that are told by name."""

_BODY_MEMBERS: Final = ("title", "tags", "system", "metadata")

_log: Final = logging.getLogger(__name__)


class ImportResult(NamedTuple):
    """What an import led to.

    Attributes:
        shape: As the route answers.
        is_new: False when the same import had been made before.
    """

    shape: dict[str, Json]
    is_new: bool


class _Parts(NamedTuple):
    """What an import stands on."""

    store: Store
    clock: Clock
    ids: IdFactory
    redact: Callable[[str], str]
    accounts: Accounts
    quota: AttachmentQuota
    attachment_bytes_max: int


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
            parts = _Parts(
                self.store,
                self._clock,
                self._ids,
                self._redact,
                self._accounts,
                self.attachment_quota(),
                self.settings.attachment_bytes_max,
            )
            target = _Target(parts, tenant)
        taker = _Importer(target, conversations_max=self.settings.import_conversations_max)
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
        self, taker: _Importer, key: str | None, tenant: str | None
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


def _repeated(known: ImportRow, taker: _Importer) -> ImportResult:
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


class _Importer:
    """Takes the items of one archive.

    Args:
        target: Where they go; None only proves the archive.
        conversations_max: Conversations of one archive.

    Attributes:
        imported: The conversations that are complete.
        ignored: How often each unknown type of line came.
    """

    def __init__(self, target: _Target | None, *, conversations_max: int) -> None:
        self._target = target
        self._conversations_max = conversations_max
        self._digest = hashlib.sha256()
        self.imported: list[Imported] = []
        self.ignored: dict[str, int] = {}

    @property
    def digest(self) -> str:
        """What was imported, whenever and by whatever program its archive was written."""
        return self._digest.hexdigest()

    async def take_all(self, items: AsyncGenerator[ArchiveItem, None]) -> None:
        """Take all items."""
        count = 0
        async for item in items:
            match item:
                case IgnoredLine(type=kind):
                    name = kind if len(self.ignored) < IGNORED_TYPES_MAX else "others"
                    self.ignored[name] = self.ignored.get(name, 0) + 1
                case ConversationStarted():
                    count += 1
                    if count > self._conversations_max:
                        raise ArchiveError(
                            "limit_exceeded",
                            f"over {self._conversations_max} conversations",
                            item.line,
                        )
                case ConversationCompleted(sha256=sha256):
                    self._digest.update(sha256.encode())
            if self._target is not None:
                imported = await self._target.take(item, items)
                if imported is not None:
                    self.imported.append(imported)

    def keep(self) -> None:
        """Know that what was imported is revealed."""
        if self._target is not None:
            self._target.hidden_ids.clear()

    async def give_up(self) -> None:
        """Delete what was stored so far; harmless when repeated."""
        if self._target is not None:
            await self._target.delete()


class _Target:
    """Stores the conversations of one archive, hidden.

    Attributes:
        hidden_ids: Conversations that were made and are not revealed.
    """

    def __init__(self, parts: _Parts, tenant: str | None) -> None:
        self._parts = parts
        self._tenant = tenant
        self._one: _Conversation | None = None
        self.hidden_ids: list[str] = []

    async def take(
        self, item: ArchiveItem, items: AsyncGenerator[ArchiveItem, None]
    ) -> Imported | None:
        """Take one item, and of ``items`` what belongs to it; return a complete conversation."""
        one = self._one
        match item:
            case ConversationStarted():
                await self._start(item)
            case AttachmentStarted() if one is not None:
                await one.add_attachment(item, items)
            case MessageLine() if one is not None:
                await one.add_message(item)
            case TurnLine() if one is not None:
                one.turn_count += 1
            case ConversationCompleted() if one is not None:
                self._one = None
                return await one.complete()
            case _:
                pass
        return None

    async def _start(self, item: ConversationStarted) -> None:
        parts = self._parts
        row = _row(item, parts.ids.new_id("conversation"), parts.clock.now_ms(), self._tenant)
        self.hidden_ids.append(row.id)
        await parts.store.create_hidden_conversation(row)
        self._one = _Conversation(parts, row, str(item.conversation["id"]))

    async def delete(self) -> None:
        """Delete the conversations that are not revealed."""
        with anyio.CancelScope(shield=True):
            while self.hidden_ids:
                try:
                    await self._parts.store.delete_conversation(self.hidden_ids.pop())
                except BlockwireError as error:
                    # The next start deletes it.
                    _log.warning("a part of an import stays hidden: %s", error.code)


def _row(
    item: ConversationStarted, new_id: str, now_ms: int, tenant: str | None
) -> ConversationRow:
    members = item.conversation
    try:
        read = read_conversation_body(
            {name: members[name] for name in _BODY_MEMBERS if name in members}
        )
    except RemoteProtocolError as error:
        place = f"/conversation{error.pointer or ''}"
        raise ArchiveError(error.code, error.detail, item.line, place) from None
    return ConversationRow(
        id=new_id,
        # What lies ahead would be the newest of all for ever.
        created_at=min(cast("int", members["created_at"]), now_ms),
        updated_at=now_ms,
        title=read.title,
        tags=read.tags,
        tenant=tenant,
        system=read.system,
        metadata=read.metadata,
    )


class _Conversation:
    """One conversation while it is stored.

    Attributes:
        turn_count: Turns that its archive told of.
    """

    def __init__(self, parts: _Parts, row: ConversationRow, source_id: str) -> None:
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
        message = redact_message(self._adapted(item.message), self._parts.redact)
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

    def _adapted(self, message: Message) -> Message:
        """Return the message as one of this conversation."""
        if "conversation_id" in message:
            message = {**message, "conversation_id": self._row.id}
        if self._renamed:
            blocks = cast("list[dict[str, Json]]", message["content"])
            message = {**message, "content": [self._block(block) for block in blocks]}
        return message

    def _block(self, block: dict[str, Json]) -> Json:
        if self._renamed.keys().isdisjoint(named_attachments(block)):
            return block
        block = dict(block)
        one, several = block.get("attachment_id"), block.get("attachments")
        if isinstance(one, str):
            block["attachment_id"] = self._renamed.get(one, one)
        if isinstance(several, list):
            block["attachments"] = [
                self._renamed.get(name, name) if isinstance(name, str) else name for name in several
            ]
        return block

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
