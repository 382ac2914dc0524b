"""Finding text, a slice at a time."""

from __future__ import annotations

import pytest

from blockwire.screen import Position, Range
from tests.screen.desks import Desk


def start(match: Range | None) -> tuple[int, int]:
    assert match is not None
    return match.start.segment_id, match.start.offset


def fruit() -> Desk:
    desk = Desk(rows=2)
    desk.append_each("apple and Apple", "pear", "an APPLE", "fig\npineapple")
    return desk


@pytest.mark.requirement("terminal:history:search-case")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("apple", [(0, 0, 5), (0, 10, 15), (2, 3, 8), (3, 8, 13)]),
        ("Apple", [(0, 10, 15)]),
        ("APPLE", [(2, 3, 8)]),
        ("p.", []),
        ("fig\npine", []),
        ("", []),
        ("ear", [(1, 1, 4)]),
    ],
)
def test_case_counts_if_the_query_has_capitals(
    query: str, found: list[tuple[int, int, int]]
) -> None:
    desk = fruit()

    desk.find(query)

    assert desk.found() == found
    assert desk.screen.search.match_count == len(found)
    assert desk.screen.search.is_complete


@pytest.mark.requirement("terminal:history:search-shown")
def test_what_is_shown_is_found() -> None:
    desk = Desk(columns=5)
    desk.append("a", "a\x1b[m and\ta long line\x85")
    desk.output("wrapped \\", "output")

    found = []
    for query in ("␛[", "D\t".lower(), "g line", "u+00", "\x1b", "d o"):
        desk.find(query)
        found.append(desk.found())

    assert found == [[(0, 1, 3)], [(0, 7, 9)], [(0, 14, 20)], [(0, 20, 20)], [], [(1, 6, 9)]]
    desk.find("u+00")
    assert desk.screen.search.matches_in(0) == (Range(Position(0, 20, 1), Position(0, 20, 5)),)


@pytest.mark.requirement("terminal:history:search-current")
def test_the_first_match_from_where_one_is_becomes_the_current_one() -> None:
    desk = fruit()

    current = []
    for near in (Position(0, 0), Position(0, 3), Position(1, 0), Position(3, 9), Position(9, 9)):
        desk.find("apple", near)
        current.append(start(desk.screen.search.current))

    assert current == [(0, 0), (0, 10), (2, 3), (0, 0), (0, 0)]
    desk.find("banana")
    assert desk.screen.search.current is None
    assert desk.screen.search.go_next() is None
    assert desk.screen.search.go_previous() is None


def test_one_goes_through_the_matches_around_and_around() -> None:
    desk = fruit()
    desk.find("apple")
    search = desk.screen.search

    forward = [start(search.go_next()) for _ in range(5)]
    back = [start(search.go_previous()) for _ in range(5)]

    assert forward == [(0, 10), (2, 3), (3, 8), (0, 0), (0, 10)]
    assert back == [(0, 0), (3, 8), (2, 3), (0, 10), (0, 0)]


def test_a_match_is_gone_to_before_everything_is_searched() -> None:
    desk = fruit()
    search = desk.screen.search
    search.find("apple", Position(2, 0))

    assert search.step(1)
    assert start(search.current) == (2, 3)
    assert start(search.go_next()) == (2, 3)
    assert not search.is_complete
    desk.search_all()

    assert start(search.go_next()) == (3, 8)


@pytest.mark.requirement("terminal:history:search-slices")
def test_searching_is_done_in_slices() -> None:
    desk = Desk()
    desk.append("long", "some words\n" * 200)
    desk.append_each(*(f"{number} words" for number in range(50)))
    search = desk.screen.search
    search.find("words", Position(0, 0))
    slices = 1

    while search.step(100):
        slices += 1

    assert slices > 20
    assert search.match_count == 250
    assert search.step(100) is False


def test_a_current_match_that_goes_is_dropped_and_one_goes_on_from_there() -> None:
    desk = fruit()
    desk.find("apple", Position(0, 10))
    search = desk.screen.search

    desk.replace("apple and Apple", 10, "")
    assert search.current is None
    desk.search_all()
    assert search.current is None

    assert start(search.go_next()) == (2, 3)
    desk.update("an APPLE", "no fruit")
    assert start(search.go_previous()) == (0, 0)


def test_a_match_that_grows_out_of_being_one_is_dropped() -> None:
    desk = Desk()
    flag = "\U0001f3f4\U000e0067\U000e0062\U000e0065"
    desk.append("a", flag)
    desk.find("<u+e0067>")
    search = desk.screen.search
    assert search.match_count == 1

    desk.extend("a", "\U000e006e\U000e0067\U000e007f")
    desk.search_all()

    assert (search.match_count, search.current) == (0, None)


def test_a_current_match_stays_while_its_block_grows() -> None:
    desk = fruit()
    desk.find("apple", Position(3, 0))
    search = desk.screen.search

    desk.extend("fig\npineapple", "s, apples")
    desk.append("new", "apple")
    desk.search_all()

    assert start(search.current) == (3, 8)
    assert start(search.go_next()) == (3, 16)
    assert start(search.go_next()) == (4, 0)


def test_what_changes_before_it_was_searched_is_searched_once() -> None:
    desk = fruit()
    search = desk.screen.search
    search.find("apple", Position(2, 0))
    search.step(1)

    desk.extend("pear", " apple")
    desk.extend("an APPLE", " apple")
    desk.append("new", "apple")
    desk.search_all()

    assert desk.found() == [
        (0, 0, 5), (0, 10, 15), (1, 5, 10), (2, 3, 8), (2, 9, 14), (3, 8, 13), (4, 0, 5),
    ]  # fmt: skip
    assert search.match_count == 7


def test_a_trimmed_part_is_not_searched() -> None:
    desk = fruit()
    search = desk.screen.search
    search.find("apple", Position(2, 0))
    search.step(1)
    desk.update("apple and Apple", "apple")
    desk.extend("an APPLE", ", an apple")
    desk.screen.viewport.scroll_end()
    desk.screen.capacity_bytes = desk.screen.history.cost_bytes // 4

    assert desk.trim()[:2] == ["apple and Apple", "pear"]
    desk.search_all()

    assert {segment_id for segment_id, _, _ in desk.found()} <= {2, 3}
    assert search.match_count == len(desk.found())


def test_without_a_query_nothing_is_done() -> None:
    desk = fruit()
    desk.find("apple")

    desk.screen.search.clear()
    desk.extend("pear", "s")

    assert desk.found() == []
    assert not desk.screen.search.step(10)
    assert (desk.screen.search.query, desk.screen.search.current) == ("", None)


def test_a_current_match_stays_while_what_is_before_it_is_searched_in_slices() -> None:
    desk = Desk()
    desk.append("a", "hay\n" * 50)
    search = desk.screen.search
    search.find("needle", Position(0, 0))
    desk.extend("a", "needle")
    seen = []

    while search.step(10):
        seen.append((search.current or search.go_next()) is not None)
    seen.append(search.current is not None)

    assert seen == sorted(seen)
    assert start(search.current) == (0, 200)


def test_what_arrives_meanwhile_does_not_become_the_current_match_before_what_is_nearer() -> None:
    desk = fruit()
    search = desk.screen.search
    search.find("apple", Position(1, 0))

    desk.append("new", "apple")
    search.step(1)
    assert (search.match_count, search.current) == (1, None)
    desk.search_all()

    assert start(search.current) == (2, 3)


def test_a_long_text_is_searched_to_its_end_before_a_later_match_becomes_the_current_one() -> None:
    desk = Desk()
    desk.append("a", "hay\n" * 50 + "needle")
    search = desk.screen.search
    search.find("needle", Position(0, 0))
    search.step(10)

    desk.append("new", "needle")
    search.step(1)
    assert (search.match_count, search.current) == (1, None)
    desk.search_all()

    assert start(search.current) == (0, 200)


def test_one_goes_on_from_where_a_match_has_gone() -> None:
    desk = fruit()
    desk.find("apple")
    search = desk.screen.search
    search.go_next()
    assert start(search.go_next()) == (2, 3)

    desk.update("an APPLE", "no fruit")

    assert start(search.go_next()) == (3, 8)


def test_one_step_searches_several_lines_that_are_shown_with_labels() -> None:
    desk = Desk()
    segment_id = desk.append("a", "a\tfox\nno\x1b\na fox")

    desk.screen.search.find("fox", Position(0, 0))
    has_more = desk.screen.search.step(10_000)

    starts = [match.start.offset for match in desk.screen.search.matches_in(segment_id)]
    assert starts == [2, 12]
    assert not has_more
