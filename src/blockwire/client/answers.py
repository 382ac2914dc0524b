"""One answer, followed to its end by whatever road leads there.

Spec: docs/spec/gateway/routes.md. The stream tells how the answer grows. When a snapshot no longer holds
the turn, or the stream gives up, the turn's own route knows how it ended.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from blockwire.client.failures import ClientError
from blockwire.client.shapes import Turn
from blockwire.client.stream import Received
from blockwire.content import ConversationSnapshot, TurnState, load_snapshot

__all__ = ["follow_turn", "turn_state"]


def turn_state(turn: Turn) -> TurnState:
    """Return the state of a turn that was read with its message.

    Raises:
        ClientError: ``invalid_answer`` without a message.
    """
    if turn.message is None:
        raise ClientError("invalid_answer", "the turn came without its message")
    snapshot = ConversationSnapshot(
        messages=[turn.message],
        turns=[turn.members],
        open_block_ids=turn.open_block_ids or [],
        conversation_id=turn.conversation_id,
        seq=turn.seq,
    )
    state = load_snapshot(snapshot).find_turn(turn.id)
    assert state is not None, "a snapshot keeps the turns that it names"
    return state


async def follow_turn(
    turn: Turn,
    batches: AsyncGenerator[list[Received], None],
    read_turn: Callable[[], Awaitable[Turn]],
) -> AsyncGenerator[TurnState, None]:
    """Yield the newest state of ``turn``, whenever it is another, up to its end.

    Args:
        turn: As the submit answered it.
        batches: The conversation's events, a snapshot first.
        read_turn: Reads the turn by its own route.

    Raises:
        ClientError: Both roads are closed.
    """
    last: TurnState | None = None
    failure = ClientError(
        "connection_lost", "the stream ended before the answer did", retryable=True
    )
    async with aclosing(batches):
        try:
            async for received in batches:
                newest = received[-1].state.find_turn(turn.id)
                if newest is None and _has_snapshot(received):
                    newest = await _read_if_over(read_turn)
                if newest is None or newest is last:
                    continue
                last = newest
                yield newest
                if newest.is_terminal:
                    return
        except ClientError as error:
            if not error.retryable:
                raise
            failure = error
    try:
        newest = await _read_if_over(read_turn)
    except ClientError:
        raise failure from None
    if newest is None:
        raise failure
    yield newest


def _has_snapshot(received: list[Received]) -> bool:
    return any(isinstance(item.event, ConversationSnapshot) for item in received)


async def _read_if_over(read_turn: Callable[[], Awaitable[Turn]]) -> TurnState | None:
    turn = await read_turn()
    return turn_state(turn) if turn.is_over else None
