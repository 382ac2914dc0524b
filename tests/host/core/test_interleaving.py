"""Ordinary output and Blocks on a full screen: every row once, in the order of time."""

from __future__ import annotations

import pytest

from tests.host.core.windows import Window


@pytest.mark.requirement("host:output:row-ended")
def test_the_last_row_of_a_full_screen_is_ended_before_a_block() -> None:
    window = Window(10, 5).open().output("\n".join(map(str, range(9)))).append("one", "first")

    assert window.transcript() == [*map(str, range(9)), "first"]
    assert window.output("x").text() == ["7", "8", "first", "x"]
