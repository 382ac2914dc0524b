"""The command line: what there is, and how it ends.

Spec: docs/reference/cli.md. Exit status: 0 done, 1 failed, 2 wrong usage, 130 Ctrl-C, 141 nobody
reads the output any more, 128 + N ended by signal N. Commands are imported when they are called.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NoReturn

import click
from click.shell_completion import CompletionItem

from blockwire import __version__
from blockwire.cli.encoding import repair_streams
from blockwire.errors import BlockwireError

__all__ = ["EXIT_FAILED", "EXIT_INTERRUPTED", "EXIT_WAITING", "cli", "main"]

EXIT_FAILED: Final = 1
EXIT_WAITING: Final = 3
EXIT_SIGNAL: Final = 128
EXIT_INTERRUPTED: Final = 130
EXIT_BROKEN_PIPE: Final = 141

# code -> what a person at a command line can do, where the sentence is for programs
ADVICE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "conversation_not_found": "blockwire list shows what there is",
        "attachment_not_found": "blockwire show CONVERSATION --json names those that there are",
        "turn_handed_back": "somebody took the question out of the line; ask it again",
        "turn_not_suspended": "blockwire watch CONVERSATION shows what it does",
        "queue_full": "wait for those before, or stop one: blockwire watch CONVERSATION shows them",
        "engine_not_found": "the others need a gateway that was started with them (--engine, --config)",
        "address_in_use": "--port says which",
        "body_too_large": "the question is too long",
        "not_found": "check the path of the URL",
        "turn_not_found": "blockwire show CONVERSATION --json names the turns that there are",
        "unauthorized": "put a token that the gateway knows into BLOCKWIRE_TOKEN",
        "insufficient_scope": "put one that has it into BLOCKWIRE_TOKEN",
        "tokens_required": "blockwire token create NAME --scope read,write",
        "token_not_found": "blockwire token list shows what there is",
        "token_exists": "blockwire token revoke NAME makes room",
    }
)

# name -> (module, one line of help); read without importing the module
COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "serve": ("serve", "Serve conversations over HTTP and SSE."),
    "ask": ("ask", "Ask, and stream the answer into the terminal or a pipe."),
    "chat": ("chat", "Talk with an engine in the terminal."),
    "term": ("term", "Run a program in a terminal that keeps its history live."),
    "answer": ("answer", "Answer what a turn waits for."),
    "watch": ("watch", "Follow a conversation live; survives every reconnect."),
    "list": ("listing", "List conversations, newest first."),
    "show": ("show", "Print a conversation as it is stored."),
    "search": ("search", "Find words in everything that was asked and answered."),
    "export": ("export", "Write conversations to a file: document, JSON or archive."),
    "import": ("import_", "Take in an archive, or the history of another program."),
    "download": ("download", "Write a file that a message names."),
    "replay": ("replay", "Play a recorded provider stream in the terminal."),
    "render": ("render", "Print messages as a page, Markdown, text, or for a terminal."),
    "frames": ("frames", "Write and read the frames of terminal blocks."),
    "endpoint": ("endpoint", "Be the terminal's end of a connection, to test against."),
    "conform": ("conform", "Judge a terminal or an application against the specification."),
    "decode": ("decode", "Turn a provider's recorded bytes into stream events."),
    "validate": ("validate", "Check messages, blocks or events against the contract."),
    "check": ("check", "Check a store: file, numbers, and messages against their events."),
    "backup": ("backup", "Copy a store, also while a gateway writes to it."),
    "migrate": ("migrate", "Bring a store to the schema of this release, with a copy first."),
    "schema": ("schema", "Print the JSON Schemas."),
    "token": ("token", "Make, list and take back tokens that let others in."),
    "config": ("config", "Show every setting and where it came from."),
    "doctor": ("doctor", "Look for what could stop blockwire from working here."),
    "completion": ("completion", "Print what makes a shell complete these commands."),
    "demo": ("demo", "Three recorded answers; one cut, one with its gateway killed."),
}


class _LazyGroup(click.Group):
    """A group whose commands are imported only when they run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            _refuse_command(ctx, args[0])
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"blockwire.cli.commands.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        # Without importing a command.
        found = [
            CompletionItem(name, help=text)
            for name, (_module, text) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_module, text) in COMMANDS.items()])


def _refuse_command(ctx: click.Context, name: str) -> NoReturn:
    close = difflib.get_close_matches(name, COMMANDS, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(COMMANDS)}."
    ctx.fail(f"There is no command {name!r}; {hint}")


@click.command(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="blockwire", message="%(prog)s %(version)s")
def cli() -> None:
    """Agent conversations: streamed, stored, replayed and shown.

    \b
    First steps:
      blockwire demo                            three recorded answers
      blockwire ask "Why is the sky blue?"      an answer, streamed and kept
      blockwire serve --program ./agent.sh      your own agent behind a gateway
      blockwire watch                           the same answer in another terminal

    Without settings a recorded answer plays; "blockwire serve --help" says how to connect a model
    or a program of your own, and "blockwire COMMAND --help" explains each command.
    """  # noqa: D301 - click reads the escape: the lines below it stay as they are


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    repair_streams()
    try:
        result: Any = cli.main(
            args=None if arguments is None else list(arguments),
            prog_name="blockwire",
            standalone_mode=False,
        )
    except BaseException as error:  # noqa: BLE001 - what is not ours to say is raised again
        return _status_of(_first_cause(error))
    return result if isinstance(result, int) else 0


def _first_cause(error: BaseException) -> BaseException:
    """Task groups wrap what went wrong; the first thing is what a person needs to hear."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _status_of(error: BaseException) -> int:
    from blockwire.cli.output import OutputClosedError
    from blockwire.cli.signals import EndedBySignalError

    match error:
        case click.exceptions.Abort() | KeyboardInterrupt():
            return EXIT_INTERRUPTED
        case click.ClickException():
            error.show()
            return error.exit_code
        case SystemExit(code=0):
            # click has answered a shell that completes a command line.
            return 0
        case OutputClosedError() | BrokenPipeError() | SystemExit():
            # click exits by itself when help goes to somebody who has left.
            _drop_output()
            return EXIT_BROKEN_PIPE
        case EndedBySignalError():
            return EXIT_SIGNAL + error.number
        case BlockwireError():
            _tell(error)
            return EXIT_FAILED
        case _:
            raise error


def _drop_output() -> None:
    """Let what is still buffered go nowhere, or the interpreter complains about it at its end."""
    # A replaced stream, as in tests, has no file below it.
    with contextlib.suppress(OSError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _tell(error: BlockwireError) -> None:
    from blockwire.cli.output import note

    where = f" (at {error.pointer or '/'})" if error.pointer is not None else ""
    advice = f"; {ADVICE[error.code]}" if error.code in ADVICE else ""
    note(f"blockwire: {error.detail}{where}{advice} [{error.code}]")
