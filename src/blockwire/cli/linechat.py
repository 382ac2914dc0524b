"""The chat without a screen: a line is a question, and its answer is printed as ``ask`` does.

Spec: docs/spec/chat/drawing.md, "Without a screen". For pipes and ``TERM=dumb``: no control
sequence is written, whatever happens.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

from blockwire.cli.asking import Asked, ask_question
from blockwire.cli.gateways import GatewayAtHand
from blockwire.cli.outages import outage_notes
from blockwire.cli.output import note
from blockwire.cli.prompting import prompting, read_line
from blockwire.cli.screens import TurnPrinter, emit
from blockwire.cli.system import SystemClock
from blockwire.cli.terminals import Screen
from blockwire.client import AsyncClient, ClientError, ClientSettings
from blockwire.content import TurnState
from blockwire.errors import LocalProtocolError
from blockwire.render import request_text

__all__ = ["LineChat"]

_LEAVING: Final = frozenset({"/quit", "/exit"})


class LineChat:
    """Questions one after another in one conversation.

    Args:
        gateway: At hand.
        screen: Where answers go.
        arguments: ``conversation``, ``last``, ``engine``, ``model``, ``reasoning`` and ``attach``.
    """

    def __init__(self, gateway: GatewayAtHand, screen: Screen, arguments: dict[str, Any]) -> None:
        self._gateway = gateway
        self._arguments = dict(arguments)
        self._printer = TurnPrinter(screen, with_reasoning=arguments["reasoning"])

    async def ask_once(self, text: str) -> TurnState:
        """Ask, print the answer, and return how it ended."""
        asked = await ask_question(
            self._gateway.client, text, self._arguments["engine"], self._arguments
        )
        self._arguments |= {"conversation": asked.conversation_id, "last": False, "attach": ()}
        return await self._print(asked)

    async def talk(self) -> None:
        """Ask each line that is typed, until the end of input."""
        note("a line is a question; /quit or Ctrl-D leaves")
        while (line := await read_line()) is not None and line.strip() not in _LEAVING:
            if not line.strip():
                continue
            try:
                await self.ask_once(line.strip())
            except (ClientError, LocalProtocolError) as error:
                note(f"{error.detail} [{error.code}]")

    async def _print(self, asked: Asked) -> TurnState:
        def open_stream(
            client: AsyncClient, give_up_s: float | None
        ) -> AsyncGenerator[TurnState, None]:
            return client.follow(
                asked.turn,
                give_up_s=give_up_s,
                on_connection=on_connection,
                resubmit=lambda: asked.again(client),
            )

        on_connection = outage_notes(SystemClock().monotonic_s)
        patience_s = ClientSettings().ask_give_up_s
        states = self._gateway.read(open_stream, on_connection, patience_s=patience_s)
        last: TurnState | None = None
        is_told = False
        async with (
            prompting(lambda: self._gateway.client, is_drawn=self._printer.is_drawn) as prompter,
            aclosing(states),
        ):
            async for last in states:
                await emit(self._printer.show_turn(last))
                if prompter is not None:
                    prompter.show(asked.conversation_id, last)
                elif last.request is not None and not is_told:
                    is_told = True
                    how = f"blockwire answer {asked.conversation_id} ANSWER"
                    note(f"the turn waits for an answer: {request_text(last.request)}\n{how}")
                    if not self._gateway.is_own:
                        break
        assert last is not None, "following yields the end at least"
        await emit(self._printer.finish())
        return last
