"""Readers on raw sockets: steady ones, slow ones, restless ones, and those of several conversations."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any, Final, Literal
from urllib.parse import quote

from blockwire.content import View, decode_event
from blockwire.jsontext import decode_json
from blockwire.sse import SseDecoder, SseEvent
from tests.soak.fold import Fold
from tests.soak.wire import READ_BYTES, Connection
from tests.soak.world import CANARY, World

Kind = Literal["steady", "slow", "restless", "many"]

SLOW_BYTES: Final = 1_000
STAY_S: Final = (0.2, 4.0)
RECONNECT_S: Final = 0.2
SPOT_S: Final = (2.0, 8.0)
_UNNUMBERED: Final = frozenset({"subscription.ready", "turn.queued", "conversation.deleted"})


class RawReader:
    """Reads one conversation, or several on one stream, and checks what it gets.

    Attributes:
        folds: By conversation.
    """

    def __init__(
        self, world: World, name: str, kind: Kind, conversations: Sequence[str], view: View
    ) -> None:
        self._world = world
        self._rng = world.rng(name)
        self.kind: Kind = kind
        self.view: View = view
        self.folds = {
            item: Fold(world, item, view, is_timed=kind != "slow") for item in conversations
        }
        self._last_event_id = ""
        self._wants_reset = False
        self._canary_tail = b""

    async def run(self) -> None:
        """Read until cancelled, over as many connections as it takes."""
        while True:
            path, headers = self._request()
            life = self._world.life
            try:
                await self._read_once(path, headers)
            except OSError as error:
                if not self._world.is_down and life == self._world.life:
                    self._world.fault("stream failed", repr(error))
            except TimeoutError:
                self._world.fault("no stream", path)
            await asyncio.sleep(RECONNECT_S * self._rng.random())

    # what to ask for ----------------------------------------------------------------------
    def _request(self) -> tuple[str, dict[str, str]]:
        query = "view=public" if self.view == "public" else "view=owner"
        headers = {"accept": "text/event-stream"}
        self._wants_reset = False
        if self.kind == "many":
            names = ",".join(f"{name}:{fold.state.seq}" for name, fold in self.folds.items())
            if self._last_event_id and self._rng.random() < 0.5:
                names = ",".join(self.folds)
                headers["last-event-id"] = self._last_event_id
            return f"/v1/events?conversations={quote(names)}&{query}", headers
        ((name, fold),) = self.folds.items()
        how = self._rng.choice(["own", "own", "back", "zero", "ahead", "snapshot", "now"])
        if self.kind == "restless" and not self._world.is_draining:
            query += self._wander(fold, how)
        elif self._rng.random() < 0.5:
            headers["last-event-id"] = str(fold.state.seq)
        else:
            query += f"&after={fold.state.seq}"
        return f"/v1/conversations/{name}/events?{query}", headers

    def _wander(self, fold: Fold, how: str) -> str:
        self._world.counts[f"reconnects: {how}"] += 1
        if how == "ahead":
            self._wants_reset = True
            return f"&after={fold.state.seq + 1_000_000}"
        if how in {"snapshot", "now"}:
            return f"&snapshot=1&after={'now' if how == 'now' else fold.state.seq}"
        if how == "zero":
            fold.restart()
        elif how == "back":
            fold.go_back(self._rng)
        return f"&after={fold.state.seq}"

    # reading ------------------------------------------------------------------------------
    async def _read_once(self, path: str, headers: dict[str, str]) -> None:
        connection = await Connection.open(self._world.address, is_slow=self.kind == "slow")
        try:
            connection.send_head("GET", path, headers)
            if self.kind == "restless" and not self._world.is_draining:
                stay_s = self._rng.uniform(*STAY_S)
                try:
                    async with asyncio.timeout(stay_s):
                        await self._read_all(connection)
                except TimeoutError:
                    if self._rng.random() < 0.5:
                        connection.abort()
                return
            await self._read_all(connection)
        finally:
            connection.writer.close()

    async def _read_all(self, connection: Connection) -> None:
        decoder = SseDecoder()
        life = self._world.life
        self._canary_tail = b""
        refused = b""
        while True:
            is_slow = self.kind == "slow" and not self._world.is_draining
            data = await connection.read(SLOW_BYTES if is_slow else READ_BYTES)
            if data is None:
                break
            self._look_for_canary(data)
            if connection.body.status != 200:
                refused += data
                continue
            for item in decoder.receive_data(data):
                assert isinstance(item, SseEvent), "nothing here is that large"
                if not self._take(item):
                    return
            if is_slow:
                await asyncio.sleep(1.0)
        if connection.body.status >= 400:
            self._world.check_refusal(connection.body.status, refused)
        # A slow one reads the end of a life that was over long ago.
        if not self._world.is_down and life == self._world.life:
            self._world.fault("stream ended", f"{connection.body.status} {refused!r}")

    def _look_for_canary(self, data: bytes) -> None:
        if self.view == "public":
            self._canary_tail += data
            if CANARY.encode() in self._canary_tail:
                self._world.fault("private bytes", self._canary_tail[-300:])
            self._canary_tail = self._canary_tail[-len(CANARY) :]

    def _take(self, item: SseEvent) -> bool:
        value = decode_json(item.data.encode())
        assert isinstance(value, dict), "events are objects"
        fold = self.folds.get(str(value.get("conversation_id")))
        if fold is None:
            self._world.fault("not asked for", item)
            return True
        self._world.counts["events read"] += 1
        if item.type in _UNNUMBERED:
            if item.type == "subscription.ready":
                head_seq = value["head_seq"]
                assert isinstance(head_seq, int), "documented"
                fold.begin(head_seq)
            return True
        if self._wants_reset:
            if item.type != "conversation.snapshot" or value.get("reset") is not True:
                self._world.fault("no reset", item)
            self._wants_reset = False
        fits = fold.take(decode_event(value))
        if not fits:
            fold.restart()
        self._check_id(item.last_event_id, fold)
        return fits

    def _check_id(self, event_id: str, fold: Fold) -> None:
        self._last_event_id = event_id
        cursors = dict(part.rpartition(":")[::2] for part in event_id.split(","))
        own = cursors.get(fold.conversation_id if self.kind == "many" else "")
        if own != str(fold.state.seq):
            self._world.fault("wrong id", f"{event_id} at {fold.state.seq}")

    # spot checks --------------------------------------------------------------------------
    async def spot_check(self) -> None:
        """Hold the state against GET at random moments, until cancelled."""
        while True:
            await asyncio.sleep(self._rng.uniform(*SPOT_S))
            fold = self._rng.choice(list(self.folds.values()))
            turn_id = fold.pick_turn(self._rng)
            if turn_id is None:
                continue
            path = f"/v1/conversations/{fold.conversation_id}/turns/{turn_id}?view={self.view}"
            answer = await self._world.ask("GET", path)
            self._check_answer(fold, answer.status, answer.value)

    def _check_answer(self, fold: Fold, status: int, value: Any) -> None:
        if status != 200:
            self._world.fault("turn not readable", f"{status} {value}")
            return
        if self.view == "public" and CANARY in json.dumps(value):
            self._world.fault("private bytes", value)
        fold.expect(value)
