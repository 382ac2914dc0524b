"""What runs a turn.

Spec: docs/spec/gateway/engines.md.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Final, Protocol

from msgspec import Struct

from blockwire.content import Message, StreamEvent
from blockwire.jsontext import Json
from blockwire.ports.attachments import AttachmentRow

__all__ = ["REQUEST_PROTOCOL", "Answer", "Answers", "Engine", "EngineFiles", "EngineRequest"]

REQUEST_PROTOCOL: Final = 1
"""Version of what an engine is asked with."""


class Answer(Struct, frozen=True):
    """What a person answered to the request of a suspended turn.

    Attributes:
        request_id: ``id`` of the request.
        answer: Any JSON value.
    """

    request_id: str
    answer: Json


class Answers(Protocol):
    """Where the answers to a turn's questions come in, each once, in order.

    When an answer comes, ``turn.resumed`` is in the log already: the engine just goes on.
    """

    async def receive(self) -> Answer:
        """Return the next answer that nobody received yet, waiting for it."""
        ...

    def listen(self, hear: Callable[[Answer], None]) -> None:
        """Call ``hear`` with every later answer as it comes in; it must neither block nor raise."""
        ...


class EngineFiles(Protocol):
    """The attachments that the conversation of a turn holds, for its engine."""

    async def find(self, attachment_id: str) -> AttachmentRow | None:
        """Return what is known of an attachment; None for one that the conversation has not."""
        ...

    def read(self, row: AttachmentRow) -> AsyncGenerator[bytes, None]:
        """Yield the content of what was found. Raises StoreError."""
        ...


class EngineRequest(Struct, frozen=True, kw_only=True):
    """One turn to run, in owner view; also ``command``'s standard input as JSON.

    Attributes:
        protocol: Always :data:`REQUEST_PROTOCOL`.
        conversation_id: Where the turn belongs.
        turn_id: The turn, started already; events name it.
        engine: Name under which the engine is configured.
        messages: Finished turns and the question, oldest first; an attachment block has ``path``
            beside its id where a program may read it.
        options: Engine options of the submit, opaque.
        model: As asked for, else the engine's default.
        system: System prompt of the conversation or the engine.
        answers: Where an engine that asks hears what is answered; no part of the JSON. None where
            nobody passes answers on.
        files: Content of the attachments that ``messages`` name; no part of the JSON. None where
            there is none.
    """

    protocol: int = REQUEST_PROTOCOL
    conversation_id: str
    turn_id: str
    engine: str
    messages: list[Message]
    options: dict[str, Json]
    model: str | None = None
    system: str | None = None
    answers: Answers | None = None
    files: EngineFiles | None = None


class Engine(Protocol):
    """Runs turns. One instance serves many turns at once."""

    def run(self, request: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
        """Yield the events of the turn, without numbers and without ``turn.started``.

        After ``turn.suspended`` the turn waits; an engine that can go on takes its answer from
        ``request.answers``. The stream need not end well: a guard settles open blocks and adds the terminal event.
        Cancelling the consumer's task, or closing the generator, stops the work for good.

        Raises:
            EngineError: Something failed that a person should read about.
        """
        ...

    async def aclose(self) -> None:
        """Let go of connections and processes."""
        ...
