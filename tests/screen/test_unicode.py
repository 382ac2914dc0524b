"""The clusters of the Unicode suites in the history: never cut, and selected, found and copied whole."""

from __future__ import annotations

from typing import Final

import pytest

from blockwire.text import clusters, label_controls, width
from tests.screen.desks import Desk, drawn, ordinary
from tests.text import suite_clusters

# What is shown as it is, in cells of its own; a blank at the end of a row need not be.
SHOWN: Final = [
    it for it in suite_clusters.INNER if width(it) and label_controls(it) == it and it[-1] != " "
]


def test_the_suites_are_whole() -> None:
    assert len(suite_clusters.ALL) > 1_700
    assert len(SHOWN) > 1_600


@pytest.mark.parametrize("columns", [2, 3, 5, 8, 80])
@pytest.mark.parametrize("kind", ["Block", "ordinary"])
def test_no_row_cuts_a_cluster_and_none_is_too_wide(columns: int, kind: str) -> None:
    desk = Desk(columns, 10)
    text = "".join(f"a{it}" for it in SHOWN if width(it) <= columns)
    if kind == "Block":
        desk.append("one", text)
    else:
        desk.screen.append_ordinary(ordinary(text))

    rows = desk.everything()

    assert [it for row in rows for it in clusters(row)] == list(clusters(text))
    assert max(map(width, rows)) <= columns
    desk.screen.resize(columns + 1, 10)
    assert "".join(desk.everything()) == text


def test_a_cell_selects_the_whole_cluster_that_is_in_it() -> None:
    desk = Desk(20, len(SHOWN))
    desk.append("one", "\n".join(f"a{it}b" for it in SHOWN))

    for row, text in enumerate(SHOWN):
        for column in range(1, 1 + width(text)):
            desk.select((row, column), (row, column))
            assert desk.screen.selection.text() == text
        desk.select((row, 1), (row, 19))
        assert desk.screen.selection.text() == f"{text}b"


def test_a_cluster_is_found_where_it_stands() -> None:
    desk = Desk(20, 5)
    texts = SHOWN[:: len(SHOWN) // 40]
    desk.append_each(*(f"a{it}b" for it in texts))

    for text in texts:
        desk.find(f"a{text}b")
        assert desk.screen.search.match_count == 1
        current = desk.screen.search.current
        assert current is not None
        assert current.start.segment_id == desk.id_of(f"a{text}b")


def test_rows_that_are_cut_at_an_edge_show_whole_clusters_only() -> None:
    """A live row is as long as its program made it, and the window may be narrower for a moment."""
    desk = Desk(6, 4)
    for text in SHOWN:
        desk.live(f"abcde{text}x")
        (shown,) = [drawn(row) for row in desk.screen.view() if row is not None]
        assert shown == (f"abcde{text}" if width(text) == 1 else "abcde ")
