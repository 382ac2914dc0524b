"""Turns and who may write them."""
# ruff: noqa: D102 - the names of the tests say it

from __future__ import annotations

import msgspec

from blockwire.ports import Append, Store
from blockwire.testing.store_contract.reading import (
    plain_append,
    read_all,
    refuses,
)
from blockwire.testing.store_script import T0, make_turn, new_conversation

__all__ = ["TurnContract"]


class TurnContract:
    """Turns and who may write them."""

    async def test_a_turn_comes_back_as_it_was_stored(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        row = make_turn(
            started_at=T0 + 1,
            completed_at=T0 + 2,
            model="m",
            provider="p",
            usage={"input_tokens": 2**70},
            error={"code": "x_y", "message": "\x00", "retryable": True},
            finish_reason="stop",
            reason="deadline",
            idempotency_key="k\u00e9y",
            body_hash="0" * 64,
            epoch=3,
            producer_seq=17,
            request={"id": "r"},
            options={"depth": {"of": ["options"]}},
        )

        appended = await store.append(plain_append(turn=row, new_turn=True))

        stored = msgspec.structs.replace(row, first_seq=1, last_seq=1)
        assert appended.turn == stored
        assert await store.load_turn("conv_1", "turn_1") == stored
        assert await store.find_turn_by_key("conv_1", "k\u00e9y") == stored
        assert await store.find_turn_by_key("conv_1", "key") is None

    async def test_zero_numbers_of_a_turn_are_filled_in(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        await store.append(plain_append())
        numbers = []

        for change in (
            plain_append(turn=make_turn(), new_turn=True),
            plain_append(turn=make_turn(first_seq=9)),
            Append(conversation_id="conv_1", drafts=[], ts=T0, turn=make_turn(producer_seq=4)),
            plain_append(turn=make_turn(last_seq=2)),
        ):
            turn = (await store.append(change)).turn
            assert turn is not None
            assert turn == await store.load_turn("conv_1", "turn_1")
            numbers.append((turn.first_seq, turn.last_seq))

        assert numbers == [(2, 2), (2, 3), (2, 3), (2, 2)]

    async def test_a_fenced_writer_is_shut_out(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        await store.append(plain_append(turn=make_turn(epoch=1), new_turn=True))
        await store.append(plain_append(turn=make_turn(epoch=2), expected_epoch=1))

        with refuses("epoch_fenced"):
            await store.append(plain_append("late", turn=make_turn(epoch=1), expected_epoch=1))

        await store.append(plain_append(turn=make_turn(epoch=2), expected_epoch=2))
        assert len(await read_all(store)) == 3

    async def test_turns_of_two_conversations_do_not_meet(self, store: Store) -> None:
        for name in ("conv_1", "conv_2"):
            await store.create_conversation(new_conversation(name))
            turn = make_turn("turn_1", name, idempotency_key="key", model=name)
            await store.append(plain_append(conversation_id=name, turn=turn, new_turn=True))

        for name in ("conv_1", "conv_2"):
            found = await store.find_turn_by_key(name, "key")
            assert found is not None
            assert found.model == name
            assert found == await store.load_turn(name, "turn_1")

    async def test_turns_are_listed_newest_first(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        for index in range(5):
            turn = make_turn(f"turn_{index}", created_at=T0 - index)
            await store.append(plain_append(turn=turn, new_turn=True))
        await store.append(plain_append(turn=make_turn("turn_1", status="completed")))

        found: list[str] = []
        cursor = None
        for _ in range(3):
            page = await store.list_turns("conv_1", cursor=cursor, limit=2)
            found += [row.id for row in page.items]
            cursor = page.next_cursor

        assert found == [f"turn_{index}" for index in (4, 3, 2, 1, 0)]
        assert cursor is None

    async def test_unfinished_turns_of_all_conversations_are_found(self, store: Store) -> None:
        statuses = ("running", "suspended", "completed", "failed", "cancelled", "interrupted")
        for index, status in enumerate(statuses):
            name = f"conv_{index}"
            await store.create_conversation(new_conversation(name))
            turn = make_turn(f"turn_{status}", name, status=status)
            await store.append(plain_append(conversation_id=name, turn=turn, new_turn=True))
        await store.append(plain_append(turn=make_turn("turn_new", "conv_1"), new_turn=True))
        ended = make_turn("turn_new", "conv_1", status="cancelled")
        await store.append(plain_append(turn=ended))

        found = await store.list_unfinished_turns()

        assert sorted(turn.id for turn in found) == ["turn_running", "turn_suspended"]
