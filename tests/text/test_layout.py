"""Tab stops and rows: nothing is lost, nothing is too wide, clusters stay whole."""

from itertools import pairwise
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blockwire.errors import LocalProtocolError
from blockwire.text import (
    AmbiguousWidth,
    WrapMode,
    clusters,
    expand_tabs,
    last_break,
    width,
    wrap,
)
from tests.text.texts import lines

TABS: Final[list[tuple[str, int, str]]] = [
    ("no tab", 0, "no tab"),
    ("\t", 0, "        "),
    ("\t", 7, " "),
    ("\t", 8, "        "),
    ("a\tb\tc", 0, "a       b       c"),
    ("12345678\tx", 0, "12345678        x"),
    ("你好\tx", 0, "你好    x"),
    ("a\tb", 6, "a b"),
    ("\t\t", 3, " " * 13),
]

# line, width, rows
WORDS: Final[list[tuple[str, int, list[str]]]] = [
    ("", 5, [""]),
    ("hello", 5, ["hello"]),
    ("hello world", 11, ["hello world"]),
    # The blank at a break stays on its row, fits or not.
    ("hello world", 5, ["hello ", "world"]),
    ("hello world", 8, ["hello ", "world"]),
    ("hello   world  ", 5, ["hello   ", "world  "]),
    ("a b c d", 3, ["a b ", "c d"]),
    ("     ", 3, ["     "]),
    # Only a word that is longer than a row is cut, and not at the end of a row.
    ("a abcdefgh b", 5, ["a ", "abcde", "fgh b"]),
    ("abcdefghij", 5, ["abcde", "fghij"]),
    # Blanks at the start are an indent, and no place to break.
    ("  abcdefg", 5, ["  abc", "defg"]),
    ("       abc", 5, ["       ", "abc"]),
    # The same with other characters of one cell.
    ("éé ööööööö b", 5, ["éé ", "ööööö", "öö b"]),
    ("     é", 3, ["     ", "é"]),
    ("  éééééé", 5, ["  ééé", "ééé"]),
    ("ééé  ööö  ", 3, ["ééé  ", "ööö  "]),
    # Ideographs and kana part anywhere but around their punctuation.
    ("你好世界", 5, ["你好", "世界"]),
    ("你好，世界", 5, ["你", "好，", "世界"]),
    ("你「好」", 5, ["你", "「好", "」"]),
    ("abc你好", 5, ["abc你", "好"]),
    ("ab 你好", 5, ["ab 你", "好"]),
    ("か\u3099か\u3099か\u3099", 4, ["か\u3099か\u3099", "か\u3099"]),
    # A piece that nothing may part, longer than a row.
    ("a「「你", 5, ["a", "「「", "你"]),
    # Korean has blanks for that.
    ("한국어 단어", 9, ["한국어 ", "단어"]),
    ("a \u1112\u1161\u11ab\u1112\u1161\u11ab", 5, ["a ", "\u1112\u1161\u11ab\u1112\u1161\u11ab"]),
    ("한국어 단어", 4, ["한국", "어 ", "단어"]),
    # Marks and selectors do not make a letter a word.
    (
        "\u0928\u093f\u0928\u093f \u0928\u093f\u0928\u093f",
        6,
        ["\u0928\u093f\u0928\u093f ", "\u0928\u093f\u0928\u093f"],
    ),
    ("ab \u26a0\ufe0f\u26a0\ufe0f", 5, ["ab ", "\u26a0\ufe0f\u26a0\ufe0f"]),
    ("\u26a0\ufe0f\u26a0\ufe0f", 3, ["\u26a0\ufe0f", "\u26a0\ufe0f"]),
    # A cluster wider than the row has a row of its own.
    ("你a好", 1, ["你", "a", "好"]),
    (
        "\U0001f468\u200d\U0001f469\u200d\U0001f467a",
        2,
        ["\U0001f468\u200d\U0001f469\u200d\U0001f467", "a"],
    ),
]

CHARACTERS: Final[list[tuple[str, int, list[str]]]] = [
    ("", 5, [""]),
    ("hello world", 4, ["hell", "o wo", "rld"]),
    ("hello    ", 5, ["hello", "    "]),
    ("a你好", 2, ["a", "你", "好"]),
    ("é  é", 2, ["é ", " é"]),
    ("你a", 1, ["你", "a"]),
]

AMBIGUOUS: Final = st.sampled_from(list[AmbiguousWidth]([1, 2]))
MODES: Final = st.sampled_from(list[WrapMode](["word", "character"]))


@pytest.mark.parametrize(("line", "start_column", "expanded"), TABS, ids=ascii)
def test_tabs_reach_the_next_stop(line: str, start_column: int, expanded: str) -> None:
    assert expand_tabs(line, start_column) == expanded


def test_ambiguous_characters_move_tab_stops() -> None:
    assert expand_tabs("…\tx", ambiguous_width=1) == "…       x"
    assert expand_tabs("…\tx", ambiguous_width=2) == "…      x"


@pytest.mark.parametrize(("line", "width_cells", "rows"), WORDS, ids=ascii)
def test_rows_of_words(line: str, width_cells: int, rows: list[str]) -> None:
    assert wrap(line, width_cells) == rows


@pytest.mark.parametrize(("line", "width_cells", "rows"), CHARACTERS, ids=ascii)
def test_rows_of_characters(line: str, width_cells: int, rows: list[str]) -> None:
    assert wrap(line, width_cells, mode="character") == rows


@pytest.mark.parametrize("width_cells", [0, -1])
def test_rows_of_no_width_are_refused(width_cells: int) -> None:
    with pytest.raises(LocalProtocolError) as refused:
        wrap("a", width_cells)
    assert refused.value.code == "invalid_width"


@pytest.mark.case("T09")
def test_the_ambiguous_setting_moves_breaks_but_takes_no_word_apart() -> None:
    # Case T09 of the situations.
    line = "│ ① │ … €"
    assert wrap(line, 9, ambiguous_width=1) == [line]
    assert wrap(line, 9, ambiguous_width=2) == ["│ ① │ ", "… €"]
    assert wrap("ab γλώσσα", 12, ambiguous_width=2) == ["ab ", "γλώσσα"]
    assert wrap("ab ①②③", 8, ambiguous_width=2) == ["ab ", "①②③"]


@given(lines(), st.integers(1, 12), AMBIGUOUS, MODES)
@example("a「「你", 5, 1, "word")
@example(" " * 9 + "你", 3, 1, "word")
@example("你 ", 1, 1, "word")
@example("aa \u0308bb", 4, 1, "word")
@example("  \u0308bb", 1, 1, "word")
@example("a\u0600 \u0308bb", 2, 1, "word")
@example("\u0600 \u0308 \u0600 b", 1, 1, "word")
# Here the blank has another cell of its mark; a cell was lost with it.
@example("aa \u0308\u0903bb", 5, 1, "word")
@pytest.mark.requirement("text:rows:whole")
def test_rows_lose_nothing_are_not_too_wide_and_cut_no_cluster(
    line: str, width_cells: int, ambiguous_width: AmbiguousWidth, mode: WrapMode
) -> None:
    rows = wrap(line, width_cells, ambiguous_width=ambiguous_width, mode=mode)
    assert "".join(rows) == line
    row_clusters = [list(clusters(row)) for row in rows]
    assert [part for parts in row_clusters for part in parts] == list(clusters(line))
    for parts in row_clusters:
        shown = "".join(parts).rstrip(" ") if mode == "word" else "".join(parts)
        fits = width(shown, ambiguous_width=ambiguous_width) <= width_cells
        visible = [part for part in clusters(shown) if width(part, ambiguous_width=ambiguous_width)]
        assert fits or len(visible) == 1
    if line:
        assert all(rows)


@given(st.text(alphabet="ab  ", max_size=60), st.integers(1, 12), MODES)
@example("  aa  b", 3, "word")
def test_ascii_is_broken_where_other_narrow_text_is(
    line: str, width_cells: int, mode: WrapMode
) -> None:
    accented = line.replace("a", "é").replace("b", "ö")
    rows = wrap(accented + "é", width_cells, mode=mode)
    expected = [len(row) for row in rows]
    assert [len(row) for row in wrap(line + "a", width_cells, mode=mode)] == expected


@given(st.text(alphabet="é   ", max_size=60).map(str.lstrip), st.integers(1, 12))
def test_no_row_of_words_could_take_more(line: str, width_cells: int) -> None:
    for row, following in pairwise(wrap(line, width_cells)):
        word = following.partition(" ")[0]
        # Either the whole next word did not fit, or there was none but one that had to be cut.
        assert len(row + word) > width_cells if row.endswith(" ") else len(row) == width_cells


@pytest.mark.requirement("text:rows:linear")
def test_long_lines_take_linear_time() -> None:
    for line in ("word " * 20_000, "é" * 100_000, "漢字" * 20_000, "a" * 200_000):
        assert "".join(wrap(line, 80)) == line


@given(lines(), lines(), st.integers(1, 12))
@example("", "", 1)
@example("ab ", "c", 5)
@example("漢字" * 60, "」", 7)
@example("漢字" * 60 + "abcdef", "g", 7)
@example("「" * 100 + "漢", "字", 7)
@example("ab ", "\u0308c", 3)
@example("ab c \u0308d", "e", 3)
@example("ab c\u06dd ", "\u0308de", 7)
@example("\u06dd ", "\u0308de", 1)
def test_rows_before_the_last_break_do_not_depend_on_what_follows(
    text: str, following: str, width_cells: int
) -> None:
    offset = last_break(text)
    assert 0 <= offset <= len(text)
    decided = [row.rstrip(" ") for row in wrap(text[:offset], width_cells)]
    longer = [row.rstrip(" ") for row in wrap(text + following, width_cells)]
    assert longer[: len(decided) - 1] == decided[:-1]
    assert longer[len(decided) - 1].startswith(decided[-1])


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("", 0),
        ("abc", 0),
        ("ab cd", 3),
        ("ab cd ", 6),
        ("ab你", 2),
        ("ab你，", 2),
        ("漢" * 100, 99),
        ("漢" * 100 + "，", 99),
        ("「" * 100 + "漢", 0),
        ("漢 " + "x" * 100, 2),
        ("x" * 100 + "漢", 100),
        ("ab c\u06dd ", 3),
        ("\u06dd \u06dd ", 0),
    ],
    ids=ascii,
)
def test_the_last_break_is_before_the_word_that_may_grow(text: str, offset: int) -> None:
    assert last_break(text) == offset
