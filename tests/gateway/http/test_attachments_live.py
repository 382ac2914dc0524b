"""Attachments over real sockets, through the server: what curl does, and what a bad network does."""

import asyncio
import subprocess
import tracemalloc
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import httpx
import msgspec
import pytest

from blockwire.gateway.access.limits import HttpSettings
from blockwire.jsontext import decode_json
from blockwire.stores import SqliteStore
from tests.client.live import Live, serving
from tests.gateway.core.world import FAST, gateway

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 2000


async def curl(*arguments: str) -> bytes:
    """Return what curl prints; it must succeed."""

    def run() -> bytes:
        command = ["curl", "--silent", "--show-error", "--max-time", "15", *arguments]
        ended = subprocess.run(command, capture_output=True, check=False, timeout=20)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    return await anyio.to_thread.run_sync(run)


async def curl_json(*arguments: str) -> Any:
    return decode_json(await curl(*arguments))


@pytest.mark.requirement("attachments:upload:forms", "attachments:download:range")
async def test_curl_sends_and_gets_files(tmp_path: Path) -> None:
    path = tmp_path / "Grüße.png"
    await anyio.Path(path).write_bytes(PNG)
    async with serving() as live:
        conversation_id = await live.world.conversation()
        url = f"{live.url}/v1/conversations/{conversation_id}/attachments"

        raw = await curl_json("--data-binary", f"@{path}", f"{url}?name=raw.png")
        form = await curl_json("-F", f"file=@{path}", url)

        assert (raw["name"], raw["media_type"], raw["size_bytes"]) == (
            "raw.png",
            "image/png",
            len(PNG),
        )
        assert (form["name"], form["sha256"]) == ("Grüße.png", raw["sha256"])
        download = f"{live.url}/v1/attachments/{raw['id']}"
        assert await curl(download) == PNG
        assert await curl("-r", "100000-300000", download) == PNG[100_000:300_001]
        assert b"content-length: 512008" in (await curl("-I", download)).lower()
        await curl("-O", "-J", "--output-dir", str(tmp_path), download)
        assert await anyio.Path(tmp_path / "raw.png").read_bytes() == PNG


async def test_many_downloads_at_once_are_whole() -> None:
    async with serving() as live, httpx.AsyncClient(base_url=live.url) as client:
        conversation_id = await live.world.conversation()
        row = (
            await client.post(f"/v1/conversations/{conversation_id}/attachments", content=PNG)
        ).json()
        contents: list[bytes] = []

        async def get(start: int) -> None:
            answer = await client.get(
                f"/v1/attachments/{row['id']}", headers={"range": f"bytes={start}-"}
            )
            assert answer.content == PNG[start:]
            contents.append(answer.content)

        async with anyio.create_task_group() as group:
            for start in range(20):
                group.start_soon(get, start * 10_000)

        assert len(contents) == 20


class Socket:
    """A plain connection to the gateway."""

    def __init__(self, live: Live) -> None:
        self._address = urlsplit(live.url)

    async def __aenter__(self) -> Self:
        host, port = self._address.hostname, self._address.port
        self.reader, self.writer = await asyncio.open_connection(host, port)
        return self

    async def __aexit__(self, *_error: object) -> None:
        self.writer.transport.abort()

    async def head(self, method: str, path: str, *headers: str) -> None:
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self._address.netloc}", *headers, "", ""]
        self.writer.write("\r\n".join(lines).encode())
        await self.writer.drain()

    async def status(self) -> bytes:
        with anyio.fail_after(10):
            return await self.reader.readline()


@pytest.mark.requirement("attachments:upload:too-large")
async def test_who_asks_before_sending_too_much_need_not_send_it() -> None:
    settings = msgspec.structs.replace(FAST, attachment_bytes_max=1000)
    async with serving(settings=settings) as live, Socket(live) as socket:
        conversation_id = await live.world.conversation()

        await socket.head(
            "POST",
            f"/v1/conversations/{conversation_id}/attachments",
            "Content-Length: 1000000000",
            "Expect: 100-continue",
        )

        assert b" 413 " in await socket.status()


@pytest.mark.requirement("attachments:upload:cut")
@pytest.mark.parametrize("framing", ["Content-Length: 900000", "Transfer-Encoding: chunked"])
async def test_a_connection_that_is_cut_in_an_upload_leaves_nothing(
    tmp_path: Path, framing: str
) -> None:
    gone = anyio.Event()

    class Watched(SqliteStore):
        """Tells when an upload has ended, however it does."""

        async def write_attachment(self, *arguments: Any, **more: Any) -> Any:
            try:
                return await super().write_attachment(*arguments, **more)
            finally:
                gone.set()

    store = Watched(tmp_path / "store.sqlite3", synchronous="NORMAL")
    async with serving(store=store) as live:
        conversation_id = await live.world.conversation()
        async with Socket(live) as socket:
            await socket.head("POST", f"/v1/conversations/{conversation_id}/attachments", framing)
            data = bytes(400_000)
            if framing.startswith("Transfer"):
                data = b"%x\r\n%b\r\n" % (len(data), data)
            socket.writer.write(data)
            await socket.writer.drain()
        with anyio.fail_after(10):
            await gone.wait()

        await store.purge_attachments()
        assert await store.list_attachments(conversation_id) == []
        assert (await store.measure_attachments(None)).total_bytes == 0
        assert await store.check() == []


@pytest.mark.requirement("attachments:download:slow")
async def test_a_reader_that_stalls_is_cut_and_harms_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    http = HttpSettings(attachment_idle_s=0.3)
    large = bytes(20_000_000)
    cut = anyio.Event()
    async with serving(http=http) as live, httpx.AsyncClient(base_url=live.url) as client:
        read = live.world.service.read_attachment

        async def watched(*arguments: Any) -> AsyncGenerator[bytes, None]:
            async with aclosing(read(*arguments)) as pieces:
                try:
                    async for piece in pieces:
                        yield piece
                except GeneratorExit:
                    # Nobody wants the rest.
                    cut.set()
                    raise

        monkeypatch.setattr(live.world.service, "read_attachment", watched)
        conversation_id = await live.world.conversation()
        row = (
            await client.post(f"/v1/conversations/{conversation_id}/attachments", content=large)
        ).json()
        async with Socket(live) as stalled:
            await stalled.head("GET", f"/v1/attachments/{row['id']}")
            assert b" 200 " in await stalled.status()

            # It takes no more for longer than that; others get all of it meanwhile.
            assert (await client.get(f"/v1/attachments/{row['id']}")).content == large
            with anyio.fail_after(15):
                await cut.wait()
                received = len(await stalled.reader.read(-1))

        assert received < len(large)


@pytest.mark.requirement("attachments:upload:turns", "attachments:download:memory")
async def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    peaks: list[int] = []
    store = SqliteStore(tmp_path / "store.sqlite3", synchronous="NORMAL")
    async with gateway(store=store) as world:
        conversation_id = await world.conversation()

        async def pieces(count: int) -> AsyncGenerator[bytes, None]:
            for index in range(count):
                yield index.to_bytes(8, "big") * 8192

        for count in (40, 640):
            tracemalloc.start()
            row = await world.service.write_attachment(
                conversation_id, pieces(count), name="a", claimed_type=None, tenant=None
            )
            size_bytes = 0
            async for data in world.service.read_attachment(str(row["id"]), 0, count * 65_536):
                size_bytes += len(data)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
            assert size_bytes == count * 65_536

    # The second file is sixteen times as large.
    assert peaks[1] < 2 * peaks[0]
    assert peaks[1] < 6_000_000
