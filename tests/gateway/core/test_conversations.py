"""Conversations: made, read, renamed, listed, deleted; and messages put into them."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from blockwire.errors import BlockwireError, RemoteProtocolError
from blockwire.gateway.settings import GatewaySettings
from blockwire.jsontext import Json
from blockwire.ports import BusNotice, ControlNotice
from tests.gateway.core.conftest import OpenStore
from tests.gateway.core.world import (
    NOW_MS,
    ScriptEngine,
    gateway,
    prose,
    stuck_after,
)

pytestmark = pytest.mark.anyio


async def test_a_conversation_is_made_read_and_changed(open_store: OpenStore) -> None:
    async with gateway(store=open_store()) as world:
        service = world.service
        made = await service.create_conversation(
            {"title": "One", "tags": ["a", "b"], "metadata": {"k": [1]}, "system": "Hi"},
            tenant=None,
        )
        conversation_id = str(made["id"])

        assert made == {
            "id": "conv_0001",
            "title": "One",
            "tags": ["a", "b"],
            "metadata": {"k": [1]},
            "created_at": NOW_MS + 1,
            "updated_at": NOW_MS + 1,
            "head_seq": 0,
            "usage": {"turns": 0},
        }
        assert await service.read_conversation(conversation_id, None) == made
        changed = await service.update_conversation(
            conversation_id, {"title": None, "tags": ["c"]}, None
        )
        assert changed["tags"] == ["c"]
        assert "title" not in changed
        assert changed["metadata"] == {"k": [1]}
        assert changed["updated_at"] == NOW_MS + 2
        assert await service.create_conversation(None, tenant=None) != made
        await world.ask(conversation_id)
        listed: Any = await service.list_conversations(cursor=None, limit=5, tenant=None)
        head = await service.head(conversation_id, None)
        assert listed["items"][1]["head_seq"] == head.head_seq


@pytest.mark.parametrize(
    ("body", "code", "pointer"),
    [
        ([], "invalid_member", ""),
        ({"id": "conv_mine"}, "unknown_field", "/id"),
        ({"Title": "x"}, "invalid_key", "/Title"),
        ({"title": 1}, "invalid_name", "/title"),
        ({"title": "a\x1b[31m"}, "invalid_name", "/title"),
        ({"tags": "a"}, "invalid_member", "/tags"),
        ({"tags": [" "]}, "invalid_name", "/tags/0"),
        ({"tags": ["a", 1]}, "invalid_name", "/tags/1"),
        ({"tags": ["a"] * 65}, "invalid_member", "/tags"),
        ({"system": 1}, "invalid_member", "/system"),
        ({"metadata": []}, "invalid_member", "/metadata"),
        ({"metadata": {"aB": 1}}, "invalid_key", "/metadata/aB"),
    ],
)
async def test_a_refused_body_says_where(body: Json, code: str, pointer: str) -> None:
    async with gateway() as world:
        conversation_id = await world.conversation(title="kept")

        with pytest.raises(RemoteProtocolError) as refused:
            await world.service.create_conversation(body, tenant=None)
        with pytest.raises(RemoteProtocolError) as refused_change:
            await world.service.update_conversation(conversation_id, body, None)

        for error in (refused.value, refused_change.value):
            assert (error.code, error.pointer) == (code, pointer)


@pytest.mark.requirement("gateway:read:tenant")
async def test_lists_are_newest_first_and_a_tenant_sees_only_its_own() -> None:
    async with gateway(settings=GatewaySettings(page_items_max=2)) as world:
        made = [
            str((await world.service.create_conversation({}, tenant=tenant))["id"])
            for tenant in ("a", "b", "a", "a")
        ]
        found: list[str] = []
        cursor: str | None = None
        while True:
            page = await world.service.list_conversations(cursor=cursor, limit=99, tenant="a")
            found += [item["id"] for item in page["items"]]  # type: ignore[union-attr, index, call-overload, misc]
            cursor = page["next_cursor"]  # type: ignore[assignment]
            if cursor is None:
                break

        assert found == [made[3], made[2], made[0]]
        with pytest.raises(BlockwireError) as refused:
            await world.service.list_conversations(cursor="?", limit=1, tenant=None)
        assert refused.value.code == "invalid_cursor"
        for asked in (
            world.service.read_conversation(made[1], "a"),
            world.service.update_conversation(made[1], {}, "a"),
            world.service.delete_conversation(made[1], "a"),
            world.service.head(made[1], "a"),
            world.turn(made[1] + "x", "turn_1"),
        ):
            with pytest.raises(RemoteProtocolError) as foreign:
                await asked
            assert foreign.value.code == "conversation_not_found"
        assert await world.service.read_conversation(made[1], None)


async def test_a_running_turn_is_named_by_its_conversation() -> None:
    engine = ScriptEngine(stuck_after(lambda turn_id: prose(turn_id, "b1", is_open=True)))
    async with gateway(engines={"s": engine}) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id)

        listed = await world.service.list_conversations(cursor=None, limit=1, tenant=None)

        assert listed["items"][0]["running_turn_id"] == turn_id  # type: ignore[index, call-overload]


@pytest.mark.requirement("gateway:delete:gone")
async def test_deleting_stops_what_runs_tells_who_reads_and_leaves_nothing(
    open_store: OpenStore,
) -> None:
    engine = ScriptEngine(stuck_after(lambda turn_id: prose(turn_id, "b1", "A", is_open=True)))
    async with gateway(store=open_store(), engines={"s": engine}) as world:
        notices: list[BusNotice] = []
        world.service.bus.subscribe(notices.append)
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id, key="m1")
        await world.wait_for_seq(conversation_id, 4)
        waited: list[Any] = []

        async def wait() -> None:
            with pytest.raises(RemoteProtocolError) as refused:
                await world.ended(conversation_id, turn_id)
            waited.append(refused.value.code)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await world.service.delete_conversation(conversation_id, None)

        await engine.closed.wait()
        assert waited == ["conversation_not_found"]
        assert notices[-1] == ControlNotice(conversation_id, "deleted")
        for asked in (
            world.service.read_conversation(conversation_id, None),
            world.service.delete_conversation(conversation_id, None),
            world.submit(conversation_id, key="m1"),
            world.turn(conversation_id, turn_id),
            world.service.snapshot_frame(conversation_id, "owner", reset=False),
        ):
            with pytest.raises(BlockwireError) as refused:
                await asked
            assert refused.value.code == "conversation_not_found"
        assert await world.service.store.list_unfinished_turns() == []


# messages ---------------------------------------------------------------------------------
async def append(world: Any, conversation_id: str, message: Json) -> Any:
    return await world.service.append_message(conversation_id, message, None)


@pytest.mark.requirement("gateway:messages:import")
async def test_a_complete_message_is_imported_as_it_is() -> None:
    message: dict[str, Json] = {
        "id": "old_1",
        "role": "assistant",
        "status": "cancelled",
        "content": [{"id": "b", "type": "prose", "markdown": "x", "tone": "warm"}],
        "created_at": 5,
        "completed_at": 6,
        "colour": "red",
    }
    async with gateway() as world:
        conversation_id = await world.conversation()

        assert await append(world, conversation_id, message) == message
        assert (await world.folded(conversation_id)).messages == [message]
        with pytest.raises(BlockwireError) as refused:
            await append(world, conversation_id, message)
        assert refused.value.code == "message_exists"
        # A refused append leaves the conversation usable.
        assert (await world.ask(conversation_id))["status"] == "completed"


async def test_diagnostics_of_an_imported_message_are_redacted_like_all_others() -> None:
    said = "refused: Authorization: Bearer sk-ant-api03-0123456789abcdef0123456789"
    error: dict[str, Json] = {"id": "b", "type": "error", "code": "refused", "message": said}
    async with gateway() as world:
        conversation_id = await world.conversation()

        kept = await append(world, conversation_id, {"role": "assistant", "content": [error]})

        assert "0123456789abcdef" not in kept["content"][0]["message"]
        assert (await world.folded(conversation_id)).messages == [kept]


async def test_what_a_message_lacks_is_filled_in() -> None:
    async with gateway() as world:
        conversation_id = await world.conversation()

        made = await append(
            world, conversation_id, {"role": "tool", "content": [{"type": "notice", **NOTICE}]}
        )

        assert made["id"].startswith("msg_")
        assert made["status"] == "completed"
        assert made["created_at"] > NOW_MS
        assert made["content"][0]["id"].startswith("block_")


NOTICE: dict[str, Json] = {"code": "seen", "message": "x"}


@pytest.mark.parametrize(
    ("message", "code", "pointer"),
    [
        (5, "invalid_member", ""),
        ({"role": "user", "content": "x", "aB": 1}, "invalid_key", "/aB"),
        ({"role": "user", "content": 5}, "invalid_member", "/content"),
        ({"content": "x"}, "missing_member", "/role"),
        ({"role": "robot", "content": "x"}, "invalid_enum", "/role"),
        ({"role": "user", "content": "x", "status": "streaming"}, "invalid_enum", "/status"),
        (
            {"role": "user", "content": "x", "conversation_id": "conv_x"},
            "invalid_member",
            "/conversation_id",
        ),
        ({"role": "user", "content": "x" * 2_000}, "limit_exceeded", None),
    ],
)
async def test_a_refused_message_says_where_and_is_not_there(
    message: Json, code: str, pointer: str | None
) -> None:
    async with gateway(settings=GatewaySettings(body_bytes_max=1_000)) as world:
        conversation_id = await world.conversation()

        with pytest.raises(RemoteProtocolError) as refused:
            await append(world, conversation_id, message)

        assert (refused.value.code, refused.value.pointer) == (code, pointer)
        assert await world.events(conversation_id) == []


async def test_a_message_may_come_while_a_turn_runs_and_takes_its_place_after_it() -> None:
    engine = ScriptEngine(stuck_after(lambda turn_id: prose(turn_id, "b1", "A", is_open=True)))
    async with gateway(engines={"s": engine}) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id)
        await world.wait_for_seq(conversation_id, 4)

        made = await append(world, conversation_id, {"role": "user", "content": "By the way"})
        with pytest.raises(BlockwireError) as refused:
            await append(world, conversation_id, {"id": turn_id, "role": "user", "content": "x"})
        await world.service.cancel_turn(conversation_id, turn_id, None)

        assert refused.value.code == "message_exists"
        messages = (await world.folded(conversation_id)).messages
        assert [m["id"] for m in messages][1:] == [turn_id, made["id"]]
        assert await world.service.store.check() == []


@pytest.mark.requirement("gateway:pages:join")
@pytest.mark.parametrize(
    ("size", "expected"), [(0, [60, 20]), (30_000, [34, 34, 12]), (2**20, [1] * 80)]
)
async def test_pages_of_large_conversations_hold_fewer_and_still_join(
    size: int, expected: list[int]
) -> None:
    async with gateway() as world:
        made = []
        for _ in range(80):
            created = await world.service.create_conversation(
                {"metadata": {"text": "x" * size}}, tenant=None
            )
            made.append(created["id"])
        pages: list[Any] = []
        cursor: Any = None
        while not pages or cursor is not None:
            page = await world.service.list_conversations(cursor=cursor, limit=60, tenant=None)
            pages.append(page["items"])
            cursor = page["next_cursor"]

    assert [len(items) for items in pages] == expected
    assert [item["id"] for items in pages for item in items] == made[::-1]
