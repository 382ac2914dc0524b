"""Messages are read strictly whatever their length, and what is written is what is read."""

from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blockwire.errors import LocalProtocolError, RemoteProtocolError
from blockwire.jsontext import Json, decode_json
from blockwire.terminal import (
    EMPTY,
    AppendBody,
    BlockAppend,
    BlockExtend,
    BlockReplaceSuffix,
    BlockUpdate,
    CapabilityQuery,
    CapabilityResponse,
    ContentSnapshot,
    ContextOpen,
    ContextOpenResponse,
    ControlFailure,
    ErrorBody,
    ExtendBody,
    Failed,
    InvalidMessage,
    Line,
    Opened,
    ProtocolError,
    ReplaceSuffixBody,
    Span,
    Style,
    Supported,
    Unsupported,
    UpdateBody,
    WireMessage,
    codec,
    decode_message,
    encode_message,
)
from blockwire.terminal.bounds import DEPTH_MAX, INT32_MAX, MESSAGE_BYTES_MAX
from blockwire.terminal.codec import SHORT_BYTES_MAX
from tests.terminal.messages import messages, mutated
from vectors.terminal_codec_inputs import LINES, SPANS, body, compact, content, message

LONG: Final = SHORT_BYTES_MAX + 1


def update(data: Any, type_name: str = "text/plain") -> BlockUpdate:
    return BlockUpdate(
        version=1,
        operation_id="o",
        context_id="c",
        body=UpdateBody(block_id="b", content=ContentSnapshot(type=type_name, data=data)),
    )


def extension(fragment: Any) -> BlockExtend:
    return BlockExtend(
        version=1,
        operation_id="o",
        context_id="c",
        body=ExtendBody(block_id="b", base_operation_id="n", fragment=fragment),
    )


def replacement(text: Any) -> BlockReplaceSuffix:
    return BlockReplaceSuffix(
        version=1,
        operation_id="o",
        context_id="c",
        body=ReplaceSuffixBody(block_id="b", base_operation_id="n", retain=0, replacement=text),
    )


# reading --------------------------------------------------------------------------------------
def outcome(text: bytes) -> WireMessage | tuple[Any, ...]:
    """Return what is made of a text: the message, or all that is said about it."""
    try:
        return decode_message(text)
    except InvalidMessage as error:
        return (error.code, error.identity, error.pointer)


def texts() -> st.SearchStrategy[bytes]:
    """Return JSON texts of messages, many of them damaged."""
    members: st.SearchStrategy[Any] = mutated() | messages().map(encode_message).map(decode_json)
    return st.tuples(
        members.map(compact),
        st.integers(0, 400),
        st.sampled_from(
            [b"", b" ", b"\\u0041", b'"version":1,', b"1.0", b"-0", b"\\ud800", b"\xff", b",", b"\x00",
             b'"a":1e5,', b'"a":1E5,"a":1,']
        ),
    ).map(lambda it: it[0][: it[1]] + it[2] + it[0][it[1] :])  # fmt: skip


@given(texts())
@example(compact(content("z", "@")).replace(b'"@"', b'{"a":1E5,"a":1E5}'))
@example(compact(content("z", "@")).replace(b'"@"', b'[1E5,{"a":0,"a":0}]'))
@example(compact(content("text/styled", "@")).replace(b'"@"', b'[{"text":"","text":""}]'))
@example(compact(message("context.open")).replace(b"{", b'{"kind":"context.open",', 1))
def test_the_short_way_says_what_the_long_way_says(text: bytes) -> None:
    # Blanks take a short text the long way, and change nothing else; but behind half a string
    # they decide which fault of its JSON comes first.
    short, long = outcome(text), outcome(text + b" " * LONG)

    is_no_json = isinstance(short, tuple) and short[0] in {"invalid_json", "invalid_unicode"}
    assert short == long or (is_no_json and isinstance(long, tuple) and long[1] is None)


@pytest.mark.parametrize("padding", [0, LONG])
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (content("text/styled", []), ()),
        (content("text/lines", []), ()),
        (content("text/styled", SPANS[1:2]), (Span(text=""),)),
        (content("text/lines", LINES[:1]), (Line(spans=()),)),
    ],
)
@pytest.mark.requirement("terminal:message:data")
def test_lists_come_as_tuples(value: Any, expected: object, padding: int) -> None:
    found = decode_message(compact(value) + b" " * padding)

    assert isinstance(found, BlockUpdate)
    assert found.body.content.data == expected


@pytest.mark.parametrize("padding", [0, LONG])
@pytest.mark.requirement("terminal:message:unread-data")
def test_content_of_a_type_that_is_not_advertised_is_left_unread(padding: int) -> None:
    text = compact(content("text/styled", ["no spans", 1])) + b" " * padding

    found = decode_message(text, content_types={"text/lines"})

    assert isinstance(found, BlockUpdate)
    assert found.body.content.data == ["no spans", 1]
    with pytest.raises(InvalidMessage):
        decode_message(text)


@pytest.mark.requirement("terminal:message:unread-data")
def test_a_type_that_is_advertised_without_being_known_is_left_unread() -> None:
    found = decode_message(compact(content("x/y", [1])), content_types={"x/y"})

    assert isinstance(found, BlockUpdate)
    assert found.body.content.data == [1]


@pytest.mark.requirement("terminal:message:data", "terminal:message:fragment")
def test_plain_text_and_fragments_are_read_whatever_is_advertised() -> None:
    with pytest.raises(InvalidMessage):
        decode_message(compact(content("text/plain", 1)), content_types=())
    with pytest.raises(InvalidMessage):
        decode_message(compact(body("block.extend", fragment=[{}])), content_types=())
    found = decode_message(compact(body("block.extend", fragment=SPANS)), content_types=())
    assert isinstance(found, BlockExtend)
    assert isinstance(found.body.fragment[0], Span)


@pytest.mark.parametrize("version", [2, 7, INT32_MAX])
@pytest.mark.requirement("terminal:message:other-version", "terminal:message:version")
def test_a_query_of_another_version_is_told_apart_if_it_is_one(version: int) -> None:
    found = decode_message(compact(message("capability.query", version=version)))
    assert found == CapabilityQuery(version=version, request_id="q", body=EMPTY)

    broken: tuple[dict[str, Any], ...] = (
        {"request_id": ""},
        {"body": {"z": 1}},
        {"context_id": "c"},
        {"body": []},
    )
    for changed in broken:
        text = compact(message("capability.query", version=version, **changed))
        assert outcome(text)[:2] == ("unknown_version", None)  # type: ignore[index]  # no message


SECRET: Final = "hunter2"


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        (message("context.open", hunter2=1), ""),
        (body("block.seal", hunter2=1), "/body"),
        # Names that look like the end of what the library says.
        ({**message("block.seal"), "a` - at `$.hunter2.body": 1}, "/body"),
        ({**message("block.seal"), "a - at `$.hunter2[7]": 1}, "/7"),
        (body("block.append", lifecycle=SECRET), "/body/lifecycle"),
        (content("text/styled", [{"text": "a", "hunter2": 1}]), "/body/content/data/0"),
        (content("text/plain", [SECRET]), "/body/content/data"),
        (body("block.extend", fragment=[{"text": [SECRET]}]), "/body/fragment/0/text"),
        (body("block.extend", fragment=""), "/body/fragment"),
        (body("block.seal", block_id=""), "/body/block_id"),
        (body("block.replace_suffix", retain=-1), "/body/retain"),
        ({**message("block.seal"), "kind": SECRET}, None),
        (message("block.seal", body=SECRET), "/body"),
    ],
)
@pytest.mark.requirement("terminal:json:not-quoted")
def test_a_refusal_names_the_place_and_quotes_nothing(value: Any, pointer: str | None) -> None:
    with pytest.raises(InvalidMessage) as caught:
        decode_message(compact(value))

    assert caught.value.pointer == pointer
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("text", [b"{hunter2", b'{"hunter2":1,"hunter2":1}', b'"hunter2"', b""])
@pytest.mark.requirement("terminal:json:not-quoted")
def test_what_is_no_json_is_not_quoted(text: bytes) -> None:
    with pytest.raises(InvalidMessage) as caught:
        decode_message(text)

    assert SECRET not in str(caught.value)
    assert isinstance(caught.value, RemoteProtocolError)


def test_short_messages_do_not_need_the_long_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Json:
        raise AssertionError("read again")

    monkeypatch.setattr(codec, "decode_json", refuse)

    for value in (content("text/plain", "a"), content("text/lines", LINES), message("block.seal")):
        decode_message(compact(value))


def test_long_lists_do_not_need_the_long_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Json:
        raise AssertionError("read again")

    monkeypatch.setattr(codec, "decode_json", refuse)

    for value in (
        content("text/styled", SPANS * LONG),
        body("block.extend", fragment=LINES * LONG),
    ):
        decode_message(compact(value))


@pytest.mark.requirement("terminal:json:duplicates")
def test_a_name_twice_is_found_behind_a_long_list() -> None:
    text = compact(content("text/styled", SPANS * LONG))

    for place in (text.rindex(b'"text"'), text.index(b'"text"'), text.index(b'"kind"')):
        name = text[place : place + 7].partition(b":")[0]
        with pytest.raises(InvalidMessage) as caught:
            decode_message(text[:place] + name + b':"",' + text[place:])
        assert caught.value.code == "duplicate_member"


# writing --------------------------------------------------------------------------------------
@given(messages())
@pytest.mark.requirement("terminal:json:written-strictly")
def test_what_is_written_is_read_as_the_same_message(found: WireMessage) -> None:
    text = encode_message(found)

    assert decode_message(text) == found
    assert b"\n" not in text


SPAN: Final = Span(text="a", style=Style(foreground="red"))


@pytest.mark.parametrize(
    "found",
    [
        update("\u00e9" * LONG),
        update("x" * LONG, "text/plain"),
        update("x" * LONG, "image/none"),
        update((SPAN,) * LONG, "text/styled"),
        update([None, {"a": 1.5}] * LONG, "image/none"),
        extension("x" * LONG),
        extension((Line(spans=(SPAN,)),) * LONG),
        replacement("x" * LONG),
        replacement((SPAN,) * LONG),
        replacement(""),
        replacement(()),
    ],
)
@pytest.mark.requirement("terminal:json:written-strictly")
def test_long_messages_are_written(found: WireMessage) -> None:
    assert decode_message(encode_message(found)) == found


def test_a_long_text_is_not_read_to_check_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Json:
        raise AssertionError("read again")

    monkeypatch.setattr(codec, "decode_json", refuse)

    for found in (update("x" * LONG), extension("x" * LONG), replacement("x" * LONG)):
        encode_message(found)


@pytest.mark.requirement("terminal:message:other-version")
def test_what_belongs_to_another_version_is_written_and_nothing_else_of_it() -> None:
    query = CapabilityQuery(version=9, request_id="q", body=EMPTY)
    answer = CapabilityResponse(version=9, request_id="q", body=Unsupported())

    assert decode_message(encode_message(query)) == query
    assert decode_json(encode_message(answer)) == message("capability.response", version=9)
    with pytest.raises(InvalidMessage):
        decode_message(encode_message(answer))
    for found in (
        CapabilityResponse(version=9, request_id="q", body=Supported(optional_content_types=())),
        ContextOpen(version=9, request_id="q", body=EMPTY),
    ):
        with pytest.raises(LocalProtocolError) as caught:
            encode_message(found)
        assert caught.value.code == "unknown_version"


FAILURE: Final = Failed(error=ControlFailure(code="internal_error"))
DEEP: Final = decode_json(b"[" * 61 + b"]" * 61)


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (ContextOpen(version=1, request_id="", body=EMPTY), "invalid_message"),
        (ContextOpen(version=0, request_id="q", body=EMPTY), "unknown_version"),
        (ContextOpen(version=True, request_id="q", body=EMPTY), "unknown_version"),
        (ContextOpen(version=1, request_id=7, body=EMPTY), "invalid_message"),  # type: ignore[arg-type]
        (ContextOpen(version=1, request_id=object(), body=EMPTY), "invalid_json_value"),  # type: ignore[arg-type]
        (ContextOpen(version=1, request_id="\ud800", body=EMPTY), "invalid_json_value"),
        (ContextOpenResponse(version=1, request_id="q", body=Opened()), "invalid_message"),
        (
            ContextOpenResponse(version=1, request_id="q", context_id="c", body=FAILURE),
            "invalid_message",
        ),
        (
            CapabilityResponse(
                version=1, request_id="q", body=Supported(optional_content_types=("text/plain",))
            ),
            "invalid_message",
        ),
        (
            CapabilityResponse(
                version=1,
                request_id="q",
                body=Failed(error=ControlFailure(code="block_sealed")),  # type: ignore[arg-type]
            ),
            "invalid_message",
        ),
        (
            ProtocolError(
                version=1,
                operation_id="o",
                context_id="c",
                body=ErrorBody(code="request_id_conflict"),  # type: ignore[arg-type]
            ),
            "invalid_message",
        ),
        (
            BlockAppend(
                version=1,
                operation_id="o",
                context_id="c",
                body=AppendBody(
                    block_id="b",
                    lifecycle="open",  # type: ignore[arg-type]
                    content=ContentSnapshot(type="text/plain", data=""),
                ),
            ),
            "invalid_message",
        ),
        (update(7), "invalid_message"),
        (update((SPAN,)), "invalid_message"),
        (update("", ""), "invalid_message"),
        (update("x" * LONG, ""), "invalid_message"),
        (update("a", "text/styled"), "invalid_message"),
        (update("x" * LONG, "text/styled"), "invalid_message"),
        (update((Line(spans=()),), "text/styled"), "invalid_message"),
        (update((SPAN, Line(spans=())), "text/styled"), "invalid_message"),
        (update("\ud800"), "invalid_json_value"),
        (update("x" * LONG + "\ud800"), "invalid_json_value"),
        (update(float("nan"), "image/none"), "invalid_json_value"),
        (update([float("inf")], "image/none"), "invalid_json_value"),
        (update((1,), "image/none"), "invalid_json_value"),
        (update([DEEP], "image/none"), "invalid_json_value"),
        (update("x" * MESSAGE_BYTES_MAX), "message_too_long"),
        (extension(""), "invalid_message"),
        (extension(()), "invalid_message"),
        (extension((SPAN, Line(spans=()))), "invalid_message"),
        (extension(None), "invalid_message"),
    ],
)
@pytest.mark.requirement("terminal:json:written-strictly", "terminal:message:error-paths")
def test_what_the_other_end_would_refuse_is_not_written(found: WireMessage, code: str) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        encode_message(found)

    assert caught.value.code == code


def test_content_that_nobody_reads_may_nest_as_deep_as_a_message_may() -> None:
    found = update(DEEP, "image/none")

    assert DEPTH_MAX == 3 + 61
    assert decode_message(encode_message(found)) == found
    too_deep: Any = DEEP
    for _ in range(3_000):
        too_deep = [too_deep]
    with pytest.raises(LocalProtocolError):
        encode_message(update(too_deep, "image/none"))


def test_the_longest_message_is_written() -> None:
    around = len(encode_message(update("")))

    text = encode_message(update("x" * (MESSAGE_BYTES_MAX - around)))

    assert len(text) == MESSAGE_BYTES_MAX
    with pytest.raises(LocalProtocolError):
        encode_message(update("x" * (MESSAGE_BYTES_MAX - around + 1)))
