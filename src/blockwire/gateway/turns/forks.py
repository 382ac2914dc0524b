"""A new conversation that begins like another one.

Spec: docs/spec/gateway/conversations.md, "Fork".

Messages are copied page by page, so a long conversation needs little memory and holds up nobody's
commits. The new one is hidden until it is whole: a process that dies half through leaves nothing.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Final

import anyio

from blockwire.content import TURN_TERMINAL_STATUSES, ConversationState, MessageCreated, View
from blockwire.errors import BlockwireError
from blockwire.gateway import reading
from blockwire.gateway.bodies import read_fork_body
from blockwire.gateway.core import GatewayCore
from blockwire.gateway.shapes import conversation_shape
from blockwire.gateway.turns.conversation import Conversation, conversation_not_found
from blockwire.gateway.turns.drafts import Batch
from blockwire.gateway.turns.queueing import turn_not_over
from blockwire.jsontext import Json
from blockwire.ports import Append, ConversationRow, MessageRow

__all__ = ["ForkMethods"]

PAGE_MESSAGES: Final = 256
PAGE_BYTES: Final = 1_048_576
"""Messages, and their JSON, that are copied in one commit; one message is whatever its size."""

_log: Final = logging.getLogger(__name__)


class ForkMethods(GatewayCore):
    """The part of :class:`~blockwire.gateway.service.GatewayService` that copies conversations."""

    async def fork_conversation(
        self, conversation_id: str, body: Json, *, tenant: str | None, view: View = "public"
    ) -> dict[str, Json]:
        """Return a new conversation with the finished messages of another one.

        Args:
            conversation_id: Which one; what runs there goes on.
            body: ``{turn_id?, title?}``: up to and with that turn, else with all that is over;
                without ``title`` that of the other one.
            tenant: Whose conversation it must be, and whose the new one is.
            view: Who sees the answer.

        Raises:
            RemoteProtocolError: ``conversation_not_found``, ``turn_not_found``,
                ``turn_not_over`` and the codes of the body.
            StoreError: There is no new conversation.
        """
        self._running_tasks()
        read = read_fork_body(body)
        async with self._registry.using(conversation_id, tenant) as source:
            end_seq = await self._end_seq(source, read.turn_id)
            row = await self.store.load_conversation(conversation_id)
            if row is None:
                raise conversation_not_found()
            now_ms = self._clock.now_ms()
            new = ConversationRow(
                id=self._ids.new_id("conversation"),
                created_at=now_ms,
                updated_at=now_ms,
                title=read.title if read.has_title else row.title,
                tags=row.tags,
                tenant=row.tenant,
                system=row.system,
                metadata=row.metadata,
                auto_title=row.auto_title,
            )
            stored = await self._copy(source, new, end_seq)
        self._reach("acknowledge.before")
        return conversation_shape(stored, head_seq=stored.head_seq, running_turn_id=None, view=view)

    async def _end_seq(self, source: Conversation, turn_id: str | None) -> int:
        """Return the number up to which messages are copied."""
        if turn_id is None:
            firsts = [live.row.first_seq for live in source.turns.values()]
            # The question of a turn stands right before its beginning, and goes with it.
            return min(firsts) - 2 if firsts else source.head_seq
        if source.queue.find(turn_id) is not None:
            raise turn_not_over()
        turn = await reading.load_turn_row(self.store, source, turn_id)
        if turn.status not in TURN_TERMINAL_STATUSES:
            raise turn_not_over()
        return turn.first_seq

    async def _copy(
        self, source: Conversation, row: ConversationRow, end_seq: int
    ) -> ConversationRow:
        await self.store.create_hidden_conversation(row)
        try:
            async with aclosing(self._pages(source.id, end_seq)) as pages:
                async for page in pages:
                    await self.store.append(self._page_change(row.id, page))
            # Whoever deletes the source waits for this lock, or was here before.
            async with source.changing():
                stored = await self.store.reveal_conversation(row.id)
            assert stored is not None, "nobody else knows its id"
        except BaseException:
            await self._forget(row.id)
            raise
        return stored

    async def _pages(
        self, source_id: str, end_seq: int
    ) -> AsyncGenerator[Sequence[MessageRow], None]:
        after_seq = 0
        while after_seq < end_seq:
            rows = await self.store.list_messages(
                source_id,
                before_seq=None,
                after_seq=after_seq,
                up_to_seq=None,
                limit=PAGE_MESSAGES,
                bytes_max=PAGE_BYTES,
            )
            if not rows:
                return
            after_seq = rows[-1].created_seq
            page = [row for row in rows if row.created_seq <= end_seq]
            if page:
                yield page

    def _page_change(self, conversation_id: str, page: Sequence[MessageRow]) -> Append:
        batch = Batch(ConversationState(conversation_id), self._clock.now_ms())
        for row in page:
            batch.add(MessageCreated(row.message))
        return Append(
            conversation_id=conversation_id,
            drafts=batch.drafts,
            ts=batch.ts,
            finished=batch.finished,
            attachments=tuple(batch.attachments.items()),
        )

    async def _forget(self, conversation_id: str) -> None:
        """Delete what was copied; where that fails, too, the next start does it."""
        with anyio.CancelScope(shield=True):
            try:
                await self.store.delete_conversation(conversation_id)
            except BlockwireError as error:
                _log.warning("a fork was not finished, and is not deleted yet: %s", error.code)
