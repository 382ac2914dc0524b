"""Files up and down with the client, against a real gateway."""

import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from pathlib import Path

import anyio
import anyio.to_thread
import httpx
import msgspec
import pytest

from blockwire.client import AsyncClient, Client, ClientError, ClientSettings
from tests.client.live import serving
from tests.gateway.core.world import FAST

pytestmark = pytest.mark.anyio

LARGE = bytes(range(256)) * 4000
QUICK = ClientSettings(call_retry_s=0.001, call_retry_s_max=0.002)


async def pieces() -> AsyncIterator[bytes]:
    yield b"ab"
    yield b"cd"


class Refusing:
    """Demands that the block is refused with a code."""

    def __init__(self, code: str) -> None:
        self._code = code

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: object, trace: object) -> bool:
        assert isinstance(error, ClientError), error
        assert error.code == self._code
        return True


async def whole(content: AsyncGenerator[bytes, None]) -> bytes:
    return b"".join([data async for data in content])


async def test_every_kind_of_source_goes_up(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    await anyio.Path(path).write_bytes(b"a,b\n")
    async with serving() as live, AsyncClient(live.url) as client:
        conversation = await client.create_conversation()

        rows = [
            await client.upload(conversation.id, path, media_type="text/csv"),
            await client.upload(conversation.id, str(path), name="other.csv"),
            await client.upload(conversation.id, b"\x89PNG\r\n\x1a\n", name="../x.png"),
            await client.upload(conversation.id, pieces()),
            await client.upload(conversation.id, iter([b"ab", b"cd"])),
        ]

        assert [(row.name, row.media_type, row.size_bytes) for row in rows] == [
            ("notes.csv", "text/csv", 4),
            ("other.csv", "text/plain", 4),
            ("x.png", "image/png", 8),
            ("attachment", "text/plain", 4),
            ("attachment", "text/plain", 4),
        ]
        turn = await client.submit(conversation.id, [rows[2].block], engine="external")
        question = (await client.read_turn(conversation.id, turn.id)).members
        assert question["request_message_id"]
        assert await whole(client.download(rows[2].id, view="public")) == b"\x89PNG\r\n\x1a\n"


async def test_a_file_comes_down_whole_or_from_a_place(tmp_path: Path) -> None:
    async with serving() as live, AsyncClient(live.url) as client:
        conversation = await client.create_conversation()
        row = await client.upload(conversation.id, LARGE)
        target = tmp_path / "down.bin"

        assert row.sha256 == hashlib.sha256(LARGE).hexdigest()
        assert await whole(client.download(row.id)) == LARGE
        assert await whole(client.download(row.id, start=1_000_000)) == LARGE[1_000_000:]
        assert await client.download_file(row.id, target) == len(LARGE)
        assert await anyio.Path(target).read_bytes() == LARGE
        with Refusing("attachment_not_found"):
            await client.download_file("att_none", tmp_path / "none.bin")
        with Refusing("range_not_satisfiable"):
            await whole(client.download(row.id, start=len(LARGE)))
        assert [path.name async for path in anyio.Path(tmp_path).iterdir()] == ["down.bin"]


async def test_what_is_refused_is_told(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(FAST, attachment_bytes_max=1000)
    async with serving(settings=settings) as live, AsyncClient(live.url) as client:
        conversation = await client.create_conversation()

        for source in (bytes(1001), iter([bytes(900), bytes(900)])):
            with Refusing("attachment_too_large"):
                await client.upload(conversation.id, source)
        with Refusing("conversation_not_found"):
            await client.upload("conv_none", b"x")
        with pytest.raises(FileNotFoundError):
            await client.upload(conversation.id, tmp_path / "none")


class Breaking(httpx.AsyncBaseTransport):
    """Cuts, or changes, what comes of downloads."""

    def __init__(self, change: Callable[[int, bytes], bytes | None]) -> None:
        self._inner = httpx.AsyncHTTPTransport()
        self._change = change
        self.ranges: list[str | None] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._inner.handle_async_request(request)
        if "/attachments/" not in request.url.path:
            return response
        self.ranges.append(request.headers.get("range"))
        stream = self._cut(len(self.ranges), response)
        return httpx.Response(response.status_code, headers=response.headers, content=stream)

    async def _cut(self, number: int, response: httpx.Response) -> AsyncIterator[bytes]:
        assert isinstance(response.stream, httpx.AsyncByteStream)
        async for data in response.stream:
            changed = self._change(number, data)
            if changed is None:
                raise httpx.ReadError("cut")
            yield changed
        await response.aclose()

    async def aclose(self) -> None:
        await self._inner.aclose()


async def test_a_broken_download_goes_on_where_it_was() -> None:
    counts: dict[int, int] = {}

    def cut(number: int, data: bytes) -> bytes | None:
        counts[number] = counts.get(number, 0) + 1
        return None if number < 4 and counts[number] > number else data

    transport = Breaking(cut)
    async with (
        serving() as live,
        AsyncClient(live.url, settings=QUICK, transport=transport) as client,
    ):
        conversation = await client.create_conversation()
        row = await client.upload(conversation.id, LARGE)

        assert await whole(client.download(row.id)) == LARGE

    assert transport.ranges[0] is None
    assert len(transport.ranges) == 4
    starts = [int(text.removeprefix("bytes=").removesuffix("-")) for text in transport.ranges[1:]]  # type: ignore[union-attr]
    assert starts == sorted(set(starts))
    assert starts[0] > 0


async def test_a_file_that_is_not_what_its_hash_says_is_told(tmp_path: Path) -> None:
    transport = Breaking(lambda _number, data: data.replace(b"\x05", b"\x06"))
    async with serving() as live, AsyncClient(live.url, transport=transport) as client:
        conversation = await client.create_conversation()
        row = await client.upload(conversation.id, LARGE)

        with Refusing("invalid_answer"):
            await client.download_file(row.id, tmp_path / "down.bin")

        assert [path async for path in anyio.Path(tmp_path).iterdir()] == []


async def test_a_connection_that_never_holds_is_given_up() -> None:
    transport = Breaking(lambda _number, _data: None)
    async with (
        serving() as live,
        AsyncClient(live.url, settings=QUICK, transport=transport) as client,
    ):
        conversation = await client.create_conversation()
        row = await client.upload(conversation.id, LARGE)

        with Refusing("connection_lost"):
            await whole(client.download(row.id))

    assert len(transport.ranges) == QUICK.call_tries_max


async def test_the_blocking_client_does_the_same(tmp_path: Path) -> None:
    def work(url: str) -> None:
        with Client(url) as client:
            conversation = client.create_conversation()
            row = client.upload(conversation.id, LARGE, name="a.bin")
            assert b"".join(client.download(row.id)) == LARGE
            assert client.download_file(row.id, tmp_path / "a.bin") == len(LARGE)
            assert (tmp_path / "a.bin").read_bytes() == LARGE
            some: Iterator[bytes] = client.download(row.id, start=len(LARGE) - 1)
            assert list(some) == [LARGE[-1:]]

    async with serving() as live:
        await anyio.to_thread.run_sync(work, live.url)
