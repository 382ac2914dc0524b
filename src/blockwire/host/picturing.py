"""What is said beside the text: the status line in each mode, and the help.

Spec: docs/spec/host/index.md, "The status line".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from blockwire.host.help import HelpEntry, HelpSection
from blockwire.host.keymap import DEFAULT_KEYS, Keymap, Mode
from blockwire.host.statusline import KeyHint, Prompt, StatusLine

HINTS: Final[Mapping[Mode, tuple[tuple[Mode, str, str], ...]]] = MappingProxyType(
    {
        "live": (
            ("live", "prefix", "keys"),
            ("live", "page-up", "scroll"),
        ),
        "reading": (
            ("reading", "bottom", "back"),
            ("reading", "page-up", "up"),
            ("reading", "page-down", "down"),
            ("live", "prefix", "keys"),
        ),
        "prefix": (
            ("prefix", "help", "help"),
            ("prefix", "search", "search"),
            ("prefix", "copy-mode", "copy mode"),
            ("prefix", "copy-block", "copy Block"),
            ("prefix", "suspend", "suspend"),
            ("prefix", "quit", "quit"),
        ),
        "search": (
            ("search", "accept", "go there"),
            ("search", "previous", "previous"),
            ("search", "next", "next"),
            ("search", "cancel", "back"),
        ),
        "copy": (
            ("copy", "select", "select"),
            ("copy", "copy", "copy"),
            ("copy", "search", "search"),
            ("copy", "leave", "back"),
            ("copy", "help", "help"),
        ),
        "help": (
            ("help", "leave", "back"),
            ("help", "page-down", "more"),
        ),
    }
)
"""Mode to what its status line tells of, the most useful first: whose action, which, and what it does."""

TITLES: Final[Mapping[Mode, str]] = MappingProxyType(
    {
        "live": "Any time, but while a program fills the screen only {prefix}",
        "reading": "While reading further up",
        "prefix": "After {prefix}",
        "search": "While a search is typed",
        "copy": "Copy mode",
        "help": "In this help",
    }
)


DIAGNOSTICS_TITLE: Final = "What the program sent for terminal blocks and was no good"


class Reader(NamedTuple):
    """What the status line needs to know of the reader.

    Attributes:
        mode: What keys are for.
        is_alternate: Whether the program fills the screen: all keys but the prefix are its own.
        title: Of the program.
        rows_below: What is seen.
        query: Of the search.
        found: What it found, in words.
        is_selecting: Whether something is selected.
    """

    mode: Mode
    is_alternate: bool
    title: str
    rows_below: int
    query: str
    found: str
    is_selecting: bool


def status_line(reader: Reader, keymap: Keymap) -> StatusLine:
    """Return what the status line says."""
    keys = tuple(
        KeyHint(key, does)
        for table, action, does in HINTS[reader.mode]
        if action == "prefix" or reader.mode != "live" or not reader.is_alternate
        if (key := keymap.first_key(table, action))
    )
    prompt = None
    if reader.mode == "search":
        label = f"search, {reader.found}: " if reader.found else "search: "
        prompt = Prompt(label, reader.query, len(reader.query))
    return StatusLine(_state(reader), keys, prompt)


def help_sections(keymap: Keymap) -> tuple[HelpSection, ...]:
    """Return everything that keys do."""
    prefix = keymap.first_key("live", "prefix")
    sections: list[HelpSection] = []
    for mode, actions in DEFAULT_KEYS.items():
        entries = tuple(
            HelpEntry(keys, DOES.get(action, action.replace("-", " ")))
            for action in actions
            if (keys := keymap.keys(mode, action))
        )
        if entries:
            sections.append(HelpSection(TITLES[mode].format(prefix=prefix or "prefix"), entries))
    return tuple(sections)


def diagnostics_section(counts: Mapping[str, int]) -> tuple[HelpSection, ...]:
    """Return what was no good of what the program sent: how often, by codes; nothing if all was."""
    entries = tuple(
        HelpEntry(f"{count:,}", code.replace("_", " ")) for code, count in sorted(counts.items())
    )
    return (HelpSection(DIAGNOSTICS_TITLE, entries),) if entries else ()


def _state(reader: Reader) -> str:
    match reader.mode:
        case "prefix":
            return "which key?"
        case "help":
            return "help"
        case "copy":
            state = "copy mode: selecting" if reader.is_selecting else "copy mode"
            return f"{state}, {reader.query}: {reader.found}" if reader.query else state
        case "reading":
            rows = reader.rows_below
            return f"reading: {rows:,} row{'s' * (rows != 1)} below"
        case _:
            return reader.title


DOES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "prefix": "the host's own keys; twice: to the program",
        "row-up": "up by one row",
        "row-down": "down by one row",
        "page-up": "up by one page",
        "page-down": "down by one page",
        "half-page-up": "up by half a page",
        "half-page-down": "down by half a page",
        "top": "to the beginning",
        "bottom": "to the end, and follow it",
        "block-up": "to the Block before",
        "block-down": "to the next Block",
        "left": "to the left",
        "right": "to the right",
        "search": "search",
        "copy-mode": "copy mode: a cursor that selects",
        "copy": "copy what is selected",
        "copy-block": "copy the Block that is seen",
        "help": "this help",
        "repaint": "draw everything anew",
        "suspend": "suspend, until fg",
        "quit": "end the program",
        "cancel": "back",
        "accept": "go there, in copy mode",
        "previous": "the match before",
        "next": "the next match",
        "erase": "delete a character",
        "erase-word": "delete a word",
        "erase-all": "delete all",
        "word": "to the next word",
        "word-back": "to the word before",
        "word-end": "to the end of the word",
        "line-start": "to the start of the line",
        "line-first": "to the first text of the line",
        "line-end": "to the end of the line",
        "view-top": "to the top of the window",
        "view-middle": "to the middle of the window",
        "view-bottom": "to the bottom of the window",
        "select": "select from here",
        "select-line": "select lines",
        "select-block": "select Blocks",
        "select-rectangle": "select a rectangle",
        "other-end": "to the other end of the selection",
        "clear": "select nothing, else back",
        "leave": "back",
    }
)
"""What an action does, for people."""
