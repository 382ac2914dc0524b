"""``blockwire chat``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Final

import anyio
import click

from blockwire.cli.attaching import FILE
from blockwire.cli.encoding import ID, TEXT, read_text_input
from blockwire.cli.gateways import GatewayAtHand, open_gateway
from blockwire.cli.inputfile import InputFile
from blockwire.cli.keysettings import chat_bindings_of
from blockwire.cli.linechat import LineChat
from blockwire.cli.main import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_WAITING
from blockwire.cli.options import (
    ENGINE_OPTIONS,
    READER_OPTIONS,
    SCREEN_OPTIONS,
    options,
    take_config,
)
from blockwire.cli.output import note
from blockwire.cli.places import store_path
from blockwire.cli.settings import Config, data_folder
from blockwire.cli.terminals import Screen, screen_of
from blockwire.client import new_key
from blockwire.terminal import ContextLost
from blockwire.tty import TerminalError, TerminalOptions, open_terminal
from blockwire.tui.blockview import BlocksView
from blockwire.tui.chat import Chat
from blockwire.tui.choices import Choices
from blockwire.tui.driver import ChatDriver
from blockwire.tui.driveroptions import ON_ENTER, ON_LEAVE, ChatOptions
from blockwire.tui.inputhistory import InputHistory
from blockwire.tui.intents import Attach, Intent
from blockwire.tui.reflow import known_reflow
from blockwire.tui.views import ConversationView, FallbackView

INPUTS_NAME: Final = "chat-inputs.jsonl"
ROWS_DEFAULT: Final = 24

_STATUSES: Final = {
    "completed": 0,
    "cancelled": EXIT_INTERRUPTED,
    "suspended": EXIT_WAITING,
}


@click.command()
@click.option("-c", "--conversation", type=ID, metavar="ID", help="Go on in this conversation.")
@click.option("--last", is_flag=True, help="Go on in the newest conversation.")
@click.option(
    "-a",
    "--attach",
    type=FILE,
    multiple=True,
    metavar="FILE",
    help="A file that goes with the first question; may be given several times.",
)
@click.option("--model", type=TEXT, metavar="NAME", help="Model, where the engine has several.")
@click.option(
    "--no-animation", is_flag=True, help="Nothing moves by itself: no spinner, no seconds."
)
@click.option("--bell", is_flag=True, help="Ring when an answer is there and you look elsewhere.")
@click.option("--no-history", is_flag=True, help="Neither read nor keep what is typed.")
@options(*ENGINE_OPTIONS, *READER_OPTIONS, *SCREEN_OPTIONS)
def command(**arguments: Any) -> int:
    """Talk with an engine: questions below, answers above.

    Where the terminal shows terminal blocks (as under "blockwire term"), answers stay whole and
    wrap anew; elsewhere they are printed into the terminal's own scrollback. /help lists commands
    and keys. Esc stops an answer and gives back what waits; Ctrl-C twice, or Ctrl-D, leaves.

    \b
      blockwire chat
      blockwire chat --last
      blockwire chat --engine ollama --model qwen3
      echo "Why is the sky blue?" | blockwire chat

    From a pipe, all of it is one question, and its answer is printed as "blockwire ask" does;
    with TERM=dumb each line is one.
    """  # noqa: D301 - click reads the escape: the lines below it stay as they are
    if arguments["last"] and arguments["conversation"] is not None:
        raise click.UsageError("--last and --conversation name two conversations; give one")
    is_piped = not sys.stdin.isatty()
    text = read_text_input() if is_piped else ""
    if is_piped and not text.strip():
        raise click.UsageError("the question is empty")
    engine = arguments["engine"]
    config = take_config(arguments)
    arguments["engine"] = engine
    screen = screen_of(
        sys.stdout,
        flag=arguments["color"],
        width=arguments["width"],
        ambiguous_width=config["ambiguous_width"],
    )
    if is_piped or not sys.stdout.isatty() or os.environ.get("TERM", "") in {"", "dumb"}:
        return anyio.run(_chat_in_lines, config, screen, text.strip(), arguments)
    return anyio.run(_chat, config, screen, arguments)


async def _chat_in_lines(
    config: Config, screen: Screen, text: str, arguments: dict[str, Any]
) -> int:
    async with open_gateway(config) as gateway:
        chat = LineChat(gateway, screen, arguments)
        if not text:
            await chat.talk()
            return 0
        state = await chat.ask_once(text)
    return _STATUSES.get(state.status, EXIT_FAILED)


async def _chat(config: Config, screen: Screen, arguments: dict[str, Any]) -> int:
    inputs = InputFile(None if arguments["no_history"] else _inputs_path())
    is_animated = not (arguments["no_animation"] or os.environ.get("NO_COLOR"))
    chat = Chat(
        new_key=new_key,
        choices=Choices(
            engine=arguments["engine"],
            model=arguments["model"],
            with_reasoning=arguments["reasoning"],
        ),
        history=InputHistory(inputs.read()),
        ambiguous_width=screen.look.ambiguous_width,
        bindings=chat_bindings_of(config),
        is_animated=is_animated,
    )
    chat_options = ChatOptions(
        look=screen.look,
        output_fd=sys.stdout.fileno(),
        is_animated=is_animated,
        is_remote=bool(os.environ.get("SSH_CONNECTION") or os.environ.get("SSH_TTY")),
        rings=arguments["bell"],
        remember=inputs.add,
        environment=os.environ,
    )
    async with open_gateway(config) as gateway:
        # A wrong address, token or id is an error now; what is lost later comes back.
        chat.started(await gateway.client.capabilities())
        if arguments["conversation"] is not None:
            await gateway.client.read_conversation(arguments["conversation"])
        try:
            await _drive(gateway, chat, chat_options, _first(chat, arguments))
        finally:
            is_kept = not (gateway.is_own and store_path(config["store"]) is None)
            if chat.conversation_id is not None and is_kept:
                note(f"to go on: blockwire chat -c {chat.conversation_id}")
    return 0


def _first(chat: Chat, arguments: dict[str, Any]) -> list[Intent]:
    """Return what the command line asks for."""
    wanted: list[Intent] = []
    conversation_id: str | None = arguments["conversation"]
    if arguments["last"] or conversation_id is not None:
        wanted += chat.open(conversation_id)
    return [*wanted, *(Attach(conversation_id, str(path)) for path in arguments["attach"])]


async def _drive(
    gateway: GatewayAtHand, chat: Chat, chat_options: ChatOptions, first: list[Intent]
) -> None:
    driver: ChatDriver | None = None

    def resumed() -> None:
        if driver is not None:
            driver.resumed()

    def failed(failure: object) -> None:
        if driver is not None and isinstance(failure, ContextLost):
            driver.fail(
                TerminalError(
                    failure.code, "the terminal shows this chat no more; the conversation is kept"
                )
            )

    terminal_options = TerminalOptions(
        output_fd=chat_options.output_fd,
        keys="bytes",
        on_enter=ON_ENTER,
        on_leave=ON_LEAVE,
        on_failure=failed,
        on_resume=resumed,
    )
    async with open_terminal(terminal_options) as terminal:
        look, reflows = chat_options.look, known_reflow(os.environ)
        view: ConversationView = FallbackView(look, ROWS_DEFAULT, reflows=reflows)
        if terminal.negotiated.is_supported:
            context = await terminal.open_context()
            types = terminal.negotiated.optional_content_types
            view = BlocksView(context, terminal.write, types, look, ROWS_DEFAULT, reflows=reflows)
        driver = ChatDriver(terminal, gateway, chat, view, chat_options)
        await driver.run(first)


def _inputs_path() -> Path:
    return data_folder(os.environ) / INPUTS_NAME
