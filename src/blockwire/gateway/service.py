"""What a gateway can do, without a transport: the methods that routes call.

Spec: docs/spec/gateway/. Above are routes and streams; below are ``turns``, ``producers`` and
``conversation``. Store, bus, engines, clock and ids are injected.

Every refusal is a :class:`~blockwire.errors.BlockwireError` whose ``code`` is listed, with its
HTTP status, in docs/spec/error-codes.md. ``tenant`` is whose conversations the caller may see;
None sees all.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

import anyio

from blockwire.content import View
from blockwire.errors import RemoteProtocolError
from blockwire.gateway import reading
from blockwire.gateway.access.methods import AccessMethods
from blockwire.gateway.bodies import read_resume_body
from blockwire.gateway.conversations import ConversationMethods
from blockwire.gateway.exports import ExportMethods
from blockwire.gateway.imports.methods import ImportMethods
from blockwire.gateway.reading import Head
from blockwire.gateway.search import SearchMethods
from blockwire.gateway.shapes import list_shape, turn_shape
from blockwire.gateway.turns.conversation import conversation_not_found
from blockwire.gateway.turns.forks import ForkMethods
from blockwire.gateway.turns.producers import (
    Upload,
    check_epoch,
    line_decoder,
    repeat_after_end,
    split_lines,
    turn_terminal,
)
from blockwire.gateway.turns.queueing import QueueMethods, SubmitResult
from blockwire.jsontext import Json

__all__ = ["GatewayService", "Head", "SubmitResult"]


class GatewayService(
    QueueMethods,
    ForkMethods,
    ExportMethods,
    ImportMethods,
    ConversationMethods,
    AccessMethods,
    SearchMethods,
):
    """Conversations, turns and readers of one gateway; see :class:`GatewayCore` for its parts."""

    # turns --------------------------------------------------------------------------------
    async def read_turn(
        self,
        conversation_id: str,
        turn_id: str,
        *,
        view: View,
        tenant: str | None,
        wait_s: float | None = None,
    ) -> dict[str, Json]:
        """Return the turn, its message as committed at ``seq``, and its open blocks.

        A turn that waits in line has neither; nothing of it is stored.

        Args:
            conversation_id: Where it belongs.
            turn_id: Which.
            view: For whom.
            tenant: Whose conversation it must be.
            wait_s: Return only when the turn is over, or after so many seconds.

        Raises:
            RemoteProtocolError: ``conversation_not_found``, ``turn_not_found``; why a turn that
                waited in line was dropped (``last_turn_mismatch``, ``gateway_stopping``, ...).
        """
        async with self._registry.using(conversation_id, tenant) as conversation:
            await self._runner.settle_orphans(conversation)
            end_s = None
            if wait_s is not None:
                end_s = anyio.current_time() + min(wait_s, self.settings.wait_s_max)
            queued = await self._wait_queued(conversation, turn_id, end_s)
            if queued is not None:
                return {**queued, "message": None, "open_block_ids": []}
            row = await reading.load_turn_row(self.store, conversation, turn_id)
            live = conversation.turns.get(row.id)
            if end_s is not None and live is not None:
                with anyio.CancelScope(deadline=end_s):
                    await live.ended.wait()
            if conversation.is_gone:
                raise conversation_not_found()
            return await reading.read_turn(self.store, conversation, turn_id, view)

    async def list_turns(
        self, conversation_id: str, *, cursor: str | None, limit: int, tenant: str | None
    ) -> dict[str, Json]:
        """Return a page of turns, newest first.

        Raises:
            RemoteProtocolError: ``conversation_not_found``.
            StoreError: ``invalid_cursor``.
        """
        async with self._registry.using(conversation_id, tenant) as conversation:
            await self._runner.settle_orphans(conversation)
            page = await self.store.list_turns(
                conversation_id, cursor=cursor, limit=self._limit(limit)
            )
            return list_shape([turn_shape(row) for row in page.items], page.next_cursor)

    async def cancel_turn(
        self, conversation_id: str, turn_id: str, tenant: str | None
    ) -> dict[str, Json]:
        """End a turn as cancelled and return it; its end is committed by then.

        A turn that waits in line is handed back: nothing of it is stored, and its key is free.

        Raises:
            RemoteProtocolError: ``conversation_not_found``, ``turn_not_found``, ``turn_terminal``.
        """
        async with self._registry.using(conversation_id, tenant) as conversation:
            if turn_id not in conversation.turns:
                # Under the lock, so that it has started by then or never will.
                async with conversation.changing():
                    queued = self._cancel_queued(conversation, turn_id)
                if queued is not None:
                    return queued
            row = await reading.load_turn_row(self.store, conversation, turn_id)
            live = conversation.turns.get(row.id)
            if live is None or not await self._runner.cancel(conversation, live):
                raise RemoteProtocolError("turn_terminal", "the turn is over")
            self._reach("acknowledge.before")
            return turn_shape(live.row)

    async def resume_turn(
        self, conversation_id: str, turn_id: str, body: Json, tenant: str | None
    ) -> dict[str, Json]:
        """Answer a suspended turn and return it; the first answer wins.

        Args:
            conversation_id: Where it belongs.
            turn_id: Which.
            body: ``{request_id, answer}``.
            tenant: Whose conversation it must be.

        Raises:
            RemoteProtocolError: ``conversation_not_found``, ``turn_not_found``, ``turn_terminal``,
                ``turn_not_suspended``, ``request_mismatch``, and the codes of the body.
        """
        read = read_resume_body(body)
        async with self._registry.using(conversation_id, tenant) as conversation:
            if conversation.queue.find(turn_id) is not None:
                raise RemoteProtocolError("turn_not_suspended", "the turn waits in line")
            row = await reading.load_turn_row(self.store, conversation, turn_id)
            live = conversation.turns.get(row.id)
            if live is None:
                raise RemoteProtocolError("turn_terminal", "the turn is over")
            await self._runner.resume(conversation, live, read)
            self._reach("acknowledge.before")
            return turn_shape(live.row)

    async def post_events(  # noqa: PLR0913 - path, header, body, query and caller
        self,
        conversation_id: str,
        turn_id: str,
        *,
        epoch: int | None,
        chunks: AsyncIterator[bytes],
        tenant: str | None,
        convert: bool = False,
    ) -> AsyncGenerator[dict[str, Json], None]:
        """Append the events of an outside producer; yield one acknowledgement a commit.

        Args:
            conversation_id: Where the turn belongs.
            turn_id: A turn of an outside engine.
            epoch: ``Blockwire-Epoch`` as the submit named it; None for the one in force.
            chunks: NDJSON as it arrives, cut anywhere; a line may carry ``producer_seq``.
            tenant: Whose conversation it must be.
            convert: Whether keys are converted (``?keys=convert``).

        Yields:
            ``{producer_seq, seq}``: everything up to them is durable. Before a refusal, that of
            the lines before the refused one.

        Raises:
            RemoteProtocolError: ``conversation_not_found``, ``turn_not_found``,
                ``turn_not_external``, ``epoch_fenced``, ``turn_terminal``, ``producer_gap``,
                ``turn_mismatch``, ``event_not_allowed``, ``limit_exceeded``, the codes of
                :func:`~blockwire.content.decode_event` and :func:`~blockwire.content.advance`.
            StoreError: Repeat what was not acknowledged.
        """
        async with self._registry.using(conversation_id, tenant) as conversation:
            if conversation.queue.find(turn_id) is not None:
                raise RemoteProtocolError(
                    "turn_queued",
                    "the turn waits in line; post when it has started",
                    retryable=True,
                )
            row = await reading.load_turn_row(self.store, conversation, turn_id)
            if not self._is_external(row.engine):
                raise RemoteProtocolError("turn_not_external", "an engine of ours runs the turn")
            check_epoch(row, epoch)
            live = conversation.turns.get(turn_id)
            decode = line_decoder(convert=convert)
            upload = None
            if live is not None:
                upload = Upload(
                    conversation,
                    live,
                    epoch=epoch,
                    ids=self._ids,
                    settings=self.settings,
                    redact=self._redact,
                    decode=decode,
                )
            is_known = False
            async for lines in split_lines(
                chunks,
                line_bytes_max=self.settings.event_bytes_max,
                lines_max=self.settings.batch_events_max,
            ):
                taken = (
                    await upload.commit(lines)
                    if upload is not None
                    else repeat_after_end(row, lines, decode)
                )
                if taken.acknowledgement is not None:
                    is_known = True
                    self._reach("acknowledge.before")
                    yield taken.acknowledgement
                    self._reach("acknowledge.after")
                if taken.refusal is not None:
                    try:
                        raise taken.refusal
                    finally:
                        # The error knows this frame, which must not know the error.
                        del taken
            if upload is None and not is_known:
                raise turn_terminal()
