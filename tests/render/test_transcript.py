"""What is printed into a terminal is never taken back, as an emulator that is not ours sees it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import pyte
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from blockwire.content import BlockState, Message
from blockwire.render import TerminalLook, TranscriptStream, transcript_text
from tests.render.markdowns import documents
from tests.render.turns import block, grown, message, turn

PLAIN = TerminalLook(columns=40, escapes=False, colour=False)
WAITS: dict[str, Any] = {
    "id": "req_1",
    "kind": "approval",
    "prompt": "Run it?",
    "options": ["yes", {"label": "no"}],
    "block_id": "block_1",
}


class Cell(NamedTuple):
    """What an emulator remembers of one cell."""

    char: str
    colour: str
    bold: bool
    italic: bool
    underlined: bool
    struck: bool


class Emulator:
    """A terminal of ``columns`` with all its scrollback."""

    def __init__(self, columns: int) -> None:
        self._screen = pyte.HistoryScreen(columns, 24, history=100_000)
        self._screen.set_mode(pyte.modes.LNM)
        self._stream = pyte.Stream(self._screen)

    def feed(self, text: str) -> None:
        self._stream.feed(text)

    @property
    def rows(self) -> list[list[Cell]]:
        """All rows down to the cursor's, blanks at their ends left out."""
        screen = self._screen
        lines = [*screen.history.top, *(screen.buffer[y] for y in range(screen.cursor.y + 1))]
        return [self._cells(line) for line in lines]

    def _cells(self, line: Any) -> list[Cell]:
        cells = [
            Cell(c.data, c.fg, c.bold, c.italics, c.underscore, c.strikethrough)
            for c in (line[x] for x in range(self._screen.columns))
        ]
        while cells and cells[-1].char == " ":
            cells.pop()
        return cells


def is_beginning(part: list[list[Cell]], whole: list[list[Cell]]) -> bool:
    *full, last = part
    return full == whole[: len(full)] and last == whole[len(full)][: len(last)]


def screen_of(text: str, columns: int) -> list[list[Cell]]:
    emulator = Emulator(columns)
    emulator.feed(text)
    return emulator.rows


LINES = st.sampled_from(
    ["", "x = 1", "\tindented", "y" * 20, "z" * 80, "w" * 18, "w" * 78, "long " * 50, "你" * 30, "e\u0301"]
)  # fmt: skip
CODE = st.lists(LINES, max_size=4).map("\n".join)
OTHERS: list[dict[str, Any]] = [
    block("tool", tool="ls", status="completed", input={"path": "/"}, output="a\nb", error=None),
    block("tool", tool="rm", status="failed", error={"code": "no"}, started_at=1, completed_at=70_001),
    block("error", code="engine_failed", message="It broke.", retryable=True),
    block("notice", code="cancelled", message="Stopped by you."),
    block("attachment", attachment_id="att_1", name="a.png", media_type="image/png"),
    block("speech", text="Hello."),
    block("reasoning", text="Hm.\nWell."),
    block("reasoning", text=" \n"),
    block("chart", fallback_text="A chart."),
]  # fmt: skip
BLOCKS = st.lists(
    st.one_of(
        documents().map(lambda text: block("prose", markdown=text)),
        CODE.map(lambda text: block("prose", markdown=f"```\n{text}\n```\n\nafter")),
        st.builds(lambda text, name: block("code", text=text, language=name), CODE, st.sampled_from(["", "py"])),
        st.sampled_from(OTHERS),
    ),
    max_size=4,
)  # fmt: skip


@pytest.mark.requirement("render:append-only:screen")
@pytest.mark.parametrize("columns", [20, 80, 200])
@settings(max_examples=15)
@given(blocks=BLOCKS, pieces=st.sampled_from([1, 3, 7, 40]), with_reasoning=st.booleans())
@example(
    blocks=[block("prose", markdown="```\n" + "w" * 18 + "\n" + "w" * 78)],
    pieces=1,
    with_reasoning=False,
)
@example(blocks=[block("prose", markdown="a b\n" * 30)], pieces=2, with_reasoning=False)
def test_the_screen_is_at_every_moment_the_beginning_of_the_finished_one(
    columns: int, blocks: list[dict[str, Any]], pieces: int, with_reasoning: bool
) -> None:
    look = TerminalLook(columns=columns)
    asked = message(block("prose", markdown="Why?"), role="user")
    said = message(*blocks, model="model-1")
    whole = screen_of(transcript_text([asked, said], look, with_reasoning=with_reasoning), columns)
    transcript = TranscriptStream(look, with_reasoning=with_reasoning)
    emulator = Emulator(columns)
    emulator.feed(transcript.add_message(asked))

    for state in grown(blocks, pieces, model="model-1"):
        printed = transcript.show_turn(state)
        if printed:
            emulator.feed(printed)
            assert is_beginning(emulator.rows, whole)

    emulator.feed(transcript.finish())
    # The turn as it was last seen runs still, and its last row says so.
    assert [row for row in emulator.rows if row] == [
        *(row for row in whole if row),
        *screen_of("…", columns),
    ]


@pytest.mark.requirement("render:append-only:prefix")
@given(blocks=BLOCKS, pieces=st.sampled_from([1, 5]))
def test_without_styles_what_was_printed_is_a_prefix_character_by_character(
    blocks: list[dict[str, Any]], pieces: int
) -> None:
    whole = transcript_text([message(*blocks)], PLAIN)
    transcript = TranscriptStream(PLAIN)
    printed = ""

    for state in grown(blocks, pieces):
        printed += transcript.show_turn(state)
        assert whole.startswith(printed)

    assert printed == whole


def printed_by(stream: TranscriptStream, states: Iterable[Any]) -> str:
    return "".join(stream.show_turn(state) for state in states)


def test_a_tool_at_work_holds_back_what_follows_it() -> None:
    stream = TranscriptStream(PLAIN)
    tool = BlockState(block("tool", tool="ls", status="running"), is_open=True)
    done = tool.completed({**tool.block, "status": "completed"})
    later = BlockState(block("code", 2, text="x"), is_open=False)

    assert stream.show_turn(turn(tool, later)) == "assistant\n"
    assert stream.show_turn(turn(done, later)) == "\n✓ ls  completed\n\n  x\n"


def test_finishing_prints_the_rest_as_it_stands() -> None:
    stream = TranscriptStream(PLAIN)
    prose = BlockState(block("prose", markdown="Looking **he"), is_open=True)
    tool = BlockState(block("tool", 2, tool="ls", status="running"), is_open=True)
    state = turn(prose, tool)

    printed = stream.show_turn(state) + stream.finish()

    assert printed == transcript_text([state.message], PLAIN)
    assert printed == "assistant\n\nLooking **he\n\n◐ ls  running\n\n…\n"
    assert stream.finish() == ""


def test_messages_and_turns_are_parted_by_a_blank_row() -> None:
    stream = TranscriptStream(PLAIN)
    asked = message(block("prose", markdown="Why?"), role="user")
    done = turn(BlockState(block("prose", markdown="So."), is_open=False), status="completed")

    printed = stream.add_message(asked) + stream.show_turn(done) + stream.add_message(asked)
    printed += stream.show_turn(done)

    one = "you\n\nWhy?\n\nassistant\n\nSo.\n"
    assert printed == f"{one}\n{one}"


@pytest.mark.requirement("render:terminal:request")
def test_a_waiting_turn_is_shown_as_it_stands_with_its_question_once() -> None:
    stream = TranscriptStream(PLAIN)
    prose = BlockState(block("prose", 0, markdown="Let me see."), is_open=True)
    tool = BlockState(block("tool", tool="rm", status="pending"), is_open=True)
    waiting = turn(prose, tool, status="suspended", request=WAITS)

    printed = printed_by(stream, [turn(prose), turn(prose, tool), waiting, waiting])

    assert printed + stream.finish() == transcript_text(
        [waiting.message], PLAIN, requests={"turn_1": WAITS}
    )
    assert printed.endswith(
        'Let me see.\n\n○ rm  pending\n\n? Run it?\n  1. yes\n  2. {"label":"no"}\n'
    )


@pytest.mark.requirement("render:terminal:request")
def test_a_resumed_turn_goes_on_below_the_question() -> None:
    stream = TranscriptStream(PLAIN)
    prose = BlockState(block("prose", 0, markdown="Let me"), is_open=True)
    tool = BlockState(block("tool", tool="rm", status="pending"), is_open=True)
    question = {"id": "req_1", "kind": "question", "prompt": "Sure?"}
    waiting = turn(prose, tool, status="suspended", request=question)
    stream.show_turn(waiting)
    done = tool.completed({**tool.block, "status": "completed"})

    printed = stream.show_turn(turn(prose.with_text(" see.").completed(), done))

    assert printed == "\nsee.\n\n✓ rm  completed\n"


def test_a_waiting_message_without_its_question_says_that_it_waits() -> None:
    waiting: Message = {**message(), "status": "suspended"}

    assert transcript_text([waiting], PLAIN) == "assistant\n\nwaiting for an answer\n"


def test_blocks_without_anything_to_see_leave_no_gap() -> None:
    said = message(block("prose", markdown=" \n"), block("reasoning", text="hm"), author="Ann")

    assert transcript_text([said], PLAIN) == "Ann\n"
    assert transcript_text([said, said], PLAIN, with_reasoning=True) == (
        "Ann\n\nthinking\n  hm\n\nAnn\n\nthinking\n  hm\n"
    )
