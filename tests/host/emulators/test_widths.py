"""Everybody counts the cells that we count: the emulators of the host, and the library of widths."""

from __future__ import annotations

from typing import Final

import pytest
from wcwidth import wcswidth

from blockwire.host.emulator import EmulatorName, best_emulator
from blockwire.text import width
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


def test_the_library_of_widths_counts_the_cells_that_we_count() -> None:
    assert [ascii(text) for text in suite_clusters.ALL if wcswidth(text) != width(text)] == []
