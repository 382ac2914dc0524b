"""The stream reader without a network: what each situation asks of its driver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blockwire.client import (
    ClientError,
    ClientSettings,
    Effect,
    Failed,
    Finished,
    Received,
    Reconnect,
    Reported,
    Subscription,
)
from blockwire.content import ConversationSnapshot, ConversationState
from blockwire.sse import encode_sse
from tests.client.events import (
    CONVERSATION,
    TURN,
    answer,
    block,
    completed,
    delta,
    ended,
    folded,
    frame,
    frames,
    heartbeat,
    numbered,
    ready,
    snapshot,
    started,
    text_of,
)

URL: Final = "http://127.0.0.1:7890"
SSE: Final = {"content-type": "text/event-stream", "blockwire-protocol": "1"}
LOST: Final = ClientError("connection_lost", "cut", retryable=True)


def subscription(**options: Any) -> Subscription:
    options.setdefault("settings", ClientSettings())
    return Subscription(CONVERSATION, base_url=URL, random=lambda: 0.5, **options)


def opened(sub: Subscription) -> Subscription:
    """Let the next connection be answered with a stream."""
    assert sub.receive_response(200, SSE, b"", now_s=0, now_ms=0) == []
    return sub


def respond(
    sub: Subscription, status: int, body: bytes = b"", *, now_s: float = 0, **headers: str
) -> Effect:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    (effect,) = sub.receive_response(status, named, body, now_s=now_s, now_ms=0)
    return effect


def only(effects: Sequence[Effect]) -> Effect:
    (effect,) = effects
    return effect


def seqs(effects: Sequence[Effect]) -> list[int]:
    return [effect.event.seq for effect in effects if isinstance(effect, Received)]


def failure(effect: Effect) -> ClientError:
    assert isinstance(effect, Failed), effect
    return effect.error


def reconnect(effect: Effect) -> Reconnect:
    assert isinstance(effect, Reconnect), effect
    return effect


# what is asked for --------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "query", "cursor"),
    [
        ({}, {}, None),
        ({"until_idle": True, "view": "public"}, {"until": "idle", "view": "public"}, None),
        ({"with_snapshot": True}, {"snapshot": "1"}, None),
        ({"state": ConversationState(CONVERSATION, 7)}, {}, "7"),
    ],
)
def test_a_connection_asks_for_what_comes_after_the_cursor(
    options: dict[str, Any], query: dict[str, str], cursor: str | None
) -> None:
    request = subscription(**options).connect()

    assert request.query == query
    assert request.headers.get("last-event-id") == cursor
    assert request.headers["accept"] == "text/event-stream"


def test_the_cursor_outlives_the_connection_and_what_was_seen_is_dropped() -> None:
    events = answer("Hel", "lo", "!")
    sub = opened(subscription())

    first = sub.receive_data(ready() + frames(events[:4]))
    cut = reconnect(only(sub.receive_failure(LOST, now_s=1)))
    request = sub.connect()
    second = opened(sub).receive_data(ready(0) + frames(events))

    assert seqs(first) == [1, 2, 3, 4]
    assert (cut.delay_s, cut.error) == (0.5, LOST)
    assert request.headers["last-event-id"] == "4"
    assert seqs(second) == [5, 6, 7]
    assert text_of(sub.state) == "Hello!"
    assert sub.state.messages == folded(events).messages


def test_a_connection_that_brought_nothing_still_names_where_it_stands() -> None:
    sub = opened(subscription(until_idle=True))
    sub.receive_data(ready())

    assert reconnect(only(sub.receive_eof(now_s=0))).delay_s == 0
    assert sub.connect().headers["last-event-id"] == "0"
    assert isinstance(respond(sub, 204), Finished)


def test_repeats_are_told_by_number_and_not_by_text() -> None:
    events = answer("ha", "ha", "Ev", "al")
    sub = opened(subscription())

    effects = sub.receive_data(frames(events[:5]) + frames(events[3:5]) + frames(events[3:]))

    assert seqs(effects) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert text_of(sub.state) == "hahaEval"


def test_a_replay_in_one_burst_and_event_by_event_give_equal_states_at_every_number() -> None:
    events = numbered(
        started(),
        block("r1", type="reasoning", text=""),
        delta("Check", "r1", "text"),
        delta("ing", "r1", "text"),
        completed("r1"),
        block(),
        delta("Done"),
        completed(),
        ended(),
    )
    for count in range(1, len(events) + 1):
        burst, single = opened(subscription()), opened(subscription())

        burst.receive_data(frames(events[:count]))
        for event in events[:count]:
            single.receive_data(frame(event))

        assert burst.state.messages == single.state.messages
        opens = [
            [b.id for turn in s.state.turns for b in turn.open_blocks] for s in (burst, single)
        ]
        assert opens[0] == opens[1]
    seen = opened(subscription())
    seen.receive_data(frames(events[:3]))
    assert text_of(seen.state, block_id="r1") == "Check"


def test_a_number_to_begin_after_only_keeps_back_what_comes_up_to_it() -> None:
    events = answer("a", "b")
    sub = opened(subscription(after=4))

    effects = sub.receive_data(frames(events))

    assert seqs(effects) == [5, 6]
    assert sub.state.messages == folded(events).messages


def test_a_state_to_begin_with_goes_on_where_it_stands() -> None:
    events = answer("a", "b")
    sub = opened(subscription(state=folded(events[:3])))

    assert seqs(sub.receive_data(frames(events[3:]))) == [4, 5, 6]
    assert sub.state.messages == folded(events).messages


def test_an_unknown_event_moves_the_cursor_and_one_without_a_number_does_not() -> None:
    sub = opened(subscription())
    queued = {"type": "turn.queued", "turn_id": "turn_2", "position": 1}

    effects = sub.receive_data(frames([*numbered({"type": "new.thing", "x": 1}), queued]))

    assert [type(effect) for effect in effects] == [Received, Received]
    assert sub.state.seq == 1
    notice = effects[1]
    assert isinstance(notice, Received)
    assert notice.state is sub.state


def test_a_known_event_without_a_number_is_nothing() -> None:
    sub = opened(subscription())

    assert sub.receive_data(frame({**started(), "conversation_id": CONVERSATION})) == []
    assert sub.state.seq == 0


# what does not fit --------------------------------------------------------------------------
GAP: Final = frames(numbered(started(), first=2))
TRUNCATED: Final = encode_sse(b'{"type":"turn.started","turn_', event="turn.started", id="1")
BAD_FIT: Final = frames(numbered(delta("lost")))
INVALID: Final = encode_sse(b'{"type":7}', id="1")
FOREIGN: Final = frame({**numbered(started())[0], "conversation_id": "conv_b"})


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (GAP, "sequence_gap"),
        (TRUNCATED, "invalid_json"),
        (BAD_FIT, "turn_not_found"),
        (INVALID, "invalid_event"),
        (FOREIGN, "conversation_mismatch"),
    ],
)
@pytest.mark.requirement("client:stream:resync")
def test_what_does_not_fit_is_healed_by_a_snapshot(data: bytes, code: str) -> None:
    events = answer("a", "b", "c")
    sub = opened(subscription())

    effect = reconnect(only(sub.receive_data(data + frames(events))))
    request = sub.connect()
    healed = opened(sub).receive_data(ready() + frame(snapshot(events[:4])) + frames(events[2:]))

    assert effect.delay_s == 0
    assert effect.error.code == "stream_inconsistent"
    assert code in effect.error.detail
    assert request.query == {"snapshot": "1"}
    assert isinstance(healed[0], Received)
    assert isinstance(healed[0].event, ConversationSnapshot)
    assert seqs(healed) == [4, 5, 6, 7]
    assert sub.state.messages == folded(events).messages
    assert sub.connect().query == {}


@pytest.mark.requirement("client:stream:resync")
def test_what_never_fits_ends_in_an_error_and_not_in_a_loop() -> None:
    sub = opened(subscription())
    delays = []

    for _ in range(3):
        delays.append(reconnect(only(sub.receive_data(GAP))).delay_s)
        opened(sub)
    error = failure(only(sub.receive_data(GAP)))

    assert delays == [0, 0.5, 1]
    assert error.code == "stream_inconsistent"


def test_snapshots_that_each_lead_on_are_not_counted() -> None:
    sub = opened(subscription())
    events = answer(*"abcdefgh")

    for seq in range(1, 8):
        assert reconnect(only(sub.receive_data(frames(numbered(ended(), first=seq + 90)))))
        opened(sub)
        sub.receive_data(frame(snapshot(events[:seq])) + frame(events[seq]))

    assert sub.state.seq == 8


def test_a_snapshot_replaces_all_even_when_its_number_is_lower() -> None:
    events = answer("a")
    sub = opened(subscription(state=ConversationState(CONVERSATION, 900)))

    effects = sub.receive_data(frame(snapshot(events, reset=True)))

    assert seqs(effects) == [5]
    assert sub.connect().headers["last-event-id"] == "5"
    assert sub.state.messages == folded(events).messages


# connections that fail ----------------------------------------------------------------------
@pytest.mark.requirement("client:stream:backoff")
def test_pauses_double_up_to_a_bound_and_begin_anew_after_an_event() -> None:
    sub = subscription()

    delays = [reconnect(only(sub.receive_failure(LOST, now_s=0))).delay_s for _ in range(8)]
    opened(sub).receive_data(frames(answer("a")))
    after = reconnect(only(sub.receive_failure(LOST, now_s=0))).delay_s

    assert delays == [0.5, 1, 2, 4, 8, 15, 15, 15]
    assert after == 0.5


def test_a_heartbeat_begins_the_pauses_anew_and_a_frame_of_the_connection_does_not() -> None:
    sub = subscription(give_up_s=10)
    reconnect(only(sub.receive_failure(LOST, now_s=0)))
    opened(sub).receive_data(ready())
    second = reconnect(only(sub.receive_eof(now_s=9)))
    opened(sub).receive_data(heartbeat())
    third = reconnect(only(sub.receive_eof(now_s=30)))

    assert (second.delay_s, third.delay_s) == (1, 0.5)


@pytest.mark.parametrize(
    ("retry", "delay_s"), [(b"4000", 2), (b"0", 0.05), (b"99999999999", 30), (b"soon", 0.5)]
)
def test_the_stream_says_how_long_to_wait_within_reason(retry: bytes, delay_s: float) -> None:
    sub = opened(subscription())
    sub.receive_data(b"retry: " + retry + b"\n\n")

    assert reconnect(only(sub.receive_eof(now_s=0))).delay_s == delay_s


@pytest.mark.requirement("client:stream:clean-end")
def test_a_clean_end_is_not_the_end_of_an_answer() -> None:
    sub = opened(subscription())
    sub.receive_data(frames(answer("a")[:3]))

    effect = reconnect(only(sub.receive_eof(now_s=0)))

    assert effect.error.code == "connection_lost"
    assert sub.connect().headers["last-event-id"] == "3"


def test_an_event_that_was_cut_off_is_asked_for_again() -> None:
    events = answer("abc")
    sub = opened(subscription())
    sub.receive_data(frames(events[:2]) + frame(events[2])[:-1])

    reconnect(only(sub.receive_eof(now_s=0)))

    assert sub.connect().headers["last-event-id"] == "2"


def test_the_expected_end_is_confirmed_at_once_but_never_in_a_busy_loop() -> None:
    sub = opened(subscription(until_idle=True))
    sub.receive_data(frames(answer("a")))

    delays = [reconnect(only(sub.receive_eof(now_s=0))).delay_s]
    for _ in range(3):
        opened(sub)
        delays.append(reconnect(only(sub.receive_eof(now_s=0))).delay_s)

    assert delays == [0, 1, 2, 4]
    assert isinstance(respond(sub, 204), Finished)


def test_failures_become_final_when_they_last_too_long() -> None:
    sub = subscription(give_up_s=10)

    reconnect(only(sub.receive_failure(LOST, now_s=100)))
    reconnect(only(sub.receive_failure(LOST, now_s=108)))
    error = failure(only(sub.receive_failure(LOST, now_s=109)))

    assert error is LOST


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 599])
def test_what_passes_is_tried_again(status: int) -> None:
    sub = subscription()

    effect = reconnect(respond(sub, status, b"<h1>Bad gateway</h1>"))

    assert effect.error.status == status
    assert effect.error.retryable
    assert effect.delay_s == 0.5


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 406, 409, 410, 414, 451])
@pytest.mark.requirement("client:stream:refusal")
def test_any_other_refusal_is_an_error_and_never_a_loop(status: int) -> None:
    body = (
        b'{"error":{"code":"conversation_not_found","message":"no such\\u001b","retryable":false}}'
    )

    error = failure(respond(subscription(), status, body))

    assert (error.status, error.code) == (status, "conversation_not_found")
    assert error.detail == "no such\u241b"
    assert not error.retryable


def test_a_refusal_in_no_words_of_ours_is_an_error_too() -> None:
    error = failure(respond(subscription(), 403, b"<html>"))

    assert (error.status, error.code) == (403, "http_error")


@pytest.mark.parametrize(
    ("value", "delay_s"),
    [
        ("7", 7.5),
        ("0", 0.5),
        ("Thu, 01 Jan 1970 00:00:20 GMT", 20.5),
        ("Thu, 01 Jan 1970 00:00:20 -0000", 20.5),
        ("Wed, 31 Dec 1969 23:59:59 GMT", 0.5),
        ("99999999999999999999", 3600.5),
        ("later", 0.5),
        ("-3", 0.5),
    ],
)
def test_a_gateway_that_asks_to_wait_is_waited_for(value: str, delay_s: float) -> None:
    assert reconnect(respond(subscription(), 429, retry_after=value)).delay_s == delay_s


def test_a_wait_that_is_longer_than_patience_is_not_begun() -> None:
    error = failure(respond(subscription(give_up_s=10), 503, retry_after="11"))

    assert error.retry_after_s == 11


@pytest.mark.parametrize(
    ("status", "code"), [(201, "unexpected_status"), (302, "unexpected_status")]
)
def test_answers_that_a_gateway_never_gives_are_one_clear_error(status: int, code: str) -> None:
    error = failure(respond(subscription(), status, location="/login"))

    assert error.code == code
    assert f"HTTP {status}" in error.detail


@pytest.mark.parametrize(
    ("content_type", "said"),
    [
        ("text/html; charset=utf-8", "text/html; charset=utf-8"),
        ("", "no content type"),
        ("text/\x1b]0;x", "text/\u241b]0;x"),
    ],
)
def test_a_login_page_is_no_event_stream(content_type: str, said: str) -> None:
    error = failure(respond(subscription(), 200, content_type=content_type))

    assert error.code == "unexpected_content_type"
    assert said in error.detail


@pytest.mark.parametrize("content_type", ["text/event-stream", "Text/Event-Stream ; charset=utf-8"])
def test_an_event_stream_is_one_however_it_is_written(content_type: str) -> None:
    sub = subscription()

    headers = {"content-type": content_type}

    assert sub.receive_response(200, headers, b"", now_s=0, now_ms=0) == []


@pytest.mark.parametrize(
    ("version", "side"),
    [("2", "update this client"), ("0", "update the gateway"), ("\u00b2", "update the gateway")],
)
@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.requirement("client:protocol:mismatch")
def test_another_protocol_is_one_clear_error_that_says_whom_to_update(
    version: str, side: str, status: int
) -> None:
    error = failure(
        respond(
            subscription(), status, content_type="text/event-stream", blockwire_protocol=version
        )
    )

    assert error.code == "protocol_mismatch"
    assert error.detail.endswith(side)


def test_a_deleted_conversation_ends_the_stream() -> None:
    sub = opened(subscription())
    deleted = {"type": "conversation.deleted", "conversation_id": CONVERSATION}

    effects = sub.receive_data(frames(answer("a")) + frame(deleted) + frames(answer("b")))

    assert seqs(effects) == [1, 2, 3, 4, 5]
    assert failure(effects[-1]).code == "conversation_deleted"


def test_bytes_and_ends_after_the_last_word_are_of_no_interest() -> None:
    sub = opened(subscription())
    sub.receive_data(GAP)

    assert sub.receive_data(frames(answer("a"))) == []
    assert sub.receive_eof(now_s=0) == []
    assert sub.state.seq == 0


# events that are too large ------------------------------------------------------------------
SMALL: Final = msgspec.structs.replace(ClientSettings(), event_bytes_max=400)
BIG: Final = "x" * 500


def test_an_event_that_is_too_large_is_reported_once_and_reading_goes_on() -> None:
    events = numbered(
        started(),
        block("t1", type="tool", tool="run", status="running"),
        completed("t1", block={"id": "t1", "type": "tool", "tool": "run", "status": "completed",
                               "output": BIG}),
        block(),
        delta("ok"),
        completed(),
        ended(),
    )  # fmt: skip
    sub = opened(subscription(settings=SMALL))

    effects = sub.receive_data(frames(events))

    (report,) = [effect for effect in effects if isinstance(effect, Reported)]
    assert report.error.code == "event_too_large"
    assert "event 3 " in report.error.detail
    assert seqs(effects) == [1, 2, 4, 5, 6, 7]
    assert sub.connect().headers["last-event-id"] == "7"
    assert text_of(sub.state) == "ok"
    turn = sub.state.find_turn(TURN)
    assert turn is not None
    assert turn.status == "completed"


def test_what_refers_to_a_block_that_was_too_large_is_passed_over() -> None:
    events = numbered(
        started(),
        block("c1", type="code", text=BIG),
        completed("c1"),
        block(),
        completed(),
        ended(),
    )
    sub = opened(subscription(settings=SMALL))

    effects = sub.receive_data(frames(events))

    assert [type(effect) for effect in effects].count(Reported) == 1
    assert not [effect for effect in effects if isinstance(effect, Reconnect)]
    turn = sub.state.find_turn(TURN)
    assert turn is not None
    assert [found.id for found in turn.blocks] == ["b1"]


def test_the_end_of_a_turn_that_was_never_seen_is_passed_over() -> None:
    huge = {**started(), "model": BIG}
    sub = opened(subscription(settings=SMALL))

    effects = sub.receive_data(frames(numbered(huge, ended())))

    assert seqs(effects) == [2]
    assert sub.state.turns == []


def test_a_gap_after_a_hole_is_still_a_gap() -> None:
    sub = opened(subscription(settings=SMALL))
    events = numbered(started(), block("c1", type="code", text=BIG), completed("c1"), ended())

    effects = sub.receive_data(frames([events[0], events[1], events[3]]))

    assert isinstance(effects[-1], Reconnect)


def test_a_snapshot_fills_the_hole() -> None:
    events = numbered(started(), block("c1", type="code", text=BIG), block())
    sub = opened(subscription(settings=SMALL))
    sub.receive_data(frames(events))

    sub.receive_data(frame(snapshot(answer("a")[:3])))
    effects = sub.receive_data(frames(numbered(delta("lost", "b9"), first=4)))

    assert isinstance(only(effects), Reconnect)


def test_an_event_that_is_too_large_and_was_seen_is_nothing() -> None:
    sub = opened(subscription(settings=SMALL, state=ConversationState(CONVERSATION, 5)))

    assert sub.receive_data(frames(numbered(delta(BIG), first=5))) == []


@pytest.mark.parametrize("event_id", [None, "", "a:1", "\u0661", "9" * 17])
def test_one_that_is_too_large_without_a_number_shows_as_a_gap(event_id: str | None) -> None:
    sub = opened(subscription(settings=SMALL))

    effects = sub.receive_data(
        encode_sse(BIG.encode(), event="x", id=event_id) + frames(numbered(started(), first=2))
    )

    assert isinstance(only(effects), Reconnect)
    assert sub.connect().query == {"snapshot": "1"}


def test_a_snapshot_that_is_too_large_is_an_error() -> None:
    sub = opened(subscription(settings=SMALL, with_snapshot=True))

    effects = sub.receive_data(frame(snapshot(answer(BIG))))

    assert failure(only(effects)).code == "event_too_large"


def test_one_that_is_too_large_and_cut_off_is_not_asked_for_again() -> None:
    sub = opened(subscription(settings=SMALL))
    events = numbered(started(), block("c1", type="code", text=BIG))
    sub.receive_data(frame(events[0]) + frame(events[1])[:-20])

    effects = sub.receive_eof(now_s=0)

    assert [type(effect) for effect in effects] == [Reported, Reconnect]
    assert sub.connect().headers["last-event-id"] == "2"


def test_a_snapshot_that_is_too_large_and_cut_off_is_an_error() -> None:
    sub = opened(subscription(settings=SMALL, with_snapshot=True))
    sub.receive_data(frame(snapshot(answer(BIG)))[:-20])

    assert failure(only(sub.receive_eof(now_s=0))).code == "event_too_large"


# any cut, any disconnect --------------------------------------------------------------------
EVENTS: Final = numbered(
    started("turn_0"),
    block("r1", "turn_0", type="reasoning", text=""),
    delta("Hm \u00e9\U0001f642", "r1", "text", "turn_0"),
    block("b1", "turn_0"),
    delta("ha", "b1", turn_id="turn_0"),
    delta("ha", "b1", turn_id="turn_0"),
    delta(".", "r1", "text", "turn_0"),
    completed("r1", "turn_0"),
    completed("b1", "turn_0"),
    ended("turn_0"),
    started(),
    block(),
    delta("line\nbreak\r"),
    completed(),
    ended(),
)
WHOLE: Final = folded(EVENTS)


def connection(cursor: int) -> bytes:
    """Return all that a gateway sends to whoever comes with ``cursor``, beginning too early."""
    overlap = max(cursor - 2, 0)
    return ready(cursor, len(EVENTS)) + heartbeat() + frames(EVENTS[overlap:])


@given(
    ends=st.lists(st.integers(0, 2_000), max_size=12),
    sizes=st.lists(st.integers(1, 200), min_size=1, max_size=8),
)
@example(ends=[0, 1, 2, 3], sizes=[1])
@pytest.mark.requirement("client:stream:any-cut")
def test_any_cuts_and_disconnects_give_the_same_state_and_every_event_once(
    ends: list[int], sizes: list[int]
) -> None:
    sub = subscription()
    applied: list[int] = []

    for end in [*ends, 1_000_000]:
        cursor = int(sub.connect().headers.get("last-event-id", "0"))
        data = connection(cursor)[:end]
        opened(sub)
        turn, position = 0, 0
        while position < len(data):
            size = sizes[turn % len(sizes)]
            applied += seqs(sub.receive_data(data[position : position + size]))
            turn, position = turn + 1, position + size
        if end % 2:
            sub.receive_failure(LOST, now_s=0)
        else:
            sub.receive_eof(now_s=0)

    assert applied == list(range(1, len(EVENTS) + 1))
    assert sub.state.messages == WHOLE.messages
    assert sub.state.seq == WHOLE.seq


@pytest.mark.exhaustive
@pytest.mark.requirement("client:stream:any-cut")
def test_a_disconnect_at_any_byte_gives_the_same_state_and_every_event_once() -> None:
    for end in range(len(connection(0)) + 1):
        sub = opened(subscription())
        applied = seqs(sub.receive_data(connection(0)[:end]))
        sub.receive_failure(LOST, now_s=0)
        applied += seqs(opened(sub).receive_data(connection(sub.state.seq)))

        assert applied == list(range(1, len(EVENTS) + 1))
        assert sub.state.messages == WHOLE.messages


@given(noise=st.binary(max_size=300))
def test_no_bytes_make_the_reader_raise(noise: bytes) -> None:
    sub = opened(subscription())

    effects = sub.receive_data(noise) + sub.receive_data(b"\n\ndata: " + noise + b"\n\n")

    assert all(not isinstance(effect, Finished) for effect in effects)
