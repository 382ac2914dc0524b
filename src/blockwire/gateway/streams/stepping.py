"""An awaitable that is stepped once by hand, and awaited later if that was not enough.

Spec: docs/spec/gateway/stream.md. Nearly every ``send`` is done after one step; a task for each
would cost several times the write itself.
"""

from __future__ import annotations

import types
from collections.abc import Generator
from typing import Any

__all__ = ["Step", "rest_of"]

Step = Generator[Any, Any, None]
"""What ``__await__`` of an awaitable returns."""


@types.coroutine
def rest_of(step: Step, waits_for: object) -> Generator[Any, Any, None]:
    """Await what is left of an awaitable that was stepped once by hand and waits for a future."""
    try:
        yield waits_for
    except BaseException:
        step.close()
        raise
    yield from step
