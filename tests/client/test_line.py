"""Questions that wait in line, forks and retries, with both clients against a real gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import anyio
import anyio.to_thread
import pytest

from blockwire.client import AsyncClient, Client, ClientError, ClientSettings, Turn
from blockwire.content import StreamEvent, TurnEnded
from blockwire.ports import EngineRequest
from blockwire.stores import MemoryStore
from tests.client.live import Live, serving
from tests.gateway.core.test_queue import Doors
from tests.gateway.core.world import CountingIds, ScriptEngine, answering

pytestmark = pytest.mark.anyio

PATIENT = ClientSettings(call_retry_s=0.05, call_retry_s_max=0.1, stream_retry_s=0.05)


async def answer_of(client: AsyncClient, conversation_id: str, **options: Any) -> str:
    last = [state async for state in client.ask(conversation_id, "2", **options)][-1]
    return f"{last.status}:{last.message['content'][0]['markdown']}"  # type: ignore[index, call-overload]


async def settled(live: Live, count: int) -> None:
    """Return when so many turns wait in line."""
    while live.world.service.turns_queued != count:
        await anyio.lowlevel.checkpoint()


async def test_a_question_waits_in_line_and_its_place_is_told() -> None:
    doors = Doors()
    async with serving(engines={"s": doors.engine}) as live, AsyncClient(live.url) as client:
        conversation_id = (await client.create_conversation()).id
        first = await client.submit(conversation_id, "0")
        second = await client.submit(conversation_id, "1")
        places: list[int | None] = []
        answers: list[str] = []

        async def ask() -> None:
            answers.append(
                await answer_of(
                    client, conversation_id, on_queued=lambda turn: places.append(turn.position)
                )
            )

        with anyio.fail_after(15):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask)
                await settled(live, 2)
                shape = await client.read_conversation(conversation_id)
                await doors.open(0)
                while 1 not in places:
                    await anyio.lowlevel.checkpoint()
                await doors.open(1)
                await doors.open(2)

        assert (second.status, second.position, second.durable) == ("queued", 1, False)
        assert second.content is not None
        assert second.content[0]["markdown"] == "1"
        assert (shape.running_turn_id, len(shape.queued_turn_ids)) == (first.id, 2)
        assert places == [2, 1]
        assert answers == ["completed:A"]
        assert (await client.wait_turn(conversation_id, second.id)).status == "completed"


async def test_a_question_that_is_handed_back_ends_with_a_word_of_it() -> None:
    doors = Doors()
    async with serving(engines={"s": doors.engine}) as live, AsyncClient(live.url) as client:
        conversation_id = (await client.create_conversation()).id
        await client.submit(conversation_id, "0")
        codes: list[str] = []
        waiting: list[Turn] = []

        async def ask() -> None:
            with pytest.raises(ClientError) as refused:
                await answer_of(client, conversation_id, on_queued=waiting.append)
            codes.append(refused.value.code)

        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask)
                while not waiting:
                    await anyio.lowlevel.checkpoint()
                back = await client.cancel(conversation_id, waiting[0].id)

        assert codes == ["turn_handed_back"]
        assert (back.status, back.durable) == ("cancelled", False)
        with pytest.raises(ClientError) as late:
            await client.cancel(conversation_id, waiting[0].id)
        assert (late.value.code, late.value.status) == ("turn_handed_back", 404)


async def test_a_gateway_that_was_started_anew_is_asked_again_and_answers_once() -> None:
    doors, store, ids = Doors(), MemoryStore(), CountingIds()
    engine = ScriptEngine(answering("A"))
    answers: list[str] = []
    answered = anyio.Event()
    with anyio.fail_after(15):
        async with anyio.create_task_group() as tasks:
            async with serving(engines={"s": doors.engine}, store=store, ids=ids) as live:
                client = AsyncClient(live.url, settings=PATIENT)
                conversation_id = (await client.create_conversation()).id
                await client.submit(conversation_id, "0")

                async def ask() -> None:
                    answers.append(await answer_of(client, conversation_id, give_up_s=20))
                    answered.set()

                tasks.start_soon(ask)
                await settled(live, 1)
            port = int(live.url.rsplit(":", 1)[1])
            async with serving(engines={"s": engine}, store=store, ids=ids, port=port):
                await answered.wait()
            await client.aclose()

    assert answers == ["completed:A"]
    asked = [request.messages[-1]["content"] for request in engine.requests]
    assert [content[0]["markdown"] for content in asked] == ["2"]  # type: ignore[index, call-overload]


async def test_what_a_follower_without_the_question_cannot_ask_again_is_an_error() -> None:
    doors = Doors()
    async with serving(engines={"s": doors.engine}) as live, AsyncClient(live.url) as client:
        conversation_id = (await client.create_conversation()).id
        await client.submit(conversation_id, "0")
        turn = await client.submit(conversation_id, "1")
        conversation = live.world.service._registry.find(conversation_id)
        queued = conversation.queue.find(turn.id)
        assert queued is not None
        # What a restart does.
        conversation.queue.remove(queued, "dropped")
        conversation.queue.handed_back.clear()

        with pytest.raises(ClientError) as refused:
            async for _state in client.follow(turn):
                pass

        assert refused.value.code == "turn_not_found"


async def test_a_fork_and_a_retry_with_both_clients() -> None:
    async def flaky(request: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
        yield TurnEnded(request.turn_id, "failed", error_code="oops", usage={"input_tokens": 1})

    engines = {"bad": ScriptEngine(flaky), "good": ScriptEngine(answering("A"))}
    async with serving(engines=engines) as live, AsyncClient(live.url) as client:
        conversation_id = (await client.create_conversation(system="Be.")).id
        failed = await client.wait_turn(
            conversation_id, (await client.submit(conversation_id, "Why?")).id
        )

        retried = await client.retry(conversation_id, failed.id, engine="good", idempotency_key="k")
        again = await client.retry(conversation_id, failed.id, engine="good", idempotency_key="k")
        done = await client.wait_turn(conversation_id, retried.id)
        fork = await client.fork(conversation_id, turn_id=retried.id, title="Two")
        shape = await client.read_conversation(conversation_id)

        assert (retried.retry_of, again.id, again.is_new) == (failed.id, retried.id, False)
        assert done.status == "completed"
        assert (fork.title, fork.system) == ("Two", "Be.")
        assert shape.title == "Why?"
        assert shape.usage == {"turns": 2, "input_tokens": 1, "output": 3}

        def blocking() -> tuple[str | None, str]:
            with Client(live.url) as other:
                forked = other.fork(conversation_id)
                turn = other.retry(forked.id, _first_turn(other, conversation_id))
                return forked.title, turn.id

        with pytest.raises(ClientError) as unknown:
            await anyio.to_thread.run_sync(blocking)
        # The turns themselves stay where they ran.
        assert unknown.value.code == "turn_not_found"


def _first_turn(client: Client, conversation_id: str) -> str:
    return list(client.list_turns(conversation_id))[-1].id
