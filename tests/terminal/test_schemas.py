"""The published schemas and the decoder agree, but for the classes that are listed."""

from typing import Any, Final

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from blockwire.jsontext import Json, decode_json, encode_json
from blockwire.terminal import InvalidMessage, decode_message, message_schemas
from blockwire.terminal.schemas import SCHEMA_EXCEPTIONS
from blockwire.terminal.vocabulary import WIRE_KINDS
from tests.terminal.messages import mutated
from vectors.terminal_codec_inputs import compact, content, invalid, message, valid

# Interpreting a schema takes a millisecond, so not every profile's number of examples is worth it.
FEW: Final = settings(max_examples=200)

SCHEMAS: Final[Any] = message_schemas()
UNION: Final = Draft202012Validator(SCHEMAS["terminal_message"])
KINDS: Final[dict[str, Draft202012Validator]] = {
    kind: Draft202012Validator(SCHEMAS["terminal_" + kind.replace(".", "_")]) for kind in WIRE_KINDS
}


def is_decoded(value: Json) -> bool:
    try:
        decode_message(encode_json(value))
    except InvalidMessage:
        return False
    return True


def fits(value: Any) -> bool:
    """Tell whether the schema of any message accepts ``value``; that of its kind says the same."""
    found = UNION.is_valid(value)
    kind = value.get("kind") if isinstance(value, dict) else None
    own = KINDS.get(kind) if isinstance(kind, str) else None
    assert found is (own is not None and own.is_valid(value))
    return found


def refs_of(value: Json) -> list[str]:
    if isinstance(value, list):
        return [ref for item in value for ref in refs_of(item)]
    if isinstance(value, dict):
        own = [str(value["$ref"])] if "$ref" in value else []
        return own + [ref for item in value.values() for ref in refs_of(item)]
    return []


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.requirement("terminal:message:schemas")
def test_each_schema_is_one_and_stands_for_itself(name: str) -> None:
    schema = SCHEMAS[name]

    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:blockwire:terminal:{schema['title']}"
    assert set(refs_of(schema)) == {f"#/$defs/{used}" for used in schema["$defs"]}


@pytest.mark.requirement("terminal:message:schemas")
def test_there_is_a_schema_for_each_kind_and_one_for_all() -> None:
    kinds = {"terminal_" + kind.replace(".", "_") for kind in WIRE_KINDS}
    assert set(SCHEMAS) == {*kinds, "terminal_message"}


@pytest.mark.parametrize("row", [*valid()], ids=lambda row: row.name)
@pytest.mark.requirement("terminal:message:schemas-agree")
def test_what_is_valid_fits(row: Any) -> None:
    assert fits(row.message)


@pytest.mark.parametrize(
    "row",
    [row for row in invalid() if row.requirement.startswith("terminal:message")],
    ids=lambda row: row.name,
)
@pytest.mark.requirement("terminal:message:schemas-agree")
def test_what_is_invalid_does_not_fit(row: Any) -> None:
    assert not fits(decode_json(row.text))


@given(mutated())
@FEW
@pytest.mark.requirement("terminal:message:schemas-agree")
def test_a_changed_message_fits_if_and_only_if_it_is_decoded(value: Json) -> None:
    assert fits(value) is is_decoded(value)


UNREAD: Final = compact(content("image/none", "@"))
QUERY: Final = compact(message("capability.query"))

# class -> a text, and the value that a lenient reader makes of it
EXCEPTIONS: Final[dict[str, tuple[bytes, Any]]] = {
    "duplicate_name": (QUERY.replace(b"{", b'{"version":1,', 1), message("capability.query")),
    "lone_surrogate": (
        QUERY.replace(b'"q"', b'"\\ud800"'),
        message("capability.query", request_id="\ud800"),
    ),
    "depth": (UNREAD.replace(b'"@"', b"[" * 62 + b"]" * 62), None),
    "number_range": (
        UNREAD.replace(b"@", b"").replace(b'""', b"9" * 4_301),
        content("image/none", 9.9),
    ),
    "integer_spelling": (QUERY.replace(b"1", b"1.0"), message("capability.query", version=1.0)),
}


def test_each_exception_has_its_case() -> None:
    assert EXCEPTIONS.keys() == SCHEMA_EXCEPTIONS.keys()


@pytest.mark.parametrize("name", EXCEPTIONS)
@pytest.mark.requirement("terminal:message:schema-exceptions")
def test_what_a_schema_lets_through_is_refused_by_the_decoder(name: str) -> None:
    text, value = EXCEPTIONS[name]
    if name == "depth":
        value = decode_json(text, depth_max=200)
    assert UNION.is_valid(value)

    with pytest.raises(InvalidMessage):
        decode_message(text)
