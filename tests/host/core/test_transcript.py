"""The rows that stay on the main screen when the host has gone."""

from __future__ import annotations

import pytest

from blockwire.terminal import Layout, Line, Span, Style
from tests.host.core.windows import Window


@pytest.mark.requirement("host:transcript:once")
def test_every_row_is_there_once_in_order_and_in_the_width_of_the_window() -> None:
    window = Window(10, 4).open().output("$ ask\n").append("one", "words that wrap")
    window.output("".join(f"{number}\n" for number in range(10)), "$ ").keys("shift-home")

    assert window.transcript() == [
        "$ ask", "words that", "wrap", *map(str, range(10)), "$",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("last_rows", "rows"), [(2, ["8", "9"]), (0, []), (-1, []), (99, [str(n) for n in range(10)])]
)
def test_the_last_rows_are_enough_for_some(last_rows: int, rows: list[str]) -> None:
    window = Window(10, 4).output("".join(f"{number}\n" for number in range(10)))

    assert window.transcript(last_rows) == rows


def test_nothing_is_nothing() -> None:
    assert Window().transcript() == []
    assert Window.swallowing().transcript() == []


def test_rows_are_styled_and_end_plain_without_unseen_blanks() -> None:
    window = Window(20, 4).output("\x1b[1;31mred\x1b[m  \x1b[44m  \x1b[m\n\nplain   \n\n")

    assert window.transcript() == ["\x1b[1;31mred\x1b[m  \x1b[44m  \x1b[m", "", "plain"]
    assert Window(20, 4, colours="none").output("\x1b[31mred").transcript() == ["red"]


def test_nothing_that_a_block_holds_acts() -> None:
    window = Window(60, 6).open().append("evil", "a\x1b]52;c;aGk=\x07b\x9b2J\x1b[3Jc\u202e")
    window.append("lines", (Line(spans=(Span(text="x", style=Style(link="https://a.b")),)),))

    text = "".join(window.transcript())

    assert "\x1b" not in text.replace("\x1b[m", "")
    assert text.isprintable()


def test_blanks_of_a_fill_are_kept() -> None:
    layout = Layout(fill=Style(background="blue"))
    window = Window(6, 4).open().append("one", (Line(spans=(Span(text="x"),), layout=layout),))

    assert window.transcript() == ["\x1b[44mx\x1b[m\x1b[44m     \x1b[m"]
