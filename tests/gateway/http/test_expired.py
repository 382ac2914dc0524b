"""Cursors of logs that were merged and trimmed: on streams, many at once, and in pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from blockwire.content import ConversationState, View, apply, decode_event
from blockwire.jsontext import encode_json
from blockwire.stores import SqliteStore
from tests.gateway.core.world import FAST, FakeClock, ScriptEngine, answering
from tests.gateway.http.surface import Peer, Surface, json_of, peers, surface

pytestmark = pytest.mark.anyio

DAY_MS: Final = 86_400_000
VIEWS: Final[tuple[View, View]] = ("owner", "public")


@asynccontextmanager
async def trimmed(tmp_path: Path) -> AsyncIterator[tuple[Surface, str, int]]:
    """A conversation of three turns, of which the first two have left the log, the last is merged."""
    clock = FakeClock()
    settings = msgspec.structs.replace(FAST, keep_events_s=86_400.0)
    store = SqliteStore(tmp_path / "store.sqlite3", synchronous="NORMAL")
    engines = {"script": ScriptEngine(answering(*"Six tests pass."))}
    async with surface(clock=clock, settings=settings, store=store, engines=engines) as s:
        conversation_id = await s.world.conversation()
        for _ in range(2):
            await s.world.ask(conversation_id)
        clock.ms += 2 * DAY_MS
        await s.world.ask(conversation_id)
        await s.world.service.upkeep.run_round()
        start = await store.log_start(conversation_id)
        assert start > 0
        yield s, conversation_id, start


def fold(values: list[dict[str, Any]], state: ConversationState | None = None) -> ConversationState:
    state = ConversationState() if state is None else state
    for value in values:
        if "seq" in value:
            event = decode_event(value)
            assert value["type"] == "conversation.snapshot" or event.prev_seq <= state.seq
            state = apply(state, event)
    return state


async def messages_of(s: Surface, conversation_id: str, view: View) -> bytes:
    answer = await s.client.get(f"/v1/conversations/{conversation_id}/messages?view={view}")
    return encode_json(json_of(answer)["items"])


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.requirement("gateway:stream:expired")
async def test_a_cursor_before_the_beginning_gets_a_snapshot_and_then_the_tail(
    tmp_path: Path, view: View
) -> None:
    async with trimmed(tmp_path) as (s, name, start), peers(s.app) as connect:
        head_seq = (await s.world.service.head(name, None)).head_seq
        for after in (0, 1, start - 1):
            peer: Peer = await connect(f"/v1/conversations/{name}/events?after={after}&view={view}")
            await peer.until_count(2)

            assert peer.types == ["subscription.ready", "conversation.snapshot"]
            ready, snapshot = peer.values
            assert ready["cursor"] == after
            assert "reset" not in snapshot
            assert snapshot["seq"] == head_seq
            assert peer.events[1].last_event_id == str(head_seq)
            state = fold(peer.values)
            assert encode_json(list(state.messages)) == await messages_of(s, name, view)


@pytest.mark.parametrize("view", VIEWS)
async def test_every_cursor_of_what_is_kept_gets_what_it_lacks(tmp_path: Path, view: View) -> None:
    async with trimmed(tmp_path) as (s, name, start), peers(s.app) as connect:
        head = await s.world.service.head(name, None)
        whole: Peer = await connect(f"/v1/conversations/{name}/events?after={start}&view={view}")
        # The answer is one delta now.
        await whole.until_type("turn.completed")
        assert sum("text" in value for value in whole.values) == 1
        text = whole.text
        first = next(value["prev_seq"] for value in whole.values if "text" in value)
        for after in range(start, head.head_seq):
            peer: Peer = await connect(f"/v1/conversations/{name}/events?after={after}&view={view}")
            await peer.until_type("turn.completed")
            lacking = text[max(after - first, 0) :] if after < first + len(text) else ""
            assert peer.text == lacking
            assert all(
                value["prev_seq"] <= after for value in peer.values[1:2] if "prev_seq" in value
            )


@pytest.mark.requirement("gateway:stream:expired")
async def test_each_conversation_of_a_stream_of_several_gets_its_own_answer(
    tmp_path: Path,
) -> None:
    async with trimmed(tmp_path) as (s, name, _start), peers(s.app) as connect:
        other = await s.world.conversation()
        await s.world.ask(other)

        peer: Peer = await connect(f"/v1/events?conversations={name}:1,{other}")
        await peer.until(lambda: peer.types.count("turn.completed") == 1)
        await peer.until(lambda: "conversation.snapshot" in peer.types)

        by_name: dict[str, list[str]] = {name: [], other: []}
        for value in peer.values:
            by_name[value["conversation_id"]].append(value["type"])
        assert by_name[name] == ["subscription.ready", "conversation.snapshot"]
        assert "conversation.snapshot" not in by_name[other]
        # The list of cursors resumes both behind what they got.
        again: Peer = await connect(
            f"/v1/events?conversations={name},{other}", last_event_id=peer.decoder.last_event_id
        )
        await again.until_count(2)
        assert again.types == ["subscription.ready"] * 2


@pytest.mark.requirement("gateway:stream:expired")
@pytest.mark.parametrize("view", VIEWS)
async def test_pages_begin_with_a_snapshot_where_there_is_no_way_on(
    tmp_path: Path, view: View
) -> None:
    async with trimmed(tmp_path) as (s, name, start):
        head_seq = (await s.world.service.head(name, None)).head_seq
        headers = {"accept": "application/json"}
        for after in (0, start - 1):
            url = f"/v1/conversations/{name}/events?after={after}&view={view}&wait=1"
            page = json_of(await s.client.get(url, headers=headers))

            assert [item["type"] for item in page["items"]] == ["conversation.snapshot"]
            assert (page["next_cursor"], page["at_end"]) == (str(head_seq), True)
            state = fold(page["items"])
            assert encode_json(list(state.messages)) == await messages_of(s, name, view)
        url = f"/v1/conversations/{name}/events?after={start}&view={view}"
        page = json_of(await s.client.get(url, headers=headers))
        assert page["items"][0]["type"] != "conversation.snapshot"


async def test_a_browser_with_an_old_cursor_is_not_told_that_all_is_over(tmp_path: Path) -> None:
    async with trimmed(tmp_path) as (s, name, _), peers(s.app) as connect:
        peer: Peer = await connect(f"/v1/conversations/{name}/events?until=idle", last_event_id="1")
        await peer.until_ended()

        assert peer.status == 200
        assert peer.types == ["subscription.ready", "conversation.snapshot"]
        again: Peer = await connect(
            f"/v1/conversations/{name}/events?until=idle", last_event_id=str(peer.seqs[-1])
        )
        await again.until_ended()
        assert again.status == 204


async def test_what_is_said_behind_a_snapshot_follows_it(tmp_path: Path) -> None:
    async with trimmed(tmp_path) as (s, name, _), peers(s.app) as connect:
        peer: Peer = await connect(f"/v1/conversations/{name}/events?after=0")
        await peer.until_count(2)

        turn = await s.world.ask(name)
        await peer.until_type("turn.completed")

        assert fold(peer.values).find_message(str(turn["id"])) == turn["message"]


async def test_a_reader_inside_text_whose_lengths_are_gone_gets_a_snapshot(tmp_path: Path) -> None:
    clock = FakeClock()
    settings = msgspec.structs.replace(FAST, keep_pairs_s=60.0)
    store = SqliteStore(tmp_path / "store.sqlite3", synchronous="NORMAL")
    engines = {"script": ScriptEngine(answering(*"Six tests pass."))}
    async with (
        surface(clock=clock, settings=settings, store=store, engines=engines) as s,
        peers(s.app) as connect,
    ):
        name = await s.world.conversation()
        await s.world.ask(name)
        await s.world.service.upkeep.run_round()
        clock.ms += DAY_MS
        await s.world.service.upkeep.run_round()

        inside: Peer = await connect(f"/v1/conversations/{name}/events?after=8")
        whole: Peer = await connect(f"/v1/conversations/{name}/events?after=0")
        await inside.until_count(2)
        await whole.until_type("turn.completed")

        assert inside.types == ["subscription.ready", "conversation.snapshot"]
        assert "conversation.snapshot" not in whole.types
        assert whole.text == "Six tests pass."
