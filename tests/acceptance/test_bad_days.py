"""Bad days of a store, through a whole gateway: full, locked, damaged, read-only (case P08).

What must hold on each: a clear error, no crash, reading goes on where it can, nothing that was
acknowledged is lost, and when the trouble is over the same process works again.
"""

from __future__ import annotations

import resource
import shutil
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from blockwire.stores import check_store
from tests.support.programs import Gateway, call, command, decoded, environment

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(sys.platform != "linux", reason="limits of another process"),
]

# Says as much as the question's first word says, in bytes.
AGENT = """
import json, sys
question = json.load(sys.stdin)["messages"][-1]["content"][0]["markdown"]
size = int(question.split()[0])
for start in range(0, size, 1000):
    sys.stdout.write("x" * min(1000, size - start))
    sys.stdout.flush()
"""
UNLIMITED = resource.RLIM_INFINITY


class World:
    """A gateway on a store of its own, and a client without patience."""

    def __init__(self, folder: Path) -> None:
        (folder / "agent.py").write_text(AGENT, encoding="utf-8")
        self.path = folder / "store.db"
        self.gateway = Gateway(
            environment(folder),
            "--store", f"sqlite:///{self.path}",
            "--program", f"{sys.executable} agent.py",
            cwd=folder,
        )  # fmt: skip

    @property
    def url(self) -> str:
        return self.gateway.url

    def limit_files(self, size_bytes: int) -> None:
        """Let the files of the gateway grow to ``size_bytes`` and no further, as a full disk does."""
        _, hard = resource.prlimit(self.gateway.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self.gateway.process.pid, resource.RLIMIT_FSIZE, (size_bytes, hard))

    def conversation(self) -> str:
        return str(call(self.url, "/v1/conversations", method="POST", body={})["id"])

    def ask(self, conversation_id: str, question: str) -> Any:
        """Return the turn once it is over."""
        turns = f"/v1/conversations/{conversation_id}/turns"
        turn = call(self.url, turns, method="POST", body={"content": question})
        return call(self.url, f"{turns}/{turn['id']}?wait=30")

    def refused(self, path: str, **more: Any) -> tuple[int, str, str | None]:
        """Return status, code and ``Retry-After``."""
        with pytest.raises(urllib.error.HTTPError) as caught:
            call(self.url, path, **more)
        with caught.value as answer:
            text = answer.read().decode()
            assert str(self.path) not in text, "no path of the server leaves it"
            return answer.code, decoded(text)["error"]["code"], answer.headers["retry-after"]

    def metric(self, line: str) -> bool:
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=30) as answer:
            return line.encode() in answer.read()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    with made.gateway:
        yield made


def text_of(turn: Any) -> str:
    return "".join(block.get("markdown", "") for block in turn["message"]["content"])


@pytest.mark.case("P08")
@pytest.mark.requirement("gateway:operations:store-full", "gateway:operations:store-recovers")
def test_a_full_disk_fails_the_turn_for_its_reader_and_leaves_everything_else(
    world: World,
) -> None:
    conversation_id, other = world.conversation(), world.conversation()
    path = f"/v1/conversations/{conversation_id}"
    kept = world.ask(conversation_id, "10 before")

    # In the middle of an answer of three megabytes.
    world.limit_files(max(p.stat().st_size for p in world.path.parent.glob("store.db*")) + 300_000)
    failing = call(world.url, f"{path}/turns", method="POST", body={"content": "3000000 too much"})
    deadline_s = time.monotonic() + 30
    while not world.metric('blockwire_store_errors_total{code="store_full"}'):
        assert time.monotonic() < deadline_s, "the disk did not fill"
    # No room for anything at all.
    world.limit_files(1_000)
    refused = world.refused(
        f"/v1/conversations/{other}/turns", method="POST", body={"content": "10 full"}
    )
    ready = world.refused("/readyz")
    alive = call(world.url, "/healthz")
    running = call(world.url, f"{path}/turns/{failing['id']}")
    messages = call(world.url, f"{path}/messages")["items"]
    # Room again.
    world.limit_files(UNLIMITED)
    failed = call(world.url, f"{path}/turns/{failing['id']}?wait=30")
    again = world.ask(conversation_id, "10 after")
    assert call(world.url, "/readyz")["status"] == "ready"
    status = world.gateway.stop()

    assert (kept["status"], again["status"]) == ("completed", "completed")
    assert running["status"] == "running", "what could not be stored is told to nobody"
    assert failed["status"] == "failed"
    error = failed["message"]["content"][-1]
    assert (error["type"], error["code"], error["retryable"]) == ("error", "store_full", True)
    assert "stored" in error["message"]
    assert text_of(failed) == text_of(running) == "x" * len(text_of(running)), "and no hole in it"
    assert refused == (503, "store_full", "5")
    assert ready == (503, "store_full", "5")
    assert alive == {"status": "ok"}
    assert status == 0
    assert check_store(world.path) == []
    world.gateway.restart()
    stored = call(world.url, f"{path}/messages?limit=200")["items"]
    assert stored[:3] == messages[:3], "what was acknowledged is there after a restart"
    assert call(world.url, f"{path}/turns/{kept['id']}")["message"] == kept["message"]
    assert world.gateway.stop() == 0


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the store as a program of somebody else would."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


@pytest.mark.requirement("gateway:operations:store-recovers")
def test_a_store_that_somebody_locks_answers_readers_and_takes_writes_later(world: World) -> None:
    conversation_id = world.conversation()
    world.ask(conversation_id, "10 before")
    turns = f"/v1/conversations/{conversation_id}/turns"

    with locked(world.path):
        listed = call(world.url, turns)["items"]
        refused = world.refused(turns, method="POST", body={"content": "10 locked"})
    again = world.ask(conversation_id, "10 after")

    assert len(listed) == 1
    assert refused == (503, "store_busy", "5")
    assert again["status"] == "completed"
    assert world.gateway.stop() == 0
    assert check_store(world.path) == []


@pytest.mark.requirement("gateway:operations:store-damaged")
def test_damage_in_one_conversation_is_told_and_leaves_the_others(world: World) -> None:
    sound, damaged = world.conversation(), world.conversation()
    world.ask(sound, "10 sound")
    world.ask(damaged, "10 needle-7c1d")
    assert world.gateway.stop() == 0
    data = world.path.read_bytes()
    needle = b'"markdown":"10 needle-7c1d"'
    assert needle in data
    world.path.write_bytes(data.replace(needle, b"\xff" * len(needle)))
    world.gateway.restart()

    refused = world.refused(f"/v1/conversations/{damaged}/messages")
    messages = call(world.url, f"/v1/conversations/{sound}/messages")["items"]
    listed = call(world.url, "/v1/conversations")["items"]
    answered = world.ask(sound, "10 still")

    assert refused == (503, "store_corrupt", "5")
    assert len(messages) == 2
    assert {item["id"] for item in listed} == {sound, damaged}
    assert answered["status"] == "completed"
    assert world.gateway.stop() == 0


NO_STORES = [
    # content, code, what to do
    (
        b"this is no database at all, but long enough to be taken for one" * 99,
        "store_corrupt",
        "backup",
    ),
    (b"SQLite format 3\x00" + b"\x00" * 4080, "store_corrupt", "backup"),
]


@pytest.mark.parametrize(("content", "code", "advice"), NO_STORES)
def test_a_file_that_is_no_store_ends_the_start_with_advice(
    tmp_path: Path, content: bytes, code: str, advice: str
) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(content)

    ended = subprocess.run(
        command("serve", "--port", "0", "--store", f"sqlite:///{path}"),
        env=environment(tmp_path),
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 1
    assert f"[{code}]" in ended.stderr.decode()
    assert str(path) in ended.stderr.decode()
    assert advice in ended.stderr.decode()
    assert b"Traceback" not in ended.stderr
    assert path.read_bytes() == content


def can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    tried = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"],
        capture_output=True,
        check=False,
    )
    return tried.returncode == 0


@pytest.mark.requirement("gateway:operations:store-readonly")
def test_a_read_only_disk_ends_the_start_with_advice(tmp_path: Path) -> None:
    if not can_mount():
        pytest.skip("this machine lets nobody mount a file system of their own (unshare --mount)")
    place = tmp_path / "place"
    place.mkdir()
    script = (
        f"mount -t tmpfs tmpfs {place} && cd {place} && "
        f"{sys.executable} -c 'import asyncio; from blockwire.stores import SqliteStore; "
        f's = SqliteStore("s.db"); asyncio.run(s.open())\' && '
        f"mount -o remount,ro {place} && "
        f"exec {sys.executable} -m blockwire serve --port 0 --store sqlite:///{place}/s.db"
    )
    ended = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", script],
        env=environment(tmp_path),
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 1
    assert "[store_readonly]" in ended.stderr.decode()
    assert b"Traceback" not in ended.stderr
    assert list(place.iterdir()) == [], "it was a mount of its own"
