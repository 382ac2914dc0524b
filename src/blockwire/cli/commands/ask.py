"""``blockwire ask``."""

from __future__ import annotations

import sys
from contextlib import aclosing
from typing import Any

import anyio
import click

from blockwire.cli.gateways import open_client
from blockwire.cli.main import EXIT_FAILED, EXIT_INTERRUPTED
from blockwire.cli.options import (
    ENGINE_OPTIONS,
    READER_OPTIONS,
    SCREEN_OPTIONS,
    options,
    take_config,
)
from blockwire.cli.outages import outage_notes
from blockwire.cli.output import note, screen_of, write
from blockwire.cli.screens import TurnPrinter, question_message
from blockwire.cli.settings import Config
from blockwire.cli.system import SystemClock
from blockwire.client import AsyncClient, Turn
from blockwire.content import TurnState
from blockwire.errors import LocalProtocolError
from blockwire.jsontext import encode_json

TITLE_CHARS_MAX = 60
CANCEL_WAIT_S = 10.0


@click.command()
@click.argument("question", nargs=-1)
@click.option("-c", "--conversation", metavar="ID", help="Go on in this conversation.")
@click.option("--last", is_flag=True, help="Go on in the newest conversation.")
@click.option("--model", help="Model, where the engine has several.")
@click.option("--json", "as_json", is_flag=True, help="Print the finished turn as JSON instead.")
@options(*ENGINE_OPTIONS, *READER_OPTIONS, *SCREEN_OPTIONS)
def command(question: tuple[str, ...], **arguments: Any) -> int:
    """Ask QUESTION and stream the answer.

    A terminal gets readable Markdown, a pipe plain text. The question may come on standard input
    ("-", or nothing, and a pipe). Talks to the gateway of the store, or starts one for the while;
    the conversation is kept either way. Ctrl-C stops the answer and keeps what has arrived.

    Status 0 when the answer is complete, 1 when it failed, 130 when it was stopped.
    """
    text = " ".join(question)
    if text in {"", "-"}:
        if text == "" and sys.stdin.isatty():
            raise click.UsageError("what is the question? blockwire ask 'why is the sky blue?'")
        text = sys.stdin.read().strip()
    if not text:
        raise LocalProtocolError("empty_question", "the question is empty")
    engine = arguments["engine"]
    config = take_config(arguments)
    return anyio.run(_ask, config, text, engine, arguments)


async def _ask(config: Config, text: str, engine: str | None, arguments: dict[str, Any]) -> int:
    screen = screen_of(sys.stdout, flag=arguments["color"], width=arguments["width"])
    printer = TurnPrinter(screen, with_reasoning=arguments["reasoning"])
    async with open_client(config) as client:
        conversation_id = await _conversation(client, text, arguments)
        turn = await client.submit(conversation_id, text, engine=engine, model=arguments["model"])
        if not arguments["as_json"]:
            write(printer.add_message(question_message(text)))
        state = await _follow(client, turn, printer, is_silent=arguments["as_json"])
        if arguments["as_json"]:
            final = await client.read_turn(conversation_id, turn.id)
            write(encode_json(final.members).decode() + "\n")
    if state.status == "cancelled":
        return EXIT_INTERRUPTED
    return 0 if state.status == "completed" else EXIT_FAILED


async def _conversation(client: AsyncClient, text: str, arguments: dict[str, Any]) -> str:
    if arguments["conversation"]:
        conversation_id: str = arguments["conversation"]
        return conversation_id
    if arguments["last"]:
        async with aclosing(client.list_conversations()) as conversations:
            async for conversation in conversations:
                return conversation.id
    # The first line names the conversation in lists.
    title = text.strip().split("\n", 1)[0][:TITLE_CHARS_MAX]
    title = "".join(c for c in title if c.isprintable())
    return (await client.create_conversation(title=title or None)).id


async def _follow(
    client: AsyncClient, turn: Turn, printer: TurnPrinter, *, is_silent: bool
) -> TurnState:
    """Print the answer as it comes and return its last state; Ctrl-C stops it, not us."""
    last: TurnState | None = None
    told = False
    try:
        answer = client.follow(turn, on_connection=outage_notes(SystemClock().monotonic_s))
        async with aclosing(answer) as states:
            async for state in states:
                last = state
                if not is_silent:
                    write(printer.show_turn(state))
                if state.status == "suspended" and not told:
                    told = True
                    note(f"the turn waits for an answer: POST .../turns/{turn.id}/resume")
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True), anyio.move_on_after(CANCEL_WAIT_S):
            last = await _stop(client, turn, last, printer, is_silent=is_silent)
        raise
    assert last is not None, "following yields the end at least"
    if not is_silent:
        write(printer.finish())
    return last


async def _stop(
    client: AsyncClient,
    turn: Turn,
    last: TurnState | None,
    printer: TurnPrinter,
    *,
    is_silent: bool,
) -> TurnState | None:
    from blockwire.client import ClientError

    try:
        await client.cancel(turn.conversation_id, turn.id)
    except ClientError as error:
        if error.code != "turn_terminal":
            note(f"{error.detail} [{error.code}]")
            return last
    async with aclosing(client.follow(turn)) as states:
        async for state in states:
            last = state
            if not is_silent:
                write(printer.show_turn(state))
    if not is_silent:
        write(printer.finish())
    return last
