"""Frames painted on a terminal that is none of ours show what they should, whatever came before."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.host.emulator import Cursor, LiveSpan, Look
from blockwire.host.painter import Frame, Painter, PaintRow
from tests.host.painting.outer import Outer, assert_harmless, row
from tests.suites import suite_json

RED: Final = Look("red")
LOOKS: Final = st.sampled_from(
    [
        Look(),
        RED,
        Look("#aabbcc", "#001122", ("bold",)),
        Look(None, "blue", ("inverse", "italic")),
        Look("red", None, ("strikethrough", "underline"), "https://a.example/?q=1;2"),
    ]
)
TEXTS: Final = st.lists(
    st.sampled_from(
        ["a", "b", "word", " ", "   ", "日", "本語", "e\u0301", "─", "각", "⚠\ufe0f", "👍🏽", "🇩🇪",
         "👩\u200d👩\u200d👧", "กำ", "क्षि", "1\ufe0f\u20e3"]
    ),
    max_size=5,
).map("".join)  # fmt: skip
ROWS: Final = st.lists(st.builds(LiveSpan, TEXTS, LOOKS), max_size=3).map(tuple)
SIZES: Final = st.tuples(st.integers(1, 12), st.integers(1, 6))
STEPS: Final = st.one_of(
    st.tuples(st.just("row"), st.integers(0, 99), ROWS),
    st.tuples(st.just("scroll"), st.integers(-5, 5), st.lists(ROWS, min_size=5, max_size=5)),
    st.tuples(st.just("resize"), SIZES),
    st.tuples(st.just("forget")),
    st.tuples(st.just("cursor"), st.none() | st.builds(
        Cursor, st.integers(0, 11), st.integers(0, 5), st.booleans(), st.integers(0, 6))),
)  # fmt: skip


class Play:
    """A painter, the terminal it paints on, and the rows that are to be seen."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.painter = Painter(columns, rows)
        self.outer = Outer(columns, rows)
        self.content: list[PaintRow] = [()] * rows
        self.cursor: Cursor | None = None

    def frame(self) -> Frame:
        cursor = self.cursor
        if cursor is not None:
            row, column = min(cursor.row, self.rows - 1), min(cursor.column, self.columns - 1)
            cursor = cursor._replace(row=row, column=column)
        return Frame(tuple(self.content), cursor)

    def do(self, kind: str, *args: Any) -> None:
        match kind:
            case "row":
                self.content[args[0] % self.rows] = args[1]
            case "scroll":
                # All rows but the last, which is a status line.
                *body, last = self.content
                count, new = args
                body = [*body, *new][count:] if count >= 0 else [*new[:-count], *body]
                body = [*body, *[()] * self.rows][: self.rows - 1]
                self.content = [*body, last]
            case "resize":
                self.columns, self.rows = args[0]
                self.content = [*self.content, *[()] * self.rows][: self.rows]
                self.outer.resize(*args[0])
                self.painter.resize(*args[0])
            case "forget":
                self.outer.feed_anything(b"\x1b[2J\x1b[2;4r\x1b[31;44mgarbage\r\n\x1b[?25h")
                self.painter.forget()
            case _:
                self.cursor = args[0]

    def paint(self) -> bytes:
        data = self.painter.paint(self.frame())
        self.outer.feed(data)
        return data


@pytest.mark.requirement("host:drawing:shown", "host:drawing:idle", "host:drawing:no-erase")
@given(SIZES, st.lists(ROWS, max_size=6), st.lists(st.lists(STEPS, max_size=2), max_size=4))
def test_whatever_was_painted_before_the_terminal_shows_the_frame(
    size: tuple[int, int], content: list[PaintRow], steps: list[list[tuple[Any, ...]]]
) -> None:
    play = Play(*size)
    play.content = [*content, *[()] * play.rows][: play.rows]
    play.paint()
    play.outer.assert_shows(play.frame())

    for together in steps:
        for step in together:
            play.do(*step)
        play.paint()

        play.outer.assert_shows(play.frame())
        assert play.painter.paint(play.frame()) == b""


@pytest.mark.requirement("host:drawing:harmless")
@given(st.lists(st.text(max_size=40), min_size=2, max_size=2), st.text(max_size=60))
def test_nothing_that_a_row_holds_can_act(texts: list[str], link: str) -> None:
    painter = Painter(30, 3)
    for text in texts:
        spans = row((text, Look(link=link)))

        data = painter.paint(Frame((spans, spans, row(text))))

        assert_harmless(data)


@pytest.mark.requirement("host:drawing:harmless")
@pytest.mark.situation("T71")
def test_no_payload_acts_be_it_in_a_text_or_in_a_link() -> None:
    for case in suite_json("terminal/payloads.json")["cases"]:
        payload = case["payload"]
        painter = Painter(200, 2)

        data = painter.paint(Frame((row(payload), row(("x", Look(link=payload))))))

        assert_harmless(data)
