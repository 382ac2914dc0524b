"""A real gateway for a benchmark: ``blockwire serve`` on a store of its own."""

from __future__ import annotations

import http.client
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from bench.load import Plan, Producer, Report
from bench.processes import ROOT, cpu_s, running

__all__ = ["Gateway", "Measured", "Target", "measure", "reader_heads", "serving"]

REQUEST_S_MAX: Final = 30.0
SETUP_THREADS: Final = 16

_READER: Final = "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n"


class Target(Struct, frozen=True):
    """A turn that an outside producer writes to, its block begun."""

    conversation_id: str
    turn_id: str
    block_id: str
    epoch: str

    @property
    def events_path(self) -> str:
        """Where readers read."""
        return f"/v1/conversations/{self.conversation_id}/events"

    def producer(self, text: str) -> Producer:
        """Return who uploads deltas with ``text`` behind mark and time."""
        head = (
            f"POST /v1/conversations/{self.conversation_id}/turns/{self.turn_id}/events HTTP/1.1\r\n"
            "Host: 127.0.0.1\r\nContent-Type: application/x-ndjson\r\n"
            f"Blockwire-Epoch: {self.epoch}\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        line = (
            '{"type":"content.block.delta",'
            f'"turn_id":"{self.turn_id}","block_id":"{self.block_id}",'
            f'"field":"markdown","text":"%s{text}","producer_seq":%d}}\n'
        )
        return Producer(head=head, line=line)


class Gateway(Struct, frozen=True):
    """A gateway that listens."""

    port: int
    pid: int

    def target(self, connection: http.client.HTTPConnection) -> Target:
        """Begin a turn for an outside producer, with one open block that has no number yet."""
        conversation = self._call(connection, "/v1/conversations", {})[0]
        path = f"/v1/conversations/{conversation['id']}/turns"
        turn, headers = self._call(connection, path, {"content": "Go on.", "engine": "external"})
        target = Target(conversation["id"], turn["id"], "block_1", headers["blockwire-epoch"])
        block = {"id": target.block_id, "type": "prose", "markdown": ""}
        event = {"type": "content.block.started", "turn_id": turn["id"], "block": block}
        self._call(connection, f"{path}/{turn['id']}/events", event, "application/x-ndjson")
        return target

    def targets(self, count: int) -> list[Target]:
        """Begin ``count`` turns, each in a conversation of its own."""
        share, rest = divmod(count, SETUP_THREADS)
        shares = [share + (index < rest) for index in range(SETUP_THREADS)]
        # At the same time, so that they share commits.
        with ThreadPoolExecutor(SETUP_THREADS) as threads:
            return [target for found in threads.map(self._targets, shares) for target in found]

    def _targets(self, count: int) -> list[Target]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=REQUEST_S_MAX)
        with closing(connection):
            return [self.target(connection) for _ in range(count)]

    def _call(
        self,
        connection: http.client.HTTPConnection,
        path: str,
        body: dict[str, Any],
        media_type: str = "application/json",
    ) -> tuple[dict[str, Any], dict[str, str]]:
        headers = {"Content-Type": media_type}
        connection.request("POST", path, msgspec.json.encode(body), headers)
        answer = connection.getresponse()
        data = answer.read()
        if answer.status >= 300:
            raise ConnectionError(f"{path}: {answer.status} {data[:300]!r}")
        return msgspec.json.decode(data), {k.lower(): v for k, v in answer.getheaders()}


@contextmanager
def serving(*, tick_ms: int = 0, upkeep_s: int = 60) -> Iterator[Gateway]:
    """Run ``blockwire serve`` on a new SQLite store (FULL) on the disk of the working folder."""
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="bench-") as folder:
        store = f"sqlite:///{Path(folder) / 'bench.sqlite3'}"
        command = ["python", "-m", "blockwire", "serve", "--port", "0", "--store", store]
        command += ["--engine", "external", "--log-level", "error"]
        environment = {
            "BLOCKWIRE_TICK_MS": str(tick_ms),
            "BLOCKWIRE_UPKEEP_S": str(upkeep_s),
            "XDG_DATA_HOME": folder,
            "XDG_CONFIG_HOME": folder,
        }
        errors = Path(folder) / "stderr"
        with running(command, speaks=True, environment=environment, errors=errors) as process:
            yield Gateway(_port_of(process), process.pid)


def _port_of(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None, "it was started with pipes"
    line = process.stdout.readline()
    if not line.startswith("listening on "):
        raise ConnectionError(f"the gateway said {line!r}")
    return int(line.rpartition(":")[2])


def reader_heads(paths: Sequence[str]) -> list[str]:
    """Return a request for an event stream at each path."""
    return [_READER.format(path=path) for path in paths]


class Measured(Struct, frozen=True):
    """What the load saw, and what the server used meanwhile."""

    report: Report
    cpu_s: float

    @property
    def cpu_us_per_event(self) -> float:
        """Server CPU by delivered event, in microseconds."""
        return self.cpu_s * 1e6 / max(self.report.delivered, 1)


def measure(plan: Plan, *pids: int, is_whole: bool = True) -> Measured:
    """Run ``plan`` against the server whose processes are ``pids``.

    Args:
        plan: What to do.
        pids: Whose processor time counts.
        is_whole: Whether every event has to arrive; not of a peer that cannot keep up.

    Raises:
        ConnectionError: The load did not come to its end, or events did not arrive.
    """
    with running(["python", "-m", "bench.load"], speaks=True) as load:
        assert load.stdin is not None, "it was started with pipes"
        assert load.stdout is not None, "it was started with pipes"
        load.stdin.write(msgspec.json.encode(plan).decode() + "\n")
        load.stdin.flush()
        if load.stdout.readline().strip() != "ready":
            raise ConnectionError("the load could not connect")
        before = cpu_s(*pids)
        load.stdin.write("go\n")
        load.stdin.flush()
        line = load.stdout.readline()
        used = cpu_s(*pids) - before
        if not line:
            raise ConnectionError("the load broke off")
        report = msgspec.json.decode(line, type=Report)
    if is_whole and report.delivered < report.expected:
        raise ConnectionError(f"{report.delivered} of {report.expected} events arrived")
    return Measured(report, used)
