"""Deletion, checking, closing."""
# ruff: noqa: D102 - the names of the tests say it

from __future__ import annotations

import asyncio

import anyio
import msgspec

from blockwire.content import (
    TurnEnded,
)
from blockwire.ports import Append, Draft, Store
from blockwire.testing.store_contract.reading import (
    WAIT_S,
    list_messages,
    numbers_of,
    plain_append,
    read_all,
    refuses,
    tell_turn,
)
from blockwire.testing.store_script import T0, Script, make_question, make_turn, new_conversation

__all__ = ["LifeContract"]


class LifeContract:
    """Deletion, checking, closing."""

    async def test_a_deleted_conversation_is_gone(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        await store.create_conversation(new_conversation("conv_2"))
        await store.append(plain_append(conversation_id="conv_2"))
        await tell_turn(store, Script(), "a")

        assert await store.delete_conversation("conv_1") is True

        assert await store.delete_conversation("conv_1") is False
        assert await store.load_conversation("conv_1") is None
        assert await read_all(store) == []
        assert await list_messages(store) == []
        assert await store.load_message("conv_1", "turn_1") is None
        assert await store.load_turn("conv_1", "turn_1") is None
        page = await store.list_conversations(tenant=None, cursor=None, limit=5)
        assert [row.id for row in page.items] == ["conv_2"]
        with refuses("conversation_not_found"):
            await store.append(plain_append())
        assert numbers_of(await read_all(store, conversation_id="conv_2")) == [1]
        assert await store.check() == []

    async def test_an_id_may_be_used_again_after_deletion(self, store: Store) -> None:
        for _ in range(2):
            await store.create_conversation(new_conversation())
            await tell_turn(store, Script(), "a")
            assert await store.check() == []
            await store.delete_conversation("conv_1")

    async def test_a_running_turn_has_no_message_and_checks_well(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        script = Script()
        await store.append(script.start_turn())
        await store.append(script.start_block())
        await store.append(script.write("half"))

        assert await store.load_message("conv_1", "turn_1") is None
        assert await store.check() == []

    async def test_check_finds_a_message_that_is_not_the_fold(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        script = Script()
        await store.append(script.start_turn())
        change = script.end_turn()
        ((message, index),) = change.finished
        forged = {**message, "content": [{"id": "b1", "type": "prose", "markdown": "other"}]}

        await store.append(msgspec.structs.replace(change, finished=[(forged, index)]))

        assert [problem.code for problem in await store.check()] == ["message_differs"]

    async def test_check_finds_what_is_missing(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        script = Script()
        await store.append(script.start_turn())
        change = script.end_turn()
        await store.append(msgspec.structs.replace(change, finished=[]))
        await store.append(plain_append(turn=make_turn("turn_9"), new_turn=True))
        await store.append(
            msgspec.structs.replace(plain_append(), finished=[(make_question("turn_9"), None)])
        )

        assert sorted(problem.code for problem in await store.check()) == [
            "message_missing",
            "turn_not_ended",
            "turn_without_message",
        ]

    async def test_check_finds_events_that_do_not_apply(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        orphan = TurnEnded(turn_id="turn_9", status="completed")
        data = msgspec.json.encode(
            {"type": "turn.completed", "turn_id": orphan.turn_id, "status": orphan.status}
        )

        await store.append(
            Append(conversation_id="conv_1", drafts=[Draft("turn.completed", data, data)], ts=T0)
        )

        assert [problem.code for problem in await store.check()] == ["event_refused"]

    async def test_ping_returns_while_the_store_is_open(self, store: Store) -> None:
        await store.ping()
        await store.ping()

    async def test_a_closed_store_refuses_everything(self, store: Store) -> None:
        await store.create_conversation(new_conversation())

        await store.aclose()
        await store.aclose()

        with refuses("store_closed"):
            await store.append(plain_append())
        with refuses("store_closed"):
            await store.load_conversation("conv_1")
        with refuses("store_closed"):
            await store.ping()
        with refuses("store_closed"):
            await store.check()

    async def test_closing_commits_what_is_queued_and_opening_finds_it(self, store: Store) -> None:
        await store.create_conversation(new_conversation())

        with anyio.fail_after(WAIT_S):
            async with anyio.create_task_group() as group:
                for index in range(50):
                    group.start_soon(store.append, plain_append(str(index)))
                # All have called, none has an answer yet.
                await asyncio.sleep(0)
                await store.aclose()
        await store.open()

        assert numbers_of(await read_all(store)) == list(range(1, 51))
