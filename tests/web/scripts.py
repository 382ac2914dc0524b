"""Random scripts of events, and what our reducer makes of each: for reducers in other languages.

A script is a list of texts as a receiver may get them, right and wrong ones, in the worst order. With
each comes the refusal that it must meet, or none, and now and then the whole state. A reducer that
agrees at every step agrees in JSON, codec, validation, state and text.

Usage: ``python -m tests.web.scripts COUNT [FIRST_SEED]`` prints one JSON object a line:
``{"seed", "steps": [[text, refusal, state], ...], "texts": [...], "more_before"}``. A refusal is null
or ``[where, code, pointer]``, a state null or its spelling as text; ``texts`` are those of the
messages at the end, in their order, and ``more_before`` is the cursor for older ones.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

from blockwire.content import (
    BlockState,
    ConversationState,
    TurnState,
    apply,
    decode_event,
    event_members,
    make_snapshot,
)
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import decode_json, encode_json
from blockwire.render import message_text
from tests.web.values import blanks, broken_text, doubled, mutated, opaque, phrase
from vectors.generate_content import spelled

__all__ = ["make_script", "scripts"]

STEPS_MAX: Final = 60
# How often the whole state is written down between the steps.
STATE_SHARE: Final = 0.08

Record = dict[str, Any]
Refusal = list[str | None]

_TOOL_STATUSES: Final = ("pending", "running", "completed", "failed", "cancelled")
_ENDS: Final = ("completed", "failed", "cancelled")
_BLOCK_IDS: Final = ("b1", "b2", "b3", "k1", "__proto__", "constructor")
_TURN_IDS: Final = ("turn_1", "turn_2", "turn_3", "constructor", "__proto__", "\U0001f600")
_TS: Final = 1740000000000


def scripts(count: int, first_seed: int = 0) -> Iterator[bytes]:
    """Yield the lines of ``count`` scripts, of the seeds from ``first_seed`` on."""
    for seed in range(first_seed, first_seed + count):
        yield encode_json(make_script(seed)) + b"\n"


def make_script(seed: int) -> Record:
    """Return the script of one seed; the same seed makes the same script."""
    return _Script(seed).run()


class _Script:
    """Writes one script: knows the state, so that most of what it sends is right."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.seed = seed
        self.state = ConversationState()
        self.steps: list[list[Any]] = []
        # What was applied, to be sent again; and older states, to make snapshots of.
        self.sent: list[str] = []
        self.older: list[ConversationState] = []

    def run(self) -> Record:
        for _ in range(self.rng.randint(5, STEPS_MAX)):
            self._step()
        if self.steps[-1][2] is None:
            self.steps[-1][2] = self._spelling()
        texts = [message_text(message, with_reasoning=True) for message in self.state.messages]
        return {
            "seed": self.seed,
            "steps": self.steps,
            "texts": texts,
            "more_before": self.state.more_before,
        }

    def _spelling(self) -> str:
        return encode_json(spelled(self.state)).decode()

    def _step(self) -> None:
        rng = self.rng
        chance = rng.random()
        if chance < 0.06 and self.sent:
            self._send(rng.choice(self.sent))
        elif chance < 0.2:
            value = mutated(rng, self._event())
            self._send(self._text(mutated(rng, value) if rng.random() < 0.25 else value))
        elif chance < 0.25:
            self._send(broken_text(rng, self._text(self._event())))
        elif chance < 0.28:
            make = rng.choice((self._created, self._snapshot))
            self._send(self._text(self._stamped(doubled(rng, make()))))
        else:
            self._send(self._text(self._event()))

    def _text(self, value: Any) -> str:
        return encode_json(value).decode()

    def _send(self, text: str) -> None:
        refusal = self._receive(text)
        is_shown = self.rng.random() < STATE_SHARE
        self.steps.append([text, refusal, self._spelling() if is_shown else None])

    def _receive(self, text: str) -> Refusal | None:
        """Apply one text; return the refusal, the state being as it was then."""
        where = "json"
        try:
            value = decode_json(text.encode())
            where = "codec"
            event = decode_event(value)
            where = "reducer"
            after = apply(self.state, event)
        except RemoteProtocolError as error:
            return [where, error.code, error.pointer if where == "codec" else None]
        if after is not self.state:
            self.older.append(self.state)
            self.sent.append(text)
        self.state = after
        return None

    # events -----------------------------------------------------------------------------------
    def _event(self) -> Record:
        kinds: tuple[tuple[int, Callable[[], Record]], ...] = (
            (10, self._turn_started),
            (22, self._block_started),
            (40, self._delta),
            (14, self._updated),
            (18, self._completed),
            (5, self._suspended),
            (5, self._resumed),
            (12, self._ended),
            (6, self._created),
            (5, self._snapshot),
            (5, self._unknown),
        )
        make = self.rng.choices([kind for _, kind in kinds], [weight for weight, _ in kinds])[0]
        if not self.state.running and self.rng.random() < 0.5:
            make = self.rng.choice((self._turn_started, self._block_started))
        event = make()
        if event["type"] == "conversation.snapshot":
            return event
        if self.rng.random() < 0.08:
            event["x_unknown"] = opaque(self.rng)
        return self._stamped(event)

    def _stamped(self, event: Record) -> Record:
        rng = self.rng
        before = self.state.seq
        chance = rng.random()
        if chance < 0.03:
            return event
        prev_seq = before
        if chance < 0.06:
            prev_seq = max(0, before + rng.randint(-3, 3))
        seq = max(prev_seq + 1, 1) + (rng.randint(1, 5) if rng.random() < 0.1 else 0)
        stamps: Record = {"conversation_id": "conv_1", "seq": seq, "prev_seq": prev_seq}
        if prev_seq == 0 and rng.random() < 0.5:
            del stamps["prev_seq"]
        if rng.random() < 0.95:
            stamps["ts"] = _TS + rng.randint(-5, 100)
        if rng.random() < 0.03:
            del stamps["conversation_id"]
        return {**event, **stamps} if rng.random() < 0.5 else {**stamps, **event}

    def _running(self) -> TurnState | None:
        running = list(self.state.running.values())
        return self.rng.choice(running) if running else None

    def _turn_id(self) -> str:
        running = self._running()
        if running is not None and self.rng.random() < 0.92:
            return running.turn_id
        return self.rng.choice(_TURN_IDS)

    def _block(self, turn_id: str, kinds: tuple[str, ...] = ()) -> BlockState | None:
        turn = self.state.find_turn(turn_id)
        if turn is None:
            return None
        fitting = [b for b in turn.blocks if b.is_open and (not kinds or b.type in kinds)]
        return self.rng.choice(fitting) if fitting and self.rng.random() < 0.95 else None

    def _block_id(self, block: BlockState | None) -> str:
        return self.rng.choice(_BLOCK_IDS) if block is None else block.id

    def _turn_started(self) -> Record:
        rng = self.rng
        event: Record = {
            "type": "turn.started",
            "turn_id": rng.choice(_TURN_IDS),
            "role": rng.choice(("assistant", "assistant", "system", "tool")),
            "created_at": _TS + rng.randint(0, 50),
        }
        for name in ("model", "provider", "author", "metadata", "metadata_json"):
            if rng.random() < 0.25:
                event[name] = opaque(rng) if name == "metadata" else rng.choice(("m-1", "", "Ada"))
        return event

    def _new_block(self, block_id: str | None = None) -> Record:
        rng = self.rng
        kind = rng.choice(("prose", "prose", "reasoning", "tool", "tool", "code", "more"))
        if kind == "more":
            kind = rng.choice(("error", "attachment", "notice", "speech", "acme_chart"))
        members: Record = {"id": block_id or rng.choice(_BLOCK_IDS), "type": kind}
        if kind == "prose":
            members["markdown"] = phrase(rng)
        elif kind in {"code", "reasoning", "speech"}:
            members["text"] = phrase(rng) + rng.choice((".", ".", ".", blanks(rng)))
        elif kind in {"error", "notice"}:
            members |= {"code": "engine_failed", "message": phrase(rng)}
        elif kind == "tool":
            members |= {"tool": "ls", "status": rng.choice(_TOOL_STATUSES[:3])}
            members |= self._tool_members()
        elif kind == "attachment":
            members |= {"attachment_id": "att_1", "name": "a.png", "media_type": "image/png"}
        else:
            members["fallback_text"] = opaque(rng)
        if rng.random() < 0.15:
            members[rng.choice(("provider_data", "x_more", "__proto__"))] = opaque(rng)
        return members

    def _tool_members(self) -> Record:
        rng = self.rng
        members: Record = {}
        for name in ("input", "output", "error", "provider_data"):
            if rng.random() < 0.3:
                members[name] = opaque(rng)
        if rng.random() < 0.3:
            members["started_at"] = _TS
        if rng.random() < 0.1:
            members["attachments"] = ["att_1"]
        if rng.random() < 0.03:
            members["output"] = "\U0001f600x" * 1200
        return members

    def _block_started(self) -> Record:
        return {
            "type": "content.block.started",
            "turn_id": self._turn_id(),
            "block": self._new_block(),
        }

    def _delta(self) -> Record:
        turn_id = self._turn_id()
        block = self._block(turn_id, ("prose", "reasoning"))
        field = "markdown" if block is None or block.field is None else block.field
        if self.rng.random() < 0.03:
            field = self.rng.choice(("text", "markdown", "output"))
        # A merged one is longer and jumps over numbers; see _stamped.
        text = "".join(phrase(self.rng) for _ in range(self.rng.choice((1, 1, 1, 6))))
        return {
            "type": "content.block.delta",
            "turn_id": turn_id,
            "block_id": self._block_id(block),
            "field": field,
            "text": text,
        }

    def _updated(self) -> Record:
        rng = self.rng
        turn_id = self._turn_id()
        changes = self._tool_members()
        if rng.random() < 0.7:
            changes["status"] = rng.choice(_TOOL_STATUSES)
        return {
            "type": "content.block.updated",
            "turn_id": turn_id,
            "block_id": self._block_id(self._block(turn_id, ("tool",))),
            "set": changes,
        }

    def _completed(self) -> Record:
        rng = self.rng
        turn_id = self._turn_id()
        block = self._block(turn_id)
        event: Record = {
            "type": "content.block.completed",
            "turn_id": turn_id,
            "block_id": self._block_id(block),
        }
        if block is not None and block.type == "tool" and rng.random() < 0.7:
            final: Record = {
                "id": block.id,
                "type": "tool",
                "tool": rng.choice(("ls", "ls", "ls", "rm")),
                "status": rng.choice(_TOOL_STATUSES),
            }
            event["block"] = final | self._tool_members()
        if rng.random() < 0.15:
            event["provider_data"] = opaque(rng)
        return event

    def _suspended(self) -> Record:
        rng = self.rng
        turn_id = self._turn_id()
        request: Record = {
            "id": "req_1",
            "kind": rng.choice(("question", "approval")),
            "prompt": phrase(rng),
        }
        if rng.random() < 0.4:
            request["options"] = opaque(rng)
        if rng.random() < 0.5:
            request["block_id"] = self._block_id(self._block(turn_id))
        return {"type": "turn.suspended", "turn_id": turn_id, "request": request}

    def _resumed(self) -> Record:
        return {"type": "turn.resumed", "turn_id": self._turn_id(), "answer": opaque(self.rng)}

    def _ended(self) -> Record:
        rng = self.rng
        status = rng.choice(_ENDS)
        turn_id = self._turn_id()
        turn = self.state.running.get(turn_id)
        if turn is not None and turn.open_blocks and rng.random() < 0.85:
            return {
                "type": "content.block.completed",
                "turn_id": turn_id,
                "block_id": turn.open_blocks[0].id,
            }
        event: Record = {"type": f"turn.{status}", "turn_id": turn_id, "status": status}
        for name in ("finish_reason", "reason", "error_code"):
            if rng.random() < 0.3:
                event[name] = rng.choice(("stop", "interrupted", "", "engine_failed"))
        if rng.random() < 0.4:
            event["usage"] = {"output_tokens": rng.randint(0, 9), "x": opaque(rng)}
        return event

    def _created(self) -> Record:
        rng = self.rng
        blocks = [self._new_block(f"b{n}") for n in range(rng.randint(0, 3))]
        message: Record = {
            "id": rng.choice((*_TURN_IDS, "msg_1", "msg_2", "msg_3", "msg_4")),
            "role": rng.choice(("user", "tool", "system", "assistant")),
            "status": rng.choice(_ENDS),
            "content": blocks,
            "created_at": _TS,
        }
        if rng.random() < 0.3:
            message["completed_at"] = _TS + rng.randint(-1, 5)
        if rng.random() < 0.3:
            message["metadata"] = opaque(rng)
        return {"type": "message.created", "message": message}

    def _unknown(self) -> Record:
        rng = self.rng
        name = rng.choice(
            ("acme.progress", "unknown", "turn.queued", "conversation.deleted", "constructor")
        )
        return {"type": name, "turn_id": self._turn_id(), "percent": opaque(rng)}

    # snapshots --------------------------------------------------------------------------------
    def _snapshot(self) -> Record:
        rng = self.rng
        state = self.state
        if self.older and rng.random() < 0.4:
            state = rng.choice(self.older)
        elif rng.random() < 0.3:
            state = self._ahead()
        event = event_members(make_snapshot(state, reset=rng.random() < 0.1))
        if rng.random() < 0.2:
            event["more_before"] = rng.choice(("cursor_1", ""))
        return self._changed_snapshot(event)

    def _ahead(self) -> ConversationState:
        """Return a state after events that the receiver never got."""
        state = self.state
        for _ in range(self.rng.randint(1, 6)):
            event = self._event()
            event["prev_seq"], event["seq"] = state.seq, state.seq + 1
            if event["type"] == "conversation.snapshot":
                continue
            try:
                state = apply(state, decode_event(event))
            except RemoteProtocolError:
                continue
        return state

    def _changed_snapshot(self, event: Record) -> Record:
        """Return a snapshot as another gateway might make it: less said about its turns."""
        rng = self.rng
        turns: list[Record] = event["turns"]
        chance = rng.random()
        if chance < 0.15:
            event["turns"] = [turn for turn in turns if rng.random() < 0.5]
        elif chance < 0.3:
            for turn in turns:
                turn.pop("open_block_ids", None)
        elif chance < 0.4:
            for turn in turns:
                turn["status"] = rng.choice(("interrupted", "failed", "queued"))
        elif chance < 0.45:
            event.pop("conversation_id", None)
        elif chance < 0.5:
            event["messages"] = event["messages"][1:]
        elif chance < 0.55:
            event["open_block_ids"] = ["b1"]
        if rng.random() < 0.1:
            event["messages"] = [{**it, "x_more": opaque(rng)} for it in event["messages"]]
        return event


def main(count: int, first_seed: int) -> None:
    """Print the scripts."""
    for line in scripts(count, first_seed):
        sys.stdout.buffer.write(line)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
