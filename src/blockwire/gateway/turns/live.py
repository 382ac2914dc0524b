"""A turn that is not over, in memory beside its committed state.

Spec: docs/spec/gateway/turns.md. Above is ``conversation``, which holds it.
"""

from __future__ import annotations

from typing import cast

import anyio
import msgspec

from blockwire.content import Message, TurnState
from blockwire.content.settle import closing_error
from blockwire.gateway.turns.answers import AnswerBox
from blockwire.gateway.turns.inbox import Inbox
from blockwire.jsontext import Json
from blockwire.ports import TurnRow

__all__ = ["LiveTurn", "turn_row_after"]


class LiveTurn:
    """A turn that is not over, beside its committed state.

    Attributes:
        row: As committed.
        is_external: An outside producer posts its events.
        inbox: Events of its engine that are not committed yet.
        scope: Cancelled when nothing more is wanted of whoever works for the turn.
        ended: Set once its end is committed, or its conversation is gone.
        heard_s: Monotonic time of its last event.
        size_bytes: Committed since it was loaded, encoded.
        is_orphan: Nobody works for it any more and its end is not stored yet.
        answers: Where the engine that runs it hears answers; None where it takes none.
    """

    __slots__ = (
        "answers",
        "ended",
        "heard_s",
        "inbox",
        "is_external",
        "is_orphan",
        "row",
        "scope",
        "size_bytes",
    )

    def __init__(self, row: TurnRow, *, is_external: bool, heard_s: float, ahead_max: int) -> None:
        self.row = row
        self.is_external = is_external
        self.inbox = Inbox(ahead_max)
        self.scope = anyio.CancelScope()
        self.ended = anyio.Event()
        self.heard_s = heard_s
        self.size_bytes = 0
        self.is_orphan = False
        self.answers: AnswerBox | None = None


def turn_row_after(row: TurnRow, turn: TurnState) -> TurnRow:
    """Return ``row`` with what the state of its turn says."""
    message: Message = turn.message if turn.is_terminal else {}
    return msgspec.structs.replace(
        row,
        status=turn.turn_status,
        completed_at=cast("int | None", message.get("completed_at")),
        usage=cast("dict[str, Json] | None", message.get("usage")),
        error=closing_error(turn) if turn.status == "failed" else None,
        finish_reason=cast("str | None", turn.ended.get("finish_reason")),
        reason=cast("str | None", turn.ended.get("reason")),
        request=dict(turn.request) if turn.request is not None else None,
    )
