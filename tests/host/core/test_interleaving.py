"""Ordinary output and Blocks on a full screen: every row once, in the order of time."""

from __future__ import annotations

import pytest

from blockwire.host.emulator import EmulatorName, best_emulator
from tests.host.core.windows import Window


@pytest.mark.requirement("host:output:row-ended")
def test_the_last_row_of_a_full_screen_is_ended_before_a_block() -> None:
    window = Window(10, 5).open().output("\n".join(map(str, range(9)))).append("one", "first")

    assert window.transcript() == [*map(str, range(9)), "first"]
    assert window.output("x").text() == ["7", "8", "first", "x"]


@pytest.mark.parametrize("name", ["ghostty", "pyte"])
@pytest.mark.requirement("host:alternate:blocks")
def test_blocks_behind_an_alternate_screen_are_in_order(name: EmulatorName) -> None:
    window = Window(20, 6, emulator=best_emulator(20, 6, name=name)).open()
    rows = [str(number) for number in range(9)]
    window.append("zero", "zero").output("\n".join(rows), "\x1b[?1049h\x1b[Hvim")

    window.append("one", "one").output("\x1b[2J\x1b[9;1H\n\n\n").append("two", "two").resize(30, 7)
    assert window.transcript()[:7] == ["zero", *rows[:4], "one", "two"]
    window.output("\x1b[?1049l, back\n").append("three", "three").output("end")

    assert window.transcript() == [
        "zero",
        *rows[:4],
        "one",
        "two",
        *rows[4:8],
        "8, back",
        "three",
        "end",
    ]
