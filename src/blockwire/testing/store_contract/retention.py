"""Retention: the beginning of a log leaves, messages and turns stay."""
# ruff: noqa: D102 - the names of the tests say it

from __future__ import annotations

from typing import Final

from blockwire.content import MessageCreated
from blockwire.ports import RetentionLimits, Store
from blockwire.testing.store_contract.merging import fold, merge_all, same
from blockwire.testing.store_contract.reading import (
    VIEWS,
    list_messages,
    numbers_of,
    plain_append,
    read_all,
    refuses,
    tell_turn,
)
from blockwire.testing.store_script import T0, Script, make_question, new_conversation

__all__ = ["RetentionContract", "trim_all"]

_STEPS_MAX: Final = 10_000
_DAY_MS: Final = 86_400_000


async def trim_all(store: Store, limits: RetentionLimits) -> None:
    """Remove whatever ``limits`` do not keep."""
    for _ in range(_STEPS_MAX):
        if not await store.trim_step(limits):
            return
    raise AssertionError("trimming comes to no end")


async def tell_days(store: Store, script: Script, count: int) -> list[int]:
    """Store a turn a day; return the number of the last event of each."""
    ends: list[int] = []
    for day in range(count):
        script.ts = T0 + day * _DAY_MS
        await tell_turn(store, script, f"day {day}", " and ", "more", turn_id=f"turn_{day}")
        row = await store.load_conversation(script.conversation_id)
        assert row is not None
        ends.append(row.head_seq)
    return ends


async def log_bytes(store: Store, conversation_id: str = "conv_1") -> int:
    """Return how many bytes of frames for owners are in a log."""
    after = await store.log_start(conversation_id)
    page = await store.read_frames(conversation_id, after, view="owner", bytes_max=1 << 30)
    return len(page.frames)


class RetentionContract:
    """Retention: the beginning of a log leaves, messages and turns stay."""

    async def test_events_that_are_old_leave_and_messages_stay(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        ends = await tell_days(store, Script(), 5)
        messages = await list_messages(store)
        turns = await store.list_turns("conv_1", cursor=None, limit=100)
        before = {view: await read_all(store, view) for view in VIEWS}

        await trim_all(store, RetentionLimits(events_before=T0 + 3 * _DAY_MS))

        assert await store.log_start("conv_1") == ends[2]
        for view in VIEWS:
            for after in range(ends[2]):
                with refuses("cursor_expired"):
                    await read_all(store, view, after=after)
            for after in range(ends[2], ends[-1] + 1):
                expected = [event for event in before[view] if event["seq"] > after]
                assert await read_all(store, view, after=after) == expected
        assert await list_messages(store) == messages
        assert await store.list_turns("conv_1", cursor=None, limit=100) == turns
        assert await store.check() == []

    async def test_a_log_is_sound_after_each_step_of_its_trimming(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        await tell_days(store, Script(), 5)
        await merge_all(store)

        for _ in range(_STEPS_MAX):
            is_more = await store.trim_step(RetentionLimits(events_before=T0 + 3 * _DAY_MS))
            assert await store.check() == []
            if not is_more:
                break

        assert await store.log_start("conv_1") > 0

    async def test_a_log_that_is_gone_whole_goes_on(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        script = Script()
        (*_, head) = await tell_days(store, script, 3)
        row = await store.load_conversation("conv_1")

        await trim_all(store, RetentionLimits(events_before=T0 + 9 * _DAY_MS))

        assert await store.log_start("conv_1") == head
        assert await store.load_conversation("conv_1") == row
        assert await read_all(store, after=head) == []
        assert await store.check() == []
        script.ts = T0 + 9 * _DAY_MS
        await tell_turn(store, script, "on", turn_id="turn_9")
        for view in VIEWS:
            events = await read_all(store, view, after=head)
            assert events[0]["seq"] == head + 1
            assert all(event["prev_seq"] < event["seq"] for event in events)
        assert numbers_of(await read_all(store, after=head))[-1] == head + 10
        assert await store.check() == []

    async def test_nothing_of_an_unfinished_turn_leaves(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        script = Script()
        (*_, end) = await tell_days(store, script, 2)
        await store.append(script.start_turn("turn_9"))
        await store.append(script.start_block("turn_9"))
        await store.append(script.write("still ", "here", turn_id="turn_9"))

        for limits in (
            RetentionLimits(events_before=T0 + 9 * _DAY_MS),
            RetentionLimits(conversation_bytes_max=0),
            RetentionLimits(total_bytes_max=0),
        ):
            await merge_all(store)
            await trim_all(store, limits)

        # The question stands before the turn that answers it.
        assert await store.log_start("conv_1") == end + 1
        types = [event["type"] for event in await read_all(store, after=end + 1)]
        assert types[:3] == ["turn.started", "content.block.started", "content.block.delta"]
        assert await store.check() == []
        await store.append(script.end_turn("turn_9"))
        await merge_all(store)
        await trim_all(store, RetentionLimits(events_before=T0 + 9 * _DAY_MS))
        row = await store.load_conversation("conv_1")
        assert row is not None
        assert await store.log_start("conv_1") == row.head_seq

    async def test_a_conversation_that_is_too_large_loses_its_oldest_turns(
        self, store: Store
    ) -> None:
        await store.create_conversation(new_conversation())
        await store.create_conversation(new_conversation("conv_2"))
        ends = await tell_days(store, Script(), 20)
        await tell_turn(store, Script("conv_2"), "small")
        await merge_all(store)
        whole = await log_bytes(store)

        await trim_all(store, RetentionLimits(conversation_bytes_max=whole // 2))

        start = await store.log_start("conv_1")
        # Whole messages leave; a question may leave before its answer.
        assert {start, start - 1} & set(ends)
        assert await log_bytes(store) <= whole // 2
        assert await log_bytes(store) > 0
        assert await store.log_start("conv_2") == 0
        assert await store.check() == []

    async def test_the_oldest_of_all_leaves_where_all_are_too_large(self, store: Store) -> None:
        names = ["conv_1", "conv_2", "conv_3"]
        for age, name in enumerate(names):
            await store.create_conversation(new_conversation(name))
            script = Script(name)
            script.ts = T0 + (len(names) - age) * _DAY_MS
            await tell_turn(store, script, *["some words "] * 20)
        await merge_all(store)
        sizes = {name: await log_bytes(store, name) for name in names}

        await trim_all(store, RetentionLimits(total_bytes_max=3 * sizes["conv_1"]))

        starts = [await store.log_start(name) for name in names]
        assert starts[0] == 0
        assert starts[2] > 0
        assert await store.check() == []

    async def test_imported_messages_leave_the_log_and_stay(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        script = Script()
        for day in range(3):
            script.ts = T0 + day * _DAY_MS
            await store.append(script.tell(MessageCreated(message=make_question(f"msg_{day}"))))
        messages = await list_messages(store)

        await trim_all(store, RetentionLimits(events_before=T0 + 2 * _DAY_MS))

        assert await store.log_start("conv_1") == 2
        assert await list_messages(store) == messages
        assert await store.check() == []

    async def test_a_merged_log_is_trimmed_and_a_trimmed_one_merged(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        script = Script()
        ends = await tell_days(store, script, 4)
        known = fold(await read_all(store, up_to=ends[1]))
        whole = fold(await read_all(store))
        await merge_all(store)

        await trim_all(store, RetentionLimits(events_before=T0 + 2 * _DAY_MS))

        assert await store.log_start("conv_1") == ends[1]
        assert same(fold(await read_all(store, after=ends[1]), known), whole)
        assert await store.check() == []
        script.ts = T0 + 4 * _DAY_MS
        await tell_turn(store, script, "a", "b", turn_id="turn_4")
        await merge_all(store)
        assert same(fold(await read_all(store, after=ends[1]), known), script.state)
        assert await store.check() == []

    async def test_no_bound_keeps_everything(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        await tell_days(store, Script(), 2)
        before = await read_all(store)

        assert await store.trim_step(RetentionLimits()) is False

        assert await read_all(store) == before
        assert await store.vacuum_step() is False

    async def test_a_deleted_conversation_takes_what_was_noted_with_it(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        await tell_days(store, Script(), 2)
        await merge_all(store)
        size_bytes = await log_bytes(store)
        await store.delete_conversation("conv_1")

        await store.create_conversation(new_conversation("conv_2"))
        await store.append(plain_append(conversation_id="conv_2"))
        await merge_all(store)
        await trim_all(store, RetentionLimits(total_bytes_max=size_bytes))

        assert await store.log_start("conv_1") == 0
        assert numbers_of(await read_all(store, conversation_id="conv_2")) == [1]
        assert await store.check() == []
