"""``blockwire validate``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Final

import click

from blockwire.cli.documents import read_document
from blockwire.cli.main import EXIT_FAILED
from blockwire.cli.output import note, write
from blockwire.content import (
    ConversationState,
    advance,
    apply,
    check_block,
    check_keys,
    check_message,
    decode_event,
    with_turn_of,
)
from blockwire.errors import BlockwireError
from blockwire.jsontext import Json, decode_json

_CHECKS: Final[Mapping[str, Callable[[Json], object]]] = MappingProxyType(
    {"message": check_message, "block": check_block, "event": decode_event}
)


@click.command()
@click.argument("kind", type=click.Choice([*_CHECKS, "events"]))
@click.argument("file")
def command(kind: str, file: str) -> int:
    """Check FILE (- for standard input) against the contract of content blocks.

    "events" reads one event a line and also applies them, so that an event which no conversation
    allows is found too, and a gap where they are numbered. Prints nothing but "valid" when all is
    well; status 1 otherwise.
    """
    problems = 0
    for number, check in enumerate(_documents(kind, read_document(file)), 1):
        try:
            check()
        except BlockwireError as error:
            problems += 1
            where = f"line {number}: " if kind == "events" else ""
            pointer = f" at {error.pointer or '/'}" if error.pointer is not None else ""
            note(f"{where}{error.code}{pointer}: {error.detail}")
    if problems:
        return EXIT_FAILED
    write("valid\n")
    return 0


def _documents(kind: str, data: bytes) -> list[Callable[[], None]]:
    if kind == "events":
        state = ConversationState()

        def apply_line(line: bytes) -> None:
            nonlocal state
            event = decode_event(decode_json(line))
            # Numbers are checked where there are some: an excerpt has them, a script need not.
            if not event.seq:
                state = advance(with_turn_of(state, event), event)
                return
            try:
                state = apply(state, event)
            except BlockwireError:
                # One mistake is told once: what follows it is looked at for itself.
                with suppress(BlockwireError):
                    state = advance(state, event)
                state = state.at(event.seq, event.conversation_id)
                raise

        lines = [line for line in data.split(b"\n") if line.strip()]
        return [partial(apply_line, line) for line in lines]

    def check_whole() -> None:
        value = decode_json(data)
        check_keys(value)
        _CHECKS[kind](value)

    return [check_whole]
