"""A streamed Markdown answer on its whole way: what one more token costs us at four lengths.

The state of the turn grows by a token; the projector makes operations of it and the application
frames: the application's side. The endpoint reads them, the history lays out what is seen, and a frame is
painted: the host's side. Tokens come as fast as frames, so that each is seen.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from bench.terminal_text import SECTION_TOKENS, answer_tokens
from blockwire.content import BlockState, TurnState
from blockwire.host.core import HostCore
from blockwire.host.emulator import best_emulator
from blockwire.host.options import HostOptions
from blockwire.jsontext import Json
from blockwire.render.projector import TerminalProjector
from blockwire.terminal import Application, BlockHandle, ContextHandle, Negotiated
from blockwire.tui.blockview import perform

__all__ = ["COLUMNS", "FRAME_S", "ROWS", "AnswerCost", "Link", "measure_answer"]

COLUMNS: Final = 100
ROWS: Final = 40
FRAME_S: Final = 1 / 60


class AnswerCost(Struct, frozen=True, kw_only=True):
    """What a token costs at one length, over the last section up to it.

    Attributes:
        application_us: Processor time from the state to the bytes of the frames.
        host_us: Processor time from there to what is written to the outer terminal.
        frame_bytes: Of the application, a token.
        painted_bytes: To the outer terminal, a token.
    """

    application_us: float
    host_us: float
    frame_bytes: float
    painted_bytes: float

    @property
    def both_us(self) -> float:
        """The whole way."""
        return self.application_us + self.host_us


class Link:
    """An application and a host that talk to each other, with nothing but calls between them.

    Attributes:
        application: The one end.
        core: The other one.
        context: Where the application appends its Blocks.
    """

    def __init__(self, *, process_id: str = "0123456789abcdef01234567") -> None:
        self.application = Application(process_id=process_id)
        self.core = HostCore(COLUMNS, ROWS, best_emulator(COLUMNS, ROWS), HostOptions())
        self.now_s = 0.0
        self.application.negotiate()
        news = self.exchange()
        negotiated = next(it for it in news if isinstance(it, Negotiated))
        self.types = negotiated.optional_content_types
        self.context: ContextHandle = self.application.open_context()
        self.exchange()

    def exchange(self) -> list[object]:
        """Let both say what they have to say."""
        self.core.receive_output(self.application.data_to_send(self.now_s), self.now_s)
        return [*self.application.receive_input(self.core.data_for_program(), self.now_s)]


class _Speaker:
    """The application's side of one answer."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._projector = TerminalProjector("answer", link.types)
        self._handles: dict[str, BlockHandle] = {}
        self._prose = BlockState({"id": "block_1", "type": "prose", "markdown": ""}, is_open=True)
        envelope: dict[str, Json] = {"role": "assistant", "created_at": 0}
        self._turn = TurnState("turn_1", 0, envelope, blocks=(self._prose,))

    def say(self, token: str) -> bytes:
        """Return the frames that show an answer that has grown by ``token``."""
        self._prose = self._prose.with_text(token)
        self._turn = self._turn.with_block(0, self._prose)
        for operation in self._projector.project(self._turn):
            perform(operation, self._link.context, self._handles)
        return self._link.application.data_to_send(self._link.now_s)


class _Window:
    """What was measured of each token of a section, the least of all rounds."""

    def __init__(self) -> None:
        self.application_s = [float("inf")] * SECTION_TOKENS
        self.host_s = [float("inf")] * SECTION_TOKENS
        self.frame_bytes = 0
        self.painted_bytes = 0

    @property
    def cost(self) -> AnswerCost:
        return AnswerCost(
            application_us=sum(self.application_s) / SECTION_TOKENS * 1e6,
            host_us=sum(self.host_s) / SECTION_TOKENS * 1e6,
            frame_bytes=self.frame_bytes / SECTION_TOKENS,
            painted_bytes=self.painted_bytes / SECTION_TOKENS,
        )


def measure_answer(lengths: Sequence[int], rounds: int) -> dict[int, AnswerCost]:
    """Return the cost of a token at each length.

    Every round streams the whole answer token by token; only what lies outside of the windows is
    painted once instead of each time.
    """
    tokens = answer_tokens(max(lengths))
    windows = {length: _Window() for length in lengths}
    for _ in range(rounds):
        _stream(tokens, windows)
    return {length: window.cost for length, window in windows.items()}


def _stream(tokens: Sequence[str], windows: dict[int, _Window]) -> None:
    link = Link()
    core = link.core
    speaker = _Speaker(link)
    gc.collect()
    done = 0
    for length in sorted(windows):
        window = windows[length]
        for token in tokens[done : length - SECTION_TOKENS]:
            core.receive_output(speaker.say(token), link.now_s)
        core.paint()
        while core.idle():
            pass
        window.frame_bytes = window.painted_bytes = 0
        for place, token in enumerate(tokens[length - SECTION_TOKENS : length]):
            started_s = time.process_time()
            frames = speaker.say(token)
            said_s = time.process_time()
            core.receive_output(frames, link.now_s)
            painted = core.paint()
            core.idle()
            seen_s = time.process_time()
            link.now_s += FRAME_S
            window.application_s[place] = min(window.application_s[place], said_s - started_s)
            window.host_s[place] = min(window.host_s[place], seen_s - said_s)
            window.frame_bytes += len(frames)
            window.painted_bytes += len(painted)
        done = length
