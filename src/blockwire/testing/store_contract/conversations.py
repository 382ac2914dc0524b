"""Conversations: created, changed, listed."""
# ruff: noqa: D102 - the names of the tests say it

from __future__ import annotations

import msgspec

from blockwire.ports import Append, Store
from blockwire.testing.store_contract.reading import (
    list_messages,
    plain_append,
    read_all,
    refuses,
)
from blockwire.testing.store_script import T0, new_conversation

__all__ = ["ConversationContract"]


class ConversationContract:
    """Conversations: created, changed, listed."""

    async def test_a_conversation_comes_back_as_it_was_created(self, store: Store) -> None:
        row = new_conversation(
            title="a\u0301 \U0001f600",
            tags=("one", "two"),
            tenant="t1",
            system="be\x00brief",
            metadata={"big": 2**80, "text": "\x00", "nested": {"list": [1.5, None, True]}},
        )

        await store.create_conversation(row)

        assert await store.load_conversation("conv_1") == row

    async def test_an_id_is_given_to_one_conversation_only(self, store: Store) -> None:
        await store.create_conversation(new_conversation(title="first"))

        with refuses("conversation_exists"):
            await store.create_conversation(new_conversation(title="second"))

        loaded = await store.load_conversation("conv_1")
        assert loaded is not None
        assert loaded.title == "first"

    async def test_a_new_conversation_starts_with_an_empty_log(self, store: Store) -> None:
        await store.create_conversation(new_conversation(head_seq=7, public_head_seq=7))

        loaded = await store.load_conversation("conv_1")

        assert loaded is not None
        assert (loaded.head_seq, loaded.public_head_seq) == (0, 0)

    async def test_what_is_unknown_is_none_empty_or_false(self, store: Store) -> None:
        assert await store.load_conversation("conv_x") is None
        assert await store.update_conversation(new_conversation("conv_x")) is None
        assert await store.delete_conversation("conv_x") is False
        assert await read_all(store, conversation_id="conv_x") == []
        assert await list_messages(store, conversation_id="conv_x") == []
        assert await store.load_message("conv_x", "msg_x") is None
        assert await store.load_turn("conv_x", "turn_x") is None
        assert await store.find_turn_by_key("conv_x", "key") is None
        assert list((await store.list_turns("conv_x", cursor=None, limit=5)).items) == []
        assert list(await store.list_unfinished_turns()) == []
        assert list(await store.check()) == []

    async def test_an_update_changes_what_people_say_about_it_only(self, store: Store) -> None:
        await store.create_conversation(new_conversation(tenant="t1"))
        await store.append(plain_append())

        updated = await store.update_conversation(
            new_conversation(
                created_at=T0 + 5, tenant="t2", title="new", tags=("a",), head_seq=99, system="s"
            )
        )

        assert updated == await store.load_conversation("conv_1")
        expected = new_conversation(
            tenant="t1", title="new", tags=("a",), system="s", head_seq=1, public_head_seq=1
        )
        assert updated == msgspec.structs.replace(expected, updated_at=T0 + 5)
        assert (await store.append(plain_append())).entries[0].seq == 2

    async def test_updated_at_follows_the_stamps_and_never_goes_back(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        seen = []

        for ts in (T0 + 10, T0 + 5, T0 + 20):
            await store.append(msgspec.structs.replace(plain_append(), ts=ts))
            loaded = await store.load_conversation("conv_1")
            assert loaded is not None
            seen.append(loaded.updated_at)
        await store.append(Append(conversation_id="conv_1", drafts=[], ts=T0 + 30))
        loaded = await store.load_conversation("conv_1")
        assert loaded is not None
        seen.append(loaded.updated_at)

        assert seen == [T0 + 10, T0 + 10, T0 + 20, T0 + 30]

    async def test_a_list_is_paged_newest_first_and_ties_go_by_id(self, store: Store) -> None:
        created = [(T0, "conv_b"), (T0 + 1, "conv_a"), (T0, "conv_c"), (T0 - 1, "conv_d")]
        for created_at, name in created:
            await store.create_conversation(new_conversation(name, created_at))

        found: list[str] = []
        cursor = None
        for _ in range(4):
            page = await store.list_conversations(tenant=None, cursor=cursor, limit=1)
            found += [row.id for row in page.items]
            cursor = page.next_cursor

        assert found == ["conv_a", "conv_c", "conv_b", "conv_d"]
        assert cursor is None

    async def test_a_new_conversation_does_not_shift_the_next_page(self, store: Store) -> None:
        for index in range(4):
            await store.create_conversation(new_conversation(f"conv_{index}", T0 + index))
        first = await store.list_conversations(tenant=None, cursor=None, limit=2)

        await store.create_conversation(new_conversation("conv_new", T0 + 100))
        second = await store.list_conversations(tenant=None, cursor=first.next_cursor, limit=2)

        assert [row.id for row in second.items] == ["conv_1", "conv_0"]

    async def test_a_tenant_sees_its_own_conversations(self, store: Store) -> None:
        for index, tenant in enumerate(["t1", "t2", None, "t1"]):
            await store.create_conversation(
                new_conversation(f"conv_{index}", T0 + index, tenant=tenant)
            )

        first = await store.list_conversations(tenant="t1", cursor=None, limit=1)
        second = await store.list_conversations(tenant="t1", cursor=first.next_cursor, limit=1)
        of_all = await store.list_conversations(tenant=None, cursor=None, limit=9)

        rows = [*first.items, *second.items]
        assert [row.id for row in rows] == ["conv_3", "conv_0"]
        assert second.next_cursor is None
        assert len(of_all.items) == 4

    async def test_a_cursor_that_is_none_of_ours_is_refused(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        for cursor in ("", "x", "é", "bnVsbA", "WzEsMl0", "W3RydWUsImEiXQ", "A" * 10_000):
            with refuses("invalid_cursor"):
                await store.list_conversations(tenant=None, cursor=cursor, limit=1)
            with refuses("invalid_cursor"):
                await store.list_turns("conv_1", cursor=cursor, limit=1)
