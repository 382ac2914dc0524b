"""Work that can wait is done in slices, so that nobody waits for it."""

from __future__ import annotations

from typing import Final

import pytest

from blockwire.screen import Position
from tests.host.core.windows import Window
from tests.support.counting import calls_in

# What a slice calls at most: functions, of which 10,000 take a millisecond or less.
SLICE_CALLS_MAX: Final = 60_000

TEXTS: Final = {
    "plain": "a line of text, forty characters long ok",
    "paragraph": "lorem ipsum dolor sit amet " * 12,
    "wide": "日本語の文章です。" * 10,
    "tabs": "\n".join(f"\tif x == {number}:  # é" for number in range(12)),
    "families": "👨\u200d👩\u200d👧 family " * 8,
}


def slices(window: Window) -> list[int]:
    """Do all work that can wait; return how many functions each slice of it called."""
    counts: list[int] = []
    has_more = True

    def work() -> None:
        nonlocal has_more
        has_more = window.core.idle()

    while has_more:
        counts.append(calls_in(work))
    return counts


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.requirement("host:idle:slices")
def test_a_slice_is_short_whatever_the_text_is(text: str) -> None:
    window = Window.swallowing(100, 40).open()
    for number in range(300):
        window.append(str(number), text)

    window.core.resize(73, 40)
    counted = slices(window)
    assert len(counted) > 3
    assert max(counted) < SLICE_CALLS_MAX

    for query in ("e", "x == 7", "日", "nothing"):
        window.core.screen.search.find(query, Position(0, 0))
        assert max(slices(window)) < SLICE_CALLS_MAX


@pytest.mark.requirement("host:idle:slices")
def test_one_long_block_is_searched_in_short_slices_too() -> None:
    window = Window.swallowing(100, 40).open()
    window.append("one", "\n".join(f"line of a log, number {number}" for number in range(5_000)))

    window.core.screen.search.find("e", Position(0, 0))

    counted = slices(window)
    assert len(counted) > 20
    assert max(counted) < SLICE_CALLS_MAX
    assert window.core.screen.search.match_count == 10_000
