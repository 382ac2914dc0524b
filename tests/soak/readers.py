"""Readers on raw sockets: steady ones, slow ones, restless ones, and those of several conversations."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any, Final, Literal
from urllib.parse import quote

from blockwire.content import View
from tests.soak.fold import Fold
from tests.soak.sharing import Feed, Item
from tests.soak.wire import READ_BYTES, Connection, Stream
from tests.soak.world import CANARY, CLOCK, World

Kind = Literal["steady", "slow", "restless", "many"]

SLOW_BYTES: Final = 1_000
STAY_S: Final = (0.2, 4.0)
RECONNECT_S: Final = 0.2
SPOT_S: Final = (2.0, 8.0)
LONG_SEQ: Final = 2_000
"""Who begins again at zero reads all there is: the longer that is, the rarer it happens."""


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
        self._feed = Feed(world.decoding, CANARY.encode())
        self._stream: Stream | None = None
        # An event did not fit: this connection is of no more use.
        self._is_unfit = False

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
        if how == "zero" and self._rng.random() > LONG_SEQ / max(fold.state.seq, LONG_SEQ):
            how = "own"
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
        self._feed = Feed(self._world.decoding, CANARY.encode())
        self._is_unfit = False
        life = self._world.life
        if self.kind == "slow":
            is_over = await self._read_slowly(path, headers)
        else:
            is_over = await self._read(path, headers)
        if not is_over:
            return
        body, refused = self._feed.body, self._feed.refused
        if body.status >= 400:
            value = json.loads(refused) if refused and body.is_over else refused
            wait_s = self._world.check_refusal(body.status, body.headers, value)
            await asyncio.sleep(wait_s)
        # A slow one reads the end of a life that was over long ago.
        elif not self._world.is_down and life == self._world.life:
            self._world.fault("stream ended", f"{body.status} {refused!r}")

    async def _read(self, path: str, headers: dict[str, str]) -> bool:
        """Read as it comes; return whether the gateway ended it."""
        transport, stream = await Stream.open(self._world.address, path, headers, self._receive)
        self._stream = stream
        stays = self.kind == "restless" and not self._world.is_draining
        stay_s = self._rng.uniform(*STAY_S) if stays else None
        try:
            async with asyncio.timeout(stay_s):
                error = await asyncio.shield(stream.ended)
        except TimeoutError:
            if self._rng.random() < 0.5:
                transport.abort()
            return False
        finally:
            stream.forget()
            transport.close()
        if error is not None:
            raise error
        return not self._is_unfit

    async def _read_slowly(self, path: str, headers: dict[str, str]) -> bool:
        """Read a little each second; return whether the gateway ended it."""
        connection = await Connection.open(self._world.address, is_slow=True)
        try:
            connection.send_head("GET", path, headers)
            while not self._is_unfit:
                is_slow = not self._world.is_draining
                data = await connection.read_raw(SLOW_BYTES if is_slow else READ_BYTES)
                if not data:
                    return True
                self._receive(data)
                if self._feed.body.is_over:
                    return True
                if is_slow:
                    await asyncio.sleep(1.0)
            return False
        finally:
            connection.writer.close()

    def _receive(self, data: bytes) -> None:
        feed = self._feed
        items = feed.receive(data)
        if feed.saw_canary and self.view == "public":
            self._world.fault("private bytes", data[-300:])
            feed.saw_canary = False
        now_ms = CLOCK.now_ms()
        self._world.counts["events read"] += len(items)
        for item in items:
            if not self._take(item, now_ms):
                self._is_unfit = True
                break
        if self._stream is not None and (self._is_unfit or feed.body.is_over):
            self._stream.finish()

    def _take(self, item: Item, now_ms: int) -> bool:
        known = item.known
        fold = self.folds.get(known.conversation_id)
        if fold is None:
            self._world.fault("not asked for", item)
            return True
        event = known.event
        if event is None:
            if known.head_seq is not None:
                fold.begin(known.head_seq)
            return True
        if self._wants_reset:
            if not known.is_reset:
                self._world.fault("no reset", item)
            self._wants_reset = False
        fits = fold.take(event, now_ms)
        if not fits:
            fold.restart()
        self._check_id(item, fold)
        return fits

    def _check_id(self, item: Item, fold: Fold) -> None:
        self._last_event_id = item.event_id
        if self.kind == "many":
            cursors = dict(part.rpartition(":")[::2] for part in item.event_id.split(","))
            is_right = cursors.get(fold.conversation_id) == str(fold.state.seq)
        else:
            is_right = item.cursor == fold.state.seq
        if not is_right:
            self._world.fault("wrong id", f"{item.event_id} at {fold.state.seq}")

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
