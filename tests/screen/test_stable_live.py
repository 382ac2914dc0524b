"""The table of what stays, for the live screen: a column that it adds to every cell, and its rows."""

from __future__ import annotations

from typing import Final

import pytest

from blockwire.screen import LIVE_SEGMENT_ID, Position, Range
from tests.screen.desks import Desk

LONG: Final = "one two three four five six seven eight nine ten eleven twelve"
ABOVE, BELOW = "above", "below"
SCREEN: Final = ("make all", "cc one.c", "cc two.c", "cc three.c", "spin |", "$ ")
OPERATIONS: Final = ["append", "extend", "replace_suffix", "update", "seal", "close"]


def desk_with_live_screen() -> Desk:
    desk = Desk(10, 4)
    desk.output("ordinary")
    for name in (ABOVE, BELOW):
        desk.append(name, LONG)
    desk.live(*SCREEN)
    return desk


def start_of(number: int) -> Position:
    return Position(LIVE_SEGMENT_ID, sum(len(text) + 1 for text in SCREEN[:number]))


def reading() -> Desk:
    """Return a desk whose reader has a row of the live screen in the second row of the window."""
    desk = desk_with_live_screen()
    desk.screen.viewport.scroll(-1)
    desk.screen.viewport.reveal(start_of(2))
    assert place(desk) == (start_of(2), 1, SCREEN[2])
    return desk


def place(desk: Desk) -> tuple[Position, int, str]:
    anchor = desk.screen.viewport.anchor
    assert anchor is not None
    return anchor.position, anchor.row, desk.view()[anchor.row]


def rows(number: int, count: int = 1) -> Range:
    """Return rows of the live screen without their last break."""
    end = start_of(number + count - 1).offset + len(SCREEN[number + count - 1])
    return Range(start_of(number), Position(LIVE_SEGMENT_ID, end))


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
        case "ordinary":
            desk.output("one more", "row")
        case "erase":
            desk.screen.erase_ordinary()
        case "trim":
            desk.screen.capacity_bytes = 0
            assert desk.trim() == [ABOVE, BELOW]
        case _:
            desk.screen.resize(7, 4)


# the anchor -------------------------------------------------------------------------------
@pytest.mark.requirement("terminal:history:reader-stays")
@pytest.mark.parametrize("where", [ABOVE, BELOW])
@pytest.mark.parametrize("name", [*OPERATIONS, "ordinary", "erase", "trim"])
def test_anchor_in_the_live_screen(name: str, where: str) -> None:
    desk = reading()
    before = place(desk)

    apply(desk, name, where)

    assert place(desk) == before


@pytest.mark.requirement("terminal:history:resize")
def test_anchor_in_the_live_screen_resize() -> None:
    desk = reading()

    for columns, row in ((5, SCREEN[2][:5]), (40, SCREEN[2]), (10, SCREEN[2])):
        desk.screen.resize(columns, 4)
        assert place(desk) == (start_of(2), 1, row)


@pytest.mark.parametrize(
    ("left", "now"),
    [
        ((), (*SCREEN[:4], "spin /", "$ ")),
        ((), ("spin longer than before", *SCREEN[1:])),
        ((), (*SCREEN, "more", "rows")),
        ((), SCREEN[:3]),
        (("make all",), (*SCREEN[1:], "more")),
        (SCREEN[:3], SCREEN[3:]),
        (SCREEN, ("$ ",)),
        (("changed",), (*SCREEN[1:], "more")),
    ],
)
@pytest.mark.requirement("terminal:history:live-kept")
def test_anchor_in_a_row_that_is_kept(left: tuple[str, ...], now: tuple[str, ...]) -> None:
    desk = reading()

    desk.advance(left, now)

    position, row, text = place(desk)
    assert (row, text) == (1, SCREEN[2])
    assert (position.segment_id == LIVE_SEGMENT_ID) == (SCREEN[2] in now)


@pytest.mark.parametrize(
    ("left", "now", "text"),
    [
        ((), (*SCREEN[:2], "changed", *SCREEN[3:]), "changed"),
        ((), (*SCREEN[:2], *SCREEN[3:]), SCREEN[3]),
        ((), SCREEN[:1], SCREEN[0]),
        ((), ("all", "of", "it", "is", "other"), "it"),
        (("a", "b"), ("c", "d"), "c"),
        (("a", "b", "c", "d"), (), "c"),
    ],
)
@pytest.mark.requirement("terminal:history:live-changed")
def test_anchor_in_a_row_that_is_gone_goes_to_the_nearest(
    left: tuple[str, ...], now: tuple[str, ...], text: str
) -> None:
    desk = reading()

    desk.advance(left, now)

    assert place(desk)[1:] == (1, text)
    assert place(desk)[0].offset == desk.at(1, 0).start.offset


def test_anchor_in_a_live_screen_that_has_no_rows_any_more() -> None:
    desk = reading()

    desk.live()
    assert place(desk) == (Position(2, len(LONG)), 1, "twelve")
    desk.append("new", "new")
    assert place(desk) == (Position(2, len(LONG)), 1, "twelve")

    empty = Desk(10, 4)
    empty.live("x", "y")
    empty.screen.viewport.reveal(start_of(0))
    empty.live()
    assert empty.view() == ["~"] * 4
    empty.live("z")
    assert empty.view() == ["z", "~", "~", "~"]
    empty.append("a", "above")
    assert empty.view() == ["z", "~", "~", "~"]
    assert not empty.screen.viewport.is_following


@pytest.mark.requirement("terminal:history:reader-stays")
@pytest.mark.parametrize("where", [ABOVE, "ordinary"])
def test_anchor_in_the_history_while_live_rows_change_and_leave(where: str) -> None:
    desk = desk_with_live_screen()
    segment_id = desk.id_of(where) if where == ABOVE else 0
    desk.screen.viewport.reveal(Position(segment_id, 0))
    before = place(desk), desk.screen.view()

    desk.live("x", "y")
    desk.advance(("x", "and", "more"), ("y", "z"))
    desk.screen.commit_live(1)
    desk.live()

    assert (place(desk), desk.screen.view()) == before
    assert desk.screen.view() is before[1]


# the selection ----------------------------------------------------------------------------
@pytest.mark.requirement("terminal:history:selection-kept")
@pytest.mark.parametrize("where", [ABOVE, BELOW])
@pytest.mark.parametrize("name", [*OPERATIONS, "resize", "ordinary", "erase", "trim"])
def test_selection_in_the_live_screen_is_kept(name: str, where: str) -> None:
    desk = desk_with_live_screen()
    desk.screen.selection.select(rows(1, 2))

    apply(desk, name, where)

    assert desk.screen.selection.text() == "cc one.c\ncc two.c"


@pytest.mark.parametrize(
    ("name", "where", "text"),
    [
        ("append", BELOW, "twelve\nsomething new\nmake all"),
        ("extend", BELOW, "twelve and more of it than fits\nmake all"),
        ("extend", ABOVE, "twelve\nmake all"),
        ("update", ABOVE, "twelve\nmake all"),
        ("update", BELOW, ""),
        ("replace_suffix", BELOW, ""),
        ("seal", BELOW, "twelve\nmake all"),
        ("resize", BELOW, "twelve\nmake all"),
        ("ordinary", BELOW, "twelve\none more\nrow\nmake all"),
        ("erase", BELOW, "twelve\nmake all"),
        ("trim", BELOW, ""),
    ],
)
def test_selection_from_the_history_into_the_live_screen(name: str, where: str, text: str) -> None:
    desk = desk_with_live_screen()
    start = Position(desk.id_of(BELOW), len(LONG) - len("twelve"))
    desk.screen.selection.select(Range(start, rows(0).end))

    apply(desk, name, where)

    assert desk.screen.selection.text() == text


@pytest.mark.requirement("terminal:history:live-kept", "terminal:history:live-changed")
@pytest.mark.parametrize(
    ("left", "now", "is_kept"),
    [
        ((), (*SCREEN[:4], "spin /", "$ "), True),
        ((), ("other", *SCREEN[1:]), True),
        ((), (*SCREEN, "more"), True),
        ((), (*SCREEN[:4],), True),
        ((), (*SCREEN[:3], "changed", *SCREEN[4:]), False),
        ((), (*SCREEN[:3], "new", *SCREEN[3:]), False),
        ((), SCREEN[:3], False),
        (SCREEN[:1], SCREEN[1:], True),
        (SCREEN[:2], SCREEN[2:], True),
        (SCREEN[:3], SCREEN[3:], True),
        (SCREEN[:4], SCREEN[4:], True),
        (SCREEN, (), True),
        (("other",), SCREEN[1:], True),
        ((*SCREEN[:3], "new"), SCREEN[3:], False),
        (("new",), (*SCREEN[:5], "$ l"), True),
        (("all", "is", "other", "now"), SCREEN[4:], False),
    ],
)
def test_selection_of_two_live_rows(
    left: tuple[str, ...], now: tuple[str, ...], is_kept: bool
) -> None:
    desk = desk_with_live_screen()
    desk.screen.selection.select(rows(2, 2))

    desk.advance(left, now)

    assert desk.screen.selection.text() == ("cc two.c\ncc three.c" if is_kept else "")


@pytest.mark.parametrize(
    ("left", "now", "is_kept"),
    [
        ((), (*SCREEN[:4], "spin /", "$ "), True),
        (SCREEN[:1], SCREEN[1:], True),
        (SCREEN[:2], SCREEN[2:], True),
        ((), ("new", *SCREEN), False),
        (("new",), SCREEN, False),
        ((), SCREEN[1:], False),
    ],
)
def test_selection_from_the_history_into_the_live_screen_while_that_changes(
    left: tuple[str, ...], now: tuple[str, ...], is_kept: bool
) -> None:
    desk = desk_with_live_screen()
    start = Position(desk.id_of(BELOW), len(LONG) - len("twelve"))
    desk.screen.selection.select(Range(start, rows(1).end))

    desk.advance(left, now)

    assert desk.screen.selection.text() == ("twelve\nmake all\ncc one.c" if is_kept else "")


def test_selection_is_extended_from_where_it_began_after_its_rows_have_left() -> None:
    desk = desk_with_live_screen()
    desk.screen.selection.begin(desk.at(0, 3), "word")
    assert desk.screen.selection.text() == "two.c"

    desk.advance(SCREEN[:4], (*SCREEN[4:], "more", "rows"))
    desk.screen.selection.extend_to(desk.at(1, 0))

    assert desk.view() == ["spin |", "$ ", "more", "rows"]
    assert desk.screen.selection.text() == "two.c\ncc three.c\nspin |\n$"


def test_selection_is_cleared_with_the_row_in_which_it_began() -> None:
    desk = Desk(10, 3)
    desk.live("one", "", "two")
    selection = desk.screen.selection
    selection.begin(desk.at(1, 0))
    selection.extend_to(desk.at(0, 0))
    assert selection.text() == "one\n"

    desk.live("one", "now", "two")
    selection.extend_to(desk.at(2, 0))

    assert selection.text() == ""


def test_a_place_in_an_empty_row_moves_with_it() -> None:
    desk = Desk(10, 3)
    desk.live("one", "", "two")
    desk.screen.selection.begin(desk.at(1, 5))

    desk.advance(("one", ""), ("two", "three"))
    desk.screen.selection.extend_to(desk.at(1, 2))

    assert desk.screen.selection.text() == "\ntwo"


# the search -------------------------------------------------------------------------------
@pytest.mark.requirement("terminal:history:search-follows")
@pytest.mark.parametrize("where", [ABOVE, BELOW])
@pytest.mark.parametrize("name", [*OPERATIONS, "resize", "ordinary", "erase", "trim"])
def test_matches_in_the_live_screen_are_kept(name: str, where: str) -> None:
    desk = desk_with_live_screen()
    desk.find("cc", start_of(2))
    before = desk.found(), desk.screen.search.current

    apply(desk, name, where)

    assert (desk.found(), desk.screen.search.current) == before
    desk.search_all()
    assert (desk.found(), desk.screen.search.current) == before


def texts_found(desk: Desk) -> list[str]:
    """Return the lines in which there are matches."""
    found = []
    for segment_id, start, _end in desk.found():
        line = next(desk.screen.history.segment(segment_id).lines(start))
        found.append("".join(span.text for span in line.spans))
    return found


@pytest.mark.requirement("terminal:history:live-kept", "terminal:history:live-changed")
@pytest.mark.parametrize(
    ("left", "now", "known", "found"),
    [
        ((), (*SCREEN[:4], "spin /", "$ "), "123", "123"),
        ((), (SCREEN[0], "cc new.c", *SCREEN[2:]), "23", "n23"),
        ((), (*SCREEN, "cc new.c"), "123", "123n"),
        ((), ("$ ",), "", ""),
        (SCREEN[:3], SCREEN[3:], "123", "123"),
        ((*SCREEN[:2], "cc new.c"), SCREEN[3:], "13", "1n3"),
        (SCREEN, ("cc new.c",), "123", "123n"),
    ],
)
def test_matches_move_with_their_rows(
    left: tuple[str, ...], now: tuple[str, ...], known: str, found: str
) -> None:
    names = {"1": "cc one.c", "2": "cc two.c", "3": "cc three.c", "n": "cc new.c"}
    desk = desk_with_live_screen()
    desk.find("cc", start_of(2))
    assert texts_found(desk) == [*SCREEN[1:4]]

    desk.advance(left, now)

    assert texts_found(desk) == [names[name] for name in known]
    assert desk.screen.search.match_count == len(known)
    current = desk.screen.search.current
    assert (current is not None) == ("2" in known)
    desk.search_all()
    assert texts_found(desk) == [names[name] for name in found]
    assert desk.screen.search.current == current


def test_a_match_across_rows_of_which_one_has_left_vanishes() -> None:
    desk = Desk(5, 3)
    desk.live("see f\\", "ile", "file")
    desk.find("file")
    assert len(desk.found()) == 2

    desk.advance(("see f\\",), ("ile", "file"))
    desk.search_all()
    assert desk.found() == [(LIVE_SEGMENT_ID, 4, 8)]
    assert desk.screen.search.current is None
    desk.advance(("ile",), ("file",))
    desk.search_all()

    assert desk.found() == [(0, 4, 8), (LIVE_SEGMENT_ID, 0, 4)]


def test_a_search_that_goes_on_while_rows_leave_finds_everything_once() -> None:
    desk = Desk(10, 3)
    desk.append("a", "cc\n" * 20)
    screen = [f"cc {number}" for number in range(4)]
    desk.live(*screen)
    search = desk.screen.search
    search.find("cc", start_of(0))

    for number in range(4, 30):
        search.step(5)
        desk.advance((screen[0],), (*screen[1:], f"cc {number}"))
        screen = [*screen[1:], f"cc {number}"]
    desk.search_all()

    assert len(desk.found()) == len(set(desk.found())) == search.match_count == 20 + 30
