"""Whether the terminal shows Blocks is asked once, and only its own answer says yes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.errors import LocalProtocolError
from blockwire.terminal import (
    EMPTY,
    AppendOnlyFallback,
    ApplicationLimits,
    CapabilityQuery,
    CapabilityResponse,
    ContextLost,
    ContextRefused,
    ControlFailure,
    Failed,
    Negotiated,
    Supported,
    Unsupported,
    answer_s,
    encode_frames,
    encode_message,
    reason_not_to_ask,
)
from blockwire.terminal.bounds import INPUT_HOLD_S
from blockwire.terminal.detection import ANSWER_REMOTE_S, ANSWER_S
from tests.terminal.plays import DA1_ANSWER, DA1_REQUEST, PROCESS_ID, Play, cuts, others, typed

QUERY_ID = f"{PROCESS_ID}.1"


def response(
    body: Supported | Unsupported | Failed, request_id: str = QUERY_ID, version: int = 1
) -> bytes:
    message = CapabilityResponse(version=version, request_id=request_id, body=body)
    return encode_frames(encode_message(message), 5)


SUPPORTED = response(Supported(optional_content_types=("text/lines", "x/y")))
YES = Negotiated(
    is_supported=True, optional_content_types=("text/lines", "x/y"), reason="supported"
)


def no(reason: str) -> Negotiated:
    return Negotiated(is_supported=False, optional_content_types=(), reason=reason)  # type: ignore[arg-type]  # a row of a table


def asking(**options: object) -> Play:
    play = Play(**options)  # type: ignore[arg-type]  # a test passes what it means
    play.application.negotiate()
    play.write()
    return play


@pytest.mark.requirement("terminal:application:one-write")
def test_query_and_request_are_one_write_of_less_than_250_bytes() -> None:
    play = Play()
    play.application.negotiate()

    data = play.write()

    assert play.sent == [CapabilityQuery(version=1, request_id=QUERY_ID, body=EMPTY)]
    assert data.endswith(b"\x1b\\" + DA1_REQUEST)
    assert len(data) < 250
    assert play.change_count == 1
    assert play.write() == b""


ANSWERS: list[tuple[str, bytes, Negotiated | None]] = [
    ("supported", SUPPORTED, YES),
    ("supported, then DA1", SUPPORTED + DA1_ANSWER, YES),
    ("DA1 first", DA1_ANSWER + SUPPORTED, no("device_answered")),
    ("unsupported", response(Unsupported()), no("unsupported")),
    ("an error", response(Failed(error=ControlFailure(code="internal_error"))), no("refused")),
    ("somebody else's", response(Supported(optional_content_types=()), "q"), None),
    ("another version", response(Unsupported(), version=2), None),
    ("an echo", encode_frames(encode_message(CapabilityQuery(version=1, request_id=QUERY_ID, body=EMPTY)), 1), None),
    ("no message", encode_frames(b"{}", 1), None),
    ("a broken frame", SUPPORTED.replace(b"\x1b\\", b"\x07"), None),
]  # fmt: skip


@pytest.mark.requirement("terminal:application:correlated")
@pytest.mark.requirement("terminal:application:fence")
@pytest.mark.parametrize(
    ("answer", "expected"), [it[1:] for it in ANSWERS], ids=[it[0] for it in ANSWERS]
)
def test_what_an_answer_says(answer: bytes, expected: Negotiated | None) -> None:
    play = asking()

    news = play.receive(answer)

    assert news == ([] if expected is None else [expected])


@pytest.mark.requirement("terminal:application:type-ahead")
@given(
    data=st.data(), keys=st.tuples(*[st.sampled_from([b"", b"ls", b"\x1b[A", b"\xe4\xb8\xad"])] * 3)
)
def test_what_is_typed_meanwhile_is_kept_in_order_at_any_split(
    data: st.DataObject, keys: tuple[bytes, bytes, bytes]
) -> None:
    play = asking()

    news = play.receive(*data.draw(cuts(keys[0] + SUPPORTED + keys[1] + DA1_ANSWER + keys[2])))

    assert others(news) == [YES]
    assert typed(news) == b"".join(keys)


@pytest.mark.requirement("terminal:application:cap")
@pytest.mark.requirement("terminal:application:late")
@pytest.mark.parametrize("delay_s", [0.0, 0.15, 0.9, 3.0])
@pytest.mark.parametrize("answer", [SUPPORTED + DA1_ANSWER, DA1_ANSWER])
@given(data=st.data())
def test_an_answer_is_never_typed_however_late_it_is(
    delay_s: float, answer: bytes, data: st.DataObject
) -> None:
    play = asking()
    asked_at_s = play.now_s

    waited = play.wait(asked_at_s + delay_s)
    news = play.receive(b"a", *data.draw(cuts(answer)), b"b")

    assert typed(news) == b"ab"
    if delay_s < ANSWER_S:
        assert (waited, others(news)) == (
            [],
            [YES if answer != DA1_ANSWER else no("device_answered")],
        )
    else:
        assert (waited, others(news)) == ([no("no_answer")], [])
    assert not play.application.is_reply_expected


def test_an_answer_that_crawls_over_the_cap_is_swallowed_as_well() -> None:
    play = asking()
    news = play.receive(SUPPORTED[:60])
    news += play.wait(play.now_s + 5)
    news += play.receive(SUPPORTED[60:], DA1_ANSWER[:4])
    news += play.wait(play.now_s + 5)
    news += play.receive(DA1_ANSWER[4:])

    assert news == [no("no_answer")]


@pytest.mark.parametrize("step_s", [0.01, 0.049, 0.06, 0.4])
def test_a_line_that_gives_a_byte_at_a_time_costs_one_esc_at_most(step_s: float) -> None:
    play = asking(limits=ApplicationLimits(answer_s=1_000.0))
    news = []
    for byte in SUPPORTED + DA1_ANSWER + b"k":
        news += play.receive(bytes([byte]))
        news += play.wait(play.now_s + step_s)

    assert others(news) == [YES]
    assert typed(news).replace(b"\x1b", b"") == b"k"
    assert typed(news).count(b"\x1b") == (2 if step_s > INPUT_HOLD_S else 0)


def test_an_answer_is_outstanding_as_long_as_a_request_is() -> None:
    play = Play()
    play.application.negotiate()
    play.exchange()
    context = play.application.open_context()
    answer = play.answers_to(play.write())

    news = play.wait(play.now_s + ANSWER_S + 2.0) + play.receive(answer[:4])
    news += play.wait(play.now_s + 2.0) + play.receive(answer[4:])
    assert (typed(news), context.state) == (b"", "open")
    assert play.receive(b"\x1b]") == []
    assert typed(play.wait(play.now_s + 1.0)) == b"\x1b]", "nothing is outstanding any more"


def test_the_beginning_of_a_frame_waits_for_the_cap_and_a_lone_esc_does_not() -> None:
    play = asking()
    assert play.receive(b"\x1b") == []
    assert typed(play.wait(play.now_s + 0.06)) == b"\x1b"
    assert play.receive(b"\x1b]") == []
    assert play.wait(100.99) == []
    assert play.wait(102.0) == [no("no_answer"), *play.news[-1:]]
    assert typed(play.news) == b"\x1b\x1b]"


def test_what_is_kept_of_the_input_can_be_seen() -> None:
    play = asking()
    play.receive(SUPPORTED[:40])

    assert 30 < play.application.retained_bytes <= 40
    play.receive(SUPPORTED[40:])
    assert play.application.retained_bytes == 0


def test_a_terminal_that_answers_nothing_costs_the_cap_once() -> None:
    play = asking(limits=ApplicationLimits(answer_s=2.0))

    assert play.application.next_tick_at_s == play.now_s + 2.0
    assert play.wait(play.now_s + 1.99) == []
    assert play.wait(play.now_s + 2.0) == [no("no_answer")]
    assert play.application.next_tick_at_s is None


def test_the_cap_counts_from_the_write() -> None:
    play = Play()
    play.application.negotiate()

    assert play.application.next_tick_at_s is None
    play.now_s = 500.0
    play.write()
    assert play.application.next_tick_at_s == 500.0 + ANSWER_S


def test_a_terminal_that_dies_while_it_is_asked_shows_no_blocks() -> None:
    play = asking()

    news = play.receive(b"k" + SUPPORTED[:20]) + play.application.end_of_input()

    assert typed(news) == b"k"
    assert others(news) == [no("end_of_input")]


def test_a_terminal_that_dies_in_the_middle_takes_its_contexts_along() -> None:
    play = Play()
    context = play.begin()
    waiting = play.application.open_context()
    play.write()

    news = play.application.end_of_input()

    assert news == [ContextRefused(waiting, "end_of_input"), ContextLost(context, "end_of_input")]
    assert play.application.stage == "ended"
    with pytest.raises(LocalProtocolError, match="not_negotiated"):
        play.application.open_context()


@pytest.mark.requirement("terminal:application:no-frames")
def test_without_support_no_other_frame_is_ever_written() -> None:
    play = asking(fallback=AppendOnlyFallback())
    play.receive(DA1_ANSWER)
    play.written = b""

    context = play.application.open_context()
    context.append("x\x1b]9002;1;1;0;0;QQ==\x1b\\", lifecycle="sealed")
    context.close()
    play.exchange()

    assert b"\x1b" not in play.written
    assert play.sent == []


def test_negotiation_happens_once() -> None:
    play = asking()
    with pytest.raises(LocalProtocolError, match="already_negotiated"):
        play.application.negotiate()
    with pytest.raises(LocalProtocolError, match="already_negotiated"):
        play.application.skip("switched_off")


def test_before_it_is_negotiated_there_is_no_context_and_without_fallback_never() -> None:
    play = Play()
    with pytest.raises(LocalProtocolError, match="not_negotiated"):
        play.application.open_context()
    assert play.application.skip("switched_off") == [no("switched_off")]
    with pytest.raises(LocalProtocolError, match="unsupported"):
        play.application.open_context()


def test_types_that_nobody_has_advertised_are_not_used() -> None:
    play = asking()
    play.receive(SUPPORTED)

    assert play.application.content_types == {"text/plain", "text/lines"}


TTY = {"TERM": "xterm-256color"}


@pytest.mark.requirement("terminal:application:no-query")
@pytest.mark.parametrize(
    ("environment", "is_input", "is_output", "reason"),
    [
        (TTY, True, True, None),
        (TTY, False, True, "not_a_terminal"),
        (TTY, True, False, "not_a_terminal"),
        ({"TERM": "dumb"}, True, True, "terminal_without_answers"),
        ({"TERM": "linux"}, True, True, "terminal_without_answers"),
        ({"TERM": ""}, True, True, "terminal_without_answers"),
        ({}, True, True, "terminal_without_answers"),
        ({**TTY, "BLOCKWIRE_TERMINAL": "0"}, True, True, "switched_off"),
        ({**TTY, "BLOCKWIRE_TERMINAL": "1"}, True, True, None),
        ({"TERM": "dumb", "BLOCKWIRE_TERMINAL": "1"}, True, True, "terminal_without_answers"),
    ],
)
def test_who_is_not_asked(
    environment: dict[str, str], *, is_input: bool, is_output: bool, reason: str | None
) -> None:
    assert (
        reason_not_to_ask(environment, is_input_terminal=is_input, is_output_terminal=is_output)
        == reason
    )
    in_background = reason_not_to_ask(
        environment, is_input_terminal=is_input, is_output_terminal=is_output, is_foreground=False
    )
    assert in_background == (reason or "in_background")


@pytest.mark.parametrize("name", ["SSH_CONNECTION", "SSH_TTY"])
def test_an_answer_over_ssh_may_take_longer(name: str) -> None:
    assert answer_s(TTY) == ANSWER_S
    assert answer_s({**TTY, name: ""}) == ANSWER_S
    assert answer_s({**TTY, name: "x"}) == ANSWER_REMOTE_S
