"""``blockwire list``."""

from __future__ import annotations

from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

import anyio
import click

from blockwire.cli.gateways import open_client
from blockwire.cli.options import READER_OPTIONS, options, take_config
from blockwire.cli.output import note, write
from blockwire.cli.settings import Config
from blockwire.client import Conversation
from blockwire.jsontext import encode_json
from blockwire.render import clean


@click.command("list")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one conversation a line.")
@options(*READER_OPTIONS)
def command(limit: int, *, as_json: bool, **arguments: Any) -> None:
    """List conversations, newest first: id, last change, state, title."""
    anyio.run(_list, take_config(arguments), limit, as_json)


async def _list(config: Config, limit: int, as_json: bool) -> None:  # noqa: FBT001 - from anyio.run
    count = 0
    async with (
        open_client(config) as client,
        aclosing(client.list_conversations()) as conversations,
    ):
        async for conversation in conversations:
            as_line = encode_json(conversation.members).decode() + "\n"
            write(as_line if as_json else _line(conversation))
            count += 1
            if count == limit:
                break
    if not count and not as_json:
        note("no conversations yet; start one with: blockwire ask 'hello'")


def _line(conversation: Conversation) -> str:
    changed = datetime.fromtimestamp(conversation.updated_at / 1000, UTC).astimezone()
    state = "running" if conversation.running_turn_id else ""
    title = clean(conversation.title or "")
    return f"{conversation.id}  {changed:%Y-%m-%d %H:%M}  {state:7}  {title}".rstrip() + "\n"
