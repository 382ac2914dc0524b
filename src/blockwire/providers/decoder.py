"""What all provider decoders share: JSON texts in, one well-ended turn out.

Spec: docs/spec/providers.md, "Decoders". Above are the APIs; below are ``framing`` and ``answer``.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Final

from msgspec import Struct

from blockwire.content import StreamEvent
from blockwire.errors import BlockwireError, RemoteProtocolError
from blockwire.jsontext import Json, decode_json, member_source
from blockwire.providers.answer import Answer
from blockwire.providers.failures import ProviderFailure
from blockwire.providers.framing import Framing, RawChunk
from blockwire.providers.members import clean_name
from blockwire.providers.parts import protocol_error

__all__ = ["Chunk", "StreamDecoder"]

_DONE: Final = b"[DONE]"
_JSON_BEGINS: Final = frozenset({b"", b"{", b"["})

# An escaped backslash and a whole surrogate pair are passed over; what is left stands alone.
_SURROGATES: Final = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


class Chunk(Struct, frozen=True):
    """One object of the stream.

    Attributes:
        name: Event type of an event stream; empty where it has none.
        value: The object.
        source: Its text, of which blocks keep exact slices.
    """

    name: str
    value: dict[str, Json]
    source: bytes


class StreamDecoder(ABC):
    """Base of the decoders; a subclass says what an object means.

    Args:
        framing: Cuts the body into JSON texts.
        answer: Receives the blocks.
    """

    def __init__(self, framing: Framing, answer: Answer) -> None:
        self._framing = framing
        self._answer = answer
        self._model: str | None = None

    @property
    def is_over(self) -> bool:
        """Whether the terminal event has been returned; further bytes are ignored."""
        return self._answer.is_over

    @property
    def usage(self) -> dict[str, Json] | None:
        """Token counts so far, normalised; None when the provider gave none yet."""
        return dict(self._answer.usage) or None

    @property
    def model(self) -> str | None:
        """The model as the provider names it, once it has."""
        return self._model

    @property
    def sequence_number(self) -> int | None:
        """Number of the last event; None where the API has no numbers."""
        return None

    def receive_data(self, data: bytes) -> list[StreamEvent]:
        """Consume ``data`` and return the events that it completed, in order."""
        if not self.is_over:
            for raw in self._framing.receive_data(data):
                self._take(raw)
        return self._answer.drain()

    def receive_reconnect(self) -> None:
        """Forget the unfinished event: the next bytes come from a new connection."""
        self._framing.receive_reconnect()

    def receive_eof(self) -> list[StreamEvent]:
        """End the body: return what ends the turn, unless it is over. Harmless to repeat."""
        if not self.is_over:
            for raw in self._framing.receive_eof():
                self._take(raw, may_be_cut=True)
        if not self.is_over:
            self._receive_end()
        return self._answer.drain()

    def _take(self, raw: RawChunk, *, may_be_cut: bool = False) -> None:
        if self.is_over:
            return
        try:
            if raw.data is not None and raw.data.strip() == _DONE:
                self._receive_done()
                return
            chunk = _parse(raw)
            if chunk is not None:
                self._receive(chunk)
        except RemoteProtocolError as error:
            pieces = _split_events(raw)
            if pieces:
                for piece in pieces:
                    self._take(piece, may_be_cut=may_be_cut)
                return
            # A cut object begins as an object; anything else never was one.
            is_cut = may_be_cut and raw.data is not None and raw.data.lstrip()[:1] in _JSON_BEGINS
            if not is_cut:
                self._fail(
                    protocol_error(f"The provider sent what is no valid JSON: {error.code}.")
                )
        except BlockwireError as error:
            self._fail(error)

    def _fail(self, error: BlockwireError) -> None:
        self._answer.fail(
            ProviderFailure(code=error.code, message=error.detail, retryable=error.retryable)
        )

    @abstractmethod
    def _receive(self, chunk: Chunk) -> None:
        """Take one object.

        Raises:
            EngineError: The turn fails with it.
        """

    def _receive_done(self) -> None:
        """Take the ``[DONE]`` of the OpenAI family; to other APIs it means nothing."""
        return

    def _receive_end(self) -> None:
        """End the turn at the end of the body."""
        self._answer.truncate()

    def _set_model(self, name: str) -> None:
        if name:
            self._model = clean_name(name)


def _parse(raw: RawChunk) -> Chunk | None:
    """Return the object, or None for another JSON value, which some servers send to keep alive.

    Raises:
        EngineError: The text was too large to keep.
        RemoteProtocolError: It is not JSON.
    """
    if raw.data is None:
        raise protocol_error("An event of the provider is larger than this program keeps.")
    data = raw.data
    try:
        value = decode_json(data)
    except RemoteProtocolError as error:
        if error.code != "invalid_unicode":
            raise
        # Half a surrogate pair is one broken character, no reason to lose the answer.
        data = _SURROGATES.sub(_replace_lone, data)
        value = decode_json(data)
    if isinstance(value, list) and len(value) == 1:
        # Gemini wraps an error in an array.
        value, data = value[0], member_source(data, [0]) or data
    return Chunk(raw.name, value, data) if isinstance(value, dict) else None


def _split_events(raw: RawChunk) -> list[RawChunk]:
    """Return the texts of events between which a server forgot the blank line, if that is it."""
    lines = [] if raw.data is None else [line for line in raw.data.split(b"\n") if line.strip()]
    if len(lines) < 2:
        return []
    try:
        decode_json(lines[0])
    except RemoteProtocolError:
        return []
    return [RawChunk(raw.name, line) for line in lines]


def _replace_lone(match: re.Match[bytes]) -> bytes:
    return match[0] if match["lone"] is None else b"\\ufffd"
