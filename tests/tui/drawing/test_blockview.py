"""A conversation in Blocks: what the terminal has, and where the prompt stands meanwhile."""

from __future__ import annotations

import pytest

from blockwire.content import ConversationState
from blockwire.errors import LocalProtocolError
from blockwire.render import TerminalLook
from blockwire.terminal import BlockHandle, GivenData
from blockwire.tui.blockview import OPERATIONS_MAX, BlocksView
from blockwire.tui.intents import Notice
from tests.render.blocks import TYPES
from tests.terminal.plays import Play
from tests.tui.drawing.shows import EMPTY, answer, finished, prompt


class Place:
    """A Context that may be full for a while."""

    def __init__(self, play: Play) -> None:
        self.context = play.begin()
        self.refusals: list[LocalProtocolError] = []

    def append(
        self,
        content: GivenData,
        *,
        type: str = "text/plain",  # noqa: A002 - the word of the wire
        block_id: str | None = None,
    ) -> BlockHandle:
        if self.refusals:
            raise self.refusals.pop()
        return self.context.append(content, type=type, block_id=block_id)


class Show:
    def __init__(self, types: tuple[str, ...] = ()) -> None:
        self.play = Play(types=types)
        self.place = Place(self.play)
        self.written: list[bytes] = []
        self.view = BlocksView(self.place, self.written.append, types, TerminalLook(80), 24)
        self.state: ConversationState = EMPTY

    def paint(self) -> bytes:
        data = self.view.paint(prompt())
        self.play.exchange()
        return data

    def texts(self) -> list[str]:
        return [text for text in self.play.texts(self.place.context) if text.strip()]


@pytest.mark.requirement("chat:drawing:blocks")
@pytest.mark.parametrize("types", TYPES, ids=["lines", "styled", "plain"])
def test_a_turn_is_projected_and_the_prompt_stays_below(types: tuple[str, ...]) -> None:
    show = Show(types)
    first = show.paint()
    for turn in answer("one\n\ntwo", 3):
        show.state = finished(show.state, turn)
        show.view.show(show.state, with_reasoning=False)
        show.paint()

    assert b"hello" in first
    assert show.texts() == ["assistant", "\none\n\ntwo"]
    # Parked at the top row, and nothing of the prompt written again.
    assert set(show.written) == {b"\r"}
    assert not show.view.has_more


def test_of_a_text_that_grows_only_the_end_is_carried() -> None:
    show = Show()
    text = "one *two* three\n\n```\n" + "".join(f"code {number}\n" for number in range(9))
    for turn in answer(text, 4):
        show.state = finished(show.state, turn)
        show.view.show(show.state, with_reasoning=False)
        show.paint()

    assert show.texts()[1].split("\n")[-1] == "code 8"
    assert show.texts()[1].startswith("\none two three\n")


def test_the_cursor_goes_to_the_top_of_the_prompt_and_back() -> None:
    show = Show()
    show.paint()
    show.view.tell(Notice("info", "said"))
    data = show.paint()

    assert show.written == [b"\r"]
    assert data == b"\x1b[8G"


def test_a_conversation_left_and_opened_again_is_shown_again() -> None:
    show = Show()
    turns = list(answer("one", 3))
    for _ in range(2):
        show.view.show(finished(EMPTY, turns[-1]), with_reasoning=False)
        show.paint()
        show.view.change_conversation()

    assert show.texts() == ["assistant", "\none"] * 2


def test_notices_are_sealed_blocks_in_which_nothing_acts() -> None:
    show = Show()
    show.view.tell(Notice("warning", "bad \x1b[2J"))
    show.paint()

    (text,) = show.texts()
    assert text.startswith("! bad ")
    assert "\x1b" not in text


def test_more_than_a_paint_may_do_is_done_by_the_next_ones() -> None:
    show = Show()
    for number in range(OPERATIONS_MAX):
        show.view.tell(Notice("info", str(number)))
    more = []
    for _ in range(2):
        show.paint()
        more.append(show.view.has_more)

    assert more == [True, False]
    assert len(show.texts()) == OPERATIONS_MAX


def test_what_cannot_wait_is_tried_again_and_what_has_failed_is_passed_over() -> None:
    show = Show()
    show.place.refusals.append(LocalProtocolError("too_much_waiting", "", retryable=True))
    show.view.tell(Notice("info", "later"))
    show.paint()
    assert show.view.has_more
    show.paint()
    assert show.texts() == ["\u2013 later\n"]

    show.place.refusals.append(LocalProtocolError("context_not_open", ""))
    show.view.tell(Notice("info", "lost"))
    show.view.tell(Notice("info", "kept"))
    show.paint()
    assert show.texts() == ["\u2013 later\n", "\u2013 kept\n"]

    show.place.refusals.append(LocalProtocolError("unsupported_content_type", ""))
    show.view.tell(Notice("info", "never"))
    with pytest.raises(LocalProtocolError, match="unsupported_content_type"):
        show.paint()


def test_sizes_and_the_end_concern_the_prompt_alone() -> None:
    show = Show()
    show.paint()
    question, is_located = show.view.resize(TerminalLook(40), 10), show.view.is_located
    assert (question, is_located) == (b"\x1b[6n", False)
    assert b"\x1b[K" in show.view.locate(7)
    show.paint()
    assert b"\x1b[K" in show.view.withdraw()
    show.view.forget()
    show.view.tell(Notice("info", "last"))
    show.view.leave()
    show.play.exchange()
    assert show.texts() == ["\u2013 last\n"]
