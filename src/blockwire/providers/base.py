"""What every provider decoder is, whatever the API.

Spec: docs/spec/providers.md, "Decoders".
"""

from __future__ import annotations

from typing import Final, Literal, Protocol, get_args

from blockwire.content import StreamEvent
from blockwire.jsontext import Json

__all__ = ["PROVIDER_APIS", "ProviderApi", "ProviderDecoder"]

ProviderApi = Literal[
    "openai-chat", "openai-responses", "anthropic", "gemini", "ollama-chat", "ollama-generate"
]
"""A wire format; servers of other makers speak these too."""

PROVIDER_APIS: Final[tuple[ProviderApi, ...]] = get_args(ProviderApi)


class ProviderDecoder(Protocol):
    """Turns the body of one streaming response into the events of one turn.

    Whatever the bytes, in whatever cuts: no method raises, every event is valid after those
    before it, and exactly one terminal event comes, with :meth:`receive_eof` at the latest. There
    is no ``turn.started``: the gateway has written it already.
    """

    @property
    def is_over(self) -> bool:
        """Whether the terminal event has been returned; further bytes are ignored."""
        ...

    @property
    def usage(self) -> dict[str, Json] | None:
        """Token counts so far, normalised; None when the provider gave none yet."""
        ...

    @property
    def model(self) -> str | None:
        """The model as the provider names it, once it has."""
        ...

    @property
    def sequence_number(self) -> int | None:
        """Number of the last event, where the API numbers them: a reader goes on after it."""
        ...

    def receive_data(self, data: bytes) -> list[StreamEvent]:
        """Consume ``data`` and return the events that it completed, in order."""
        ...

    def receive_reconnect(self) -> None:
        """Forget the unfinished event: the next bytes come from a new connection.

        Only of use where the API numbers its events; the ones seen already are skipped.
        """
        ...

    def receive_eof(self) -> list[StreamEvent]:
        """End the body: return what ends the turn, unless it is over. Harmless to repeat."""
        ...
