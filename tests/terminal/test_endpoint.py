"""From the bytes of an application to what a host has to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.errors import LocalProtocolError
from blockwire.terminal import (
    BlockAppended,
    BlockSealed,
    ContextClosed,
    ContextInvalidated,
    Decide,
    Diagnostic,
    Effect,
    Endpoint,
    Limits,
    Operation,
    PassThrough,
    Reply,
    Stopped,
    TerminalSession,
    encode_frames,
    encode_message,
)
from blockwire.terminal.bounds import MESSAGE_BYTES_MAX
from blockwire.terminal.content import ContentRefusal, ContentType, Data
from blockwire.terminal.types import CONTENT_TYPES
from blockwire.terminal.types.plain import PlainContent, PlainType
from blockwire.terminal.vocabulary import PLAIN
from tests.terminal.sessions import (
    append,
    closing,
    code_of,
    extend,
    framed,
    numbered_contexts,
    opening,
    query,
    replies,
    scripted,
    seal,
    state_of,
)

OPEN: Final = framed(opening())


def new_endpoint(
    decide: Decide | None = None, *, registry: Mapping[str, ContentType] = CONTENT_TYPES,
    limits: Limits | None = None,
) -> Endpoint:  # fmt: skip
    session = TerminalSession(new_context_id=numbered_contexts(), registry=registry, limits=limits)
    return Endpoint(session, decide=decide)


def kinds(effects: Iterable[Effect]) -> list[str]:
    return [type(effect).__name__ for effect in effects]


def codes(effects: Iterable[Effect]) -> list[str | None]:
    return [code_of(message) for message in replies(effects)]


def merged(effects: Iterable[Effect]) -> list[Any]:
    """Return effects with ordinary bytes joined, and Blocks by what a host sees of them."""
    found: list[Any] = []
    for effect in effects:
        if isinstance(effect, PassThrough) and found and isinstance(found[-1], PassThrough):
            last = found[-1]
            assert last.offset + len(last.data) == effect.offset
            found[-1] = PassThrough(last.data + effect.data, last.offset)
        else:
            found.append(effect)
    return [
        (type(effect).__name__, effect.block.block_id, effect.operation_id)
        if isinstance(effect, BlockAppended | BlockSealed)
        else effect
        for effect in found
    ]


@pytest.mark.requirement("terminal:operation:stream-order")
def test_effects_come_in_the_order_of_the_stream() -> None:
    endpoint = new_endpoint()
    data = (
        b"before" + OPEN + b"\x1b[1mbold" + framed(append("1"), seal("2", block_id="none"))
        + b"\xff" + framed(closing()) + b"after"
    )  # fmt: skip

    effects = endpoint.receive_data(data)

    assert kinds(effects) == [
        "PassThrough", "ContextOpened", "Reply", "PassThrough", "BlockAppended", "Reply",
        "PassThrough", "BlockSealed", "ContextClosed", "Reply", "PassThrough",
    ]  # fmt: skip
    assert codes(effects) == ["opened", "block_not_found", "closed"]
    ordinary = [effect for effect in effects if isinstance(effect, PassThrough)]
    assert [effect.data for effect in ordinary] == [b"before", b"\x1b[1mbold", b"\xff", b"after"]
    assert all(data[it.offset :].startswith(it.data) for it in ordinary)


@pytest.mark.requirement("terminal:operation:stream-order")
@given(cuts=st.lists(st.integers(0, 700), max_size=12))
def test_effects_are_the_same_however_the_stream_is_cut(cuts: list[int]) -> None:
    data = (
        b"a\x1b[0m" + OPEN + b"b" + framed(append("1"), append("1")) + b"\x1b]9002;1;x\x1b\\c"
        + framed(query(), seal("3")) + b"\x1b"
    )  # fmt: skip
    whole, cut = new_endpoint(), new_endpoint()
    places = sorted({0, len(data), *(place for place in cuts if place < len(data))})

    found = [
        effect for start, end in pairwise(places) for effect in cut.receive_data(data[start:end])
    ]
    found += cut.end_of_stream()

    assert merged(found) == merged(whole.receive_data(data) + whole.end_of_stream())
    assert state_of(cut.session) == state_of(whole.session)


def test_a_reply_is_its_message_in_a_frame_with_an_id_of_its_own() -> None:
    endpoint = new_endpoint()

    effects = endpoint.receive_data(OPEN + framed(query()))

    found = [effect for effect in effects if isinstance(effect, Reply)]
    assert [it.data.split(b";")[2] for it in found] == [b"1", b"2"]
    reader = new_endpoint()
    for reply in found:
        (dropped,) = reader.receive_data(reply.data)
        assert isinstance(dropped, Diagnostic)
        assert dropped.code == "not_for_terminal"


@pytest.mark.requirement("terminal:operation:for-application")
def test_what_is_dropped_or_bad_is_told_to_the_host_alone() -> None:
    endpoint = new_endpoint()
    answer = replies(endpoint.receive_data(framed(query("q"))))[0]
    unknown = encode_frames(b'{"version":1,"kind":"block.move","body":{}}', 1)

    effects = endpoint.receive_data(
        framed(answer) + b"\x1b]9002;1;1;0;0;!\x1b\\" + unknown + encode_frames(b"{", 2)
    )

    found = [effect for effect in effects if isinstance(effect, Diagnostic)]
    assert found == effects
    assert [it.code for it in found] == [
        "not_for_terminal", "invalid_base64", "unknown_kind", "invalid_json",
    ]  # fmt: skip
    offsets = [it.offset for it in found]
    assert offsets == sorted(offsets)
    assert offsets[0] == len(framed(query("q")))


@pytest.mark.requirement("terminal:error:who")
def test_an_invalid_message_is_answered_and_reported_with_its_identity() -> None:
    endpoint = new_endpoint()
    endpoint.receive_data(OPEN)
    text = b'{"version":1,"kind":"block.seal","operation_id":"1","context_id":"c1","body":{"x":1}}'

    reply, report = endpoint.receive_data(encode_frames(text, 1))

    assert isinstance(reply, Reply)
    assert code_of(reply.message) == "invalid_message"
    assert isinstance(report, Diagnostic)
    assert report.code == "invalid_message"
    assert report.identity is not None
    assert codes(endpoint.receive_data(framed(seal("1")))) == ["operation_id_reused"]


@pytest.mark.requirement("terminal:error:answer-too-long")
def test_an_answer_that_fits_no_message_is_not_sent() -> None:
    endpoint = new_endpoint()
    room = MESSAGE_BYTES_MAX - len(encode_message(query("q"))) + 1

    effects = endpoint.receive_data(framed(query("q" * room)))

    assert kinds(effects) == ["Diagnostic"]
    assert isinstance(effects[0], Diagnostic)
    assert effects[0].code == "answer_not_sent"
    assert codes(endpoint.receive_data(framed(query("q")))) == ["supported"]


@pytest.mark.requirement("terminal:security:bounded")
def test_what_is_unfinished_is_kept_within_bounds() -> None:
    endpoint = new_endpoint()
    frames = encode_frames(b" " * MESSAGE_BYTES_MAX, 1)

    most = 0
    for start in range(0, len(frames), 4_000):
        endpoint.receive_data(frames[start : start + 4_000])
        most = max(most, endpoint.retained_bytes)

    assert MESSAGE_BYTES_MAX // 2 < most <= MESSAGE_BYTES_MAX + 8_192
    assert endpoint.retained_bytes == 0


# the host ---------------------------------------------------------------------------------
@pytest.mark.requirement("terminal:operation:host")
def test_a_host_decides_before_anything_changes() -> None:
    endpoint = new_endpoint(scripted({"1": "resource_exhausted", "3": "throw", "4": "no_code"}))

    effects = endpoint.receive_data(
        OPEN + framed(append("1"), append("2"), seal("3"), seal("4"), extend("5", "2", "!"))
    )

    assert codes(effects) == ["opened", "resource_exhausted", "internal_error", "internal_error"]
    reports = [effect for effect in effects if isinstance(effect, Diagnostic)]
    assert [(it.code, it.detail) for it in reports] == [
        ("internal_error", "RuntimeError"), ("internal_error", "KeyError"),
    ]  # fmt: skip
    assert state_of(endpoint.session)[0]["blocks"] == [
        {"id": "a", "lifecycle": "mutable", "type": PLAIN, "data": "x!", "content_state": "5"}
    ]


def test_a_host_is_asked_only_about_operations_that_may_happen() -> None:
    asked: list[Operation] = []

    def decide(operation: Operation) -> None:
        asked.append(operation)

    endpoint = new_endpoint(decide)

    endpoint.receive_data(OPEN + framed(query(), append("1"), append("1"), seal("2"), closing()))

    assert asked == [append("1"), seal("2")]


def test_a_host_that_cannot_name_a_context_has_failed_for_that_request() -> None:
    def fail() -> str:
        raise OSError("no more of them")

    endpoint = Endpoint(TerminalSession(new_context_id=fail))

    effects = endpoint.receive_data(OPEN + OPEN)

    assert codes(effects) == ["internal_error"] * 2
    assert kinds(effects) == ["Reply", "Diagnostic", "Reply"]


@pytest.mark.parametrize("call", ["receive_data", "invalidate", "evict", "end_of_stream", "fail"])
def test_the_host_cannot_change_the_session_while_it_is_asked(call: str) -> None:
    arguments: dict[str, tuple[Any, ...]] = {
        "receive_data": (b"x",), "invalidate": ("c1",), "evict": ("c1", "a"),
        "end_of_stream": (), "fail": (),
    }  # fmt: skip
    refusals: list[str] = []

    def decide(operation: Operation) -> None:
        del operation
        try:
            getattr(endpoint, call)(*arguments[call])
        except LocalProtocolError as error:
            refusals.append(error.code)

    endpoint = new_endpoint(decide)

    effects = endpoint.receive_data(OPEN + framed(append("1")))

    assert refusals == ["endpoint_busy"]
    assert kinds(effects) == ["ContextOpened", "Reply", "BlockAppended"]
    getattr(endpoint, call)(*arguments[call])


def test_invalidating_and_trimming_are_told_to_the_session() -> None:
    endpoint = new_endpoint()
    endpoint.receive_data(OPEN + framed(append("1")))

    assert endpoint.evict("c1", "a") == []
    assert endpoint.session.contexts["c1"].blocks["a"].is_evicted
    assert endpoint.invalidate("c1") == [ContextInvalidated("c1")]
    assert endpoint.invalidate("c1") == []


def test_a_session_that_was_ended_by_its_host_answers_nobody() -> None:
    endpoint = new_endpoint()
    endpoint.session.end_of_connection()
    invalid = encode_frames(
        b'{"version":1,"kind":"context.open","request_id":"o","body":{"x":1}}', 1
    )

    effects = endpoint.receive_data(framed(query()) + invalid)

    assert [it.code for it in effects if isinstance(it, Diagnostic)] == [
        "connection_ended", "invalid_message",
    ]  # fmt: skip
    assert len(effects) == 2


@pytest.mark.requirement("terminal:context:end")
def test_the_end_of_the_stream_lets_go_of_what_was_held_and_closes_all() -> None:
    endpoint = new_endpoint()
    endpoint.receive_data(OPEN + framed(append("1")) + b"x\x1b]90")
    block = endpoint.session.contexts["c1"].blocks["a"]

    effects = endpoint.end_of_stream()

    assert effects == [
        PassThrough(b"\x1b]90", len(OPEN + framed(append("1"))) + 1), BlockSealed(block, None),
        ContextClosed("c1"),
    ]  # fmt: skip
    assert endpoint.end_of_stream() == []
    assert endpoint.receive_data(b"") == []
    late = framed(query())
    assert [type(effect) for effect in endpoint.receive_data(late)] == [PassThrough]


def test_an_unfinished_message_at_the_end_is_reported() -> None:
    endpoint = new_endpoint()
    endpoint.receive_data(encode_frames(b" " * 4_000, 1)[:-9])

    assert kinds(endpoint.end_of_stream())[0] == "Diagnostic"


# fail-stop --------------------------------------------------------------------------------
class FailingContent(PlainContent):
    """A text that cannot grow, which shows when it is too late."""

    def extend(self, fragment: Data) -> None:
        del fragment
        raise MemoryError

    def refuse_replace_suffix(self, retain: int, replacement: Data) -> ContentRefusal | None:
        del retain, replacement
        raise RecursionError


class FailingType(PlainType):
    def new_content(self, data: Data) -> PlainContent:
        assert isinstance(data, str)
        return FailingContent(data)


FAILING: Final[Mapping[str, ContentType]] = MappingProxyType({PLAIN: FailingType()})


@pytest.mark.requirement("terminal:operation:no-pretence", "terminal:operation:fail-stop")
def test_a_failure_after_changes_began_stops_everything_behind_it() -> None:
    endpoint = new_endpoint(registry=FAILING)
    endpoint.receive_data(OPEN + framed(append("1")))
    before = framed(seal("2", block_id="none"))
    bad = framed(extend("3", "1"))
    rest = b"text" + framed(closing()) + b"\x1b]9002;1"

    effects = endpoint.receive_data(before + bad + rest)

    assert kinds(effects) == ["Reply", "Diagnostic", "Stopped", "PassThrough"]
    last = effects[-1]
    assert isinstance(last, PassThrough)
    assert last.data == rest
    assert last.offset == len(OPEN + framed(append("1")) + before + bad)
    assert endpoint.session.has_ended
    assert endpoint.receive_data(OPEN) == [PassThrough(OPEN, last.offset + len(rest))]
    assert endpoint.fail() == []
    assert endpoint.end_of_stream() == []


@pytest.mark.requirement("terminal:operation:fail-stop")
def test_a_failure_with_nothing_behind_it_passes_nothing_on() -> None:
    endpoint = new_endpoint(registry=FAILING)
    endpoint.receive_data(OPEN + framed(append("1")))
    message = framed(extend("2", "1", "y" * 4_000))

    effects = [*endpoint.receive_data(message[:4_200]), *endpoint.receive_data(message[4_200:])]

    assert kinds(effects) == ["Diagnostic", "Stopped"]


def test_a_failure_before_changes_began_is_an_internal_error() -> None:
    endpoint = new_endpoint(registry=FAILING)
    endpoint.receive_data(OPEN + framed(append("1")))
    message = encode_frames(
        b'{"version":1,"kind":"block.replace_suffix","operation_id":"2","context_id":"c1",'
        b'"body":{"block_id":"a","base_operation_id":"1","retain":0,"replacement":""}}', 1,
    )  # fmt: skip

    effects = endpoint.receive_data(message + framed(seal("2"), seal("3")))

    assert codes(effects) == ["internal_error", "operation_id_reused"]
    assert kinds(effects)[-1] == "BlockSealed"


@pytest.mark.requirement("terminal:operation:fail-stop")
def test_a_host_that_failed_stops_the_session() -> None:
    endpoint = new_endpoint()
    endpoint.receive_data(OPEN + framed(append("1")) + b"\x1b]9002")
    before = state_of(endpoint.session)

    effects = endpoint.fail()

    assert kinds(effects) == ["Diagnostic", "Stopped"]
    assert state_of(endpoint.session) == before
    late = b"x" + framed(query())
    assert kinds(endpoint.receive_data(late)) == ["PassThrough"]


# whatever arrives -------------------------------------------------------------------------
@pytest.mark.requirement("terminal:security:total", "terminal:security:silent")
@given(
    pieces=st.lists(
        st.one_of(
            st.binary(max_size=30),
            st.sampled_from([OPEN, framed(append("1")), framed(query()), b"\x1b]9002;1;1;0;1;"]),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.text(max_size=5),
                lambda inner: st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["version", "kind", "body", "request_id", "x"]), inner,
                    max_size=4,
                ),
                max_leaves=8,
            ).map(lambda value: encode_frames(repr(value).replace("'", '"').encode(), 1)),
        ),
        max_size=8,
    )
)  # fmt: skip
def test_nothing_that_arrives_raises_or_stops(pieces: list[bytes]) -> None:
    endpoint = new_endpoint()

    effects = [effect for piece in pieces for effect in endpoint.receive_data(piece)]

    assert not any(isinstance(effect, Stopped) for effect in effects)
    assert not endpoint.session.has_ended
    assert codes(endpoint.receive_data(b"\x18" + framed(query("afterwards"))))[-1:] == ["supported"]
