"""``blockwire ask``."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Final

import anyio
import click

from blockwire.cli.asking import Asked, ask_question
from blockwire.cli.attaching import FILE
from blockwire.cli.encoding import ID, TEXT, read_text_input
from blockwire.cli.gateways import GatewayAtHand, open_gateway
from blockwire.cli.main import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_WAITING
from blockwire.cli.options import (
    ENGINE_OPTIONS,
    READER_OPTIONS,
    SCREEN_OPTIONS,
    options,
    take_config,
)
from blockwire.cli.outages import outage_notes
from blockwire.cli.output import note, write_json
from blockwire.cli.prompting import prompting
from blockwire.cli.screens import TurnPrinter, emit, question_message
from blockwire.cli.settings import Config
from blockwire.cli.system import SystemClock
from blockwire.cli.terminals import screen_of
from blockwire.client import AsyncClient, ClientError, ClientSettings, Turn
from blockwire.content import TurnState
from blockwire.jsontext import Json
from blockwire.render import request_text

_ENDINGS: Final = {1: "st", 2: "nd", 3: "rd"}

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

    In a terminal, what the answer asks for in between is asked here; elsewhere it is printed, and
    "blockwire answer" answers it.

    Status 0 when the answer is complete, 1 when it failed, 3 when it waits for an answer that
    nobody here can give, 130 when it was stopped.
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
    screen = screen_of(
        sys.stdout,
        flag=arguments["color"],
        width=arguments["width"],
        ambiguous_width=config["ambiguous_width"],
    )
    printer = None
    if not arguments["as_json"]:
        printer = TurnPrinter(screen, with_reasoning=arguments["reasoning"])
    async with open_gateway(config) as gateway:
        asked = await ask_question(gateway.client, text, engine, arguments)
        if printer is not None:
            await emit(printer.add_message(question_message(text, asked.files)))
        answer = _Answer(gateway, asked, printer)
        state = await answer.follow()
        if printer is None:
            final = await gateway.client.read_turn(asked.conversation_id, answer.turn.id)
            write_json(dict(final.members))
    if state.status == "cancelled":
        return EXIT_INTERRUPTED
    if state.status == "suspended":
        return EXIT_WAITING
    return 0 if state.status == "completed" else EXIT_FAILED


class _Answer:
    """Prints an answer as it comes; silent without a printer.

    Attributes:
        turn: What the question became; another one when a new gateway had to be asked again.
    """

    def __init__(self, gateway: GatewayAtHand, asked: Asked, printer: TurnPrinter | None) -> None:
        self.turn = asked.turn
        self._gateway = gateway
        self._asked = asked
        self._printer = printer
        self._is_drawn = printer is not None and printer.is_drawn
        self._told: object = None

    async def follow(self) -> TurnState:
        """Return the last state; Ctrl-C stops the answer first, and then the command."""

        def open_stream(
            client: AsyncClient, give_up_s: float | None
        ) -> AsyncGenerator[TurnState, None]:
            return client.follow(
                self.turn,
                give_up_s=give_up_s,
                on_connection=on_connection,
                on_queued=self._tell_place,
                resubmit=lambda: self._ask_again(client),
            )

        on_connection = outage_notes(SystemClock().monotonic_s)
        patience_s = ClientSettings().ask_give_up_s
        states = self._gateway.read(open_stream, on_connection, patience_s=patience_s)
        try:
            return await self._print(states)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self._stop()
            raise

    def _tell_place(self, turn: Turn) -> None:
        self.turn = turn
        place = turn.position or 1
        note(f"waiting ({'next' if place == 1 else _ordinal(place)} in line)")

    async def _ask_again(self, client: AsyncClient) -> Turn:
        note("the gateway was started anew and had forgotten the question; it is asked again")
        self.turn = await self._asked.again(client)
        return self.turn

    async def _print(self, states: AsyncGenerator[TurnState, None]) -> TurnState:
        last: TurnState | None = None
        async with (
            prompting(lambda: self._gateway.client, is_drawn=self._is_drawn) as prompter,
            aclosing(states),
        ):
            async for state in states:
                last = state
                if self._printer is not None:
                    await emit(self._printer.show_turn(state))
                if prompter is not None:
                    prompter.show(self.turn.conversation_id, state)
                elif state.request is not None and self._tell_request(state.request):
                    break
        assert last is not None, "following yields the end at least"
        if self._printer is not None:
            await emit(self._printer.finish())
        return last

    def _tell_request(self, request: Mapping[str, Json]) -> bool:
        """Say what the turn waits for, and return whether to leave it at that.

        Nobody here can answer. A gateway of somebody else goes on waiting; one of our own would end
        with us, and the turn would find nobody when the answer comes.
        """
        if request["id"] == self._told:
            return False
        self._told = request["id"]
        # A pipe gets answers alone; the question is for the person who started it.
        asked = "" if self._is_drawn else f": {request_text(request)}"
        how = f"blockwire answer {self.turn.conversation_id} ANSWER"
        stops = ", or stop with Ctrl-C" if self._gateway.is_own else ""
        note(f"the turn waits for an answer{asked}\n{how}{stops}")
        return not self._gateway.is_own

    async def _stop(self) -> None:
        client, turn = self._gateway.client, self.turn
        with anyio.move_on_after(CANCEL_WAIT_S) as scope:
            try:
                cancelled = await client.cancel(turn.conversation_id, turn.id)
            except ClientError as error:
                if error.code != "turn_terminal":
                    note(f"the answer could not be stopped: {error.detail} [{error.code}]")
                    return
            else:
                if not cancelled.durable:
                    note("taken out of the line; nothing was asked")
                    return
            await self._print(client.follow(turn))
        if scope.cancelled_caught:
            note("the answer did not end in time; blockwire watch shows what comes of it")


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in {11, 12, 13} else _ENDINGS.get(number % 10, "th")
    return f"{number}{ending}"
