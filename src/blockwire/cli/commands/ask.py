"""``blockwire ask``."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from http import HTTPStatus
from typing import Any, Final

import anyio
import click

from blockwire.cli.attaching import FILE, attach_files
from blockwire.cli.encoding import ID, TEXT, read_text_input
from blockwire.cli.gateways import GatewayAtHand, newest_conversation, open_gateway
from blockwire.cli.main import EXIT_FAILED, EXIT_INTERRUPTED
from blockwire.cli.options import (
    ENGINE_OPTIONS,
    READER_OPTIONS,
    SCREEN_OPTIONS,
    options,
    take_config,
)
from blockwire.cli.outages import outage_notes
from blockwire.cli.output import note, write_json
from blockwire.cli.screens import TurnPrinter, emit, question_message
from blockwire.cli.settings import Config
from blockwire.cli.system import SystemClock
from blockwire.cli.terminals import screen_of
from blockwire.client import AsyncClient, ClientError, ClientSettings, Turn
from blockwire.content import Block, TurnState
from blockwire.errors import LocalProtocolError
from blockwire.render import request_text

TITLE_CHARS_MAX: Final = 60
CANCEL_WAIT_S: Final = 10.0
"""How long a stopped answer may take to end; it was kept at every moment anyway."""


@click.command()
@click.argument("question", nargs=-1, type=TEXT)
@click.option("-c", "--conversation", type=ID, metavar="ID", help="Go on in this conversation.")
@click.option("--last", is_flag=True, help="Go on in the newest conversation.")
@click.option(
    "-a",
    "--attach",
    type=FILE,
    multiple=True,
    metavar="FILE",
    help="A file that goes with the question; may be given several times.",
)
@click.option("--model", type=TEXT, metavar="NAME", help="Model, where the engine has several.")
@click.option("--json", "as_json", is_flag=True, help="Print the finished turn as JSON instead.")
@options(*ENGINE_OPTIONS, *READER_OPTIONS, *SCREEN_OPTIONS)
def command(question: tuple[str, ...], **arguments: Any) -> int:
    """Ask QUESTION and stream the answer.

    A terminal gets readable Markdown, a pipe plain text. The question may come on standard input
    ("-", or nothing, and a pipe). Talks to the gateway of the store, or starts one for the while;
    the conversation is kept either way. Ctrl-C stops the answer and keeps what has arrived; a
    second one leaves as soon as a program that answers has ended.

    \b
      blockwire ask "Why is the sky blue?"
      blockwire ask --last "And at sunset?"
      blockwire ask -a chart.png "What does it show?"
      git diff | blockwire ask --json | jq .message

    Status 0 when the answer is complete, 1 when it failed, 130 when it was stopped.
    """  # noqa: D301 - click reads the escape: the lines below it stay as they are
    if arguments["last"] and arguments["conversation"] is not None:
        raise click.UsageError("--last and --conversation name two conversations; give one")
    text = " ".join(question)
    if text in {"", "-"}:
        if text == "" and sys.stdin.isatty():
            raise click.UsageError("what is the question? blockwire ask 'Why is the sky blue?'")
        text = read_text_input()
    if not text.strip():
        raise click.UsageError("the question is empty")
    engine = arguments["engine"]
    config = take_config(arguments)
    return anyio.run(_ask, config, text.strip(), engine, arguments)


async def _ask(config: Config, text: str, engine: str | None, arguments: dict[str, Any]) -> int:
    screen = screen_of(sys.stdout, flag=arguments["color"], width=arguments["width"])
    printer = None
    if not arguments["as_json"]:
        printer = TurnPrinter(screen, with_reasoning=arguments["reasoning"])
    async with open_gateway(config) as gateway:
        blocks, turn = await _submit(gateway.client, text, engine, arguments)
        if printer is not None:
            await emit(printer.add_message(question_message(text, blocks)))
        state = await _Answer(gateway, turn, printer).follow()
        if printer is None:
            final = await gateway.client.read_turn(turn.conversation_id, turn.id)
            write_json(dict(final.members))
    if state.status == "cancelled":
        return EXIT_INTERRUPTED
    return 0 if state.status == "completed" else EXIT_FAILED


async def _submit(
    client: AsyncClient, text: str, engine: str | None, arguments: dict[str, Any]
) -> tuple[list[Block], Turn]:
    """Ask, in a conversation of its own where none is named; a refused question leaves none.

    Returns the blocks of the files that go with it, too.
    """
    conversation_id = await _named_conversation(client, arguments)
    is_new = conversation_id is None
    if conversation_id is None:
        conversation_id = await _new_conversation(client, text)
    blocks: list[Block] = []
    try:
        blocks = await attach_files(client, conversation_id, arguments["attach"])
        content: str | list[Block] = text
        if blocks:
            content = [{"type": "prose", "markdown": text}, *blocks]
        turn = await client.submit(
            conversation_id, content, engine=engine, model=arguments["model"]
        )
    except (ClientError, LocalProtocolError) as error:
        # Without a status nobody knows whether the turn has begun.
        status = error.status if isinstance(error, ClientError) else HTTPStatus.BAD_REQUEST
        if is_new and status is not None and status < HTTPStatus.INTERNAL_SERVER_ERROR:
            with contextlib.suppress(ClientError):
                await client.delete_conversation(conversation_id)
        raise
    return blocks, turn


async def _named_conversation(client: AsyncClient, arguments: dict[str, Any]) -> str | None:
    if arguments["conversation"] is not None:
        conversation_id: str = arguments["conversation"]
        return conversation_id
    newest = await newest_conversation(client) if arguments["last"] else None
    return None if newest is None else newest.id


async def _new_conversation(client: AsyncClient, text: str) -> str:
    # The first line names the conversation in lists.
    title = text.split("\n", 1)[0][:TITLE_CHARS_MAX]
    title = "".join(c for c in title if c.isprintable())
    return (await client.create_conversation(title=title or None)).id


class _Answer:
    """Prints an answer as it comes; silent without a printer."""

    def __init__(self, gateway: GatewayAtHand, turn: Turn, printer: TurnPrinter | None) -> None:
        self._gateway = gateway
        self._turn = turn
        self._printer = printer
        self._is_drawn = printer is not None and printer.is_drawn
        self._asked: object = None

    async def follow(self) -> TurnState:
        """Return the last state; Ctrl-C stops the answer first, and then the command."""

        def open_stream(
            client: AsyncClient, give_up_s: float | None
        ) -> AsyncGenerator[TurnState, None]:
            return client.follow(self._turn, give_up_s=give_up_s, on_connection=on_connection)

        on_connection = outage_notes(SystemClock().monotonic_s)
        patience_s = ClientSettings().ask_give_up_s
        states = self._gateway.read(open_stream, on_connection, patience_s=patience_s)
        try:
            return await self._print(states)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self._stop()
            raise

    async def _print(self, states: AsyncGenerator[TurnState, None]) -> TurnState:
        last: TurnState | None = None
        async with aclosing(states):
            async for state in states:
                last = state
                if self._printer is not None:
                    await emit(self._printer.show_turn(state))
                self._tell_request(state)
        assert last is not None, "following yields the end at least"
        if self._printer is not None:
            await emit(self._printer.finish())
        return last

    def _tell_request(self, state: TurnState) -> None:
        request = state.request
        if request is None or request["id"] == self._asked:
            return
        self._asked = request["id"]
        path = f"/v1/conversations/{self._turn.conversation_id}/turns/{self._turn.id}/resume"
        # A pipe gets answers alone; the question is for the person who started it.
        asked = "" if self._is_drawn else f": {request_text(request)}"
        note(f"the turn waits for an answer{asked}\nPOST it to {path}, or stop with Ctrl-C")

    async def _stop(self) -> None:
        client, turn = self._gateway.client, self._turn
        with anyio.move_on_after(CANCEL_WAIT_S) as scope:
            try:
                await client.cancel(turn.conversation_id, turn.id)
            except ClientError as error:
                if error.code != "turn_terminal":
                    note(f"the answer could not be stopped: {error.detail} [{error.code}]")
                    return
            await self._print(client.follow(turn))
        if scope.cancelled_caught:
            note("the answer did not end in time; blockwire watch shows what comes of it")
