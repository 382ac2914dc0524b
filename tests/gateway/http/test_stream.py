"""Event streams: every case of cursor, snapshot and end, and what goes over the wire."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import anyio
import pytest

from blockwire.content import ConversationState, apply, decode_event
from blockwire.gateway.access.auth import Auth, Token, hash_token
from blockwire.ports import ControlNotice
from blockwire.sse import encode_sse
from tests.gateway.core.world import ScriptEngine, prose, stuck_after
from tests.gateway.http.surface import (
    Peer,
    Surface,
    a_turn,
    body,
    delta,
    json_of,
    peers,
    surface,
)

pytestmark = pytest.mark.anyio

EVENTS = "/v1/conversations/conv_a/events"


def fold(values: Sequence[Any]) -> ConversationState:
    state = ConversationState()
    for value in values:
        if "seq" in value:
            state = apply(state, decode_event(value))
    return state


def folded(peer: Peer) -> ConversationState:
    return fold(peer.values)


# headers and framing ----------------------------------------------------------------------
@pytest.mark.requirement("gateway:stream:headers")
@pytest.mark.case("S06")
async def test_headers_keep_intermediaries_from_holding_events_back() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()

        peer = await connect(EVENTS, accept_encoding="gzip, br")
        await peer.until_count(1)

        assert peer.status == 200
        assert peer.headers["content-type"] == "text/event-stream"
        assert peer.headers["cache-control"] == "no-cache, no-transform"
        assert peer.headers["x-accel-buffering"] == "no"
        assert "content-length" not in peer.headers
        assert "content-encoding" not in peer.headers
        assert peer.headers["blockwire-protocol"] == "1"
        assert peer.decoder.retry_ms == 1000


@pytest.mark.requirement("gateway:stream:numbers")
async def test_each_event_is_written_when_it_is_committed_with_its_number_and_type() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        peer = await connect(EVENTS)
        await peer.until_count(1)

        for count, event in enumerate(a_turn("Six", " tests"), 2):
            await s.log("conv_a", event)
            await peer.until_count(count)

        assert peer.types[1:] == [value["type"] for value in peer.values[1:]]
        assert [event.last_event_id for event in peer.events[1:]] == ["1", "2", "3", "4", "5", "6"]
        assert peer.text == "Six tests"


async def test_what_is_committed_together_is_written_together() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        peer = await connect(EVENTS)
        await anyio.wait_all_tasks_blocked()
        writes = len(peer.writes)

        await s.log("conv_a", *a_turn("a", "b", "c"))
        await peer.until_count(8)

        assert len(peer.writes) == writes + 1


async def test_readers_at_the_same_place_are_handed_the_same_bytes() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        first, second = await connect(EVENTS), await connect(EVENTS)
        await anyio.wait_all_tasks_blocked()

        await s.log("conv_a", *a_turn("a"))
        await first.until_count(6)
        await second.until_count(6)

        assert first.writes[-1] is second.writes[-1]


# cursors ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("query", "header", "cursor", "seqs"),
    [
        ("", None, 0, [1, 2, 3, 4, 5]),
        ("?after=0", None, 0, [1, 2, 3, 4, 5]),
        ("?after=3", None, 3, [4, 5]),
        ("?after=5", None, 5, []),
        ("?after=now", None, 5, []),
        ("?after=1", "4", 4, [5]),
        ("?after=now", "2", 2, [3, 4, 5]),
        ("?after=3", "", 3, [4, 5]),
    ],
)
@pytest.mark.requirement("gateway:stream:last-event-id", "gateway:stream:ready")
async def test_a_stream_begins_after_the_cursor_in_force(
    query: str, header: str | None, cursor: int, seqs: list[int]
) -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        await s.log("conv_a", *a_turn("x"))
        headers = {} if header is None else {"last_event_id": header}

        peer = await connect(EVENTS + query, **headers)
        ready = (await peer.until_count(1 + len(seqs)))[0]

        assert ready.type == "subscription.ready"
        assert ready.last_event_id == str(cursor)
        assert peer.values[0] == {
            "type": "subscription.ready",
            "conversation_id": "conv_a",
            "cursor": cursor,
            "head_seq": 5,
            "running_turn_ids": [],
        }
        assert peer.seqs == seqs
        await s.log("conv_a", delta("more"))
        await peer.until_count(2 + len(seqs))
        assert peer.seqs == [*seqs, 6]


@pytest.mark.parametrize(
    ("url", "headers", "status", "code"),
    [
        (EVENTS + "?after=-1", {}, 400, "invalid_cursor"),
        (EVENTS + "?after=01", {}, 400, "invalid_cursor"),
        (EVENTS + "?after=1.5", {}, 400, "invalid_cursor"),
        (EVENTS + "?after=", {}, 400, "invalid_cursor"),
        (EVENTS + "?after=9007199254740992", {}, 400, "invalid_cursor"),
        (EVENTS + "?after=%D9%A1", {}, 400, "invalid_cursor"),
        (EVENTS, {"last_event_id": "x"}, 400, "invalid_cursor"),
        (EVENTS, {"last_event_id": "now"}, 400, "invalid_cursor"),
        (EVENTS + "?after=0", {"last_event_id": "a:1"}, 400, "invalid_cursor"),
        (EVENTS + "?until=now", {}, 400, "invalid_parameter"),
        (EVENTS + "?snapshot=yes", {}, 400, "invalid_parameter"),
        (EVENTS + "?view=all", {}, 400, "invalid_parameter"),
        (EVENTS + "?wait=1", {}, 400, "invalid_parameter"),
        (EVENTS + "?after=1&after=2", {}, 400, "invalid_parameter"),
        (EVENTS + "?cursor=1", {}, 400, "unknown_parameter"),
        (EVENTS, {"accept": "image/png"}, 406, "not_acceptable"),
        ("/v1/conversations/conv_b/events", {}, 404, "conversation_not_found"),
        ("/v1/conversations/conv_b/events?after=7", {}, 404, "conversation_not_found"),
        ("/v1/events", {}, 400, "invalid_parameter"),
        ("/v1/events?conversations=", {}, 400, "invalid_parameter"),
        ("/v1/events?conversations=conv_a,conv_a", {}, 400, "invalid_parameter"),
        ("/v1/events?conversations=conv_a:x", {}, 400, "invalid_cursor"),
        ("/v1/events?conversations=conv_a,conv_b", {}, 404, "conversation_not_found"),
        ("/v1/events?conversations=conv_a", {"accept": "application/json"}, 406, "not_acceptable"),
        ("/v1/events?conversations=" + ",".join(map(str, range(65))), {}, 400, "invalid_parameter"),
    ],
)  # fmt: skip
async def test_a_stream_that_cannot_be_is_refused_and_leaves_nothing_behind(
    url: str, headers: dict[str, str], status: int, code: str
) -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()

        peer: Peer = await connect(url, **headers)
        await peer.until_ended()

        assert peer.status == status
        assert f'"code":"{code}"' in peer.raw.decode()
        assert peer.headers["content-type"] == "application/json"
        assert (s.app.surface.hub.stream_count, s.app.surface.hub.channel_count) == (0, 0)
        assert s.app.surface.limits.stream_count("local") == 0


async def test_a_head_request_gets_the_headers_of_the_stream_and_no_stream() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()

        peer = await connect(EVENTS, method="HEAD")
        await peer.until_ended()

        assert peer.headers["content-type"] == "text/event-stream"
        assert s.app.surface.hub.stream_count == 0


# hand-over from the log to the ring -------------------------------------------------------
async def test_what_is_committed_but_not_published_yet_comes_once() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        notice = await s.commit_only("conv_a", delta("a"), delta("b"))

        peer = await connect(EVENTS)
        await peer.until_count(3)
        s.world.service.bus.publish(notice)
        await s.log("conv_a", delta("c"))
        await peer.until_count(4)

        assert peer.seqs == [1, 2, 3]


@pytest.mark.requirement("gateway:stream:exact")
async def test_a_stream_that_joins_in_the_middle_of_a_burst_misses_and_doubles_nothing() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        joined: list[Peer] = []

        async def burst() -> None:
            for number in range(300):
                await s.log("conv_a", delta(f"{number} "))
                if number % 7 == 0:
                    await anyio.lowlevel.checkpoint()

        async with anyio.create_task_group() as group:
            group.start_soon(burst)
            for cursor in range(0, 40, 2):
                joined.append(await connect(f"{EVENTS}?after={cursor}"))
                await anyio.lowlevel.checkpoint()

        for cursor, peer in zip(range(0, 40, 2), joined, strict=True):
            await peer.until(lambda peer=peer: peer.seqs[-1:] == [300])  # type: ignore[misc]
            replaced = "conversation.snapshot" in peer.types
            assert replaced or peer.seqs == list(range(cursor + 1, 301))
            numbers = [value for value in peer.values if "prev_seq" in value]
            assert all(a["seq"] == b["prev_seq"] for a, b in pairwise(numbers))


@pytest.mark.requirement("gateway:stream:unnumbered")
async def test_heartbeats_and_notices_have_no_number_and_move_no_cursor() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        await s.log("conv_a", *(delta(str(n)) for n in range(7)))
        peer = await connect(EVENTS)
        await peer.until_count(8)
        peer.leave()
        await peer.done.wait()

        await s.log("conv_a", *(delta(str(n)) for n in range(7, 12)))
        for _ in range(40 * 15):
            s.clock.s += 1
            s.app.surface.hub.beat()
        s.world.service.bus.publish(
            ControlNotice("conv_a", "queued", b'{"type":"turn.queued","turn_id":"t","position":1}')
        )
        back = await connect(EVENTS, last_event_id=peer.decoder.last_event_id)
        await back.until_count(6)

        assert back.seqs == [8, 9, 10, 11, 12]


# heartbeats -------------------------------------------------------------------------------
@pytest.mark.requirement("gateway:stream:heartbeat")
@pytest.mark.case("S03")
async def test_silence_is_broken_by_a_comment_every_fifteen_seconds() -> None:
    """A tool runs for 90 s: six comments, none of them more than 15 s after the last bytes."""
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        peer = await connect(EVENTS)
        await peer.until_count(1)
        silent_s = longest_s = 0
        written = len(peer.raw)

        for _ in range(90):
            s.clock.s += 1
            silent_s += 1
            longest_s = max(longest_s, silent_s)
            s.app.surface.hub.beat()
            await anyio.lowlevel.checkpoint()
            if len(peer.raw) > written:
                written, silent_s = len(peer.raw), 0

        assert longest_s <= 15
        assert peer.decoder.comment_count == 6
        assert len(peer.events) == 1
        assert peer.decoder.last_event_id == "0"


async def test_a_stream_that_was_just_written_to_gets_no_comment() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        peer = await connect(EVENTS)
        await peer.until_count(1)

        for count in range(2, 32):
            s.clock.s += 1
            s.app.surface.hub.beat()
            await s.log("conv_a", delta("."))
            await peer.until_count(count)

        assert peer.decoder.comment_count == 0


async def test_comments_stop_when_the_stream_ends() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        peer = await connect(EVENTS + "?until=idle")
        await peer.until_ended()

        s.clock.s += 100
        s.app.surface.hub.beat()

        assert peer.decoder.comment_count == 0


async def test_comments_for_many_are_written_in_slices() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        readers = [await connect(EVENTS) for _ in range(501)]
        for reader in readers:
            await reader.until_count(1)

        s.clock.s += 20
        s.app.surface.hub.beat()

        assert sum(reader.decoder.comment_count for reader in readers) == 500
        await readers[-1].until(lambda: readers[-1].decoder.comment_count == 1)


# snapshots --------------------------------------------------------------------------------
@pytest.mark.requirement("gateway:stream:snapshot")
async def test_snapshot_1_replaces_all_state_and_the_tail_follows_it() -> None:
    async with surface() as s, peers(s.app) as connect:
        conversation_id = await s.world.conversation()
        await s.world.ask(conversation_id)
        url = f"/v1/conversations/{conversation_id}/events"

        peer = await connect(url + "?snapshot=1")
        whole = await connect(url)
        await s.client.post(f"/v1/conversations/{conversation_id}/turns", **body({"content": "?"}))
        await peer.until(lambda: peer.seqs[-1:] == [14])
        await whole.until(lambda: whole.seqs[-1:] == [14])

        assert peer.types[:2] == ["subscription.ready", "conversation.snapshot"]
        assert [event.last_event_id for event in peer.events[:2]] == ["0", "7"]
        assert peer.seqs == [7, 8, 9, 10, 11, 12, 13, 14]
        assert "reset" not in peer.values[1]
        assert folded(peer).messages == folded(whole).messages


@pytest.mark.requirement("gateway:stream:reset")
async def test_a_cursor_ahead_of_the_log_gets_a_snapshot_that_resets_it() -> None:
    async with surface() as s, peers(s.app) as connect:
        conversation_id = await s.world.conversation()
        await s.world.ask(conversation_id)

        peer = await connect(f"/v1/conversations/{conversation_id}/events", last_event_id="99")
        await peer.until_count(2)

        assert peer.values[0]["cursor"] == 99
        assert peer.values[0]["head_seq"] == 7
        assert peer.values[1]["type"] == "conversation.snapshot"
        assert peer.values[1]["reset"] is True
        assert peer.decoder.last_event_id == "7"


# views ------------------------------------------------------------------------------------
READER = Auth([Token("r", hash_token("r"), frozenset({"read"}))])


@pytest.mark.parametrize(
    ("query", "auth", "seqs", "prev_seqs"),
    [
        ("", None, [1, 2, 3], [0, 1, 2]),
        ("?view=owner", None, [1, 2, 3], [0, 1, 2]),
        ("?view=public", None, [1, 3], [0, 1]),
        ("", READER, [1, 3], [0, 1]),
    ],
)
@pytest.mark.requirement("gateway:stream:view")
async def test_a_view_gets_its_own_events_without_a_gap(
    query: str, auth: Auth | None, seqs: list[int], prev_seqs: list[int]
) -> None:
    headers = {"authorization": "Bearer r"} if auth else {}
    async with surface(auth=auth) as s, peers(s.app) as connect:
        await s.bare_conversation()
        drafts = [delta("a"), delta("secret", is_private=True), delta("b")]

        live = await connect(EVENTS + query, **headers)
        await live.until_count(1)
        await s.log("conv_a", *drafts)
        late = await connect(EVENTS + query, **headers)
        await live.until_count(1 + len(seqs))
        await late.until_count(1 + len(seqs))

        for peer in (live, late):
            assert peer.seqs == seqs
            assert [v["prev_seq"] for v in peer.values[1:]] == prev_seqs
            assert (b"secret" in peer.raw) == (len(seqs) == 3)


async def test_the_owners_view_is_refused_without_the_scope() -> None:
    async with surface(auth=READER) as s, peers(s.app) as connect:
        await s.bare_conversation()

        peer = await connect(EVENTS + "?view=owner", authorization="Bearer r")
        await peer.until_ended()

        assert peer.status == 403
        assert b"insufficient_scope" in peer.raw


# ends -------------------------------------------------------------------------------------
@pytest.mark.requirement("gateway:stream:until-idle")
async def test_until_idle_ends_with_the_turn_and_says_all_before() -> None:
    async with surface() as s, peers(s.app) as connect:
        conversation_id = await s.world.conversation()
        turn_id = await s.world.submit(conversation_id, engine="external")
        peer = await connect(f"/v1/conversations/{conversation_id}/events?until=idle")
        await peer.until_count(3)
        assert peer.values[0]["running_turn_ids"] == [turn_id]

        await s.world.post(
            conversation_id,
            turn_id,
            b'{"type":"content.block.started","turn_id":"%b",'
            b'"block":{"id":"b","type":"prose","markdown":"hi"}}\n' % turn_id.encode(),
        )
        await peer.until_count(4)
        assert not peer.ended.is_set()
        await s.client.post(f"/v1/conversations/{conversation_id}/turns/{turn_id}/cancel")
        await peer.until_ended()

        assert peer.types[-1] == "turn.cancelled"
        head = await s.world.service.head(conversation_id, None)
        assert peer.seqs == list(range(1, head.head_seq + 1))


async def test_until_idle_ends_at_once_where_nothing_runs() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()

        peer = await connect(EVENTS + "?until=idle")
        await peer.until_ended()

        assert (peer.status, peer.types) == (200, ["subscription.ready"])


@pytest.mark.parametrize(
    ("query", "headers", "status"),
    [
        ("?until=idle", {"last_event_id": "7"}, 204),
        ("?until=idle&snapshot=1", {"last_event_id": "7"}, 204),
        ("?until=idle&after=0", {"last_event_id": "7"}, 204),
        ("?until=idle", {"last_event_id": "6"}, 200),
        ("?until=idle", {"last_event_id": "8"}, 200),
        ("?until=idle&after=7", {}, 200),
    ],
)
@pytest.mark.requirement("gateway:stream:204")
async def test_only_a_browser_that_comes_back_at_the_end_is_told_to_stop(
    query: str, headers: dict[str, str], status: int
) -> None:
    async with surface() as s, peers(s.app) as connect:
        conversation_id = await s.world.conversation()
        await s.world.ask(conversation_id)

        peer = await connect(f"/v1/conversations/{conversation_id}/events{query}", **headers)
        await peer.until_ended()

        assert peer.status == status
        assert (peer.raw == b"") == (status == 204)


async def test_a_public_reader_at_its_own_end_is_told_to_stop_whatever_is_withheld_after_it() -> (
    None
):
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        await s.log("conv_a", delta("a"), delta("secret", is_private=True))

        peer = await connect(EVENTS + "?until=idle&view=public", last_event_id="1")
        await peer.until_ended()

        assert peer.status == 204


async def test_a_running_turn_keeps_a_reconnecting_browser_reading() -> None:
    engine = ScriptEngine(stuck_after(lambda turn_id: prose(turn_id, "b1", "x", is_open=True)))
    async with surface(engines={"e": engine}) as s, peers(s.app) as connect:
        conversation_id = await s.world.conversation()
        await s.world.submit(conversation_id)
        await s.world.wait_for_seq(conversation_id, 4)

        peer = await connect(
            f"/v1/conversations/{conversation_id}/events?until=idle", last_event_id="4"
        )
        await peer.until_count(1)

        assert peer.status == 200
        assert not peer.ended.is_set()


@pytest.mark.requirement("gateway:stream:deleted")
async def test_deletion_ends_an_open_stream_with_a_word_without_a_number() -> None:
    async with surface() as s, peers(s.app) as connect:
        conversation_id = await s.world.conversation()
        await s.world.ask(conversation_id)
        peer = await connect(f"/v1/conversations/{conversation_id}/events")
        await peer.until_count(8)

        response = await s.client.delete(f"/v1/conversations/{conversation_id}")
        await peer.until_ended()

        assert response.status_code == 204
        assert peer.values[-1] == {
            "type": "conversation.deleted",
            "conversation_id": conversation_id,
        }
        assert b"event: conversation.deleted\ndata:" in peer.writes[-1]
        assert b"id:" not in peer.writes[-1].split(b"data")[0]
        assert s.app.surface.hub.channel_count == 0


async def test_a_queued_turn_is_told_to_live_readers_without_a_number() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        peer = await connect(EVENTS)
        await anyio.wait_all_tasks_blocked()
        payload = b'{"type":"turn.queued","turn_id":"turn_2","position":1}'

        s.world.service.bus.publish(ControlNotice("conv_a", "queued", payload))
        s.world.service.bus.publish(ControlNotice("conv_a", "cancel", b"turn_1"))
        await peer.until_count(2)

        assert peer.writes[-1] == encode_sse(payload, event="turn.queued")
        assert peer.decoder.last_event_id == "0"


@pytest.mark.requirement("gateway:stream:stopping")
async def test_stopping_ends_every_stream_with_its_cursor_intact() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        await s.log("conv_a", *a_turn("a"))
        reading, stuck = await connect(EVENTS), await connect(EVENTS)
        await reading.until_count(6)
        await stuck.until_count(6)
        stuck.stop_reading()
        await s.log("conv_a", delta("b"))
        await stuck.is_stuck.wait()
        await reading.until_count(7)

        s.app.stop()
        await reading.until_ended()
        with anyio.fail_after(15):
            await stuck.done.wait()

        assert reading.decoder.last_event_id == "6"
        assert s.app.surface.hub.stream_count == 0
        late = await connect(EVENTS)
        await late.until_ended()
        assert late.status == 503
        assert late.headers["retry-after"]


async def test_a_stream_that_opens_while_the_gateway_stops_ends_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        head = s.world.service.head

        async def stopping(*args: Any) -> Any:
            found = await head(*args)
            s.app.stop()
            return found

        monkeypatch.setattr(s.world.service, "head", stopping)
        peer = await connect(EVENTS)
        await peer.until_ended()

        assert peer.types == ["subscription.ready"]
        assert s.app.surface.hub.stream_count == 0


@pytest.mark.requirement("gateway:stream:freed")
async def test_a_closed_connection_is_freed_at_once() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        hub, limits = s.app.surface.hub, s.app.surface.limits
        readers = [await connect(EVENTS) for _ in range(20)]
        for reader in readers:
            await reader.until_count(1)
        assert (hub.stream_count, limits.stream_count("local")) == (20, 20)

        for reader in readers:
            reader.leave()
        for reader in readers:
            with anyio.fail_after(15):
                await reader.done.wait()

        assert (hub.stream_count, hub.channel_count, limits.stream_count("local")) == (0, 0, 0)


# several conversations --------------------------------------------------------------------
async def two(s: Surface) -> tuple[str, str]:
    await s.bare_conversation("conv_a")
    await s.bare_conversation("conv_b")
    await s.log("conv_a", delta("a1"), delta("a2"))
    await s.log("conv_b", delta("b1"))
    return "conv_a", "conv_b"


async def test_one_stream_carries_several_conversations_each_with_its_cursor() -> None:
    async with surface() as s, peers(s.app) as connect:
        await two(s)

        peer = await connect("/v1/events?conversations=conv_a:1,conv_b")
        await peer.until_count(4)
        await s.log("conv_b", delta("b2"))
        await peer.until_count(5)
        await s.log("conv_a", delta("a3"))
        await peer.until_count(6)

        ready = [v for v in peer.values if v["type"] == "subscription.ready"]
        assert [(v["conversation_id"], v["cursor"]) for v in ready] == [
            ("conv_a", 1),
            ("conv_b", 0),
        ]
        assert peer.text == "a2b1b2a3"
        assert [event.last_event_id for event in peer.events] == [
            "conv_a:1,conv_b:0",
            "conv_a:1,conv_b:0",
            "conv_a:2,conv_b:0",
            "conv_a:2,conv_b:1",
            "conv_a:2,conv_b:2",
            "conv_a:3,conv_b:2",
        ]


@pytest.mark.requirement("gateway:many:resume")
async def test_the_list_of_cursors_resumes_every_conversation() -> None:
    async with surface() as s, peers(s.app) as connect:
        await two(s)
        first = await connect("/v1/events?conversations=conv_a,conv_b:now")
        await first.until_count(4)
        first.leave()
        await s.log("conv_a", delta("a3"))
        await s.log("conv_b", delta("b2"))

        back = await connect(
            "/v1/events?conversations=conv_a,conv_b", last_event_id=first.decoder.last_event_id
        )
        await back.until_count(4)

        assert back.text == "a3b2"


@pytest.mark.requirement("gateway:many:deleted")
async def test_a_deleted_conversation_leaves_the_others_on_the_stream() -> None:
    async with surface() as s, peers(s.app) as connect:
        await two(s)
        peer: Peer = await connect("/v1/events?conversations=conv_a:now,conv_b:now")
        await peer.until_count(2)

        await s.client.delete("/v1/conversations/conv_a")
        await peer.until_type("conversation.deleted")
        await s.log("conv_b", delta("b2"))
        await peer.until_count(4)
        assert not peer.ended.is_set()
        await s.client.delete("/v1/conversations/conv_b")
        await peer.until_ended()

        assert peer.text == "b2"
        assert peer.types.count("conversation.deleted") == 2


async def test_several_conversations_end_when_none_of_them_runs() -> None:
    async with surface() as s, peers(s.app) as connect:
        first, second = await s.world.conversation(), await s.world.conversation()
        turn_id = await s.world.submit(first, engine="external")
        peer = await connect(f"/v1/events?conversations={first},{second}&until=idle&snapshot=1")
        await peer.until_count(4)

        await s.client.post(f"/v1/conversations/{first}/turns/{turn_id}/cancel")
        await peer.until_ended()

        again = await connect(
            f"/v1/events?conversations={first},{second}&until=idle",
            last_event_id=peer.decoder.last_event_id,
        )
        await again.until_ended()
        assert again.status == 204


# pages ------------------------------------------------------------------------------------
async def page(s: Surface, query: str = "") -> Any:
    response = await s.client.get(EVENTS + query, headers={"accept": "application/json"})
    return json_of(response)


async def test_events_come_as_a_page_where_json_is_asked_for() -> None:
    async with surface() as s:
        await s.bare_conversation()
        await s.log("conv_a", *a_turn("x"))

        first = await page(s, "?after=2")
        rest = await page(s, f"?after={first['next_cursor']}")
        now = await page(s, "?after=now")
        headers = {"accept": "application/json", "last-event-id": "4"}
        resumed = json_of(await s.client.get(EVENTS + "?after=1", headers=headers))

        assert [item["seq"] for item in first["items"]] == [3, 4, 5]
        assert [item["seq"] for item in resumed["items"]] == [5]
        assert rest == now == {"items": [], "next_cursor": "5", "at_end": True}


@pytest.mark.parametrize(
    "query", ["?snapshot=yes", "?until=idle", "?after=x", "?wait=x", "?wait=-1"]
)
async def test_a_page_takes_no_parameters_of_a_stream(query: str) -> None:
    async with surface() as s:
        await s.bare_conversation()

        response = await s.client.get(EVENTS + query, headers={"accept": "application/json"})

        assert response.status_code == 400


@pytest.mark.parametrize(
    ("query", "resets"),
    [
        ("?snapshot=1", False),
        ("?snapshot=1&after=0", False),
        ("?snapshot=1&after=7", False),
        ("?snapshot=1&after=now", False),
        ("?snapshot=1&wait=100", False),
        ("?snapshot=1&after=8", True),
        ("?snapshot=1&view=public", False),
    ],
)
@pytest.mark.requirement("gateway:poll:snapshot")
async def test_a_page_is_one_snapshot_where_it_is_asked_for(query: str, resets: bool) -> None:
    async with surface() as s:
        conversation_id = await s.world.conversation()
        await s.world.ask(conversation_id)
        url = f"/v1/conversations/{conversation_id}/events"
        headers = {"accept": "application/json"}

        asked = json_of(await s.client.get(url + query, headers=headers))
        await s.world.ask(conversation_id)
        rest = json_of(await s.client.get(url + f"?after={asked['next_cursor']}", headers=headers))
        whole = json_of(await s.client.get(url, headers=headers))

        (snapshot,) = asked["items"]
        assert snapshot["type"] == "conversation.snapshot"
        assert snapshot.get("reset", False) is resets
        assert (
            (asked["next_cursor"], asked["at_end"]) == (str(snapshot["seq"]), True) == ("7", True)
        )
        assert [item["seq"] for item in rest["items"]] == list(range(8, 15))
        assert fold([snapshot, *rest["items"]]).messages == fold(whole["items"]).messages


@pytest.mark.requirement("gateway:poll:snapshot")
async def test_a_snapshot_page_shows_a_turn_that_runs_and_the_next_page_goes_on() -> None:
    async with surface() as s:
        conversation_id = await s.world.conversation()
        turn_id = await s.world.submit(conversation_id, engine="external")
        url = f"/v1/conversations/{conversation_id}/events"
        headers = {"accept": "application/json"}

        asked = json_of(await s.client.get(url + "?snapshot=1", headers=headers))
        pages = json_of(await s.client.get(url + "?snapshot=0", headers=headers))
        await s.client.post(f"/v1/conversations/{conversation_id}/turns/{turn_id}/cancel")
        rest = json_of(await s.client.get(url + f"?after={asked['next_cursor']}", headers=headers))
        whole = json_of(await s.client.get(url, headers=headers))

        assert turn_id in fold(asked["items"]).running
        assert pages["items"] == whole["items"][: len(pages["items"])]
        assert fold([*asked["items"], *rest["items"]]).messages == fold(whole["items"]).messages


async def test_a_long_poll_waits_for_the_first_event() -> None:
    async with surface() as s:
        conversation_id = await s.world.conversation()
        url = f"/v1/conversations/{conversation_id}/events?wait=5"
        answers: list[Any] = []

        async def poll() -> None:
            answer = await s.client.get(url, headers={"accept": "application/json"})
            answers.append(json_of(answer))

        with anyio.fail_after(15):
            async with anyio.create_task_group() as group:
                group.start_soon(poll)
                await anyio.wait_all_tasks_blocked()
                assert s.app.surface.limits.stream_count("local") == 1
                await s.world.submit(conversation_id)

        assert answers[0]["items"][0]["type"] == "message.created"
        assert s.app.surface.limits.stream_count("local") == 0


@pytest.mark.requirement("gateway:poll:given-up")
async def test_a_long_poll_is_given_up_when_its_peer_leaves_or_the_gateway_stops() -> None:
    async with surface() as s, peers(s.app) as connect:
        conversation_id = await s.world.conversation()
        url = f"/v1/conversations/{conversation_id}/events?wait=100"
        leaving = await connect(url, accept="application/json")
        staying = await connect(url, accept="application/json")
        await anyio.wait_all_tasks_blocked()

        leaving.leave()
        with anyio.fail_after(15):
            await leaving.done.wait()
        s.app.stop()
        await staying.until_ended()

        assert leaving.status == 0
        assert staying.status == 503
        assert b"gateway_stopping" in staying.raw
