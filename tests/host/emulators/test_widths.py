"""Everybody counts the cells that we count: the emulators of the host, and the library of widths."""

from __future__ import annotations

from typing import Final

import pytest
from wcwidth import wcswidth

from blockwire.host.emulator import EmulatorName, best_emulator
from blockwire.text import label_controls, width
from tests.text import suite_clusters

END_OF_AYAH: Final = "\u06dd"


def is_known_miss(text: str) -> bool:
    """Whether libghostty may count other cells: of marks alone, of joined Hangul, of a sign on a letter."""
    return width(text) not in {1, 2} or text.startswith(END_OF_AYAH)


@pytest.mark.parametrize(("name", "misses"), [("ghostty", 34), ("pyte", 0)])
def test_an_emulator_counts_the_cells_that_we_count(name: EmulatorName, misses: int) -> None:
    emulator = best_emulator(40, 2, name=name)
    odd = []
    for text in suite_clusters.ALL:
        emulator.feed(b"\x1b[H" + text.encode() + b"|")
        if emulator.cursor.column != width(text) + 1:
            odd.append(text)
        emulator.feed(b"\x1b[2J")

    assert len(odd) <= misses
    assert [ascii(text) for text in odd if not is_known_miss(text)] == []


# A letter with a modifier of skin: two cells in one view, three in another.
TINTED_LETTER: Final = "a\U0001f3ff"


@pytest.mark.parametrize("name", ["ghostty", "pyte"])
def test_what_a_program_draws_is_text_that_can_be_copied(name: EmulatorName) -> None:
    texts = [it for it in suite_clusters.INNER if width(it) and label_controls(it) == it]
    emulator = best_emulator(20, len(texts) + 1, name=name)
    emulator.feed("".join(f"a{it}b\r\n" for it in texts).encode())
    rows = ["".join(span.text for span in row.spans) for row in emulator.live_rows()]

    # Where its cells are not those that we would draw, a sign stands for the cluster.
    odd = [it for it, row in zip(texts, rows, strict=False) if row != f"a{it}b"]
    assert len(odd) <= 8
    assert [ascii(it) for it in odd if width(it) <= 2 and it != TINTED_LETTER] == []
    assert all(rows[texts.index(it)].startswith("a?") for it in odd)


def test_the_library_of_widths_counts_the_cells_that_we_count() -> None:
    assert [ascii(text) for text in suite_clusters.ALL if wcswidth(text) != width(text)] == []
