"""The streamed answer in Rich's ``Live(Markdown)``, which renders all of it for every token."""

from __future__ import annotations

import io
import time
from collections.abc import Sequence

from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown

from bench.terminal_answer import COLUMNS, ROWS
from bench.terminal_text import sampled

__all__ = ["token_us"]


def token_us(tokens: Sequence[str], samples: int) -> float:
    """Return the processor time of a token at the end of an answer, in microseconds."""
    console = Console(
        file=io.StringIO(),
        width=COLUMNS,
        height=ROWS,
        force_terminal=True,
        color_system="truecolor",
    )
    spent_s = 0.0
    with Live(console=console, auto_refresh=False) as live:
        for count in sampled(len(tokens), samples):
            text = "".join(tokens[:count])
            started_s = time.process_time()
            live.update(Markdown(text), refresh=True)
            spent_s += time.process_time() - started_s
    return spent_s / samples * 1e6
