"""How Markdown looks in rows."""

from __future__ import annotations

import pytest

from blockwire.render import Row, Span, Style, TerminalLook, encode_row, markdown_rows, row_width
from blockwire.render.incremental import normalise_markdown
from blockwire.render.layout import wrap_spans
from blockwire.text import width
from tests.render.markdowns import assert_streams_as_whole, row_text

LOOK = TerminalLook(columns=40)


def shown(source: str, look: TerminalLook = LOOK) -> list[str]:
    return [row_text(row) for row in markdown_rows(normalise_markdown(source), look)]


SHOWN: list[tuple[str, str, list[str]]] = [
    ("M05: what looks like a tag is text",
     "Use List<String> and \\<foo\\>, <br>,\n<!-- note --> x < y && y > z",
     ["Use List<String> and <foo>, <br>, <!--", "note --> x < y && y > z"]),
    ("reference links show as they were written", "[a][b]\n\n[b]: http://x.y",
     ["[a][b]", "", "[b]: http://x.y"]),
    ("a heading of several lines is a paragraph with a rule", "a b\nc\n===", ["a b c", "═════"]),
    ("a heading without words is an empty row", "#", [""]),
    ("items follow the blank lines of the source", "- a\n- b\n\n- c", ["• a", "• b", "", "• c"]),
    ("a number that begins a list is kept", "7. a\n8. b", ["7. a", "8. b"]),
    ("an item may be empty", "-\n- b", ["•", "• b"]),
    ("an item may hold a rule, a heading and code", "- # h\n- ***\n-     c\n", ["• h", "• ────────────────────────", "•   c"]),
    ("a heading of an item keeps its place", "- a\n  ---", ["• a", "  ─"]),
    ("a quote may be empty", ">", ["│"]),
    ("code after code in an item keeps its gap", "- a\n\n      x\n\n  b", ["• a", "", "    x", "", "  b"]),
    ("a table needs a bar at its beginning", "a | b\n--|--", ["a | b --|--"]),
    ("a table without rows is a table", "| a |\n|---|", ["┌───┐", "│ a │", "├───┤", "└───┘"]),
    ("a quoted table stays in its quote", "> | a |\n> |---|", ["│ ┌───┐", "│ │ a │", "│ ├───┤", "│ └───┘"]),
    ("emphasis inside of a word is markup for stars only", "a*b*c a_b_c", ["abc a_b_c"]),
    ("a hard break ends a row", "a  \nb\\\nc", ["a", "b", "c"]),
    ("NUL is shown", "a\0b", ["a␀b"]),
]  # fmt: skip


@pytest.mark.requirement("render:markdown:as-text")
@pytest.mark.parametrize(("source", "rows"), [row[1:] for row in SHOWN], ids=[r[0] for r in SHOWN])
@pytest.mark.case("M05")
def test_markdown_is_shown(source: str, rows: list[str]) -> None:
    assert shown(source) == rows


@pytest.mark.requirement("render:markdown:nesting")
def test_nesting_takes_at_most_half_of_the_row() -> None:
    deep = "".join(f"{'  ' * level}- x{level}\n" for level in range(7))

    rows = shown(deep, TerminalLook(columns=20))

    assert rows == [
        "• x0", "  ◦ x1", "    ▪ x2", "      • x3", "        ◦ x4", "          x5", "          x6",
    ]  # fmt: skip
    assert shown("- a", TerminalLook(columns=3)) == ["a"]


@pytest.mark.requirement("render:markdown:nesting")
@pytest.mark.parametrize("mark", ["> ", "- ", "1. ", ">- "])
def test_nothing_is_lost_however_deeply_it_is_nested(mark: str) -> None:
    source = f"{mark * 300}deep\n"

    assert "deep" in "".join(shown(source))
    assert_streams_as_whole(source, LOOK, [50, 301])


def test_a_prefix_that_leaves_no_room_for_text_is_dropped() -> None:
    rows = wrap_spans([Span("abc de")], TerminalLook(columns=5), first_prefix=(Span("=> "),))

    assert [row_text(row) for row in rows] == ["abc", "de"]


T08 = "| 名前 | v |\n|---|---|\n| 你好 | 1 |\n| ❤️ ⚠ 🫠 | 2 |\n| é́a | 3 |"


@pytest.mark.requirement("render:terminal:table")
@pytest.mark.parametrize("ambiguous", [1, 2])
@pytest.mark.parametrize("columns", [20, 21, 40, 41, 80])
@pytest.mark.parametrize("source", [T08, "| │ ① | … € |\n|---|---|\n| a long cell of words | 1 |"])
@pytest.mark.case("T08")
def test_the_borders_of_a_table_are_straight(source: str, columns: int, ambiguous: int) -> None:
    look = TerminalLook(columns=columns, ambiguous_width=2 if ambiguous == 2 else 1)

    rows = markdown_rows(source, look)

    widths = {row_width(row, look) for row in rows}
    assert len(widths) == 1
    assert widths.pop() <= columns
    bars = {tuple(_bar_columns(row, look)) for row in rows}
    assert len(bars) == 1


def _bar_columns(row: Row, look: TerminalLook) -> list[int]:
    text = row_text(row)
    return [
        width(text[:index], ambiguous_width=look.ambiguous_width)
        for index, char in enumerate(text)
        if row_marks(row)[index] and char in "│┌┬┐├┼┤└┴┘"
    ]


def row_marks(row: Row) -> list[bool]:
    """Tell of each character whether it is drawn dim, as borders are."""
    return [span.style.dim for span in row.spans for _char in span.text]


def test_a_table_that_is_too_wide_becomes_a_list_of_its_cells() -> None:
    rows = shown("| a | b | c |\n|---|---|---|\n| one | two | three |", TerminalLook(columns=12))

    assert rows == ["a: one", "b: two", "c: three", "─" * 12]
    assert shown("| aa | bb | cc |\n|-|-|-|", TerminalLook(columns=9)) == [
        "aa: aa", "bb: bb", "cc: cc", "─" * 9,
    ]  # fmt: skip


def test_cells_stand_as_their_column_says() -> None:
    rows = shown("| long | long | long |\n|:--|:-:|--:|\n| a | b | c |")

    assert rows[3] == "│ a    │  b   │    c │"


@pytest.mark.requirement("render:terminal:no-colour")
def test_without_colours_bold_stays_and_without_escapes_nothing_does() -> None:
    row = Row((Span("a", Style(colour="red", bold=True)), Span("b", Style(colour="red"))))

    assert encode_row(row, LOOK) == "\x1b[0;1;31ma\x1b[0m\x1b[0;31mb\x1b[0m"
    assert encode_row(row, LOOK._replace(colour=False)) == "\x1b[0;1ma\x1b[0mb"
    assert encode_row(row, LOOK._replace(escapes=False)) == "ab"


def test_the_rows_of_one_link_share_an_id() -> None:
    rows = markdown_rows("[two words](http://a.b)", TerminalLook(columns=5))

    ids = {encode_row(row, LOOK).split(";")[1] for row in rows[:2]}

    assert len(ids) == 1
