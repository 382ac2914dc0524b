"""The mouse on text that changes under it: whatever comes between press and release."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.host.core.windows import MOUSE, Window
from tests.terminal.sessions import replace_suffix

BLOCKS: Final = ("one", "two")
TEXTS: Final = st.sampled_from(["", "x", "a word", "two\nrows", "日本語 👩‍👧\n" * 3, "row\n" * 20])
ROWS, COLUMNS = st.integers(0, 7), st.integers(0, 21)
STEPS: Final = st.one_of(
    st.tuples(st.sampled_from(sorted(MOUSE)), ROWS, COLUMNS),
    st.tuples(st.just("sweep"), ROWS, COLUMNS, ROWS, COLUMNS),
    st.tuples(st.just("update"), st.sampled_from(BLOCKS), TEXTS),
    st.tuples(st.just("replace"), st.sampled_from(BLOCKS), st.integers(0, 40), TEXTS),
    st.tuples(st.just("extend"), st.sampled_from(BLOCKS), TEXTS.filter(bool)),
    st.tuples(st.just("append"), TEXTS),
    st.tuples(st.just("output"), st.sampled_from(["text\n" * 9, "\x1b[3J", "\x1b[2J", "\x1bc"])),
    st.tuples(st.just("wait"), st.sampled_from([0.07, 0.6])),
)


class Page:
    """Two Blocks that change, and a mouse."""

    def __init__(self) -> None:
        self.window = Window(20, 6, capacity_bytes=4_000).open()
        self.texts = dict.fromkeys(BLOCKS, "some text\n" * 8)
        self.count = 0
        for name, text in self.texts.items():
            self.window.append(name, text)

    def do(self, step: tuple[Any, ...]) -> None:
        window = self.window
        match step:
            case ("update", name, text):
                self.texts[name] = text
                window.update(name, text)
            case ("extend", name, text):
                self.texts[name] += text
                window.extend(name, text)
            case ("replace", name, retain, text):
                retain = min(retain, len(self.texts[name]))
                self.texts[name] = self.texts[name][:retain] + text
                base = window._states[name]
                window.output(window._framed(replace_suffix, name, base, retain, text))
            case ("append", text):
                self.count += 1
                window.append(str(self.count), text)
            case ("output", text):
                window.output(text)
            case ("sweep", row, column, other_row, other_column):
                # The button stays down.
                window.mouse("press", row, column).mouse("drag", other_row, other_column)
            case ("wait", seconds):
                window.wait(seconds)
            case (what, row, column):
                window.mouse(what, row, column)


@pytest.mark.situation("T50")
@settings(deadline=None)
@given(steps=st.lists(STEPS, min_size=10, max_size=40))
def test_nothing_that_changes_under_the_mouse_breaks_and_only_text_that_is_there_is_copied(
    steps: list[tuple[Any, ...]],
) -> None:
    """LansCoder#34: a press met what had been removed since it was drawn, and the program ended."""
    page = Page()
    window = page.window

    for step in steps:
        page.do(step)
        window.look()
        chosen = window.core.screen.selection.chosen
        assert chosen is None or chosen.start <= chosen.end
        # What can be copied is text of now.
        selected = window.core.screen.selection.text()
        everything = "".join("".join(window.transcript()).split())
        assert all(word in everything for word in selected.split())
