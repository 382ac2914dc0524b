"""Submitting: asked twice it starts once, and what is wrong with a body is said exactly."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from blockwire.errors import BlockwireError, RemoteProtocolError
from blockwire.gateway.settings import GatewaySettings
from blockwire.jsontext import Json
from tests.gateway.core.conftest import OpenStore
from tests.gateway.core.world import ScriptEngine, answering, gateway

pytestmark = pytest.mark.anyio


@pytest.mark.requirement("gateway:submit:repeat")
async def test_the_same_submit_gives_the_same_turn_before_and_after_its_end_and_a_restart(
    open_store: OpenStore,
) -> None:
    engine = ScriptEngine(answering("A"))
    body: Json = {"content": "Hi", "options": {"a": 1}}
    async with gateway(store=open_store(), engines={"script": engine}) as world:
        conversation_id = await world.conversation()

        first = await world.service.submit_turn(
            conversation_id, body, idempotency_key="m1", tenant=None
        )
        second = await world.service.submit_turn(
            conversation_id, body, idempotency_key="m1", tenant=None
        )
        await world.ended(conversation_id, str(first.turn["id"]))
        third = await world.service.submit_turn(
            conversation_id, body, idempotency_key="m1", tenant=None
        )

        assert [first.is_new, second.is_new, third.is_new] == [True, False, False]
        assert first.turn["id"] == second.turn["id"] == third.turn["id"]
        assert third.turn["status"] == "completed"
    async with gateway(store=open_store(), engines={"script": engine}) as world:
        fourth = await world.service.submit_turn(
            conversation_id, body, idempotency_key="m1", tenant=None
        )

        assert (fourth.is_new, fourth.turn["id"]) == (False, first.turn["id"])
    assert len(engine.requests) == 1


@pytest.mark.requirement("gateway:submit:race")
@pytest.mark.case("O08")
async def test_two_equal_submits_at_the_same_moment_start_one_turn(open_store: OpenStore) -> None:
    engine = ScriptEngine(answering("A"))
    async with gateway(store=open_store(), engines={"script": engine}) as world:
        conversation_id = await world.conversation()
        results: list[Any] = []

        async def submit() -> None:
            results.append(
                await world.service.submit_turn(
                    conversation_id, {"content": "Hi"}, idempotency_key="m1", tenant=None
                )
            )

        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(submit)

        assert len({result.turn["id"] for result in results}) == 1
        assert sum(result.is_new for result in results) == 1
        await world.ended(conversation_id, results[0].turn["id"])
        assert len(engine.requests) == 1


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ({"content": "Hi"}, {"content": "Ho"}, False),
        ({"content": "Hi", "options": {"n": 1}}, {"content": "Hi", "options": {"n": 1.0}}, False),
        ({"content": "Hi", "options": {"n": 1}}, {"content": "Hi", "options": {"n": True}}, False),
        ({"content": "Hi", "options": {}}, {"content": "Hi"}, False),
        ({"content": "Hi"}, {"content": "Hi"}, True),
    ],
)
@pytest.mark.requirement("gateway:submit:conflict")
@pytest.mark.case("O08")
async def test_the_same_key_with_another_body_is_a_conflict(
    first: Json, second: Json, is_same: bool
) -> None:
    async with gateway() as world:
        conversation_id = await world.conversation()
        await world.service.submit_turn(conversation_id, first, idempotency_key="m1", tenant=None)

        if is_same:
            again = await world.service.submit_turn(
                conversation_id, second, idempotency_key="m1", tenant=None
            )
            assert not again.is_new
        else:
            with pytest.raises(RemoteProtocolError) as refused:
                await world.service.submit_turn(
                    conversation_id, second, idempotency_key="m1", tenant=None
                )
            assert refused.value.code == "idempotency_key_reused"


@pytest.mark.requirement("gateway:submit:key-scope")
@pytest.mark.case("O08")
async def test_keys_belong_to_their_conversation_and_equal_text_with_a_new_key_is_a_new_turn() -> (
    None
):
    async with gateway() as world:
        one, two = await world.conversation(), await world.conversation()

        turns = [
            await world.submit(one, "Hi", key="m1"),
            await world.submit(two, "Hi", key="m1"),
        ]
        await world.ended(one, turns[0])
        turns.append(await world.submit(one, "Hi", key="m2"))
        await world.ended(one, turns[2])
        turns.append(await world.submit(one, "Hi"))

        assert len(set(turns)) == 4


@pytest.mark.requirement("gateway:submit:condition")
async def test_a_submit_may_depend_on_the_last_turn_its_client_knows() -> None:
    async with gateway() as world:
        conversation_id = await world.conversation()
        with pytest.raises(RemoteProtocolError) as refused:
            await world.submit(conversation_id, if_last_turn="turn_x")
        assert refused.value.code == "last_turn_mismatch"

        first = await world.ask(conversation_id, if_last_turn=None)
        second = await world.ask(conversation_id, if_last_turn=first["id"])

        for stale in (None, first["id"]):
            with pytest.raises(RemoteProtocolError) as refused:
                await world.submit(conversation_id, if_last_turn=stale)
            assert refused.value.code == "last_turn_mismatch"
        assert second["status"] == "completed"


BLOCK = {"type": "prose", "markdown": "Hi"}
REFUSALS: list[tuple[Json, str, str | None]] = [
    # body, code, pointer
    ([], "invalid_member", ""),
    ({}, "missing_member", "/content"),
    ({"content": 1}, "invalid_member", "/content"),
    ({"content": "Hi", "extra": 1}, "unknown_field", "/extra"),
    ({"content": "Hi", "a/b": 1}, "invalid_key", "/a~1b"),
    ({"content": "Hi", "idempotencyKey": "m1"}, "invalid_key", "/idempotencyKey"),
    ({"content": "Hi", "engine": "nobody"}, "engine_not_found", "/engine"),
    ({"content": "Hi", "engine": 5}, "invalid_name", "/engine"),
    ({"content": "Hi", "model": "a\nb"}, "invalid_name", "/model"),
    ({"content": "Hi", "options": []}, "invalid_member", "/options"),
    ({"content": "Hi", "options": {"maxTokens": 1}}, "invalid_key", "/options/maxTokens"),
    ({"content": "Hi", "if_last_turn": 5}, "invalid_member", "/if_last_turn"),
    ({"content": ["Hi"]}, "invalid_member", "/content/0"),
    ({"content": [{"type": "prose"}]}, "missing_member", "/content/0/markdown"),
    ({"content": [{"markdown": "Hi"}]}, "missing_member", "/content/0/type"),
    ({"content": [{**BLOCK, "id": " "}]}, "invalid_name", "/content/0/id"),
    ({"content": [{**BLOCK, "id": "b"}, {**BLOCK, "id": "b"}]}, "block_exists", "/content/1/id"),
    ({"content": [{**BLOCK, "aB": [{"cD": 1}]}]}, "invalid_key", "/content/0/aB"),
    ({"content": "x" * 2_000}, "limit_exceeded", None),
]


@pytest.mark.parametrize(("body", "code", "pointer"), REFUSALS)
@pytest.mark.requirement("gateway:submit:refused-body")
async def test_a_refused_body_says_where_and_starts_nothing(
    body: Json, code: str, pointer: str | None
) -> None:
    async with gateway(settings=GatewaySettings(body_bytes_max=1_000)) as world:
        conversation_id = await world.conversation()

        with pytest.raises(RemoteProtocolError) as refused:
            await world.service.submit_turn(
                conversation_id, body, idempotency_key="m1", tenant=None
            )

        assert (refused.value.code, refused.value.pointer) == (code, pointer)
        assert await world.events(conversation_id) == []
        await world.submit(conversation_id, key="m1")


@pytest.mark.parametrize("key", ["", "  ", "a\nb", "x" * 257])
async def test_a_bad_idempotency_key_is_refused(key: str) -> None:
    async with gateway() as world:
        with pytest.raises(RemoteProtocolError) as refused:
            await world.submit(await world.conversation(), key=key)

        assert refused.value.code == "invalid_idempotency_key"


@pytest.mark.requirement("gateway:submit:blocks")
async def test_blocks_keep_their_ids_and_unknown_members_and_get_an_id_where_they_have_none() -> (
    None
):
    content: Json = [
        {"id": "mine", "type": "prose", "markdown": "Hi", "tone": "warm"},
        {"type": "hologram", "depth": 3},
    ]
    async with gateway() as world:
        conversation_id = await world.conversation()
        await world.ask(conversation_id, content)

        blocks = (await world.folded(conversation_id)).messages[0]["content"]

        assert blocks[0] == content[0]  # type: ignore[index]
        assert blocks[1]["type"] == "hologram"  # type: ignore[index, call-overload]
        assert blocks[1]["id"].startswith("block_")  # type: ignore[index, call-overload, union-attr]


async def test_unknown_and_foreign_conversations_are_not_found() -> None:
    async with gateway() as world:
        own = str((await world.service.create_conversation({}, tenant="a"))["id"])

        for conversation_id, tenant in (("conv_x", None), ("conv_x", "a"), (own, "b")):
            with pytest.raises(BlockwireError) as refused:
                await world.service.submit_turn(
                    conversation_id, {"content": "Hi"}, idempotency_key=None, tenant=tenant
                )
            assert refused.value.code == "conversation_not_found"
        assert len(world.service._registry) <= 1


async def test_a_stopped_gateway_starts_nothing() -> None:
    async with gateway() as world:
        conversation_id = await world.conversation()
        await world.service.stop()

        with pytest.raises(BlockwireError) as refused:
            await world.submit(conversation_id)

        assert (refused.value.code, refused.value.retryable) == ("gateway_stopping", True)
