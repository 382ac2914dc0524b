"""Kinds of ids and their prefixes.

Spec: docs/spec/content/model.md. An id is opaque to receivers; ours are a prefix and a ULID, made
by an ``IdFactory`` (``blockwire.ports``) above this room.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

__all__ = ["ID_PREFIXES", "IdKind"]

IdKind = Literal["conversation", "turn", "message", "block", "attachment", "request", "share"]

# A turn's assistant message has the turn's id; ``msg_`` is for all other messages.
ID_PREFIXES: Final[Mapping[IdKind, str]] = MappingProxyType(
    {
        "conversation": "conv_",
        "turn": "turn_",
        "message": "msg_",
        "block": "block_",
        "attachment": "att_",
        "request": "req_",
        "share": "share_",
    }
)
