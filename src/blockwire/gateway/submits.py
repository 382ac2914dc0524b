"""Submitting a turn: asked twice it starts once.

Spec: docs/spec/gateway/turns.md, "Submit". The question, the start of the turn and its row are one
append: either all of it is there or nothing is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from blockwire.content import Message, MessageCreated, TurnStarted
from blockwire.errors import RemoteProtocolError
from blockwire.gateway.bodies import (
    SubmitBody,
    check_idempotency_key,
    read_submit_body,
)
from blockwire.gateway.conversation import Conversation, LiveTurn
from blockwire.gateway.settings import EngineProfile
from blockwire.jsontext import Json, encode_json
from blockwire.ports import IdFactory, Store, TurnRow

__all__ = [
    "ChosenEngine",
    "Submission",
    "check_condition",
    "choose_engine",
    "find_repeat",
    "read_submission",
    "start_turn",
]


class Submission(NamedTuple):
    """A submit that was read and may be tried.

    Attributes:
        body: What it asks for.
        key: Its ``Idempotency-Key``, if any.
        digest: SHA-256 of the canonical text of its body, hexadecimal.
    """

    body: SubmitBody
    key: str | None
    digest: str


class ChosenEngine(NamedTuple):
    """An engine by its configured name, and what is known of it."""

    name: str
    profile: EngineProfile


def read_submission(body: Json, *, key: str | None, ids: IdFactory, bytes_max: int) -> Submission:
    """Return what a submit asks for.

    Raises:
        RemoteProtocolError: ``limit_exceeded``, ``invalid_idempotency_key`` and the codes of
            :func:`~blockwire.gateway.bodies.read_submit_body`.
    """
    if key is not None:
        check_idempotency_key(key)
    text = encode_json(body)
    if len(text) > bytes_max:
        raise RemoteProtocolError("limit_exceeded", f"the body has over {bytes_max} bytes")
    read = read_submit_body(body, ids.new_id)
    return Submission(read, key, hashlib.sha256(text).hexdigest())


def choose_engine(
    submission: Submission, profiles: Mapping[str, EngineProfile], default: str
) -> ChosenEngine:
    """Return the engine to run a submit that nobody made before.

    Raises:
        RemoteProtocolError: ``engine_not_found``.
    """
    name = submission.body.engine if submission.body.engine is not None else default
    profile = profiles.get(name)
    if profile is None:
        raise RemoteProtocolError(
            "engine_not_found",
            f"no such engine; there are: {', '.join(sorted(profiles))}",
            pointer="/engine",
        )
    return ChosenEngine(name, profile)


async def find_repeat(
    store: Store, conversation: Conversation, submission: Submission
) -> TurnRow | None:
    """Return the turn that the same submit started before. Hold the lock.

    Raises:
        RemoteProtocolError: ``idempotency_key_reused`` when the key came with another body.
    """
    if submission.key is None:
        return None
    row = await store.find_turn_by_key(conversation.id, submission.key)
    if row is None:
        return None
    if row.body_hash != submission.digest:
        raise RemoteProtocolError(
            "idempotency_key_reused", "the key was used for another body; take a new one"
        )
    live = conversation.turns.get(row.id)
    return row if live is None else live.row


async def check_condition(store: Store, conversation: Conversation, submission: Submission) -> None:
    """Refuse a submit that was written in view of another last turn, or that must wait.

    Raises:
        RemoteProtocolError: ``last_turn_mismatch``, ``conversation_busy``.
    """
    if submission.body.has_condition:
        page = await store.list_turns(conversation.id, cursor=None, limit=1)
        last_id = page.items[0].id if page.items else None
        if last_id != submission.body.if_last_turn:
            raise RemoteProtocolError(
                "last_turn_mismatch",
                "the conversation has gone on meanwhile",
                pointer="/if_last_turn",
            )
    if conversation.turns:
        raise RemoteProtocolError(
            "conversation_busy", "a turn of the conversation is not over yet", retryable=True
        )


async def start_turn(
    conversation: Conversation, submission: Submission, engine: ChosenEngine, ids: IdFactory
) -> LiveTurn:
    """Commit the question and the start of its turn. Hold the lock.

    Raises:
        StoreError: Nothing was started, or nobody can say; the same submit with the same key
            finds out.
    """
    batch = conversation.batch()
    turn_id = ids.new_id("turn")
    question: Message = {
        "id": ids.new_id("message"),
        "role": "user",
        "status": "completed",
        "content": list(submission.body.content),
        "created_at": batch.ts,
        "turn_id": turn_id,
    }
    model = submission.body.model
    if model is None:
        model = engine.profile.model
    batch.add(MessageCreated(question))
    batch.add(
        TurnStarted(
            turn_id,
            "assistant",
            batch.ts,
            model=model,
            provider=engine.profile.provider,
        )
    )
    row = TurnRow(
        id=turn_id,
        conversation_id=conversation.id,
        status="running",
        engine=engine.name,
        created_at=batch.ts,
        started_at=batch.ts,
        request_message_id=str(question["id"]),
        model=model,
        provider=engine.profile.provider,
        idempotency_key=submission.key,
        body_hash=submission.digest if submission.key is not None else None,
        options=submission.body.options,
    )
    live = conversation.live_turn(row)
    await conversation.commit(batch, row=row, new_turn=live)
    return live
