"""Every cell of the table of what stays, by name (docs/spec/terminal/history.md)."""

from __future__ import annotations

from typing import Any, Final

import pytest

from blockwire.screen import Position, Range
from tests.screen.desks import Desk

LONG: Final = "one two three four five six seven eight nine ten eleven twelve"
# The Blocks above, read, and below; in rows of ten columns.
ABOVE, READ, BELOW = "above", "read", "below"


def reading() -> Desk:
    """Return a desk whose reader has the second row of the middle Block at the top."""
    desk = Desk(10, 4)
    for name in (ABOVE, READ, BELOW):
        desk.append(name, LONG)
    desk.screen.viewport.reveal(Position(desk.id_of(READ), 8))
    desk.screen.viewport.scroll(1)
    assert desk.screen.viewport.anchor == (Position(desk.id_of(READ), 8), 0)
    return desk


def place(desk: Desk) -> tuple[Position, int, str]:
    anchor = desk.screen.viewport.anchor
    assert anchor is not None
    return anchor.position, anchor.row, desk.view()[anchor.row]


def apply(desk: Desk, name: str, block_id: str) -> None:
    match name:
        case "append":
            desk.append("new", "something new")
        case "extend":
            desk.extend(block_id, " and more of it than fits")
        case "replace_suffix":
            desk.replace(block_id, 5, "!")
        case "update":
            desk.update(block_id, "short")
        case "seal":
            desk.seal(block_id)
        case "close":
            desk.close()
        case _:
            desk.screen.resize(23, 3)


# the anchor -------------------------------------------------------------------------------
@pytest.mark.requirement("terminal:history:reader-stays")
@pytest.mark.parametrize("where", [ABOVE, BELOW])
@pytest.mark.parametrize("name", ["append", "extend", "replace_suffix", "update", "seal", "close"])
def test_anchor_in_another_block(name: str, where: str) -> None:
    desk = reading()
    before = place(desk)

    apply(desk, name, where)

    assert place(desk) == before
    assert desk.view()[0] == before[2]


@pytest.mark.requirement("terminal:history:reader-own-block")
@pytest.mark.parametrize("name", ["extend", "seal", "close"])
def test_anchor_in_this_block(name: str) -> None:
    desk = reading()
    before = place(desk)

    apply(desk, name, READ)

    assert place(desk) == before


@pytest.mark.parametrize(
    ("retain", "offset", "row"), [(40, 8, "three four"), (8, 8, "one two !"), (5, 5, "one t!")]
)
def test_anchor_in_this_block_replace_suffix(retain: int, offset: int, row: str) -> None:
    desk = reading()

    desk.replace(READ, retain, "!")

    assert place(desk) == (Position(desk.id_of(READ), offset), 0, row)


def test_anchor_in_this_block_update() -> None:
    desk = reading()

    desk.update(READ, "first row of the replacement")

    assert place(desk) == (Position(desk.id_of(READ), 0), 0, "first row ")


@pytest.mark.requirement("terminal:history:resize")
def test_anchor_resize() -> None:
    desk = reading()
    before = place(desk)

    for columns, row in ((23, "one two three four five"), (5, "three "[:5]), (10, before[2])):
        desk.screen.resize(columns, 4)
        assert place(desk) == (*before[:2], row)


def test_anchor_resize_to_fewer_rows_takes_the_nearest() -> None:
    desk = Desk(10, 6)
    desk.append_each("a", "b", "c", "d", "e", "f", "g", "h")
    desk.screen.viewport.reveal(Position(desk.id_of("f"), 0))
    assert desk.view().index("f") == 3

    desk.screen.resize(10, 2)

    assert desk.view() == ["e", "f"]


@pytest.mark.requirement("terminal:history:trimmed-reader")
def test_anchor_trimming() -> None:
    desk = reading()
    desk.screen.capacity_bytes = desk.screen.history.cost_bytes // 8

    assert desk.trim() == [ABOVE, READ, BELOW]
    assert desk.view() == ["~", "~", "~", "~"]
    desk.append("later", "later")

    assert desk.view() == ["later", "~", "~", "~"]
    assert not desk.screen.viewport.is_following


def test_anchor_trimming_goes_to_the_nearest_later_content() -> None:
    desk = reading()
    desk.screen.capacity_bytes = desk.screen.history.cost_bytes // 5

    assert desk.trim() == [ABOVE, READ]

    assert place(desk) == (Position(desk.id_of(BELOW), 0), 0, "one two ")
    assert not desk.screen.viewport.is_following


# the selection ----------------------------------------------------------------------------
def selecting(start: int, end: int, block_id: str = READ) -> Desk:
    desk = reading()
    segment_id = desk.id_of(block_id)
    desk.screen.selection.select(Range(Position(segment_id, start), Position(segment_id, end)))
    return desk


@pytest.mark.requirement("terminal:history:selection-kept")
@pytest.mark.parametrize("where", [ABOVE, READ, BELOW])
@pytest.mark.parametrize("name", ["append", "extend", "seal", "close", "resize"])
def test_selection_is_kept(name: str, where: str) -> None:
    desk = selecting(4, 13)

    apply(desk, name, where)

    assert desk.screen.selection.text() == "two three"


def test_selection_up_to_the_old_end_stays_before_the_fragment() -> None:
    desk = selecting(len(LONG) - 6, len(LONG))

    desk.extend(READ, " thirteen")

    assert desk.screen.selection.text() == "twelve"


@pytest.mark.requirement("terminal:history:selection-cleared")
@pytest.mark.parametrize(
    ("retain", "text"), [(13, "two three"), (20, "two three"), (12, ""), (4, ""), (0, "")]
)
def test_selection_replace_suffix(retain: int, text: str) -> None:
    desk = selecting(4, 13)

    desk.replace(READ, retain, "!")

    assert desk.screen.selection.text() == text


@pytest.mark.parametrize(
    ("start", "end", "changed", "is_kept"),
    [
        ((ABOVE, 60), (READ, 3), ABOVE, False),
        ((ABOVE, 60), (READ, 3), READ, True),
        ((ABOVE, 0), (BELOW, 3), READ, False),
        ((ABOVE, 0), (READ, 3), BELOW, True),
        ((READ, 0), (BELOW, 3), ABOVE, True),
        ((READ, 0), (BELOW, 6), BELOW, False),
    ],
)
def test_selection_across_blocks_replace_suffix(
    start: tuple[str, int], end: tuple[str, int], changed: str, is_kept: bool
) -> None:
    desk = reading()
    first, last = (Position(desk.id_of(name), offset) for name, offset in (start, end))
    desk.screen.selection.select(Range(first, last))

    desk.replace(changed, 5, "!")

    assert (desk.screen.selection.chosen is not None) == is_kept


@pytest.mark.parametrize(
    ("where", "text"), [(ABOVE, "two three"), (BELOW, "two three"), (READ, "")]
)
def test_selection_update(where: str, text: str) -> None:
    desk = selecting(4, 13)

    desk.update(where, LONG)

    assert desk.screen.selection.text() == text


def test_selection_trimming() -> None:
    for block_id, text in ((ABOVE, ""), (READ, ""), (BELOW, "two three")):
        desk = selecting(4, 13, block_id)
        desk.screen.capacity_bytes = desk.screen.history.cost_bytes // 5

        assert desk.trim() == [ABOVE, READ]

        assert desk.screen.selection.text() == text


# the search -------------------------------------------------------------------------------
def searching(query: str = "three") -> Desk:
    desk = reading()
    desk.find(query)
    assert len(desk.found()) == 3
    return desk


@pytest.mark.requirement("terminal:history:search-follows")
@pytest.mark.parametrize("where", [ABOVE, READ, BELOW])
@pytest.mark.parametrize("name", ["seal", "close", "resize"])
def test_search_is_kept(name: str, where: str) -> None:
    desk = searching()
    before: Any = desk.found(), desk.screen.search.current

    apply(desk, name, where)

    assert (desk.found(), desk.screen.search.current) == before
    assert desk.screen.search.is_complete


def test_search_append() -> None:
    desk = searching()

    desk.append("new", "or three")
    desk.search_all()

    assert desk.found()[3:] == [(desk.id_of("new"), 3, 8)]


def test_search_extend() -> None:
    desk = searching()
    before = desk.found()

    desk.extend(READ, " three")
    assert desk.found() == before
    desk.search_all()

    assert [match for match in desk.found() if match not in before] == [
        (desk.id_of(READ), len(LONG) + 1, len(LONG) + 6)
    ]


@pytest.mark.parametrize(("retain", "count"), [(13, 3), (12, 2)])
def test_search_replace_suffix(retain: int, count: int) -> None:
    desk = searching()

    desk.replace(READ, retain, "")

    assert len(desk.found()) == desk.screen.search.match_count == count
    desk.search_all()
    assert len(desk.found()) == count


def test_search_update() -> None:
    desk = searching()

    desk.update(READ, "now only: three")

    assert len(desk.found()) == 2
    desk.search_all()
    assert desk.found()[1] == (desk.id_of(READ), 10, 15)


def test_search_trimming() -> None:
    desk = searching()
    desk.screen.capacity_bytes = desk.screen.history.cost_bytes // 5

    assert desk.trim() == [ABOVE, READ]

    assert desk.found() == [(desk.id_of(BELOW), 8, 13)]
