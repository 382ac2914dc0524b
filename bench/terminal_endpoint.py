"""The terminal's end: operations a CPU second from bytes to effects, and what they leave in memory."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any, Final

from bench.figures import Figure
from blockwire.terminal import (
    EMPTY,
    AppendBody,
    BlockAppend,
    BlockExtend,
    BlockReplaceSuffix,
    BlockUpdate,
    ContentSnapshot,
    ContextOpen,
    Endpoint,
    ExtendBody,
    Operation,
    ReplaceSuffixBody,
    TerminalSession,
    UpdateBody,
    WireMessage,
    encode_frames,
    encode_message,
)

__all__ = ["measure_terminal_endpoint"]

COUNT: Final = 100_000
QUICK_COUNT: Final = 20_000
ROUNDS: Final = 5
QUICK_ROUNDS: Final = 2
RATE: Final = 60_000
READ_BYTES: Final = 4_096
"""What one read of a pseudo-terminal gives."""

TEXT: Final = "twenty characters ok"
TEXT_FACTOR: Final = 3
OPERATION_ID_BYTES: Final = 200
BLOCK_BYTES: Final = 600


def _ids(number: int) -> dict[str, Any]:
    return {"version": 1, "operation_id": f"op-{number}", "context_id": "c1"}


def _content() -> ContentSnapshot:
    return ContentSnapshot(type="text/plain", data=TEXT)


def _append(number: int, block_id: str) -> Operation:
    body = AppendBody(block_id=block_id, lifecycle="mutable", content=_content())
    return BlockAppend(**_ids(number), body=body)


def _extend(number: int) -> Operation:
    body = ExtendBody(block_id="a", base_operation_id=f"op-{number - 1}", fragment=TEXT)
    return BlockExtend(**_ids(number), body=body)


def _extends(count: int) -> Iterator[Operation]:
    yield _append(0, "a")
    yield from map(_extend, range(1, count))


def _appends(count: int) -> Iterator[Operation]:
    for number in range(count):
        yield _append(number, f"block-{number}")


def _mixture(count: int) -> Iterator[Operation]:
    yield _append(0, "a")
    for number in range(1, count):
        match number % 4:
            case 0:
                body = UpdateBody(block_id="a", content=_content())
                yield BlockUpdate(**_ids(number), body=body)
            case 1:
                replacing = ReplaceSuffixBody(
                    block_id="a", base_operation_id=f"op-{number - 1}", retain=10, replacement=TEXT
                )
                yield BlockReplaceSuffix(**_ids(number), body=replacing)
            case _:
                yield _extend(number)


_STREAMS: Final[dict[str, Callable[[int], Iterator[Operation]]]] = {
    "extends of one Block": _extends,
    "Blocks in one Context": _appends,
    "operations in one Context": _mixture,
}


def _framed(message: WireMessage, frame_id: int) -> bytes:
    return encode_frames(encode_message(message), frame_id)


def _opened() -> Endpoint:
    endpoint = Endpoint(TerminalSession(new_context_id=lambda: "c1"))
    endpoint.receive_data(_framed(ContextOpen(version=1, request_id="o", body=EMPTY), 1))
    return endpoint


def _reads(operations: Iterator[Operation]) -> list[bytes]:
    frames = [_framed(operation, number + 1) for number, operation in enumerate(operations)]
    stream = b"".join(frames)
    return [stream[start : start + READ_BYTES] for start in range(0, len(stream), READ_BYTES)]


def _rate(reads: list[bytes], count: int) -> float:
    """Return operations a CPU second; each has one effect."""
    endpoint = _opened()
    gc.collect()
    started_s = time.process_time()
    effects = sum(len(endpoint.receive_data(data)) for data in reads)
    spent_s = time.process_time() - started_s
    assert effects == count, f"{effects} effects of {count} operations"
    return count / spent_s


def _kept_bytes(reads: list[bytes]) -> tuple[int, int, int]:
    """Return what is kept, the text in it, and how many Blocks hold it."""
    endpoint = _opened()
    tracemalloc.start()
    try:
        for data in reads:
            endpoint.receive_data(data)
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    blocks = endpoint.session.contexts["c1"].blocks.values()
    return kept, sum(it.content.cost_bytes for it in blocks if it.content), len(blocks)


def measure_terminal_endpoint(*, quick: bool) -> list[Figure]:
    """Measure three streams of operations in reads as a pseudo-terminal gives them."""
    count = QUICK_COUNT if quick else COUNT
    figures: list[Figure] = []
    for name, stream in _STREAMS.items():
        reads = _reads(stream(count))
        # The best of many: what others do on the machine only ever slows down.
        best = max(_rate(reads, count) for _ in range(QUICK_ROUNDS if quick else ROUNDS))
        kept, text_bytes, blocks = _kept_bytes(reads)
        allowed = TEXT_FACTOR * text_bytes + OPERATION_ID_BYTES * count + BLOCK_BYTES * blocks
        figures += (
            Figure(what=f"{count:,} {name}", ours=best, unit="/s", peer=RATE,
                   peer_name="to be reached", reach=1, more_is_better=True),
            Figure(what=f"{count:,} {name}: memory", ours=kept / count, unit="B an operation",
                   peer=allowed / count, peer_name="allowed", reach=1),
        )  # fmt: skip
    return figures
