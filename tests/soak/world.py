"""What all parts of one process of a soak share: where the gateway is, what went wrong, what was measured."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from blockwire.cli.system import SystemClock
from blockwire.content import BlockDelta, ConversationState, StreamEvent, View
from tests.crash.wire import Address, Answer
from tests.soak.sharing import Decoding, Recent
from tests.soak.wire import Connection

CANARY: Final = "canary_9f2e_of_the_owner"
"""Stands in everything that is private; no byte of it may reach a public reader."""

CALL_S_MAX: Final = 20.0
UP_S_MAX: Final = 60.0
EXAMPLES_MAX: Final = 3
STEPS_MAX: Final = 16_384
IDLE_MAX: Final = 32
"""Connections for calls that are kept between them."""

BUSY_CODES: Final = frozenset(
    {"rate_limited", "too_many_streams", "turns_in_flight_exceeded", "queue_full"}
)
"""What a gateway at its limits says, with ``Retry-After``, and a good client obeys."""

CLOCK: Final = SystemClock()


class Plan(NamedTuple):
    """How much of what, for how long."""

    conversations: int
    readers: int
    rate_per_s: float
    duration_s: float
    seed: int
    workers: int = 2
    # Of one answer.
    deltas_max: int = 120


class Step(NamedTuple):
    """A state and how it came to be.

    Attributes:
        prev_seq: Of the event that led here.
        delta: That event, where it is a delta; it may stand for several.
    """

    state: ConversationState
    prev_seq: int
    delta: BlockDelta | None

    @classmethod
    def make(cls, state: ConversationState, event: StreamEvent) -> Step:
        """Return the step of ``event`` to ``state``."""
        return cls(state, event.prev_seq, event if isinstance(event, BlockDelta) else None)


class Folded(NamedTuple):
    """One use of the reducer; it keeps alive what its key tells apart by identity."""

    before: ConversationState
    event: StreamEvent
    step: Step


class Report(NamedTuple):
    """What one process, or all of them, saw.

    Attributes:
        faults: How often what went wrong.
        examples: The first few of each.
        counts: What was done, by name.
        latencies_ms: How many events took how long from their stamp to a live reader.
        lags_ms: How many times the program itself was how late.
        deltas: Acknowledged while the gateway was up and producers had not begun to end.
        up_s: How long that was.
    """

    faults: Counter[str]
    examples: dict[str, list[str]]
    counts: Counter[str]
    latencies_ms: Counter[int]
    lags_ms: Counter[int]
    deltas: int = 0
    up_s: float = 0.0

    def add(self, other: Report) -> None:
        """Take in what another process saw; the last two members stay."""
        self.faults.update(other.faults)
        self.counts.update(other.counts)
        self.latencies_ms.update(other.latencies_ms)
        self.lags_ms.update(other.lags_ms)
        for kind, examples in other.examples.items():
            own = self.examples.setdefault(kind, [])
            own += examples[: EXAMPLES_MAX - len(own)]

    def fault(self, kind: str, detail: object) -> None:
        """Keep what must not happen."""
        self.faults[kind] += 1
        examples = self.examples.setdefault(kind, [])
        if len(examples) < EXAMPLES_MAX:
            examples.append(str(detail)[:600])


def new_report() -> Report:
    """Return one of nothing."""
    return Report(Counter(), {}, Counter(), Counter(), Counter())


@dataclass
class World:
    """One process of a soak.

    Attributes:
        address: Of the gateway; the same over all its lives.
        is_stopping: Producers finish what they have begun, and begin nothing.
        is_draining: Readers are as fast as they can, and keep their connections.
        life: How often the gateway has been ended.
        is_down: The gateway is being stopped or started: refusals are to be expected.
        report: What went wrong, what was done, what was measured.
        steps: What a state becomes by an event, by the identities of both.
        empties: States before the first event, by conversation and view.
    """

    address: Address
    seed: int
    is_stopping: bool = False
    is_draining: bool = False
    is_down: bool = False
    life: int = 0
    deltas: int = 0
    report: Report = field(default_factory=new_report)
    decoding: Decoding = field(default_factory=Decoding)
    steps: Recent[tuple[int, int], Folded] = field(default_factory=lambda: Recent(STEPS_MAX))
    empties: dict[tuple[str, View], ConversationState] = field(default_factory=dict)
    _idle: list[Connection] = field(default_factory=list)

    @property
    def counts(self) -> Counter[str]:
        """What was done, by name."""
        return self.report.counts

    @property
    def is_measuring(self) -> bool:
        """Whether the load is what was asked for."""
        return not self.is_down and not self.is_stopping

    def rng(self, name: str) -> random.Random:
        """Return a source of chance of its own for each part."""
        return random.Random(f"{self.seed}:{name}")

    def fault(self, kind: str, detail: object) -> None:
        """Keep what must not happen."""
        self.report.fault(kind, detail)

    def sample_latency(self, taken_ms: int) -> None:
        """Note how long ago an event was stamped that has just been read live."""
        if not self.is_down and not self.is_stopping:
            self.report.latencies_ms[taken_ms] += 1

    # calls --------------------------------------------------------------------------------
    async def ask(
        self, method: str, path: str, body: Any = None, *, headers: dict[str, str] | None = None
    ) -> Answer:
        """Make a call that may be repeated, until there is an answer that is no refusal of now."""
        ends_at_s = CLOCK.monotonic_s() + UP_S_MAX
        while True:
            wait_s = 0.1
            try:
                async with asyncio.timeout(CALL_S_MAX):
                    answer = await self._call(method, path, body, headers or {})
                self.counts[f"status {answer.status // 100}xx"] += 1
                if answer.status < 500 and answer.status != 429:
                    return answer
                wait_s = self.check_refusal(answer.status, answer.headers, answer.value)
            except TimeoutError:
                self.fault("no answer", f"{method} {path}")
            except OSError as error:
                if not self.is_down:
                    self.fault("connection failed", f"{method} {path}: {error!r}")
            if CLOCK.monotonic_s() > ends_at_s:
                raise TimeoutError(f"{method} {path}: no answer for {UP_S_MAX:g} s")
            await asyncio.sleep(wait_s)

    async def _call(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Answer:
        payload = b"" if body is None else json.dumps(body).encode()
        kind = {"content-type": "application/json"} if payload else {}
        head = {**kind, **headers, "content-length": str(len(payload))}
        life = self.life
        kept = self._idle.pop() if self._idle else None
        connection = kept or await Connection.open(self.address)
        is_kept = False
        try:
            try:
                data = await _exchange(connection, method, path, head, payload)
            except OSError:
                # A kept connection may have ended unseen, with the gateway or by its age.
                if kept is None or connection.body.status:
                    raise
                connection.writer.close()
                connection = await Connection.open(self.address)
                data = await _exchange(connection, method, path, head, payload)
            body_read = connection.body
            is_kept = len(self._idle) < IDLE_MAX and life == self.life and connection.renew()
        finally:
            if is_kept:
                self._idle.append(connection)
            else:
                connection.writer.close()
        return Answer(body_read.status, body_read.headers, json.loads(data) if data else None)

    def forget_connections(self) -> None:
        """Close what is kept between calls."""
        for connection in self._idle:
            connection.writer.close()
        self._idle.clear()

    def check_refusal(self, status: int, headers: dict[str, str], value: object) -> float:
        """Return when to try again, in seconds; a fault unless the gateway is down or says busy."""
        code = value["error"]["code"] if isinstance(value, dict) else None
        asked = headers.get("retry-after", "")
        if self.is_down and status == 503:
            return 0.1
        if code in BUSY_CODES and asked.isdecimal():
            self.counts["refused: busy"] += 1
            return float(asked)
        self.fault(f"status {status}", value)
        return 0.1


async def _exchange(
    connection: Connection, method: str, path: str, headers: dict[str, str], payload: bytes
) -> bytes:
    connection.send_head(method, path, headers, payload)
    return await connection.answer()
