"""What all parts of a soak share: where the gateway is, what went wrong, what was measured."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from blockwire.cli.system import SystemClock
from tests.crash.wire import Address, Answer, call

CANARY: Final = "canary_9f2e_of_the_owner"
"""Stands in everything that is private; no byte of it may reach a public reader."""

CALL_S_MAX: Final = 20.0
UP_S_MAX: Final = 60.0
EXAMPLES_MAX: Final = 3
SAMPLES_MAX: Final = 200_000

CLOCK: Final = SystemClock()


@dataclass
class World:
    """One soak.

    Attributes:
        address: Of the gateway; the same over all its lives.
        is_stopping: Producers finish what they have begun, and begin nothing.
        is_draining: Readers are as fast as they can, and keep their connections.
        life: How often the gateway has been ended.
        is_down: The gateway is being stopped or started: refusals are to be expected.
        faults: How often what went wrong.
        examples: The first few of each.
        counts: What was done, by name.
        latencies_ms: From the stamp of an event, before its commit, to a live reader.
    """

    address: Address
    seed: int
    is_stopping: bool = False
    is_draining: bool = False
    is_down: bool = False
    life: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    latencies_ms: list[int] = field(default_factory=list)

    def rng(self, name: str) -> random.Random:
        """Return a source of chance of its own for each part."""
        return random.Random(f"{self.seed}:{name}")

    def fault(self, kind: str, detail: object) -> None:
        """Keep what must not happen."""
        self.faults[kind] += 1
        examples = self.examples.setdefault(kind, [])
        if len(examples) < EXAMPLES_MAX:
            examples.append(str(detail)[:600])

    def sample_latency(self, stamped_ms: int) -> None:
        """Measure how long ago an event was stamped that has just been read live."""
        if len(self.latencies_ms) < SAMPLES_MAX and not self.is_down:
            self.latencies_ms.append(CLOCK.now_ms() - stamped_ms)

    async def ask(
        self, method: str, path: str, body: Any = None, *, headers: dict[str, str] | None = None
    ) -> Answer:
        """Make a call that may be repeated, until there is an answer that is no 503."""
        ends_at_s = CLOCK.monotonic_s() + UP_S_MAX
        while True:
            try:
                async with asyncio.timeout(CALL_S_MAX):
                    answer = await call(self.address, method, path, body, headers=headers)
                self.counts[f"status {answer.status // 100}xx"] += 1
                if answer.status < 500:
                    return answer
                self.check_refusal(answer.status, answer.value)
            except TimeoutError:
                self.fault("no answer", f"{method} {path}")
            except OSError as error:
                if not self.is_down:
                    self.fault("connection failed", f"{method} {path}: {error!r}")
            if CLOCK.monotonic_s() > ends_at_s:
                raise TimeoutError(f"{method} {path}: no answer for {UP_S_MAX:g} s")
            await asyncio.sleep(0.1)

    def check_refusal(self, status: int, value: object) -> None:
        """Count a 5xx as a fault unless the gateway is stopping."""
        if not (self.is_down and status == 503):
            self.fault(f"status {status}", value)
