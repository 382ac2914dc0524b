"""``blockwire show``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

import anyio
import click

from blockwire.cli.encoding import ID
from blockwire.cli.gateways import newest_conversation, open_client
from blockwire.cli.options import READER_OPTIONS, SCREEN_OPTIONS, options, take_config
from blockwire.cli.output import note, write, write_json
from blockwire.cli.screens import TurnPrinter
from blockwire.cli.settings import Config
from blockwire.cli.terminals import screen_of
from blockwire.client import AsyncClient
from blockwire.content import Message
from blockwire.errors import LocalProtocolError
from blockwire.render import request_text


@click.command()
@click.argument("conversation", required=False, type=ID)
@click.option("--turn", type=ID, metavar="ID", help="Only this turn: its question and its answer.")
@click.option("--json", "as_json", is_flag=True, help="Print messages as JSON, one a line.")
@options(*READER_OPTIONS, *SCREEN_OPTIONS)
def command(conversation: str | None, **arguments: Any) -> None:
    """Print CONVERSATION, or the newest one, as it stands now.

    "blockwire list" shows which there are; "blockwire watch" goes on to follow one.
    """
    config = take_config(arguments)
    anyio.run(_show, config, conversation, arguments)


async def _show(config: Config, conversation_id: str | None, arguments: dict[str, Any]) -> None:
    screen = screen_of(
        sys.stdout,
        flag=arguments["color"],
        width=arguments["width"],
        ambiguous_width=config["ambiguous_width"],
    )
    printer = TurnPrinter(screen, with_reasoning=arguments["reasoning"], names_speakers=True)
    async with open_client(config, makes_store=False) as client:
        if conversation_id is None:
            conversation_id = await _newest(client)
        wanted: set[object] | None = None
        if arguments["turn"] is not None:
            turn = await client.read_turn(conversation_id, arguments["turn"])
            wanted = {turn.id, turn.request_message_id}
        async with aclosing(client.list_messages(conversation_id)) as messages:
            async for message in messages:
                if wanted is not None and message["id"] not in wanted:
                    continue
                if arguments["as_json"]:
                    write_json(message)
                else:
                    write(await _text(client, conversation_id, message, printer))
        if not arguments["as_json"]:
            write(printer.finish())
        if printer.is_drawn and wanted is None and not arguments["as_json"]:
            conversation = await client.read_conversation(conversation_id)
            # Only turns that have ended are counted.
            if conversation.usage and conversation.usage.get("turns"):
                note(_totals(conversation.usage))


def _totals(usage: Mapping[str, Any]) -> str:
    """Return what the turns of a conversation came to, in one line."""
    turns = usage.get("turns", 0)
    parts = [f"{turns:,} turn{'' if turns == 1 else 's'}"]
    for name, what in (("input_tokens", "in"), ("output_tokens", "out")):
        if name in usage:
            parts.append(f"{usage[name]:,} tokens {what}")
    parts += [f"{cost:.4f} {currency}" for currency, cost in usage.get("cost", {}).items()]
    return ", ".join(parts)


async def _newest(client: AsyncClient) -> str:
    newest = await newest_conversation(client)
    if newest is None:
        raise LocalProtocolError("conversation_not_found", "there is none yet")
    return newest.id


async def _text(
    client: AsyncClient, conversation_id: str, message: Message, printer: TurnPrinter
) -> str:
    if message["status"] != "suspended":
        return printer.add_message(message)
    # What it waits for belongs to the turn, not to its message.
    turn = await client.read_turn(conversation_id, str(message["id"]))
    async with aclosing(client.follow(turn)) as states:
        async for state in states:
            if not printer.is_drawn and state.request is not None:
                note(
                    f"the turn waits for an answer: {request_text(state.request)}\n"
                    f"blockwire answer {conversation_id} ANSWER"
                )
            return printer.show_turn(state)
    return printer.add_message(message)
