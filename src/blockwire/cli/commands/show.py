"""``blockwire show``."""

from __future__ import annotations

import sys
from contextlib import aclosing
from typing import Any

import anyio
import click

from blockwire.cli.gateways import find_conversation, open_client
from blockwire.cli.options import READER_OPTIONS, SCREEN_OPTIONS, options, take_config
from blockwire.cli.output import screen_of, write
from blockwire.cli.screens import TurnPrinter
from blockwire.cli.settings import Config
from blockwire.jsontext import encode_json


@click.command()
@click.argument("conversation", required=False)
@click.option("--turn", metavar="ID", help="Only this turn: its question and its answer.")
@click.option("--json", "as_json", is_flag=True, help="Print messages as JSON, one a line.")
@options(*READER_OPTIONS, *SCREEN_OPTIONS)
def command(conversation: str | None, **arguments: Any) -> None:
    """Print CONVERSATION, or the newest one, as it stands now."""
    config = take_config(arguments)
    anyio.run(_show, config, conversation, arguments)


async def _show(config: Config, named: str | None, arguments: dict[str, Any]) -> None:
    screen = screen_of(sys.stdout, flag=arguments["color"], width=arguments["width"])
    printer = TurnPrinter(screen, with_reasoning=arguments["reasoning"], names_speakers=True)
    wanted = arguments["turn"]
    async with open_client(config) as client:
        conversation_id = await find_conversation(client, named)
        if wanted is not None:
            await client.read_turn(conversation_id, wanted)
        async with aclosing(client.list_messages(conversation_id)) as messages:
            async for message in messages:
                if wanted is not None and wanted not in {message["id"], message.get("turn_id")}:
                    continue
                if arguments["as_json"]:
                    write(encode_json(message).decode() + "\n")
                else:
                    write(printer.add_message(message))
