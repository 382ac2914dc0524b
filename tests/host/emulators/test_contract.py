"""Every emulator does what the host relies on: one table of programs, run on each of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final, TypeAlias

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blockwire.host.emulator import (
    Cursor,
    Emulator,
    EmulatorName,
    LiveRow,
    LiveSpan,
    Look,
    ProgramModes,
    best_emulator,
    to_ordinary,
)
from blockwire.screen import OrdinaryRow
from blockwire.text import width

NAMES: Final[tuple[EmulatorName, ...]] = ("ghostty", "pyte")
Make: TypeAlias = Callable[..., Emulator]


@pytest.fixture(params=NAMES)
def make(request: pytest.FixtureRequest) -> Make:
    def made(columns: int = 20, rows: int = 5, **options: Any) -> Emulator:
        return best_emulator(columns, rows, name=request.param, **options)

    return made


def text_of(row: LiveRow | OrdinaryRow) -> str:
    return "".join(span.text for span in row.spans)


def shown(emulator: Emulator) -> list[str]:
    """Return the rows in use as text."""
    return [text_of(row) for row in emulator.live_rows()[: emulator.rows_in_use()]]


def is_wrap_pending(emulator: Emulator) -> bool:
    return emulator.is_wrap_pending


def is_alternate(emulator: Emulator) -> bool:
    return emulator.modes.is_alternate


def left(emulator: Emulator) -> list[str]:
    return [text_of(row) for row in emulator.take_scrolled()]


def lines_of(rows: list[OrdinaryRow]) -> list[str]:
    """Return the lines that rows are of, soft wraps joined."""
    lines = [""]
    for row in rows:
        lines[-1] += text_of(row)
        if not row.is_wrapped:
            lines.append("")
    return lines[: -1 if lines[-1] == "" else None]


def everything(emulator: Emulator, history: list[OrdinaryRow]) -> list[str]:
    live = [to_ordinary(row) for row in emulator.live_rows()[: emulator.rows_in_use()]]
    return lines_of([*history, *live])


# --- rows


@pytest.mark.requirement("host:emulation:rows")
def test_text_is_shown_where_the_program_put_it(make: Make) -> None:
    emulator = make()

    emulator.feed(b"one\r\n\x1b[4;3Hfour\x1b[2;1Htwo\x1b[K")

    assert shown(emulator) == ["one", "two", "", "  four"]
    assert len(emulator.live_rows()) == 5
    assert (emulator.columns, emulator.rows) == (20, 5)


@pytest.mark.requirement("host:emulation:wrapped")
def test_a_row_that_goes_on_is_wrapped_and_keeps_its_blanks(make: Make) -> None:
    emulator = make(10, 4)

    emulator.feed(b"123456789 next\r\nend  ")

    assert [(text_of(row), row.is_wrapped) for row in emulator.live_rows()[:3]] == [
        ("123456789 ", True),
        ("next", False),
        ("end", False),
    ]


def test_a_full_row_wraps_only_when_more_comes(make: Make) -> None:
    emulator = make(5, 3)

    emulator.feed(b"12345")
    assert is_wrap_pending(emulator)
    assert emulator.cursor[:2] == (4, 0)
    assert not emulator.live_rows()[0].is_wrapped

    emulator.feed(b"\r\n")
    assert not is_wrap_pending(emulator)
    assert emulator.cursor[:2] == (0, 1)
    assert not emulator.live_rows()[0].is_wrapped


WIDE: Final = [
    # written,                    columns, rows,                       cursor's column
    ("中文", 20, ["中文"], 4),
    ("abc中", 4, ["abc", "中"], 2),
    ("e\u0301x", 20, ["e\u0301x"], 2),
    ("👨\u200d👩\u200d👧x", 20, ["👨\u200d👩\u200d👧x"], 3),
    ("🇩🇪🇫🇷", 20, ["🇩🇪🇫🇷"], 4),
    ("❤\ufe0fx", 20, ["❤\ufe0fx"], 3),
    ("क्षिx", 20, ["क्षिx"], 3),
    ("中\x08x", 20, [" x"], 2),
    ("中文\r\x1b[2Cx", 20, ["中x"], 3),
]


@pytest.mark.requirement("host:emulation:exact-cells")
@pytest.mark.parametrize(("written", "columns", "rows", "column"), WIDE)
@pytest.mark.parametrize("is_split", [False, True])
def test_clusters_take_their_cells_however_they_are_cut(
    make: Make, written: str, columns: int, rows: list[str], column: int, is_split: bool
) -> None:
    emulator = make(columns, 3)
    data = written.encode()

    for piece in [bytes((byte,)) for byte in data] if is_split else [data]:
        emulator.feed(piece)

    assert shown(emulator) == rows
    assert emulator.cursor.column == column


LOOKS: Final = [
    ("1", Look(attributes=("bold",))),
    ("1;2;3;7;9;53", Look(attributes=("bold", "dim", "inverse", "italic", "overline", "strikethrough"))),
    ("5;8", Look(attributes=("blink", "hidden"))),
    ("4", Look(attributes=("underline",))),
    ("21", Look(attributes=("double_underline",))),
    ("4:3", Look(attributes=("curly_underline",))),
    ("4:5", Look(attributes=("underline",))),
    ("4;4:0;1", Look(attributes=("bold",))),
    ("4;21;24;1", Look(attributes=("bold",))),
    ("1;2;22;3;23;5;25;7;27;8;28;9;29;53;55;31", Look("red")),
    ("31;42", Look("red", "green")),
    ("97;100", Look("bright_white", "bright_black")),
    ("31;42;39;49;1", Look(attributes=("bold",))),
    ("38;5;196;48;5;3", Look("#ff0000", "yellow")),
    ("38:5:232", Look("#080808")),
    ("38;2;1;2;3", Look("#010203")),
    ("48:2::255:0:128", Look(None, "#ff0080")),
    ("48:2:255:0:128", Look(None, "#ff0080")),
    ("58;5;9;1", Look(attributes=("bold",))),
    ("7;0;4", Look(attributes=("underline",))),
]  # fmt: skip


@pytest.mark.requirement("host:emulation:looks")
@pytest.mark.parametrize(("parameters", "look"), LOOKS)
def test_a_look_is_whole(make: Make, parameters: str, look: Look) -> None:
    emulator = make()

    emulator.feed(f"a\x1b[{parameters}mb\x1b[mc".encode())

    spans = emulator.live_rows()[0].spans
    assert spans == (LiveSpan("a", Look()), LiveSpan("b", look), LiveSpan("c", Look()))


def test_links_are_kept_apart_if_they_are_valid(make: Make) -> None:
    emulator = make()

    emulator.feed(
        b"\x1b]8;id=1;https://a.example/\x1b\\one\x1b]8;;mailto:x@b.example\x07two\x1b]8;;\x1b\\ "
        b"\x1b]8;;javascript:x\x07bad\x1b]8;;\x07"
    )

    assert [(span.text, span.look.link) for span in emulator.live_rows()[0].spans] == [
        ("one", "https://a.example/"),
        ("two", "mailto:x@b.example"),
        (" bad", None),
    ]


def test_what_is_erased_has_the_background_of_the_pen_and_nothing_else(make: Make) -> None:
    emulator = make(6, 3)

    emulator.feed(b"abcdef\r\x1b[2C\x1b[1;4;44m\x1b[K\x1b[2;1H\x1b[48;2;1;2;3m\x1b[2X\x1b[m")

    first, second, _ = emulator.live_rows()
    assert first.spans == (LiveSpan("ab", Look()), LiveSpan("    ", Look(None, "blue")))
    assert second.spans == (LiveSpan("  ", Look(None, "#010203")),)


@pytest.mark.requirement("host:emulation:same-object")
def test_a_row_that_did_not_change_is_the_same_object(make: Make) -> None:
    emulator = make()
    emulator.feed(b"one\r\ntwo\r\nthree")
    before = emulator.live_rows()
    assert emulator.live_rows() is before

    emulator.feed(b"\x1b[2;1HTWO")
    after = emulator.live_rows()

    assert [new is old for new, old in zip(after, before, strict=True)] == [
        True, False, True, True, True,
    ]  # fmt: skip
    emulator.feed(b"\x1b[H\x1b[3C\x1b[?25l")
    assert emulator.live_rows() is after
    emulator.feed(b"\x1b[5;1H\n")
    assert emulator.live_rows()[:2] == after[1:3]
    assert all(new is old for new, old in zip(emulator.live_rows()[:2], after[1:3], strict=True))


def test_rows_in_use_end_at_the_last_row_or_the_cursor(make: Make) -> None:
    emulator = make()
    assert emulator.rows_in_use() == 1

    emulator.feed(b"\x1b[3;1Hx\x1b[H")
    assert emulator.rows_in_use() == 3

    emulator.feed(b"\x1b[2J\x1b[4;2H")
    assert emulator.rows_in_use() == 4


def test_ambiguous_characters_get_a_stand_in_where_they_would_be_too_wide(make: Make) -> None:
    emulator = make(ambiguous_width=2)

    emulator.feed("┌──┐ é ×".encode())

    text = text_of(emulator.live_rows()[0])
    assert text[:5] == "+--+ "
    assert width(text, ambiguous_width=2) == 8


# --- what leaves


@pytest.mark.requirement("host:emulation:scrolled")
def test_rows_leave_at_the_top_in_order_and_once(make: Make) -> None:
    emulator = make(20, 3)

    emulator.feed(b"".join(b"%d\r\n" % number for number in range(2_000)))

    assert left(emulator) == [str(number) for number in range(1_998)]
    assert left(emulator) == []
    assert shown(emulator) == ["1998", "1999", ""]


@pytest.mark.exhaustive
@pytest.mark.requirement("host:emulation:scrolled")
def test_all_of_a_long_output_is_there_whatever_the_pieces_are(make: Make) -> None:
    emulator = make(40, 10)
    data = "".join(f"\x1b[3{number % 8}m{number} 中\x1b[m\r\n" for number in range(9_000)).encode()

    rows = []
    for start in range(0, len(data), 16_383):
        emulator.feed(data[start : start + 16_383])
        rows += left(emulator)

    assert rows == [f"{number} 中" for number in range(8_991)]


def test_a_character_that_is_cut_between_rows_that_leave_loses_none(make: Make) -> None:
    emulator = make(4, 2)

    emulator.feed(b"a\r\nb\r\nc\r\n1234\xe4\xb8")
    assert left(emulator) == ["a", "b"]
    emulator.feed(b"\xad")
    assert left(emulator) == ["c"]
    emulator.feed(b"\r\nd\xe4")
    emulator.feed(b"\xb8")
    emulator.feed(b"\xad\r\n")

    assert left(emulator) == ["1234", "中"]


REGIONS: Final = [
    # region, what scrolls,          what leaves
    (b"1;3", b"\x1b[3;1H\n", ["r0"]),
    (b"1;3", b"\x1b[S", ["r0"]),
    (b"1;3", b"\x1b[2S", ["r0", "r1"]),
    (b"1;3", b"\x1b[3;1H\x1bD", ["r0"]),
    (b"", b"\x1b[2S", ["r0", "r1"]),
    (b"2;3", b"\x1b[3;1H\n\n", []),
    (b"2;3", b"\x1b[S", []),
    (b"", b"\x1b[H\x1b[2M", []),
    (b"", b"\x1b[H\x1bM", []),
    (b"", b"\x1b[T", []),
    (b"", b"\x1b[2J", []),
]


@pytest.mark.requirement("host:emulation:regions")
@pytest.mark.parametrize(("region", "scrolls", "gone"), REGIONS)
def test_a_row_leaves_from_a_region_at_the_top_only(
    make: Make, region: bytes, scrolls: bytes, gone: list[str]
) -> None:
    """Reported of several emulators: it depended on which sequence scrolled it."""
    emulator = make(20, 5)
    emulator.feed(b"r0\r\nr1\r\nr2\r\nr3\r\nr4")

    emulator.feed(b"\x1b[%br" % region + scrolls)

    assert left(emulator) == gone


@pytest.mark.requirement("host:emulation:alternate")
def test_nothing_leaves_the_alternate_screen_and_the_primary_one_comes_back(make: Make) -> None:
    emulator = make(20, 3)

    emulator.feed(b"a\r\nb\r\nc\r\nd\x1b[?1049h\x1b[Hvim\r\n1\r\n2\r\n3\r\n")

    assert left(emulator) == ["a"]
    assert is_alternate(emulator)
    assert shown(emulator) == ["2", "3", ""]
    assert emulator.take_top(2) == []
    emulator.end_row()
    assert emulator.cursor[:2] == (0, 2)

    emulator.feed(b"\x1b[?1049l")
    assert not is_alternate(emulator)
    assert left(emulator) == []
    assert shown(emulator) == ["b", "c", "d"]
    assert emulator.cursor[:2] == (1, 2)


@pytest.mark.requirement("host:emulation:scrolled")
@pytest.mark.parametrize("forgets", [b"\x1bc", b"\x1b[3J", b"\x1b[?1049h", b"\x1b[?47h"])
def test_what_scrolled_just_before_is_not_forgotten(make: Make, forgets: bytes) -> None:
    emulator = make(20, 3)

    emulator.feed(b"".join(b"%d\r\n" % number for number in range(10)) + forgets)

    assert left(emulator) == [str(number) for number in range(8)]


def test_a_reset_clears_the_screen_and_the_modes(make: Make) -> None:
    emulator = make()
    emulator.feed(b"text\x1b[?1h\x1b[?2004h\x1b[4 q\x1b[31m\x1b[2;3r")

    emulator.feed(b"\x1bcx")

    assert shown(emulator) == ["x"]
    assert emulator.live_rows()[0].spans[0].look == Look()
    assert emulator.modes == make().modes
    assert emulator.cursor == Cursor(1, 0, is_visible=True, shape=0)


# --- the host's own moves


@pytest.mark.requirement("host:emulation:take-top")
def test_rows_are_taken_from_the_top_and_the_rest_moves_up(make: Make) -> None:
    emulator = make()
    emulator.feed(b"a\r\n\x1b[31mb\x1b[m\r\nc\r\nd")
    before = emulator.live_rows()

    rows = emulator.take_top(2)

    assert rows == [to_ordinary(row) for row in before[:2]]
    assert shown(emulator) == ["c", "d"]
    assert emulator.cursor[:2] == (1, 1)
    assert emulator.take_scrolled() == []
    emulator.feed(b"!\r\ne\r\nf\r\ng\r\nh")
    assert left(emulator) == ["c"]
    assert emulator.take_top(0) == []
    assert len(emulator.take_top(99)) == 5
    assert shown(emulator) == [""] or emulator.rows_in_use() == 1


@pytest.mark.requirement("host:emulation:undisturbed")
@pytest.mark.parametrize("move", [lambda it: it.take_top(1), lambda it: it.end_row()])
def test_the_hosts_moves_change_nothing_else_for_the_program(
    make: Make, move: Callable[[Emulator], object]
) -> None:
    emulator = make(20, 5)
    emulator.feed(b"a\r\nb\x1b[1;4;31m\x1b[2;4r\x1b[3;1H\x1b7\x1b[?6h\x1b[2;1H")

    move(emulator)

    # Pen, region, origin mode and the saved cursor are the program's.
    emulator.feed(b"\x1b[H!")
    assert emulator.cursor[:2] == (1, 1)
    span = emulator.live_rows()[1].spans[0]
    assert span == LiveSpan("!", Look("red", None, ("bold", "underline")))
    emulator.feed(b"\x1b[?6l\x1b[4;1H\n\x1b8")
    assert emulator.cursor[:2] == (0, 2)
    assert emulator.take_scrolled() == []


def test_a_row_is_ended_where_the_cursor_is(make: Make) -> None:
    emulator = make(5, 3)

    emulator.feed(b"12345")
    emulator.end_row()
    assert emulator.cursor[:2] == (0, 1)
    assert not emulator.live_rows()[0].is_wrapped

    emulator.feed(b"x\r\nlast")
    emulator.end_row()
    assert shown(emulator) == ["x", "last", ""]
    assert left(emulator) == ["12345"]


@pytest.mark.requirement("host:emulation:undisturbed")
@pytest.mark.parametrize("begun", [b"\xe4\xb8", b"\x1b[3"])
def test_the_hosts_moves_are_safe_amid_a_sequence(make: Make, begun: bytes) -> None:
    emulator = make()
    emulator.feed(b"a\r\nb\r\n" + begun)

    assert [text_of(row) for row in emulator.take_top(1)] == ["a"]
    emulator.end_row()
    emulator.resize(30, 6)

    assert "b" in shown(emulator)


# --- size


@pytest.mark.situation("T53")
@pytest.mark.requirement("host:emulation:resize")
def test_a_resize_and_back_loses_nothing(make: Make) -> None:
    """Reported of pyte: what was beyond the narrower window was gone for good."""
    emulator = make(80, 6)
    lines = [f"{number} " + "word " * (number % 30) for number in range(40)]
    emulator.feed("\r\n".join(line.rstrip() for line in lines).encode())
    history = emulator.take_scrolled()

    for columns in (40, 80, 13, 80):
        emulator.resize(columns, 6)
        history += emulator.take_scrolled()

    # What scrolled off while the window was narrow stays as it was broken; joined, it is all there.
    joined = "".join(everything(emulator, history)).replace(" ", "")
    assert joined == "".join(lines).replace(" ", "")


def test_lines_are_broken_anew(make: Make) -> None:
    emulator = make(20, 6)
    emulator.feed("0123456789abcdefghijklm\r\n中文字\r\n> ".encode())

    emulator.resize(5, 8)
    assert shown(emulator) == ["01234", "56789", "abcde", "fghij", "klm", "中文", "字", ">"]
    assert emulator.cursor[:2] == (2, 7)
    assert left(emulator) == []

    emulator.resize(20, 8)
    assert shown(emulator) == ["0123456789abcdefghij", "klm", "中文字", ">"]
    assert emulator.cursor[:2] == (2, 3)


def test_fewer_rows_send_the_first_ones_away_and_more_bring_none_back(make: Make) -> None:
    emulator = make(20, 5)
    emulator.feed(b"a\r\nb\r\nc\r\nd")

    emulator.resize(20, 2)
    assert left(emulator) == ["a", "b"]
    assert shown(emulator) == ["c", "d"]

    emulator.resize(20, 6)
    assert left(emulator) == []
    assert shown(emulator) == ["c", "d"]
    assert len(emulator.live_rows()) == 6


def test_a_resize_on_the_alternate_screen_keeps_the_primary_one(make: Make) -> None:
    emulator = make(20, 4)
    emulator.feed(b"0123456789\r\n> \x1b[?1049h\x1b[2J\x1b[Hvim with a long row")

    emulator.resize(8, 3)
    assert shown(emulator)[0] == "vim with"[:8]

    emulator.feed(b"\x1b[?1049l")
    assert everything(emulator, emulator.take_scrolled())[:2] in (
        ["0123456789", ">"],
        ["0123456789", "> "],
    )


def test_the_same_size_again_changes_nothing(make: Make) -> None:
    emulator = make(20, 4)
    emulator.feed(b"\x1b[2;3rtext")
    before = emulator.live_rows()

    emulator.resize(20, 4)

    assert emulator.live_rows() is before


def test_a_resize_on_the_other_alternate_screen_keeps_the_primary_one(make: Make) -> None:
    emulator = make(20, 4)
    emulator.feed(b"0123456789\x1b[?47h\x1b[2J\x1b[Hother")

    emulator.resize(5, 4)
    emulator.feed(b"\x1b[?47l")

    assert everything(emulator, emulator.take_scrolled()) == ["0123456789"]


@pytest.mark.parametrize("size", [(1, 1), (1, 5), (300, 1)])
def test_the_smallest_windows_are_safe(make: Make, size: tuple[int, int]) -> None:
    emulator = make(10, 4)
    emulator.feed("ab中\r\nsome text 👨\u200d👩\u200d👧".encode())

    emulator.resize(*size)
    emulator.feed("x中y\r\n\x1b[2J\x1b[5;5Hz".encode())
    emulator.end_row()
    emulator.take_top(1)

    assert len(emulator.live_rows()) == size[1]
    emulator.resize(10, 4)
    assert len(emulator.live_rows()) == 4


@pytest.mark.requirement("host:emulation:scrolled")
@pytest.mark.parametrize("half", [b"\xf0", b"\xe6\x97", b"\x1b[3", b"\x1b"])
@pytest.mark.parametrize(
    "switch", [b"\x1b[?1049h", b"\x1b[?47h", b"\x1b[?25;1049h", b"\x1b[?1047;25h"]
)
def test_the_alternate_screen_amid_something_half_written_loses_no_row(
    make: Make, half: bytes, switch: bytes
) -> None:
    emulator = make(10, 3)
    emulator.feed(b"".join(b"%d\r\n" % number for number in range(6)) + half)

    emulator.feed(switch + b"\x1b[Hx")
    emulator.feed(b"y" * 40)
    assert left(emulator) == ["0", "1", "2", "3"]
    emulator.resize(9, 3)
    emulator.feed(switch.replace(b"h", b"l") + b"\x1b[3;1H\r\n")

    assert left(emulator) == ["4"]


@pytest.mark.requirement("host:emulation:resize")
@pytest.mark.parametrize("size", [(20, 5), (20, 1), (6, 3), (6, 10)])
def test_a_place_saved_further_down_does_not_push_rows_out(
    make: Make, size: tuple[int, int]
) -> None:
    emulator = make(20, 10)
    emulator.feed(b"a\r\nb\r\nc\r\nd\r\ne\r\nf\r\n\x1b[?1049hx\x1b[?1049l\x1b[H\x1b[J$ ma")

    emulator.resize(*size)
    emulator.feed(b"ke")

    assert left(emulator) == []
    assert shown(emulator) == ["$ make"]


# --- modes, cursor, replies

MODES: Final = [
    (b"\x1b[?1h", "application_cursor", True),
    (b"\x1b=", "application_keypad", True),
    (b"\x1b=\x1b>", "application_keypad", False),
    (b"\x1b[?2004h", "bracketed_paste", True),
    (b"\x1b[?1004h", "focus_events", True),
    (b"\x1b[?1000h", "mouse", "press"),
    (b"\x1b[?1000;1002h", "mouse", "drag"),
    (b"\x1b[?1003h", "mouse", "any"),
    (b"\x1b[?1003h\x1b[?1003l", "mouse", "off"),
    (b"\x1b[?1006h", "mouse_sgr", True),
    (b"\x1b[?1007l", "alternate_scroll", False),
    (b"\x1b[?2026h", "synchronized", True),
    (b"\x1b[?2026h\x1b[?2026l", "synchronized", False),
    (b"\x1b[?47h", "is_alternate", True),
    (b"\x1b[?1047h\x1b[?1047l", "is_alternate", False),
]


@pytest.mark.requirement("host:emulation:modes")
@pytest.mark.parametrize(("written", "name", "value"), MODES)
def test_what_a_program_asks_for_is_known(
    make: Make, written: bytes, name: str, value: Any
) -> None:
    emulator = make()
    at_start = ProgramModes(alternate_scroll=True)
    assert emulator.modes == at_start

    emulator.feed(written)

    assert emulator.modes == at_start._replace(**{name: value})


def test_a_new_size_ends_an_update(make: Make) -> None:
    emulator = make()
    emulator.feed(b"\x1b[?2026h")

    emulator.resize(30, 5)

    assert not emulator.modes.synchronized


def test_the_cursor_has_a_shape_and_can_be_hidden(make: Make) -> None:
    emulator = make()
    assert emulator.cursor == Cursor(0, 0, is_visible=True, shape=0)

    for shape in range(7):
        emulator.feed(b"\x1b[%d q" % shape)
        assert emulator.cursor.shape == shape
    emulator.feed(b"\x1b[?25l")

    assert not emulator.cursor.is_visible


REPLIES: Final = [
    (b"\x1b[6n", b"\x1b[1;4R"),
    (b"\x1b[5n", b"\x1b[0n"),
    (b"\x1b[c", b"\x1b[?62;22c"),
    (b"\x1b[>c", b"\x1b[>1;0;0c"),
    (b"\x1b[?2004$p", b"\x1b[?2004;2$y"),
    (b"\x1b[?25$p", b"\x1b[?25;1$y"),
    (b"\x1b[?2026$p", b"\x1b[?2026;2$y"),
    (b"\x1b[?9999$p", b"\x1b[?9999;0$y"),
    (b"\x1b[18t", b"\x1b[8;5;20t"),
    (b"\x1b[6n\x1b[5n", b"\x1b[1;4R\x1b[0n"),
    # Never: the kitty keyboard, sizes in pixels, titles, and what repeats a text.
    (b"\x1b[?u", b""),
    (b"\x1b[14t", b""),
    (b"\x1b[21t", b""),
    (b"\x1b[>q", b""),
    (b"\x1bP$qm\x1b\\", b""),
    (b"\x05", b""),
]


@pytest.mark.requirement("host:emulation:replies")
@pytest.mark.parametrize(("asked", "answer"), REPLIES)
def test_only_harmless_questions_are_answered(make: Make, asked: bytes, answer: bytes) -> None:
    emulator = make()
    emulator.feed(b"abc")

    assert emulator.feed(asked) == answer
    assert shown(emulator) == ["abc"]


# --- both alike

PARITY: Final = [
    b"abc\x1b[2D\x1b[@x\x1b[2P\x1b[3Gy\x1b[2`z\x1b[aq",
    b"a\r\nb\r\nc\x1b[2A\x1b[Bx\x1b[Ey\x1b[Fz\x1b[3dw\x1b[ev",
    b"a\r\nb\r\nc\x1b[2;1H\x1b[L-\x1b[1;1H\x1b[M",
    b"one\x1b[3;4fx\x1b[1J\x1b[1Ky",
    b"\tx\x1b[Iy\x1b[2Zz",
    b"\x1b[3;5H\x1bH\x1b[3g\x1b[3;3H\x1bH\r\tx\x1b[3;3H\x1b[0g\r\ty",
    b"ab\x1b[3bc",
    "中\x1b[2b".encode(),
    b"a\r\nb\x1b[T\x1b[1;1Hx\x1bMy\x1bDz\x1bEw",
    b"\x1b(0lqk\x1b(Bx\x0e\x1b)0q\x0fq",
    b"\x1b#8\x1b[2;3H\x1b[J",
    b"\x1b[31;1;4mabc\r\n\x1b[2;3r\x1b#8x\n\n\n",
    b"abc\x1b7\x1b[1;31m\x1b[5;5Hx\x1b8y",
    b"\x1b[3;3H\x1b[sx\x1b[H\x1b[uy",
    b"\x1b[2;4r\x1b[?6h\x1b[2;2Hx\x1b[6n",
    b"abc\r\x1b[4hx\x1b[4ly",
    b"\x1b[20ha\nb\x1b[20lc\nd",
    b"\x1b[?7l0123456789abcdefghijKLM\x1b[?7hx",
    b"0123456789abcdefghij\x1b[Dx",
    b"0123456789abcdefghijk\x1b[1;20H\x1b[K",
    b"0123456789abcdefghijk\x1b[1;1H\x1b[2K",
    b"\x1b[?1048h\x1b[3;3Hx\x1b[?1048ly",
    b"a\x1b[?1047hb\x1b[?1047lc\x1b[?1047l",
    b"a\x1b[?1049hb\x1b[?1049hc",
    b"x\x1bc\x1b8y",
    b"\x1b[4$p\x1b[20$p\x1b[99$p\x1b[0c\x1bZ\x1b[7n\x1b[19t",
    b"\x1b[1;99999999999Hx\x1b[109;38m!",
    b"\x1b[44m\x1b[5;1H\nx\x1b[2J",
    b"a\x1b[zb\x1b#3c\x1b%Gd\x1b Fe\x00f\x01g",
    b"\x1b[9 qx\x1b[2 q",
    b"\xe4x\xff\xf0\x9f\x98y",
    b"\x1b[r\x1b[1;5r\x1b[3;2rx",
    "\u0301x\r\n\u200dy".encode(),
    "\x1b[1;20H中x".encode(),
]


@pytest.mark.requirement("host:emulation:rows")
@pytest.mark.parametrize("written", PARITY)
def test_both_emulators_show_the_same(written: bytes) -> None:
    pictures = []
    for name in NAMES:
        emulator = best_emulator(20, 5, name=name)
        replies = emulator.feed(written)
        pictures.append(
            (
                shown(emulator),
                [row.is_wrapped for row in emulator.live_rows()],
                [row.spans for row in emulator.live_rows()],
                emulator.cursor,
                emulator.is_wrap_pending,
                emulator.modes,
                left(emulator),
                replies,
            )
        )

    assert pictures[0] == pictures[1]


def test_a_soft_reset_puts_pen_and_modes_back() -> None:
    """The native library does not know it yet."""
    emulator = best_emulator(20, 5, name="pyte")

    emulator.feed(b"\x1b[2;3r\x1b[4h\x1b[31m\x1b[?25l\x1b[?7l\x1b=ab\x1b[!p\rx\x1b[5;1H\n")

    assert left(emulator) == ["xb"]
    assert emulator.cursor.is_visible
    assert emulator.modes == ProgramModes(alternate_scroll=True)


def test_what_the_fallback_does_not_know_is_dropped() -> None:
    emulator = best_emulator(20, 5, name="pyte")

    assert emulator.feed(b"a\x1b\xc3\xa9b\x1b[1c\x1b[>1c") == b""

    assert shown(emulator) == ["aéb"]


def test_colours_that_there_are_not_change_nothing() -> None:
    emulator = best_emulator(20, 5, name="pyte")

    emulator.feed(b"\x1b[38;5;256m\x1b[48;2;1;2;999m\x1b[38;9m\x1b[38m\x1b[38;5;12345678901mx")

    assert emulator.live_rows()[0].spans == (LiveSpan("x", Look()),)


UNSEEN: Final = ("a\u202eb", "a\x7fb", "a\u200bb", "a\ufeffb", "a\u2066b\u2069")


@pytest.mark.requirement("host:emulation:exact-cells")
@pytest.mark.parametrize("written", UNSEEN)
def test_no_row_holds_what_acts_without_being_seen(make: Make, written: str) -> None:
    emulator = make()

    emulator.feed(written.encode())

    assert text_of(emulator.live_rows()[0]).replace("?", "") in {"ab", "a b"}
    assert width(text_of(emulator.live_rows()[0])) == emulator.cursor.column


# --- anything

PIECES: Final = st.lists(
    st.one_of(
        st.sampled_from(
            [b"\r\n", b"\n", b"\r", b"\t", b"\b", b"\x1b[K", b"\x1b[J", b"\x1b[2J", b"\x1b[H", b"\x1b[3;2H",
             b"\x1b[1;3r", b"\x1b[r", b"\x1b[S", b"\x1b[2T", b"\x1b[L", b"\x1b[2M", b"\x1b[3P", b"\x1b[2@",
             b"\x1b[4h", b"\x1b[4l", b"\x1b[?7l", b"\x1b[?7h", b"\x1b[?6h", b"\x1b[?1049h", b"\x1b[?1049l",
             b"\x1b7", b"\x1b8", b"\x1bM", b"\x1bD", b"\x1bE", b"\x1b(0", b"\x1b(B", b"\x1bc", b"\x1b[3b",
             b"\x1b[1;31m", b"\x1b[44m", b"\x1b[m", b"\x1b[!p", b"\x1b#8", b"\x1b[99;99;99;99H", b"\x1b[?5A",
             b"\x1b[1;2;3;4;5;6;7K", b"\x1b[9999999999b", b"\x1b[2I", b"\x1b[2Z", b"\x1bH", b"\x1b[g",
             b"\x1b[?5h", b"\x1b[?5l", b"\xff\xc3", b"\x1b", b"\x1b[", b"\x1b[2X", b"\x1b[1K", b"\x1b[1J"]
        ),
        st.text("ab 中é─\u0301\u200d👩🇩🇪", max_size=12).map(str.encode),
    ),
    max_size=25,
)  # fmt: skip


@pytest.mark.requirement("host:emulation:exact-cells")
@pytest.mark.parametrize("name", NAMES)
@given(pieces=PIECES, size=st.tuples(st.integers(1, 12), st.integers(1, 6)))
@example(pieces=[*[b"\r\n"] * 10, b"\x1b[?1049h", "中".encode()], size=(1, 1))
def test_no_program_makes_a_row_wider_than_the_window(
    name: EmulatorName, pieces: list[bytes], size: tuple[int, int]
) -> None:
    emulator = best_emulator(8, 4, name=name)

    for number, piece in enumerate(pieces):
        emulator.feed(piece)
        if number % 5 == 2:
            emulator.take_top(1)
        if number % 7 == 3:
            emulator.end_row()
        if number == 10:
            emulator.resize(*size)

    rows = emulator.live_rows()
    column, row, *_ = emulator.cursor
    assert len(rows) == emulator.rows
    assert 0 <= column < emulator.columns
    assert 0 <= row < emulator.rows
    assert row < emulator.rows_in_use() <= emulator.rows
    for live in rows:
        assert width(text_of(live)) == sum(width(span.text) for span in live.spans)
        assert width(text_of(live)) <= emulator.columns
        assert all(span.text for span in live.spans)
        looks = [span.look for span in live.spans]
        assert all(one != other for one, other in pairwise(looks))
