"""An application and a terminal that talk to each other in memory, on a clock of our own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from hypothesis import strategies as st

from blockwire.terminal import (
    Application,
    ApplicationLimits,
    BlockView,
    ContextHandle,
    Endpoint,
    Fallback,
    Input,
    News,
    Operation,
    PassThrough,
    Payload,
    Reply,
    TerminalSession,
    WireMessage,
    decode_message,
)
from blockwire.terminal.decoder import FrameDecoder
from blockwire.terminal.vocabulary import LINES, STYLED, OperationErrorCode

DA1_REQUEST: Final = b"\x1b[c"
DA1_ANSWER: Final = b"\x1b[?62;22c"
PROCESS_ID: Final = "0123456789abcdef01234567"


def typed(news: Iterable[News]) -> bytes:
    """Return what a program has to read."""
    return b"".join(it.data for it in news if isinstance(it, Input))


def others(news: Iterable[News]) -> list[News]:
    """Return what is not typed."""
    return [it for it in news if not isinstance(it, Input)]


def messages_of(data: bytes) -> list[WireMessage]:
    """Return the messages in bytes that an application writes."""
    events = FrameDecoder().receive_data(data)
    return [decode_message(it.data) for it in events if isinstance(it, Payload)]


@st.composite
def cuts(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """Draw ``data`` in pieces."""
    places = sorted(draw(st.sets(st.integers(1, max(len(data) - 1, 1)), max_size=6)))
    if draw(st.booleans()):
        places = [*range(1, len(data))]
    ends = [it for it in places if it < len(data)]
    return [data[a:b] for a, b in zip([0, *ends], [*ends, len(data)], strict=True)]


@dataclass
class Play:
    """Both ends. What one has written lies in a drawer until it is handed over.

    Attributes:
        refuse: The terminal's word on operations: id -> code.
        news: All that the application has learned.
        written: All that it wrote.
        sent: The messages in that.
    """

    types: Sequence[str] = (STYLED, LINES)
    limits: ApplicationLimits = field(default_factory=ApplicationLimits)
    fallback: Fallback | None = None
    refuse: dict[str, OperationErrorCode] = field(default_factory=dict)
    now_s: float = 100.0
    news: list[News] = field(default_factory=list)
    written: bytes = b""
    change_count: int = 0

    def __post_init__(self) -> None:
        self.application = Application(
            process_id=PROCESS_ID,
            limits=self.limits,
            fallback=self.fallback,
            on_change=self._note_change,
        )
        self._context_count = 0
        self.session = TerminalSession(
            new_context_id=self._new_context_id, optional_content_types=self.types
        )
        self.endpoint = Endpoint(self.session, decide=self._decide)

    def _note_change(self) -> None:
        self.change_count += 1

    def _new_context_id(self) -> str:
        self._context_count += 1
        return f"c{self._context_count}"

    def _decide(self, operation: Operation) -> OperationErrorCode | None:
        return self.refuse.pop(operation.operation_id, None)

    @property
    def sent(self) -> list[WireMessage]:
        return messages_of(self.written)

    def write(self) -> bytes:
        """Let the application write, and return that."""
        data = self.application.data_to_send(self.now_s)
        self.written += data
        return data

    def answers_to(self, data: bytes) -> bytes:
        """Return what the terminal answers, device attributes included."""
        answers = b""
        for effect in self.endpoint.receive_data(data):
            if isinstance(effect, Reply):
                answers += effect.data
            elif isinstance(effect, PassThrough):
                answers += DA1_ANSWER * effect.data.count(DA1_REQUEST)
        return answers

    def receive(self, *pieces: bytes) -> list[News]:
        """Let the application read, and return what it learns."""
        news = [it for piece in pieces for it in self.application.receive_input(piece, self.now_s)]
        self.news += news
        return news

    def exchange(self) -> list[News]:
        """Let each say what it has to, until nobody has anything left."""
        news: list[News] = []
        while data := self.write():
            news += self.receive(self.answers_to(data))
        return news

    def wait(self, until_s: float) -> list[News]:
        """Let time pass, with every tick that the application asks for."""
        news: list[News] = []
        while (tick_at_s := self.application.next_tick_at_s) is not None and tick_at_s <= until_s:
            assert tick_at_s >= self.now_s - 1e-9 or not news, "it asks for the same tick again"
            self.now_s = max(self.now_s, tick_at_s)
            news += self.application.tick(self.now_s)
        self.now_s = until_s
        self.news += news
        return news

    def begin(self) -> ContextHandle:
        """Negotiate and open a Context."""
        self.application.negotiate()
        self.exchange()
        return self.open()

    def open(self) -> ContextHandle:
        """Open a Context."""
        context = self.application.open_context()
        self.exchange()
        assert context.state == "open"
        return context

    def shown(self, context: ContextHandle) -> list[BlockView]:
        """Return the Blocks of a Context as the terminal has them."""
        return [*self.session.contexts[context.context_id].blocks.values()]

    def texts(self, context: ContextHandle) -> list[str]:
        """Return what the terminal shows of them."""
        return ["" if it.content is None else it.content.text() for it in self.shown(context)]
