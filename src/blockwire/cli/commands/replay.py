"""``blockwire replay``."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from blockwire.cli.options import SCREEN_OPTIONS, options
from blockwire.cli.output import write
from blockwire.cli.screens import TurnPrinter
from blockwire.cli.system import SystemClock, UlidFactory
from blockwire.cli.terminals import screen_of
from blockwire.content import (
    ConversationState,
    Redactor,
    StreamEvent,
    TurnStarted,
    advance,
)
from blockwire.engines.replay import load_recordings
from blockwire.errors import LocalProtocolError
from blockwire.providers import PROVIDER_APIS, ProviderApi, Recording, make_decoder


@click.command()
@click.argument("recording", required=False)
@click.option("--api", type=click.Choice(list(PROVIDER_APIS)), help="Format of a plain body.")
@click.option("--speed", type=click.FloatRange(min=0), default=1.0, help="2 is twice, 0 at once.")
@options(*SCREEN_OPTIONS)
def command(recording: str | None, api: ProviderApi | None, speed: float, **arguments: Any) -> None:
    """Play a provider's recorded stream in the terminal, with its timing.

    RECORDING is a file (a response body, or lines with times) or the name of one of the demo's;
    without it the names are listed. No gateway takes part.
    """
    known = load_recordings(None)
    if recording is None:
        write("".join(f"{name}\n" for name in known))
        return
    if recording in known:
        chosen = known[recording]
    elif Path(recording).is_file():
        chosen = next(iter(load_recordings(recording, api=api).values()))
    else:
        raise LocalProtocolError(
            "recording_not_found",
            f"no file and no recording {recording}; there are {', '.join(known)}",
        )
    screen = screen_of(sys.stdout, flag=arguments["color"], width=arguments["width"])
    printer = TurnPrinter(screen, with_reasoning=arguments["reasoning"])
    state = ConversationState()
    for event in _events(chosen, speed):
        state = advance(state, event)
        turn = state.turns[-1]
        write(printer.show_turn(turn))
    write(printer.finish())


def _events(recording: Recording, speed: float) -> Iterator[StreamEvent]:
    clock, ids = SystemClock(), UlidFactory()
    turn_id = ids.new_id("turn")
    yield TurnStarted(turn_id, "assistant", clock.now_ms())
    decoder = make_decoder(
        recording.api, turn_id=turn_id, new_id=ids.new_id, redact=Redactor().redact
    )
    started_s = clock.monotonic_s()
    for at_ms, data in recording.chunks:
        due_s = at_ms / 1000 / speed if speed else 0
        time.sleep(max(started_s + due_s - clock.monotonic_s(), 0))
        yield from decoder.receive_data(data)
    yield from decoder.receive_eof()
