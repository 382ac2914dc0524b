"""The published schemas and the decoder agree, but for the classes that are listed."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from blockwire.content import (
    SCHEMA_EXCEPTIONS,
    Message,
    StreamEvent,
    check_complete_message,
    check_message,
    content_schemas,
    decode_event,
    event_members,
    make_snapshot,
)
from blockwire.content.fields import BLOCK_FIELDS, EVENT_FIELDS, is_id, is_name
from blockwire.content.json_schema import _KINDS
from blockwire.content.validate import check_block, check_open_value
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import Json, decode_json
from blockwire.testing.scripts import conversation_scripts, numbered
from blockwire.testing.strategies import messages
from tests.content.test_codec import REFUSALS, STAMPS
from tests.content.test_validate import MINIMAL
from tests.content.words import TURN, folded, user_message

# Interpreting a schema takes milliseconds, so not every profile's number of examples is worth it.
FEW = settings(max_examples=80)

SCHEMAS = content_schemas()
VALIDATORS = {name: Draft202012Validator(schema) for name, schema in SCHEMAS.items()}


def fits(name: str, value: Any) -> bool:
    return VALIDATORS[name].is_valid(value)


def refusal(name: str, value: Json) -> RemoteProtocolError | None:
    """Return how the decoder refuses ``value`` as what the schema of this name describes."""
    checks: dict[str, Callable[[], object]] = {
        "event": lambda: decode_event(value),
        "block": lambda: check_block(check_open_value(value)),
        "message": lambda: check_message(check_open_value(value)),
        "complete_message": lambda: check_complete_message(check_open_value(value)),
    }
    try:
        checks[name]()
    except RemoteProtocolError as error:
        return error
    return None


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.requirement("content:schema:self-contained")
def test_each_schema_is_one_and_stands_for_itself(name: str) -> None:
    schema = SCHEMAS[name]

    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:blockwire:content:{name}"
    definitions = schema["$defs"]
    assert isinstance(definitions, dict)
    references = set(refs_of(schema))
    assert references == {f"#/$defs/{used}" for used in definitions}


def refs_of(value: Json) -> list[str]:
    if isinstance(value, list):
        return [ref for item in value for ref in refs_of(item)]
    if isinstance(value, dict):
        own = [str(value["$ref"])] if "$ref" in value else []
        return own + [ref for item in value.values() for ref in refs_of(item)]
    return []


def test_there_is_a_schema_for_everything_in_the_tables() -> None:
    assert set(SCHEMAS) == {
        "message",
        "complete_message",
        "block",
        "block_unknown",
        "event",
        "event_unknown",
        "request",
        "tool_changes",
        "turn",
        *(f"block_{name}" for name in BLOCK_FIELDS),
        *(f"event_{name.replace('.', '_')}" for name in EVENT_FIELDS),
    }


def nested(levels: int) -> Json:
    value: Json = 1
    for _ in range(levels):
        value = [value]
    return value


EXCEPTIONS: dict[str, tuple[str, Json | bytes]] = {
    "duplicate_name": ("event", b'{"type":"acme","a":1,"a":2}'),
    "lone_surrogate": ("event", b'{"type":"acme","a":"\\ud800"}'),
    "depth": ("event", b'{"type":"acme","a":' + b"[" * 64 + b"]" * 64 + b"}"),
    "number_range": ("event", b'{"type":"acme","a":1e999}'),
    "integer_spelling": ("message", user_message(created_at=1.0)),
    "completed_before_created": ("message", user_message(completed_at=1)),
    "repeated_block_id": ("message", user_message(content=[MINIMAL["acme"], MINIMAL["code"]])),
    "repeated_message_id": (
        "event",
        {
            "type": "conversation.snapshot",
            "messages": [user_message(), user_message()],
            "turns": [],
            "open_block_ids": [],
        },
    ),
    "repeated_turn_id": (
        "event",
        {
            "type": "conversation.snapshot",
            "messages": [],
            "turns": [{"id": "t"}, {"id": "t"}],
            "open_block_ids": [],
        },
    ),
    "number_order": ("event", {"type": "acme", **STAMPS, "prev_seq": 7}),
    "other_block": (
        "event",
        {
            "type": "content.block.completed",
            "turn_id": TURN,
            "block_id": "k1",
            "block": MINIMAL["tool"],
        },
    ),
    "capitals_beyond_ascii": ("block", {"id": "b", "type": "É"}),
}


def test_every_exception_is_listed_and_has_its_example() -> None:
    assert EXCEPTIONS.keys() == SCHEMA_EXCEPTIONS.keys()


@pytest.mark.parametrize("exception", EXCEPTIONS)
@pytest.mark.requirement("content:schema:exceptions")
def test_what_a_schema_cannot_say_the_decoder_refuses(exception: str) -> None:
    name, value = EXCEPTIONS[exception]
    if isinstance(value, bytes):
        # Refused as text already, so that no schema ever sees it.
        with pytest.raises(RemoteProtocolError):
            decode_json(value)
        return

    assert fits(name, value)
    assert refusal(name, value) is not None


def is_exceptional(error: RemoteProtocolError, value: Json) -> bool:
    """Return whether a refusal is of a class that no schema can express."""
    where = error.pointer or ""
    if error.code in {"block_exists", "message_exists", "turn_exists"}:
        return True
    if where.endswith("/completed_at"):
        return "before" in error.detail
    if where == "/prev_seq":
        return "before" in error.detail
    if where == "/block/id":
        return "block of" in error.detail
    if where.endswith("/type"):
        return error.code == "invalid_enum" and not str(at(value, where)).isascii()
    found = at(value, where)
    return isinstance(found, float) and found.is_integer()


def at(value: Json, where: str) -> Json:
    """Return what stands at a JSON Pointer, None where nothing does."""
    for step in where.split("/")[1:]:
        if isinstance(value, list):
            value = value[int(step)]
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


@pytest.mark.parametrize(("value", "code", "pointer"), REFUSALS)
def test_what_the_decoder_refuses_does_not_fit(value: Json, code: str, pointer: str) -> None:
    error = refusal("event", value)

    assert error is not None
    assert (error.code, error.pointer) == (code, pointer)
    assert fits("event", value) == is_exceptional(error, value)


@pytest.mark.parametrize("kind", sorted(MINIMAL))
def test_each_block_fits_its_own_schema_and_no_other(kind: str) -> None:
    fitting = {name for name in SCHEMAS if name.startswith("block_") and fits(name, MINIMAL[kind])}

    assert fitting == {f"block_{kind}" if kind in BLOCK_FIELDS else "block_unknown"}
    assert fits("block", MINIMAL[kind])


def test_the_patterns_of_names_mean_what_the_decoder_does_for_every_character() -> None:
    validators = {kind: Draft202012Validator(_KINDS[kind]) for kind in ("id", "name", "spoken")}
    # All of the planes that hold blanks, controls or anything that is not a letter.
    for text in map(chr, [*range(0xD800), *range(0xE000, 0x11000), 0x1F600, 0x10FFFF]):
        assert validators["name"].is_valid(text) == is_name(text)
        assert validators["id"].is_valid(text) == is_id(text)
        assert validators["spoken"].is_valid(text) == bool(text.strip())


@FEW
@given(conversation_scripts())
def test_every_valid_event_fits_the_schema_of_its_type(events: list[StreamEvent]) -> None:
    log = numbered(events)
    for event in [*log[:8], make_snapshot(folded(log))]:
        members = event_members(event)
        kind = str(members["type"])
        name = kind.replace(".", "_") if kind in EVENT_FIELDS else "unknown"
        assert [it.message for it in VALIDATORS["event"].iter_errors(members)] == []
        assert fits(f"event_{name}", members)


@FEW
@given(messages())
def test_every_valid_message_fits(message: Message) -> None:
    assert fits("message", message)
    assert fits("complete_message", message)


ODD: list[Json] = [
    None, True, 0, -1, 2**53, 2**60, 1.5, "", " ", "x", "X", "a\n", "\x1b", "completed", "x" * 300,
    [], [1], {}, {"aB": 1}, {"id": "b", "type": "prose"}, {"id": "b", "type": "tool", "tool": "x"},
]  # fmt: skip


def places(value: Json, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    below: list[tuple[str | int, Json]] = []
    if isinstance(value, dict):
        below = list(value.items())
    elif isinstance(value, list):
        below = list(enumerate(value))
    return [path, *(place for step, it in below for place in places(it, (*path, step)))]


def changed(value: Json, path: tuple[str | int, ...], new: Json, *, drop: bool) -> Json:
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(value, dict):
        if drop and not rest:
            return {key: it for key, it in value.items() if key != step}
        return {
            k: changed(it, rest, new, drop=drop) if k == step else it for k, it in value.items()
        }
    assert isinstance(value, list)
    return [changed(it, rest, new, drop=drop) if i == step else it for i, it in enumerate(value)]


@FEW
@given(conversation_scripts(steps_max=6), st.data(), st.sampled_from(ODD), st.booleans())
@example([], None, None, False)
@pytest.mark.requirement("content:schema:agrees")
def test_schema_and_decoder_agree_on_whatever_is_changed_in_an_event(
    events: list[StreamEvent], data: st.DataObject | None, new: Json, drop: bool
) -> None:
    if data is None:
        value: Json = {"type": "acme", "aB": 1}
    else:
        event = data.draw(st.sampled_from(numbered(events)))
        members = event_members(event)
        value = changed(members, data.draw(st.sampled_from(places(members))), new, drop=drop)

    error = refusal("event", value)

    assert fits("event", value) == (error is None or is_exceptional(error, value))


@FEW
@given(messages(), st.data(), st.sampled_from(ODD), st.booleans())
@pytest.mark.requirement("content:schema:agrees")
def test_schema_and_decoder_agree_on_whatever_is_changed_in_a_message(
    message: Message, data: st.DataObject, new: Json, drop: bool
) -> None:
    value = changed(message, data.draw(st.sampled_from(places(message))), new, drop=drop)

    for name in ("message", "complete_message"):
        error = refusal(name, value)
        assert fits(name, value) == (error is None or is_exceptional(error, value))


def test_nesting_is_counted_by_the_decoder_only() -> None:
    assert fits("event", {"type": "acme", "a": nested(70)})
