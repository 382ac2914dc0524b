"""A question on its way to the gateway, and once more to one that has forgotten it.

Spec: docs/reference/cli.md.
"""

from __future__ import annotations

import contextlib
from http import HTTPStatus
from typing import Any

from msgspec import Struct

from blockwire.cli.attaching import attach_files
from blockwire.cli.gateways import newest_conversation
from blockwire.client import AsyncClient, ClientError, Turn, new_key
from blockwire.content import Block
from blockwire.errors import LocalProtocolError

__all__ = ["Asked", "ask_question"]


class Asked(Struct, frozen=True, kw_only=True):
    """What was asked.

    Attributes:
        conversation_id: Where.
        content: Text, or blocks.
        files: The blocks of its files.
        options: Engine and model.
        key: Under which the same question never starts twice.
        turn: What came of it.
    """

    conversation_id: str
    content: str | list[Block]
    files: list[Block]
    options: dict[str, Any]
    key: str
    turn: Turn

    async def again(self, client: AsyncClient) -> Turn:
        """Submit the same under the same key and return its turn."""
        return await client.submit(
            self.conversation_id, self.content, idempotency_key=self.key, **self.options
        )


async def ask_question(
    client: AsyncClient, text: str, engine: str | None, arguments: dict[str, Any]
) -> Asked:
    """Ask, in a conversation of its own where none is named; a refused question leaves none."""
    conversation_id = await _named_conversation(client, arguments)
    is_new = conversation_id is None
    if conversation_id is None:
        # The gateway names it after the question.
        conversation_id = (await client.create_conversation()).id
    options = {"engine": engine, "model": arguments["model"]}
    key = new_key()
    try:
        files = await attach_files(client, conversation_id, arguments["attach"])
        content: str | list[Block] = text
        if files:
            content = [{"type": "prose", "markdown": text}, *files]
        turn = await client.submit(conversation_id, content, idempotency_key=key, **options)
    except (ClientError, LocalProtocolError) as error:
        # Without a status nobody knows whether the turn has begun.
        status = error.status if isinstance(error, ClientError) else HTTPStatus.BAD_REQUEST
        if is_new and status is not None and status < HTTPStatus.INTERNAL_SERVER_ERROR:
            with contextlib.suppress(ClientError):
                await client.delete_conversation(conversation_id)
        raise
    return Asked(
        conversation_id=conversation_id,
        content=content,
        files=files,
        options=options,
        key=key,
        turn=turn,
    )


async def _named_conversation(client: AsyncClient, arguments: dict[str, Any]) -> str | None:
    if arguments["conversation"] is not None:
        conversation_id: str = arguments["conversation"]
        return conversation_id
    newest = await newest_conversation(client) if arguments["last"] else None
    return None if newest is None else newest.id
