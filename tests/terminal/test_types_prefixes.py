"""Prefixes give way to text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.jsontext import Json
from blockwire.terminal.content import Span, Style
from blockwire.terminal.types import CONTENT_TYPES, fit_prefix, read_fragment
from blockwire.terminal.vocabulary import LINES
from blockwire.text import cut, label_controls, width
from tests.text.texts import lines

RED = Style(foreground="red")

# prefix, columns of the row, what is drawn
ROWS = [
    ((), 80, ""),
    (("• ",), 80, "• "),
    (("x" * 41,), 80, "x" * 40),
    (("x" * 40,), 80, "x" * 40),
    (("123456",), 14, "123456"),
    (("123456",), 13, "12345"),
    (("12", "34", "56"), 11, "123"),
    (("12", "34"), 8, ""),
    (("12", "34"), 1, ""),
    (("漢字", "漢"), 11, "漢"),
    (("a\u0301", "e\u0301"), 9, "a\u0301"),
    (("\u202e",), 80, "<U+202E>"),
    (("\u202e",), 16, "<U+202E>"),
    (("\u202e",), 12, "<U+2"),
]


@pytest.mark.parametrize(("prefix", "columns", "drawn"), ROWS)
@pytest.mark.requirement("terminal:lines:prefix-gives-way")
def test_a_prefix_leaves_eight_columns_and_half_of_them(
    prefix: tuple[str, ...], columns: int, drawn: str
) -> None:
    spans = fit_prefix([Span(text=text, style=RED) for text in prefix], columns)
    assert "".join(span.text for span in spans) == drawn
    assert all(span.style == RED for span in spans)


@given(st.lists(lines().map(lambda text: text[:20]), max_size=3), st.integers(1, 100))
@pytest.mark.requirement("terminal:lines:prefix-gives-way")
def test_whatever_a_prefix_is_there_is_room_for_text(texts: list[str], columns: int) -> None:
    spans = fit_prefix([Span(text=text) for text in texts], columns)
    drawn, whole = "".join(span.text for span in spans), label_controls("".join(texts))
    room = min(columns - 8, columns // 2)
    assert width(drawn) <= max(room, 0)
    assert drawn == whole if width(whole) <= room else drawn == cut(whole, max(room, 0))


@pytest.mark.requirement("terminal:lines:decoration")
def test_prefixes_and_fill_are_not_in_the_text() -> None:
    layout: Json = {"first_prefix": [{"text": "> "}], "fill": {"background": "red"}}
    data = read_fragment([{"spans": [], "layout": layout}] * 2, is_empty_allowed=False)
    content = CONTENT_TYPES[LINES].new_content(data)
    assert (content.text(), content.scalar_count) == ("\n", 1)
    assert [line.spans for line in content.lines()] == [(), ()]
