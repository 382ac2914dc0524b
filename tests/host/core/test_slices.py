"""Work that can wait is done in slices, so that nobody waits for it."""

from __future__ import annotations

from statistics import median
from time import process_time
from typing import Final

import pytest

from blockwire.screen import Position
from tests.host.core.windows import Window

# Three times what a slice is to take: of a processor's time, so that others may be busy.
SLICE_S_MAX: Final = 0.012

TEXTS: Final = {
    "plain": "a line of text, forty characters long ok",
    "paragraph": "lorem ipsum dolor sit amet " * 12,
    "wide": "日本語の文章です。" * 10,
    "tabs": "\n".join(f"\tif x == {number}:  # é" for number in range(12)),
    "families": "👨\u200d👩\u200d👧 family " * 8,
}


def slices_s(window: Window) -> list[float]:
    """Do all work that can wait; return what each slice of it took."""
    taken_s: list[float] = []
    has_more = True
    while has_more:
        begun_s = process_time()
        has_more = window.core.idle()
        taken_s.append(process_time() - begun_s)
    return taken_s


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.requirement("host:idle:slices")
def test_a_slice_is_short_whatever_the_text_is(text: str) -> None:
    window = Window.swallowing(100, 40).open()
    for number in range(1_000):
        window.append(str(number), text)

    window.core.resize(73, 40)
    rows_s = slices_s(window)
    assert len(rows_s) > 3
    assert median(rows_s) < SLICE_S_MAX

    for query in ("e", "x == 7", "日", "nothing"):
        window.core.screen.search.find(query, Position(0, 0))
        assert median(slices_s(window)) < SLICE_S_MAX


@pytest.mark.requirement("host:idle:slices")
def test_one_long_block_is_searched_in_short_slices_too() -> None:
    window = Window.swallowing(100, 40).open()
    window.append("one", "\n".join(f"line of a log, number {number}" for number in range(20_000)))

    window.core.screen.search.find("e", Position(0, 0))

    taken_s = slices_s(window)
    assert len(taken_s) > 20
    assert median(taken_s) < SLICE_S_MAX
    assert window.core.screen.search.match_count == 40_000
