"""The client against the real gateway over a real socket: every call, every stream."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

import anyio
import httpx
import msgspec
import pytest

from blockwire.client import Acknowledgement, AsyncClient, ClientError, ClientSettings
from blockwire.content import BlockDelta, BlockStarted, ConversationState, StreamEvent, TurnEnded
from blockwire.errors import LocalProtocolError
from blockwire.gateway.access.auth import Auth, Token, hash_token
from blockwire.gateway.access.limits import HttpSettings
from blockwire.gateway.settings import EngineProfile
from blockwire.jsontext import DEPTH_MAX
from blockwire.ports import EngineRequest
from blockwire.stores import MemoryStore
from tests.client.events import block, completed, delta, ended
from tests.client.fakes import SETTINGS, HastyTiming
from tests.client.live import Live, serving
from tests.gateway.core.world import FAST, ScriptEngine, answering, prose

pytestmark = pytest.mark.anyio

EXTERNAL = {"ext": EngineProfile(is_external=True)}


@pytest.fixture
async def live() -> AsyncIterator[Live]:
    engines = {"script": ScriptEngine(answering("Hello", "!")), "ext": ScriptEngine(answering())}
    async with serving(engines=engines, profiles=EXTERNAL) as served:
        yield served


@pytest.fixture
async def client(live: Live) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(live.url + "/", settings=ClientSettings(page_items=2)) as made:
        yield made


async def test_a_gateway_tells_what_it_can(client: AsyncClient) -> None:
    assert await client.health()

    capabilities = await client.capabilities()

    assert capabilities.protocol == 1
    assert capabilities.engines[0] == "script"
    assert capabilities.limits["page_items_max"] == 200
    assert capabilities.members["version"] == capabilities.version


async def test_conversations_are_made_changed_listed_and_deleted(client: AsyncClient) -> None:
    made = [await client.create_conversation(title=f"t{i}", tags=["x"]) for i in range(5)]

    changed = await client.update_conversation(made[0].id, title=None, metadata={"a": 1})
    listed = [conversation.id async for conversation in client.list_conversations()]
    await client.delete_conversation(made[1].id)

    assert (changed.title, changed.tags, changed.metadata) == (None, ["x"], {"a": 1})
    assert sorted(listed) == sorted(conversation.id for conversation in made)
    assert (await client.read_conversation(made[0].id)).members["metadata"] == {"a": 1}
    with pytest.raises(ClientError) as caught:
        await client.read_conversation(made[1].id)
    assert (caught.value.code, caught.value.status) == ("conversation_not_found", 404)


async def test_a_refusal_says_where_in_the_body_it_is(client: AsyncClient) -> None:
    with pytest.raises(ClientError) as caught:
        await client.create_conversation(tagz=["x"])  # type: ignore[call-arg]

    assert (caught.value.code, caught.value.pointer) == ("unknown_field", "/tagz")


async def test_a_turn_is_submitted_once_under_its_key_and_waited_for(client: AsyncClient) -> None:
    conversation = await client.create_conversation()

    turn = await client.submit(conversation.id, "Hi", idempotency_key="k")
    over = await client.wait_turn(conversation.id, turn.id)
    again = await client.submit(conversation.id, "Hi", idempotency_key="k")
    other = await client.submit(conversation.id, "Hi")

    assert (turn.is_new, again.is_new, other.is_new) == (True, False, True)
    assert again.id == turn.id != other.id
    assert (over.status, over.finish_reason, over.usage) == ("completed", "stop", {"output": 3})
    assert over.message is not None
    assert over.message["content"][0]["markdown"] == "Hello!"
    assert turn.epoch == 1
    await client.wait_turn(conversation.id, other.id)
    assert [t.id async for t in client.list_turns(conversation.id)] == [other.id, turn.id]


async def test_another_question_under_the_same_key_is_a_conflict(client: AsyncClient) -> None:
    conversation = await client.create_conversation()
    await client.submit(conversation.id, "Hi", idempotency_key="k")

    with pytest.raises(ClientError) as caught:
        await client.submit(conversation.id, "Ho", idempotency_key="k")

    assert (caught.value.code, caught.value.status) == ("idempotency_key_reused", 409)


async def test_asking_yields_the_answer_as_it_grows(client: AsyncClient) -> None:
    conversation = await client.create_conversation()

    states = [state async for state in client.ask(conversation.id, "Hi", view="public")]

    assert states[-1].status == "completed"
    assert states[-1].blocks[0].block["markdown"] == "Hello!"
    read = await client.read_turn(conversation.id, states[-1].turn_id)
    assert states[-1].message == read.message


async def test_events_end_when_nothing_runs_and_go_on_from_any_state(client: AsyncClient) -> None:
    conversation = await client.create_conversation()
    async for _state in client.ask(conversation.id, [{"type": "prose", "markdown": "Hi"}]):
        pass

    every = [pair async for pair in client.events(conversation.id, until_idle=True)]
    middle = every[2][0]
    rest = [pair async for pair in client.events(conversation.id, after=middle, until_idle=True)]
    later = [
        event.seq async for _, event in client.events(conversation.id, after=4, until_idle=True)
    ]
    nothing = [
        pair async for pair in client.events(conversation.id, after=rest[-1][0], until_idle=True)
    ]

    assert [event.seq for _, event in every] == list(range(1, len(every) + 1))
    assert [event.seq for _, event in rest] == list(range(4, len(every) + 1))
    assert later == list(range(5, len(every) + 1))
    assert rest[-1][0].messages == every[-1][0].messages
    assert nothing == []


async def test_messages_come_from_both_ends_and_can_be_appended(client: AsyncClient) -> None:
    conversation = await client.create_conversation()
    for number in range(5):
        await client.append_message(conversation.id, {"role": "user", "content": f"m{number}"})

    oldest = [m["id"] async for m in client.list_messages(conversation.id)]
    newest = [m["id"] async for m in client.list_messages(conversation.id, order="newest_first")]

    assert len(oldest) == 5
    assert newest == oldest[::-1]


async def test_what_is_as_deep_as_a_door_allows_is_read_back_on_every_road(
    client: AsyncClient, live: Live
) -> None:
    deepest: Any = 1
    for _ in range(DEPTH_MAX - 2):
        deepest = [deepest]
    conversation = await client.create_conversation()
    turn = await client.submit(conversation.id, "Hi", engine="ext")
    started = {"id": "b1", "type": "odd", "v": deepest}
    lines: list[dict[str, Any]] = [
        {"type": "content.block.started", "turn_id": turn.id, "block": started}
    ]
    lines.append({"type": "turn.completed", "turn_id": turn.id, "status": "completed"})
    await client.post_events(conversation.id, turn.id, lines)

    read = (await client.read_turn(conversation.id, turn.id)).message
    listed = [message async for message in client.list_messages(conversation.id)]
    async with aclosing(client.events(conversation.id, until_idle=True)) as stream:
        folded = [state async for state, _event in stream][-1].messages
    ahead = ConversationState(conversation.id, 999)
    async with aclosing(client.events(conversation.id, after=ahead)) as stream:
        snapshot = (await anext(stream))[0].messages
    async with httpx.AsyncClient(base_url=live.url, trust_env=False) as http:
        page = await http.get(
            f"/v1/conversations/{conversation.id}/events", headers={"accept": "application/json"}
        )

    assert read is not None
    assert read["content"][0]["v"] == deepest
    assert read == listed[-1] == folded[-1] == snapshot[-1]
    assert page.status_code == 200


async def test_a_stream_survives_a_restart_of_its_gateway() -> None:
    store = MemoryStore()
    told, is_over = anyio.Event(), anyio.Event()

    async def slow(request: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
        for event in prose(request.turn_id, "b1", "Hel", is_open=True):
            yield event
        await anyio.sleep_forever()

    texts: list[str] = []
    async with anyio.create_task_group() as group:
        async with serving(engines={"script": ScriptEngine(slow)}, store=store) as first:
            client = AsyncClient(first.url, settings=SETTINGS, timing=HastyTiming())
            conversation = await client.create_conversation()

            async def ask() -> None:
                async for turn in client.ask(conversation.id, "Hi"):
                    texts.append(turn.turn_status)
                    if turn.blocks and turn.blocks[0].length_chars:
                        told.set()
                is_over.set()

            group.start_soon(ask)
            await told.wait()
        port = int(first.url.rpartition(":")[2])
        async with serving(store=store, port=port):
            with anyio.fail_after(10):
                await is_over.wait()
    await client.aclose()

    assert texts[-1] in {"interrupted", "failed", "cancelled"}


async def test_a_gateway_with_tokens_wants_one() -> None:
    token = Token("t", hash_token("secret"), frozenset({"read"}))
    async with serving(auth=Auth([token])) as live:
        async with AsyncClient(live.url, token="secret") as client:
            assert [c async for c in client.list_conversations()] == []
            with pytest.raises(ClientError) as lacking:
                await client.create_conversation()
        async with AsyncClient(live.url) as client:
            with pytest.raises(ClientError) as nobody:
                await anext(client.watch("conv_x"))

    assert (lacking.value.code, lacking.value.status) == ("insufficient_scope", 403)
    assert (nobody.value.code, nobody.value.status) == ("unauthorized", 401)


async def test_a_deleted_conversation_ends_its_watchers(client: AsyncClient) -> None:
    conversation = await client.create_conversation()
    await client.append_message(conversation.id, {"role": "user", "content": "m"})
    async with aclosing(client.watch(conversation.id)) as states:
        await anext(states)
        await client.delete_conversation(conversation.id)

        with pytest.raises(ClientError) as caught:
            await anext(states)

    assert caught.value.code == "conversation_deleted"


async def test_a_state_of_another_conversation_is_refused(client: AsyncClient) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        await anext(client.events("conv_x", after=ConversationState("conv_y", 3)))

    assert caught.value.code == "conversation_mismatch"


# turns that stop and go ---------------------------------------------------------------------
async def test_a_turn_is_cancelled_and_what_was_said_is_kept() -> None:
    async def slow(request: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
        for event in prose(request.turn_id, "b1", "Hel", is_open=True):
            yield event
        await anyio.sleep_forever()

    async with (
        serving(engines={"script": ScriptEngine(slow)}) as live,
        AsyncClient(live.url) as client,
    ):
        conversation = await client.create_conversation()
        async with aclosing(client.ask(conversation.id, "Hi")) as answer:
            async for turn in answer:
                if turn.blocks and turn.blocks[0].length_chars and not turn.is_terminal:
                    await client.cancel(conversation.id, turn.turn_id)
        with pytest.raises(ClientError) as caught:
            await client.cancel(conversation.id, turn.turn_id)

    assert turn.status == "cancelled"
    assert turn.blocks[0].block["markdown"] == "Hel"
    assert caught.value.code == "turn_terminal"


async def test_waiting_for_a_turn_ends_with_time(client: AsyncClient) -> None:
    conversation = await client.create_conversation()
    turn = await client.submit(conversation.id, "Hi", engine="ext")

    waited = await client.wait_turn(conversation.id, turn.id, wait_s=0.05)

    assert waited.status == "running"
    assert not waited.is_over


# outside producers --------------------------------------------------------------------------
def script(turn_id: str, *pieces: str) -> list[dict[str, Any]]:
    steps = [block(), *map(delta, pieces), completed(), ended()]
    return [{**step, "turn_id": turn_id} for step in steps]


async def test_an_outside_producer_posts_its_events(client: AsyncClient) -> None:
    conversation = await client.create_conversation()
    turn = await client.submit(conversation.id, "Hi", engine="ext")
    acknowledged: list[Acknowledgement] = []
    heard = anyio.Event()

    def hear(acknowledgement: Acknowledgement) -> None:
        acknowledged.append(acknowledgement)
        heard.set()

    async def source() -> AsyncIterator[StreamEvent]:
        yield BlockStarted(turn.id, {"id": "b1", "type": "prose", "markdown": ""})
        yield BlockDelta(turn.id, "b1", "markdown", "Hel")
        await heard.wait()
        yield BlockDelta(turn.id, "b1", "markdown", "lo")
        yield TurnEnded(turn.id, "completed")

    last = await client.post_events(
        conversation.id, turn.id, source(), epoch=turn.epoch, on_acknowledged=hear
    )
    over = await client.read_turn(conversation.id, turn.id)

    assert last.producer_seq == 4
    assert acknowledged[-1] == last
    assert len(acknowledged) >= 2
    assert over.message is not None
    assert over.message["content"][0]["markdown"] == "Hello"
    assert over.status == "completed"


async def test_a_second_producer_goes_on_where_the_first_stopped(client: AsyncClient) -> None:
    conversation = await client.create_conversation()
    turn = await client.submit(conversation.id, "Hi", engine="ext")
    events = script(turn.id, "a", "b", "c")

    first = await client.post_events(conversation.id, turn.id, events[:2])
    last = await client.post_events(
        conversation.id, turn.id, events[2:], producer_seq=first.producer_seq
    )

    assert (first.producer_seq, last.producer_seq) == (2, 6)


@pytest.mark.parametrize(
    ("change", "code"),
    [({"epoch": 9}, "epoch_fenced"), ({"producer_seq": 5}, "producer_gap")],
)
async def test_a_refused_upload_says_why(
    client: AsyncClient, change: dict[str, Any], code: str
) -> None:
    conversation = await client.create_conversation()
    turn = await client.submit(conversation.id, "Hi", engine="ext")

    with pytest.raises(ClientError) as caught:
        await client.post_events(conversation.id, turn.id, script(turn.id, "a"), **change)

    assert caught.value.code == code


async def test_what_came_before_a_refused_line_is_committed(client: AsyncClient) -> None:
    conversation = await client.create_conversation()
    turn = await client.submit(conversation.id, "Hi", engine="ext")
    events = script(turn.id, "a")
    events.insert(2, {**delta("x", "no_such_block"), "turn_id": turn.id})
    acknowledged: list[int] = []

    with pytest.raises(ClientError) as caught:
        await client.post_events(
            conversation.id, turn.id, events,
            on_acknowledged=lambda told: acknowledged.append(told.producer_seq),
        )  # fmt: skip

    assert caught.value.code == "block_not_found"
    assert acknowledged[-1] == 2


async def test_a_slow_reader_and_a_small_heartbeat_make_no_difference() -> None:
    async with (
        serving(http=HttpSettings(heartbeat_s=0.02)) as live,
        AsyncClient(live.url) as client,
    ):
        conversation = await client.create_conversation()
        turns = [turn async for turn in client.ask(conversation.id, "Hi")]

    assert turns[-1].status == "completed"


# logs that were trimmed -------------------------------------------------------------------
@pytest.mark.requirement("gateway:stream:expired")
async def test_a_watcher_survives_that_its_cursor_leaves_the_log() -> None:
    settings = msgspec.structs.replace(FAST, keep_conversation_bytes=1)
    engines = {"script": ScriptEngine(answering("Six ", "tests ", "pass."))}
    async with (
        serving(engines=engines, settings=settings) as served,
        AsyncClient(served.url, settings=SETTINGS, timing=HastyTiming()) as client,
    ):
        conversation = await client.create_conversation()
        await served.world.ask(conversation.id)
        async with aclosing(client.watch(conversation.id, until_idle=True)) as states:
            early = [state async for state in states][-1]
        await served.world.ask(conversation.id)
        await served.world.service.upkeep.run_round()
        assert await served.world.service.store.log_start(conversation.id) > early.seq

        for after in (early, 0):
            async with aclosing(
                client.watch(conversation.id, after=after, until_idle=True)
            ) as states:
                latest = [state async for state in states][-1]

            stored = [message async for message in client.list_messages(conversation.id)]
            assert sorted(map(_id_of, latest.messages)) == sorted(map(_id_of, stored))
            assert latest.find_message(_id_of(stored[-1])) in stored

        # While it watches: what comes behind a snapshot is applied to it.
        turn = await served.world.ask(conversation.id)
        async with aclosing(client.watch(conversation.id, after=early, until_idle=True)) as states:
            latest = [state async for state in states][-1]
        assert latest.find_message(str(turn["id"])) == turn["message"]


def _id_of(message: Any) -> str:
    return str(message["id"])
