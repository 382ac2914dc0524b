"""Words are found where they are, and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from blockwire.content import Block, Message, MessageCreated
from blockwire.errors import StoreError
from blockwire.ports import SearchPage, SearchRequest, Store
from blockwire.testing.store_contract.reading import plain_append
from blockwire.testing.store_script import T0, Script, new_conversation
from blockwire.text import parse_query

__all__ = ["SearchContract", "block_ids", "find", "make_message", "store_blocks", "store_message"]


def make_message(
    message_id: str, *blocks: Block, role: str = "assistant", created_at: int = T0
) -> Message:
    """Return a complete message."""
    return {
        "id": message_id,
        "role": role,
        "status": "completed",
        "content": [*blocks],
        "created_at": created_at,
    }


def prose(block_id: str, markdown: str) -> Block:
    """Return a block of prose."""
    return {"id": block_id, "type": "prose", "markdown": markdown}


async def store_message(store: Store, message: Message, conversation_id: str = "conv_1") -> None:
    """Append a finished message; the conversation must be there."""
    await store.append(Script(conversation_id).tell(MessageCreated(message=message)))


async def store_blocks(store: Store, *texts: str, conversation_id: str = "conv_1") -> None:
    """Make a conversation with a message of one prose block for each of ``texts``."""
    await store.create_conversation(new_conversation(conversation_id))
    for number, text in enumerate(texts, 1):
        message = make_message(f"msg_{number}", prose(f"b{number}", text))
        await store_message(store, message, conversation_id)


async def find(store: Store, query: str, **members: Any) -> SearchPage:
    """Return the first page for ``query``."""
    return await store.search(SearchRequest(query=parse_query(query), **members))


def block_ids(page: SearchPage) -> list[Any]:
    """Return which blocks were found, in order."""
    return [hit.block["id"] for hit in page.hits]


FOUND: tuple[tuple[str, str], ...] = (
    ("hello", "Say Hello, world"),
    ("world say", "Say Hello, world"),
    ('"hello world"', "Say Hello, world"),
    ("wor*", "Say Hello, world"),
    ('"say hel"*', "Say Hello, world"),
    ("hello -moon", "Say Hello, world"),
    ("cafe", "un Caf\u00e9"),
    ("CAF\u00c9", "un cafe\u0301"),
    ("stra\u00dfe", "STRASSE"),
    ("parse", "parseHttpRequest()"),
    ("http", "parseHttpRequest()"),
    ("request", "parseHttpRequest()"),
    ("parseHttpRequest", "parseHttpRequest()"),
    ("parsehttprequest", "parseHttpRequest()"),
    ("parse_http", "parseHttpRequest()"),
    ("parseH*", "parseHttpRequest()"),
    ("store.py", "see src/ports/store.py"),
    ("ports/store.py", "see src/ports/store.py"),
    ("os.path.join", "use os.path.join(a)"),
    ("\u6771\u4eac", "\u6771\u4eac\u90fd\u306b\u884c\u304f"),
    ("\u4eac\u90fd", "\u6771\u4eac\u90fd\u306b\u884c\u304f"),
    ("\u90fd\u306b\u884c", "\u6771\u4eac\u90fd\u306b\u884c\u304f"),
    ("\u90fd", "\u6771\u4eac\u90fd\u306b\u884c\u304f"),
    ("\u304f", "\u6771\u4eac\u90fd\u306b\u884c\u304f"),
    ("\ud55c\uad6d", "\ud55c\uad6d\uc5b4\ub97c"),
    ("\u30ac\u30ae", "\uff76\uff9e\uff77\uff9e"),
    ("\U0001f680", "ship it \U0001f680\U0001f680"),
    ("\U0001f469\u200d\U0001f4bb", "me: \U0001f469\u200d\U0001f4bb"),
    ("\U0001f1e9\U0001f1ea", "from \U0001f1e9\U0001f1ea"),
    ("nul", "before\u0000nul\u0000after"),
    ("123", "number 123,456"),
)
NOT_FOUND: tuple[tuple[str, str], ...] = (
    ("hell", "Say Hello, world"),
    ('"world hello"', "Say Hello, world"),
    ("hello moon", "Say Hello, world"),
    ("hello -world", "Say Hello, world"),
    ('hello -"say hello"', "Say Hello, world"),
    ("\u6771\u90fd", "\u6771\u4eac\u90fd\u306b\u884c\u304f"),
    ("\u6771\u4eac\u884c", "\u6771\u4eac\u90fd\u306b\u884c\u304f"),
    ("\U0001f1e9\U0001f1ea", "from \U0001f1eb\U0001f1f7"),
    ("\u304b", "\u304c"),
)


class SearchContract:
    """Indexing, order, filters, pages and deletion, of any store."""

    @pytest.mark.parametrize(("query", "text"), FOUND)
    async def test_a_text_is_found_by(self, store: Store, query: str, text: str) -> None:
        """Case, accents, width and marks do not matter; names are found by their parts."""
        await store_blocks(store, "something else", text)
        assert block_ids(await find(store, query)) == ["b2"]

    @pytest.mark.parametrize(("query", "text"), NOT_FOUND)
    async def test_a_text_is_not_found_by(self, store: Store, query: str, text: str) -> None:
        """A word is found whole, unless its beginning is asked for."""
        await store_blocks(store, text)
        assert block_ids(await find(store, query)) == []

    async def test_a_hit_tells_where_it_is(self, store: Store) -> None:
        """Conversation, message and block."""
        await store.create_conversation(new_conversation(title="Walks"))
        message = make_message("msg_1", prose("b1", "in the garden"), role="user")
        await store_message(store, {**message, "metadata": {"k": 1}})

        (hit,) = (await find(store, "garden")).hits

        assert (hit.conversation_id, hit.conversation_title) == ("conv_1", "Walks")
        assert hit.block == prose("b1", "in the garden")
        assert hit.envelope["id"] == "msg_1"
        assert "content" not in hit.envelope

    async def test_a_hit_names_a_conversation_without_a_title_by_its_automatic_one(
        self, store: Store
    ) -> None:
        """As reading and listing do; a title that a person gave comes first."""
        await store.create_conversation(new_conversation(auto_title="Where is it?"))
        await store_message(store, make_message("msg_1", prose("b1", "in the garden")))

        (hit,) = (await find(store, "garden")).hits

        assert hit.conversation_title == "Where is it?"

    async def test_every_kind_of_block_is_found_by_what_people_see_of_it(
        self, store: Store
    ) -> None:
        """Of an unknown type only what it wants to be shown."""
        blocks: Sequence[Block] = (
            {"id": "code", "type": "code", "text": "w1", "language": "none"},
            {
                "id": "tool",
                "type": "tool",
                "tool": "w2",
                "status": "completed",
                "input": {"w3": ["w4", {"n": 5}]},
                "output": "w6",
                "error": {"message": "w7"},
            },
            {"id": "thought", "type": "reasoning", "text": "w8", "visibility": "visible"},
            {"id": "error", "type": "error", "code": "w_9", "message": "w10", "retryable": False},
            {"id": "notice", "type": "notice", "code": "c", "message": "w11"},
            {
                "id": "file",
                "type": "attachment",
                "attachment_id": "a",
                "name": "w12.png",
                "media_type": "image/png",
            },
            {"id": "speech", "type": "speech", "text": "w13"},
            {"id": "new", "type": "chart", "fallback_text": "w14", "data": "w15"},
        )
        await store.create_conversation(new_conversation())
        await store_message(store, make_message("msg_1", *blocks))

        found = {f"w{n}": block_ids(await find(store, f"w{n}")) for n in range(1, 16)}

        assert found == {
            "w1": ["code"],
            "w2": ["tool"],
            "w3": ["tool"],
            "w4": ["tool"],
            "w5": [],
            "w6": ["tool"],
            "w7": ["tool"],
            "w8": ["thought"],
            "w9": ["error"],
            "w10": ["error"],
            "w11": ["notice"],
            "w12": ["file"],
            "w13": ["speech"],
            "w14": ["new"],
            "w15": [],
        }
        assert block_ids(await find(store, '"w2 w3"')) == [], "a phrase stays inside a part"

    async def test_what_is_private_is_not_found_by_anybody(self, store: Store) -> None:
        """Whoever asks: there is one index."""
        await store.create_conversation(new_conversation(system="canary"))
        blocks: Sequence[Block] = (
            {"id": "r1", "type": "reasoning", "text": "canary", "visibility": "private"},
            {"id": "r2", "type": "reasoning", "text": "canary"},
            {**prose("b1", "public"), "provider_data": {"signature": "canary"}},
        )
        await store_message(store, make_message("msg_1", *blocks))
        for number, role in enumerate(("system", "developer"), 2):
            message = make_message(f"msg_{number}", prose("b1", "canary"), role=role)
            await store_message(store, message)

        assert block_ids(await find(store, "canary")) == []
        (hit,) = (await find(store, "public")).hits
        assert hit.block == prose("b1", "public")

    async def test_a_running_turn_is_found_when_it_is_over(self, store: Store) -> None:
        """In the same commit."""
        await store.create_conversation(new_conversation())
        script = Script()
        for change in (script.start_turn(), script.start_block(), script.write("later")):
            await store.append(change)
        assert block_ids(await find(store, "later")) == []

        await store.append(script.end_turn())

        assert block_ids(await find(store, "later")) == ["b1"]

    async def test_a_hidden_conversation_is_not_found_before_it_is_revealed(
        self, store: Store
    ) -> None:
        """Nor by its id."""
        await store.create_hidden_conversation(new_conversation())
        await store_message(store, make_message("msg_1", prose("b1", "early")))
        for members in ({}, {"conversation_id": "conv_1"}):
            assert block_ids(await find(store, "early", **members)) == []
        await store.reveal_conversation("conv_1")
        assert block_ids(await find(store, "early")) == ["b1"]

    async def test_blocks_about_the_words_come_first_then_the_newest(self, store: Store) -> None:
        """Repeated, or in a short block."""
        filler = "one two three four five six seven eight nine ten " * 5
        await store_blocks(
            store,
            "deadlock, and how a deadlock is met: deadlock again",
            f"{filler} deadlock",
            "a deadlock",
            f"deadlock {filler}",
        )
        assert block_ids(await find(store, "deadlock")) == ["b1", "b3", "b4", "b2"]

    async def test_filters_narrow(self, store: Store) -> None:
        """Alone and together; strange values find nothing."""
        for name, members in (
            ("conv_1", {"tags": ("red", "blue")}),
            ("conv_2", {"tags": ("blue",), "tenant": "t1"}),
            ("conv_3", {"tenant": "t2"}),
        ):
            await store.create_conversation(new_conversation(name, **members))
        code: Block = {"id": "c", "type": "code", "text": "word"}
        for conversation, role, created_at, block in (
            ("conv_1", "user", T0, prose("b1", "word")),
            ("conv_1", "assistant", T0 + 10, code),
            ("conv_2", "tool", T0 + 20, prose("b2", "word")),
            ("conv_3", "user", T0 + 30, prose("b3", "word")),
        ):
            message = make_message(f"msg_{created_at}", block, role=role, created_at=created_at)
            await store_message(store, message, conversation)
        for filters, expected in (
            ({}, ["b3", "b2", "c", "b1"]),
            ({"conversation_id": "conv_1"}, ["c", "b1"]),
            ({"conversation_id": "conv_9"}, []),
            ({"conversation_id": "conv_1", "tenant": "t1"}, []),
            ({"tenant": "t1"}, ["b2"]),
            ({"tenant": "t9"}, []),
            ({"role": "user"}, ["b3", "b1"]),
            ({"role": "user OR assistant"}, []),
            ({"role": "system"}, []),
            ({"block_type": "code"}, ["c"]),
            ({"block_type": "no such type"}, []),
            ({"tag": "blue"}, ["b2", "c", "b1"]),
            ({"tag": "red"}, ["c", "b1"]),
            ({"since": T0 + 10}, ["b3", "b2", "c"]),
            ({"until": T0 + 10}, ["b1"]),
            ({"since": T0 + 10, "until": T0 + 30, "role": "tool"}, ["b2"]),
        ):
            assert block_ids(await find(store, "word", **filters)) == expected, filters

    async def test_pages_hold_every_hit_once_whatever_comes_meanwhile(self, store: Store) -> None:
        """What comes is newer than the place where paging began."""
        texts = [f"{'word ' * (n % 7)} filler {'x ' * (n % 90)} word {n}" for n in range(450)]
        await store_blocks(store, *texts)
        whole = block_ids(await find(store, "word", limit=500))
        assert sorted(whole) == sorted(f"b{n}" for n in range(1, 451))
        found: list[Any] = []
        cursor: str | None = None
        while True:
            page = await find(store, "word", limit=37, cursor=cursor)
            found += block_ids(page)
            cursor = page.next_cursor
            if cursor is None:
                break
            message = make_message(f"new_{len(found)}", prose("new", "word word word"))
            await store_message(store, message)
        assert [name for name in found if name != "new"] == whole

    async def test_a_cursor_is_good_for_its_own_request(self, store: Store) -> None:
        """Another query, filter or tenant is refused, the size of a page is not."""
        await store_blocks(store, "word one", "word two", "word three")
        page = await find(store, "word", limit=1)
        for members in (
            {"role": "user", "cursor": page.next_cursor},
            {"tenant": "t1", "cursor": page.next_cursor},
            {"cursor": "nonsense"},
            {"cursor": "W10"},
        ):
            with pytest.raises(StoreError) as caught:
                await find(store, "word", **members)
            assert caught.value.code == "invalid_cursor"
        with pytest.raises(StoreError) as caught:
            await find(store, "other", cursor=page.next_cursor)
        assert caught.value.code == "invalid_cursor"
        assert block_ids(await find(store, "word", limit=5, cursor=page.next_cursor))

    async def test_a_cursor_whose_place_was_deleted_is_refused(self, store: Store) -> None:
        """Rather than to begin again in silence."""
        await store_blocks(store, "word one", "word two")
        page = await find(store, "word", limit=1)
        await store.delete_conversation("conv_1")
        with pytest.raises(StoreError) as caught:
            await find(store, "word", cursor=page.next_cursor)
        assert caught.value.code == "invalid_cursor"

    async def test_what_is_deleted_is_not_found(self, store: Store) -> None:
        """Also when its number in the store is used again."""
        await store_blocks(store, "word one", "word two")
        await store_blocks(store, "word three", conversation_id="conv_2")
        await store.delete_conversation("conv_1")
        assert block_ids(await find(store, "word")) == ["b1"]
        assert block_ids(await find(store, "one")) == []
        await store_blocks(store, "word four")
        assert [hit.conversation_id for hit in (await find(store, "word")).hits] == [
            "conv_1",
            "conv_2",
        ]
        assert await store.check() == []

    async def test_what_a_tenant_finds_depends_on_its_own_blocks_alone(self, store: Store) -> None:
        """Hits, order, cursors."""
        await store.create_conversation(new_conversation("conv_1", tenant="t1"))
        for number in range(30):
            text = f"word {'other ' * (number % 5)}" * (number % 4 + 1)
            message = make_message(f"msg_{number}", prose(f"b{number}", text))
            await store_message(store, message)
        before = await find(store, "word", tenant="t1", limit=10)
        await store.create_conversation(new_conversation("conv_2", tenant="t2"))
        for number in range(300):
            message = make_message(f"msg_{number}", prose("b", "word word other"))
            await store_message(store, message, "conv_2")
        assert await find(store, "word", tenant="t1", limit=10) == before

    async def test_a_refused_append_is_not_found(self, store: Store) -> None:
        """Nothing of it is in the index."""
        await store_blocks(store, "word")
        with pytest.raises(StoreError):
            await store_message(store, make_message("msg_1", prose("b1", "word again")))
        with pytest.raises(StoreError):
            await store.append(plain_append("x", "conv_9"))
        assert block_ids(await find(store, "word")) == ["b1"]
        assert block_ids(await find(store, "again")) == []

    async def test_a_rebuilt_index_finds_the_same(self, store: Store) -> None:
        """In the same order."""
        await store_blocks(store, *[f"word {number}" for number in range(150)])
        before = await find(store, "word")
        await store.rebuild_index()
        while (await store.index_state()).waiting_count:
            await store.ping()
        assert await find(store, "word") == before
        assert await store.check() == []
