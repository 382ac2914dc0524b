"""Merging: the log gets shorter, and no cursor can tell but by what it does not get twice."""
# ruff: noqa: D102 - the names of the tests say it

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from blockwire.content import (
    BlockCompleted,
    BlockDelta,
    ConversationState,
    View,
    apply,
    decode_event,
)
from blockwire.jsontext import Json, encode_json
from blockwire.ports import RetentionLimits, Store
from blockwire.testing.store_contract.reading import (
    PAGE_BYTES,
    VIEWS,
    numbers_of,
    plain_append,
    read_all,
    refuses,
    tell_turn,
)
from blockwire.testing.store_script import T0, Script, new_conversation

__all__ = ["MergeContract", "fold", "merge_all", "same", "states_by_cursor"]

_STEPS_MAX: Final = 10_000
_FOREVER: Final = 2**60

States = Mapping[int, ConversationState]


async def merge_all(store: Store) -> None:
    """Merge whatever is due."""
    for _ in range(_STEPS_MAX):
        if not await store.merge_step():
            return
    raise AssertionError("merging comes to no end")


def fold(events: list[dict[str, Any]], state: ConversationState | None = None) -> ConversationState:
    """Return the state that a reader has after ``events``, none of which it may have already."""
    state = ConversationState() if state is None else state
    for event in events:
        assert event["prev_seq"] <= state.seq < event["seq"], "neither a gap nor seen before"
        state = apply(state, decode_event(event))
    return state


async def states_by_cursor(store: Store, view: View) -> dict[int, ConversationState]:
    """Return what a reader of the whole log knows at each number, withheld ones included."""
    row = await store.load_conversation("conv_1")
    assert row is not None
    states = {0: ConversationState()}
    for event in await read_all(store, view):
        for seq in range(max(states) + 1, event["seq"]):
            states[seq] = states[seq - 1]
        states[event["seq"]] = fold([event], states[max(states)])
    for seq in range(max(states) + 1, row.head_seq + 1):
        states[seq] = states[seq - 1]
    return states


def same(state: ConversationState, other: ConversationState) -> bool:
    """Return whether two states show the same messages, and the same blocks as open."""
    return encode_json(_shown(state)) == encode_json(_shown(other))


def _shown(state: ConversationState) -> dict[str, Json]:
    still_open: list[Json] = [b.id for turn in state.running.values() for b in turn.open_blocks]
    return {"messages": list(state.messages), "open": still_open}


async def tell_interleaved(store: Store, script: Script) -> None:
    """Store a turn of two blocks at once, one of them private, and leave it running.

    The private one is completed, and a second public one; the first is open.
    """
    await store.append(script.start_turn())
    await store.append(script.start_block())
    await store.append(script.start_thought())
    await store.append(script.write("h", "m", "", " well", block_id="r1"))
    await store.append(script.write("Six ", "\U0001f468\u200d\U0001f469", "x\x00y"))
    await store.append(script.write("so", "so", block_id="r1"))
    await store.append(script.write("tests "))
    await store.append(script.tell(BlockCompleted(turn_id="turn_1", block_id="r1")))
    await store.append(script.start_block(block_id="b2"))
    await store.append(script.write("a" * 200, "b", "c" * 20_000, block_id="b2"))
    await store.append(script.write("pass", "."))
    await store.append(script.write("d", "e", block_id="b2"))
    await store.append(script.tell(BlockCompleted(turn_id="turn_1", block_id="b2")))
    await store.append(script.write(" Al", "l."))


class MergeContract:
    """Merging: the log gets shorter, and no cursor can tell but by what it does not get twice."""

    async def test_a_run_of_a_completed_block_becomes_one_delta(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        script = Script()
        await tell_turn(store, script, "Six ", "tests ", "pass.")
        before = {view: await read_all(store, view) for view in VIEWS}

        await merge_all(store)

        for view in VIEWS:
            old = [event for event in before[view] if event["type"] == "content.block.delta"]
            texts: dict[str, list[dict[str, Any]]] = {}
            for event in old:
                texts.setdefault(event["block_id"], []).append(event)
            events = await read_all(store, view)
            merged = [event for event in events if event["type"] == "content.block.delta"]
            assert merged == [
                run[-1]
                | {
                    "text": "".join([event["text"] for event in run]),
                    "prev_seq": run[0]["prev_seq"],
                }
                for run in texts.values()
            ]
            others = [event for event in events if event not in merged]
            assert others == [event for event in before[view] if event not in old]
        assert await store.check() == []

    async def test_every_cursor_ends_in_the_same_state(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        script = Script()
        await tell_interleaved(store, script)
        states: dict[View, States] = {view: await states_by_cursor(store, view) for view in VIEWS}
        before = {view: len(await read_all(store, view)) for view in VIEWS}

        await merge_all(store)

        for view in VIEWS:
            known = states[view]
            assert len(await read_all(store, view)) < before[view]
            for after, state in known.items():
                for bytes_max in (1, PAGE_BYTES):
                    events = await read_all(store, view, after=after, bytes_max=bytes_max)
                    assert same(fold(events, state.at(after, "conv_1")), known[max(known)])
        assert await store.check() == []

    async def test_no_cursor_reads_beyond_a_number_inside_a_merged_delta(
        self, store: Store
    ) -> None:
        await store.create_conversation(new_conversation())
        await tell_interleaved(store, Script())
        states: dict[View, States] = {view: await states_by_cursor(store, view) for view in VIEWS}

        await merge_all(store)

        for view in VIEWS:
            for after, state in states[view].items():
                for up_to in range(after, max(states[view]) + 1):
                    events = await read_all(store, view, after=after, up_to=up_to)
                    assert all(event["seq"] <= up_to for event in events)
                    ended = fold(events, state.at(after, "conv_1"))
                    assert same(ended, states[view][up_to])

    async def test_open_blocks_stay_as_they_are(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        script = Script()
        await tell_interleaved(store, script)
        before = await read_all(store)

        await merge_all(store)

        events = await read_all(store)
        open_deltas = [event for event in before if event.get("block_id") == "b1"]
        assert [event for event in events if event.get("block_id") == "b1"] == open_deltas
        await store.append(script.end_turn())
        await merge_all(store)
        merged = [event for event in await read_all(store) if event.get("block_id") == "b1"]
        assert [event["text"] for event in merged if "text" in event] == [
            "Six \U0001f468\u200d\U0001f469x\x00y", "tests ", "pass.", " All.",
        ]  # fmt: skip
        assert await store.check() == []

    async def test_merging_in_steps_gives_what_merging_at_once_gives(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        await store.create_conversation(new_conversation("conv_2"))
        for conversation_id, is_stepwise in (("conv_1", False), ("conv_2", True)):
            script = Script(conversation_id)
            for number in range(4):
                turn_id = f"turn_{number}"
                await store.append(script.start_turn(turn_id))
                for block_id in ("b1", "b2", "b3"):
                    await store.append(script.start_block(turn_id, block_id))
                    for text in "some words":
                        await store.append(script.write(text, turn_id=turn_id, block_id=block_id))
                        if is_stepwise:
                            await store.merge_step()
                    await store.append(
                        script.tell(BlockCompleted(turn_id=turn_id, block_id=block_id))
                    )
                    if is_stepwise:
                        await merge_all(store)
                await store.append(script.end_turn(turn_id))
        await merge_all(store)

        for view in VIEWS:
            at_once = await read_all(store, view)
            in_steps = await read_all(store, view, conversation_id="conv_2")
            assert in_steps == [event | {"conversation_id": "conv_2"} for event in at_once]
            assert len(at_once) == 4 * 12

    async def test_a_long_run_becomes_few_bounded_deltas(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        script = Script()
        await store.append(script.start_turn())
        await store.append(script.start_block())
        for number in range(25):
            await store.append(script.write(*[f"{number:04} " * 2] * 500))
        await store.append(script.end_turn())
        whole = {view: fold(await read_all(store, view)) for view in VIEWS}

        await merge_all(store)

        for view in VIEWS:
            events = await read_all(store, view)
            assert same(fold(events), whole[view])
            lengths = [len(event["text"]) for event in events if "text" in event]
            assert sum(lengths) == 125_000
            assert lengths[0] > 60_000
            assert len(lengths) == 2
        # Cut anywhere, also where lengths no longer fit into a byte.
        for after in (3, 100, 6_000, 6_553, 6_554, 12_000):
            known = fold(await read_all(store, up_to=after))
            assert same(fold(await read_all(store, after=after), known), whole["owner"])
        assert await store.check() == []

    async def test_a_delta_with_unknown_members_stays_alone(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        script = Script()
        await store.append(script.start_turn())
        await store.append(script.start_block())
        delta = BlockDelta(turn_id="turn_1", block_id="b1", field="markdown", text="x")
        odd = BlockDelta(
            turn_id="turn_1", block_id="b1", field="markdown", text="y", extra={"mood": [1]}
        )
        await store.append(script.tell(delta, delta, odd, odd, delta, delta))
        await store.append(script.end_turn())
        before = fold(await read_all(store))

        await merge_all(store)

        events = await read_all(store)
        texts = [event["text"] for event in events if "text" in event]
        assert texts == ["xx", "y", "y", "xx"]
        assert same(fold(events), before)

    async def test_where_the_lengths_are_gone_a_cursor_inside_needs_a_snapshot(
        self, store: Store
    ) -> None:
        await store.create_conversation(new_conversation())
        script = Script()
        await tell_turn(store, script, "Six ", "tests ", "pass.")
        states = await states_by_cursor(store, "owner")
        await merge_all(store)
        spans = [(e["prev_seq"], e["seq"]) for e in await read_all(store)]

        for _ in range(_STEPS_MAX):
            if not await store.trim_step(RetentionLimits(pairs_before=_FOREVER)):
                break

        for after, state in states.items():
            if any(first < after < last for first, last in spans):
                with refuses("cursor_inside_delta"):
                    await read_all(store, after=after)
                with refuses("cursor_inside_delta"):
                    await read_all(store, up_to=after)
            else:
                events = await read_all(store, after=after)
                assert same(fold(events, state.at(after, "conv_1")), states[max(states)])
        assert await store.check() == []
        # What comes is not merged with what cannot be told apart any more.
        await tell_turn(store, script, "more", "words", turn_id="turn_2")
        await merge_all(store)
        assert await store.check() == []
        assert same(fold(await read_all(store)), script.state)

    async def test_numbers_go_on_behind_a_merged_delta(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        await tell_turn(store, Script(), "a", "b", "c")
        await merge_all(store)
        head = numbers_of(await read_all(store))[-1]

        appended = await store.append(plain_append())

        assert [entry.seq for entry in appended.entries] == [head + 1]
        assert (await read_all(store, after=head))[0]["prev_seq"] == head
        assert await store.log_start("conv_1") == 0

    async def test_nothing_is_left_to_merge_where_nothing_was_completed(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        assert await store.merge_step() is False
        for index in range(5):
            await store.append(plain_append(str(index)))
        before = await read_all(store)

        await merge_all(store)

        assert await read_all(store) == before
        assert await store.log_start("conv_9") == 0
        assert T0 > 0
