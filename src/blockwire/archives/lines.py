"""The one definition of what the lines of an archive hold, and which may follow which.

Spec: docs/spec/gateway/exports.md, "The archive".

The tables below are what the reader checks and what the published JSON Schemas are made of.
Members that a table does not name are allowed and mean nothing to this version.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, cast

from blockwire.content.fields import Field
from blockwire.jsontext import DEPTH_MAX, SAFE_INTEGER_MAX, Json

__all__ = [
    "ARCHIVE_FORMAT",
    "ARCHIVE_MEDIA_TYPE",
    "ARCHIVE_VERSION",
    "ATTACHMENT_DATA_BYTES",
    "FOLLOWERS",
    "LINE_BYTES_MAX",
    "LINE_DEPTH_MAX",
    "LINE_FIELDS",
    "RECORD_FIELDS",
    "SHA256",
    "Place",
    "archive_schema",
]

ARCHIVE_FORMAT: Final = "blockwire.archive"
ARCHIVE_VERSION: Final = 1
ARCHIVE_MEDIA_TYPE: Final = "application/x-ndjson"

# Bytes of one line. A message is at most what one turn may hold (docs/spec/gateway/limits.md), and its
# line adds little.
LINE_BYTES_MAX: Final = 68_157_440

# A message that grew out of events may nest two levels deeper than an event that was sent, since
# `message.content[i]` stands where `event.block` stood; the line is one more.
LINE_DEPTH_MAX: Final = DEPTH_MAX + 3

# Bytes of an attachment on one line: its base64 is 64 KiB, without padding but on the last.
ATTACHMENT_DATA_BYTES: Final = 49_152
assert ATTACHMENT_DATA_BYTES % 3 == 0, "a full piece must encode without padding"

SHA256: Final = r"^[0-9a-f]{64}$"

Place = Literal["start", "archive", "conversation", "attachment", "end"]
"""Where a reader is: before the first line, between conversations, in one, in the bytes of an
attachment, behind the last line."""

# place -> types of lines that may come there. Unknown types may come between and in conversations.
FOLLOWERS: Final[Mapping[Place, frozenset[str]]] = MappingProxyType(
    {
        "start": frozenset({"archive.started"}),
        "archive": frozenset({"conversation.started", "archive.completed"}),
        "conversation": frozenset(
            {"attachment.started", "message", "turn", "conversation.completed"}
        ),
        "attachment": frozenset({"attachment.data"}),
        "end": frozenset(),
    }
)


def _fields(**members: Field) -> Mapping[str, Field]:
    return MappingProxyType(members)


_COUNT: Final = Field("integer", required=True)
_DIGEST: Final = Field("text", required=True)

LINE_FIELDS: Final[Mapping[str, Mapping[str, Field]]] = MappingProxyType(
    {
        "archive.started": _fields(
            format=Field("name", required=True),
            version=_COUNT,
            created_at=Field("integer"),
            generator=Field("name"),
            view=Field("name"),
        ),
        "conversation.started": _fields(conversation=Field("object", required=True)),
        "attachment.started": _fields(attachment=Field("object", required=True)),
        "attachment.data": _fields(data=Field("text", required=True)),
        "message": _fields(message=Field("complete_message", required=True)),
        "turn": _fields(turn=Field("object", required=True)),
        "conversation.completed": _fields(
            attachment_count=_COUNT, message_count=_COUNT, turn_count=_COUNT, sha256=_DIGEST
        ),
        "archive.completed": _fields(conversation_count=_COUNT, sha256=_DIGEST),
    }
)

# Member of a line -> what is in the object there.
RECORD_FIELDS: Final[Mapping[str, Mapping[str, Field]]] = MappingProxyType(
    {
        "conversation": _fields(
            id=Field("id", required=True),
            title=Field("name"),
            tags=Field("ids"),
            created_at=Field("integer", required=True),
            updated_at=Field("integer"),
            system=Field("text"),
            metadata=Field("object"),
            seq=Field("integer"),
            unfinished_turn_ids=Field("ids"),
        ),
        "attachment": _fields(
            id=Field("id", required=True),
            name=Field("name", required=True),
            media_type=Field("name", required=True),
            size_bytes=Field("integer", required=True),
            sha256=Field("text", required=True),
            created_at=Field("integer"),
        ),
        "turn": _fields(id=Field("id", required=True), status=Field("name", required=True)),
    }
)

_KINDS: Final[Mapping[str, dict[str, Json]]] = MappingProxyType(
    {
        "id": {"type": "string", "minLength": 1, "maxLength": 256},
        "name": {"type": "string", "maxLength": 256},
        "text": {"type": "string"},
        "integer": {"type": "integer", "minimum": 0, "maximum": SAFE_INTEGER_MAX},
        "ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 256}},
        "object": {"type": "object"},
    }
)

# Members that hold less than their kind does.
_NARROWER: Final[Mapping[str, dict[str, Json]]] = MappingProxyType(
    {
        "format": {"const": ARCHIVE_FORMAT},
        "version": {"const": ARCHIVE_VERSION},
        "sha256": {"type": "string", "pattern": SHA256},
        "data": {"type": "string", "contentEncoding": "base64"},
    }
)


def archive_schema(message: str = "urn:blockwire:content:complete_message") -> dict[str, Json]:
    """Return the JSON Schema (2020-12) of any line of an archive.

    Args:
        message: Where the schema ``complete_message`` is (docs/spec/content/schemas.md).
    """
    choices: list[Json] = [
        _object(fields, message, type={"const": name}) for name, fields in LINE_FIELDS.items()
    ]
    unknown: Json = {
        "type": "object",
        "properties": {"type": {"type": "string", "not": {"enum": [*LINE_FIELDS]}}},
        "required": ["type"],
    }
    return {"description": "One line of an archive.", "oneOf": [*choices, unknown]}


def _object(fields: Mapping[str, Field], message: str, **extra: Json) -> Json:
    properties: dict[str, Json] = dict(extra)
    for name, field in fields.items():
        if name in RECORD_FIELDS:
            properties[name] = _object(RECORD_FIELDS[name], message)
        elif field.kind == "complete_message":
            properties[name] = {"$ref": message}
        else:
            properties[name] = cast("Json", _NARROWER.get(name, _KINDS[field.kind]))
    required: list[Json] = [*extra, *(name for name, field in fields.items() if field.required)]
    return {"type": "object", "properties": properties, "required": required}
