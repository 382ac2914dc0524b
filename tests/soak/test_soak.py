"""The soak in ten seconds: everything happens once or more, and nothing goes wrong."""

from __future__ import annotations

import sys

import pytest

from blockwire.content import BlockStarted, ConversationState, apply, make_snapshot
from blockwire.jsontext import Json, encode_json
from blockwire.sse import encode_sse
from tests.soak.fold import Fold
from tests.soak.server import Server
from tests.soak.sharing import Decoding, Feed
from tests.soak.soak import soak
from tests.soak.world import Plan, World

DURATION_S = 10.0
SEEDS = (7, 8, 9, 10)


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.skipif(sys.platform != "linux", reason="measures processes through /proc")
def test_a_gateway_under_everything_at_once_loses_and_doubles_nothing() -> None:
    for seed in SEEDS:
        plan = Plan(conversations=8, readers=30, rate_per_s=20, duration_s=DURATION_S, seed=seed)
        report = soak(plan)

        assert not report.faults, report.examples
        assert report.counts["events read"] > 1_000
        assert report.counts["spot checks"] > 10
        assert report.counts["turns"] > 10
        assert report.counts["broken uploads"] > 0
        assert report.latencies_ms
        # Where a reader begins anew is chance, and on a busy machine there are fewer chances.
        if report.counts["began inside a merged delta"] > 0:
            return
    pytest.fail("no reader ever began inside a merged delta")


def test_a_log_line_that_tells_of_trouble_is_a_complaint(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    server = Server(tmp_path_factory.mktemp("soak"))
    server.log.write_text("all well\n1 ERROR blockwire: refused\n", encoding="utf-8")

    assert server.complaints() == ["1 ERROR blockwire: refused"]


HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


def _chunk(seq: int, text: str) -> bytes:
    event: dict[str, Json] = {
        "type": "content.block.delta",
        "conversation_id": "c",
        "turn_id": "t",
        "block_id": "b",
        "field": "markdown",
        "text": text,
        "seq": seq,
        "prev_seq": seq - 1,
        "ts": 1,
    }
    frame = encode_sse(encode_json(event), event="content.block.delta", id=str(seq))
    return b"%x\r\n%b\r\n" % (len(frame), frame)


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_a_feed_gives_the_same_at_any_cut_and_whoever_asked_before(size: int) -> None:
    decoding = Decoding()
    data = HEAD + _chunk(1, "a") + _chunk(2, "b")
    whole = Feed(decoding, b"canary")
    first = [*whole.receive(HEAD), *whole.receive(_chunk(1, "a")), *whole.receive(_chunk(2, "b"))]
    cut = Feed(decoding, b"canary")
    second = [
        item for at in range(0, len(data), size) for item in cut.receive(data[at : at + size])
    ]

    assert [item.cursor for item in first] == [1, 2]
    assert second == first
    assert all(a.known.event is b.known.event for a, b in zip(first, second, strict=True))


def test_a_canary_is_seen_in_known_pieces_and_across_cuts() -> None:
    decoding, piece = Decoding(), _chunk(1, "a canary")
    for cuts in ([piece], [piece], [piece[:-18], piece[-18:]], [bytes([one]) for one in piece]):
        feed = Feed(decoding, b"canary")
        feed.receive(HEAD)
        for cut in cuts:
            feed.receive(cut)

        assert feed.saw_canary


def _started(block_id: str, seq: int) -> BlockStarted:
    block: dict[str, Json] = {"id": block_id, "type": "prose", "markdown": ""}
    return BlockStarted(turn_id="t", block=block, seq=seq, prev_seq=seq - 1, ts=1)


def test_a_shared_fold_still_tells_who_lost_and_who_doubled_an_event() -> None:
    world = World(("127.0.0.1", 1), 1)
    folds = [Fold(world, "c", "owner") for _ in range(2)]
    started = _started("b", 1)
    for fold in folds:
        assert fold.take(started, 1)
    assert folds[0].state is folds[1].state
    assert not world.report.faults

    folds[0].take(started, 1)
    assert world.report.faults["doubled"] == 1

    folds[1].take(_started("c", 9), 1)
    assert world.report.faults["broken chain"] == 1


def test_what_a_snapshot_passed_by_is_held_against_nothing() -> None:
    world = World(("127.0.0.1", 1), 1)
    fold = Fold(world, "c", "owner")
    assert fold.take(_started("a", 1), 1)
    newest = ConversationState()
    for seq, name in enumerate("abc", 1):
        newest = apply(newest, _started(name, seq))
    at_2 = {"id": "t", "role": "assistant", "content": []}
    # GET was ahead of the reader, whose next state is newer still.
    fold.expect({"id": "t", "seq": 2, "message": at_2})
    assert fold.take(make_snapshot(newest), 1)
    fold.settle()

    assert not world.report.faults
    assert world.counts["spot checks that a snapshot passed by"] == 1

    fold.expect({"id": "t", "seq": 4, "message": at_2})
    fold.settle()
    assert world.report.faults["state differs from GET"] == 1
