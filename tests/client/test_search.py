"""Searches with both clients, over a real socket."""

from __future__ import annotations

from contextlib import closing

import anyio.to_thread
import httpx
import pytest

from blockwire.client import AsyncClient, Client, ClientError, SearchMatch
from blockwire.stores import MemoryStore
from blockwire.testing.store_contract.search import store_blocks
from tests.client.live import serving

pytestmark = pytest.mark.anyio


async def filled() -> MemoryStore:
    store = MemoryStore()
    await store.open()
    await store_blocks(store, *[f"a needle {n}" for n in range(45)])
    return store


async def test_hits_come_one_after_the_other() -> None:
    async with serving(store=await filled()) as live, AsyncClient(live.url) as client:
        hits = [hit async for hit in client.search("needle", role="assistant")]
        page = await client.search_page("needle", limit=3, conversation_id="conv_1")
        following = await client.search_page(
            "needle", limit=3, cursor=page.next_cursor, conversation_id="conv_1"
        )
        nothing = [hit async for hit in client.search("needle", block_type="code")]
    assert [hit.block_id for hit in hits] == [f"b{n}" for n in range(45, 0, -1)]
    assert hits[0].snippet.text == "a needle 44"
    assert hits[0].snippet.matches == [SearchMatch(2, 8)]
    assert [hit.block_id for hit in [*page.items, *following.items]] == [
        f"b{n}" for n in range(45, 39, -1)
    ]
    assert page.index == "ready"
    assert nothing == []


async def test_the_blocking_client_does_the_same() -> None:
    def work(url: str) -> tuple[int, list[str]]:
        with Client(url) as client, closing(client.search("needle")) as hits:
            return sum(1 for _ in hits), [h.block_id for h in client.search_page("44").items]

    async with serving(store=await filled()) as live:
        assert await anyio.to_thread.run_sync(work, live.url) == (45, ["b45"])


async def test_a_refusal_has_the_code_of_the_gateway() -> None:
    async with serving() as live, AsyncClient(live.url) as client:
        with pytest.raises(ClientError) as caught:
            await client.search_page("?!")
    assert caught.value.code == "invalid_query"


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b'{"items":[{"block_id":"b1"}],"next_cursor":null,"index":"ready"}',
        b'{"items":[],"next_cursor":null,"index":"lost"}',
        b'{"items":[],"next_cursor":"same","index":"ready"}',
    ],
)
async def test_a_page_that_is_none_is_refused(body: bytes) -> None:
    transport = httpx.MockTransport(
        lambda _: httpx.Response(
            200,
            content=body,
            headers={"content-type": "application/json", "blockwire-protocol": "1"},
        )
    )
    async with AsyncClient("http://gateway", transport=transport) as client:
        with pytest.raises(ClientError) as caught:
            await client.search_page("x", cursor="same")
    assert caught.value.code == "invalid_answer"
