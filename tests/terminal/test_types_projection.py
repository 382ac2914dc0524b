"""What a line shows, what is copied of it and what is found in it are one thing."""

from typing import Any, Final

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from blockwire.terminal.content import Span, Style
from blockwire.terminal.types import CONTENT_TYPES, project_line
from blockwire.terminal.vocabulary import LINES, PLAIN, STYLED
from blockwire.text import AmbiguousWidth, clusters, expand_tabs, label_controls, width
from tests.text.texts import PIECES

FLAG: Final = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
ACTING: Final = (
    *"\t\t\x00\x1b\x7f\x85\x9b\r\n\u202e\u200b\ufeff\xa0\u3000\u2028",
    FLAG,
    FLAG[1:],
    "\U0001f600\U000e0041",
)
TEXTS: Final = st.lists(
    st.sampled_from(ACTING) | st.sampled_from(PIECES) | st.just("\t"), max_size=8
).map("".join)

# text, shown, searchable
SHOWN: Final[list[tuple[str, str, str]]] = [
    ("", "", ""),
    ("plain 漢字", "plain 漢字", "plain 漢字"),
    ("\x1b[31mred", "␛[31mred", "␛[31mred"),
    ("\x00\x07\x7f", "␀␇␡", "␀␇␡"),
    ("a\x85b\x9b", "a<U+0085>b<U+009B>", "a<U+0085>b<U+009B>"),
    ("a\u202eb\u2066", "a<U+202E>b<U+2066>", "a<U+202E>b<U+2066>"),
    ("\U000e0041", "<U+E0041>", "<U+E0041>"),
    (f"{FLAG}\x1b", f"{FLAG}␛", f"{FLAG}␛"),
    ("\t", " " * 8, "\t"),
    ("a\tb", "a       b", "a\tb"),
    ("1234567\tb", "1234567 b", "1234567\tb"),
    ("12345678\tb", "12345678        b", "12345678\tb"),
    ("漢\t\tb", "漢              b", "漢\t\tb"),
    ("\x85\tb", "<U+0085>        b", "<U+0085>\tb"),
    ("\x1b\tb", "␛       b", "␛\tb"),
    ("a\rb\n", "a␍b␊", "a␍b␊"),
]


@pytest.mark.parametrize(("text", "shown", "searchable"), SHOWN)
@pytest.mark.requirement("terminal:plain:labels", "terminal:plain:tab-stops")
@pytest.mark.requirement("terminal:plain:one-projection")
def test_controls_show_as_labels_and_tabs_as_blanks(text: str, shown: str, searchable: str) -> None:
    line = project_line(text)
    assert (line.shown, line.searchable) == (shown, searchable)
    assert line.copy(0, len(shown)) == searchable


def test_tab_stops_depend_on_the_width_of_ambiguous_characters() -> None:
    assert project_line("α\tb", ambiguous_width=1).shown == "α       b"
    assert project_line("α\tb", ambiguous_width=2).shown == "α      b"
    assert project_line("α\tb", ambiguous_width=2).cell_range(1, 2) == (0, 1)


@given(TEXTS, st.sampled_from((1, 2)))
@example("\x1b\t漢", 1)
@pytest.mark.requirement("terminal:plain:one-projection", "terminal:plain:copied-as-label")
def test_labels_and_stops_are_those_of_every_screen(
    text: str, ambiguous_width: AmbiguousWidth
) -> None:
    line = project_line(text, ambiguous_width=ambiguous_width)
    assert line.searchable == label_controls(text, breaks="label")
    assert line.shown == expand_tabs(line.searchable, ambiguous_width=ambiguous_width)
    assert line.copy(0, len(line.shown)) == line.searchable
    assert label_controls(line.shown, breaks="label", tabs="label") == line.shown


@given(TEXTS)
@example("\t\x85\t")
def test_every_scalar_has_its_place_on_the_screen(text: str) -> None:
    line = project_line(text)
    assert line.to_shown(len(text)) == len(line.shown)
    index = 0
    for offset, char in enumerate(text):
        assert line.to_shown(offset) == index
        end = line.to_shown(offset + 1)
        labelled = line.shown[index:end]
        if char == "\t":
            assert labelled == " " * len(labelled)
        elif labelled != char:
            assert labelled == label_controls(char, breaks="label")
        assert {line.to_scalar(inside) for inside in range(index, end)} == {offset}
        index = end
    assert line.to_scalar(len(line.shown)) == len(text)


@given(TEXTS, st.data())
@pytest.mark.requirement("terminal:plain:one-projection")
def test_what_is_found_is_shown(text: str, data: st.DataObject) -> None:
    line = project_line(text)
    start = data.draw(st.integers(0, len(line.searchable)))
    end = data.draw(st.integers(start, len(line.searchable)))
    first, last = line.found_range(start, end)
    shown = line.shown[first:last]
    tabs = line.searchable[start:end].count("\t")
    assert shown.replace(" ", "") == line.searchable[start:end].replace("\t", "").replace(" ", "")
    assert len(shown) >= end - start
    assert bool(tabs) or shown == line.searchable[start:end]


def copied(text: str, start: int, end: int) -> str:
    """Return what is copied, character by character."""
    shown: list[tuple[str, int]] = []
    for offset, char in enumerate(text):
        line = project_line(text)
        piece = line.shown[line.to_shown(offset) : line.to_shown(offset + 1)]
        shown += [(char if char == "\t" else "", len(piece))] + [("", 0)] * (len(piece) - 1)
    line_shown, at, parts = project_line(text).shown, start, []
    while at < end:
        tab, cells = shown[at]
        if tab and at + cells <= end:
            parts.append(tab)
            at += cells
        else:
            parts.append(line_shown[at])
            at += 1
    return "".join(parts)


@given(TEXTS, st.data())
@pytest.mark.requirement("terminal:plain:copied-as-label", "terminal:plain:tab-copied")
@pytest.mark.requirement("terminal:plain:whole-clusters")
def test_a_selection_is_widened_and_copied_without_anything_that_acts(
    text: str, data: st.DataObject
) -> None:
    line = project_line(text)
    assume(line.shown)
    start = data.draw(st.just(0) | st.integers(0, len(line.shown) - 1))
    end = data.draw(st.just(len(line.shown)) | st.integers(start + 1, len(line.shown)))
    first, last = line.widen(start, end)
    edges, at = {0}, 0
    for cluster in clusters(line.shown):
        at += len(cluster)
        edges.add(at)
    assert line.copy(start, start) == ""
    assert first == max(edge for edge in edges if edge <= start)
    assert last == min(edge for edge in edges if edge >= end)
    assert line.copy(start, end) == copied(text, first, last)
    assert label_controls(line.copy(start, end), breaks="label") == line.copy(start, end)


# text, start, end, copied
COPIES: Final[list[tuple[str, int, int, str]]] = [
    ("a\tb", 0, 9, "a\tb"),
    ("a\tb", 1, 8, "\t"),
    ("a\tb", 1, 7, " " * 6),
    ("a\tb", 2, 9, " " * 6 + "b"),
    ("\t\t", 4, 12, " " * 8),
    ("\t\t", 4, 16, "    \t"),
    ("a\x85b", 0, 4, "a<U+"),
    ("abc", 2, 1, ""),
    ("abc", -5, 99, "abc"),
    ("漢e\u0301x", 1, 2, "e\u0301"),
]


@pytest.mark.parametrize(("text", "start", "end", "expected"), COPIES)
@pytest.mark.requirement("terminal:plain:tab-copied")
def test_a_tab_is_copied_whole_or_as_blanks(text: str, start: int, end: int, expected: str) -> None:
    assert project_line(text).copy(start, end) == expected


# text, cells, copied
CELLS: Final[list[tuple[str, int, int, str]]] = [
    ("abc", 0, 2, "ab"),
    ("abc", 1, 9, "bc"),
    ("abc", 5, 9, ""),
    ("abc", 2, 1, ""),
    ("a漢b", 0, 2, "a漢"),
    ("a漢b", 2, 3, "漢"),
    ("a漢b", 2, 4, "漢b"),
    ("a漢b", 2, 2, ""),
    ("a漢b", 9, 12, ""),
    ("漢\u0301b", 1, 2, "漢\u0301"),
    ("\U0001f468\u200d\U0001f469b", 1, 2, "\U0001f468\u200d\U0001f469"),
]


@pytest.mark.parametrize(("text", "start", "end", "expected"), CELLS)
@pytest.mark.requirement("terminal:plain:whole-clusters")
def test_a_selection_of_cells_has_every_character_that_it_touches(
    text: str, start: int, end: int, expected: str
) -> None:
    line = project_line(text)
    assert line.copy(*line.cell_range(start, end)) == expected


@given(TEXTS)
def test_cells_and_clusters_agree(text: str) -> None:
    line = project_line(text)
    assert line.cell_range(0, width(line.shown) + 1) == (0, len(line.shown))


def test_spans_keep_their_styles_through_labels() -> None:
    red, plain = Style(foreground="red"), Span(text="a\x85")
    spans = (plain, Span(text="\tb", style=red), Span(text=""))
    assert project_line("a\x85\tb").show_spans(spans) == (
        Span(text="a<U+0085>"),
        Span(text="       b", style=red),
        Span(text=""),
    )
    assert project_line("ab").show_spans((Span(text="a"), Span(text="b", style=red))) == (
        Span(text="a"),
        Span(text="b", style=red),
    )


def test_a_flag_over_two_spans_is_a_flag() -> None:
    red = Style(foreground="red")
    spans = (Span(text=FLAG[:3]), Span(text=FLAG[3:] + "\x1b", style=red))
    shown = project_line(FLAG + "\x1b").show_spans(spans)
    assert [span.text for span in shown] == [FLAG[:3], FLAG[3:] + "␛"]


# rows ----------------------------------------------------------------------------------------
def lines_of(name: str, *values: Any) -> list[tuple[str, int]]:
    """Return text and break of each line of what values, one operation each, come to."""
    content_type = CONTENT_TYPES[name]
    content = content_type.new_content(content_type.read_data(values[0]))
    for value in values[1:]:
        content.extend(content_type.read_data(value))
    return [("".join(span.text for span in it.spans), it.break_chars) for it in content.lines()]


ROWS: Final[list[tuple[str, tuple[Any, ...], list[tuple[str, int]]]]] = [
    (PLAIN, ("",), [("", 0)]),
    (STYLED, ([],), [("", 0)]),
    (LINES, ([],), [("", 0)]),
    (PLAIN, ("a\n",), [("a", 1)]),
    (PLAIN, ("a\n\n",), [("a", 1), ("", 1)]),
    (PLAIN, ("a\r\nb\rc\nd",), [("a", 2), ("b", 1), ("c", 1), ("d", 0)]),
    (PLAIN, ("a\r", "\nb"), [("a", 2), ("b", 0)]),
    (PLAIN, ("a\r", "b"), [("a", 1), ("b", 0)]),
    (PLAIN, ("\n\r",), [("", 1), ("", 1)]),
    (PLAIN, ("a\x0bb\x0cc\x85d\u2028e",), [("a\x0bb\x0cc\x85d\u2028e", 0)]),
    (
        STYLED,
        ([{"text": "a\r"}, {"text": "\nb", "style": {"foreground": "red"}}],),
        [("a", 2), ("b", 0)],
    ),
    (STYLED, ([{"text": "a\r"}], [{"text": "\n"}]), [("a", 2)]),
    (LINES, ([{"spans": []}, {"spans": []}],), [("", 1), ("", 0)]),
    (LINES, ([{"spans": [{"text": "a"}]}, {"spans": []}],), [("a", 1), ("", 0)]),
]


@pytest.mark.parametrize(("name", "values", "lines"), ROWS)
@pytest.mark.requirement("terminal:plain:breaks", "terminal:plain:no-other-break")
@pytest.mark.requirement("terminal:plain:final-break")
@pytest.mark.requirement("terminal:plain:empty-row", "terminal:lines:every-line-a-row")
def test_breaks_end_lines(name: str, values: tuple[Any, ...], lines: list[tuple[str, int]]) -> None:
    assert lines_of(name, *values) == lines


@pytest.mark.requirement("terminal:plain:breaks")
def test_crlf_is_found_behind_what_was_retained() -> None:
    content = CONTENT_TYPES[PLAIN].new_content("a\rb")
    content.replace_suffix(2, "\nc")
    assert [line.break_chars for line in content.lines()] == [2, 0]
    content.replace_suffix(2, "c")
    assert [line.break_chars for line in content.lines()] == [1, 0]
