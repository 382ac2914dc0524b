"""What a program draws, painted in a window, is what it drew: an emulator's rows on another terminal."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.host.emulator import EmulatorName, best_emulator
from blockwire.host.painter import Frame, Painter
from tests.host.painting.outer import Outer

# What programs write, and what nobody should: bytes that are no text, strings that do not end.
OUTPUT: Final = st.lists(
    st.sampled_from(
        [
            "a", "word ", "日本", "e\u0301", "👩\u200d👧", "🇩🇪", "⚠\ufe0f", "👍🏽", "กำ", "क्षि", "─",
            "\r\n", "\n", "\t", "\b", "\x0e", "\u202e", "\u200b", "\x85", "\x7f",
            "\x1b[31m", "\x1b[0m", "\x1b[1;44m", "\x1b[7m", "\x1b[9;38;2;1;2;3m",
            "\x1b[3;5H", "\x1b[9C", "\x1b[K", "\x1b[1K", "\x1b[2J", "\x1b[2S", "\x1b[2T", "\x1b[3P",
            "\x1b[4@", "\x1b[2;4r", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?25l", "\x1b[?25h", "\x1b[5 q",
            "\x1b]8;;https://a.example\x1b\\", "\x1b]8;;\x1b\\", "\x1b]52;c;QUJD\x07", "\x1bP$q",
        ]
    ),
    max_size=12,
).map(lambda parts: "".join(parts).encode())  # fmt: skip


@pytest.mark.requirement("host:drawing:shown", "host:drawing:live", "host:drawing:harmless")
@pytest.mark.parametrize("name", ["ghostty", "pyte"])
@given(
    size=st.tuples(st.integers(1, 12), st.integers(1, 4)),
    outputs=st.lists(OUTPUT | st.binary(max_size=20), max_size=3),
)
def test_what_a_program_drew_is_what_the_outer_terminal_shows(
    name: EmulatorName, size: tuple[int, int], outputs: list[bytes]
) -> None:
    emulator, painter, outer = best_emulator(*size, name=name), Painter(*size), Outer(*size)

    for output in outputs:
        emulator.feed(output)
        frame = Frame(tuple(row.spans for row in emulator.live_rows()), emulator.cursor)
        outer.feed(painter.paint(frame))

        outer.assert_shows(frame)
