"""What every document says around the blocks of a message: who speaks, when, how it ended.

Spec: docs/spec/rendering/documents.md. Words only; each format has its own way to write them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Final, NamedTuple, cast

from blockwire.content import Block, Message
from blockwire.jsontext import Json
from blockwire.text import label_controls

__all__ = [
    "Caption",
    "caption_of",
    "duration_words",
    "label_name",
    "message_note",
    "time_iso",
    "time_words",
]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TIME_MAX: Final = 253_402_300_799_999
"""Milliseconds up to the end of year 9999; later times are not shown."""

_ROLE_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "user": "User",
        "assistant": "Assistant",
        "system": "System",
        "developer": "Developer",
        "tool": "Tool",
    }
)
_NOTES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "streaming": "This message was still being written.",
        "suspended": "This message was waiting for an answer.",
        "failed": "This message ended with an error.",
        "cancelled": "This message was stopped.",
    }
)


class Caption(NamedTuple):
    """Who speaks, one line each, controls as labels.

    Attributes:
        name: The author, else the role.
        role: The role beside an author, so that no author passes for another; else empty.
        model: Empty where the message names none.
        created_at: Milliseconds since 1970.
    """

    name: str
    role: str
    model: str
    created_at: int


def label_name(value: Json) -> str:
    """Return a name as one line without controls; nothing for what is no string."""
    if not isinstance(value, str):
        return ""
    return label_controls(value.strip(), breaks="label", tabs="label")


def caption_of(message: Message) -> Caption:
    """Return what stands above ``message``."""
    role = label_name(message["role"])
    role_name = _ROLE_NAMES.get(role, role)
    author = label_name(message.get("author"))
    return Caption(
        author or role_name,
        role_name if author else "",
        label_name(message.get("model")),
        cast("int", message["created_at"]),
    )


def message_note(message: Message) -> str:
    """Return what is to be said below a message that is not simply complete, else nothing."""
    return _NOTES.get(cast("str", message["status"]), "")


def _moment(time_ms: int) -> datetime | None:
    return _EPOCH + timedelta(milliseconds=time_ms) if 0 <= time_ms <= _TIME_MAX else None


def time_words(time_ms: int) -> str:
    """Return a time for people, to the minute and in UTC; nothing for one no calendar has."""
    moment = _moment(time_ms)
    return "" if moment is None else moment.strftime("%Y-%m-%d %H:%M UTC")


def time_iso(time_ms: int) -> str:
    """Return a time for programs, to the second; nothing for one that no calendar has."""
    moment = _moment(time_ms)
    return "" if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def duration_words(block: Block) -> str:
    """Return how long a tool took, or nothing where its times do not say."""
    started, completed = block.get("started_at"), block.get("completed_at")
    if not isinstance(started, int) or not isinstance(completed, int) or completed < started:
        return ""
    seconds = (completed - started) / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"
