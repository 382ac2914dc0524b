"""``blockwire watch``."""

from __future__ import annotations

import sys
from contextlib import aclosing
from typing import Any

import anyio
import click

from blockwire.cli.gateways import find_conversation, open_client
from blockwire.cli.options import READER_OPTIONS, SCREEN_OPTIONS, options, take_config
from blockwire.cli.outages import outage_notes
from blockwire.cli.output import screen_of, write
from blockwire.cli.screens import ConversationPrinter, TurnPrinter
from blockwire.cli.settings import Config
from blockwire.cli.system import SystemClock
from blockwire.content import encode_event


@click.command()
@click.argument("conversation", required=False)
@click.option("--until-idle", is_flag=True, help="End when nothing runs any more.")
@click.option("--json", "as_json", is_flag=True, help="Print events as JSON, one a line.")
@click.option("--after", type=click.IntRange(min=0), default=0, help="With --json: start behind.")
@options(*READER_OPTIONS, *SCREEN_OPTIONS)
def command(conversation: str | None, **arguments: Any) -> None:
    """Print CONVERSATION, or the newest one, and follow it live, until Ctrl-C.

    The connection may break and the gateway may restart: watching goes on where it was, without a
    lost or doubled character.
    """
    config = take_config(arguments)
    anyio.run(_watch, config, conversation, arguments)


async def _watch(config: Config, named: str | None, arguments: dict[str, Any]) -> None:
    on_connection = outage_notes(SystemClock().monotonic_s)
    until_idle = arguments["until_idle"]
    async with open_client(config) as client:
        conversation_id = await find_conversation(client, named)
        if arguments["as_json"]:
            events = client.events(
                conversation_id,
                after=arguments["after"],
                until_idle=until_idle,
                on_connection=on_connection,
            )
            async with aclosing(events) as received:
                async for _state, event in received:
                    write(encode_event(event).decode() + "\n")
            return
        screen = screen_of(sys.stdout, flag=arguments["color"], width=arguments["width"])
        printer = TurnPrinter(screen, with_reasoning=arguments["reasoning"], names_speakers=True)
        conversation = ConversationPrinter(printer)
        states = client.watch(conversation_id, until_idle=until_idle, on_connection=on_connection)
        async with aclosing(states) as newest:
            async for state in newest:
                write(conversation.show(state))
        write(printer.finish())
