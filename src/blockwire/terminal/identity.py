"""Who is to be told that a message is invalid.

Spec: docs/spec/terminal/messages.md, "Who can be answered".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from blockwire.jsontext import Json
from blockwire.terminal.bounds import PROTOCOL_VERSION
from blockwire.terminal.messages import Identity, OperationIdentity, RequestIdentity
from blockwire.terminal.vocabulary import ENVELOPE_FIELDS, REQUEST_KINDS, TO_TERMINAL, WireKind

__all__ = ["identify", "is_known_version", "known_kind"]

_IDS: Final = ("request_id", "operation_id", "context_id")


def identify(members: Json) -> Identity | None:
    """Return what names the sender's message, or None: then silence is the answer.

    Version and kind are recognised, it is a message to a terminal, and each id that its kind
    requires is a non-empty string. Ids that its kind forbids are not looked at: they make the
    message invalid, not nameless.

    Args:
        members: The JSON value that came; of whatever shape.
    """
    if not isinstance(members, dict) or not is_known_version(members.get("version")):
        return None
    kind = known_kind(members.get("kind"))
    if kind is None or kind not in TO_TERMINAL:
        return None
    ids: dict[str, str] = {}
    for name, presence in zip(_IDS, ENVELOPE_FIELDS[kind], strict=True):
        if presence == "required":
            value = members.get(name)
            if not isinstance(value, str) or not value:
                return None
            ids[name] = value
    identity = RequestIdentity if kind in REQUEST_KINDS else OperationIdentity
    return identity(version=PROTOCOL_VERSION, kind=kind, **ids)


def is_known_version(value: Json) -> bool:
    """Tell whether ``value`` is the version that is spoken here: ``True`` and ``1.0`` are not."""
    return type(value) is int and value == PROTOCOL_VERSION


def known_kind(value: Json) -> WireKind | None:
    """Return ``value`` if it is the name of a kind of message."""
    known = cast("Mapping[Json, object]", ENVELOPE_FIELDS)
    return cast("WireKind", value) if isinstance(value, str) and value in known else None
