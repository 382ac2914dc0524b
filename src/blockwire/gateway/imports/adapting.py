"""What an archive tells of, as it is here: under the ids and within the bounds of this gateway.

Spec: docs/spec/gateway/exports.md, "Import".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from blockwire.archives import ArchiveError, ConversationStarted
from blockwire.content import Message
from blockwire.content.naming import named_attachments
from blockwire.errors import RemoteProtocolError
from blockwire.gateway.bodies import read_conversation_body
from blockwire.jsontext import Json
from blockwire.ports import ConversationRow

__all__ = ["adapted_message", "adapted_row"]

_BODY_MEMBERS: Final = ("title", "tags", "system", "metadata")


def adapted_row(
    item: ConversationStarted, new_id: str, now_ms: int, tenant: str | None
) -> ConversationRow:
    """Return the row of a conversation that an archive begins with ``item``.

    Raises:
        ArchiveError: What :func:`~blockwire.gateway.bodies.read_conversation_body` refuses, with
            its line.
    """
    members = item.conversation
    try:
        read = read_conversation_body(
            {name: members[name] for name in _BODY_MEMBERS if name in members}
        )
    except RemoteProtocolError as error:
        place = f"/conversation{error.pointer or ''}"
        raise ArchiveError(error.code, error.detail, item.line, place) from None
    return ConversationRow(
        id=new_id,
        # What lies ahead would be the newest of all for ever.
        created_at=min(cast("int", members["created_at"]), now_ms),
        updated_at=now_ms,
        title=read.title,
        tags=read.tags,
        tenant=tenant,
        system=read.system,
        metadata=read.metadata,
    )


def adapted_message(message: Message, conversation_id: str, renamed: Mapping[str, str]) -> Message:
    """Return a message as one of this conversation.

    Args:
        message: As the archive has it.
        conversation_id: The conversation's id here.
        renamed: New ids of attachments whose own were taken.
    """
    if "conversation_id" in message:
        message = {**message, "conversation_id": conversation_id}
    if renamed:
        blocks = cast("list[dict[str, Json]]", message["content"])
        message = {**message, "content": [_adapted_block(block, renamed) for block in blocks]}
    return message


def _adapted_block(block: dict[str, Json], renamed: Mapping[str, str]) -> Json:
    if renamed.keys().isdisjoint(named_attachments(block)):
        return block
    block = dict(block)
    one, several = block.get("attachment_id"), block.get("attachments")
    if isinstance(one, str):
        block["attachment_id"] = renamed.get(one, one)
    if isinstance(several, list):
        block["attachments"] = [
            renamed.get(name, name) if isinstance(name, str) else name for name in several
        ]
    return block
