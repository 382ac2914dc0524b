"""Numbers and stamps, given inside the transaction."""
# ruff: noqa: D102 - the names of the tests say it

from __future__ import annotations

import anyio
import msgspec

from blockwire.jsontext import Json
from blockwire.ports import Append, Draft, Store
from blockwire.testing.store_contract.reading import (
    PAGE_BYTES,
    VIEWS,
    WAIT_S,
    numbers_of,
    plain_append,
    read_all,
    tell_turn,
)
from blockwire.testing.store_script import T0, Script, new_conversation

__all__ = ["NumberContract"]


class NumberContract:
    """Numbers and stamps, given inside the transaction."""

    async def test_events_are_numbered_from_one_without_a_gap(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        await store.create_conversation(new_conversation("conv_2"))

        for conversation_id in ("conv_1", "conv_2", "conv_1"):
            change = plain_append(conversation_id=conversation_id)
            await store.append(msgspec.structs.replace(change, drafts=[*change.drafts] * 3))

        events = await read_all(store)
        assert [(event["prev_seq"], event["seq"]) for event in events] == [
            (number, number + 1) for number in range(6)
        ]
        assert numbers_of(await read_all(store, conversation_id="conv_2")) == [1, 2, 3]

    async def test_an_append_returns_what_a_reader_gets(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        script = Script()
        appended = [await store.append(script.start_turn())]
        appended.append(await store.append(script.start_thought()))
        appended.append(await store.append(script.write("hm", block_id="r1")))
        appended.append(await store.append(script.end_turn()))

        entries = [entry for one in appended for entry in one.entries]
        for view in VIEWS:
            page = await store.read_frames("conv_1", 0, view=view, bytes_max=PAGE_BYTES)
            frames = [e.owner_frame if view == "owner" else e.public_frame for e in entries]
            assert page.frames == b"".join([frame for frame in frames if frame is not None])

    async def test_a_payload_cannot_override_the_stamp(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        forged: dict[str, Json] = {
            "type": "test.said",
            "seq": 99,
            "nested": {"seq": 5, "ts": "kept"},
            "prev_seq": 98,
            "conversation_id": "conv_other",
            "ts": 1,
        }
        data = msgspec.json.encode(forged)

        await store.append(
            Append(conversation_id="conv_1", drafts=[Draft("test.said", data, data)], ts=T0)
        )

        (event,) = await read_all(store)
        assert event == {
            "type": "test.said",
            "nested": {"seq": 5, "ts": "kept"},
            "conversation_id": "conv_1",
            "seq": 1,
            "prev_seq": 0,
            "ts": T0,
        }

    async def test_prev_seq_follows_what_the_view_gets(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        script = Script()

        await tell_turn(store, script, "a", "b")

        owner = await read_all(store, "owner")
        public = await read_all(store, "public")
        for events in (owner, public):
            assert [event["prev_seq"] for event in events] == [0, *numbers_of(events)[:-1]]
        assert numbers_of(owner) == list(range(1, len(owner) + 1))
        assert set(numbers_of(public)) < set(numbers_of(owner))
        assert "hm" not in str(public)
        loaded = await store.load_conversation("conv_1")
        assert loaded is not None
        assert (loaded.head_seq, loaded.public_head_seq) == (len(owner), numbers_of(public)[-1])

    async def test_a_thousand_appends_at_once_get_distinct_numbers(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        numbers: list[int] = []

        async def append(index: int) -> None:
            appended = await store.append(plain_append(str(index)))
            numbers.extend(entry.seq for entry in appended.entries)

        with anyio.fail_after(WAIT_S):
            async with anyio.create_task_group() as group:
                for index in range(1000):
                    group.start_soon(append, index)

        # In the order in which they were called, too.
        assert numbers == list(range(1, 1001))
        events = await read_all(store)
        assert [event["text"] for event in events] == [str(index) for index in range(1000)]
