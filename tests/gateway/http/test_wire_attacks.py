"""A real server under attack at its socket: it lives, answers others, and keeps nothing."""

from __future__ import annotations

import asyncio
import gc
import logging
import random
import re
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import anyio
import pytest

from blockwire.gateway.http.protocol import BoundedProtocol
from tests.gateway.http.surface import Surface
from tests.gateway.http.test_server import served
from tests.gateway.http.wire_attacks import ATTACKS, GET, POST, random_attack

pytestmark = pytest.mark.anyio

FUZZED: Final = 300
ROUNDS: Final = 2
GROWN_BYTES_MAX: Final = 256 * 1024


async def attack(port: int, pieces: Sequence[bytes], patience_s: float = 0.05) -> bytes:
    """Send pieces, read what comes for a moment, and vanish."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answer = b""
    try:
        for piece in pieces:
            writer.write(piece)
            with anyio.move_on_after(0.5):
                await writer.drain()
        with anyio.move_on_after(patience_s):
            while piece := await reader.read(65_536):
                answer += piece
    except ConnectionError:
        pass
    finally:
        writer.transport.abort()
    return answer


async def assert_alive(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    with anyio.fail_after(10):
        answer = await reader.read()
    writer.transport.abort()
    assert answer.startswith(b"HTTP/1.1 200 "), answer


def open_connections(port: int) -> int:
    """Return how many connections the system still holds for the server at ``port``."""
    rows = [row.split() for row in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]]
    kept = {"01", "08"}  # established; closed by the peer, and not by us
    return sum(row[1].endswith(f":{port:04X}") and row[3] in kept for row in rows)


async def until_quiet(s: Surface, port: int, task_count: int) -> None:
    """Return when nobody is served any more."""
    for _ in range(1_000):
        is_served = len(asyncio.all_tasks()) > task_count or s.app.surface.bodies
        if not is_served and not open_connections(port):
            break
        # The system tells nobody when it is done with a connection.
        await anyio.sleep(0.01)
    else:
        raise AssertionError("somebody is still served")
    assert s.app.surface.hub.stream_count == 0
    assert len(s.app.surface.guests) == 0


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.requirement("gateway:limits:wire")
async def test_an_attack_at_the_socket_hurts_nobody_else(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with served() as (s, port):
        await assert_alive(port)
        task_count = len(asyncio.all_tasks())

        answer = await attack(port, ATTACKS[name])

        await assert_alive(port)
        await until_quiet(s, port, task_count)
        # Whatever it was, it is an answer of HTTP, and no failure of ours.
        assert not answer or answer.startswith(b"HTTP/1.1 ")
        assert b"HTTP/1.1 500" not in answer
        assert "a route failed" not in caplog.text
        assert "Traceback" not in caplog.text


@pytest.mark.requirement("gateway:limits:wire")
async def test_no_two_parsers_disagree_about_where_a_request_ends() -> None:
    async with served() as (_, port):
        for name in ("length and chunks", "smuggled request", "two lengths", "chunked twice"):
            answer = await attack(port, ATTACKS[name])

            assert len(re.findall(rb"HTTP/1.1 [0-9]", answer)) == 1, name
            assert answer.startswith(b"HTTP/1.1 400 "), name


@pytest.mark.requirement("gateway:limits:wire")
@pytest.mark.timeout(120)
async def test_damaged_requests_never_end_the_process(caplog: pytest.LogCaptureFixture) -> None:
    chance = random.Random(20_260_101)
    async with served() as (s, port):
        task_count = len(asyncio.all_tasks())
        for _ in range(FUZZED // 20):
            attacks = [random_attack(chance) for _ in range(20)]
            await asyncio.wait([asyncio.ensure_future(attack(port, pieces)) for pieces in attacks])
            await assert_alive(port)
        await until_quiet(s, port, task_count)
    assert "a route failed" not in caplog.text


@pytest.mark.requirement("gateway:limits:wire")
@pytest.mark.timeout(120)
async def test_attacks_leave_nothing_in_memory() -> None:
    sizes = {name: sum(map(len, pieces)) for name, pieces in ATTACKS.items()}
    names = [*[name for name, size in sizes.items() if size < 5_000][::4], "a huge header"]
    async with served() as (s, port):

        async def attack_all() -> None:
            for name in names:
                await attack(port, ATTACKS[name][:3], patience_s=0.005)
            await until_quiet(s, port, task_count)

        task_count = len(asyncio.all_tasks())
        await attack_all()
        # What a test logs is kept until it ends, for the report.
        logging.disable(logging.CRITICAL)
        tracemalloc.start()
        try:
            await attack_all()
            # A refused peer is listened to for a moment; then nothing may be left of it.
            await until_memory(0, 4 * GROWN_BYTES_MAX)
            before, _ = tracemalloc.get_traced_memory()
            for _ in range(ROUNDS):
                await attack_all()
            await until_memory(before, GROWN_BYTES_MAX)
        finally:
            tracemalloc.stop()
            logging.disable(logging.NOTSET)


async def until_memory(before: int, grown_max: int) -> None:
    """Return when no more than that is held beyond what was held before."""
    with anyio.fail_after(10):
        while True:
            now, _ = tracemalloc.get_traced_memory()
            if now - before < grown_max:
                return
            gc.collect()
            await anyio.sleep(0.1)


@pytest.mark.requirement("gateway:limits:wire")
async def test_a_thousand_connections_that_drip_are_given_up_and_hold_up_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(BoundedProtocol, "head_s_max", 0.5)
    async with served() as (s, port):
        task_count = len(asyncio.all_tasks())
        dripping = [await asyncio.open_connection("127.0.0.1", port) for _ in range(400)]
        for index, (_reader, writer) in enumerate(dripping):
            writer.write((GET if index % 2 else POST)[: 5 + index % 30])

        await assert_alive(port)
        for reader, writer in dripping:
            with anyio.fail_after(10):
                # Closed without a word: what is no request gets no answer.
                assert await reader.read() == b""
            writer.transport.abort()
        await until_quiet(s, port, task_count)
