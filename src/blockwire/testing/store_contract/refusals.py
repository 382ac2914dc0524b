"""Appends that are refused or cancelled."""
# ruff: noqa: D102 - the names of the tests say it

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import msgspec

from blockwire.content import (
    TurnStarted,
)
from blockwire.errors import StoreError
from blockwire.ports import Append, Draft, Store
from blockwire.testing.store_contract.reading import (
    WAIT_S,
    numbers_of,
    plain_append,
    read_all,
    read_everything,
    refuses,
)
from blockwire.testing.store_script import T0, Script, make_question, make_turn, new_conversation

__all__ = ["RefusalContract"]


class RefusalContract:
    """Appends that are refused or cancelled."""

    async def test_an_append_to_nothing_is_refused(self, store: Store) -> None:
        with refuses("conversation_not_found"):
            await store.append(plain_append())
        with refuses("conversation_not_found"):
            await store.append(Script().start_turn())

    async def test_a_refused_append_leaves_nothing_behind(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        script = Script()
        await store.append(script.start_turn(idempotency_key="key"))
        events = [TurnStarted(turn_id="turn_2", role="assistant", created_at=T0)]
        question = make_question("msg_new")
        other = make_turn("turn_2", idempotency_key="other")
        refused: list[tuple[str, dict[str, Any]]] = [
            ("turn_exists", {"turn": make_turn(), "new_turn": True}),
            (
                "idempotency_key_exists",
                {"turn": make_turn("turn_2", idempotency_key="key"), "new_turn": True},
            ),
            ("idempotency_key_exists", {"turn": make_turn("turn_2", idempotency_key="key")}),
            ("epoch_fenced", {"turn": make_turn(), "expected_epoch": 2}),
            ("epoch_fenced", {"turn": other, "expected_epoch": 1}),
            (
                "message_exists",
                {
                    "turn": other,
                    "new_turn": True,
                    "finished": [(question, 0), (make_question("msg_turn_1"), 0)],
                },
            ),
            (
                "message_exists",
                {"turn": other, "new_turn": True, "finished": [(question, 0), (question, 0)]},
            ),
            ("turn_not_found", {"finished": [(question, None)]}),
        ]
        before = await read_everything(store)

        for code, members in refused:
            change = msgspec.structs.replace(Script().tell(*events), **members)
            with refuses(code):
                await store.append(change)
            assert await read_everything(store) == before, code
        assert (await store.append(plain_append())).entries[0].seq == 3

    async def test_a_refused_append_does_not_hurt_its_neighbours(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        await store.append(Script().start_turn())
        outcomes: list[str] = []

        async def append(change: Append) -> None:
            try:
                appended = await store.append(change)
            except StoreError as error:
                outcomes.append(error.code)
            else:
                outcomes.append(str(appended.entries[0].seq))

        changes = [
            plain_append("first"),
            plain_append(conversation_id="conv_x"),
            Script().start_turn(),
            plain_append(turn=make_turn(), expected_epoch=5),
            plain_append("last"),
        ]
        async with anyio.create_task_group() as group:
            for change in changes:
                group.start_soon(append, change)

        assert sorted(outcomes) == [
            "3",
            "4",
            "conversation_not_found",
            "epoch_fenced",
            "turn_exists",
        ]

    async def test_a_type_or_draft_that_cannot_be_framed_is_refused(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        good = b'{"type":"x"}'
        for code, bad in (
            ("invalid_sse_field", Draft("a\nb", good, good)),
            ("invalid_draft", Draft("x", b"{}", b"{}")),
            ("invalid_draft", Draft("x", good, b"[1]")),
            ("invalid_json", Draft("x", b'{"seq":1', None)),
        ):
            with refuses(code):
                await store.append(
                    Append(conversation_id="conv_1", drafts=[Draft("x", good, good), bad], ts=T0)
                )

        assert await read_all(store) == []

    async def test_a_cancelled_append_is_whole_or_not_there(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        change = plain_append("both")
        change = msgspec.structs.replace(change, drafts=[*change.drafts] * 2)

        async def append() -> None:
            await store.append(change)

        with anyio.fail_after(WAIT_S):
            for turns_of_the_loop in range(6):
                async with anyio.create_task_group() as group:
                    for _ in range(5):
                        group.start_soon(append)
                    for _ in range(turns_of_the_loop):
                        await asyncio.sleep(0)
                    group.cancel_scope.cancel()
            appended = await store.append(change)

        events = await read_all(store)
        assert len(events) % 2 == 0
        assert numbers_of(events) == list(range(1, len(events) + 1))
        assert [entry.seq for entry in appended.entries] == numbers_of(events)[-2:]
