"""Terminal history as rows: Blocks and ordinary output, scrolled, selected and searched.

Spec: docs/spec/terminal/history.md. Knows no terminal and makes no escape sequence: whoever paints,
on a tty or on a page, takes rows of spans from here.
"""

from blockwire.screen.heights import Place
from blockwire.screen.history import History, ViewRow
from blockwire.screen.layout import EDGE_MARK, LaidLine, Paper
from blockwire.screen.ordinary import OrdinaryRow
from blockwire.screen.positions import (
    LIVE_SEGMENT_ID,
    Anchor,
    Change,
    ChangeKind,
    LiveMove,
    Position,
    Range,
)
from blockwire.screen.rows import Row
from blockwire.screen.screen import CAPACITY_BYTES, Screen
from blockwire.screen.search import Search
from blockwire.screen.selection import Selection, SelectionUnit, copy
from blockwire.screen.viewport import View, Viewport

__all__ = [
    "CAPACITY_BYTES",
    "EDGE_MARK",
    "LIVE_SEGMENT_ID",
    "Anchor",
    "Change",
    "ChangeKind",
    "History",
    "LaidLine",
    "LiveMove",
    "OrdinaryRow",
    "Paper",
    "Place",
    "Position",
    "Range",
    "Row",
    "Screen",
    "Search",
    "Selection",
    "SelectionUnit",
    "View",
    "ViewRow",
    "Viewport",
    "copy",
]
