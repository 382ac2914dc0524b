"""``GET /v1/search``: hits, snippets, filters, refusals, and what nobody can infer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blockwire.content import Message, MessageCreated, visible_message
from blockwire.jsontext import Json
from blockwire.ports import Append, ConversationRow, Draft, Store
from blockwire.stores import MemoryStore, SqliteStore
from tests.gateway.http.surface import Surface, draft, surface

pytestmark = pytest.mark.anyio

TEXT: Final = "Deadlocks happen when two threads wait for each other. " * 8


def message(message_id: str, *blocks: dict[str, Json], role: str = "assistant") -> Message:
    return {
        "id": message_id,
        "role": role,
        "status": "completed",
        "content": [*blocks],
        "created_at": 5,
    }


def prose(text: str, block_id: str = "b1", **members: Json) -> dict[str, Json]:
    return {"id": block_id, "type": "prose", "markdown": text, **members}


async def keep(
    place: Surface, *messages: Message, conversation_id: str = "conv_a", **members: Any
) -> None:
    store = place.world.service.store
    row = ConversationRow(id=conversation_id, created_at=1, updated_at=1, **members)
    await store.create_conversation(row)
    for one in messages:
        drafts = [created(one)]
        await store.append(
            Append(conversation_id=conversation_id, drafts=drafts, ts=1, finished=[(one, 0)])
        )


def created(one: Message) -> Draft:
    return draft(MessageCreated(one), is_private=visible_message("public", one) is None)


async def ask(place: Surface, **parameters: object) -> dict[str, Any]:
    answer = await place.client.get(f"/v1/search?{urlencode(parameters)}")
    assert answer.status_code == 200, answer.text
    page: dict[str, Any] = answer.json()
    return page


@pytest.mark.requirement("search:hit:anchors")
async def test_a_hit_names_its_place_and_shows_what_was_found() -> None:
    async with surface() as place:
        await keep(place, message("msg_1", prose("It is a Caf\u00e9, I think")), title="Walks")
        page = await ask(place, q="cafe think")
    assert page == {
        "items": [
            {
                "conversation_id": "conv_a",
                "title": "Walks",
                "message_id": "msg_1",
                "role": "assistant",
                "created_at": 5,
                "block_id": "b1",
                "block_type": "prose",
                "snippet": {
                    "text": "It is a Caf\u00e9, I think",
                    "matches": [{"start": 8, "end": 12}, {"start": 16, "end": 21}],
                    "at_start": True,
                    "at_end": True,
                    "offset": 0,
                },
            }
        ],
        "next_cursor": None,
        "index": "ready",
    }


@pytest.mark.requirement("search:snippet:cut")
async def test_a_snippet_is_a_short_stretch_of_the_block() -> None:
    async with surface() as place:
        text = f"{TEXT}Here a \U0001f469\u200d\U0001f4bb needle lies. {TEXT}"
        await keep(place, message("msg_1", prose(text)))
        (hit,) = (await ask(place, q="needle"))["items"]
    snippet = hit["snippet"]
    assert text[snippet["offset"] :].startswith(snippet["text"])
    assert len(snippet["text"]) <= 200
    (match,) = snippet["matches"]
    assert snippet["text"][match["start"] : match["end"]] == "needle"
    assert (snippet["at_start"], snippet["at_end"]) == (False, False)


async def test_a_tool_shows_the_part_that_was_found() -> None:
    tool: dict[str, Json] = {
        "id": "b1",
        "type": "tool",
        "tool": "grep",
        "status": "completed",
        "input": {"pattern": "x"},
        "output": "line one\nneedle here",
    }
    async with surface() as place:
        await keep(place, message("msg_1", tool))
        (hit,) = (await ask(place, q="needle"))["items"]
    assert hit["snippet"] == {
        "text": "line one\nneedle here",
        "matches": [{"start": 9, "end": 15}],
        "at_start": True,
        "at_end": True,
    }


@pytest.mark.requirement("search:query:refused")
@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("", "invalid_parameter"),
        ("q=", "invalid_query"),
        ("q=%2B%2B%2B", "invalid_query"),
        ("q=-word", "invalid_query"),
        (f"q={'a' * 513}", "invalid_query"),
        ("q=" + "+".join(f"w{n}" for n in range(17)), "invalid_query"),
        ("q=%22" + "+".join("x" for _ in range(200)) + "%22", "invalid_query"),
        ("q=a&limit=0", "invalid_parameter"),
        ("q=a&limit=101", "invalid_parameter"),
        ("q=a&role=system", "invalid_parameter"),
        ("q=a&since=yesterday", "invalid_parameter"),
        (f"q=a&tag={'a' * 257}", "invalid_parameter"),
        ("q=a&cursor=nonsense", "invalid_cursor"),
        ("q=a&q=b", "invalid_parameter"),
        ("q=a&sort=new", "unknown_parameter"),
    ],
)
async def test_what_cannot_be_asked_is_refused(query: str, code: str) -> None:
    async with surface() as place:
        answer = await place.client.get(f"/v1/search?{query}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)


@pytest.mark.parametrize(
    "text",
    ['"a', "a*", "*a*", "a AND b", "NOT a", "a OR", "(a", "a)", "{words}: a", "a:b", "'a'",
     "a;--", "NEAR(a b)", "a\u0000b", "^a", "a+b", '"a" "b', "\ue000 a", "-\u00ad a"],
)  # fmt: skip
async def test_everything_parses_as_words(text: str) -> None:
    async with surface() as place:
        await keep(place, message("msg_1", prose("nothing of it")))
        assert (await ask(place, q=text))["items"] == []


async def test_pages_follow_one_another() -> None:
    async with surface() as place:
        blocks = [prose(f"word {n}", f"b{n}") for n in range(25)]
        await keep(place, message("msg_1", *blocks))
        first = await ask(place, q="word")
        second = await ask(place, q="word", cursor=first["next_cursor"])
        filtered = await ask(place, q="word", type="code")
    assert [hit["block_id"] for hit in first["items"]] == [f"b{n}" for n in range(24, 4, -1)]
    assert [hit["block_id"] for hit in second["items"]] == [f"b{n}" for n in range(4, -1, -1)]
    assert second["next_cursor"] is None
    assert filtered["items"] == []


# nothing private ----------------------------------------------------------------------------
WORDS: Final = ("alpha", "beta", "gamma", "needle")
TEXTS: Final = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
PRIVATE: Final = st.one_of(
    st.tuples(st.just("private"), TEXTS), st.tuples(st.just("unsaid"), TEXTS)
)
MESSAGES: Final = st.lists(
    st.one_of(
        st.tuples(st.just("user"), st.lists(TEXTS, min_size=1, max_size=3)),
        st.tuples(st.just("system"), st.lists(TEXTS, min_size=1, max_size=2)),
    ),
    max_size=6,
)


def with_private(texts: list[str], private: list[tuple[str, str]]) -> list[Any]:
    """Return the blocks of a message: its own, and private ones in front of each."""
    blocks: list[Any] = []
    for number, text in enumerate(texts):
        for place, (kind, thought) in enumerate(private):
            block: dict[str, Json] = {"id": f"r{number}_{place}", "type": "reasoning"}
            block |= {"text": thought}
            blocks.append(block | ({"visibility": "private"} if kind == "private" else {}))
        hidden: dict[str, Json] = {"provider_data": {"x": private[0][1]}} if private else {}
        blocks.append(prose(text, f"b{number}", **hidden))
    return blocks


@asynccontextmanager
async def new_store(kind: str) -> AsyncIterator[Store]:
    if kind == "memory":
        yield MemoryStore()
        return
    with TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "store.sqlite3", synchronous="NORMAL")
        try:
            yield store
        finally:
            await store.aclose()


@pytest.mark.requirement("search:private:not-inferable")
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(told=MESSAGES, private=st.lists(PRIVATE, min_size=1, max_size=3))
async def test_what_differs_only_in_private_answers_alike(
    told: list[tuple[str, list[str]]], private: list[tuple[str, str]]
) -> None:
    answers: list[list[bytes]] = []
    for is_secretive, kind in (
        (False, "memory"),
        (True, "memory"),
        (False, "file"),
        (True, "file"),
    ):
        async with new_store(kind) as store, surface(store=store) as place:
            messages = [
                message(
                    f"msg_{number}",
                    *with_private(texts, private if is_secretive else []),
                    role=role,
                )
                for number, (role, texts) in enumerate(told)
                if is_secretive or role != "system"
            ]
            await keep(place, *messages)
            pages: list[bytes] = []
            for query in (*WORDS, '"alpha beta"', "gam*", "needle -alpha"):
                cursor = ""
                while cursor is not None:
                    parameters = {"q": query, "limit": 2} | ({"cursor": cursor} if cursor else {})
                    answer = await place.client.get(f"/v1/search?{urlencode(parameters)}")
                    pages.append(answer.content)
                    cursor = answer.json()["next_cursor"]
            answers.append(pages)
    assert all(pages == answers[0] for pages in answers)
