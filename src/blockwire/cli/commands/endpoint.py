"""``blockwire endpoint``."""

from __future__ import annotations

import contextlib
import secrets
import sys
from collections.abc import Iterator

import click

from blockwire.cli.endpoints import LineEndpoint, answer_terminal
from blockwire.cli.output import write_json
from blockwire.cli.wirelines import read_lines


@click.command("endpoint")
@click.option("--json", "as_json", is_flag=True, help="Read and write lines of JSON.")
@click.option("--tty", "as_tty", is_flag=True, help="Answer the program at this terminal.")
def command(*, as_json: bool, as_tty: bool) -> None:
    """Be the terminal's end of a connection, without a screen, to test against.

    With --json each line of standard input ({"bytes_base64": ...}, {"host": ...},
    {"host_prepare": ...}; {"options": ...} first) is answered by one line: {"replies": [...],
    "data_base64": ..., "blocks": [...]}, or {"error": CODE, "detail": ..., "line": N}, after which it
    goes on. With --tty it reads what an application writes and answers it.
    """
    if as_json == as_tty:
        raise click.UsageError("--json or --tty?")
    if as_tty:
        with _raw_mode():
            answer_terminal(sys.stdin.fileno(), sys.stdout.fileno(), new_context_id=_new_context_id)
        return
    endpoint = LineEndpoint()
    for number, line in read_lines("-"):
        write_json(endpoint.answer(number, line))


def _new_context_id() -> str:
    return f"context-{secrets.token_hex(8)}"


@contextlib.contextmanager
def _raw_mode() -> Iterator[None]:
    """Let every byte of a terminal through, and put it back as it was."""
    if not sys.stdin.isatty():
        yield
        return
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    # Not the default, which forgets what has been written to us already.
    tty.setraw(descriptor, termios.TCSANOW)
    try:
        yield
    finally:
        with contextlib.suppress(OSError, termios.error):
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
