"""The blocks of one turn while they grow, within bounds.

Spec: docs/spec/providers.md, "Bounds". Above is ``parts``; below is ``BlockWriter``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, cast

from blockwire.content import BlockCompleted, BlockWriter, IdKind, StreamEvent, TurnState
from blockwire.content.vocabulary import TerminalStatus
from blockwire.errors import EngineError
from blockwire.jsontext import Json

__all__ = ["BLOCKS_MAX", "TURN_CHARS_MAX", "Draft"]

# Unicode scalars of text and tool arguments in one turn, docs/spec/providers.md, "Bounds".
TURN_CHARS_MAX: Final = 16 * 1024 * 1024

# Blocks of one turn, the announced ones included, docs/spec/providers.md, "Bounds".
BLOCKS_MAX: Final = 4096


class Draft:
    """A bounded ``BlockWriter``."""

    def __init__(self, turn_id: str, *, new_id: Callable[[IdKind], str]) -> None:
        self._writer = BlockWriter(turn_id, new_id=new_id)
        self._chars_left = TURN_CHARS_MAX
        self._blocks_left = BLOCKS_MAX

    @property
    def is_over(self) -> bool:
        """Whether the terminal event has been written."""
        return self._writer.is_over

    @property
    def turn(self) -> TurnState:
        """The turn as written so far."""
        return self._writer.turn

    def drain(self) -> list[StreamEvent]:
        """Return the events written since the last call."""
        return self._writer.drain()

    def spend(self, chars: int) -> None:
        """Count ``chars`` that are kept.

        Raises:
            EngineError: ``answer_too_large``.
        """
        self._chars_left -= chars
        if self._chars_left < 0:
            raise EngineError("answer_too_large", "The answer is larger than a turn may be.")

    def announce(self) -> None:
        """Count something that may become a block; it takes memory before it does.

        Raises:
            EngineError: ``answer_too_large``.
        """
        self._blocks_left -= 1
        if self._blocks_left < 0:
            raise EngineError("answer_too_large", "The answer has more parts than a turn may have.")

    def start(self, block_type: str, members: Mapping[str, Json]) -> str:
        """Start a block that was announced, and return its id."""
        return self._writer.start(block_type, members)

    def append(self, block_id: str, text: str) -> None:
        """Add text to an open block.

        Raises:
            EngineError: ``answer_too_large``.
        """
        self.spend(len(text))
        self._writer.append(block_id, text)

    def text(self, block_id: str) -> str:
        """Return the text of a block as it stands."""
        block = self.turn.find(block_id)
        assert block is not None
        assert block.field is not None, "only text blocks are asked for their text"
        return cast("str", block.block[block.field])

    def update(self, block_id: str, changes: Mapping[str, Json]) -> None:
        """Replace members of an open tool block."""
        self._writer.update(block_id, changes)

    def complete(self, block_id: str, provider_data: Json = None) -> None:
        """Complete a block; ``provider_data`` becomes its own where it is not None."""
        if provider_data is None:
            self._writer.complete(block_id)
        else:
            event = BlockCompleted(self._writer.turn_id, block_id, provider_data=provider_data)
            self._writer.write([event])

    def end(
        self,
        status: TerminalStatus,
        *,
        block: Mapping[str, Json] | None,
        usage: Mapping[str, Json] | None,
        finish_reason: str | None,
    ) -> None:
        """End the turn, with an error or notice block that says why where that matters."""
        self._writer.end(status, block=block, usage=usage, finish_reason=finish_reason)
