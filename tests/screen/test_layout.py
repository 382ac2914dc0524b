"""Logical lines become rows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blockwire.screen import EDGE_MARK, LaidLine, Paper, Row
from blockwire.terminal import Layout, Line, LogicalLine, Span, Style
from blockwire.text import AmbiguousWidth, width
from tests.screen.desks import drawn, lines_of

BLUE = Style(background="blue")
RED = Style(foreground="red")

STYLES = st.sampled_from([RED, BLUE, Style(attributes=("bold",))])
TEXTS = st.text(alphabet="ab c\t\x1b漢\u0301é😀\u200d…", max_size=30)
PREFIXES = st.sampled_from(
    [(), (Span(text="- "),), (Span(text="│ ", style=RED),), (Span(text="漢" * 8),)]
)
LAYOUTS = st.builds(
    Layout,
    wrap=st.sampled_from(["word", "character", "none"]),
    align=st.sampled_from(["left", "center", "right"]),
    first_prefix=PREFIXES,
    rest_prefix=PREFIXES,
    fill=st.sampled_from([BLUE, Layout().fill]),
)
SPANS = st.lists(st.builds(Span, text=TEXTS, style=STYLES), max_size=4).map(tuple)


def laid(
    text: str, columns: int, *, ambiguous_width: AmbiguousWidth = 1, **layout: Any
) -> LaidLine:
    [line] = lines_of((Line(spans=(Span(text=text),), layout=Layout(**layout)),))
    return LaidLine(line, Paper(columns, ambiguous_width), "word")


def rows_of(line: LaidLine, scrolled_cells: int = 0) -> list[Row]:
    return [line.row(number, scrolled_cells) for number in range(line.row_count)]


def texts_of(line: LaidLine, scrolled_cells: int = 0) -> list[str]:
    return [drawn(row) for row in rows_of(line, scrolled_cells)]


@pytest.mark.parametrize(
    ("layout", "text", "columns", "rows"),
    [
        ({}, "", 5, [""]),
        ({}, "one two", 5, ["one ", "two"]),
        ({}, "one   two", 4, ["one ", "two"]),
        ({"wrap": "character"}, "one two", 5, ["one t", "wo"]),
        ({"wrap": "none"}, "one two", 5, [f"one {EDGE_MARK}"]),
        ({"wrap": "none"}, "one", 5, ["one"]),
        ({"wrap": "none"}, "one", 2, ["on"]),
        ({"align": "right"}, "one two", 5, ["  one", "  two"]),
        ({"align": "center"}, "one two", 6, [" one ", " two"]),
        ({"align": "right"}, "one  ", 6, ["   one"]),
        ({"align": "right", "wrap": "none"}, "one two", 5, [f"one {EDGE_MARK}"]),
        ({}, "漢字", 3, ["漢", "字"]),
        ({}, "漢", 1, [" "]),
        ({"wrap": "character"}, "a漢字", 4, ["a漢", "字"]),
        ({}, "a\tb", 20, ["a       b"]),
        ({}, "\x1b[m", 20, ["␛[m"]),
    ],
)
def test_a_line_is_laid_out_as_it_says(
    layout: dict[str, Any], text: str, columns: int, rows: list[str]
) -> None:
    assert texts_of(laid(text, columns, **layout)) == rows


def test_prefixes_stand_before_the_first_and_before_every_other_row() -> None:
    both: dict[str, Any] = {"first_prefix": (Span(text="1. "),), "rest_prefix": (Span(text="  "),)}

    assert texts_of(laid("aa bb cc dd ee ff", 10 + 8, **both)) == ["1. aa bb cc dd ee ", "  ff"]
    assert texts_of(laid("aaaa bbbb cccc dddd eeee ffff gg h", 19, **both)) == [
        "1. aaaa bbbb cccc ",
        "  dddd eeee ffff gg",
        "  h",
    ]
    assert texts_of(laid("abcdefghijklmnopqrstuvw", 17, wrap="character", **both)) == [
        "1. abcdefghijklmn",
        "  opqrstuvw",
    ]
    assert texts_of(laid("a", 17, **both)) == ["1. a"]


@pytest.mark.requirement("terminal:history:fill")
def test_a_fill_reaches_from_the_prefix_to_the_edge_behind_texts_of_no_background() -> None:
    spans = (
        Span(text="a"),
        Span(text="b", style=RED),
        Span(text="c", style=Style(background="red")),
    )
    layout = Layout(fill=BLUE, first_prefix=(Span(text="> "),), align="center")
    [line] = lines_of((Line(spans=spans, layout=layout),))

    row = LaidLine(line, Paper(20), "word").row(0)

    assert row.spans == (
        Span(text="> "),
        Span(text=" " * 7, style=BLUE),
        Span(text="a", style=BLUE),
        Span(text="b", style=Style(foreground="red", background="blue")),
        Span(text="c", style=Style(background="red")),
        Span(text=" " * 8, style=BLUE),
    )


@pytest.mark.requirement("terminal:history:tab-at-edge")
@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("abc\tdef", ["abc  ", "def"]),
        ("abcde\tf", ["abcde", "   f"]),
        ("\tf", ["     ", "f"]),
        ("a漢漢\tb", ["a漢漢", "   b"]),
    ],
)
def test_a_tab_that_reaches_the_edge_fills_its_row_and_ends_there(
    text: str, rows: list[str]
) -> None:
    assert texts_of(laid(text, 5, wrap="character")) == rows


def test_in_prose_a_tab_ends_at_the_edge_too() -> None:
    assert texts_of(laid("abc\tdef", 5)) == ["abc  ", "def"]


@pytest.mark.requirement("terminal:history:no-wrap")
@pytest.mark.parametrize(
    ("scrolled_cells", "row"),
    [
        (0, f"ab漢字{EDGE_MARK}"),
        (1, f"{EDGE_MARK}漢字c{EDGE_MARK}"),
        (2, f"{EDGE_MARK} 字cd{EDGE_MARK}"),
        (4, f"{EDGE_MARK} cdefg"),
        (99, f"{EDGE_MARK} cdefg"),
    ],
)
def test_a_line_that_is_not_wrapped_is_cut_marked_and_scrolled_between_clusters(
    scrolled_cells: int, row: str
) -> None:
    line = laid("ab漢字cdefg", 7, wrap="none")

    [text] = texts_of(line, scrolled_cells)

    assert (text, width(text)) == (row, 7)


def test_marks_of_two_cells_leave_room_for_text() -> None:
    [text] = texts_of(laid("abcdefghij", 6, wrap="none", ambiguous_width=2), 2)

    assert text == f"{EDGE_MARK}ef{EDGE_MARK}"


def test_a_row_of_one_cell_that_is_not_wrapped_has_no_place_for_a_mark() -> None:
    assert texts_of(laid("漢a", 1, wrap="none")) == [" "]
    assert texts_of(laid("漢a", 1, wrap="none"), 2) == ["a"]


def test_a_row_knows_what_stands_in_its_cells() -> None:
    row = laid("a漢 bc", 12, first_prefix=(Span(text="> "),)).row(0)

    assert [row.indexes_at(column) for column in range(10)] == [
        (0, 1), (0, 1), (0, 1), (1, 2), (1, 2), (2, 3), (3, 4), (4, 5), (5, 5), (5, 5),
    ]  # fmt: skip
    assert row.columns_of(1, 2, 12) == (3, 5)
    assert row.columns_of(4, 99, 12) == (7, 8)
    assert row.columns_of(3, 3, 12) == (6, 6)


def test_a_scrolled_row_knows_what_stands_in_its_cells() -> None:
    row = laid("abcdefghij", 5, wrap="none").row(0, 3)

    assert row.indexes_at(1) == (4, 5)
    assert row.columns_of(0, 5, 5) == (0, 2)
    assert row.columns_of(4, 10, 5) == (1, 5)


def test_an_offset_counts_scalars_of_the_segment() -> None:
    second = lines_of("ab\r\na\tb c")[1]

    rows = rows_of(LaidLine(second, Paper(9), "word"))

    assert [(row.offset, row.is_continued) for row in rows] == [(4, True), (8, False)]


@given(SPANS, LAYOUTS, st.integers(1, 30), st.sampled_from([1, 2]), st.integers(0, 9))
@example((Span(text="\u0301漢"),), Layout(wrap="none"), 1, 1, 1)
@pytest.mark.requirement("terminal:history:rows")
def test_rows_are_never_too_wide_and_hold_every_character_once(
    spans: tuple[Span, ...], layout: Layout, columns: int, ambiguous_width: AmbiguousWidth,
    scrolled_cells: int,
) -> None:  # fmt: skip
    logical = LogicalLine(7, spans, 0, layout)
    line = LaidLine(logical, Paper(columns, ambiguous_width), "word")

    rows = rows_of(line, scrolled_cells)

    assert "".join(row.line.shown[row.start : row.end] for row in rows) == line.shown.shown
    assert [row.is_continued for row in rows] == [True] * (len(rows) - 1) + [False]
    for number, row in enumerate(rows):
        assert width(drawn(row), ambiguous_width=ambiguous_width) <= columns
        assert drawn(row).isprintable() or "\u200d" in drawn(row)
        assert line.row_of(row.start) == number
        if layout.fill and layout.wrap != "none":
            assert width(drawn(row), ambiguous_width=ambiguous_width) == columns
