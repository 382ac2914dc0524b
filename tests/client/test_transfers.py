"""Exports and imports with both clients, over a real socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import closing
from typing import Any

import anyio.to_thread
import httpx
import pytest

from blockwire.client import AsyncClient, Client, ClientError, ImportedConversation
from blockwire.content import Message
from blockwire.gateway import exports
from blockwire.stores import MemoryStore
from tests.archives.samples import ANSWER, CONTENT, QUESTION, archive_lines
from tests.client.live import serving
from tests.support.transfers import archived_messages

pytestmark = pytest.mark.anyio

WHOLE = b"".join(archive_lines())


async def pieces(data: bytes, size_bytes: int = 20_000) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size_bytes):
        yield data[start : start + size_bytes]


async def test_an_archive_goes_up_and_comes_down() -> None:
    async with serving() as live, AsyncClient(live.url) as client:
        result = await client.import_archive(pieces(WHOLE), idempotency_key="k")
        known = await client.import_archive([WHOLE], idempotency_key="k")
        conversation_id = result.conversations[0].id
        archive = b"".join([piece async for piece in client.export(conversation_id)])
        text = b"".join([p async for p in client.export(conversation_id, "text", view="public")])

    assert result.is_new
    assert result.conversations == [
        ImportedConversation(
            id=conversation_id,
            source_id="conv_1",
            message_count=2,
            attachment_count=1,
            turns_dropped=1,
        )
    ]
    assert (known.is_new, known.conversations) == (False, result.conversations)
    assert archived_messages(archive) == [QUESTION, ANSWER]
    assert b"Three weighings do." in text


async def test_the_blocking_client_does_the_same() -> None:
    def work(url: str) -> tuple[bytes, int]:
        with Client(url) as client:
            result = client.import_archive([WHOLE])
            with closing(client.export(result.conversations[0].id, "json")) as parts:
                return b"".join(parts), len(result.conversations)

    async with serving() as live:
        document, count = await anyio.to_thread.run_sync(work, live.url)

    assert count == 1
    assert b"Three weighings do." in document


async def test_refusals_are_those_of_the_gateway() -> None:
    big = WHOLE[:-200] + b"\n" + b" " * 3_000_000
    async with serving() as live, AsyncClient(live.url) as client:
        for data, code in ((WHOLE[:-200], "archive_truncated"), (big, "invalid_json")):
            with pytest.raises(ClientError) as refused:
                await client.import_archive(pieces(data))
            assert refused.value.code == code
        with pytest.raises(ClientError, match="conversation_not_found"):
            [piece async for piece in client.export("conv_unknown")]


class TornStore(MemoryStore):
    is_torn = False

    async def list_messages(self, *args: Any, **options: Any) -> Any:
        if self.is_torn and options["after_seq"]:
            msg = "a bug"
            raise RuntimeError(msg)
        return await super().list_messages(*args, **options)


@pytest.mark.case("P07")
@pytest.mark.parametrize("export_format", ["markdown", "html", "text", "json", "jsonl"])
@pytest.mark.requirement("gateway:export:cut")
async def test_an_export_that_was_cut_is_an_error(
    export_format: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "PAGE_MESSAGES", 1)
    store = TornStore()
    message: Message = {
        **QUESTION,
        "content": [{"id": "b", "type": "prose", "markdown": "x" * 200_000}],
    }
    async with serving(store=store) as live, AsyncClient(live.url) as client:
        conversation = await client.create_conversation()
        for number in range(3):
            await client.append_message(conversation.id, {**message, "id": f"msg_{number}"})
        store.is_torn = True
        export = client.export(conversation.id, export_format)
        assert await anext(export)
        with pytest.raises(ClientError, match="connection_lost"):
            [piece async for piece in export]


async def test_an_answer_that_is_none_is_told() -> None:
    def respond(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(201, content=b'{"conversations": 7}')

    transport = httpx.MockTransport(respond)
    async with AsyncClient("http://127.0.0.1:1", transport=transport) as client:
        with pytest.raises(ClientError, match="invalid_answer"):
            await client.import_archive([WHOLE])


async def test_attachments_come_back_byte_for_byte() -> None:
    async with serving() as live, AsyncClient(live.url) as client:
        result = await client.import_archive([WHOLE])
        store = live.world.service.store
        (row,) = await store.list_attachments(result.conversations[0].id)
        assert await store.read_attachment(row.id, offset=0, bytes_max=10**7) == CONTENT
