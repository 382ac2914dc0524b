"""Terminal blocks: a message to bytes on the wire and back, beside the standard library.

The peer does the same bytes without a single check: ``json`` and ``base64``, and the frames cut by a
regular expression. Ours is strict at both ends, so it does more.
"""

from __future__ import annotations

import base64
import gc
import json
import re
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import msgspec

from bench.figures import Figure
from blockwire.terminal import (
    AppendBody,
    BlockAppend,
    BlockExtend,
    BlockUpdate,
    ContentSnapshot,
    ExtendBody,
    FrameDecoder,
    UpdateBody,
    WireMessage,
    decode_message,
    encode_frames,
    encode_message,
)
from blockwire.terminal.bounds import FRAGMENT_BYTES, MESSAGE_BYTES_MAX

__all__ = ["measure_terminal_codec"]

SAMPLE_S: Final = 0.02
ROUNDS: Final = 15
QUICK_ROUNDS: Final = 5
SHORT_REACH: Final = 1.0
LONG_REACH: Final = 0.6

_PROSE: Final = "The kettle sang while the rain went on, and nobody minded the late hour.\n"


def _text(count: int) -> str:
    return (_PROSE * (count // len(_PROSE) + 1))[:count]


def _ids() -> dict[str, Any]:
    return {"version": 1, "operation_id": "4711", "context_id": "ctx-5f1d2c3b"}


def _updated(count: int) -> WireMessage:
    content = ContentSnapshot(type="text/plain", data=_text(count))
    return BlockUpdate(**_ids(), body=UpdateBody(block_id="answer", content=content))


def _longest() -> WireMessage:
    """Return an update that fills the longest message nearly."""
    per_char = len(encode_message(_updated(len(_PROSE) * 100))) / (len(_PROSE) * 100)
    return _updated(int((MESSAGE_BYTES_MAX - 1_000) / per_char))


def messages() -> dict[str, tuple[WireMessage, float]]:
    """Return what is measured: name -> message and reach."""
    fragment = ExtendBody(block_id="answer", base_operation_id="4710", fragment=_text(20))
    content = ContentSnapshot(type="text/plain", data=_text(1_024))
    appended = AppendBody(block_id="answer", lifecycle="mutable", content=content)
    return {
        "block.extend of 20 characters": (BlockExtend(**_ids(), body=fragment), SHORT_REACH),
        "block.append of 1 KiB": (BlockAppend(**_ids(), body=appended), SHORT_REACH),
        "block.update of 100 KiB": (_updated(102_400), SHORT_REACH),
        "block.update of 1 MiB": (_longest(), LONG_REACH),
    }


def _peer_encode(members: Any) -> bytes:
    text = json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()
    count = max(1, -(-len(text) // FRAGMENT_BYTES))
    return b"".join(
        b"\x1b]9002;1;7;%d;%d;%b\x1b\\"
        % (
            index,
            index < count - 1,
            base64.b64encode(text[index * FRAGMENT_BYTES : (index + 1) * FRAGMENT_BYTES]),
        )
        for index in range(count)
    )


_FRAME: Final = re.compile(rb"\x1b\]9002;1;\d+;\d+;[01];([^\x1b]*)\x1b\\")


def _peer_decode(stream: bytes) -> Any:
    return json.loads(b"".join(base64.b64decode(found) for found in _FRAME.findall(stream)))  # noqa: TID251 - the peer


def _encode(message: WireMessage) -> bytes:
    return encode_frames(encode_message(message), 7)


_FRAMES: Final = FrameDecoder()
"""One for a whole connection, as in life."""


def _decode(stream: bytes) -> WireMessage:
    return decode_message(_FRAMES.receive_data(stream)[0].data)  # type: ignore[union-attr]  # one whole message


def _both_us(
    ours: Callable[[], object], peer: Callable[[], object], rounds: int
) -> tuple[float, float]:
    """Return the least time of each, measured in turn so that a slow moment hits both."""
    counts = [max(1, int(SAMPLE_S / _once_s(call, 1))) for call in (ours, peer)]
    least = [float("inf"), float("inf")]
    for _ in range(rounds):
        for place, call in enumerate((ours, peer)):
            least[place] = min(least[place], _once_s(call, counts[place]))
    return least[0] * 1e6, least[1] * 1e6


def _once_s(call: Callable[[], object], count: int) -> float:
    call()
    gc.collect()
    started_s = time.process_time()
    for _ in range(count):
        call()
    return max((time.process_time() - started_s) / count, 1e-7)


def measure_terminal_codec(*, quick: bool) -> list[Figure]:
    """Measure both ways at four lengths, frames included."""
    rounds = QUICK_ROUNDS if quick else ROUNDS
    figures: list[Figure] = []
    for name, (message, reach) in messages().items():
        members = msgspec.to_builtins(message)
        stream = _encode(message)
        assert _peer_decode(stream) == members, "the peer reads the same"
        assert _decode(_peer_encode(members)) == message, "the peer writes the same"
        ways: tuple[tuple[str, Callable[[], object], Callable[[], object]], ...] = (
            ("encode", partial(_encode, message), partial(_peer_encode, members)),
            ("decode", partial(_decode, stream), partial(_peer_decode, stream)),
        )
        for way, ours, peer in ways:
            ours_us, peer_us = _both_us(ours, peer, rounds)
            figures.append(
                Figure(
                    what=f"Terminal blocks: {way} {name}",
                    ours=ours_us,
                    unit="us",
                    peer=peer_us,
                    peer_name="json and base64, unchecked",
                    reach=reach,
                )
            )
    return figures
