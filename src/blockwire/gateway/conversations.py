"""Conversations, their messages and events, as routes ask for them.

Spec: docs/spec/gateway/reading.md.
"""

from __future__ import annotations

from typing import Final

import msgspec

from blockwire.content import MessageCreated, View, redact_message
from blockwire.errors import RemoteProtocolError
from blockwire.gateway import message_pages, reading
from blockwire.gateway.attachments import AttachmentMethods
from blockwire.gateway.bodies import read_conversation_body, read_message_body
from blockwire.gateway.reading import Head
from blockwire.gateway.shapes import conversation_shape, list_shape
from blockwire.gateway.turns.conversation import conversation_not_found
from blockwire.jsontext import Json, encode_json
from blockwire.ports import ControlNotice, ConversationRow

__all__ = ["ConversationMethods"]

LISTED_AT_ONCE: Final = 50
"""Conversations that are read from the store at a time: each may have megabytes of metadata."""


class ConversationMethods(AttachmentMethods):
    """The part of :class:`~blockwire.gateway.service.GatewayService` that is not about turns."""

    # conversations ------------------------------------------------------------------------
    async def create_conversation(
        self, body: Json, *, tenant: str | None, view: View = "public"
    ) -> dict[str, Json]:
        """Return a new conversation.

        Args:
            body: ``{title?, tags?, system?, metadata?}``; None for an empty one.
            tenant: Whose it is.
            view: Who sees the answer; the owner sees the system prompt.

        Raises:
            RemoteProtocolError: ``unknown_field``, ``invalid_member``, ``invalid_name``,
                ``invalid_key``.
        """
        self._running_tasks()
        read = read_conversation_body({} if body is None else body)
        now_ms = self._clock.now_ms()
        row = ConversationRow(
            id=self._ids.new_id("conversation"),
            created_at=now_ms,
            updated_at=now_ms,
            title=read.title,
            tags=read.tags,
            tenant=tenant,
            system=read.system,
            metadata=read.metadata,
        )
        await self.store.create_conversation(row)
        self._reach("acknowledge.before")
        return conversation_shape(row, head_seq=0, running_turn_id=None, view=view)

    async def list_conversations(
        self, *, cursor: str | None, limit: int, tenant: str | None, view: View = "public"
    ) -> dict[str, Json]:
        """Return a page of conversations, newest first, as ``view`` sees them.

        Of large ones, as their metadata can make them, a page holds fewer; one always.

        Raises:
            StoreError: ``invalid_cursor``.
        """
        limit = self._limit(limit)
        items: list[dict[str, Json]] = []
        left_bytes = self.settings.page_bytes_max
        while True:
            count = min(limit - len(items), LISTED_AT_ONCE)
            page = await self.store.list_conversations(tenant=tenant, cursor=cursor, limit=count)
            shapes = [self._shape(row, view) for row in page.items]
            fitting = 0
            for shape in shapes:
                left_bytes -= len(encode_json(shape))
                if left_bytes < 0 and (items or fitting):
                    break
                fitting += 1
            if fitting == 0 and shapes:
                return list_shape(items, cursor)
            if fitting < len(shapes):
                # Read again, for a cursor to where it ends; there may be newer ones by now.
                page = await self.store.list_conversations(
                    tenant=tenant, cursor=cursor, limit=fitting
                )
                shapes = [self._shape(row, view) for row in page.items]
                return list_shape([*items, *shapes], page.next_cursor)
            items += shapes
            cursor = page.next_cursor
            if cursor is None or len(items) >= limit:
                return list_shape(items, cursor)

    def _shape(self, row: ConversationRow, view: View) -> dict[str, Json]:
        known = self._registry.peek(row.id)
        if known is None:
            return conversation_shape(row, head_seq=row.head_seq, running_turn_id=None, view=view)
        return conversation_shape(
            row,
            head_seq=known.head_seq,
            running_turn_id=next(iter(known.committed.running), None),
            queued_turn_ids=known.queue.turn_ids,
            view=view,
        )

    async def read_conversation(
        self, conversation_id: str, tenant: str | None, *, view: View = "public"
    ) -> dict[str, Json]:
        """Return the conversation as ``view`` sees it.

        Raises:
            RemoteProtocolError: ``conversation_not_found``.
        """
        async with self._registry.using(conversation_id, tenant):
            row = await self.store.load_conversation(conversation_id)
            if row is None:
                raise conversation_not_found()
            return self._shape(row, view)

    async def update_conversation(
        self, conversation_id: str, body: Json, tenant: str | None, *, view: View = "public"
    ) -> dict[str, Json]:
        """Replace the members that ``body`` names; null takes one back, a title to the automatic.

        Raises:
            RemoteProtocolError: ``conversation_not_found`` and the codes of
                :meth:`create_conversation`.
        """
        read = read_conversation_body(body)
        async with self._registry.using(conversation_id, tenant) as conversation:
            async with conversation.changing():
                row = await self.store.load_conversation(conversation_id)
                if row is None:
                    raise conversation_not_found()
                changes = {name: getattr(read, name) for name in read.names}
                row = msgspec.structs.replace(row, updated_at=self._clock.now_ms(), **changes)
                stored = await self.store.update_conversation(row)
                if stored is None:
                    raise conversation_not_found()
                conversation.row = stored
            self._reach("acknowledge.before")
            return self._shape(stored, view)

    async def delete_conversation(self, conversation_id: str, tenant: str | None) -> None:
        """Remove every trace; whatever runs in it is stopped, whoever reads it is told.

        Raises:
            RemoteProtocolError: ``conversation_not_found``.
        """
        async with self._registry.using(conversation_id, tenant) as conversation:
            async with conversation.changing():
                if not await self.store.delete_conversation(conversation_id):
                    raise conversation_not_found()
                conversation.leave()
            self.bus.publish(ControlNotice(conversation_id, "deleted"))
            self._reach("acknowledge.before")

    # reading ------------------------------------------------------------------------------
    async def list_messages(  # noqa: PLR0913 - a page has two ends and two sizes
        self,
        conversation_id: str,
        *,
        before: str | None,
        after: str | None,
        around: str | None = None,
        limit: int,
        bytes_max: int,
        view: View,
        tenant: str | None,
    ) -> dict[str, Json]:
        """Return a page of messages in conversation order, running ones as they stand.

        Args:
            conversation_id: Which conversation.
            before: Cursor; the newest messages before it. With neither cursor the newest of all.
            after: Cursor; the oldest messages after it. ``"0"`` is the beginning.
            around: Id of a message that the page holds, instead of a cursor.
            limit: Messages of the page.
            bytes_max: JSON bytes of the page; one message is given whatever its size.
            view: For whom.
            tenant: Whose conversation it must be.

        Raises:
            RemoteProtocolError: ``conversation_not_found``, ``invalid_cursor``,
                ``message_not_found``.
        """
        limit = self._limit(limit)
        bytes_max = max(1, min(bytes_max, self.settings.page_bytes_max))
        async with self._registry.using(conversation_id, tenant) as conversation:
            if around is not None:
                return await message_pages.read_messages_around(
                    self.store, conversation, around, limit=limit, bytes_max=bytes_max, view=view
                )
            return await message_pages.read_message_page(
                self.store,
                conversation,
                before=before,
                after=after,
                limit=limit,
                bytes_max=bytes_max,
                view=view,
            )

    async def append_message(
        self, conversation_id: str, message: Json, tenant: str | None
    ) -> dict[str, Json]:
        """Append a complete message (an import, the result of a tool) and return it.

        ``id``, ``status``, ``created_at`` and ids of blocks may be missing. Inline files become
        attachments.

        Raises:
            RemoteProtocolError: ``conversation_not_found``, ``message_exists``,
                ``limit_exceeded``, ``invalid_key``, ``attachment_too_large`` and the codes of
                :func:`~blockwire.content.check_complete_message`.
            StoreError: ``quota_exceeded``, ``storage_exceeded``.
        """
        self._running_tasks()
        message, files = self.extract_message(message)
        read = read_message_body(
            message,
            conversation_id=conversation_id,
            now_ms=self._clock.now_ms(),
            new_id=self._ids.new_id,
        )
        read = redact_message(read, self._redact)
        async with self._registry.using(conversation_id, tenant) as conversation:
            async with conversation.changing():
                batch = conversation.batch()
                batch.add(MessageCreated(read))
                if batch.size_bytes > self.settings.body_bytes_max:
                    raise RemoteProtocolError(
                        "limit_exceeded",
                        f"the message has over {self.settings.body_bytes_max} bytes",
                    )
                await self.store_inline(conversation_id, files)
                await conversation.commit(batch)
            self._reach("acknowledge.before")
            return read

    async def read_events(  # noqa: PLR0913 - a cursor, a size, a time
        self,
        conversation_id: str,
        *,
        after: int,
        snapshot: bool = False,
        view: View,
        limit_bytes: int,
        wait_s: float | None,
        tenant: str | None,
    ) -> dict[str, Json]:
        """Return a page of events ``{items, next_cursor, at_end}``; ``next_cursor`` always.

        Args:
            conversation_id: Which conversation.
            after: Cursor; one ahead of the log gives a snapshot with ``reset``.
            snapshot: Give a snapshot, wherever the cursor is.
            view: For whom.
            limit_bytes: About how many bytes of events; one is given whatever its size.
            wait_s: How long to wait while there is nothing after the cursor.
            tenant: Whose conversation it must be.

        Raises:
            RemoteProtocolError: ``conversation_not_found``.
        """
        async with self._registry.using(conversation_id, tenant) as conversation:
            return await reading.read_event_page(
                self.store,
                conversation,
                after=after,
                snapshot=snapshot,
                view=view,
                bytes_max=max(1, min(limit_bytes, self.settings.page_bytes_max)),
                wait_s=min(wait_s or 0.0, self.settings.wait_s_max),
                settings=self.settings,
                now_ms=self._clock.now_ms(),
            )

    async def head(self, conversation_id: str, tenant: str | None) -> Head:
        """Return where the conversation stands; both views share its numbers.

        Raises:
            RemoteProtocolError: ``conversation_not_found``.
        """
        async with self._registry.using(conversation_id, tenant) as conversation:
            return reading.read_head(conversation)

    async def snapshot_frame(
        self, conversation_id: str, view: View, *, reset: bool
    ) -> tuple[bytes, int]:
        """Return the SSE frame of a snapshot, and the committed number that it reflects exactly.

        Raises:
            RemoteProtocolError: ``conversation_not_found``.
        """
        async with self._registry.using(conversation_id, None) as conversation:
            snapshot, seq = await reading.read_snapshot(
                self.store,
                conversation,
                view,
                reset=reset,
                settings=self.settings,
                now_ms=self._clock.now_ms(),
            )
            return reading.snapshot_frame(snapshot, seq), seq
