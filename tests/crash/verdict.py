"""What must hold after a crash and a restart, whatever the moment of the crash."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from typing import Any

from tests.crash.wire import Address, Seen, StreamLog, call, fetch
from tests.crash.workload import Told, messages_of


async def stored_frames(address: Address, conversation_id: str) -> list[Seen]:
    """Return the log of a conversation, read to its end."""
    head = await call(address, "GET", f"/v1/conversations/{conversation_id}")
    log = StreamLog(address, f"{conversation_id}")
    log._path += "&until=idle"
    await log.run()
    frames = log.frames()
    last = frames[-1].seq if frames else 0
    assert last == head.value["head_seq"], (last, head.value)
    return frames


async def problems_of(address: Address, told: Told) -> list[str]:
    """Return what contradicts the promises for one conversation."""
    problems: list[str] = []
    if not told.conversation_id:
        return problems
    answer = await call(address, "GET", f"/v1/conversations/{told.conversation_id}")
    if answer.status != 200:
        return [f"an acknowledged conversation is gone: {answer.value}"]
    frames = await stored_frames(address, told.conversation_id)
    stored = Stored(frames)
    seqs = [frame.seq for frame in frames]
    if seqs != sorted(set(seqs)):
        problems.append("seq is used again or falls")
    problems += _seen_problems(told, stored)
    problems += _ack_problems(told, stored)
    problems += await _turn_problems(address, told, frames)
    problems += await _copy_problems(address, told)
    return problems


class Stored:
    """The log, some deltas of which stand for several numbers."""

    def __init__(self, frames: list[Seen]) -> None:
        self._frames = frames
        self._seqs = [frame.seq for frame in frames]

    def find(self, seq: int) -> Seen | None:
        """Return the frame that stands for this number."""
        index = bisect_left(self._seqs, seq)
        if index == len(self._frames):
            return None
        frame = self._frames[index]
        is_there = frame.seq == seq or json.loads(frame.data)["prev_seq"] < seq
        return frame if is_there else None

    def holds(self, seen: Seen) -> bool:
        """Return whether what was seen is there: as it was, or as a part of merged text."""
        frame = self.find(seen.seq)
        if frame is not None and frame.data == seen.data:
            return True
        event = json.loads(seen.data)
        if event["type"] != "content.block.delta":
            return False
        # Neighbouring deltas may be one: for a reader that fell behind, and in the log.
        numbers = range(event["prev_seq"] + 1, seen.seq + 1)
        parts = {part.seq: part.data for seq in numbers if (part := self.find(seq)) is not None}
        values = [json.loads(data) for data in parts.values()]
        text: str = event["text"]
        return all(value.get("block_id") == event["block_id"] for value in values) and (
            text in "".join(value.get("text", "") for value in values)
        )


def _seen_problems(told: Told, stored: Stored) -> list[str]:
    problems: list[str] = []
    for log in told.logs:
        seen = log.frames()
        numbers = [frame.seq for frame in seen]
        if numbers != sorted(set(numbers)):
            problems.append("a reader saw a number twice or out of order")
        for frame in seen:
            if stored.find(frame.seq) is None:
                problems.append(f"seen and lost: {frame.seq}")
            elif not stored.holds(frame):
                problems.append(f"seen and changed: {frame.seq}")
    return problems


async def _copy_problems(address: Address, told: Told) -> list[str]:
    """What was made of the conversation, and what was uploaded into it."""
    problems: list[str] = []
    for conversation_id, messages in told.copies.items():
        if await messages_of(address, conversation_id) != messages:
            problems.append(f"a copy is not what it was: {conversation_id}")
    for attachment_id, digest in told.uploads.items():
        content = await fetch(address, f"/v1/attachments/{attachment_id}")
        if hashlib.sha256(content).hexdigest() != digest:
            problems.append(f"uploaded and changed: {attachment_id}")
    return problems


def _ack_problems(told: Told, stored: Stored) -> list[str]:
    problems: list[str] = []
    for turn_id, producer_seq, seq in told.acks:
        frame = stored.find(seq)
        if frame is None:
            problems.append(f"acknowledged and lost: producer_seq {producer_seq}, seq {seq}")
        elif json.loads(frame.data).get("turn_id") != turn_id:
            problems.append(f"acknowledged as another turn's: {seq}")
    return problems


async def _turn_problems(address: Address, told: Told, frames: list[Seen]) -> list[str]:
    problems: list[str] = []
    base = f"/v1/conversations/{told.conversation_id}/turns"
    for submitted in told.submits:
        again = await call(
            address, "POST", base, submitted.body, headers={"idempotency-key": submitted.key}
        )
        if submitted.turn_id and (again.status != 200 or again.value["id"] != submitted.turn_id):
            problems.append(f"submit {submitted.key} started twice: {again.status} {again.value}")
        turn_id = submitted.turn_id or (again.value["id"] if again.status == 200 else "")
        if again.status == 202:
            # Its answer never came and nothing of it was stored: the repeat started it, once.
            await call(address, "POST", f"{base}/{again.value['id']}/cancel")
            await call(address, "GET", f"{base}/{again.value['id']}?wait=10")
        if turn_id:
            turn = (await call(address, "GET", f"{base}/{turn_id}")).value
            problems += _one_turn(told, turn, frames)
    return problems


def _one_turn(told: Told, turn: dict[str, Any], frames: list[Seen]) -> list[str]:
    problems: list[str] = []
    turn_id = turn["id"]
    content = turn["message"]["content"]
    interrupted = [b for b in content if b.get("code") == "turn_interrupted"]
    if turn["status"] == "interrupted":
        if len(interrupted) != 1 or turn["message"]["status"] != "failed":
            problems.append(f"{turn_id}: {len(interrupted)} turn_interrupted")
    elif turn["status"] not in {"completed", "cancelled"} or interrupted:
        problems.append(f"{turn_id}: {turn['status']}")
    if turn_id in told.ended and turn["status"] != "completed":
        problems.append(f"{turn_id}: acknowledged as over and now {turn['status']}")
    starts = [f for f in frames if b'"turn.started"' in f.data and turn_id.encode() in f.data]
    if len(starts) != 1:
        problems.append(f"{turn_id}: started {len(starts)} times")
    if turn_id in told.sent:
        text = "".join(b.get("markdown", "") for b in content if b["type"] == "prose")
        whole = "".join(t for _seq, t in sorted(told.sent[turn_id].items()))
        acked = max((p for t, p, _s in told.acks if t == turn_id), default=0)
        least = "".join(t for seq, t in sorted(told.sent[turn_id].items()) if seq <= acked)
        if not whole.startswith(text) or not text.startswith(least):
            problems.append(f"{turn_id}: text is not what was sent")
    return problems
