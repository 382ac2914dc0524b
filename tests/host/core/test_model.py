"""Random sessions: whatever is done in whatever order, what is seen is what there is."""

from __future__ import annotations

from typing import Any, Final

import hypothesis.strategies as st
from hypothesis import given, settings

from blockwire.host.compositor import compose
from blockwire.host.keymap import DEFAULT_KEYS
from blockwire.host.updating import UPDATE_S
from tests.host.core.windows import KEYS, MOUSE, Window

_TEXTS: Final = st.sampled_from(
    ["word", "two\nrows", "a longer text that wraps", "日本", "\x1b[31mred\x1b[0m", "\r", "x\n",
     "\x1b[2J\x1b[H", "\x1b[3J", "\x1b[5;2H", "\x1b[?1049h", "\x1b[?1049l", "\x1b[2;4r", "\x1b[r",
     "\x1b[?1000h\x1b[?1006h", "\x1b[?1000l", "\x1bc", "\x1b[?2026h", "\x1b[?2026l\x1b[?2026h", "".join(f"{n}\n" for n in range(9))]
)  # fmt: skip
_NAMES: Final = sorted({*KEYS, *(key for it in DEFAULT_KEYS["copy"].values() for key in it)})
_STEPS: Final = st.one_of(
    st.tuples(st.just("output"), _TEXTS),
    st.tuples(st.just("block"), _TEXTS),
    st.tuples(st.just("grow"), _TEXTS),
    st.tuples(st.just("update"), _TEXTS),
    st.tuples(st.just("keys"), st.sampled_from(_NAMES)),
    st.tuples(st.just("own"), st.sampled_from(["/", "[", "?", "c", "y", "{", "}", "g", "k"])),
    st.tuples(st.just("mouse"), st.sampled_from(sorted(MOUSE)), st.integers(0, 7), st.integers(0, 20)),
    st.tuples(st.just("size"), st.integers(1, 24), st.integers(1, 9)),
    st.tuples(st.just("wait"), st.sampled_from([0.06, 0.6, 4.0])),
    st.just(("look",)),
)  # fmt: skip


def play(window: Window, step: tuple[Any, ...], blocks: list[str]) -> None:
    match step:
        case ("output", text):
            window.output(text)
        case ("block", text):
            blocks.append(f"b{len(blocks)}")
            window.append(blocks[-1], text)
        case ("grow", text) if blocks:
            window.extend(blocks[-1], text)
        case ("update", text) if blocks:
            window.update(blocks[0], text)
        case ("keys", name):
            window.keys(name)
        case ("own", key):
            window.keys("prefix", key)
        case ("mouse", what, row, column):
            window.mouse(what, row, column)
        case ("size", columns, rows):
            window.resize(columns, rows)
        case ("wait", seconds):
            window.wait(seconds)
        case _:
            window.look()


@settings(deadline=None)
@given(steps=st.lists(_STEPS, max_size=25), capacity_bytes=st.sampled_from([2_000, 1 << 20]))
def test_whatever_is_done_the_outer_terminal_shows_what_there_is(
    steps: list[tuple[Any, ...]], capacity_bytes: int
) -> None:
    window = Window(20, 6, capacity_bytes=capacity_bytes).open()
    blocks: list[str] = []

    for step in steps:
        play(window, step, blocks)
    seen = window.wait(UPDATE_S).look()

    frame = compose(window.core._picture())
    painted = ["".join(span.text for span in row).rstrip() for row in frame.rows]
    assert [row.replace(" ", "") for row in seen] == [row.replace(" ", "") for row in painted]
    window.core.repaint()
    assert window.look() == seen


@settings(deadline=None)
@given(steps=st.lists(_STEPS, max_size=25))
def test_every_block_is_there_once_and_in_order(steps: list[tuple[Any, ...]]) -> None:
    window = Window(20, 6).open()
    blocks: list[str] = []

    for step in steps:
        play(window, step, blocks)

    history = window.core.screen.history
    shown = [
        block.block_id
        for number in range(history.first_id, history.end_id)
        if history.has(number) and (block := history.segment(number).block) is not None
    ]
    assert shown == blocks
