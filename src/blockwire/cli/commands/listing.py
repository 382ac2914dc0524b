"""``blockwire list``."""

from __future__ import annotations

from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

import anyio
import click

from blockwire.cli.gateways import open_client
from blockwire.cli.options import READER_OPTIONS, options, take_config
from blockwire.cli.output import note, one_line, write, write_json
from blockwire.cli.settings import Config
from blockwire.client import Conversation
from blockwire.errors import StoreError


@click.command("list")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="How many at most.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one conversation a line.")
@options(*READER_OPTIONS)
def command(limit: int, *, as_json: bool, **arguments: Any) -> None:
    """List conversations, the one begun last first: id, last change, state, title.

    The ids are what "blockwire show", "watch" and "ask --conversation" take.
    """
    anyio.run(_list, take_config(arguments), limit, as_json)


async def _list(config: Config, limit: int, as_json: bool) -> None:  # noqa: FBT001 - from anyio.run
    count = 0
    try:
        async with (
            open_client(config, makes_store=False) as client,
            aclosing(client.list_conversations()) as conversations,
        ):
            async for conversation in conversations:
                if as_json:
                    write_json(dict(conversation.members))
                else:
                    write(_line(conversation))
                count += 1
                if count == limit:
                    break
    except StoreError as error:
        # Before the first question there is no store, and nothing is wrong with that.
        if error.code != "store_not_found" or config.settings["store"].origin != "default":
            raise
    if not count and not as_json:
        note("no conversations yet; start one with: blockwire ask 'hello'")


def _line(conversation: Conversation) -> str:
    changed = datetime.fromtimestamp(conversation.updated_at / 1000, UTC).astimezone()
    state = "running" if conversation.running_turn_id else ""
    title = one_line(conversation.title or "")
    return f"{conversation.id}  {changed:%Y-%m-%d %H:%M}  {state:7}  {title}".rstrip() + "\n"
