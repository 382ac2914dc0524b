"""Reports of programs whose cost grew with the session: what a key, a token and a spinner take.

Counted in calls of functions and lines laid out, which are the same on every machine; times are
rows of ``make bench``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

import pytest

from blockwire.content import BlockState, TurnState
from blockwire.render import TerminalLook
from blockwire.screen import layout as layout_module
from blockwire.terminal import project_line
from blockwire.tui.views import FallbackView
from tests.host.core.windows import Window
from tests.tui.drawing.shows import EMPTY, finished, prompt

pytestmark = pytest.mark.timeout(60)

WORDS: Final = "Some words of an answer, **bold** and `code`, that goes on and on.\n"
TOKEN: Final = "word "


class Cost:
    """What was done.

    Attributes:
        calls: Calls of Python functions.
        lines: Lines that were laid out.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.lines = 0


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Return what counts within a block."""
    cost = Cost()
    project = project_line

    def counted(text: str, **options: Any) -> Any:
        cost.lines += 1
        return project(text, **options)

    monkeypatch.setattr(layout_module, "project_line", counted)

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        cost.calls += event == "call"

    @contextmanager
    def count() -> Iterator[Cost]:
        cost.__init__()  # type: ignore[misc]  # nothing so far
        before = sys.getprofile()
        sys.setprofile(note)
        try:
            yield cost
        finally:
            sys.setprofile(before)

    return count


def filled(count: int) -> Window:
    """Return a window with so many Blocks above an input line."""
    window = Window(80, 24).open()
    for number in range(count):
        window.append(f"b{number}", f"message {number}")
    window.output("> ")
    window.look()
    return window


@pytest.mark.situation("T34")
@pytest.mark.parametrize("rows_above", [12, 8_770])
def test_t34_a_change_above_the_window_costs_no_more_in_a_long_history(
    counting: Callable[[], Any], rows_above: int
) -> None:
    """earendil-works/pi #6050: 8,770 lines were emitted again as one 12 rows above had changed."""
    window = Window(80, 24).open().append("before", "row\n" * (8_770 - rows_above))
    window.append("line", "a").append("text", "\n".join(["row"] * (rows_above + 22)))
    window.look()

    with counting() as cost:
        window.update("line", "b")
        written = window.core.paint()

    assert written == b""
    assert cost.lines == 0
    # The message itself is most of it; measured: 473.
    assert cost.calls < 600


@pytest.mark.situation("T37")
def test_t37_a_key_costs_the_same_in_a_session_of_any_length(counting: Callable[[], Any]) -> None:
    """earendil-works/pi #1996, #7573, #9807: the latency of a key grew with the session."""
    costs: dict[int, tuple[int, int]] = {}
    for count in (100, 20_000):
        window = filled(count)
        window.keys("a").output("a").look()
        with counting() as cost:
            window.keys("b").output("b")
            written = window.core.paint()
        assert len(written) < 80
        assert cost.lines <= 2
        costs[count] = (cost.calls, cost.lines)

    assert costs[20_000][0] < costs[100][0] * 1.1 + 20
    assert costs[20_000][1] == costs[100][1]


@pytest.mark.situation("T37")
def test_t37_a_page_costs_the_same_in_a_session_of_any_length(counting: Callable[[], Any]) -> None:
    """earendil-works/pi #1996, #7573, #9807: scrolling lagged in sessions of 800 messages."""
    costs: dict[int, int] = {}
    for count in (500, 20_000):
        window = filled(count)
        with counting() as cost:
            window.keys("shift-page-up")
            window.core.paint()
        costs[count] = cost.calls

    assert costs[20_000] < costs[500] * 1.2 + 100


@pytest.mark.situation("T38")
def test_t38_a_token_of_a_long_block_costs_what_one_of_a_short_one_does(
    counting: Callable[[], Any],
) -> None:
    """earendil-works/pi #3785: each chunk of an answer rendered all of it again."""
    costs: dict[int, float] = {}
    for tokens in (500, 32_000):
        window = Window(80, 24).open().append("answer", "")
        for _ in range(tokens // 50):
            window.extend("answer", TOKEN * 49 + "\n")
        window.look()
        with counting() as cost:
            for _ in range(50):
                window.extend("answer", TOKEN)
                window.core.paint()
        costs[tokens] = cost.calls / 50
        assert cost.lines < 200

    assert costs[32_000] <= costs[500] * 1.2


@pytest.mark.situation("T38")
def test_t38_a_token_of_a_long_answer_costs_what_one_of_a_short_one_does(
    counting: Callable[[], Any],
) -> None:
    """earendil-works/pi #3785: each chunk of an answer rendered all of it again."""
    costs: dict[int, float] = {}
    for tokens in (500, 32_000):
        view = FallbackView(TerminalLook(80), 24)
        block = BlockState({"id": "b1", "type": "prose", "markdown": ""}, is_open=True)
        turn = TurnState("t1", 0, {"role": "assistant", "created_at": 1}, blocks=(block,))

        def take(text: str, view: FallbackView = view) -> None:
            nonlocal block, turn
            block = block.with_text(text)
            turn = turn.with_block(0, block)
            view.show(finished(EMPTY, turn), with_reasoning=False)
            view.paint(prompt())

        for _ in range(tokens // 25):
            take(f"{WORDS}\n")
        with counting() as cost:
            for _ in range(50):
                take(TOKEN)
        costs[tokens] = cost.calls / 50

    assert costs[32_000] <= costs[500] * 1.2
