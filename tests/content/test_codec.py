"""Events <-> open objects: what is refused and where, and that nothing is lost."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from blockwire.content import (
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    ConversationSnapshot,
    StreamEvent,
    TurnEnded,
    TurnStarted,
    UnknownEvent,
    check_event,
    decode_event,
    encode_event,
    event_members,
    event_type,
    make_snapshot,
)
from blockwire.content.codec import _CLASSES
from blockwire.content.fields import EVENT_FIELDS
from blockwire.errors import LocalProtocolError, RemoteProtocolError
from blockwire.jsontext import Json, decode_json, equal_json
from blockwire.testing.scripts import conversation_scripts, numbered
from blockwire.testing.strategies import ids, json_values, keys, texts
from tests.content.words import TURN, delta, end, folded, prose, user_message

DELTA: dict[str, Json] = {
    "type": "content.block.delta",
    "turn_id": TURN,
    "block_id": "b1",
    "field": "markdown",
    "text": "x",
}
STAMPS: dict[str, Json] = {"conversation_id": "conv_1", "seq": 5, "prev_seq": 4, "ts": 1000}
END: dict[str, Json] = {"type": "turn.failed", "turn_id": TURN, "status": "failed"}
TOOL: dict[str, Json] = {"id": "k1", "type": "tool", "tool": "ls", "status": "completed"}
DONE: dict[str, Json] = {"type": "content.block.completed", "turn_id": TURN, "block_id": "k1"}
START: dict[str, Json] = {
    "type": "turn.started",
    "turn_id": TURN,
    "role": "assistant",
    "created_at": 1,
}
SNAPSHOT: dict[str, Json] = {
    "type": "conversation.snapshot",
    "messages": [],
    "turns": [],
    "open_block_ids": [],
}
LONG = "n" * 257


def started(**block: Json) -> dict[str, Json]:
    return {"type": "content.block.started", "turn_id": TURN, "block": block}


def updated(**changes: Json) -> dict[str, Json]:
    return {"type": "content.block.updated", "turn_id": TURN, "block_id": "k1", "set": changes}


def created(**members: Json) -> dict[str, Json]:
    return {"type": "message.created", "message": {**user_message(), **members}}


def without(record: dict[str, Json], name: str) -> dict[str, Json]:
    return {key: value for key, value in record.items() if key != name}


REFUSALS: list[tuple[Json, str, str]] = [
    ([], "invalid_event", ""),
    ("turn.started", "invalid_event", ""),
    ({}, "invalid_event", "/type"),
    ({"type": 1}, "invalid_event", "/type"),
    ({"type": ""}, "invalid_event", "/type"),
    ({"type": " "}, "invalid_event", "/type"),
    ({"type": "x\ndata: y"}, "invalid_event", "/type"),
    ({"type": LONG}, "invalid_event", "/type"),
    ({"type": "Acme"}, "invalid_enum", "/type"),
    ({"type": "acme", "aB": 1}, "invalid_key", "/aB"),
    ({"type": "acme", "a": [{"é": 1}]}, "invalid_key", "/a/0/é"),
    ({**DELTA, "aB": 1}, "invalid_key", "/aB"),
    (without(DELTA, "turn_id"), "missing_member", "/turn_id"),
    (without(DELTA, "text"), "missing_member", "/text"),
    (without({**DELTA, **STAMPS}, "block_id"), "missing_member", "/block_id"),
    ({**DELTA, "text": None}, "invalid_member", "/text"),
    ({**DELTA, "text": 1, "x": 1}, "invalid_member", "/text"),
    ({**DELTA, "turn_id": ""}, "invalid_name", "/turn_id"),
    ({**DELTA, "turn_id": " \u3000"}, "invalid_name", "/turn_id"),
    ({**DELTA, "turn_id": 1}, "invalid_name", "/turn_id"),
    ({**DELTA, "turn_id": "a\x07"}, "invalid_name", "/turn_id"),
    ({**DELTA, "turn_id": LONG}, "invalid_name", "/turn_id"),
    ({**DELTA, "block_id": "a\x85"}, "invalid_name", "/block_id"),
    ({**DELTA, "block_id": LONG}, "invalid_name", "/block_id"),
    ({**DELTA, "block_id": ""}, "invalid_name", "/block_id"),
    ({**DELTA, "field": "a\x1b"}, "invalid_name", "/field"),
    ({**DELTA, "field": LONG}, "invalid_name", "/field"),
    ({**DELTA, **STAMPS, "seq": 0.5}, "invalid_member", "/seq"),
    ({**DELTA, **STAMPS, "seq": 5.0}, "invalid_member", "/seq"),
    ({**DELTA, **STAMPS, "seq": True}, "invalid_member", "/seq"),
    ({**DELTA, **STAMPS, "seq": "5"}, "invalid_member", "/seq"),
    ({**DELTA, **STAMPS, "seq": -1}, "invalid_member", "/seq"),
    ({**DELTA, **STAMPS, "seq": 2**53}, "invalid_member", "/seq"),
    ({**DELTA, **STAMPS, "prev_seq": 5}, "invalid_member", "/prev_seq"),
    ({**DELTA, **STAMPS, "prev_seq": -1}, "invalid_member", "/prev_seq"),
    ({**DELTA, **STAMPS, "ts": -1}, "invalid_member", "/ts"),
    ({**DELTA, **STAMPS, "ts": 2**53}, "invalid_member", "/ts"),
    ({**DELTA, **STAMPS, "conversation_id": ""}, "invalid_name", "/conversation_id"),
    ({**DELTA, **STAMPS, "conversation_id": 1}, "invalid_name", "/conversation_id"),
    ({**DELTA, **STAMPS, "conversation_id": "a\n"}, "invalid_name", "/conversation_id"),
    ({**DELTA, **STAMPS, "conversation_id": LONG}, "invalid_name", "/conversation_id"),
    (without(START, "created_at"), "missing_member", "/created_at"),
    ({**START, "role": "robot"}, "invalid_enum", "/role"),
    ({**START, "role": []}, "invalid_enum", "/role"),
    ({**START, "created_at": -1}, "invalid_member", "/created_at"),
    ({**START, "model": "\x1b]0;t\x07m"}, "invalid_name", "/model"),
    # Becomes a member of the message, so it is held to the rules of one.
    ({**START, "author": 1}, "invalid_name", "/author"),
    ({**START, "metadata_json": 1}, "invalid_member", "/metadata_json"),
    ({**END, "status": "completed"}, "invalid_enum", "/status"),
    ({**END, "status": "interrupted"}, "invalid_enum", "/status"),
    ({**END, "usage": 3}, "invalid_member", "/usage"),
    ({**END, "content": []}, "invalid_member", "/content"),
    (started(), "missing_member", "/block/id"),
    (started(id="b", type="prose"), "missing_member", "/block/markdown"),
    (started(id="b", type="Prose"), "invalid_enum", "/block/type"),
    (started(id="b", type="\t"), "invalid_name", "/block/type"),
    (started(id="b", type="tool", tool="ls", status="done"), "invalid_enum", "/block/status"),
    (started(id="b", type="x", aB=1), "invalid_key", "/block/aB"),
    ({**started(), "block": []}, "invalid_member", "/block"),
    (updated(tool="rm"), "field_not_mutable", "/set/tool"),
    (updated(x_unknown=1), "field_not_mutable", "/set/x_unknown"),
    (updated(status="done"), "invalid_enum", "/set/status"),
    (updated(attachments=["a", ""]), "invalid_member", "/set/attachments"),
    ({**updated(), "set": None}, "invalid_member", "/set"),
    ({**DONE, "block": {**TOOL, "id": "k2"}}, "invalid_member", "/block/id"),
    (
        {**DONE, "block": {"id": "k1", "type": "prose", "markdown": ""}},
        "field_not_mutable",
        "/block/type",
    ),
    ({**DONE, "block": {**TOOL, "status": 1}}, "invalid_enum", "/block/status"),
    (created(status="streaming"), "invalid_enum", "/message/status"),
    (created(content={}), "invalid_member", "/message/content"),
    (created(completed_at=999), "invalid_member", "/message/completed_at"),
    (
        created(content=[{"id": "b", "type": "x"}, {"id": "b", "type": "x"}]),
        "block_exists",
        "/message/content/1/id",
    ),
    ({"type": "message.created", "message": 1}, "invalid_member", "/message"),
    (
        {"type": "turn.suspended", "turn_id": TURN, "request": []},
        "invalid_member",
        "/request",
    ),
    (
        {"type": "turn.suspended", "turn_id": TURN, "request": {"id": "r", "kind": "threat"}},
        "invalid_enum",
        "/request/kind",
    ),
    ({**SNAPSHOT, "messages": {}}, "invalid_member", "/messages"),
    ({**SNAPSHOT, "messages": [1]}, "invalid_member", "/messages/0"),
    ({**SNAPSHOT, "messages": [user_message()] * 2}, "message_exists", "/messages/1/id"),
    ({**SNAPSHOT, "turns": {}}, "invalid_member", "/turns"),
    ({**SNAPSHOT, "turns": [[]]}, "invalid_member", "/turns/0"),
    ({**SNAPSHOT, "turns": [{"id": {}}]}, "invalid_name", "/turns/0/id"),
    ({**SNAPSHOT, "turns": [{"id": "t"}, {"id": "t"}]}, "turn_exists", "/turns/1/id"),
    ({**SNAPSHOT, "reset": 1}, "invalid_member", "/reset"),
]


@pytest.mark.parametrize(("value", "code", "pointer"), REFUSALS)
@pytest.mark.requirement(
    "content:json:integer-spelling",
    "content:event:object",
    "content:event:members",
    "content:end:status",
    "content:end:no-content",
    "content:stamp:order",
    "content:complete:only-tool",
    "content:message:times",
    "content:update:allowed",
)
@pytest.mark.requirement("content:message:block-ids", "content:block:type")
def test_a_refused_event_names_what_is_wrong_and_where(
    value: Json, code: str, pointer: str
) -> None:
    with pytest.raises(RemoteProtocolError) as refused:
        decode_event(value)

    assert (refused.value.code, refused.value.pointer) == (code, pointer)


def test_every_type_with_fields_has_a_class_and_no_other_has() -> None:
    assert set(_CLASSES) == set(EVENT_FIELDS)


@pytest.mark.parametrize("name", [it for it in EVENT_FIELDS if it != "content.block.delta"])
def test_each_event_of_the_table_has_a_class_with_its_members(name: str) -> None:
    wanted = {**START, **END, **DONE, **SNAPSHOT, **updated(), **started(**TOOL), **created()}
    wanted |= {"request": {"id": "r", "kind": "question", "prompt": ""}}
    status = name.removeprefix("turn.")
    members: dict[str, Json] = {
        field: wanted[field] for field, (_kind, required) in EVENT_FIELDS[name].items() if required
    }
    if "status" in members:
        members["status"] = status

    event = decode_event({"type": name, **members})

    assert event_type(event) == name
    assert event_members(event) == {"type": name, **members}


def test_a_delta_is_decoded_alike_whether_it_is_usual_or_not() -> None:
    usual = decode_event({**DELTA, **STAMPS})
    with_more = decode_event({**DELTA, **STAMPS, "x": 1})
    with_less = decode_event({**DELTA, "seq": 5, "prev_seq": 4})
    odd_names = decode_event({**DELTA, "turn_id": "turn\u200b", "field": ""})

    assert usual == BlockDelta(
        TURN, "b1", "markdown", "x", conversation_id="conv_1", seq=5, prev_seq=4, ts=1000
    )
    assert with_more == replace(usual, extra={"x": 1})
    assert with_less == delta("x").__class__(TURN, "b1", "markdown", "x", seq=5, prev_seq=4)
    assert odd_names == BlockDelta("turn\u200b", "b1", "", "x")


@pytest.mark.parametrize("keys_checked", [True, False])
def test_keys_are_checked_unless_the_caller_did(keys_checked: bool) -> None:
    value: dict[str, Json] = {"type": "acme", "aB": 1}
    if keys_checked:
        assert decode_event(value, keys_checked=True) == UnknownEvent("acme", {"aB": 1})
        return
    with pytest.raises(RemoteProtocolError):
        decode_event(value)


@pytest.mark.requirement("content:event:extra")
def test_unknown_types_and_members_are_kept() -> None:
    huge = 10**40
    value: dict[str, Json] = {"type": "acme.new", "__proto__": {"a": huge}, "s": "\x00", **STAMPS}
    known: dict[str, Json] = {**END, "provider_data": {"x": [None]}, **STAMPS}

    unknown = decode_event(value)

    assert unknown == UnknownEvent(
        "acme.new",
        {"__proto__": {"a": huge}, "s": "\x00"},
        conversation_id="conv_1",
        seq=5,
        prev_seq=4,
        ts=1000,
    )
    assert event_members(unknown) == value
    assert decode_event(known).extra == {"provider_data": {"x": [None]}}
    assert event_members(decode_event(known)) == known


@pytest.mark.requirement("content:event:no-override", "content:stamp:last")
def test_a_payload_overrides_neither_a_stamp_nor_a_member_that_is_known() -> None:
    extra: dict[str, Json] = {"seq": 9, "type": "x", "conversation_id": "y", "text": "z", "x": 1}

    members = event_members(replace(delta("a"), extra=extra, seq=3))

    assert members == {**DELTA, "text": "a", "x": 1, "seq": 3}
    assert event_members(UnknownEvent("a", {"type": "b", "ts": 1, "x": 1})) == {"type": "a", "x": 1}


def test_stamps_come_last() -> None:
    event = decode_event({**STAMPS, "x": 1, **DELTA})

    assert list(event_members(event))[-4:] == list(STAMPS)
    assert encode_event(delta("a")) == (
        b'{"type":"content.block.delta","turn_id":"turn_1","block_id":"b1",'
        b'"field":"markdown","text":"a"}'
    )


OPTIONAL: list[tuple[StreamEvent, dict[str, Json]]] = [
    (TurnStarted(TURN, "user", 0), {"created_at": 0}),
    (TurnStarted(TURN, "user", 0, model=""), {"created_at": 0, "model": ""}),
    (TurnEnded(TURN, "completed", usage={}), {"status": "completed", "usage": {}}),
    (ConversationSnapshot([], [], []), {"messages": [], "turns": [], "open_block_ids": []}),
    (
        ConversationSnapshot([], [], [], reset=True),
        {"messages": [], "turns": [], "open_block_ids": [], "reset": True},
    ),
    (BlockCompleted(TURN, "b", provider_data=[]), {"block_id": "b", "provider_data": []}),
]


@pytest.mark.parametrize(("event", "members"), OPTIONAL)
def test_what_is_required_is_written_and_what_is_not_set_is_left_out(
    event: StreamEvent, members: dict[str, Json]
) -> None:
    written = event_members(event)

    assert members.items() <= written.items()
    assert written.keys() <= members.keys() | {"type", "turn_id", "role"}


@given(conversation_scripts())
@pytest.mark.requirement("content:event:round-trip")
def test_every_event_comes_back_from_the_wire_as_it_was(events: list[StreamEvent]) -> None:
    log = numbered(events)
    log.append(replace(make_snapshot(folded(log)), seq=len(log) + 1, prev_seq=len(log)))

    for event in [*events, *log]:
        text = encode_event(event)
        again = decode_event(decode_json(text))
        assert encode_event(again) == text
        assert equal_json(event_members(again), event_members(event))
        assert check_event(event) == again
        assert b"\n" not in text


@given(st.dictionaries(keys(), json_values(), max_size=4), ids())
def test_any_object_with_an_unknown_type_comes_back_with_its_members(
    members: dict[str, Json], name: str
) -> None:
    value: dict[str, Json] = {**members, "type": "acme." + name.lower()[:200]}
    for stamp in STAMPS:
        value.pop(stamp, None)

    event = decode_event(value)

    assert event_members(event) == value


@given(texts(), ids(), ids())
def test_the_short_way_to_write_a_delta_writes_the_same(text: str, turn_id: str, name: str) -> None:
    event = BlockDelta(turn_id, name, "markdown", text, seq=2, prev_seq=1, conversation_id="c")

    assert equal_json(decode_json(encode_event(event)), event_members(event))


NOT_JSON: list[Any] = ["\ud800", "a\udfff"]


@pytest.mark.parametrize("text", NOT_JSON)
@pytest.mark.requirement("content:json:encodable")
def test_what_could_not_be_written_is_refused_with_a_code(text: str) -> None:
    for event in (delta(text), replace(delta("a"), extra={"x": text}), prose(markdown=text)):
        with pytest.raises(LocalProtocolError) as refused:
            encode_event(event)
        assert refused.value.code == "invalid_json_value"
        with pytest.raises(LocalProtocolError) as refused:
            check_event(event)
        assert refused.value.code == "invalid_json_value"


def test_an_event_of_foreign_code_is_checked_like_one_from_the_wire() -> None:
    bad = BlockStarted(TURN, {"id": "b", "type": "prose"})
    bad_key = UnknownEvent("acme", {"aB": 1})

    for event, code in ((bad, "missing_member"), (bad_key, "invalid_key")):
        with pytest.raises(RemoteProtocolError) as refused:
            check_event(event)
        assert refused.value.code == code
    assert check_event(end()) == end()
