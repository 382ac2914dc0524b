"""Scrolling: what a reader's keys and wheel do to the window on the history.

Spec: docs/spec/host/reading.md. Whether the tail is followed is the viewport's own rule; here is only
which move is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from blockwire.screen import Position, Screen

# Cells by which lines that are not wrapped move sideways at a time.
SIDEWAYS_CELLS: Final = 8


def first_seen(screen: Screen) -> Position:
    """Return where the first row that is seen begins; the beginning if there is none."""
    row = next((row for row in screen.view() if row is not None), None)
    return Position(0, 0) if row is None else row.position(row.row.start)


def is_block(screen: Screen, segment_id: int) -> bool:
    """Tell whether a segment is a Block that is retained and has text.

    Applications leave Blocks empty in which nothing is to be said yet, or after all.
    """
    if not screen.history.has(segment_id):
        return False
    segment = screen.history.segment(segment_id)
    return segment.block is not None and segment.content.scalar_count > 0


def block_before(screen: Screen, segment_id: int) -> int | None:
    """Return the segment of the last Block before a segment, if there is one."""
    history = screen.history
    ids = range(min(segment_id, history.end_id) - 1, history.first_id - 1, -1)
    return next((it for it in ids if is_block(screen, it)), None)


def block_behind(screen: Screen, segment_id: int) -> int | None:
    """Return the segment of the first Block behind a segment, if there is one."""
    ids = range(segment_id + 1, screen.history.end_id)
    return next((it for it in ids if is_block(screen, it)), None)


def block_start_before(screen: Screen, position: Position) -> int | None:
    """Return the Block that a position is inside of, or else the one before it."""
    here = position.segment_id
    is_inside = position.offset > 0 and is_block(screen, here)
    return here if is_inside else block_before(screen, here)


def _go_to_block_before(screen: Screen) -> None:
    segment_id = block_start_before(screen, first_seen(screen))
    if segment_id is not None:
        _put_on_top(screen, Position(segment_id, 0))


def _go_to_block_behind(screen: Screen) -> None:
    segment_id = block_behind(screen, first_seen(screen).segment_id)
    if segment_id is None:
        screen.viewport.scroll_end()
    else:
        _put_on_top(screen, Position(segment_id, 0))


def _put_on_top(screen: Screen, position: Position) -> None:
    viewport = screen.viewport
    viewport.reveal(position)
    place = screen.history.place_of(position)
    rows = screen.view()
    at = next(number for number, row in enumerate(rows) if row is not None and row.place == place)
    viewport.scroll(at)


SCROLLS: Final[Mapping[str, Callable[[Screen], None]]] = MappingProxyType(
    {
        "row-up": lambda screen: screen.viewport.scroll(-1),
        "row-down": lambda screen: screen.viewport.scroll(1),
        "page-up": lambda screen: screen.viewport.scroll_pages(-1),
        "page-down": lambda screen: screen.viewport.scroll_pages(1),
        "top": lambda screen: screen.viewport.scroll_home(),
        "bottom": lambda screen: screen.viewport.scroll_end(),
        "block-up": _go_to_block_before,
        "block-down": _go_to_block_behind,
        "left": lambda screen: screen.viewport.scroll_sideways(-SIDEWAYS_CELLS),
        "right": lambda screen: screen.viewport.scroll_sideways(SIDEWAYS_CELLS),
    }
)
"""What each action that scrolls does; nothing else moves the window by a key."""
