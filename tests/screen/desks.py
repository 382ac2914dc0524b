"""A session, a screen that hears of everything, and short words for both."""

from __future__ import annotations

from itertools import count
from typing import Any

from blockwire.screen import (
    LIVE_SEGMENT_ID,
    OrdinaryRow,
    Position,
    Range,
    Row,
    Screen,
    ViewRow,
)
from blockwire.terminal import Answer, BlockView, Change, LogicalLine, Span, WireMessage
from blockwire.terminal.types import CONTENT_TYPES
from blockwire.terminal.vocabulary import LINES, PLAIN, STYLED
from tests.terminal.sessions import World, append, closing, extend, replace_suffix, seal, update


def drawn(row: Row | ViewRow | None) -> str:
    """Return the text of a row without its styles; ``~`` is a row that is not there."""
    if row is None:
        return "~"
    spans = row.row.spans if isinstance(row, ViewRow) else row.spans
    return "".join(span.text for span in spans)


def type_of(data: Any) -> str:
    """Return the content type of data: a text, or a tuple of spans or lines."""
    if isinstance(data, str):
        return PLAIN
    return STYLED if all(isinstance(part, Span) for part in data) else LINES


def lines_of(data: Any, type_name: str | None = None) -> list[LogicalLine]:
    """Return the logical lines of data."""
    return list(CONTENT_TYPES[type_name or type_of(data)].new_content(data).lines())


def ordinary(*texts: str) -> list[OrdinaryRow]:
    """Return rows of a program's screen; one that ends in a backslash goes on."""
    return [
        OrdinaryRow((Span(text=text.removesuffix("\\")),), text.endswith("\\")) for text in texts
    ]


class Desk:
    """A screen beside the session whose effects it gets at once."""

    def __init__(self, columns: int = 20, rows: int = 4, **options: Any) -> None:
        self.world = World()
        self.screen = Screen(columns, rows, **options)
        self._ids = count(1)

    def do(self, message: WireMessage) -> bool:
        """Let something happen; return whether the screen says that the history changed."""
        return self._apply(self.world.do(message))

    def block(self, block_id: str) -> BlockView:
        return self.world.session.contexts["c1"].blocks[block_id]

    def id_of(self, block_id: str) -> int:
        segment_id = self.screen.history.segment_id(self.block(block_id))
        assert segment_id is not None
        return segment_id

    def append(self, block_id: str, data: Any) -> int:
        self.do(append(self._next(), data, block_id=block_id, type_name=type_of(data)))
        return self.screen.history.end_id - 1

    def append_each(self, *texts: str) -> None:
        """Append Blocks named by what they hold."""
        for text in texts:
            self.append(text, text)

    def extend(self, block_id: str, fragment: Any) -> None:
        self.do(extend(self._next(), self._base(block_id), fragment, block_id=block_id))

    def replace(self, block_id: str, retain: int, data: Any) -> None:
        base = self._base(block_id)
        self.do(replace_suffix(self._next(), base, retain, data, block_id=block_id))

    def update(self, block_id: str, data: Any) -> None:
        self.do(update(self._next(), data, block_id=block_id, type_name=type_of(data)))

    def seal(self, block_id: str) -> bool:
        return self.do(seal(self._next(), block_id=block_id))

    def close(self) -> bool:
        return self.do(closing(self._next()))

    def output(self, *texts: str) -> None:
        """Add ordinary rows."""
        self.screen.append_ordinary(ordinary(*texts))

    def live(self, *texts: str) -> None:
        """Let the program's screen have these rows."""
        self.screen.set_live(ordinary(*texts))

    def advance(self, left: tuple[str, ...], texts: tuple[str, ...]) -> None:
        """Let rows leave the program's screen, and others be on it."""
        self.screen.advance_live(ordinary(*left), ordinary(*texts))

    def trim(self) -> list[str]:
        """Trim as a host does; return the Blocks that went."""
        gone = self.screen.trim()
        for block in gone:
            self.world.session.evict(block.context_id, block.block_id)
        return [block.block_id for block in gone]

    def view(self) -> list[str]:
        return [drawn(row) for row in self.screen.view()]

    def everything(self) -> list[str]:
        """Return all rows that are retained."""
        history = self.screen.history
        if history.is_empty:
            return []
        place = history.place_of(Position(history.first_id, 0))
        return [drawn(row) for row in history.rows_from(place, 1_000_000)]

    def select(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Select from one (row, column) of the viewport up to another, both included."""
        self.screen.selection.begin(self.at(*start))
        self.screen.selection.extend_to(self.at(*end))

    def at(self, row: int, column: int) -> Range:
        found = self.screen.viewport.range_at(row, column)
        assert found is not None
        return found

    def find(self, query: str, near: Position = Position(0, 0)) -> None:  # noqa: B008 - immutable
        self.screen.search.find(query, near)
        self.search_all()

    def search_all(self) -> None:
        while self.screen.search.step(50):
            pass

    def found(self) -> list[tuple[int, int, int]]:
        """Return all matches: segment, and from where up to where."""
        history, search = self.screen.history, self.screen.search
        return [
            (segment_id, start.offset, end.offset)
            for segment_id in history.ids(history.first_id, LIVE_SEGMENT_ID)
            for start, end in search.matches_in(segment_id)
        ]

    def refine_all(self) -> None:
        while self.screen.refine(7):
            pass

    def _apply(self, changes: list[Change]) -> bool:
        results = [self.screen.apply(it) for it in changes if not isinstance(it, Answer)]
        return any(results)

    def _next(self) -> str:
        return str(next(self._ids))

    def _base(self, block_id: str) -> str:
        return self.block(block_id).content_state
