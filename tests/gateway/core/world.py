"""A gateway in one process for tests: real stores and bus, engines written as scripts."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio

from blockwire.buses import MemoryBus
from blockwire.content import (
    ID_PREFIXES,
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    ConversationState,
    IdKind,
    StreamEvent,
    TurnEnded,
    View,
    apply,
    decode_event,
)
from blockwire.gateway.service import GatewayService
from blockwire.gateway.settings import EngineProfile, GatewaySettings
from blockwire.gateway.turns.folding import frame_values
from blockwire.jsontext import Json, encode_json
from blockwire.ports import Append, Appended, Engine, EngineRequest, Store
from blockwire.stores import MemoryStore

NOW_MS: Final = 1_740_000_000_000
FAST: Final = GatewaySettings(
    store_retries_max=3, store_retry_first_s=0.001, store_retry_pause_s_max=0.002
)

Script = Callable[[EngineRequest], AsyncGenerator[StreamEvent, None]]


class FakeClock:
    """Moves only when told; each reading of Unix time is a millisecond later."""

    def __init__(self, now_ms: int = NOW_MS) -> None:
        self.ms = now_ms
        self.s = 0.0

    def now_ms(self) -> int:
        self.ms += 1
        return self.ms

    def monotonic_s(self) -> float:
        return self.s


class CountingIds:
    """Ids that a test can read."""

    def __init__(self, start: int = 1) -> None:
        self._numbers = itertools.count(start)

    def new_id(self, kind: IdKind) -> str:
        return f"{ID_PREFIXES[kind]}{next(self._numbers):04}"


class ScriptEngine:
    """Runs a script for each turn and remembers what it was asked."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self.requests: list[EngineRequest] = []
        self.closed = anyio.Event()
        self.is_let_go = False

    async def run(self, request: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
        self.requests.append(request)
        try:
            async for event in self._script(request):
                yield event
        finally:
            self.closed.set()

    async def aclose(self) -> None:
        self.is_let_go = True


def prose(turn_id: str, block_id: str, *pieces: str, is_open: bool = False) -> list[StreamEvent]:
    """Return the events of one prose block."""
    events: list[StreamEvent] = [
        BlockStarted(turn_id, {"id": block_id, "type": "prose", "markdown": ""})
    ]
    events += [BlockDelta(turn_id, block_id, "markdown", piece) for piece in pieces]
    return events if is_open else [*events, BlockCompleted(turn_id, block_id)]


def answering(*pieces: str) -> Script:
    """Return a script that says ``pieces`` and completes."""

    async def script(request: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
        for event in prose(request.turn_id, "b1", *pieces):
            yield event
        yield TurnEnded(request.turn_id, "completed", finish_reason="stop", usage={"output": 3})

    return script


def stuck_after(make: Callable[[str], Iterable[StreamEvent]]) -> Script:
    """Return a script that yields events and then waits until it is stopped."""

    async def script(request: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
        for event in make(request.turn_id):
            yield event
        await anyio.sleep_forever()

    return script


async def bare_guard(
    events: AsyncGenerator[StreamEvent, None], request: EngineRequest
) -> AsyncGenerator[StreamEvent, None]:
    """Pass everything on: what the gateway does without a guard must be right as well."""
    del request
    async for event in events:
        yield event


class World:
    """One gateway and what a test needs to talk to it."""

    def __init__(self, service: GatewayService) -> None:
        self.service = service

    async def conversation(self, **members: Json) -> str:
        created = await self.service.create_conversation(dict(members), tenant=None)
        return str(created["id"])

    async def submit(self, conversation_id: str, content: Json = "Hi", **more: Any) -> str:
        """Submit and return the id of the turn."""
        key = more.pop("key", None)
        result = await self.service.submit_turn(
            conversation_id, {"content": content, **more}, idempotency_key=key, tenant=None
        )
        return str(result.turn["id"])

    async def turn(
        self,
        conversation_id: str,
        turn_id: str,
        *,
        view: View = "owner",
        wait_s: float | None = None,
    ) -> dict[str, Any]:
        return await self.service.read_turn(
            conversation_id, turn_id, view=view, tenant=None, wait_s=wait_s
        )

    async def ended(self, conversation_id: str, turn_id: str) -> dict[str, Any]:
        """Return the turn once it is over."""
        return await self.turn(conversation_id, turn_id, wait_s=5)

    async def ask(self, conversation_id: str, content: Json = "Hi", **more: Any) -> dict[str, Any]:
        """Submit and return the turn once it is over."""
        return await self.ended(
            conversation_id, await self.submit(conversation_id, content, **more)
        )

    async def post(
        self, conversation_id: str, turn_id: str, *chunks: bytes, epoch: int | None = 1, **more: Any
    ) -> list[dict[str, Json]]:
        """Post chunks of NDJSON and return the acknowledgements."""
        return [
            ack
            async for ack in self.service.post_events(
                conversation_id,
                turn_id,
                epoch=epoch,
                chunks=stream_of(*chunks),
                tenant=None,
                **more,
            )
        ]

    async def events(self, conversation_id: str, view: View = "owner") -> list[dict[str, Any]]:
        """Return all events of the log as one view gets them."""
        page = await self.service.store.read_frames(
            conversation_id, 0, view=view, bytes_max=10_000_000
        )
        return list(frame_values(page.frames))  # type: ignore[arg-type]

    async def folded(self, conversation_id: str, view: View = "owner") -> ConversationState:
        """Return the state that a reader of the whole log ends with."""
        state = ConversationState()
        for value in await self.events(conversation_id, view):
            state = apply(state, decode_event(value))
        return state

    async def wait_for_seq(self, conversation_id: str, seq: int) -> None:
        """Return when the log has got so far."""
        head_seq = 0
        with anyio.fail_after(45):
            while head_seq < seq:
                page = await self.service.read_events(
                    conversation_id,
                    after=head_seq,
                    view="owner",
                    limit_bytes=1_000_000,
                    wait_s=5,
                    tenant=None,
                )
                head_seq = int(str(page["next_cursor"]))


async def stream_of(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


def line(**members: Any) -> bytes:
    """Return one line of NDJSON."""
    return encode_json(members) + b"\n"


def numbered(first: int, *values: Mapping[str, Any]) -> bytes:
    """Return lines with ``producer_seq`` from ``first`` on."""
    return b"".join(
        line(producer_seq=number, **value) for number, value in enumerate(values, start=first)
    )


@asynccontextmanager
async def gateway(
    *,
    store: Store | None = None,
    engines: Mapping[str, Engine] | None = None,
    settings: GatewaySettings = FAST,
    clock: FakeClock | None = None,
    ids: CountingIds | None = None,
    guard: Any = bare_guard,
    profiles: Mapping[str, EngineProfile] | None = None,
    faults: Any = None,
) -> AsyncIterator[World]:
    """Run a gateway; its store is closed when it stops and can be opened again."""
    service = GatewayService(
        store=store if store is not None else MemoryStore(),
        bus=MemoryBus(),
        clock=clock if clock is not None else FakeClock(),
        ids=ids if ids is not None else CountingIds(),
        engines=engines
        if engines is not None
        else {"script": ScriptEngine(answering("Hello", "!"))},
        guard=guard,
        settings=settings,
        profiles=profiles,
        faults=faults,
    )
    with anyio.fail_after(45):
        await service.start()
        try:
            yield World(service)
        finally:
            await service.stop()


class HeldStore(MemoryStore):
    """A store whose commits wait at a gate while it is shut."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = anyio.Event()
        self.gate.set()
        self.waiting = anyio.Event()

    def shut(self) -> None:
        self.gate = anyio.Event()
        self.waiting = anyio.Event()

    async def append(self, change: Append) -> Appended:
        if not self.gate.is_set():
            self.waiting.set()
            await self.gate.wait()
        return await super().append(change)
