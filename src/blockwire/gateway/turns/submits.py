"""Submitting a turn: asked twice it starts once.

Spec: docs/spec/gateway/turns.md, "Submit". The question, the start of the turn and its row are one
append: either all of it is there or nothing is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from blockwire.content import Block, Message, MessageCreated, TurnStarted
from blockwire.content.inline import InlineFile
from blockwire.errors import RemoteProtocolError
from blockwire.gateway.bodies import (
    SubmitBody,
    check_idempotency_key,
    read_retry_body,
    read_submit_body,
)
from blockwire.gateway.settings import EngineProfile
from blockwire.gateway.turns.conversation import Conversation, LiveTurn
from blockwire.gateway.turns.queue import QueuedTurn
from blockwire.jsontext import Json, encode_json
from blockwire.ports import IdFactory, Store, TurnRow

__all__ = [
    "ChosenEngine",
    "Submission",
    "check_condition",
    "check_same_body",
    "choose_engine",
    "find_engine",
    "find_repeat",
    "new_queued",
    "read_retry",
    "read_submission",
    "start_turn",
]


class Submission(NamedTuple):
    """A submit that was read and may be tried.

    Attributes:
        body: What it asks for.
        key: Its ``Idempotency-Key``, if any.
        digest: SHA-256 of the canonical text of its body, hexadecimal.
        size_bytes: Length of that text.
        retry_of: The turn whose question it asks again.
        files: What was taken out of its body, not stored yet.
    """

    body: SubmitBody
    key: str | None
    digest: str
    size_bytes: int
    retry_of: str | None = None
    files: Sequence[InlineFile] = ()


class ChosenEngine(NamedTuple):
    """An engine by its configured name, and what is known of it."""

    name: str
    profile: EngineProfile


def read_submission(
    body: Json,
    *,
    key: str | None,
    ids: IdFactory,
    bytes_max: int,
    extract: Callable[[Json], tuple[Json, Sequence[InlineFile]]],
) -> Submission:
    """Return what a submit asks for.

    Args:
        body: As it came; two submits are the same if these are equal.
        key: Its ``Idempotency-Key``, if any.
        ids: Makes ids of blocks.
        bytes_max: Of the body without its files.
        extract: Takes files out of a body.

    Raises:
        RemoteProtocolError: ``limit_exceeded``, ``invalid_idempotency_key`` and the codes of
            :func:`~blockwire.gateway.bodies.read_submit_body`.
    """
    if key is not None:
        check_idempotency_key(key)
    text = encode_json(body)
    digest = hashlib.sha256(text).hexdigest()
    body, files = extract(body)
    size_bytes = len(encode_json(body)) if files else len(text)
    if size_bytes > bytes_max:
        raise RemoteProtocolError("limit_exceeded", f"the body has over {bytes_max} bytes")
    read = read_submit_body(body, ids.new_id)
    return Submission(read, key, digest, size_bytes, files=files)


def read_retry(body: Json, *, of: TurnRow, content: list[Block], key: str | None) -> Submission:
    """Return what a retry asks for: the same question, where it says nothing else the same way.

    Args:
        body: ``{engine?, model?, options?, if_last_turn?}``.
        of: The turn whose question is asked again.
        content: That question.
        key: Its ``Idempotency-Key``, if any.

    Raises:
        RemoteProtocolError: ``invalid_idempotency_key`` and the codes of
            :func:`~blockwire.gateway.bodies.read_retry_body`.
    """
    if key is not None:
        check_idempotency_key(key)
    read = read_retry_body(body, content)
    # A model belongs to its engine.
    is_same_engine = read.engine is None or read.engine == of.engine
    read = read._replace(
        engine=of.engine if read.engine is None else read.engine,
        model=of.model if read.model is None and is_same_engine else read.model,
        options=of.options if read.options is None else read.options,
    )
    text = encode_json({"retry_of": of.id, "body": body})
    size_bytes = len(encode_json([*content]))
    return Submission(read, key, hashlib.sha256(text).hexdigest(), size_bytes, retry_of=of.id)


def choose_engine(
    submission: Submission, profiles: Mapping[str, EngineProfile], default: str
) -> ChosenEngine:
    """Return the engine to run a submit that nobody made before.

    Raises:
        RemoteProtocolError: ``engine_not_found``.
    """
    name = submission.body.engine if submission.body.engine is not None else default
    return find_engine(name, profiles)


def find_engine(name: str, profiles: Mapping[str, EngineProfile]) -> ChosenEngine:
    """Return the engine of this name.

    Raises:
        RemoteProtocolError: ``engine_not_found``.
    """
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
    check_same_body(submission, row.body_hash)
    live = conversation.turns.get(row.id)
    return row if live is None else live.row


def check_same_body(submission: Submission, digest: str | None) -> None:
    """Refuse a key that came with another body before.

    Raises:
        RemoteProtocolError: ``idempotency_key_reused``.
    """
    if digest != submission.digest:
        raise RemoteProtocolError(
            "idempotency_key_reused", "the key was used for another body; take a new one"
        )


async def check_condition(
    store: Store, conversation: Conversation, submission: Submission, *, is_starting: bool = False
) -> None:
    """Refuse a submit that was written in view of another last turn. Hold the lock.

    Args:
        store: Has the turns.
        conversation: Where it is submitted; turns that wait there come after those of the store.
        submission: What was submitted.
        is_starting: It has waited and is to start; then those that wait come after it.

    Raises:
        RemoteProtocolError: ``last_turn_mismatch``.
    """
    if not submission.body.has_condition:
        return
    last_id = None if is_starting else conversation.queue.last_id
    if last_id is None:
        page = await store.list_turns(conversation.id, cursor=None, limit=1)
        last_id = page.items[0].id if page.items else None
    if last_id != submission.body.if_last_turn:
        raise RemoteProtocolError(
            "last_turn_mismatch",
            "the conversation has gone on meanwhile",
            pointer="/if_last_turn",
        )


def new_queued(
    submission: Submission, engine: ChosenEngine, ids: IdFactory, now_ms: int
) -> QueuedTurn:
    """Return a submit with the ids that it will start with."""
    return QueuedTurn(ids.new_id("turn"), ids.new_id("message"), submission, engine, now_ms)


async def start_turn(conversation: Conversation, turn: QueuedTurn) -> LiveTurn:
    """Commit the question and the start of its turn. Hold the lock.

    Raises:
        StoreError: Nothing was started, or nobody can say; the same submit with the same key
            finds out.
    """
    submission, engine, turn_id = turn.submission, turn.engine, turn.turn_id
    batch = conversation.batch()
    question: Message = {
        "id": turn.question_id,
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
        created_at=turn.created_at,
        started_at=batch.ts,
        request_message_id=turn.question_id,
        model=model,
        provider=engine.profile.provider,
        idempotency_key=submission.key,
        body_hash=submission.digest if submission.key is not None else None,
        options=submission.body.options,
        retry_of=submission.retry_of,
    )
    live = conversation.live_turn(row)
    await conversation.commit(batch, row=row, new_turn=live)
    return live
