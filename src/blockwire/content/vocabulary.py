"""The closed vocabularies, bounds and transition tables of content blocks.

Spec: docs/spec/content/model.md.

The values are equal on the wire, in the code, in the store and in the tests. Block types are
open on the wire, so a block type is a ``str`` with known values.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, get_args

from blockwire.jsontext import SAFE_INTEGER_MAX, Json

__all__ = [
    "DELTA_FIELDS",
    "END_MEMBERS",
    "EXPLAINING_TYPES",
    "GATEWAY_EVENTS",
    "MESSAGE_STATUSES",
    "NAME_CHARS_MAX",
    "OWNER_ROLES",
    "ROLES",
    "TERMINAL_STATUSES",
    "TIME_MAX",
    "TOOL_FINISHED",
    "TOOL_ORDER",
    "TOOL_STATUSES",
    "TURN_ENDS",
    "TURN_STATUSES",
    "TURN_TERMINAL_STATUSES",
    "VIEWS",
    "VISIBILITIES",
    "Block",
    "Message",
    "MessageStatus",
    "Role",
    "TerminalStatus",
    "ToolStatus",
    "TurnStatus",
    "View",
    "Visibility",
]

Block = dict[str, Json]
"""One content block as JSON: ``id``, ``type`` and the members of its type, unknown ones kept."""

Message = dict[str, Json]
"""One message envelope as JSON, unknown members kept."""

Role = Literal["user", "assistant", "system", "developer", "tool"]
MessageStatus = Literal["streaming", "completed", "failed", "cancelled", "suspended"]
TerminalStatus = Literal["completed", "failed", "cancelled"]
TurnStatus = Literal[
    "queued", "running", "suspended", "completed", "failed", "cancelled", "interrupted"
]
ToolStatus = Literal["pending", "running", "completed", "failed", "cancelled"]
Visibility = Literal["private", "visible"]
View = Literal["owner", "public"]

ROLES: Final[frozenset[str]] = frozenset(get_args(Role))
MESSAGE_STATUSES: Final[frozenset[str]] = frozenset(get_args(MessageStatus))
TERMINAL_STATUSES: Final[frozenset[str]] = frozenset(get_args(TerminalStatus))
TURN_STATUSES: Final[tuple[str, ...]] = get_args(TurnStatus)
TURN_TERMINAL_STATUSES: Final[frozenset[str]] = TERMINAL_STATUSES | {"interrupted"}
TOOL_STATUSES: Final[tuple[str, ...]] = get_args(ToolStatus)
VISIBILITIES: Final[tuple[str, ...]] = get_args(Visibility)
VIEWS: Final[tuple[str, ...]] = get_args(View)

# Messages of these roles reach owner views only (docs/spec/content/visibility.md).
OWNER_ROLES: Final[frozenset[str]] = frozenset({"system", "developer"})

NAME_CHARS_MAX: Final = 256
"""Unicode scalar values of a name that people see, ids included."""

TIME_MAX: Final = SAFE_INTEGER_MAX
"""Milliseconds since 1970."""

# The one text field of each type that grows by deltas. Every other field comes whole.
DELTA_FIELDS: Final[Mapping[str, str]] = MappingProxyType(
    {"prose": "markdown", "reasoning": "text"}
)

# A tool moves up this order, may skip steps and never goes back; the last three are final.
TOOL_ORDER: Final[Mapping[str, int]] = MappingProxyType(
    {"pending": 0, "running": 1, "completed": 2, "failed": 2, "cancelled": 2}
)
TOOL_FINISHED: Final[frozenset[str]] = frozenset({"completed", "failed", "cancelled"})

# Blocks that tell the reader why a turn did not succeed.
EXPLAINING_TYPES: Final[frozenset[str]] = frozenset({"error", "notice"})

# terminal event type -> the status that it repeats
TURN_ENDS: Final[Mapping[str, TerminalStatus]] = MappingProxyType(
    {
        "turn.completed": "completed",
        "turn.failed": "failed",
        "turn.cancelled": "cancelled",
    }
)

# What a terminal event says of the turn that its message does not hold.
END_MEMBERS: Final = ("finish_reason", "reason", "error_code")

# Told to readers by the gateway alone: an engine or producer that says so speaks for somebody else.
GATEWAY_EVENTS: Final[frozenset[str]] = frozenset(
    {"turn.queued", "turn.dequeued", "conversation.deleted", "subscription.ready"}
)
