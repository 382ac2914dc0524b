"""The load: many readers and producers on raw sockets, in one process with one epoll loop.

``python -m bench.load``: a :class:`Plan` as one line of JSON on stdin; the answer is ``ready`` once
every connection stands, and after a line ``go`` a :class:`Report` as one line of JSON.

It is to cost little beside what it measures: events are counted by a byte that each text holds
once (so that no cut matters), and only some readers look at the time that stands behind it.
"""

from __future__ import annotations

import select
import socket
import sys
import time
from typing import Final, Literal

import msgspec
from msgspec import Struct

__all__ = ["MARK", "Plan", "Producer", "Report", "Source"]

MARK: Final = "~"
"""Stands once in the text of every event; behind it the nanosecond of writing, then a blank."""

READ_BYTES: Final = 262_144
SAMPLES_MAX: Final = 400_000
READY_S_MAX: Final = 60.0
DRAIN_S_MAX: Final = 15.0
_MARK: Final = MARK.encode()
_ACKNOWLEDGED: Final = b'"producer_seq"'

Source = Literal["ndjson", "post"]


class Producer(Struct, frozen=True):
    """One who writes.

    Attributes:
        head: What opens the upload, or stands before each body with ``%d`` for its length.
        line: One event, with ``%s`` for mark and time, and ``%d`` for its number (``ndjson``).
        source: ``ndjson``: one chunked upload with acknowledgements; ``post``: a request an event.
    """

    head: str
    line: str
    source: Source = "ndjson"


class Plan(Struct, frozen=True):
    """What to do.

    Attributes:
        port: Of the server on the loopback.
        heads: One request a reader.
        ready: What a reader has to have read before it counts as connected.
        sample_every: Each so many-th reader looks at the times.
        producers: Those who write; none if the server makes the events itself.
        batch: Events of one write.
        rate_per_s: Events a second of all producers together; 0 writes when the last write was
            acknowledged.
        duration_s: How long to write.
        expected_per_event: Readers that get each event.
        expected: Events to wait for in all, where the server makes them.
        trigger: Path to GET as a signal to the server that it may begin.
    """

    port: int
    heads: list[str]
    ready: str
    sample_every: int
    producers: list[Producer] = []
    batch: int = 1
    rate_per_s: float = 0
    duration_s: float = 5.0
    expected_per_event: int = 1
    expected: int = 0
    trigger: str = ""


class Report(Struct, frozen=True):
    """What happened; times in milliseconds and seconds."""

    sent: int
    delivered: int
    expected: int
    acknowledged: int
    duration_s: float
    p50_ms: float
    p99_ms: float
    samples: int
    load_cpu_s: float


class _Reader:
    __slots__ = ("is_sampled", "sock", "tail")

    def __init__(self, sock: socket.socket, *, is_sampled: bool) -> None:
        self.sock = sock
        self.is_sampled = is_sampled
        self.tail = b""


class _Writer:
    __slots__ = ("acknowledged", "is_open", "number", "producer", "sock", "waiting_for")

    def __init__(self, sock: socket.socket, producer: Producer) -> None:
        self.sock = sock
        self.producer = producer
        self.number = 0
        self.acknowledged = 0
        self.waiting_for = 0
        self.is_open = True

    def compose(self, count: int, now_ns: int) -> bytes:
        """Return the bytes of ``count`` events that are written now."""
        mark = f"{MARK}{now_ns} "
        line = self.producer.line
        if self.producer.source == "post":
            body = line % mark
            return (self.producer.head % len(body) + body).encode() * count
        first = self.number + 1
        self.number += count
        body = "".join([line % (mark, number) for number in range(first, first + count)])
        return f"{len(body):x}\r\n{body}\r\n".encode()


class _Load:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.epoll = select.epoll()
        self.readers: dict[int, _Reader] = {}
        self.writers: dict[int, _Writer] = {}
        self.sent = 0
        self.delivered = 0
        self.expected = plan.expected
        self.samples: list[int] = []
        self.buffer = bytearray(READ_BYTES)
        self.window = memoryview(self.buffer)
        self.last_ns = 0
        self.started_cpu_s = 0.0
        self.warm_up_count = 0

    def connect(self) -> None:
        """Open every connection and wait for the answers."""
        for index, head in enumerate(self.plan.heads):
            sock = self._open(head)
            is_sampled = index % self.plan.sample_every == 0
            self.readers[sock.fileno()] = _Reader(sock, is_sampled=is_sampled)
        self._wait_ready()
        for producer in self.plan.producers:
            sock = self._open(producer.head if producer.source == "ndjson" else "")
            self.writers[sock.fileno()] = _Writer(sock, producer)
        self._warm_up()

    def _warm_up(self) -> None:
        """Let every producer write once and every event arrive; none of it counts."""
        for writer in self.writers.values():
            self._write(writer)
        ends_at_s = time.monotonic() + READY_S_MAX
        while self.delivered < self.expected - self.plan.expected or any(
            writer.producer.source == "ndjson" and writer.acknowledged < writer.number
            for writer in self.writers.values()
        ):
            self._read(0.05)
            if time.monotonic() > ends_at_s:
                raise TimeoutError("the first events did not arrive")
        self.warm_up_count = self.sent
        self.sent = self.delivered = 0
        self.expected = self.plan.expected
        self.samples.clear()

    def _open(self, head: str) -> socket.socket:
        sock = socket.create_connection(("127.0.0.1", self.plan.port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.sendall(head.encode())
        sock.settimeout(0)
        self.epoll.register(sock.fileno(), select.EPOLLIN)
        return sock

    def _wait_ready(self) -> None:
        ready = self.plan.ready.encode()
        missing = set(self.readers)
        ends_at_s = time.monotonic() + READY_S_MAX
        while missing:
            for number, _events in self.epoll.poll(1.0):
                reader = self.readers[number]
                data = reader.sock.recv(READ_BYTES)
                reader.tail += data
                if not data:
                    raise ConnectionError(f"refused: {reader.tail[:300]!r}")
                if ready in reader.tail:
                    missing.discard(number)
                    reader.tail = b""
            if time.monotonic() > ends_at_s:
                raise TimeoutError(f"{len(missing)} of {len(self.readers)} readers got no answer")

    def run(self) -> Report:
        """Write and read until everything has arrived."""
        started_ns = time.monotonic_ns()
        self.started_cpu_s = time.process_time()
        if self.plan.trigger:
            self._pull_trigger()
        elif self.plan.rate_per_s:
            self._write_paced()
        else:
            self._write_closed()
        ends_at_ns = time.monotonic_ns() + int(DRAIN_S_MAX * 1e9)
        while self.delivered < self.expected and time.monotonic_ns() < ends_at_ns:
            self._read(0.05)
        samples = sorted(self.samples) or [0]
        return Report(
            sent=self.sent,
            delivered=self.delivered,
            expected=self.expected,
            acknowledged=sum(writer.acknowledged for writer in self.writers.values())
            - self.warm_up_count,
            duration_s=(self.last_ns - started_ns) / 1e9,
            p50_ms=samples[len(samples) // 2] / 1e6,
            p99_ms=samples[min(int(len(samples) * 0.99), len(samples) - 1)] / 1e6,
            samples=len(samples),
            load_cpu_s=time.process_time() - self.started_cpu_s,
        )

    def _pull_trigger(self) -> None:
        with socket.create_connection(("127.0.0.1", self.plan.port)) as sock:
            head = f"GET {self.plan.trigger} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            sock.sendall(head.encode())
            sock.recv(READ_BYTES)

    def _write_paced(self) -> None:
        """Spread the writes evenly over the time, whatever the server does."""
        writers = list(self.writers.values())
        plan = self.plan
        period_ns = plan.batch / plan.rate_per_s * 1e9
        started_ns = time.monotonic_ns()
        count = int(plan.duration_s * 1e9 / period_ns)
        done = 0
        while done < count:
            due = min(int((time.monotonic_ns() - started_ns) / period_ns) + 1, count)
            # A read between every few writes, so that neither side waits long for the other.
            for index in range(done, min(due, done + 32)):
                self._write(writers[index % len(writers)])
            done = max(done, min(due, done + 32))
            next_ns = started_ns + done * period_ns
            self._read(max((next_ns - time.monotonic_ns()) / 1e9, 0.0) if done >= due else 0.0)

    def _write_closed(self) -> None:
        """Let every producer write again as soon as its last write is acknowledged."""
        ends_at_ns = time.monotonic_ns() + int(self.plan.duration_s * 1e9)
        for writer in self.writers.values():
            self._write(writer)
        while time.monotonic_ns() < ends_at_ns:
            self._read(0.05)
            for writer in self.writers.values():
                if writer.acknowledged >= writer.number:
                    self._write(writer)

    def _write(self, writer: _Writer) -> None:
        data = writer.compose(self.plan.batch, time.monotonic_ns())
        # What is written is small beside a socket's buffer; a server that does not read at all
        # is an error.
        if writer.sock.send(data) != len(data):
            raise BlockingIOError("the server does not read its producers")
        self.sent += self.plan.batch
        self.expected += self.plan.batch * self.plan.expected_per_event

    def _read(self, timeout_s: float) -> None:
        readers, buffer = self.readers, self.buffer
        ready = self.epoll.poll(timeout_s)
        for number, _events in ready:
            reader = readers.get(number)
            if reader is None:
                self._take_acknowledgements(self.writers[number])
                continue
            count = reader.sock.recv_into(buffer)
            if not count:
                self.epoll.unregister(number)
                continue
            self.delivered += buffer.count(_MARK, 0, count)
            if reader.is_sampled:
                self._sample(reader, self.window[:count].tobytes())
        if ready:
            self.last_ns = time.monotonic_ns()

    def _sample(self, reader: _Reader, data: bytes) -> None:
        now_ns = time.monotonic_ns()
        parts = (reader.tail + data).split(_MARK)[1:]
        reader.tail = b""
        if parts and b" " not in parts[-1]:
            # Cut inside the time.
            reader.tail = _MARK + parts.pop()
        stamps = [part.partition(b" ")[0] for part in parts]
        if len(self.samples) < SAMPLES_MAX:
            self.samples += [now_ns - int(stamp) for stamp in stamps]

    def _take_acknowledgements(self, writer: _Writer) -> None:
        data = writer.sock.recv(READ_BYTES)
        if not data:
            raise ConnectionError("the server ended an upload")
        if writer.producer.source == "post":
            return
        position = data.rfind(_ACKNOWLEDGED)
        if position >= 0:
            number = data[position + len(_ACKNOWLEDGED) + 1 :].partition(b",")[0]
            if number.isdigit():
                writer.acknowledged = int(number)
        if b'"error"' in data:
            raise ConnectionError(f"refused: {data[:300]!r}")

    def close(self) -> None:
        """Close every connection."""
        for reader in self.readers.values():
            reader.sock.close()
        for writer in self.writers.values():
            writer.sock.close()
        self.epoll.close()


def main() -> None:
    """Serve one plan."""
    plan = msgspec.json.decode(sys.stdin.readline(), type=Plan)
    load = _Load(plan)
    try:
        load.connect()
        print("ready", flush=True)
        assert sys.stdin.readline().strip() == "go"
        report = load.run()
        print(msgspec.json.encode(report).decode(), flush=True)
        # Whoever measures memory does it while the readers are there.
        sys.stdin.readline()
    finally:
        load.close()


if __name__ == "__main__":
    main()
