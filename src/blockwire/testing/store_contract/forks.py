"""Conversations that nobody sees before they are whole; what is known of one as a whole."""
# ruff: noqa: D102 - the names of the tests say it

from __future__ import annotations

import msgspec

from blockwire.ports import Append, Store, TurnRow
from blockwire.testing.store_contract.reading import list_messages, plain_append, refuses, tell_turn
from blockwire.testing.store_script import T0, Script, new_conversation

__all__ = ["ForkContract"]


class ForkContract:
    """Hidden conversations, titles of nobody's making, totals."""

    async def test_a_hidden_conversation_is_appended_to_and_not_seen(self, store: Store) -> None:
        await store.create_conversation(new_conversation("conv_2", tenant="t1"))
        await store.create_hidden_conversation(new_conversation(title="new", tenant="t1"))

        await store.append(plain_append("one"))

        listed = await store.list_conversations(tenant=None, cursor=None, limit=10)
        of_tenant = await store.list_conversations(tenant="t1", cursor=None, limit=10)
        assert await store.load_conversation("conv_1") is None
        assert [row.id for row in listed.items] == [row.id for row in of_tenant.items] == ["conv_2"]

    async def test_what_is_revealed_is_like_any_other(self, store: Store) -> None:
        await store.create_hidden_conversation(new_conversation(title="new"))
        await store.append(plain_append("one"))

        revealed = await store.reveal_conversation("conv_1")

        assert revealed is not None
        assert (revealed.title, revealed.head_seq) == ("new", 1)
        assert await store.load_conversation("conv_1") == revealed
        listed = await store.list_conversations(tenant=None, cursor=None, limit=10)
        assert list(listed.items) == [revealed]

    async def test_a_hidden_conversation_is_gone_after_a_start(self, store: Store) -> None:
        await store.create_hidden_conversation(new_conversation())
        await store.append(plain_append("one"))

        await store.aclose()
        await store.open()

        assert await store.reveal_conversation("conv_1") is None
        assert await list_messages(store, conversation_id="conv_1") == []
        await store.create_conversation(new_conversation())

    async def test_a_hidden_conversation_is_checked_like_any_other(self, store: Store) -> None:
        await store.create_hidden_conversation(new_conversation())
        await tell_turn(store, Script(), "some ", "words")

        assert await store.check() == []

    async def test_a_hidden_conversation_is_deleted_like_any_other(self, store: Store) -> None:
        await store.create_hidden_conversation(new_conversation())

        assert await store.delete_conversation("conv_1") is True

        assert await store.reveal_conversation("conv_1") is None
        with refuses("conversation_not_found"):
            await store.append(plain_append("one"))

    async def test_an_id_is_given_once_whether_hidden_or_not(self, store: Store) -> None:
        await store.create_conversation(new_conversation("conv_1"))
        await store.create_hidden_conversation(new_conversation("conv_2"))

        with refuses("conversation_exists"):
            await store.create_hidden_conversation(new_conversation("conv_1"))
        with refuses("conversation_exists"):
            await store.create_conversation(new_conversation("conv_2"))

    async def test_the_first_automatic_title_stays(self, store: Store) -> None:
        await store.create_conversation(new_conversation(title="mine"))
        for index, title in enumerate((None, "first", "second")):
            change = plain_append(f"text {index}")
            turn = _turn(f"turn_{index}")
            change = msgspec.structs.replace(change, turn=turn, new_turn=True, auto_title=title)
            await store.append(change)

        loaded = await store.load_conversation("conv_1")

        assert loaded is not None
        assert (loaded.title, loaded.auto_title) == ("mine", "first")
        changed = await store.update_conversation(msgspec.structs.replace(loaded, title=None))
        assert changed is not None
        assert (changed.title, changed.auto_title) == (None, "first")

    async def test_totals_are_added_up_name_by_name(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        for index, totals in enumerate(({"turns": 1}, {"turns": 1, "output_tokens": 2**53})):
            await store.append(
                Append(
                    conversation_id="conv_1",
                    drafts=plain_append("x").drafts,
                    ts=T0,
                    turn=_turn(f"turn_{index}"),
                    new_turn=True,
                    totals=totals,
                )
            )

        loaded = await store.load_conversation("conv_1")

        assert loaded is not None
        assert loaded.totals == {"turns": 2, "output_tokens": 2**53}

    async def test_a_turn_keeps_what_it_retries_and_what_it_cost(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        turn = msgspec.structs.replace(_turn("turn_2"), retry_of="turn_1", cost={"usd": 12})
        change = msgspec.structs.replace(plain_append("x"), turn=turn, new_turn=True)

        await store.append(change)

        loaded = await store.load_turn("conv_1", "turn_2")
        assert loaded is not None
        assert (loaded.retry_of, loaded.cost) == ("turn_1", {"usd": 12})


def _turn(turn_id: str) -> TurnRow:
    return TurnRow(
        id=turn_id,
        conversation_id="conv_1",
        status="completed",
        engine="replay",
        created_at=T0,
        request_message_id="msg_1",
    )
