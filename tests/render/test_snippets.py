"""Hits of a search as rows."""

from hypothesis import given
from hypothesis import strategies as st

from blockwire.render import Row, TerminalLook, encode_row, row_width, snippet_rows

LOOK = TerminalLook(columns=30)


def shown(rows: list[Row], look: TerminalLook = LOOK) -> list[str]:
    return [encode_row(row, look._replace(escapes=False)) for row in rows]


def hit(
    text: str, *matches: tuple[int, int], is_cut: tuple[bool, bool] = (False, False)
) -> list[Row]:
    return snippet_rows(
        text, matches, LOOK, title="Walks", caption="today  user", place="show x", is_cut=is_cut
    )


def test_a_hit_has_a_title_a_snippet_and_a_place() -> None:
    assert shown(hit("in the garden", (7, 13))) == [
        "Walks  today  user",
        "  in the garden",
        "  show x",
    ]
    styled = "".join(encode_row(row, LOOK) for row in hit("in the garden", (7, 13)))
    assert "\x1b[0;1;4;33mgarden\x1b[0m" in styled


def test_a_cut_is_marked_and_breaks_are_blanks() -> None:
    rows = shown(hit("one\ntwo\tthree\x07", (4, 7), is_cut=(True, True)))
    assert rows[1:-1] == ["  \u2026one two three\u2407\u2026"]


def test_long_snippets_are_wrapped_and_places_are_not() -> None:
    rows = snippet_rows(
        "word " * 20,
        [],
        LOOK,
        title="t",
        caption="c",
        place="show " + "x" * 50,
        is_cut=(False, False),
    )
    assert all(row_width(row, LOOK) <= LOOK.columns for row in rows[:-1])
    assert len(rows) > 4
    assert rows[-1].is_soft


@given(st.text(max_size=40), st.data())
def test_no_input_reaches_the_terminal_as_a_control(text: str, data: st.DataObject) -> None:
    end = data.draw(st.integers(0, len(text)))
    start = data.draw(st.integers(0, end))
    rows = snippet_rows(
        text, [(start, end)], LOOK, title=text, caption=text, place=text, is_cut=(True, False)
    )
    assert not any(char < " " or "\x7f" <= char < "\xa0" for row in shown(rows) for char in row)
