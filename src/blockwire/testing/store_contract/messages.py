"""Finished messages."""
# ruff: noqa: D102 - the names of the tests say it

from __future__ import annotations

from typing import Any

from blockwire.content import (
    BlockStarted,
    ConversationState,
    MessageCreated,
    UnknownEvent,
    apply,
    decode_event,
)
from blockwire.jsontext import Json
from blockwire.ports import MessageRow, Store
from blockwire.testing.store_contract.reading import (
    list_messages,
    read_all,
    tell_turn,
)
from blockwire.testing.store_script import Script, make_question, new_conversation

__all__ = ["MessageContract"]


class MessageContract:
    """Finished messages."""

    async def test_a_finished_message_is_the_fold_of_its_events(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        script = Script()
        await tell_turn(store, script, "a", "b")

        state = ConversationState("conv_1")
        for event in await read_all(store):
            state = apply(state, decode_event(event))
        question = await store.load_message("conv_1", "msg_turn_1")
        answer = await store.load_message("conv_1", "turn_1")

        head_seq = state.seq
        assert question == MessageRow(state.messages[0], 1, 1)
        assert answer == MessageRow(state.messages[1], 2, head_seq)
        assert await store.check() == []

    async def test_messages_are_paged_both_ways(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        script = Script()
        for index in range(6):
            message = make_question(f"msg_{index}")
            await store.append(script.tell(MessageCreated(message=message)))

        async def ids(**bounds: Any) -> list[str]:
            return [str(row.message["id"]) for row in await list_messages(store, **bounds)]

        assert await ids(limit=2) == ["msg_5", "msg_4"]
        assert await ids(before_seq=5, limit=2) == ["msg_3", "msg_2"]
        assert await ids(after_seq=2, limit=2) == ["msg_2", "msg_3"]
        assert await ids(after_seq=2, before_seq=4) == ["msg_2"]
        assert await ids(up_to_seq=3) == ["msg_2", "msg_1", "msg_0"]
        assert await ids(after_seq=0, up_to_seq=3) == ["msg_0", "msg_1", "msg_2"]
        assert await ids(before_seq=1) == []
        assert await ids(after_seq=6) == []

    async def test_up_to_leaves_out_what_became_final_later(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        script = Script()
        await tell_turn(store, script, "a")
        row = await store.load_message("conv_1", "turn_1")
        assert row is not None

        before = await list_messages(store, up_to_seq=row.finished_seq - 1)
        after = await list_messages(store, up_to_seq=row.finished_seq)

        assert [found.message["id"] for found in before] == ["msg_turn_1"]
        assert [found.message["id"] for found in after] == ["turn_1", "msg_turn_1"]

    async def test_a_page_of_messages_has_a_size_and_at_least_one(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        script = Script()
        for index in range(5):
            message = make_question(f"msg_{index}", "0123456789" * 100)
            await store.append(script.tell(MessageCreated(message=message)))

        counts = [
            len(await list_messages(store, bytes_max=bytes_max)) for bytes_max in (0, 1, 1500, 3000)
        ]

        assert counts == [1, 1, 1, 2]

    async def test_big_integers_and_nul_survive_in_a_message(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        script = Script()
        message = make_question("msg_1", "a\x00b")
        message["metadata"] = {"big": 10**100, "small": -(2**63) - 1, "nul": "\x00"}

        await store.append(script.tell(MessageCreated(message=message)))

        loaded = await store.load_message("conv_1", "msg_1")
        assert loaded is not None
        assert loaded.message == message
        assert await store.check() == []

    async def test_a_block_of_an_unknown_type_is_kept(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        script = Script()
        await store.append(script.start_turn())
        block: dict[str, Json] = {"id": "b9", "type": "hologram", "depth": [1, {"x": None}]}
        await store.append(script.tell(BlockStarted(turn_id="turn_1", block=block)))
        await store.append(script.tell(UnknownEvent(type="test.new", members={"a": 1})))
        await store.append(script.end_turn())

        loaded = await store.load_message("conv_1", "turn_1")
        assert loaded is not None
        assert loaded.message["content"] == [block]
        assert await store.check() == []
