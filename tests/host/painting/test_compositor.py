"""What is seen, put together: history and live rows, marks, cursor, status line, help."""

from __future__ import annotations

from typing import Any, Final

import pytest
from msgspec import UNSET, UnsetType

from blockwire.host.compositor import Picture, Rectangle, compose, no_matches
from blockwire.host.compositor_spans import fit, mark, overlay
from blockwire.host.emulator import Cursor, LiveRow, LiveSpan, Look, to_ordinary
from blockwire.host.help import Help, HelpEntry, HelpSection
from blockwire.host.painter import Frame, PaintRow
from blockwire.host.statusline import UNSEEN_HINT, KeyHint, Prompt, StatusLine
from blockwire.host.theme import DARK, PLAIN
from blockwire.screen import OrdinaryRow, Position, Range, Screen
from blockwire.terminal import Span, Style
from tests.host.painting.outer import row

RED: Final = Look("red")
CURLY: Final = Look("#123456", None, ("curly_underline",))
STATUS: Final = StatusLine("state", (KeyHint("k", "key"),))


def live(*rows: PaintRow) -> tuple[LiveRow, ...]:
    return tuple(LiveRow(spans) for spans in rows)


def seen(
    history: list[str], live_rows: tuple[LiveRow, ...] = (), columns: int = 20, rows: int = 6
) -> Screen:
    """Return a screen that follows the tail of some lines and of live rows."""
    screen = Screen(columns, rows)
    spans = [(Span(text=text, style=Style(foreground="green", attributes=("italic", "bold"))),)
             for text in history]  # fmt: skip
    screen.append_ordinary([OrdinaryRow(it) for it in spans])
    screen.set_live([to_ordinary(it) for it in live_rows])
    return screen


def composed(screen: Screen, **parts: Any) -> Frame:
    columns, rows = screen.history.paper.columns, screen.viewport.rows
    has_status = parts.get("status") is not None
    return compose(Picture(columns, rows + has_status, screen.view(), **parts))


def texts(frame: Frame) -> list[str]:
    return ["".join(span.text for span in spans).rstrip() for spans in frame.rows]


def looks(spans: PaintRow, look: Look) -> str:
    """Return the text in a look."""
    return "".join(span.text for span in spans if span.look == look)


def find(screen: Screen, query: str) -> None:
    screen.search.find(query, Position(0, 0))
    while screen.search.step(1_000):
        pass


@pytest.mark.requirement("host:drawing:live")
def test_live_rows_are_drawn_as_the_program_has_them_below_the_history() -> None:
    rows = live(row(("$ ", RED), "ls"), row(("typo", CURLY)))
    screen = seen(["one", "two"], rows)

    frame = composed(screen, live=rows)

    assert texts(frame) == ["one", "two", "$ ls", "typo", "", ""]
    assert frame.rows[0] == (LiveSpan("one", Look("green", None, ("bold", "italic"))),)
    assert frame.rows[2] is rows[0].spans
    assert frame.rows[3] is rows[1].spans


@pytest.mark.requirement("host:drawing:live")
def test_a_live_row_that_is_gone_already_is_drawn_as_the_history_has_it() -> None:
    screen = seen([], live(row("first"), row(("second", CURLY))))

    frame = composed(screen, live=live(row("first")))

    assert texts(frame)[:2] == ["first", "second"]
    assert frame.rows[1] == row(("second", Look("#123456", None, ("underline",))))


@pytest.mark.requirement("host:drawing:live")
@pytest.mark.parametrize(
    ("style", "look"),
    [
        (UNSET, Look()),
        (Style(background="#102030"), Look(None, "#102030")),
        (Style(link="https://a.example"), Look(None, None, (), "https://a.example")),
    ],
)
def test_a_row_of_the_history_has_the_styles_of_its_spans(
    style: Style | UnsetType, look: Look
) -> None:
    screen = Screen(20, 1)
    screen.append_ordinary([OrdinaryRow((Span(text="text", style=style),))])

    assert composed(screen).rows == (row(("text", look)),)


def test_a_frame_has_the_rows_of_the_window_and_the_status_line_is_the_last() -> None:
    screen = seen(["text"], rows=3)

    with_status = composed(screen, status=STATUS)
    small = compose(Picture(20, 2, screen.view(), status=STATUS))
    one = compose(Picture(20, 1, screen.view(), status=STATUS))
    large = compose(Picture(20, 5, screen.view()))

    assert texts(with_status) == ["text", "", "", " state        k key"]
    assert texts(small) == ["text", " state        k key"]
    assert texts(one) == ["text"]
    assert texts(large) == ["text", "", "", "", ""]


@pytest.mark.requirement("host:drawing:marks")
def test_matches_lie_over_the_text_the_current_one_over_them_the_selection_over_all() -> None:
    screen = seen(["abc abc abc"])
    find(screen, "abc")
    screen.selection.select(Range(Position(0, 6), Position(0, 9)))

    frame = composed(
        screen,
        matches=screen.search.matches_in,
        current_match=screen.search.current,
        selection=screen.selection.chosen,
        theme=DARK,
    )

    [spans] = frame.rows[:1]
    assert [span.text for span in spans] == ["abc", " ", "ab", "c", " ", "a", "bc"]
    assert looks(spans, overlay(Look("green", None, ("bold", "italic")), DARK.selection)) == "c a"
    by_text = {span.text: span.look for span in spans}
    assert by_text["abc"].background == DARK.current_match.background
    assert by_text["ab"].background == by_text["bc"].background == DARK.match.background


@pytest.mark.requirement("host:drawing:marks")
def test_marks_reach_over_live_rows_and_only_rows_that_have_them() -> None:
    rows = live(row("one two"), row("two"), row("one"))
    screen = seen(["two one"], rows)
    find(screen, "two")

    frame = composed(screen, live=rows, matches=screen.search.matches_in)

    marked = overlay(Look(), DARK.match)
    assert [looks(spans, marked) for spans in frame.rows] == ["", "two", "two", "", "", ""]
    assert (
        looks(frame.rows[0], overlay(Look("green", None, ("bold", "italic")), DARK.match)) == "two"
    )
    assert frame.rows[3] is rows[2].spans


def test_of_many_matches_those_of_each_row_are_laid_over_it() -> None:
    """A line of 200 rows, each with ten matches."""
    screen = seen(["0123456789" * 200], columns=10)
    find(screen, "5")
    calls: list[int] = []

    def matches_in(segment_id: int) -> tuple[Range, ...]:
        calls.append(segment_id)
        return screen.search.matches_in(segment_id)

    frame = composed(screen, matches=matches_in)

    marked = overlay(Look("green", None, ("bold", "italic")), DARK.match)
    assert [looks(spans, marked) for spans in frame.rows] == ["5"] * 6
    assert calls == [0]


def test_a_match_that_goes_over_the_end_of_a_row_is_marked_in_both() -> None:
    screen = seen(["abcdefgh"], columns=5)
    find(screen, "defg")

    frame = composed(screen, matches=screen.search.matches_in)

    marked = overlay(Look("green", None, ("bold", "italic")), DARK.match)
    assert [looks(spans, marked) for spans in frame.rows[:2]] == ["de", "fg"]


def test_a_rectangle_marks_cells_whatever_stands_there() -> None:
    screen = seen(["abcdef", "日本語", "a", "abcdef"])

    frame = composed(screen, rectangle=Rectangle(1, 3, 3, 5), theme=PLAIN)

    marks = ["".join(span.text for span in spans if "inverse" in span.look.attributes)
             for spans in frame.rows[:4]]  # fmt: skip
    assert marks == ["", "本語", "  ", ""]
    assert texts(frame) == ["abcdef", "日本語", "a", "abcdef", "", ""]


@pytest.mark.parametrize("top", [-5, 0, 99])
def test_a_rectangle_may_reach_beyond_the_window(top: int) -> None:
    frame = composed(seen(["abc"]), rectangle=Rectangle(top, 0, top + 6, 1))

    assert texts(frame)[0] == "abc"


@pytest.mark.requirement("host:drawing:program-cursor")
def test_the_program_s_cursor_stands_where_its_row_is_seen() -> None:
    rows = live(row("$ ls"), row("$ "))
    screen = seen(["one", "two"], rows)
    cursor = Cursor(2, 1, shape=5)

    assert composed(screen, live=rows, cursor=cursor).cursor == Cursor(2, 3, shape=5)
    hidden = cursor._replace(is_visible=False)
    assert composed(screen, live=rows, cursor=hidden).cursor == hidden._replace(row=3)
    assert composed(screen, live=rows).cursor is None
    beyond = composed(screen, live=rows, cursor=Cursor(99, 0)).cursor
    assert beyond == Cursor(19, 2)


@pytest.mark.requirement("host:drawing:program-cursor")
def test_the_program_s_cursor_is_not_seen_if_its_row_is_not() -> None:
    rows = live(*[row(f"live {at}") for at in range(4)])
    screen = seen([f"line {at}" for at in range(20)], rows)
    screen.viewport.scroll(-2)

    frame = composed(screen, live=rows, cursor=Cursor(0, 3))
    partly = composed(screen, live=rows, cursor=Cursor(0, 1))
    screen.viewport.scroll_home()
    at_home = composed(screen, live=rows, cursor=Cursor(0, 0))

    assert texts(frame)[-1] == "live 1"
    assert frame.cursor is None
    assert partly.cursor == Cursor(0, 5)
    assert at_home.cursor is None


@pytest.mark.requirement("host:drawing:active-cursor")
def test_the_cursor_stands_where_the_reader_moves_it_or_types() -> None:
    rows = live(row("$ "))
    screen = seen(["one"], rows)
    parts = {"live": rows, "cursor": Cursor(2, 0), "copy_cursor": (0, 2)}

    moving = composed(screen, **parts, status=STATUS)
    typing = composed(screen, **parts, status=StatusLine("", (), Prompt("/", "one", 3)))

    assert moving.cursor == Cursor(2, 0)
    assert typing.cursor == Cursor(5, 6)


@pytest.mark.requirement("host:drawing:hint")
def test_without_a_status_line_hint_and_notice_lie_over_the_end_of_the_last_row() -> None:
    history = [f"a line that is long {at}" for at in range(9)]
    screen = seen(history, columns=60)

    hint = composed(screen, has_unseen=True)
    notice = composed(screen, has_unseen=True, notice="copied")
    narrow = compose(Picture(5, 6, screen.view(), has_unseen=True))
    too_narrow = compose(Picture(3, 6, screen.view(), notice="copied"))

    assert texts(hint)[-1] == f"a line that is long 8{'':19} {UNSEEN_HINT}"
    assert texts(notice)[-1].endswith(" copied")
    assert [len(text) for text in texts(hint)[:-1]] == [21] * 5
    assert texts(narrow)[-1] == f"a  {UNSEEN_HINT[0]}"
    assert texts(too_narrow)[-1] == "a line that is long 8"


def test_what_lies_over_a_text_is_not_copied() -> None:
    """Situation 10: the pieces that were missing were those under an overlay."""
    screen = seen([f"row {at} " + "x" * 50 for at in range(9)], columns=60)
    screen.viewport.scroll(-2)
    last = screen.viewport.range_at(5, 0)
    assert last is not None

    screen.selection.begin(last, "line")
    frame = composed(screen, has_unseen=True, selection=screen.selection.chosen)

    assert UNSEEN_HINT in texts(frame)[-1]
    assert screen.selection.text() == "row 6 " + "x" * 50


def test_the_help_takes_the_place_of_the_text_and_hides_the_cursor() -> None:
    rows = live(row("$ "))
    screen = seen(["one"], rows)
    help_ = Help((HelpSection("Keys", (HelpEntry("q", "quit"),)),))

    frame = composed(screen, live=rows, cursor=Cursor(2, 0), help=help_, status=STATUS)

    assert texts(frame) == ["Keys", "  q  quit", "", "", "", "", " state        k key"]
    assert frame.cursor is None


OVERLAYS: list[tuple[Look, Look, Look]] = [
    (RED, Look(None, "blue"), Look("red", "blue")),
    (RED, Look("white", "blue"), Look("white", "blue")),
    (Look("red", None, ("dim", "inverse")), Look(None, "blue"), Look("red", "blue")),
    (Look(attributes=("inverse",)), Look(attributes=("inverse",)), Look()),
    (RED, Look(attributes=("inverse",)), Look("red", None, ("inverse",))),
    (Look(None, None, ("bold",), "https://a.example"), Look(attributes=("underline",)),
     Look(None, None, ("bold", "underline"), "https://a.example")),
]  # fmt: skip


@pytest.mark.requirement("host:drawing:marks")
@pytest.mark.parametrize(("look", "over", "both"), OVERLAYS)
def test_a_mark_can_be_seen_on_any_look(look: Look, over: Look, both: Look) -> None:
    assert overlay(look, over) == both


MARKS: list[tuple[PaintRow, int, int, list[str]]] = [
    (row("abcdef"), 2, 4, ["ab", "CD", "ef"]),
    (row("abc", ("def", RED)), 2, 4, ["ab", "C", "D", "ef"]),
    (row("abc"), 0, 9, ["ABC"]),
    (row("abc"), 3, 9, ["abc"]),
    (row("a日b"), 2, 3, ["a", "日!", "b"]),
    (row("a日b"), 1, 2, ["a", "日!", "b"]),
    (row("x👩\u200d👧y"), 2, 3, ["x", "👩\u200d👧!", "y"]),
    (row("", "ab"), 0, 1, ["A", "b"]),
]


@pytest.mark.requirement("host:drawing:marks")
@pytest.mark.parametrize(("spans", "start", "end", "shown"), MARKS)
def test_whole_clusters_are_marked(spans: PaintRow, start: int, end: int, shown: list[str]) -> None:
    marked = mark(spans, start, end, Look(None, "blue"), 1)

    assert [
        (text.upper() if text.isascii() else f"{text}!") if look.background else text
        for text, look in marked
    ] == shown


def test_spans_are_cut_between_clusters_and_filled_up() -> None:
    assert fit(row("ab", ("日本", RED)), 5, 1) == row("ab", ("日", RED), " ")
    assert fit(row("ab"), 4, 1, RED) == row("ab", ("  ", RED))
    assert fit(row("ab", "c"), 2, 1) == row("ab")
    assert fit(row("→→"), 3, 2) == row("→", " ")
    assert fit((), 0, 1) == ()


def test_without_a_search_there_are_no_matches() -> None:
    assert no_matches(0) == ()
