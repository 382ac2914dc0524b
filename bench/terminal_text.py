"""What the terminal programs are measured with: an answer as a model writes it, and floods of output.

Everything is made with a seed, so all programs of all runs get the same.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from blockwire.terminal import (
    EMPTY,
    AppendBody,
    BlockAppend,
    BlockExtend,
    BlockSeal,
    BlockUpdate,
    ContentSnapshot,
    ContextOpen,
    ExtendBody,
    SealBody,
    UpdateBody,
    WireMessage,
    encode_frames,
    encode_message,
)
from blockwire.terminal.vocabulary import PLAIN

__all__ = [
    "SECTION_TOKENS",
    "TOKEN_CHARS",
    "answer_tokens",
    "blocks_flood",
    "plain_flood",
    "sampled",
    "sgr_flood",
    "words",
]

TOKEN_CHARS: Final = 4
"""What a token of English has on the average."""

SECTION_TOKENS: Final = 250
"""All sections have one shape and one length, so that windows of one section can be compared."""

_SECTION_CHARS: Final = SECTION_TOKENS * TOKEN_CHARS
_SEED: Final = 9002

_SYLLABLES: Final = (
    "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "qui", "ro", "su", "ta",
    "ve", "wi", "xo", "yu", "zel", "mar", "ton", "ser", "vin",
)  # fmt: skip


def words(rng: random.Random, chars: int) -> str:
    """Return words of so many characters in all."""
    text = ""
    while len(text) < chars:
        text += "".join(rng.choices(_SYLLABLES, k=rng.randint(1, 4))) + " "
    # A blank at the cut would be no text of a paragraph.
    return text[: chars - 1] + "."


def _section(rng: random.Random, number: int) -> str:
    def some(chars: int) -> str:
        return words(rng, chars)

    text = f"## {number}. {some(24)}\n\n{some(120)} *{some(10)}* and `{some(8)}`: {some(90)}\n"
    text += f"See [{some(9)}](https://example.org/{number}) for **{some(12)}**\n\n"
    text += (
        f"- {some(40)}\n- {some(60)} `{some(6)}`\n  - {some(30)}\n- **{some(8)}** {some(30)}\n\n"
    )
    text += f"```python\ndef run(limit={number}):\n    for index in range(limit):\n"
    text += f'        print("{some(20)}", index)  # {some(16)}\n    return limit\n```\n\n'
    text += "| name | value | note |\n|------|------:|------|\n"
    for _ in range(3):
        text += f"| {some(8)} | {rng.randrange(100, 999)} | {some(14)} |\n"
    text += "\n"
    return text + some(_SECTION_CHARS - len(text) - 2) + "\n\n"


def answer_tokens(count: int) -> list[str]:
    """Return an answer in Markdown of ``count`` tokens: whole sections, each as long as the others.

    Args:
        count: A multiple of :data:`SECTION_TOKENS`.
    """
    assert count % SECTION_TOKENS == 0, "an answer is of whole sections"
    rng = random.Random(_SEED)
    tokens: list[str] = []
    for number in range(count // SECTION_TOKENS):
        text = _section(rng, number + 1)
        assert len(text) == _SECTION_CHARS, f"a section has {len(text)} characters"
        cuts = range(0, _SECTION_CHARS + 1, TOKEN_CHARS)
        tokens += [text[start:end] for start, end in pairwise(cuts)]
    return tokens


def sampled(count: int, samples: int) -> range:
    """Return how many tokens there are at some of the last section, spread evenly over it.

    Args:
        count: Of all tokens.
        samples: A divisor of :data:`SECTION_TOKENS`.
    """
    step = SECTION_TOKENS // samples
    return range(count - SECTION_TOKENS + step, count + 1, step)


def plain_flood(size_bytes: int) -> bytes:
    """Return lines of plain text, as of a build or of ``cat``."""
    rng = random.Random(_SEED)
    lines = [words(rng, rng.randint(20, 110)).encode() + b"\r\n" for _ in range(1_000)]
    return _repeated(lines, size_bytes)


def sgr_flood(size_bytes: int) -> bytes:
    """Return lines in which nearly every word has another colour, as of ``ls`` or a test runner."""
    rng = random.Random(_SEED)
    lines: list[bytes] = []
    for _ in range(1_000):
        parts = []
        for word in words(rng, rng.randint(40, 90)).split():
            red, green, blue = (rng.randrange(256) for _ in range(3))
            pen = rng.choice(
                (f"38;2;{red};{green};{blue}", f"1;38;5;{red}", f"{31 + red % 6}", "7")
            )
            parts.append(f"\x1b[{pen}m{word}\x1b[0m")
        lines.append(" ".join(parts).encode() + b"\r\n")
    return _repeated(lines, size_bytes)


def _repeated(lines: list[bytes], size_bytes: int) -> bytes:
    data = b"".join(lines)
    data *= size_bytes // len(data) + 1
    return data[: data.rindex(b"\n", 0, size_bytes) + 1]


def blocks_flood(size_bytes: int, context_id: str) -> bytes:
    """Return what an application writes that shows Blocks: appended, grown, changed and sealed.

    A line of ordinary output stands between two of them.

    Args:
        size_bytes: About so many, frames included.
        context_id: Which the terminal gives to the first Context that is opened.
    """
    rng = random.Random(_SEED)
    parts = [_framed(ContextOpen(version=1, request_id="open", body=EMPTY))]
    length, number = len(parts[0]), 0
    while length < size_bytes:
        number += 1
        frames = b"".join(map(_framed, _life_of_block(rng, number, context_id)))
        part = frames + b"$ " + words(rng, 40).encode() + b"\r\n"
        length += len(part)
        parts.append(part)
    return b"".join(parts)


def _life_of_block(rng: random.Random, number: int, context_id: str) -> Iterator[WireMessage]:
    block_id = f"block-{number}"

    def ids(step: int) -> dict[str, Any]:
        return {"version": 1, "operation_id": f"{number}.{step}", "context_id": context_id}

    first = ContentSnapshot(type=PLAIN, data=words(rng, 200))
    body = AppendBody(block_id=block_id, lifecycle="mutable", content=first)
    yield BlockAppend(**ids(0), body=body)
    for step in range(1, 5):
        extend = ExtendBody(
            block_id=block_id, base_operation_id=f"{number}.{step - 1}", fragment=words(rng, 60)
        )
        yield BlockExtend(**ids(step), body=extend)
    last = ContentSnapshot(type=PLAIN, data=f"{words(rng, 60)}\n{words(rng, 300)}")
    yield BlockUpdate(**ids(5), body=UpdateBody(block_id=block_id, content=last))
    yield BlockSeal(**ids(6), body=SealBody(block_id=block_id))


def _framed(message: WireMessage) -> bytes:
    return encode_frames(encode_message(message), 1)
