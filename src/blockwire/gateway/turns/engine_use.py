"""Engines that can be replaced while they run turns.

Spec: docs/spec/gateway/operations.md, "Reload". A turn keeps the engine that it began with; an engine that
was replaced is closed when its last turn is over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import anyio

from blockwire.gateway.settings import EngineProfile
from blockwire.gateway.turns.runner import Guard
from blockwire.ports import Engine

__all__ = ["EngineSet", "EngineUse"]


class EngineSet(NamedTuple):
    """All engines of a configuration, and what comes with them.

    Attributes:
        engines: By configured name.
        profiles: What is known of engines by name, outside ones included.
        default: Name of the one that runs turns which name none.
        guard: Wraps every engine's stream so that it ends well.
        redact: Returns a diagnostic of an outside producer without credentials.
    """

    engines: Mapping[str, Engine]
    profiles: Mapping[str, EngineProfile]
    default: str
    guard: Guard
    redact: Callable[[str], str]


class EngineUse:
    """How many turns each engine runs."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._freed: dict[int, anyio.Event] = {}

    @contextmanager
    def hold(self, engine: Engine) -> Iterator[None]:
        """Use ``engine`` for as long as the block takes."""
        key = id(engine)
        self._counts[key] = self._counts.get(key, 0) + 1
        try:
            yield
        finally:
            self._counts[key] -= 1
            if not self._counts[key]:
                del self._counts[key]
                freed = self._freed.pop(key, None)
                if freed is not None:
                    freed.set()

    async def until_free(self, engine: Engine) -> None:
        """Return when no turn uses ``engine``; nobody begins to after this was called."""
        if id(engine) in self._counts:
            await self._freed.setdefault(id(engine), anyio.Event()).wait()
