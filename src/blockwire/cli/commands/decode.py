"""``blockwire decode``."""

from __future__ import annotations

from collections.abc import Iterator

import click
from msgspec import structs

from blockwire.cli.documents import read_pieces
from blockwire.cli.output import write_json
from blockwire.cli.system import SystemClock, UlidFactory
from blockwire.content import (
    ConversationState,
    Redactor,
    StreamEvent,
    TurnEnded,
    TurnStarted,
    advance,
    event_members,
)
from blockwire.providers import PROVIDER_APIS, ProviderApi, make_decoder


@click.command()
@click.argument("api", metavar="API", type=click.Choice(list(PROVIDER_APIS)))
@click.argument("file")
@click.option("--message", is_flag=True, help="Print the finished message, not its events.")
def command(api: ProviderApi, file: str, *, message: bool) -> None:
    """Turn a provider's bytes into stream events, one JSON object a line.

    API is one of openai-chat, openai-responses, anthropic, gemini, ollama-chat, ollama-generate.
    FILE is a recorded response body, or - for standard input, so that curl can be piped in. Ends
    with status 0 whatever the stream says; how the turn ended is in its last event.
    """
    state = ConversationState()
    turn_id = ""
    for event in _events(api, file):
        state = advance(state, event)
        turn_id = turn_id or (event.turn_id if isinstance(event, TurnStarted) else "")
        if not message:
            write_json(event_members(event))
    found = state.find_message(turn_id)
    if message and found is not None:
        write_json(found)


def _events(api: ProviderApi, file: str) -> Iterator[StreamEvent]:
    clock, ids = SystemClock(), UlidFactory()
    turn_id = ids.new_id("turn")
    started = TurnStarted(turn_id, "assistant", clock.now_ms())
    decoder = make_decoder(api, turn_id=turn_id, new_id=ids.new_id, redact=Redactor().redact)
    is_started = False

    def stamped(events: list[StreamEvent]) -> Iterator[StreamEvent]:
        nonlocal is_started
        for event in events:
            if not is_started:
                # By now the decoder knows which model speaks.
                is_started = True
                yield structs.replace(started, model=decoder.model)
            yield (
                structs.replace(event, ts=clock.now_ms()) if isinstance(event, TurnEnded) else event
            )

    for piece in read_pieces(file):
        yield from stamped(decoder.receive_data(piece))
    yield from stamped(decoder.receive_eof())
