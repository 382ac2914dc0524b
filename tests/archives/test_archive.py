"""Our archive: what is written is read again, and nothing that is not whole looks whole."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from blockwire.archives import (
    ARCHIVE_FORMAT,
    ATTACHMENT_DATA_BYTES,
    ArchiveCompleted,
    ArchiveError,
    ArchiveJoiner,
    ArchiveReader,
    ArchiveStarted,
    ArchiveWriter,
    AttachmentData,
    AttachmentStarted,
    ConversationCompleted,
    ConversationStarted,
    IgnoredLine,
    MessageLine,
    TurnLine,
    archive_schema,
)
from blockwire.archives.lines import FOLLOWERS, LINE_FIELDS
from blockwire.content import Message, content_schemas
from blockwire.jsontext import Json, decode_json, encode_json
from blockwire.testing.strategies import messages
from tests.archives.samples import (
    ANSWER,
    CONTENT,
    CONVERSATION,
    QUESTION,
    TURN,
    archive_lines,
    conversation_lines,
    digest,
    read_all,
)

WHOLE = b"".join(archive_lines())


def refusal(data: bytes) -> ArchiveError:
    with pytest.raises(ArchiveError) as refused:
        read_all(data)
    return refused.value


def rewritten(change: Callable[[list[dict[str, Any]]], None]) -> bytes:
    """Return the sample with changed lines, digests left as they were."""
    values: list[Any] = [decode_json(line) for line in archive_lines()]
    change(values)
    return b"".join(encode_json(value) + b"\n" for value in values)


@pytest.mark.requirement("gateway:archive:round-trip")
def test_what_is_written_is_read_again() -> None:
    items = read_all(WHOLE)

    assert [type(item) for item in items] == [
        ArchiveStarted,
        ConversationStarted,
        AttachmentStarted,
        *[AttachmentData] * 3,
        MessageLine,
        MessageLine,
        TurnLine,
        ConversationCompleted,
        ArchiveCompleted,
    ]
    assert [i.conversation for i in items if isinstance(i, ConversationStarted)] == [CONVERSATION]
    assert [i.message for i in items if isinstance(i, MessageLine)] == [QUESTION, ANSWER]
    assert [i.turn for i in items if isinstance(i, TurnLine)] == [TURN]
    assert b"".join(i.data for i in items if isinstance(i, AttachmentData)) == CONTENT
    assert [i.is_last for i in items if isinstance(i, AttachmentData)] == [False, False, True]
    ended = next(item for item in items if isinstance(item, ConversationCompleted))
    assert ended.counts == {"attachment_count": 1, "message_count": 2, "turn_count": 1}
    assert items[-1].conversation_count == 1  # type: ignore[union-attr]


@pytest.mark.requirement("gateway:archive:digests")
def test_digests_are_those_of_the_lines() -> None:
    lines = archive_lines(2)
    ends = [at for at, line in enumerate(lines) if b'"conversation.completed"' in line]
    for start, end in ((1, ends[0]), (ends[0] + 1, ends[1])):
        value: Any = decode_json(lines[end])
        assert value["sha256"] == digest(b"".join(lines[start:end]))
    last: Any = decode_json(lines[-1])
    assert last["sha256"] == digest(b"".join(lines[:-1]))
    assert last["conversation_count"] == 2


@given(st.lists(messages(), max_size=4), st.integers(1, 900))
def test_any_message_comes_back_equal_however_the_bytes_are_cut(
    some: list[Message], cut: int
) -> None:
    writer = ArchiveWriter()
    data = writer.start(created_at=1, generator="g", view="owner")
    data += b"".join(conversation_lines(writer, some, b"abc")) + writer.end()

    items = read_all(data, cut)

    found: list[Json] = [item.message for item in items if isinstance(item, MessageLine)]
    assert encode_json(found) == encode_json([*some])


def test_an_attachment_without_bytes_has_one_empty_piece() -> None:
    writer = ArchiveWriter()
    data = writer.start(created_at=1, generator="g", view="owner")
    data += b"".join(conversation_lines(writer, (), b"")) + writer.end()

    assert [i.data for i in read_all(data) if isinstance(i, AttachmentData)] == [b""]


@pytest.mark.case("P07")
@pytest.mark.requirement("gateway:archive:truncated")
def test_an_archive_that_ends_anywhere_is_not_whole() -> None:
    lines = archive_lines(2)
    for count in range(len(lines)):
        assert refusal(b"".join(lines[:count])).code == "archive_truncated", count
    whole = b"".join(lines)
    for size in [*range(0, len(whole) - 2, 997), *range(len(whole) - 120, len(whole) - 2)]:
        assert refusal(whole[:size]).code == "archive_truncated", size
    # Its last line needs no end.
    assert isinstance(read_all(whole[:-1])[-1], ArchiveCompleted)


@pytest.mark.case("P07")
@pytest.mark.requirement("gateway:archive:damaged")
@pytest.mark.exhaustive
def test_no_byte_can_change_unnoticed() -> None:
    writer = ArchiveWriter()
    data = writer.start(created_at=1, generator="g", view="owner")
    data += b"".join(conversation_lines(writer, (QUESTION,), b"abc")) + writer.end()
    for at in range(len(data) - 1):
        for byte in (0, data[at] ^ 1):
            damaged = data[:at] + bytes([byte]) + data[at + 1 :]
            with pytest.raises(ArchiveError):
                read_all(damaged)


@pytest.mark.requirement("gateway:archive:damaged")
@pytest.mark.parametrize("missing", range(1, 10))
def test_no_line_can_be_missing(missing: int) -> None:
    lines = archive_lines()
    del lines[missing]
    with pytest.raises(ArchiveError):
        read_all(b"".join(lines))


def _set(index: int, path: str, value: Json) -> Callable[[list[dict[str, Any]]], None]:
    def change(values: list[dict[str, Any]]) -> None:
        *parents, name = path.split("/")
        record: Any = values[index]
        for parent in parents:
            record = record[int(parent) if parent.isdigit() else parent]
        record[name] = value

    return change


@pytest.mark.requirement("gateway:archive:errors")
@pytest.mark.parametrize(
    ("change", "code", "line", "pointer"),
    [
        (_set(0, "format", "acme"), "archive_version_unsupported", 1, "/format"),
        (_set(0, "version", 2), "archive_version_unsupported", 1, "/version"),
        (_set(0, "type", "message"), "archive_order", 1, "/type"),
        (_set(0, "type", "acme"), "archive_order", 1, "/type"),
        (_set(0, "type", 7), "invalid_name", 1, "/type"),
        (_set(1, "conversation", []), "invalid_member", 2, "/conversation"),
        (_set(1, "conversation/id", " "), "invalid_name", 2, "/conversation/id"),
        (_set(1, "conversation/X", 1), "invalid_key", 2, "/conversation/X"),
        (_set(2, "attachment/sha256", "ABC"), "invalid_member", 3, "/attachment/sha256"),
        (_set(2, "attachment/size_bytes", 7), "archive_mismatch", 4, "/data"),
        (_set(3, "data", "ä"), "invalid_member", 4, "/data"),
        (_set(3, "data", "YQ=\n="), "invalid_member", 4, "/data"),
        (_set(3, "data", "YR=="), "invalid_member", 4, "/data"),
        (_set(3, "data", ""), "invalid_member", 4, "/data"),
        (_set(3, "type", "acme"), "archive_order", 4, "/type"),
        (_set(6, "message/status", "streaming"), "invalid_enum", 7, "/message/status"),
        (_set(6, "message/content/0/type", 3), "invalid_name", 7, "/message/content/0/type"),
        (_set(8, "turn", {}), "missing_member", 9, "/turn/id"),
        (_set(9, "message_count", 3), "archive_mismatch", 10, None),
        (_set(9, "sha256", "0" * 64), "archive_mismatch", 10, None),
        (_set(10, "conversation_count", 2), "archive_mismatch", 11, None),
        (_set(10, "sha256", "0" * 64), "archive_mismatch", 11, None),
        (lambda values: values.append({"type": "acme"}), "archive_order", 12, "/type"),
        (lambda values: values.insert(1, 7), "invalid_member", 2, ""),
    ],
)
def test_errors_name_line_and_place(
    change: Callable[[list[dict[str, Any]]], None], code: str, line: int, pointer: str | None
) -> None:
    error = refusal(rewritten(change))

    assert (error.code, error.line, error.pointer) == (code, line, pointer)
    assert error.detail.startswith(f"line {line}: ")


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"{", "invalid_json"), (b'{"a":1,"a":2}', "duplicate_member"), (b"\xff", "invalid_unicode")],
)
def test_a_line_is_strict_json(data: bytes, code: str) -> None:
    error = refusal(WHOLE.split(b"\n")[0] + b"\n" + data + b"\n")

    assert (error.code, error.line) == (code, 2)


def test_what_comes_behind_the_end_is_refused_with_and_without_a_line_end() -> None:
    assert refusal(WHOLE + b"{").code == "invalid_json"
    assert refusal(WHOLE + WHOLE).code == "archive_order"
    assert len(read_all(WHOLE + b"\n  \n ")) == len(read_all(WHOLE))


@pytest.mark.requirement("gateway:archive:unknown-lines")
def test_lines_of_unknown_types_are_passed_over_and_told() -> None:
    writer = ArchiveWriter()
    lines = [
        writer.start(created_at=1, generator="g", view="owner"),
        writer.copy(b'{"type":"acme.note","X":1}', is_end=False),
        writer.start_conversation(CONVERSATION),
        writer.copy(b"", is_end=False),
        writer.copy(b'{"type":"acme.mood"}', is_end=False),
        writer.end_conversation(),
        writer.end(),
    ]

    ignored = [i for i in read_all(b"".join(lines)) if isinstance(i, IgnoredLine)]

    assert ignored == [IgnoredLine("acme.note", 2), IgnoredLine("acme.mood", 5)]


@pytest.mark.requirement("gateway:archive:bounds")
def test_a_reader_keeps_no_more_than_a_line() -> None:
    reader = ArchiveReader(line_bytes_max=1000)
    for count in range(1, 4):
        assert list(reader.receive_data(b" " * 300)) == []
        assert reader.retained_bytes == count * 300

    with pytest.raises(ArchiveError) as refused:
        list(reader.receive_data(b" " * 300))

    assert (refused.value.code, refused.value.line) == ("archive_line_too_long", 1)


def test_archives_are_joined_line_by_line() -> None:
    writer = ArchiveWriter()
    joiner = ArchiveJoiner(writer, line_bytes_max=100_000)
    joined = [writer.start(created_at=1, generator="g", view="owner")]
    for part in (archive_lines(2), archive_lines(0), archive_lines(1)):
        data = b"".join(part)
        joiner.start_part()
        for at in range(0, len(data), 5_000):
            joined += joiner.receive_data(data[at : at + 5_000])
        joiner.end_part()
    joined.append(writer.end())

    items = read_all(b"".join(joined))

    assert items[-1].conversation_count == 3  # type: ignore[union-attr]
    conversation = archive_lines(3)[1:-1]
    assert joined[1:-1] == conversation


def test_a_part_that_is_cut_or_too_long_does_not_join() -> None:
    joiner = ArchiveJoiner(ArchiveWriter(), line_bytes_max=1_000)
    list(joiner.receive_data(archive_lines()[0]))
    with pytest.raises(ArchiveError, match="archive_truncated"):
        joiner.end_part()
    joiner.start_part()
    with pytest.raises(ArchiveError, match="archive_line_too_long"):
        list(joiner.receive_data(WHOLE))


# schema ------------------------------------------------------------------------------------
def validator() -> Draft202012Validator:
    contents = Resource.from_contents(content_schemas()["complete_message"])
    registry: Registry[Any] = Registry().with_resource(
        "urn:blockwire:content:complete_message", contents
    )
    return Draft202012Validator(archive_schema(), registry=registry)


@pytest.mark.requirement("gateway:archive:schema")
def test_every_line_fits_the_schema() -> None:
    check = validator()
    Draft202012Validator.check_schema(archive_schema())
    for line in archive_lines(2):
        value = decode_json(line)
        assert list(check.iter_errors(value)) == [], line
        assert isinstance(value, dict)
        assert list(check.iter_errors({**value, "type": "acme"})) == []
        for name in value:
            assert not check.is_valid({k: v for k, v in value.items() if k != name}) or name in {
                "created_at",
                "generator",
                "view",
            }


def test_the_tables_name_the_same_lines() -> None:
    assert set().union(*FOLLOWERS.values()) == LINE_FIELDS.keys()
    schema: Any = archive_schema()
    assert len(schema["oneOf"]) == len(LINE_FIELDS) + 1
    assert ARCHIVE_FORMAT in encode_json(schema).decode()
    assert max(len(line) for line in archive_lines()) < ATTACHMENT_DATA_BYTES * 1.5
