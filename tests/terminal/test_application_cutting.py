"""Joining and cutting content changes what is written, and never what it says."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from blockwire.errors import LocalProtocolError
from blockwire.terminal import cutting
from blockwire.terminal.bounds import MESSAGE_BYTES_MAX
from blockwire.terminal.content import Content, Data, Layout, Line, Span, Style
from blockwire.terminal.cutting import (
    PIECE_BYTES_MAX,
    cut_data,
    join_data,
    json_bytes,
    read_piece,
    read_whole,
)
from blockwire.terminal.types import CONTENT_TYPES
from blockwire.terminal.vocabulary import LINES, PLAIN, STYLED

BOLD = Style(attributes=("bold",))
RED = Style(foreground="red")
CENTER = Layout(align="center")
TEXTS = st.sampled_from(["", "a", "b\tc", "\u4e2d\U0001f468", "\x1b[1m"])
SPANS = st.builds(Span, text=TEXTS, style=st.sampled_from([BOLD, RED]))
PLAIN_SPANS = st.builds(Span, text=TEXTS)
SPAN_LISTS = st.lists(SPANS | PLAIN_SPANS, max_size=4).map(tuple)
LINE_LISTS = st.lists(
    st.builds(Line, spans=SPAN_LISTS, layout=st.sampled_from([CENTER, Layout()]))
    | st.builds(Line, spans=SPAN_LISTS),
    max_size=4,
).map(tuple)
DATA: dict[str, st.SearchStrategy[Data]] = {
    PLAIN: st.text(st.sampled_from("ab\n\r\t\x1b\u4e2d"), max_size=8),
    STYLED: SPAN_LISTS,
    LINES: LINE_LISTS,
}


def content_of(type_name: str, pieces: list[Data]) -> Content:
    content = CONTENT_TYPES[type_name].new_content(pieces[0])
    for piece in pieces[1:]:
        assert content.refuse_extend(piece) is None
        content.extend(piece)
    return content


@pytest.mark.requirement("terminal:application:joined")
@pytest.mark.parametrize("type_name", [PLAIN, STYLED, LINES])
@given(data=st.data())
def test_fragments_that_were_joined_say_what_they_said_one_by_one(
    type_name: str, data: st.DataObject
) -> None:
    content_type = CONTENT_TYPES[type_name]
    start = data.draw(DATA[type_name])
    assume(content_type.refuse_data(start) is None)
    one_by_one = content_type.new_content(start)
    fragments: list[Data] = []
    for fragment in data.draw(st.lists(DATA[type_name], max_size=5)):
        if fragment and one_by_one.refuse_extend(fragment) is None:
            one_by_one.extend(fragment)
            fragments.append(fragment)
    assume(fragments)

    added = content_type.new_content(start)
    joined = join_data(fragments)
    assert added.refuse_extend(joined) is None
    added.extend(joined)
    whole = content_type.new_content(join_data([start, *fragments]))

    assert added.data() == one_by_one.data()
    assert whole.data() == one_by_one.data()


LONG = "\x1b" * 400_000
LONGS: list[tuple[str, Data]] = [
    (PLAIN, LONG),
    (PLAIN, "\u4e2d" * 400_000),
    (STYLED, (Span(text="a"), Span(text=LONG, style=BOLD), Span(text="b"))),
    (STYLED, tuple(Span(text="x" * 90, style=BOLD if it % 2 else RED) for it in range(20_000))),
    (LINES, tuple(Line(spans=(Span(text=f"{it}"),), layout=CENTER) for it in range(40_000))),
    (LINES, (Line(spans=(Span(text=LONG), Span(text=LONG, style=BOLD)), layout=CENTER), Line(spans=()), Line(spans=(Span(text="e"),)))),
]  # fmt: skip


@pytest.mark.requirement("terminal:application:long")
@pytest.mark.parametrize(("type_name", "data"), LONGS)
def test_long_content_is_cut_to_pieces_that_each_fit(type_name: str, data: Data) -> None:
    pieces = cut_data(data)

    assert 1 < len(pieces) <= 12
    assert all(json_bytes(piece) <= PIECE_BYTES_MAX < MESSAGE_BYTES_MAX for piece in pieces)
    content = content_of(type_name, pieces)
    assert content.text() == content_of(type_name, [data]).text()
    assert content.data() == content_of(type_name, [data]).data()


@pytest.mark.parametrize("type_name", [PLAIN, STYLED, LINES])
@settings(max_examples=30)
@given(data=st.data())
def test_cutting_changes_nothing_wherever_the_bound_lies(
    type_name: str, data: st.DataObject
) -> None:
    drawn = data.draw(DATA[type_name])
    assume(CONTENT_TYPES[type_name].refuse_data(drawn) is None)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (
            ("PIECE_BYTES_MAX", data.draw(st.integers(40, 400))),
            ("_TEXT_CHARS_MAX", 2),
            ("_SPAN_CHARS_MAX", 2),
            ("_FRAME_BYTES_MAX", 0),
        ):
            patch.setattr(cutting, name, value)
        pieces = cut_data(drawn)

    assert content_of(type_name, pieces).data() == content_of(type_name, [drawn]).data()
    assert all(pieces[1:]), "a fragment is not empty"


REFUSED: list[tuple[str, object, str]] = [
    ("text/unknown", "x", "unsupported_content_type"),
    (PLAIN, 7, "invalid_message"),
    (PLAIN, [{"text": "x"}], "invalid_message"),
    (STYLED, "x", "invalid_message"),
    (STYLED, [object()], "invalid_message"),
    (STYLED, [Span(text="x", style=Style(foreground="pink"))], "invalid_message"),
    (STYLED, [Span(text="x", style=Style())], "invalid_content"),
    (LINES, [Line(spans=(Span(text="a\nb"),))], "invalid_content"),
]


@pytest.mark.parametrize(("type_name", "value", "code"), REFUSED)
def test_content_that_no_terminal_would_take_is_refused_here(
    type_name: str, value: object, code: str
) -> None:
    with pytest.raises(LocalProtocolError) as refusal:
        read_whole(type_name, value)  # type: ignore[arg-type]  # that is the point

    assert refusal.value.code == code


def test_fragments_of_another_type_and_no_fragments_are_refused_here() -> None:
    with pytest.raises(LocalProtocolError, match="invalid_content"):
        read_piece(PLAIN, [Span(text="x")])
    with pytest.raises(LocalProtocolError, match="invalid_message"):
        read_piece(STYLED, [{"text": 1}])


def test_content_may_be_given_as_json() -> None:
    assert read_whole(STYLED, [{"text": "x", "style": {"attributes": ["bold"]}}]) == (
        Span(text="x", style=BOLD),
    )
    assert read_piece(LINES, [{"spans": []}]) == (Line(spans=()),)


def test_what_no_message_can_carry_is_refused() -> None:
    endless = tuple(Span(text="", style=BOLD) for _ in range(5_000))
    line = Line(spans=(Span(text="a" * 9, style=BOLD),), layout=Layout(first_prefix=endless))

    with pytest.raises(LocalProtocolError, match="content_too_long"):
        json_bytes((line,))
    with pytest.raises(LocalProtocolError, match="invalid_message"):
        json_bytes("\ud800")
    assert json_bytes((Line(spans=(Span(text="a" * 200_000),)),)) > 200_000
    assert json_bytes((Span(text="a" * 200_000),)) > 200_000
