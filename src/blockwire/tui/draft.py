"""What is being typed: lines of clusters and a cursor, as a value; each edit returns the next one.

Spec: docs/spec/chat/input.md, "Text".

A line holds *atoms*: a grapheme cluster, or a long paste, which is one thing to the cursor. So no
edit can cut either in two.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, TypeAlias

from blockwire.text import clusters

__all__ = [
    "EMPTY",
    "Atom",
    "Draft",
    "Fragment",
    "Line",
    "PastedText",
    "Place",
    "atom_text",
    "delete",
    "fragment_of",
    "insert",
    "replace",
    "span",
    "text_of",
]


class PastedText(NamedTuple):
    """A paste that is too long to be shown.

    Attributes:
        text: What was pasted.
        number: Counts the pastes of this program, so that two are told apart.
    """

    text: str
    number: int

    @property
    def label(self) -> str:
        """What stands for it on the screen."""
        line_count = self.text.count("\n") + (not self.text.endswith("\n"))
        size = f"{line_count} lines" if line_count > 1 else f"{len(self.text):,} characters"
        return f"[paste #{self.number}: {size}]"


Atom: TypeAlias = str | PastedText
Line: TypeAlias = tuple[Atom, ...]
Fragment: TypeAlias = tuple[Line, ...]
"""A piece of a draft: its lines, at least one."""


class Place(NamedTuple):
    """Between two atoms: before the one at ``column`` of the line ``row``."""

    row: int
    column: int


class Draft(NamedTuple):
    """Lines, at least one, and the cursor."""

    lines: Fragment
    cursor: Place

    def at(self, cursor: Place) -> Draft:
        """Return the draft with its cursor elsewhere."""
        return Draft(self.lines, cursor)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it."""
        return self.lines == ((),)

    @property
    def end(self) -> Place:
        """The place behind everything."""
        return Place(len(self.lines) - 1, len(self.lines[-1]))


START: Final = Place(0, 0)
EMPTY: Final = Draft(((),), START)


def atom_text(atom: Atom) -> str:
    """Return what an atom stands for."""
    return atom if isinstance(atom, str) else atom.text


def fragment_of(text: str) -> Fragment:
    """Return the lines of ``text``; only LF breaks them."""
    return tuple(tuple(clusters(line)) for line in text.split("\n"))


def text_of(lines: Iterable[Line]) -> str:
    """Return the text of a fragment."""
    return "\n".join("".join(atom_text(atom) for atom in line) for line in lines)


def span(draft: Draft, start: Place, end: Place) -> Fragment:
    """Return what stands from ``start`` to ``end``."""
    if start.row == end.row:
        return (draft.lines[start.row][start.column : end.column],)
    return (
        draft.lines[start.row][start.column :],
        *draft.lines[start.row + 1 : end.row],
        draft.lines[end.row][: end.column],
    )


def delete(draft: Draft, start: Place, end: Place) -> Draft:
    """Return the draft without what stands from ``start`` to ``end``, the cursor there."""
    return replace(draft, start, end, ((),))


def insert(draft: Draft, fragment: Fragment) -> Draft:
    """Return the draft with ``fragment`` at its cursor, the cursor behind it."""
    return replace(draft, draft.cursor, draft.cursor, fragment)


def replace(draft: Draft, start: Place, end: Place, fragment: Fragment) -> Draft:
    """Return the draft with ``fragment`` from ``start`` to ``end``, the cursor behind it."""
    before = draft.lines[start.row][: start.column]
    after = draft.lines[end.row][end.column :]
    first, last = fragment[0], fragment[-1]
    if len(fragment) == 1:
        line, column = _join(_join(before, first)[0], after)
        new: Fragment = (line,)
    else:
        line, column = _join(last, after)
        new = (_join(before, first)[0], *fragment[1:-1], line)
    lines = (*draft.lines[: start.row], *new, *draft.lines[end.row + 1 :])
    return Draft(lines, Place(start.row + len(fragment) - 1, column))


def _join(left: Line, right: Line) -> tuple[Line, int]:
    """Return both as one line, and the place where they meet: behind a cluster that both make."""
    meeting = len(left)
    if not left or not right or not _may_merge(left[-1], right[0]):
        return left + right, meeting
    # Flags and joiners look far back, so all the text around the joint is cut into clusters anew.
    start, end = meeting, meeting
    while start > 0 and isinstance(left[start - 1], str):
        start -= 1
    while end - meeting < len(right) and isinstance(right[end - meeting], str):
        end += 1
    whole = left + right
    length = sum(len(atom_text(atom)) for atom in left[start:])
    made = tuple(clusters("".join(atom_text(atom) for atom in whole[start:end])))
    column = start
    for cluster in made:
        if length <= 0:
            break
        length -= len(cluster)
        column += 1
    return whole[:start] + made + whole[end:], column


def _may_merge(left: Atom, right: Atom) -> bool:
    """Return whether two neighbours might be one cluster, without looking closely."""
    if not isinstance(left, str) or not isinstance(right, str):
        return False
    return not (left.isascii() and right.isascii())
