"""How the columns of a table share a screen that is too narrow for them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.render import TerminalLook, markdown_rows
from blockwire.render.spans import Span
from blockwire.render.table import WORD_COLUMNS_MAX, Cell, table_rows
from tests.render.markdowns import row_text

LONG = "x" * (WORD_COLUMNS_MAX + 5)

# source, columns, rows
SHARED: list[tuple[str, int, list[str]]] = [
    # the widest column shrinks, at its blanks
    (
        "| a | b |\n|---|---|\n| one | two words |",
        15,
        ["┌─────┬───────┐", "│ a   │ b     │", "├─────┼───────┤", "│ one │ two   │", "│     │ words │",
         "└─────┴───────┘"],
    ),
    # a word of up to twelve columns is not broken, so this becomes a list
    (
        "| December | a |\n|---|---|\n| 12 | three |",
        19,
        ["December: 12", "a: three", "─" * 19],
    ),
    # a longer word is
    (
        f"| {LONG} |\n|---|\n| b |",
        18,
        ["┌" + "─" * 16 + "┐", "│ xxxxxxxxxxxxxx │", "│ xxx            │", "├" + "─" * 16 + "┤",
         "│ b              │", "└" + "─" * 16 + "┘"],
    ),
    # wide characters may be parted anywhere
    (
        "| 札幌市 |\n|---|\n| b |",
        8,
        ["┌──────┐", "│ 札幌 │", "│ 市   │", "├──────┤", "│ b    │", "└──────┘"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("source", "columns", "rows"), SHARED)
def test_columns_shrink_at_words_and_become_a_list_before_a_word_breaks(
    source: str, columns: int, rows: list[str]
) -> None:
    assert [row_text(row) for row in markdown_rows(source, TerminalLook(columns))] == rows


CELLS = st.lists(st.lists(st.sampled_from(["a", "word", "eightful"]), max_size=4), min_size=1)


@given(CELLS.filter(any), st.integers(1, 60))
def test_no_short_word_is_ever_broken_between_borders(words: list[list[str]], columns: int) -> None:
    header = [Cell((Span(" ".join(cell)),)) for cell in words]

    rows = [row_text(row) for row in table_rows(header, [], TerminalLook(columns))]

    if rows[0].startswith("┌"):
        drawn = " ".join(rows).replace("│", " ").split()
        parts = [word for word in drawn if word.isalpha()]
        assert sorted(parts) == sorted(word for cell in words for word in cell)
        assert {len(row) for row in rows} == {len(rows[0])}
        assert len(rows[0]) <= columns
