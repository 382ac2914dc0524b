"""What is written for a change: as little as the change is, and in one piece."""

from __future__ import annotations

import re
from typing import Final

import pytest

from blockwire.host.emulator import Cursor, Look
from blockwire.host.painter import Frame, Painter, PaintRow
from blockwire.text.charset import Charset
from tests.host.painting.outer import Outer, row

RED: Final = Look("red")
COLUMNS: Final = 80
ROWS: Final = 24


def screenful(first: int, rows: int = ROWS) -> tuple[PaintRow, ...]:
    """Return rows of which no two look alike."""
    return tuple(
        row((f"{at:06} ", RED), f"a line of text {at * at}") for at in range(first, first + rows)
    )


def painted(*frames: Frame, columns: int = COLUMNS) -> tuple[Outer, list[bytes]]:
    """Paint frames one after the other; return the terminal, and what each one took."""
    rows = len(frames[0].rows)
    painter, outer = Painter(columns, rows), Outer(columns, rows)
    written = [painter.paint(frame) for frame in frames]
    for data in written:
        outer.feed(data)
    outer.assert_shows(frames[-1])
    return outer, written


@pytest.mark.requirement("host:drawing:unknown")
def test_what_is_unknown_is_written_row_by_row_and_erased_only_to_the_end_of_each() -> None:
    outer = Outer(5, 3)
    outer.feed_anything(b"garbage garbage garbage")

    data = Painter(5, 3).paint(Frame((row("ab"), (), row("abcde"))))

    outer.feed(data)
    assert outer.texts() == ["ab", "", "abcde"]
    assert data == (
        b"\x1b[?2026h\x1b[?25l\x1b[m\x1b[1;3r\x1b[?7l"
        b"\x1b[1Hab\x1b[K\x1b[2H\x1b[K\x1b[3Habcde"
        b"\x1b[?7h\x1b[?2026l"
    )


@pytest.mark.requirement("host:drawing:charset")
def test_what_the_terminal_cannot_write_is_replaced() -> None:
    painter = Painter(20, 1, charset=Charset("ascii"))

    assert b"\x1b[1Hcaf? ?\x1b[K" in painter.paint(Frame((row("caf\u00e9 \u2500"),)))
    assert b"?x" in painter.paint(Frame((row("caf\u00e9 \u2500\u2500x"),)))


@pytest.mark.requirement("host:drawing:idle")
def test_an_equal_frame_of_other_objects_writes_nothing() -> None:
    _outer, written = painted(Frame(screenful(0)), Frame(screenful(0)))

    assert written[1] == b""


@pytest.mark.requirement("host:drawing:idle")
def test_the_same_cells_in_other_spans_write_nothing() -> None:
    one = Frame((row("ab", "cd  "),))
    other = Frame((row("a", "bcd", ("", RED), (" ", RED)),))

    _outer, written = painted(one, other)

    assert written[1] == b""


@pytest.mark.requirement("host:drawing:one-row")
@pytest.mark.case("T15")
def test_a_spinner_writes_its_cell() -> None:
    before, after = (
        Frame((*screenful(0, ROWS - 1), row((spinner, RED), " thinking 12 s")), Cursor(0, 3))
        for spinner in "|/"
    )

    _outer, written = painted(before, after)

    assert written[1] == b"\x1b[?25l\x1b[?7l\x1b[24H\x1b[31m/\x1b[m\x1b[?7h\x1b[4;1H\x1b[?25h"


@pytest.mark.requirement("host:drawing:one-row")
@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ("the same text", "the other text", b"\x1b[1;5Hother text"),
        ("the same text", "the lame text", b"\x1b[1;5Hl"),
        ("abc def", "abc", b"\x1b[1;4H\x1b[K"),
        ("abc def", "xbc", b"\x1b[1Hxbc\x1b[K"),
        ("abc", "abc def", b"\x1b[1;4H def"),
        ("", "日本", "\x1b[1H日本".encode()),
        ("日本", "日語", "\x1b[1;3H語".encode()),
        ("日本", "ab本", b"\x1b[1Hab"),
        ("日本", "a日", "\x1b[1Ha日\x1b[K".encode()),
    ],
)
def test_within_a_row_what_differs_is_written(before: str, after: str, change: bytes) -> None:
    _outer, written = painted(Frame((row(before),)), Frame((row(after),)))

    assert written[1] == b"\x1b[?7l" + change + b"\x1b[?7h"


@pytest.mark.requirement("host:drawing:at-once")
def test_rows_that_change_together_are_one_synchronized_update() -> None:
    _outer, written = painted(Frame(screenful(0)), Frame((*screenful(0, 22), *screenful(90, 2))))

    assert written[1].startswith(b"\x1b[?2026h")
    assert written[1].endswith(b"\x1b[?2026l")
    assert written[1].count(b"\x1b[?2026") == 2


@pytest.mark.requirement("host:drawing:moved")
@pytest.mark.parametrize("distance", [1, 3, -1, -3])
def test_rows_that_moved_are_moved(distance: int) -> None:
    status = row("status")
    before, after = (
        Frame((row("title"), *screenful(first, ROWS - 2), status)) for first in (50, 50 + distance)
    )

    _outer, written = painted(before, after)

    rows_written = re.findall(rb"a line of text", written[1])
    assert len(rows_written) == abs(distance)
    assert b"\x1b[2;23r\x1b[2H\x1b[%d%s\x1b[1;24r" % (
        abs(distance),
        b"M" if distance > 0 else b"L",
    ) in written[1]  # fmt: skip


@pytest.mark.requirement("host:drawing:moved")
def test_rows_that_moved_to_the_end_of_the_window_need_no_region() -> None:
    _outer, written = painted(Frame(screenful(0)), Frame(screenful(2)))

    assert written[1].startswith(b"\x1b[?2026h\x1b[?7l\x1b[1H\x1b[2M\x1b[23H")


@pytest.mark.requirement("host:drawing:moved")
def test_nothing_is_believed_of_rows_that_came_in_new() -> None:
    """Pyte leaves what stood there if a row that it moves was never written to."""
    frames = [
        Frame(tuple(row(char * 9 if char != " " else "") for char in chars))
        for chars in ("abcdef", "bcdef ", "ef   z")
    ]

    outer, written = painted(*frames)

    assert b"\x1b[1M" in written[1]
    assert b"\x1b[3M" in written[2]
    assert outer.texts() == ["e" * 9, "f" * 9, "", "", "", "z" * 9]


def test_rows_are_written_where_moving_them_would_write_more() -> None:
    before = Frame(tuple(row(text) for text in ("title", "a", "b", "c", "d", "status")))
    after = Frame(tuple(row(text) for text in ("title", "x", "a", "b", "y", "status")))

    _outer, written = painted(before, after)

    assert b"M" not in written[1]
    assert b"L" not in written[1]


def test_rows_that_are_there_twice_do_not_tell_what_moved() -> None:
    before = Frame(tuple(row(text) for text in ("same", "one", "same", "two", "same")))
    after = Frame(tuple(row(text) for text in ("new", "same", "new", "same", "one")))

    outer, _written = painted(before, after)

    assert outer.texts() == ["new", "same", "new", "same", "one"]


@pytest.mark.requirement("host:drawing:edge")
def test_the_last_cell_of_the_window_is_written_and_nothing_scrolls() -> None:
    frames = [Frame(tuple(row(char * 5) for char in chars)) for chars in ("abc", "xyz", "xyw")]

    outer, written = painted(*frames, columns=5)

    assert outer.texts() == ["xxxxx", "yyyyy", "wwwww"]
    assert all(b"\x1b[K" not in data for data in written)


@pytest.mark.requirement("host:drawing:edge")
@pytest.mark.parametrize(
    ("text", "shown"),
    [("abcdefg", "abcde"), ("abcd日", "abcd"), ("日本語", "日本"), ("é" * 9, "é" * 5)],
)
def test_what_is_beyond_the_edge_is_left_out_whole(text: str, shown: str) -> None:
    outer, _written = painted(Frame((row(text), row("below"))), columns=5)

    assert [re.sub(r"\s", "", line) for line in outer.texts()] == [shown, "below"]


@pytest.mark.requirement("host:drawing:disagreement")
def test_what_stands_behind_a_cluster_that_terminals_draw_differently_is_in_its_place() -> None:
    """Pyte gives a family six cells, we give it two; so do others the other way round."""
    family = "👩\u200d👩\u200d👧"
    frames = [
        Frame((row(f"{family}|{family}|end"),)),
        Frame((row(f"{family}|{family}|and"),)),
        Frame((row(f"x{family}"),)),
        Frame((row("xyz"),)),
        Frame((row(f"xyz{family}"),)),
    ]

    outer, written = painted(*frames, columns=20)

    assert all(b"\x1b[K" in data for data in written)
    assert outer.texts() == ["xyz👩"]


def test_a_cluster_of_more_characters_than_any_script_has_is_cut() -> None:
    data = Painter(10, 1).paint(Frame((row("a" + "\u0301" * 5_000),)))

    assert len(data) < 200


@pytest.mark.requirement("host:drawing:harmless")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1bb\nc\td\x7f", "a␛b␊c␉d␡"),
        ("a\x9bb\ud800", "a\ufffdb\ufffd"),
        ("a\u202eb\u200bc\u2060d\ufeff", "abcd"),
        ("\u0301", "\u0301"),
        ("🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "🏴"),
    ],
)
def test_what_would_act_is_shown_in_its_cell_or_left_out(text: str, shown: str) -> None:
    outer, written = painted_anything(text)

    assert "".join(outer.texts()[0].split()) == shown.strip("\u0301")
    assert (text.encode(errors="replace") in written) is (text[0] == "🏴")


def painted_anything(text: str) -> tuple[Outer, bytes]:
    outer = Outer(40, 1)
    data = Painter(40, 1).paint(Frame((row(text),)))
    outer.feed(data)
    return outer, data


def test_a_cluster_in_two_spans_is_one_and_has_the_look_of_its_beginning() -> None:
    data = Painter(9, 1).paint(Frame((row(("e", RED), "\u0301x"),)))

    assert "\x1b[31me\u0301\x1b[mx".encode() in data


@pytest.mark.requirement("host:drawing:cursor")
def test_the_cursor_is_hidden_while_rows_are_written_and_then_shown_in_its_place() -> None:
    outer, written = painted(
        Frame(screenful(0), Cursor(3, 1)),
        Frame(screenful(5), Cursor(7, 2)),
    )

    assert re.fullmatch(
        rb"\x1b\[\?2026h\x1b\[\?25l.*\x1b\[3;8H\x1b\[\?25h\x1b\[\?2026l", written[1]
    )
    assert (outer.screen.cursor.x, outer.screen.cursor.y) == (7, 2)


@pytest.mark.requirement("host:drawing:cursor")
@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (Cursor(1, 1), Cursor(4, 2), b"\x1b[3;5H"),
        (Cursor(1, 1), Cursor(1, 1, is_visible=True, shape=4), b"\x1b[2;2H\x1b[4 q"),
        (Cursor(1, 1), Cursor(1, 1, is_visible=False), b"\x1b[?25l\x1b[2;2H"),
        (Cursor(1, 1), None, b"\x1b[?25l"),
        (None, Cursor(1, 1), b"\x1b[2;2H\x1b[0 q\x1b[?25h"),
        (Cursor(1, 1, is_visible=False), None, b""),
        (Cursor(1, 1, is_visible=False), Cursor(2, 1, is_visible=False), b"\x1b[2;3H"),
    ],
)  # fmt: skip
def test_a_cursor_that_changed_alone_is_all_that_is_written(
    before: Cursor | None, after: Cursor | None, change: bytes
) -> None:
    _outer, written = painted(Frame(screenful(0), before), Frame(screenful(0), after))

    assert written[1] == change


def test_a_shape_that_the_cursor_had_while_it_was_hidden_is_given_when_it_is_shown() -> None:
    hidden = Cursor(0, 0, is_visible=False, shape=6)
    frames = [
        Frame(((),), cursor) for cursor in (Cursor(0, 0), hidden, hidden._replace(is_visible=True))
    ]

    _outer, written = painted(*frames)

    assert b"\x1b[6 q" not in written[1]
    assert written[2] == b"\x1b[1;1H\x1b[6 q\x1b[?25h"


@pytest.mark.requirement("host:drawing:unknown")
@pytest.mark.parametrize("kind", ["forget", "resize"])
def test_after_a_stop_and_in_a_new_size_everything_is_written_again(kind: str) -> None:
    painter, outer = Painter(10, 2), Outer(10, 2)
    frame = Frame((row("one"), row("two")), Cursor(0, 0, is_visible=True, shape=2))
    outer.feed(painter.paint(frame))
    outer.feed_anything(b"\x1b[2J\x1b[Hfg\r\n\x1b[1;31m\x1b[?25l")

    if kind == "forget":
        painter.forget()
    else:
        painter.resize(10, 2)
    outer.feed(painter.paint(frame))

    outer.assert_shows(frame)
    assert b"\x1b[2 q" in outer.fed[-60:]


@pytest.mark.requirement("host:drawing:links")
def test_a_link_is_given_with_an_id_where_it_may_be_followed_and_links_are_wanted() -> None:
    link = Look(link="https://a.example/x;y")
    frame = Frame(
        (row(("text", link), " ", ("more", link)), row(("bad", Look(link="file:///etc"))))
    )

    with_links = Painter(20, 2).paint(frame)
    without = Painter(20, 2, links=False).paint(frame)

    starts = re.findall(rb"\x1b\]8;(id=[0-9a-f]+);https://a.example/x;y\x1b\\", with_links)
    assert len(starts) == 2
    assert len(set(starts)) == 1
    assert with_links.count(b"\x1b]8;;\x1b\\") == 2
    assert b"file:" not in with_links
    assert b"\x1b]8" not in without


@pytest.mark.parametrize("width", [1, 2])
def test_ambiguous_characters_have_the_cells_that_the_terminal_gives_them(width: int) -> None:
    painter = Painter(4, 1, ambiguous_width=2 if width == 2 else 1)

    data = painter.paint(Frame((row("→→→"),)))

    assert data.count("→".encode()) == (3 if width == 1 else 2)
