"""Streaming Markdown: what one more token costs, beside rendering the whole answer again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from unittest.mock import patch

from markdown_it import MarkdownIt

from bench.figures import Figure
from blockwire.content import BlockState, TurnState
from blockwire.render import MarkdownStream, TerminalLook
from blockwire.render.projector import TerminalProjector

__all__ = ["measure_markdown"]

TOKENS: Final = (500, 8_000, 32_000)
STEPS: Final = 300
WHOLE_STEPS: Final = 3
COLUMNS: Final = 80
FLAT: Final = 1.5
WHOLE_SHARE: Final = 0.05

_SECTION: Final = """## A heading of section {number}

Some words about it, *with emphasis*, `code` and a [link](https://example.org/{number}), which
go on for a few lines so that the paragraph is one that a model would write.

- one thing
- another thing with **weight**
- a third

```python
for index in range({number}):
    print(index)
```

| name | value |
|------|-------|
| one  | {number} |

"""


def tokens(count: int) -> list[str]:
    """Return an answer in pieces of four characters, ``count`` of them."""
    text = ""
    number = 0
    while len(text) < count * 4:
        number += 1
        text += _SECTION.format(number=number)
    return [text[start : start + 4] for start in range(0, count * 4, 4)]


@contextmanager
def counted_parsing() -> Iterator[list[int]]:
    """Collect the length of every text that the Markdown parser is given."""
    lengths: list[int] = []
    parse = MarkdownIt.parse

    def counting(self: MarkdownIt, src: str, env: dict[str, object] | None = None) -> object:
        lengths.append(len(src))
        return parse(self, src, env)

    with patch.object(MarkdownIt, "parse", counting):
        yield lengths


def parsed_per_token(count: int) -> float:
    """Return how many characters are parsed for a token, over a whole answer."""
    stream = MarkdownStream(TerminalLook(COLUMNS))
    with counted_parsing() as lengths:
        for token in tokens(count):
            stream.feed(token)
        stream.finish()
    return sum(lengths) / count


def projected_per_token(count: int) -> tuple[float, float]:
    """Return how many characters are parsed for a token that Blocks show, and its time in us."""
    projector = TerminalProjector("message", ("text/lines",))
    prose = BlockState({"id": "block_1", "type": "prose", "markdown": ""}, is_open=True)
    turn = TurnState("turn_1", 0, {"role": "assistant", "created_at": 0}, blocks=(prose,))
    started_s = time.process_time()
    with counted_parsing() as lengths:
        for token in tokens(count):
            prose = prose.with_text(token)
            turn = turn.with_block(0, prose)
            projector.project(turn)
    return sum(lengths) / count, (time.process_time() - started_s) / count * 1e6


def stream_us(count: int) -> float:
    """Return the processor time of a token at the end of an answer of ``count`` tokens."""
    pieces = tokens(count + STEPS)
    stream = MarkdownStream(TerminalLook(COLUMNS))
    for token in pieces[:count]:
        stream.feed(token)
    started_s = time.process_time()
    for token in pieces[count:]:
        stream.feed(token)
    return (time.process_time() - started_s) / STEPS * 1e6


def whole_us(count: int) -> float:
    """Return what it costs to render the whole answer with markdown-it-py once."""
    parser = MarkdownIt().enable("table")
    text = "".join(tokens(count))
    started_s = time.process_time()
    for _ in range(WHOLE_STEPS):
        parser.render(text)
    return (time.process_time() - started_s) / WHOLE_STEPS * 1e6


def measure_markdown(*, quick: bool) -> list[Figure]:
    """Measure characters parsed a token, and the time of a token, at three lengths."""
    lengths = TOKENS[:2] if quick else TOKENS
    parsed = {count: parsed_per_token(count) for count in lengths}
    costs = {count: min(stream_us(count) for _ in range(3)) for count in lengths}
    projected = {count: projected_per_token(count) for count in lengths}
    longest = lengths[-1]
    figures = [
        Figure(
            what=f"Markdown: characters parsed a token, {count:,} tokens",
            ours=parsed[count],
            unit="",
            peer=parsed[lengths[0]],
            peer_name=f"at {lengths[0]:,}",
            reach=FLAT,
        )
        for count in lengths[1:]
    ]
    figures += [
        Figure(
            what=f"Markdown in Blocks: characters parsed a token, {count:,} tokens",
            ours=projected[count][0],
            unit="",
            peer=projected[lengths[0]][0],
            peer_name=f"at {lengths[0]:,}",
            reach=FLAT,
            note=f"{projected[count][1]:.0f} us a token",
        )
        for count in lengths[1:]
    ]
    note = ", ".join(f"{count:,} tokens: {costs[count]:.0f} us" for count in lengths)
    whole = Figure(
        what=f"Markdown: a token of {longest:,}",
        ours=costs[longest],
        unit="us",
        peer=whole_us(longest),
        peer_name="markdown-it-py, whole again",
        reach=WHOLE_SHARE,
        note=note,
    )
    return [*figures, whole]
