"""``blockwire watch``."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

import anyio
import click

from blockwire.cli.encoding import ID
from blockwire.cli.gateways import GatewayAtHand, newest_conversation, open_gateway
from blockwire.cli.options import READER_OPTIONS, SCREEN_OPTIONS, options, take_config
from blockwire.cli.outages import outage_notes
from blockwire.cli.output import note, write_json
from blockwire.cli.prompting import prompting
from blockwire.cli.screens import ConversationPrinter, TurnPrinter, emit
from blockwire.cli.settings import Config
from blockwire.cli.system import SystemClock
from blockwire.cli.terminals import screen_of
from blockwire.client import AsyncClient, ClientError, Conversation, StartAfter
from blockwire.content import ConversationState, StreamEvent, event_members

NEWER_POLL_S: Final = 0.5
"""Between two looks for a newer conversation; no stream tells of one."""

Step = tuple[ConversationState, StreamEvent | None]


@click.command()
@click.argument("conversation", required=False, type=ID)
@click.option("--until-idle", is_flag=True, help="End when nothing runs any more.")
@click.option("--json", "as_json", is_flag=True, help="Print events as JSON, one a line.")
@click.option(
    "--after",
    type=click.IntRange(min=0),
    default=0,
    metavar="SEQ",
    help="With --json: start behind.",
)
@options(*READER_OPTIONS, *SCREEN_OPTIONS)
def command(conversation: str | None, **arguments: Any) -> None:
    """Print CONVERSATION and follow it live, until Ctrl-C.

    Without CONVERSATION the newest one is shown, and then each one that is begun after it: leave it
    running in a second terminal and ask in the first.

    The connection may break and the gateway may restart: watching goes on where it was, without a
    lost or doubled character. In a terminal, what a turn asks for in between may be answered here.
    """
    config = take_config(arguments)
    anyio.run(_watch, config, conversation, arguments)


async def _watch(config: Config, conversation_id: str | None, arguments: dict[str, Any]) -> None:
    watching = _Watching(config, arguments)
    # Whoever waits for the first conversation may wait on a store of its own.
    async with open_gateway(config, makes_store=conversation_id is None) as gateway:
        if conversation_id is not None:
            # A wrong address or id is an error now; what is lost later comes back.
            await gateway.client.read_conversation(conversation_id)
            await watching.follow(gateway, conversation_id)
        else:
            await _follow_newest(gateway, watching)


class _Watching:
    """Prints what is watched.

    Attributes:
        is_idle: Whether nothing runs in the conversation that was shown last.
    """

    def __init__(self, config: Config, arguments: dict[str, Any]) -> None:
        self.is_idle = False
        self.until_idle: bool = arguments["until_idle"]
        self._as_json: bool = arguments["as_json"]
        self._after: int = arguments["after"]
        screen = screen_of(
            sys.stdout,
            flag=arguments["color"],
            width=arguments["width"],
            ambiguous_width=config["ambiguous_width"],
        )
        self._printer = TurnPrinter(
            screen, with_reasoning=arguments["reasoning"], names_speakers=True
        )
        self._on_connection = outage_notes(SystemClock().monotonic_s)

    async def follow(self, gateway: GatewayAtHand, conversation_id: str) -> None:
        """Print a conversation and what comes."""
        self.is_idle = False
        conversation = ConversationPrinter(self._printer)
        state: ConversationState | None = None

        def open_stream(client: AsyncClient, give_up_s: float | None) -> AsyncGenerator[Step, None]:
            return self._steps(client, conversation_id, give_up_s, state)

        async with (
            prompting(lambda: gateway.client, is_drawn=self._printer.is_drawn) as prompter,
            aclosing(gateway.read(open_stream, self._on_connection)) as steps,
        ):
            async for state, event in steps:
                if event is not None:
                    write_json(event_members(event))
                else:
                    await emit(conversation.show(state))
                    if prompter is not None:
                        waiting = (t for t in state.running.values() if t.request is not None)
                        prompter.show(conversation_id, next(waiting, None))
                self.is_idle = not state.running
        if not self._as_json:
            await emit(self._printer.finish())

    async def _steps(
        self,
        client: AsyncClient,
        conversation_id: str,
        give_up_s: float | None,
        state: ConversationState | None,
    ) -> AsyncGenerator[Step, None]:
        after: StartAfter = self._after if self._as_json else 0
        if state is not None:
            after = state
        options: Any = {
            "after": after,
            "until_idle": self.until_idle,
            "give_up_s": give_up_s,
            "on_connection": self._on_connection,
        }
        if self._as_json:
            async with aclosing(client.events(conversation_id, **options)) as received:
                async for newest, event in received:
                    yield newest, event
        else:
            async with aclosing(client.watch(conversation_id, **options)) as states:
                async for newest in states:
                    yield newest, None


async def _follow_newest(gateway: GatewayAtHand, watching: _Watching) -> None:
    shown = ""
    while True:
        newest = await _newer(gateway, shown)
        if shown and sys.stderr.isatty():
            note("")
        shown = newest.id
        note(f"watching {newest.id}  {newest.title or ''}".rstrip())
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_leave_for_newer, gateway, watching, shown, tasks.cancel_scope)
            await watching.follow(gateway, shown)
            tasks.cancel_scope.cancel()
        if watching.until_idle:
            return


async def _newer(gateway: GatewayAtHand, shown: str) -> Conversation:
    """Return the newest conversation once it is another than ``shown``."""
    is_told = False
    while True:
        newest = await newest_conversation(gateway.client)
        if newest is not None and newest.id != shown:
            return newest
        if not is_told and newest is None:
            is_told = True
            note("waiting for the first conversation; start one with: blockwire ask 'hello'")
        await anyio.sleep(NEWER_POLL_S)


async def _leave_for_newer(
    gateway: GatewayAtHand, watching: _Watching, shown: str, scope: anyio.CancelScope
) -> None:
    """Cancel ``scope`` once what is shown is over and another conversation was begun."""
    while True:
        await anyio.sleep(NEWER_POLL_S)
        try:
            newest = await newest_conversation(gateway.client)
        except ClientError:
            continue  # the stream knows better what that means
        if newest is not None and newest.id != shown and watching.is_idle:
            scope.cancel()
            return
