"""Pass-through of ordinary output, and streams that mean harm: bytes a CPU second."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from bench.figures import Figure
from blockwire.terminal import FrameDecoder, encode_frames

__all__ = ["measure_terminal_framing"]

SIZE_BYTES: Final = 10_000_000
QUICK_BYTES: Final = 1_000_000
READ_BYTES: Final = 65_536
"""What a pty or a socket gives in one read, at best."""
ROUNDS: Final = 5
ORDINARY_MB: Final = 100.0
"""Megabytes a CPU second that ordinary output is to pass at."""
LINEAR: Final = 1.5
"""How much more a byte may cost in a stream ten times as long."""

ORDINARY: Final[Mapping[str, bytes]] = MappingProxyType(
    {
        "plain text": b"The kettle sang while the rain went on, and nobody minded.\r\n",
        "coloured text": b"\x1b[38;5;208mThe kettle\x1b[0m sang \x1b[1mwhile\x1b[22m the rain went on\r\n",
        "links and titles": b"\x1b]8;;https://example.invalid/\x1b\\link\x1b]8;;\x1b\\ \x1b]0;title\x07\r\n",
    }
)
HOSTILE: Final[Mapping[str, tuple[bytes, int]]] = MappingProxyType(
    {
        "ESC only": (b"\x1b", READ_BYTES),
        "introducers": (b"\x1b]9002;", READ_BYTES),
        "introducers of a longer number": (b"\x1b]90021;", READ_BYTES),
        "frames that BEL ends": (b"\x1b]9002;\x07", READ_BYTES),
        "a frame without an end": (b"", READ_BYTES),
        "a frame without an end, byte by byte": (b"", 1),
        "ESC only, byte by byte": (b"\x1b", 1),
        "small messages, byte by byte": (encode_frames(b"{}", 7), 1),
    }
)


def _filled(unit: bytes, size: int) -> bytes:
    if not unit:
        return b"\x1b]9002;".ljust(size, b"A")
    return (unit * (size // len(unit) + 1))[:size]


def _spent_s(stream: bytes, read_bytes: int) -> float:
    pieces = [stream[at : at + read_bytes] for at in range(0, len(stream), read_bytes)]
    decoder = FrameDecoder()
    started_s = time.process_time()
    for piece in pieces:
        decoder.receive_data(piece)
    decoder.end_of_stream()
    return max(time.process_time() - started_s, 1e-6)


def measure_terminal_framing(*, quick: bool) -> list[Figure]:
    """Measure ordinary bytes against what is to be reached, hostile ones against a tenth of them."""
    size = QUICK_BYTES if quick else SIZE_BYTES
    figures: list[Figure] = []
    for name, unit in ORDINARY.items():
        stream = _filled(unit, size)
        least_s = min(_spent_s(stream, READ_BYTES) for _ in range(ROUNDS))
        figures.append(
            Figure(
                what=f"Terminal blocks: {name} that passes through",
                ours=size / least_s / 1e6,
                unit="MB/s",
                peer=ORDINARY_MB,
                peer_name="to reach",
                reach=1.0,
                more_is_better=True,
            )
        )
    for name, (unit, read_bytes) in HOSTILE.items():
        long, short = _filled(unit, size), _filled(unit, size // 10)
        # In turn, and the least of each: what others do on the machine only ever adds.
        short_s = min(_spent_s(short, read_bytes) for _ in range(ROUNDS))
        long_s = min(_spent_s(long, read_bytes) for _ in range(2))
        figures.append(
            Figure(
                what=f"Terminal blocks: {size // 1_000_000} MB of {name}",
                ours=long_s / size * 1e9,
                unit="ns a byte",
                peer=short_s / (size // 10) * 1e9,
                peer_name="a tenth as long",
                reach=LINEAR,
            )
        )
    return figures
