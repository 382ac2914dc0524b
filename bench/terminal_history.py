"""A long history in the host: what one does with it costs what is seen, not what there is."""

from __future__ import annotations

import gc
import random
import statistics
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from itertools import count as count_from
from typing import Final

from msgspec import Struct

from bench.terminal_answer import COLUMNS, FRAME_S, ROWS
from bench.terminal_text import words
from blockwire.host.core import HostCore
from blockwire.host.emulator import best_emulator
from blockwire.host.options import HostOptions
from blockwire.terminal import (
    EMPTY,
    AppendBody,
    BlockAppend,
    BlockUpdate,
    ContentSnapshot,
    ContextOpen,
    UpdateBody,
    WireMessage,
    encode_frames,
    encode_message,
)
from blockwire.terminal.vocabulary import PLAIN

__all__ = ["HistoryCosts", "block_bytes", "measure_history"]

BLOCK_CHARS: Final = 127
"""Of a Block's text on the average: a line or two."""

MEMORY_BLOCKS: Final = 10_000
"""So many are enough to tell what one takes, and tracing is slow."""

KEYS: Final = 500
FEW: Final = 100
READ_BYTES: Final = 16_384
NEEDLE: Final = "needle in a haystack"
FAR_BLOCK: Final = 10

_CAPACITY_BYTES: Final = 1 << 30
_PAGE_UP: Final = b"\x1b[5;2~"
_END: Final = b"\x1b[1;2F"
_WHEEL_UP: Final = b"\x1b[<64;10;10M"
_PREFIX: Final = b"\x1d"
_ESCAPE_S: Final = 1.0


class HistoryCosts(Struct, frozen=True, kw_only=True):
    """What was measured; times are those of the processor.

    Attributes:
        fill_blocks_per_s: Blocks a second, from bytes to the history.
        scroll_ms: A notch of the wheel to its frame, p95.
        page_ms: A page up to its frame, p95.
        append_ms: A Block appended at the tail, to its frame, p95.
        far_us: An update of a Block far above, frame included.
        far_bytes: What all such updates wrote.
        resize_ms: Another width, to the first frame; the longest of some.
        refine_ms: What is left to do then when nothing else is.
        search_ms: Until all of the history is searched.
        search_key_ms: A key of a query to its frame, the longest.
        slice_ms: The longest step of the search or of what is refined.
        key_ms: A key, its echo by the program, to the frame, p95.
        idle_bytes: Written by a thousand frames of nothing.
    """

    fill_blocks_per_s: float
    scroll_ms: float
    page_ms: float
    append_ms: float
    far_us: float
    far_bytes: int
    resize_ms: float
    refine_ms: float
    search_ms: float
    search_key_ms: float
    slice_ms: float
    key_ms: float
    idle_bytes: int


class _Desk:
    """A session with a long history, and what one does with it."""

    def __init__(self, count: int) -> None:
        rng = random.Random(count)
        options = HostOptions(capacity_bytes=_CAPACITY_BYTES)
        self.core = HostCore(COLUMNS, ROWS, best_emulator(COLUMNS, ROWS), options)
        self._numbers = count_from(count)
        self._rng = rng
        self.now_s = 0.0
        self.write(_framed(ContextOpen(version=1, request_id="open", body=EMPTY)))
        self.core.data_for_program()
        texts = [NEEDLE if number == count // 3 else _text(rng) for number in range(count)]
        self.text_bytes = sum(map(len, texts))
        self._stream = b"".join(map(_append, range(count), texts))

    def fill(self) -> None:
        for start in range(0, len(self._stream), READ_BYTES):
            self.write(self._stream[start : start + READ_BYTES])
        self._stream = b""

    def write(self, data: bytes) -> None:
        self.core.receive_output(data, self.now_s)

    def key(self, data: bytes) -> bytes:
        self.core.receive_input(data, self.now_s)
        if data.endswith(b"\x1b"):
            self.now_s += _ESCAPE_S
            self.core.tick(self.now_s)
        return self.core.paint()

    def echo(self, data: bytes) -> bytes:
        """Type something into a program that shows it."""
        self.core.receive_input(data, self.now_s)
        self.write(self.core.data_for_program())
        return self.core.paint()

    def append(self) -> bytes:
        self.write(_append(next(self._numbers), _text(self._rng)))
        return self.core.paint()

    def update(self, number: int) -> bytes:
        operation = BlockUpdate(
            version=1, operation_id=f"op-{next(self._numbers)}", context_id="context_1",
            body=UpdateBody(block_id=f"block-{number}", content=_content(_text(self._rng))),
        )  # fmt: skip
        self.write(_framed(operation))
        return self.core.paint()

    def resize(self, columns: int) -> bytes:
        self.core.resize(columns, ROWS)
        return self.core.paint()

    def settle(self) -> list[float]:
        """Do all that can wait, with frames as often as the driver has them.

        Returns:
            How long each step of it took, in ms.
        """
        steps_ms: list[float] = []
        started_s = painted_s = time.process_time()
        has_more = True
        while has_more:
            has_more = self.core.idle()
            if not has_more or started_s - painted_s >= FRAME_S:
                self.core.paint()
                painted_s = started_s
            ended_s = time.process_time()
            steps_ms.append((ended_s - started_s) * 1e3)
            started_s = ended_s
        return steps_ms


def measure_history(count: int) -> HistoryCosts:
    """Return what a history of ``count`` Blocks costs."""
    desk = _Desk(count)
    fill_ms = _each_ms(desk.fill, 1)[0]
    desk.settle()
    # As a session that has lasted: what is old is not looked at again by the collector.
    gc.collect()
    gc.freeze()
    try:
        return _measure(desk, count / fill_ms * 1e3)
    finally:
        gc.unfreeze()


def _measure(desk: _Desk, fill_blocks_per_s: float) -> HistoryCosts:
    key_ms = _p95(_each_ms(lambda: desk.echo(b"x"), KEYS))
    append_ms = _p95(_each_ms(desk.append, KEYS))
    desk.settle()
    far = [len(desk.update(FAR_BLOCK + number)) for number in range(FEW)]
    far_ms = statistics.mean(_each_ms(lambda: desk.update(FAR_BLOCK), FEW))
    scroll_ms = _p95(_each_ms(lambda: desk.key(_WHEEL_UP), KEYS))
    page_ms = _p95(_each_ms(lambda: desk.key(_PAGE_UP), FEW))
    desk.settle()
    far += [len(desk.update(FAR_BLOCK + number)) for number in range(FEW)]
    desk.key(_END)
    resizes: list[float] = []
    refines: list[float] = []
    steps: list[float] = []
    for columns in (COLUMNS - 20, COLUMNS + 20, COLUMNS // 2, COLUMNS):
        resizes += _each_ms(partial(desk.resize, columns), 1)
        refined = desk.settle()
        refines.append(sum(refined))
        steps += refined
    desk.key(_PREFIX)
    desk.key(b"/")
    keys: list[float] = []
    for char in NEEDLE.encode():
        keys += _each_ms(partial(desk.key, bytes([char])), 1)
    searched = desk.settle()
    desk.key(b"\x1b")
    desk.settle()
    idle_bytes = sum(_idle_bytes(desk) for _ in range(1_000))
    return HistoryCosts(
        fill_blocks_per_s=fill_blocks_per_s,
        scroll_ms=scroll_ms,
        page_ms=page_ms,
        append_ms=append_ms,
        far_us=far_ms * 1e3,
        far_bytes=sum(far),
        resize_ms=max(resizes),
        refine_ms=max(refines),
        search_ms=sum(keys[-1:]) + sum(searched),
        search_key_ms=max(keys),
        slice_ms=max((*steps, *searched)),
        key_ms=key_ms,
        idle_bytes=idle_bytes,
    )


def block_bytes(count: int) -> tuple[float, float]:
    """Return what a Block takes in the whole host, and what its text has, in bytes."""
    desk = _Desk(count)
    # What is made once is no part of a Block.
    desk.append()
    gc.collect()
    tracemalloc.start()
    try:
        desk.fill()
        desk.settle()
        gc.collect()
        kept_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return kept_bytes / count, desk.text_bytes / count


def _idle_bytes(desk: _Desk) -> int:
    desk.now_s += FRAME_S
    desk.core.tick(desk.now_s)
    desk.core.idle()
    return len(desk.core.paint())


def _each_ms(call: Callable[[], object], count: int) -> list[float]:
    spans_ms: list[float] = []
    for _ in range(count):
        started_s = time.process_time()
        call()
        spans_ms.append((time.process_time() - started_s) * 1e3)
    return spans_ms


def _p95(spans: list[float]) -> float:
    return sorted(spans)[len(spans) * 95 // 100]


def _text(rng: random.Random) -> str:
    return words(rng, rng.randint(BLOCK_CHARS // 2, BLOCK_CHARS * 3 // 2))


def _content(text: str) -> ContentSnapshot:
    return ContentSnapshot(type=PLAIN, data=text)


def _append(number: int, text: str) -> bytes:
    body = AppendBody(block_id=f"block-{number}", lifecycle="mutable", content=_content(text))
    operation_id = f"op-{number}"
    return _framed(
        BlockAppend(version=1, operation_id=operation_id, context_id="context_1", body=body)
    )


def _framed(message: WireMessage) -> bytes:
    return encode_frames(encode_message(message), 1)
