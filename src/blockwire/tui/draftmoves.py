"""Where the cursor may go: by cluster, word and line, as readline has it.

Spec: docs/spec/chat/input.md, "Keys".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Literal

from blockwire.tui.draft import START, Atom, Draft, Place

__all__ = ["MOVES", "Move", "blank_word_left", "left", "right", "word_left", "word_right"]

Move = Literal[
    "left", "right", "word-left", "word-right", "line-start", "line-end", "text-start", "text-end"
]  # fmt: skip

_BREAK: Final = "\n"


def _before(draft: Draft, place: Place) -> Atom | None:
    if place.column:
        return draft.lines[place.row][place.column - 1]
    return _BREAK if place.row else None


def _after(draft: Draft, place: Place) -> Atom | None:
    line = draft.lines[place.row]
    if place.column < len(line):
        return line[place.column]
    return _BREAK if place.row + 1 < len(draft.lines) else None


def _step_left(draft: Draft, place: Place) -> Place:
    if place.column:
        return Place(place.row, place.column - 1)
    return Place(place.row - 1, len(draft.lines[place.row - 1]))


def _step_right(draft: Draft, place: Place) -> Place:
    if place.column < len(draft.lines[place.row]):
        return Place(place.row, place.column + 1)
    return Place(place.row + 1, 0)


def is_word(atom: Atom) -> bool:
    """Return whether an atom is part of a word: letters, digits, ``_``, and a paste."""
    return not isinstance(atom, str) or atom[0].isalnum() or atom[0] == "_"


def _is_black(atom: Atom) -> bool:
    return not isinstance(atom, str) or not atom.isspace()


def left(draft: Draft) -> Place:
    """Return the place before the atom that stands before the cursor."""
    return draft.cursor if _before(draft, draft.cursor) is None else _step_left(draft, draft.cursor)


def right(draft: Draft) -> Place:
    """Return the place behind the atom at the cursor."""
    return draft.cursor if _after(draft, draft.cursor) is None else _step_right(draft, draft.cursor)


def _run_left(draft: Draft, is_part: Callable[[Atom], bool]) -> Place:
    place = draft.cursor
    while (atom := _before(draft, place)) is not None and not is_part(atom):
        place = _step_left(draft, place)
    while (atom := _before(draft, place)) is not None and is_part(atom):
        place = _step_left(draft, place)
    return place


def word_left(draft: Draft) -> Place:
    """Return the start of the word before the cursor, or around it."""
    return _run_left(draft, is_word)


def blank_word_left(draft: Draft) -> Place:
    """Return the start of what stands between blanks before the cursor (Ctrl-W)."""
    return _run_left(draft, _is_black)


def word_right(draft: Draft) -> Place:
    """Return the end of the word behind the cursor, or around it."""
    place = draft.cursor
    while (atom := _after(draft, place)) is not None and not is_word(atom):
        place = _step_right(draft, place)
    while (atom := _after(draft, place)) is not None and is_word(atom):
        place = _step_right(draft, place)
    return place


def _line_start(draft: Draft) -> Place:
    return Place(draft.cursor.row, 0)


def _line_end(draft: Draft) -> Place:
    return Place(draft.cursor.row, len(draft.lines[draft.cursor.row]))


def _text_start(_draft: Draft) -> Place:
    return START


def _text_end(draft: Draft) -> Place:
    return draft.end


MOVES: Final[Mapping[str, Callable[[Draft], Place]]] = MappingProxyType(
    {
        "left": left,
        "right": right,
        "word-left": word_left,
        "word-right": word_right,
        "line-start": _line_start,
        "line-end": _line_end,
        "text-start": _text_start,
        "text-end": _text_end,
    }
)
