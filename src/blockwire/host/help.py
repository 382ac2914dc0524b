"""The help: what can be done, and by which keys.

Spec: docs/spec/host/drawing.md, "Help".
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Final, NamedTuple

from blockwire.host.compositor_spans import fit
from blockwire.host.emulator import LiveSpan
from blockwire.host.painter_rows import PaintRow
from blockwire.host.theme import PLAIN, Theme
from blockwire.text import AmbiguousWidth, label_controls, width, wrap

# The keys stand in a column of at most one part of so many.
_KEYS_PART: Final = 2
_INDENT: Final = "  "


class HelpEntry(NamedTuple):
    """What can be done, and the keys that do it."""

    keys: str
    does: str


class HelpSection(NamedTuple):
    """Entries that belong together."""

    title: str
    entries: tuple[HelpEntry, ...]


class Help(NamedTuple):
    """The help as it is seen.

    Attributes:
        sections: All of it.
        first_row: How far it is scrolled; beyond its end it stands still.
    """

    sections: tuple[HelpSection, ...]
    first_row: int = 0


def help_rows(
    help_: Help, columns: int, rows: int, theme: Theme, *, ambiguous_width: AmbiguousWidth = 1
) -> tuple[PaintRow, ...]:
    """Return what is seen of the help in so many rows."""
    every = _all_rows(help_, columns, theme, ambiguous_width)
    first = min(max(help_.first_row, 0), max(len(every) - rows, 0))
    seen = every[first : first + rows]
    return (*seen, *((),) * (rows - len(seen)))


def help_height(help_: Help, columns: int, *, ambiguous_width: AmbiguousWidth = 1) -> int:
    """Return how many rows all of the help takes: how far it can be scrolled."""
    return len(_all_rows(help_, columns, PLAIN, ambiguous_width))


def _all_rows(
    help_: Help, columns: int, theme: Theme, ambiguous_width: AmbiguousWidth
) -> list[PaintRow]:
    entries = [entry for section in help_.sections for entry in section.entries]
    widest_cells = max((_cells(entry.keys, ambiguous_width) for entry in entries), default=0)
    key_cells = min(widest_cells, max((columns - 2 * len(_INDENT)) // _KEYS_PART, 0))
    does_column = len(_INDENT) + key_cells + len(_INDENT)
    does_cells = max(columns - does_column, 1)
    rows: list[PaintRow] = []
    for section in help_.sections:
        titles = wrap(_labelled(section.title), columns, ambiguous_width=ambiguous_width)
        rows += [()] * bool(rows)
        rows += [(LiveSpan(title.rstrip(), theme.help_title),) for title in titles]
        for keys, does in section.entries:
            left = wrap(_labelled(keys), max(key_cells, 1), ambiguous_width=ambiguous_width)
            right = wrap(_labelled(does), does_cells, ambiguous_width=ambiguous_width)
            for key_text, does_text in zip_longest(left, right, fillvalue=""):
                key = (LiveSpan(_INDENT, theme.help_text), LiveSpan(key_text, theme.help_key))
                row = fit(key, min(does_column, columns), ambiguous_width, theme.help_text)
                row = (*row, LiveSpan(does_text, theme.help_text))
                rows.append(fit(row, columns, ambiguous_width, theme.help_text))
    return rows


def _cells(text: str, ambiguous_width: AmbiguousWidth) -> int:
    return width(_labelled(text), ambiguous_width=ambiguous_width)


def _labelled(text: str) -> str:
    return label_controls(text, breaks="label", tabs="label")
