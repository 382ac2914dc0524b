"""Drafts: whole clusters whatever is inserted and deleted where."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blockwire.text import clusters, width
from blockwire.tui.draft import (
    EMPTY,
    Atom,
    Draft,
    PastedText,
    Place,
    delete,
    fragment_of,
    insert,
    span,
    text_of,
)
from blockwire.tui.draftlayout import LayoutCache, lay_out_line
from blockwire.tui.draftmoves import MOVES
from tests.tui.core.typists import row_text

PIECES = st.lists(
    st.sampled_from(
        ["a", "b c", "\n", "\u0301", "e\u0301", "東", "🇩", "🇪", "👩", "\u200d", "💻", "\t"]
    )
    | st.text(max_size=4),
    max_size=8,
)


def draft_of(text: str) -> Draft:
    lines = fragment_of(text)
    return Draft(lines, Draft(lines, Place(0, 0)).end)


def places(draft: Draft) -> list[Place]:
    return [
        Place(row, column)
        for row, line in enumerate(draft.lines)
        for column in range(len(line) + 1)
    ]


@pytest.mark.requirement("chat:input:clusters")
@given(pieces=PIECES, where=st.integers(0, 30), more=PIECES)
@example(pieces=["🇩", "x"], where=1, more=["🇪"])
@example(pieces=["👩", "💻"], where=1, more=["\u200d"])
def test_what_is_inserted_makes_the_clusters_of_the_whole_text(
    pieces: list[str], where: int, more: list[str]
) -> None:
    draft = draft_of("".join(pieces))
    place = places(draft)[where % len(places(draft))]
    before = text_of(span(draft, Place(0, 0), place))

    changed = insert(draft.at(place), fragment_of("".join(more)))

    assert text_of(changed.lines) == before + "".join(more) + text_of(draft.lines)[len(before) :]
    for line in changed.lines:
        assert list(line) == list(clusters("".join(str(atom) for atom in line)))
    # The cursor stands behind what was inserted, or behind the cluster that this became part of.
    behind = text_of(span(changed, Place(0, 0), changed.cursor))
    assert behind.startswith(before + "".join(more))
    assert len(behind) - len(before + "".join(more)) < max(
        [len(str(atom)) for line in changed.lines for atom in line], default=1
    )


@given(pieces=PIECES, where=st.integers(0, 30), reach=st.integers(0, 10))
def test_what_is_deleted_is_gone_and_the_rest_is_whole(
    pieces: list[str], where: int, reach: int
) -> None:
    draft = draft_of("".join(pieces))
    all_places = places(draft)
    start = where % len(all_places)
    end = min(start + reach, len(all_places) - 1)
    first, last = all_places[start], all_places[end]
    text = text_of(draft.lines)
    head = len(text_of(span(draft, Place(0, 0), first)))
    taken = len(text_of(span(draft, first, last)))

    changed = delete(draft, first, last)

    assert text_of(changed.lines) == text[:head] + text[head + taken :]
    for line in changed.lines:
        assert list(line) == list(clusters("".join(str(atom) for atom in line)))


def test_a_paste_is_one_atom_that_joins_with_nothing() -> None:
    paste = PastedText("e", 1)
    draft = insert(insert(EMPTY, ((paste,),)), fragment_of("\u0301"))

    assert draft.lines == ((paste, "\u0301"),)
    assert insert(draft.at(Place(0, 0)), fragment_of("\u0301")).lines[0][1] == paste
    assert text_of(draft.lines) == "e\u0301"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("a\nb\nc", "[paste #1: 3 lines]"),
        ("a\nb\nc\n", "[paste #1: 3 lines]"),
        ("x" * 5000, "[paste #1: 5,000 characters]"),
    ],
)
def test_a_paste_says_how_much_it_is(text: str, label: str) -> None:
    assert PastedText(text, 1).label == label


MOVES_MADE = [
    # text before | behind,   move,          cursor then
    ("foo bar|", "word-left", "foo |bar"),
    ("foo b|ar", "word-left", "foo |bar"),
    ("foo  |", "word-left", "|foo  "),
    ("a\nb|", "word-left", "a\n|b"),
    ("a\n|b", "word-left", "|a\nb"),
    ("|foo bar", "word-right", "foo| bar"),
    ("foo| bar", "word-right", "foo bar|"),
    ("a|\nb", "word-right", "a\nb|"),
    ("snake_case-word|", "word-left", "snake_case-|word"),
    ("|a", "left", "|a"),
    ("a|", "right", "a|"),
    ("a\n|b", "left", "a|\nb"),
    ("a|\nb", "right", "a\n|b"),
    ("a\nb|c", "line-start", "a\n|bc"),
    ("a|b\nc", "line-end", "ab|\nc"),
    ("a\nb|c", "text-start", "|a\nbc"),
    ("a|b\nc", "text-end", "ab\nc|"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "move", "after"), MOVES_MADE)
def test_the_cursor_moves_as_in_readline(before: str, move: str, after: str) -> None:
    head, tail = before.split("|")
    draft = draft_of(head + tail).at(draft_of(head).cursor)

    place = MOVES[move](draft)

    moved = text_of(span(draft, Place(0, 0), place))
    assert f"{moved}|{(head + tail)[len(moved) :]}" == after


ATOMS: st.SearchStrategy[Atom] = st.sampled_from(
    [
        "a",
        "b",
        " ",
        "東",
        "\t",
        "\x07",
        "\u202e",
        "e\u0301",
        "👩\u200d💻",
        PastedText("x\n" * 30, 2),
    ]
)


@pytest.mark.requirement("chat:input:rows")
@given(line=st.lists(ATOMS, max_size=40), columns=st.integers(2, 30))
@example(line=["a", " ", " ", " "], columns=2)
@example(line=["東", "a"], columns=2)
def test_rows_fit_and_the_cursor_stands_before_its_atom(line: list[Atom], columns: int) -> None:
    layout = lay_out_line(tuple(line), columns)

    assert all(width(row_text(row)) <= columns for row in layout.rows)
    assert len(layout.stops) == len(line) + 1
    assert all(0 <= stop.column < columns for stop in layout.stops)
    assert all(0 <= stop.row < len(layout.rows) for stop in layout.stops)
    assert list(layout.stops) == sorted(layout.stops)
    for atom, stop in zip(line, layout.stops, strict=False):
        shown = {"\x07": "\u2407", "\u202e": "<"}.get(atom, atom) if isinstance(atom, str) else "["
        if shown in {" ", "\t"}:
            continue
        row = row_text(layout.rows[stop.row])
        behind = "".join(c for c in _from_column(row, stop.column))
        assert behind.startswith(shown), (row, stop, atom)


def _from_column(row: str, column: int) -> str:
    cells = 0
    for index, cluster in enumerate(list(clusters(row))):
        if cells == column:
            return "".join(list(clusters(row))[index:])
        cells += width(cluster)
    return ""


def test_nothing_that_acts_is_shown() -> None:
    layout = lay_out_line(("\x1b", "[", "\x9b", "\u202e"), 40)

    assert row_text(layout.rows[0]) == "\u241b[<U+009B><U+202E>"


def test_a_cluster_that_is_wider_than_the_row_is_not_shown() -> None:
    layout = lay_out_line(("東", "a"), 1)

    assert all(width(row_text(row)) <= 1 for row in layout.rows)
    assert "a" in [row_text(row) for row in layout.rows]


def test_a_line_is_laid_out_once_until_too_many_are_kept() -> None:
    cache = LayoutCache(1)
    draft = draft_of("one")
    first = cache._line(draft.lines[0], 10)

    assert cache._line(draft.lines[0], 10) is first
    for number in range(2000):
        cache.lay_out(draft_of(str(number)), 10)
    assert len(cache._lines) <= 1024
