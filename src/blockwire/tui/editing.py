"""The actions that change a draft, as functions from a draft to the next one.

Spec: docs/spec/chat/input.md, "Keys".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from blockwire.tui.draft import (
    Draft,
    Fragment,
    Place,
    delete,
    fragment_of,
    replace,
    span,
    text_of,
)
from blockwire.tui.draftmoves import (
    MOVES,
    blank_word_left,
    left,
    right,
    word_left,
    word_right,
)

__all__ = ["CHANGES", "KILLS", "Killed", "Reach", "kill"]

Reach = Callable[[Draft], Place]


def _to_line_end(draft: Draft) -> Place:
    """Return the end of the line, or that of the break where the cursor stands there already."""
    end = MOVES["line-end"](draft)
    return right(draft) if end == draft.cursor else end


def _to_line_start(draft: Draft) -> Place:
    start = MOVES["line-start"](draft)
    return left(draft) if start == draft.cursor else start


KILLS: Final[Mapping[str, Reach]] = MappingProxyType(
    {
        "kill-word-left": word_left,
        "kill-blank-word-left": blank_word_left,
        "kill-word-right": word_right,
        "kill-line-start": _to_line_start,
        "kill-line-end": _to_line_end,
    }
)
"""From the cursor to where what is killed reaches."""


class Killed(NamedTuple):
    """What a kill leaves, and what it took.

    Attributes:
        draft: Without it.
        fragment: What it took.
        side: On which side of the cursor it stood.
    """

    draft: Draft
    fragment: Fragment
    side: Literal["left", "right"]


def kill(draft: Draft, reach: Reach) -> Killed | None:
    """Return what is left without the text up to ``reach``; None if that is the cursor."""
    there = reach(draft)
    if there == draft.cursor:
        return None
    start, end = min(there, draft.cursor), max(there, draft.cursor)
    side: Literal["left", "right"] = "left" if there < draft.cursor else "right"
    return Killed(delete(draft, start, end), span(draft, start, end), side)


def _delete_left(draft: Draft) -> Draft:
    return delete(draft, left(draft), draft.cursor)


def _delete_right(draft: Draft) -> Draft:
    return delete(draft, draft.cursor, right(draft))


def _transpose(draft: Draft) -> Draft:
    """Exchange the atoms around the cursor, at the end of a line the two before it."""
    row, column = draft.cursor
    line = draft.lines[row]
    if column == len(line):
        column -= 1
    if column < 1:
        return draft
    pair = (line[column], line[column - 1])
    return replace(draft, Place(row, column - 1), Place(row, column + 1), (pair,))


def _with_case(change: Callable[[str], str]) -> Callable[[Draft], Draft]:
    def changed(draft: Draft) -> Draft:
        end = word_right(draft)
        taken = span(draft, draft.cursor, end)
        if any(not isinstance(atom, str) for line in taken for atom in line):
            return draft.at(end)
        return replace(draft, draft.cursor, end, fragment_of(change(text_of(taken))))

    return changed


def _capitalized(text: str) -> str:
    word = text.lstrip()
    return text[: len(text) - len(word)] + word.capitalize()


CHANGES: Final[Mapping[str, Callable[[Draft], Draft]]] = MappingProxyType(
    {
        "delete-left": _delete_left,
        "delete-right": _delete_right,
        "transpose": _transpose,
        "upper-word": _with_case(str.upper),
        "lower-word": _with_case(str.lower),
        "capital-word": _with_case(_capitalized),
    }
)
"""Changes that keep nothing for a yank."""
