"""What an engine is asked: the conversation so far, in owner view, cut to size.

Spec: docs/spec/gateway/engines.md, "The request".
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from blockwire.content import Block, Message
from blockwire.gateway.contents import ConversationFiles, without_places
from blockwire.gateway.turns.drafts import closing_block
from blockwire.jsontext import encode_json
from blockwire.ports import ConversationRow, EngineRequest, MessageRow, Store, TurnRow

__all__ = ["BuiltRequest", "build_request", "history_cut_notice", "retried_turns"]

PAGE_MESSAGES: Final = 256
"""Messages read from the store at a time."""

RETRIES_MAX: Final = 100
"""Earlier attempts at one question that are left out of its request."""

HISTORY_CUT_MESSAGE: Final = (
    "Older turns of this conversation were left out of the request: it would have been too large."
)


class BuiltRequest(NamedTuple):
    """A request, and whether older turns had to be left out of it."""

    request: EngineRequest
    is_cut: bool


def history_cut_notice(block_id: str) -> Block:
    """Return the block that tells the reader that the engine was not told everything."""
    return closing_block(block_id, "history_cut", HISTORY_CUT_MESSAGE, retryable=None)


async def build_request(  # noqa: PLR0913 - whose turn, how much of what
    store: Store,
    conversation: ConversationRow,
    turn: TurnRow,
    *,
    system: str | None,
    bytes_max: int,
    without: Collection[str] = (),
) -> BuiltRequest:
    """Return the request for ``turn``: finished turns and the question, oldest first.

    Args:
        store: Has all finished messages.
        conversation: Its ``system`` beats that of the engine.
        turn: Started; later messages are left out.
        system: System prompt of the engine.
        bytes_max: JSON of all messages; whole turns are left out from the oldest on, never the
            question.
        without: Turns that are left out with their questions, because this one is asked in their
            place.
    """
    groups: list[list[Message]] = []
    group: list[Message] = []
    size_bytes, group_bytes = 0, 0
    is_cut = False
    before_seq = turn.first_seq
    while not is_cut:
        rows = await _older_messages(store, turn, before_seq, bytes_max)
        if not rows:
            break
        for row in rows:
            before_seq = row.created_seq
            if {row.message["id"], row.message.get("turn_id")} & {*without}:
                continue
            group.append(row.message)
            group_bytes += len(encode_json(row.message))
            if row.message["role"] != "user":
                continue
            if groups and size_bytes + group_bytes > bytes_max:
                is_cut = True
                break
            groups.append(group)
            size_bytes += group_bytes
            group, group_bytes = [], 0
    if group and not is_cut:
        # What stands before the first question, such as imported instructions.
        is_cut = size_bytes + group_bytes > bytes_max
        groups += [] if is_cut else [group]
    request = EngineRequest(
        conversation_id=turn.conversation_id,
        turn_id=turn.id,
        engine=turn.engine,
        messages=[without_places(message) for newest_first in groups for message in newest_first][
            ::-1
        ],
        options=dict(turn.options or {}),
        model=turn.model,
        system=conversation.system if conversation.system is not None else system,
        files=ConversationFiles(store, turn.conversation_id),
    )
    return BuiltRequest(request, is_cut)


async def retried_turns(store: Store, turn: TurnRow) -> frozenset[str]:
    """Return the turns that ``turn`` asks again: the one that it names, the one that this names..."""
    found: set[str] = set()
    row: TurnRow | None = turn
    while row is not None and row.retry_of is not None and len(found) < RETRIES_MAX:
        found.add(row.retry_of)
        row = await store.load_turn(turn.conversation_id, row.retry_of)
    return frozenset(found)


async def _older_messages(
    store: Store, turn: TurnRow, before_seq: int, bytes_max: int
) -> Sequence[MessageRow]:
    return await store.list_messages(
        turn.conversation_id,
        before_seq=before_seq,
        after_seq=None,
        up_to_seq=turn.first_seq,
        limit=PAGE_MESSAGES,
        bytes_max=bytes_max,
    )
