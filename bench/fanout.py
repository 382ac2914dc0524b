"""Fan-out: one conversation to many readers, many conversations to one each, and idle readers."""

from __future__ import annotations

import time
from typing import Final

import msgspec

from bench.figures import Figure
from bench.gateway import Gateway, Measured, measure, reader_heads, serving
from bench.load import Plan, Producer
from bench.nchan import Nchan, install_nchan, serving_nchan
from bench.peer import running_peer
from bench.processes import rss_bytes, running

__all__ = ["measure_batches", "measure_fanout", "measure_idle"]

READERS: Final = 1_000
RATE_PER_S: Final = 200
CALM_PER_S: Final = 50
TICK_MS: Final = 20
TEXT: Final = "twenty characters or so"
SAMPLE_EVERY: Final = 20

CONVERSATIONS: Final = 1_000
BATCH: Final = 100

IDLE_READERS: Final = 2_000
SETTLE_S: Final = 1.0


def fan_plan(duration_s: float, rate_per_s: float, **changes: object) -> Plan:
    """Return the plan of one producer and all readers."""
    plan = Plan(
        port=0, heads=[], ready="", sample_every=SAMPLE_EVERY, rate_per_s=rate_per_s,
        duration_s=duration_s, expected_per_event=READERS,
    )  # fmt: skip
    return msgspec.structs.replace(plan, **changes)


def fan_ours(duration_s: float, *, tick_ms: int = 0, rate_per_s: float = RATE_PER_S) -> Measured:
    """Measure ``blockwire serve``, every event stored durably before it is seen."""
    with serving(tick_ms=tick_ms) as gateway:
        (target,) = gateway.targets(1)
        heads = reader_heads([f"{target.events_path}?after=now"] * READERS)
        plan = fan_plan(
            duration_s, rate_per_s, port=gateway.port, heads=heads, ready="subscription.ready",
            producers=[target.producer(TEXT)],
        )  # fmt: skip
        return measure(plan, gateway.pid)


def nchan_producer() -> Producer:
    """Return who publishes the same JSON to nchan, a request an event, without waiting."""
    head = "POST /pub?id=a HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n"
    body = (
        '{"type":"content.block.delta","turn_id":"turn_01JGAAAAAAAAAAAAAAAAAAAAAA",'
        f'"block_id":"block_1","field":"markdown","text":"%s{TEXT}",'
        '"conversation_id":"conv_01JGAAAAAAAAAAAAAAAAAAAAAA","seq":1000,"prev_seq":999,'
        '"ts":1740000000000}'
    )
    return Producer(head=head, line=body, source="post")


def fan_nchan(duration_s: float, nchan: Nchan, rate_per_s: float = RATE_PER_S) -> Measured:
    """Measure nchan with the same readers and bytes of about the same length."""
    plan = fan_plan(
        duration_s, rate_per_s, port=nchan.port, heads=reader_heads(["/sub?id=a"] * READERS),
        ready="\r\n\r\n", producers=[nchan_producer()],
    )  # fmt: skip
    return measure(plan, *nchan.pids)


def fan_starlette(duration_s: float) -> Measured:
    """Measure a queue and a ``StreamingResponse`` for each reader; the server makes the events."""
    events = int(duration_s * RATE_PER_S)
    with running_peer("starlette") as peer:
        plan = fan_plan(
            duration_s, RATE_PER_S, port=peer.port, heads=reader_heads(["/sub?id=a"] * READERS),
            ready=": ready", expected=events * READERS,
            trigger=f"/go?events={events}&batch=1&rate={RATE_PER_S}",
        )  # fmt: skip
        return measure(plan, peer.pid, is_whole=False)


def measure_fanout(*, quick: bool) -> list[Figure]:
    """Measure one conversation with 1,000 readers, 200 events a second."""
    duration_s = 2.0 if quick else 6.0
    ours = fan_ours(duration_s)
    calm = fan_ours(duration_s, rate_per_s=CALM_PER_S)
    nchan = calm_nchan = None
    if install_nchan():
        with serving_nchan() as server:
            nchan = fan_nchan(duration_s, server)
            calm_nchan = fan_nchan(duration_s, server, CALM_PER_S)
    ticked = fan_ours(duration_s, tick_ms=TICK_MS)
    plain = fan_starlette(duration_s)
    what = f"{READERS:,} readers, {RATE_PER_S} events/s"
    cpu_peer = None if nchan is None else nchan.cpu_us_per_event
    p99_peer = None if nchan is None else nchan.report.p99_ms
    return [
        Figure(
            what=f"{what}: CPU per delivered event", ours=ours.cpu_us_per_event, unit="us",
            peer=cpu_peer, peer_name="nchan", reach=1.2,
            note=f"includes a durable commit an event; plain Starlette {plain.cpu_us_per_event:.2f} us",
        ),
        Figure(
            what=f"{what}: the same with a tick of {TICK_MS} ms", ours=ticked.cpu_us_per_event,
            unit="us", peer=cpu_peer, peer_name="nchan", reach=0.5,
        ),
        Figure(
            what=f"{READERS:,} readers, {CALM_PER_S} events/s: CPU per delivered event",
            ours=calm.cpu_us_per_event, unit="us", reach=1.2, peer_name="nchan",
            peer=None if calm_nchan is None else calm_nchan.cpu_us_per_event,
            note=(
                "nobody is behind, so each event is a write of its own; p99 "
                f"{calm.report.p99_ms:.1f} ms with a commit to disk"
                + ("" if calm_nchan is None else f", nchan {calm_nchan.report.p99_ms:.1f} ms")
            ),
        ),
        Figure(
            what=f"{what}: p99 from write to read", ours=ours.report.p99_ms, unit="ms",
            peer=p99_peer, peer_name="nchan", reach=1.0,
            note=(
                f"p50 {ours.report.p50_ms:.1f} ms, includes a commit to disk; with tick p99 "
                f"{ticked.report.p99_ms:.1f} ms; plain Starlette p99 {plain.report.p99_ms:.1f} ms"
                + ("" if nchan is None else f"; nchan p50 {nchan.report.p50_ms:.1f} ms")
            ),
        ),
        Figure(
            what=f"{what}: CPU against Starlette", ours=ours.cpu_us_per_event, unit="us",
            peer=plain.cpu_us_per_event, peer_name="StreamingResponse", reach=0.7,
        ),
    ]  # fmt: skip


def batches(kind: str, path: str, ready: str, *, rounds: int) -> Measured:
    """Measure ``rounds`` batches to each of many conversations with one reader each."""
    with running_peer(kind, conversations=CONVERSATIONS) as server:
        events = rounds * BATCH
        plan = Plan(
            port=server.port,
            heads=reader_heads([path.format(index) for index in range(CONVERSATIONS)]),
            ready=ready,
            sample_every=SAMPLE_EVERY,
            expected=events * CONVERSATIONS,
            trigger=f"/go?events={events}&batch={BATCH}&rate=0",
        )
        return measure(plan, server.pid)


def measure_batches(*, quick: bool) -> list[Figure]:
    """Measure 1,000 conversations with a reader each, 100 events at a time."""
    rounds = 2 if quick else 8
    ours = batches(
        "ours", "/v1/conversations/conv_{}/events?after=now", "subscription.ready", rounds=rounds
    )
    peer = batches("starlette", "/sub?id={}", ": ready", rounds=max(rounds // 4, 1))
    return [
        Figure(
            what=f"{CONVERSATIONS:,} conversations, a reader each, {BATCH} events at a time",
            ours=1e6 / ours.cpu_us_per_event,
            unit="events per CPU second",
            peer=1e6 / peer.cpu_us_per_event,
            peer_name="StreamingResponse",
            reach=5.0,
            more_is_better=True,
            note="fan-out alone: both servers make the events themselves",
        )
    ]


def idle_bytes(port: int, heads: list[str], ready: str, *pids: int) -> float:
    """Return the memory that one more idle reader takes, in bytes."""
    before = rss_bytes(*pids)
    plan = Plan(port=port, heads=heads, ready=ready, sample_every=IDLE_READERS)
    with running(["python", "-m", "bench.load"], speaks=True) as load:
        assert load.stdin is not None, "it was started with pipes"
        assert load.stdout is not None, "it was started with pipes"
        load.stdin.write(msgspec.json.encode(plan).decode() + "\n")
        load.stdin.flush()
        if load.stdout.readline().strip() != "ready":
            raise ConnectionError("the load could not connect")
        time.sleep(SETTLE_S)
        return (rss_bytes(*pids) - before) / len(heads)


def idle_ours(gateway: Gateway) -> float:
    """Return bytes an idle reader of ours, the process having served some before."""
    (target,) = gateway.targets(1)
    heads = reader_heads([f"{target.events_path}?after=now"] * IDLE_READERS)
    return idle_bytes(gateway.port, heads, "subscription.ready", gateway.pid)


def measure_idle(*, quick: bool) -> list[Figure]:
    """Measure what an idle reader keeps in memory."""
    del quick
    with serving() as gateway:
        ours = idle_ours(gateway)
    peer = None
    if install_nchan():
        with serving_nchan() as nchan:
            heads = reader_heads(["/sub?id=a"] * IDLE_READERS)
            peer = idle_bytes(nchan.port, heads, "\r\n\r\n", *nchan.pids) / 1024
    kib = ours / 1024
    return [
        Figure(
            what="memory of an idle reader", ours=kib, unit="KiB", peer=12.0, peer_name="limit",
            reach=1.0, note="" if peer is None else f"nchan {peer:.1f} KiB",
        )
    ]  # fmt: skip
