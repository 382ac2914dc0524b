"""What clients do until the gateway is killed, and what they were told by then."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from dataclasses import dataclass, field

from tests.crash.wire import Address, Answer, PartialAnswerError, StreamLog, call, fetch

EVENTS_PER_TURN = 60


@dataclass
class Submitted:
    """One submit: its key and body, and the turn if its answer came."""

    key: str
    body: dict[str, object]
    turn_id: str = ""


@dataclass
class Told:
    """Everything that one conversation's clients were told."""

    conversation_id: str = ""
    submits: list[Submitted] = field(default_factory=list)
    # (turn, producer_seq, seq) of every acknowledged line
    acks: list[tuple[str, int, int]] = field(default_factory=list)
    # turn -> text of the deltas that its producer sent, by producer_seq
    sent: dict[str, dict[int, str]] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    logs: list[StreamLog] = field(default_factory=list)
    # conversations made of this one, by fork or import, and their messages
    copies: dict[str, list[object]] = field(default_factory=dict)
    # id of an attachment -> its SHA-256
    uploads: dict[str, str] = field(default_factory=dict)


def producer_lines(turn_id: str, rng: random.Random) -> list[tuple[dict[str, object], str]]:
    """Return the events of one answer, each with the text that it adds."""
    block = f"b_{turn_id[-6:]}"
    lines: list[tuple[dict[str, object], str]] = [
        (
            {
                "type": "content.block.started",
                "turn_id": turn_id,
                "block": {"id": block, "type": "prose", "markdown": ""},
            },
            "",
        )
    ]
    for number in range(EVENTS_PER_TURN):
        text = f"<{number}:{'x' * rng.randrange(12)}>"
        lines.append(
            (
                {
                    "type": "content.block.delta",
                    "turn_id": turn_id,
                    "block_id": block,
                    "field": "markdown",
                    "text": text,
                },
                text,
            )
        )
    lines.append(({"type": "content.block.completed", "turn_id": turn_id, "block_id": block}, ""))
    lines.append(({"type": "turn.completed", "turn_id": turn_id, "status": "completed"}, ""))
    return lines


async def converse(address: Address, told: Told, rng: random.Random, name: str) -> None:
    """Create a conversation, read it live, and let turn after turn stream into it."""
    answer = await call(address, "POST", "/v1/conversations", {"title": name})
    assert answer.status == 201, answer
    told.conversation_id = answer.value["id"]
    async with asyncio.TaskGroup() as tasks:
        for _ in range(2):
            log = StreamLog(address, told.conversation_id)
            told.logs.append(log)
            tasks.create_task(log.run())
        tasks.create_task(_turns(address, told, rng, name))


async def _turns(address: Address, told: Told, rng: random.Random, name: str) -> None:
    try:
        for number in range(1000):
            await rng.choice([_nothing, _nothing, _fork, _import, _upload])(address, told, rng)
            if rng.random() < 0.3:
                await _replay_turn(address, told, f"{name}-{number}")
            else:
                await _external_turn(address, told, rng, f"{name}-{number}")
    except (OSError, asyncio.IncompleteReadError):
        return


async def _submit(address: Address, told: Told, key: str, body: dict[str, object]) -> Answer:
    submitted = Submitted(key, body)
    told.submits.append(submitted)
    path = f"/v1/conversations/{told.conversation_id}/turns"
    answer = await call(address, "POST", path, body, headers={"idempotency-key": key})
    assert answer.status == 202, answer
    assert answer.value["durable"] is True
    submitted.turn_id = answer.value["id"]
    return answer


async def _nothing(address: Address, told: Told, rng: random.Random) -> None:
    del address, told, rng


async def _fork(address: Address, told: Told, rng: random.Random) -> None:
    del rng
    base = f"/v1/conversations/{told.conversation_id}"
    answer = await call(address, "POST", f"{base}/fork", {})
    assert answer.status == 201, answer
    copied = await messages_of(address, told.conversation_id)
    told.copies[answer.value["id"]] = copied


async def _import(address: Address, told: Told, rng: random.Random) -> None:
    del rng
    base = f"/v1/conversations/{told.conversation_id}"
    archive = await fetch(address, f"{base}/export?format=jsonl")
    answer = await call(address, "POST", "/v1/import", archive)
    assert answer.status == 201, answer
    copied = await messages_of(address, told.conversation_id)
    told.copies[answer.value["conversations"][0]["id"]] = copied


async def _upload(address: Address, told: Told, rng: random.Random) -> None:
    """Several chunks; some have the same content as one before."""
    content = bytes([rng.randrange(4)]) * rng.choice([10, 300_000, 700_000])
    path = f"/v1/conversations/{told.conversation_id}/attachments?name=file.bin"
    answer = await call(address, "POST", path, content)
    assert answer.status == 201, answer
    told.uploads[answer.value["id"]] = hashlib.sha256(content).hexdigest()


async def messages_of(address: Address, conversation_id: str) -> list[object]:
    """Return all messages, in order."""
    messages: list[object] = []
    cursor: str | None = "0"
    while cursor is not None:
        path = f"/v1/conversations/{conversation_id}/messages?after={cursor}"
        answer = await call(address, "GET", path)
        assert answer.status == 200, answer
        messages += answer.value["items"]
        cursor = answer.value["next_cursor"]
    return messages


async def _replay_turn(address: Address, told: Told, key: str) -> None:
    body: dict[str, object] = {"content": key, "engine": "replay", "options": {"speed": 60}}
    turn_id = (await _submit(address, told, key, body)).value["id"]
    path = f"/v1/conversations/{told.conversation_id}/turns/{turn_id}?wait=20"
    answer = await call(address, "GET", path)
    if answer.value["status"] == "completed":
        told.ended.add(turn_id)


async def _external_turn(address: Address, told: Told, rng: random.Random, key: str) -> None:
    body: dict[str, object] = {"content": key, "engine": "external"}
    answer = await _submit(address, told, key, body)
    turn_id, epoch = answer.value["id"], answer.headers["blockwire-epoch"]
    path = f"/v1/conversations/{told.conversation_id}/turns/{turn_id}/events"
    lines = producer_lines(turn_id, rng)
    sent = told.sent.setdefault(turn_id, {})
    position = 0
    while position < len(lines):
        count = rng.choice([1, 1, 2, 5, 20])
        batch = b""
        for offset, (event, text) in enumerate(lines[position : position + count]):
            producer_seq = position + offset + 1
            sent[producer_seq] = text
            batch += json.dumps({**event, "producer_seq": producer_seq}).encode() + b"\n"
        try:
            answer = await call(address, "POST", path, batch, headers={"blockwire-epoch": epoch})
            acks = answer.value
        except PartialAnswerError as error:
            acks = [json.loads(line) for line in error.body.split(b"\n")[:-1]]
            told.acks += [(turn_id, ack["producer_seq"], ack["seq"]) for ack in acks]
            raise
        told.acks += [(turn_id, ack["producer_seq"], ack["seq"]) for ack in acks]
        position += count
    told.ended.add(turn_id)
