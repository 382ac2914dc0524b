"""Reading the log from any cursor."""
# ruff: noqa: D102 - the names of the tests say it

from __future__ import annotations

import msgspec

from blockwire.ports import Append, Draft, FramePage, Store
from blockwire.testing.store_contract.reading import (
    PAGE_BYTES,
    VIEWS,
    numbers_of,
    plain_append,
    read_all,
    tell_turn,
)
from blockwire.testing.store_script import T0, Script, new_conversation

__all__ = ["PageContract"]


class PageContract:
    """Reading the log from any cursor."""

    async def test_every_cursor_gets_exactly_what_follows_it(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        await tell_turn(store, Script(), "a", "b", "c")

        for view in VIEWS:
            whole = await read_all(store, view)
            for after in range(whole[-1]["seq"] + 3):
                expected = [event for event in whole if event["seq"] > after]
                assert await read_all(store, view, after=after) == expected
                assert await read_all(store, view, after=after, bytes_max=1) == expected

    async def test_nothing_above_up_to_is_read(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        await tell_turn(store, Script(), "a", "b", "c")

        for view in VIEWS:
            whole = await read_all(store, view)
            for up_to in range(whole[-1]["seq"] + 2):
                for after in (0, 1, 5):
                    expected = [event for event in whole if after < event["seq"] <= up_to]
                    for bytes_max in (1, PAGE_BYTES):
                        events = await read_all(
                            store, view, after=after, up_to=up_to, bytes_max=bytes_max
                        )
                        assert events == expected

    async def test_a_page_ends_before_it_is_too_large_but_not_before_one_event(
        self, store: Store
    ) -> None:
        await store.create_conversation(new_conversation())
        for index in range(10):
            await store.append(plain_append(str(index) * 100))
        one = len((await store.read_frames("conv_1", 0, view="owner", bytes_max=1)).frames)

        pages = {
            bytes_max: await store.read_frames("conv_1", 0, view="owner", bytes_max=bytes_max)
            for bytes_max in (0, 1, one, 2 * one, 3 * one - 1, 100 * one)
        }

        assert {bytes_max: page.count for bytes_max, page in pages.items()} == {
            0: 1,
            1: 1,
            one: 1,
            2 * one: 2,
            3 * one - 1: 2,
            100 * one: 10,
        }
        assert [page.at_end for page in pages.values()] == [False] * 5 + [True]

    async def test_a_cursor_moves_over_what_is_withheld(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        script = Script()
        await store.append(script.start_turn())
        await store.append(script.start_thought())
        for _ in range(50):
            await store.append(script.write("hm", block_id="r1"))

        page = await store.read_frames("conv_1", 2, view="public", bytes_max=1)

        assert page == FramePage(b"", 53, 0, at_end=True)

    async def test_a_cursor_ahead_of_the_log_reads_nothing(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        await store.append(plain_append())

        for after in (1, 2, 2**53 - 1, 2**80):
            page = await store.read_frames("conv_1", after, view="owner", bytes_max=1)
            assert page == FramePage(b"", after, 0, at_end=True)

    async def test_text_of_any_kind_comes_back_as_it_was(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        texts = ["a\x00b", "\u2028\u2029\x85", "\r\n\n\r", "\U0001f468\u200d\U0001f469", '"\\}', ""]
        texts += ["id: 7\n\ndata: x\n\n", "\x1b[31m", "\ufeff", "\U0010ffff"]

        for text in texts:
            await store.append(plain_append(text))

        assert [event["text"] for event in await read_all(store)] == texts

    async def test_white_space_in_a_draft_does_not_break_its_frame(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        data = b'{"type":"test.said",\n\r"a":\r\n1\n\n,"b":2}'

        await store.append(
            Append(conversation_id="conv_1", drafts=[Draft("test.said", data, data)] * 2, ts=T0)
        )

        assert [(event["a"], event["b"]) for event in await read_all(store)] == [(1, 2)] * 2

    async def test_an_event_of_ten_megabytes_is_stored_and_read(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        text = "0123456789" * 1024 * 1024

        await store.append(plain_append("before"))
        await store.append(plain_append(text))
        await store.append(plain_append("after"))

        texts = [event["text"] for event in await read_all(store, bytes_max=1000)]
        assert texts[0::2] == ["before", "after"]
        assert texts[1] == text

    async def test_an_append_of_many_events_is_read_in_pages(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        change = plain_append("0123456789" * 10)

        await store.append(msgspec.structs.replace(change, drafts=[*change.drafts] * 5000))

        assert numbers_of(await read_all(store)) == list(range(1, 5001))
        assert numbers_of(await read_all(store, after=4321, up_to=4400)) == list(range(4322, 4401))
