"""Attachments that the messages of a request name.

Spec: docs/spec/gateway/engines.md, "Files".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from blockwire.content import Block, Message

__all__ = ["attachment_blocks"]


def attachment_blocks(
    messages: Sequence[Message], roles: frozenset[str] | None = None
) -> list[Block]:
    """Return the ``attachment`` blocks of messages (of some ``roles``), newest first."""
    return [
        block
        for message in reversed(messages)
        if roles is None or message["role"] in roles
        for block in reversed(cast("list[Block]", message["content"]))
        if block["type"] == "attachment"
    ]
