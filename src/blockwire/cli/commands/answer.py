"""``blockwire answer``."""

from __future__ import annotations

from typing import Any

import anyio
import click

from blockwire.cli.encoding import ID, TEXT
from blockwire.cli.gateways import open_client
from blockwire.cli.options import READER_OPTIONS, options, take_config
from blockwire.cli.output import note
from blockwire.cli.prompting import can_prompt, read_line
from blockwire.cli.settings import Config
from blockwire.content.answers import read_answer
from blockwire.errors import LocalProtocolError, RemoteProtocolError
from blockwire.jsontext import Json, decode_json
from blockwire.render import request_text


@click.command()
@click.argument("conversation", type=ID)
@click.argument("answer", nargs=-1, type=TEXT)
@click.option("--json", "as_json", is_flag=True, help="ANSWER is JSON: any value.")
@options(*READER_OPTIONS)
def command(conversation: str, answer: tuple[str, ...], *, as_json: bool, **arguments: Any) -> None:
    """Answer what the turn of CONVERSATION waits for, from anywhere.

    An approval takes yes or no. Where options are offered, their number takes one. Without ANSWER
    the question is shown, and in a terminal the answer is asked for. The first answer wins.

    \b
      blockwire answer conv_01J... yes
      blockwire answer conv_01J... --json '{"files": ["a.txt"]}'
    """  # noqa: D301 - click reads the escape: the lines below it stay as they are
    config = take_config(arguments)
    anyio.run(_answer, config, conversation, " ".join(answer), as_json)


async def _answer(
    config: Config,
    conversation_id: str,
    text: str,
    as_json: bool,  # noqa: FBT001 - from anyio.run
) -> None:
    async with open_client(config, makes_store=False) as client:
        conversation = await client.read_conversation(conversation_id)
        turn_id = conversation.running_turn_id
        turn = None if turn_id is None else await client.read_turn(conversation_id, turn_id)
        if turn is None or turn.request is None:
            raise RemoteProtocolError(
                "turn_not_suspended", "nothing in this conversation waits for an answer"
            )
        request = turn.request
        if not text:
            note(request_text(request))
            line = await read_line() if can_prompt() else None
            if line is None:
                return
            text = line
        value: Json
        try:
            value = decode_json(text.encode()) if as_json else read_answer(request, text)
        except LocalProtocolError as error:
            raise click.UsageError(error.detail) from None
        await client.resume(conversation_id, turn.id, str(request["id"]), value)
        note(f"answered; blockwire watch {conversation_id} shows what comes of it")
