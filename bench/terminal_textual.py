"""The streamed answer in Textual's ``MarkdownStream``, as its documentation says one streams.

It gets the text up to the last section at once. Some tokens of that are measured, spread evenly over it;
those between them go in unmeasured.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Final

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Markdown
from textual.widgets.markdown import MarkdownStream

from bench.terminal_answer import COLUMNS, FRAME_S, ROWS
from bench.terminal_text import SECTION_TOKENS, sampled

__all__ = ["token_us"]

# It draws when it is idle, at most once a frame. To wait costs next to nothing, whereas the pause of
# its own test driver asks every widget.
SHOWN_S: Final = 2 * FRAME_S

TOKEN_S_MAX: Final = 30.0


class _Answer(App[None]):
    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Markdown()


def token_us(tokens: Sequence[str], samples: int) -> float:
    """Return the processor time of a token at the end of an answer, in microseconds.

    Raises:
        TimeoutError: A token was not shown.
    """
    return asyncio.run(_token_us(tokens, samples))


async def _token_us(tokens: Sequence[str], samples: int) -> float:
    app = _Answer()
    async with app.run_test(size=(COLUMNS, ROWS)):
        # The view follows the end.
        app.query_one(VerticalScroll).anchor()
        markdown = app.query_one(Markdown)
        done = len(tokens) - SECTION_TOKENS
        await markdown.update("".join(tokens[:done]))
        stream = Markdown.get_stream(markdown)
        spent_s = 0.0
        for count in sampled(len(tokens), samples):
            await _write(stream, markdown, "".join(tokens[done : count - 1]))
            started_s = time.process_time()
            await _write(stream, markdown, tokens[count - 1])
            spent_s += time.process_time() - started_s
            done = count
        await stream.stop()
    return spent_s / samples * 1e6


async def _write(stream: MarkdownStream, markdown: Markdown, text: str) -> None:
    """Write ``text`` and wait until it is shown."""
    length = len(markdown.source) + len(text)
    await stream.write(text)
    ends_at_s = time.monotonic() + TOKEN_S_MAX
    while True:
        await asyncio.sleep(SHOWN_S)
        if len(markdown.source) >= length and not markdown.lock.is_locked:
            return
        if time.monotonic() > ends_at_s:
            raise TimeoutError("Textual has not shown a token")
