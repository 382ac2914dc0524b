"""Targets with a gateway behind them: requests as they come off the wire, and uploads.

The application is called as a server calls it, on a store in memory; no socket is opened.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from blockwire.buses import MemoryBus
from blockwire.cli.system import SystemClock, UlidFactory
from blockwire.content import ConversationState, apply, decode_event
from blockwire.gateway import (
    Auth,
    EngineProfile,
    GatewayApp,
    GatewayService,
    GatewaySettings,
    create_app,
)
from blockwire.gateway.routes import OPERATIONS
from blockwire.gateway.turns.folding import frame_values
from blockwire.jsontext import Json, decode_json, encode_json
from blockwire.stores import MemoryStore
from fuzz.chances import damaged, damaged_json, pieces, text, value

__all__ = ["GatewayTarget"]

CALL_S_MAX: Final = 5.0
UPLOADS: Final = 3
LINES_MAX: Final = 8

_HEADERS: Final = (
    ("host", "127.0.0.1"), ("host", "evil.example"), ("content-type", "application/json"),
    ("content-type", "application/x-ndjson"), ("content-type", "text/plain; charset=latin-1"),
    ("accept", "application/json"), ("accept", "text/event-stream"), ("last-event-id", "3"),
    ("last-event-id", "-1"), ("origin", "http://evil.example"), ("idempotency-key", "k"),
    ("blockwire-epoch", "1"), ("blockwire-epoch", "9" * 20), ("blockwire-protocol", "2"),
    ("authorization", "Bearer x"), ("content-length", "99999999999"), ("if-none-match", "*"),
    ("content-encoding", "gzip"), ("cookie", "blockwire-80=bwl_x"), ("authorization", "Bearer bws_x"),
    ("sec-fetch-site", "cross-site"), ("x-forwarded-for", "1.2.3.4, x"),
)  # fmt: skip
_BODIES: Final[tuple[dict[str, Json], ...]] = (
    {"content": "Hello?", "engine": "external"},
    {"content": [{"type": "prose", "markdown": "x"}], "if_last_turn": None, "options": {}},
    {"title": "A title", "tags": ["a"], "metadata": {"x": 1}},
    {"role": "user", "content": [{"id": "b", "type": "prose", "markdown": "x"}]},
    {"request_id": "r", "answer": {"yes": True}},
    {"token": "bw_x"},
    {"expires_at": None},
)
_METHODS: Final = ("GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS")
_QUERY: Final = (
    "after=0", "after=now", "after=-1", "limit=1", "limit=0", "wait=0", "wait=x", "view=public",
    "keys=convert", "until=idle", "snapshot=1", "cursor=abc", "x=1", "after=1&after=2", "%ff=1",
    "conversations=c:1,d", "ticket=bwt_x", "forget=1",
)  # fmt: skip


class GatewayTarget:
    """A gateway in memory; make it once and attack it again and again.

    Attributes:
        runner: Its event loop.
        app: Its application.
    """

    def __init__(self) -> None:
        self.runner = asyncio.Runner()
        self.app: GatewayApp
        self._service: GatewayService
        self.runner.run(self._start())
        self._conversations: list[str] = []

    async def _start(self) -> None:
        settings, clock = GatewaySettings(batch_events_max=3), SystemClock()
        self._service = GatewayService(
            store=MemoryStore(), bus=MemoryBus(), clock=clock, ids=UlidFactory(), engines={},
            guard=lambda events, _request: events, settings=settings,
            profiles={"external": EngineProfile(is_external=True)},
        )  # fmt: skip
        await self._service.start()
        auth = Auth((), host="127.0.0.1")
        self.app = create_app(self._service, settings, auth, clock=clock)
        self.app.start()

    def close(self) -> None:
        """Stop the gateway."""
        self.app.stop()
        self.runner.run(self._service.stop())
        self.runner.close()

    def requests(self, chance: random.Random) -> None:
        """No request is the server's fault, and none stops it."""
        self.runner.run(self._attack_requests(chance))

    def uploads(self, chance: random.Random) -> None:
        """Whatever a producer sends, the log folds, and what was acknowledged is there."""
        self.runner.run(self._attack_uploads(chance))

    async def call(
        self,
        method: str,
        path: str,
        *,
        query: bytes = b"",
        headers: Sequence[tuple[str, str]] = (),
        body: Sequence[bytes] = (),
    ) -> tuple[int, bytes, Mapping[str, str]]:
        """Return status, body and headers; the peer leaves when it has sent its request."""
        waiting = [
            *({"type": "http.request", "body": part, "more_body": True} for part in body),
            {"type": "http.request", "body": b"", "more_body": False},
        ]
        sent: list[MutableMapping[str, Any]] = []

        async def receive() -> MutableMapping[str, Any]:
            return waiting.pop(0) if waiting else {"type": "http.disconnect"}

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method,
            "path": path, "raw_path": quote(path, safe="/%").encode(), "query_string": query,
            "headers": [(k.encode(), v.encode("latin-1", "replace")) for k, v in headers],
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 1), "scheme": "http",
            "root_path": "",
        }  # fmt: skip
        async with asyncio.timeout(CALL_S_MAX):
            await self.app(scope, receive, send)
        starts = [message for message in sent if message["type"] == "http.response.start"]
        assert len(starts) <= 1, f"answered twice: {method} {path}"
        if not starts:
            return 0, b"", {}
        answered = {k.decode().lower(): v.decode() for k, v in starts[0]["headers"]}
        return starts[0]["status"], b"".join(m.get("body", b"") for m in sent[1:]), answered

    async def _attack_requests(self, chance: random.Random) -> None:
        path = chance.choice(OPERATIONS).path
        for name in ("conversation_id", "turn_id"):
            known = [*self._conversations[-3:], "conv_unknown", "turn_x"]
            path = path.replace(f"{{{name}}}", chance.choice((*known, text(chance, 12) or "x")))
        headers = [("host", "127.0.0.1"), ("content-type", "application/json")]
        if chance.random() < 0.6:
            headers += chance.choices(_HEADERS, k=chance.randint(1, 3))
        query = "&".join(chance.choices(_QUERY, k=chance.choice((0, 0, 1, 2)))).encode()
        source: Json = dict(chance.choice(_BODIES))
        if chance.random() < 0.5:
            source = damaged_json(chance, source)
        body = encode_json(source)
        if chance.random() < 0.3:
            body = damaged(chance, body)
        method = chance.choice((*_METHODS, "POST", "POST", "GET"))
        status, answer, _ = await self.call(
            method, path, query=query, headers=headers, body=pieces(chance, body)
        )
        request = f"{method} {path!r}?{query!r} {headers!r} {body!r}"
        assert status < 500, f"{status} {answer[:200]!r}: {request}"
        if status == 201 and path == "/v1/conversations":
            self._conversations.append(str(_members(answer)["id"]))

    async def _attack_uploads(self, chance: random.Random) -> None:
        json_type = [("host", "127.0.0.1"), ("content-type", "application/json")]
        _, answer, _ = await self.call("POST", "/v1/conversations", headers=json_type, body=[b"{}"])
        name = str(_members(answer)["id"])
        path = f"/v1/conversations/{name}/turns"
        status, answer, headers = await self.call(
            "POST", path, headers=json_type, body=[b'{"content":"?","engine":"external"}']
        )
        assert status == 202, f"{status} {answer!r}"
        turn_id = str(_members(answer)["id"])
        uploaded = [
            ("host", "127.0.0.1"), ("content-type", "application/x-ndjson"),
            ("blockwire-epoch", headers["blockwire-epoch"]),
        ]  # fmt: skip
        acknowledged = 0
        for _ in range(UPLOADS):
            body = _upload(chance, turn_id, acknowledged)
            status, answer, _ = await self.call(
                "POST", f"{path}/{turn_id}/events", headers=uploaded, body=pieces(chance, body)
            )
            assert status < 500, f"{status} {answer[:200]!r}: {body!r}"
            for line in answer.splitlines():
                acknowledged = _acknowledged(line, acknowledged)
        await self._check_log(name, turn_id, acknowledged)
        await self.call("DELETE", f"/v1/conversations/{name}", headers=json_type)

    async def _check_log(self, name: str, turn_id: str, acknowledged: int) -> None:
        store = self._service.store
        page = await store.read_frames(name, 0, view="owner", bytes_max=2**30)
        state = ConversationState(name)
        for event in frame_values(page.frames):
            state = apply(state, decode_event(event))
        row = await store.load_turn(name, turn_id)
        assert row is not None, "the turn is lost"
        assert row.producer_seq >= acknowledged, "an acknowledged event is lost"
        assert row.last_seq <= state.seq, "the turn is ahead of its log"


def _members(answer: bytes) -> dict[str, Json]:
    read = decode_json(answer)
    assert isinstance(read, dict), f"no object: {answer!r}"
    return read


def _acknowledged(line: bytes, before: int) -> int:
    number = _members(line).get("producer_seq", before)
    assert type(number) is int, f"no number: {line!r}"
    assert number >= before, f"an acknowledgement went back: {line!r}"
    return number


def _upload(chance: random.Random, turn_id: str, acknowledged: int) -> bytes:
    lines: list[bytes] = []
    number = max(acknowledged + chance.choice((1, 1, 1, 0, -1, 2)), 0)
    for _ in range(chance.randint(1, LINES_MAX)):
        event = _upload_event(chance, turn_id)
        if chance.random() < 0.8:
            event["producer_seq"] = number
            number += 1
        source: Json = event
        if chance.random() < 0.15:
            source = damaged_json(chance, source)
        lines.append(encode_json(source))
    body = b"\n".join(lines) + chance.choice((b"\n", b"", b"\r\n\n"))
    return damaged(chance, body) if chance.random() < 0.15 else body


def _upload_event(chance: random.Random, turn_id: str) -> dict[str, Json]:
    turn: dict[str, Json] = {"turn_id": turn_id}
    block_id = f"b{chance.randint(1, 2)}"
    options: tuple[dict[str, Json], ...] = (
        {"type": "content.block.started", **turn,
         "block": {"id": block_id, "type": "prose", "markdown": ""}},
        {"type": "content.block.delta", **turn, "block_id": block_id, "field": "markdown",
         "text": text(chance)},
        {"type": "content.block.delta", **turn, "block_id": block_id, "field": "markdown",
         "text": text(chance)},
        {"type": "content.block.completed", **turn, "block_id": block_id},
        {"type": "turn.suspended", **turn,
         "request": {"id": "r", "kind": "ask", "prompt": "?"}},
        {"type": "acme.news", **turn, "x": value(chance)},
        {"type": "turn.completed", **turn, "status": "completed"},
    )  # fmt: skip
    return dict(chance.choices(options, weights=(4, 6, 6, 2, 1, 1, 1))[0])
