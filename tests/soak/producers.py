"""Outside agents: each owns one conversation, and remembers what it sent and was told."""

from __future__ import annotations

import asyncio
import json
import random
from itertools import accumulate
from typing import Any, Final

from tests.soak.script import Event, answer, texts_of
from tests.soak.wire import Connection
from tests.soak.world import CANARY, CLOCK, Plan, World

DELTAS_MIN: Final = 10
UPLOAD_S_MAX: Final = 60.0
EXPECTED_REFUSALS: Final = frozenset({"turn_terminal", "gateway_stopping"})


TICK_S: Final = 0.1
BEHIND_S_MAX: Final = 2.0
"""What is missed by calls and breaks is made up for, up to here."""
DRAIN_EVENTS: Final = 20


class SentTurn:
    """One turn as its producer knows it.

    Attributes:
        lines: Its events as they are sent; none once the turn is over.
        deltas_before: How many deltas are before each event, and in all.
        acknowledged: How many of its first events were.
        sent: How many of its first events were sent, whatever became of them.
    """

    def __init__(self, turn_id: str, epoch: str, events: list[Event]) -> None:
        self.turn_id = turn_id
        self.epoch = epoch
        self.count = len(events)
        self.acknowledged = 0
        self.sent = 0
        self.is_cancelled = False
        self._events = events
        self.lines = [
            json.dumps({**event, "producer_seq": number}).encode() + b"\n"
            for number, event in enumerate(events, 1)
        ]
        is_delta = (event["type"] == "content.block.delta" for event in events)
        self.deltas_before = list(accumulate(is_delta, initial=0))
        self.sent_texts: dict[str, str] = {}
        self.told_texts: dict[str, str] = {}

    @property
    def is_whole(self) -> bool:
        """Whether all of it was acknowledged."""
        return self.acknowledged == self.count

    def close(self) -> None:
        """Keep only what is held against the store: a long run has many turns."""
        self.sent_texts = texts_of(self._events)
        told = self._events[: self.acknowledged]
        self.told_texts = self.sent_texts if self.is_whole else texts_of(told)
        self._events, self.lines, self.deltas_before = [], [], []


class Pace:
    """When the next deltas are due: a few at once, so many a second."""

    def __init__(self, world: World, rate_per_s: float) -> None:
        self._world = world
        self._period_s = 1 / rate_per_s
        self._tick_s = max(TICK_S, self._period_s)
        self._due_s = CLOCK.monotonic_s()

    async def wait(self) -> int:
        """Wait until deltas are due; return how many, at least one."""
        self._due_s = max(self._due_s, CLOCK.monotonic_s() - BEHIND_S_MAX)
        await asyncio.sleep(max(self._due_s + self._tick_s - CLOCK.monotonic_s(), 0))
        return max(round(self._tick_s / self._period_s), 1)

    def spend(self, deltas: int) -> None:
        """Note that so many were sent."""
        self._due_s += deltas * self._period_s


class Producer:
    """Lets turn after turn stream into one conversation."""

    def __init__(self, world: World, name: str, plan: Plan) -> None:
        self._world = world
        self._name = name
        self._deltas_max = plan.deltas_max
        self._rng: random.Random = world.rng(name)
        self._pace = Pace(world, plan.rate_per_s)
        self.conversation_id = ""
        self.turns: list[SentTurn] = []
        self.imported: list[str] = []

    @property
    def _path(self) -> str:
        return f"/v1/conversations/{self.conversation_id}"

    async def create(self) -> None:
        """Create the conversation."""
        made = await self._world.ask("POST", "/v1/conversations", {"title": self._name})
        assert made.status == 201, made
        self.conversation_id = made.value["id"]

    async def run(self) -> None:
        """Work until the world stops."""
        number = 0
        while not self._world.is_stopping:
            number += 1
            if self._rng.random() < 0.4:
                await self._import(number)
            turn = await self._submit(f"{self._name}-{number}")
            if turn is not None:
                self.turns.append(turn)
                await self._stream(turn)
                turn.close()

    async def _import(self, number: int) -> None:
        role = self._rng.choice(["user", "system", "developer", "assistant", "tool"])
        text = CANARY if role in {"system", "developer"} else "imported"
        message = {
            "id": f"msg_{self._name}_{number}",
            "role": role,
            "content": [{"id": "b", "type": "prose", "markdown": text}],
        }
        made = await self._world.ask("POST", f"{self._path}/messages", message)
        if made.status == 201 or (made.status == 409 and self._was_repeated(made.value)):
            self.imported.append(str(message["id"]))
            self._world.counts["imports"] += 1
        else:
            self._world.fault("import refused", made)

    @staticmethod
    def _was_repeated(value: Any) -> bool:
        # An answer was lost with the gateway, and the call was repeated.
        return bool(value["error"]["code"] == "message_exists")

    async def _submit(self, key: str) -> SentTurn | None:
        body = {"content": f"question {key}", "engine": "external"}
        headers = {"idempotency-key": key}
        path = f"{self._path}/turns"
        made = await self._world.ask("POST", path, body, headers=headers)
        if made.status not in {200, 202}:
            self._world.fault("submit refused", made)
            await asyncio.sleep(0.5)
            return None
        self._world.counts["turns"] += 1
        turn_id = made.value["id"]
        if self._rng.random() < 0.3:
            again = await self._world.ask("POST", path, body, headers=headers)
            if again.status != 200 or again.value["id"] != turn_id:
                self._world.fault("submit repeated", again)
        if self._rng.random() < 0.1:
            other = await self._world.ask("POST", path, {"content": "other"}, headers=headers)
            if other.status != 409:
                self._world.fault("key reused", other)
        events = answer(turn_id, self._rng, self._rng.randrange(DELTAS_MIN, self._deltas_max))
        return SentTurn(turn_id, made.headers["blockwire-epoch"], events)

    async def _stream(self, turn: SentTurn) -> None:
        """Send all events of the turn, whatever happens on the way."""
        cancel_at = self._rng.randrange(turn.count) if self._rng.random() < 0.1 else None
        while turn.acknowledged < turn.count:
            break_at = None
            if self._rng.random() < 0.25:
                break_at = self._rng.randrange(turn.acknowledged, turn.count)
            life = self._world.life
            try:
                async with asyncio.timeout(UPLOAD_S_MAX):
                    if self._rng.random() < 0.3:
                        is_over = await self._send_batches(turn, cancel_at)
                    else:
                        is_over = await self._send_duplex(turn, break_at, cancel_at)
            except TimeoutError:
                self._world.fault("upload hangs", turn.turn_id)
                is_over = False
            except OSError as error:
                is_over = False
                # It may hear late of the end of a life that was over when it began the next line.
                is_expected = self._world.is_down or life != self._world.life
                if not is_expected and break_at is None:
                    self._world.fault("upload failed", repr(error))
            if is_over or await self._is_ended(turn):
                return

    async def _is_ended(self, turn: SentTurn) -> bool:
        read = await self._world.ask("GET", f"{self._path}/turns/{turn.turn_id}")
        if read.status != 200:
            self._world.fault("turn is gone", read)
            return True
        if read.value["status"] == "interrupted":
            self._world.counts["interrupted"] += 1
        return str(read.value["status"]) != "running"

    async def _cancel(self, turn: SentTurn) -> None:
        turn.is_cancelled = True
        path = f"{self._path}/turns/{turn.turn_id}/cancel"
        answered = await self._world.ask("POST", path)
        self._world.counts["cancels"] += 1
        if answered.status not in {202, 409}:
            self._world.fault("cancel refused", answered)

    # batches ------------------------------------------------------------------------------
    async def _send_batches(self, turn: SentTurn, cancel_at: int | None) -> bool:
        kept: Connection | None = None
        try:
            while turn.acknowledged < turn.count:
                first = turn.acknowledged
                # Now and then a batch goes back over what is known already.
                first = max(first - self._rng.randrange(4), 0)
                last = min(turn.acknowledged + self._rng.randrange(1, 12), turn.count)
                if cancel_at is not None and cancel_at < last and not turn.is_cancelled:
                    await self._cancel(turn)
                deltas = turn.deltas_before[last] - turn.deltas_before[turn.acknowledged]
                life, was_kept = self._world.life, kept is not None
                connection = kept = kept or await Connection.open(self._world.address)
                try:
                    if await self._send_batch(connection, turn, first, last):
                        return True
                except OSError:
                    # The gateway that kept it has ended since: once more on a new one.
                    if not was_kept or connection.body.status:
                        raise
                    is_usable = False
                else:
                    is_usable = life == self._world.life and connection.renew()
                if not is_usable:
                    connection.writer.close()
                    kept = None
                self._pace.spend(deltas)
                if not self._world.is_draining:
                    await self._pace.wait()
            return True
        finally:
            if kept is not None:
                kept.writer.close()

    async def _send_batch(
        self, connection: Connection, turn: SentTurn, first: int, last: int
    ) -> bool:
        data = b"".join(turn.lines[first:last])
        turn.sent = max(turn.sent, last)
        connection.send_head(
            "POST",
            f"{self._path}/turns/{turn.turn_id}/events",
            {
                "content-type": "application/x-ndjson",
                "content-length": str(len(data)),
                "blockwire-epoch": turn.epoch,
            },
            data,
        )
        return await self._read_answer(connection, turn)

    # duplex -------------------------------------------------------------------------------
    async def _send_duplex(
        self, turn: SentTurn, break_at: int | None, cancel_at: int | None
    ) -> bool:
        connection = await Connection.open(self._world.address)
        answer_task = asyncio.create_task(self._read_answer(connection, turn))
        try:
            connection.send_head(
                "POST",
                f"{self._path}/turns/{turn.turn_id}/events",
                {
                    "content-type": "application/x-ndjson",
                    "transfer-encoding": "chunked",
                    "blockwire-epoch": turn.epoch,
                },
            )
            index = turn.acknowledged
            while index < turn.count:
                last = await self._next(turn, index)
                if break_at is not None and index <= break_at < last:
                    # In the middle of a line.
                    whole, cut = turn.lines[index:break_at], turn.lines[break_at]
                    connection.send_chunk(b"".join(whole) + cut[: len(cut) // 2])
                    turn.sent = max(turn.sent, break_at)
                    await self._pace.wait()
                    connection.abort()
                    self._world.counts["broken uploads"] += 1
                    return False
                if cancel_at is not None and index <= cancel_at < last and not turn.is_cancelled:
                    await self._cancel(turn)
                connection.send_chunk(b"".join(turn.lines[index:last]))
                turn.sent = max(turn.sent, last)
                await connection.writer.drain()
                if answer_task.done():
                    return bool(await answer_task)
                index = last
            connection.write(b"0\r\n\r\n")
            return await answer_task
        finally:
            answer_task.cancel()
            connection.writer.close()
            await asyncio.gather(answer_task, return_exceptions=True)

    async def _next(self, turn: SentTurn, index: int) -> int:
        """Wait until something is due; return the event before which to stop."""
        if self._world.is_draining:
            await asyncio.sleep(0)
            return min(index + DRAIN_EVENTS, turn.count)
        due = turn.deltas_before[index] + await self._pace.wait()
        last = index + 1
        while last < turn.count and turn.deltas_before[last] < due:
            last += 1
        self._pace.spend(turn.deltas_before[last] - turn.deltas_before[index])
        return last

    async def _read_answer(self, connection: Connection, turn: SentTurn) -> bool:
        """Take acknowledgements; return whether the turn is over for its producer."""
        async for line in connection.lines():
            value = json.loads(line)
            if "producer_seq" in value:
                number = value["producer_seq"]
                self._note_acknowledged(turn, number)
                self._world.counts["acknowledgements"] += 1
                continue
            code = value["error"]["code"]
            if connection.body.status >= 429:
                headers = connection.body.headers
                wait_s = self._world.check_refusal(connection.body.status, headers, value)
                await asyncio.sleep(wait_s)
            elif code not in EXPECTED_REFUSALS:
                self._world.fault(f"upload refused: {code}", value)
            return bool(code == "turn_terminal")
        return connection.body.is_over and turn.acknowledged >= turn.count

    def _note_acknowledged(self, turn: SentTurn, number: int) -> None:
        if number > turn.sent:
            self._world.fault("acknowledged unsent", f"{turn.turn_id}: {number} of {turn.sent}")
            return
        if number > turn.acknowledged:
            before = turn.deltas_before
            if self._world.is_measuring:
                self._world.deltas += before[number] - before[turn.acknowledged]
            turn.acknowledged = number
