"""The situations of part B: what is seen where a terminal has Blocks, and where a chat draws without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import pytest

from blockwire.content import TurnState
from blockwire.host.compositor import compose
from blockwire.host.emulator import best_emulator
from blockwire.render import TerminalLook, message_rows
from blockwire.render.blockoperations import (
    AppendBlock,
    BlockOperation,
    ExtendBlock,
    ReplaceSuffix,
    SealBlock,
    UpdateBlock,
)
from blockwire.render.projector import TerminalProjector
from blockwire.terminal.vocabulary import LINES, STYLED
from blockwire.text import AmbiguousWidth, width
from blockwire.tui.views import FallbackView
from tests.host.core.windows import Window
from tests.render.turns import block, grown, message
from tests.support.cases import case, case_input
from tests.terminal.sessions import append, framed, opening, replace_suffix, update
from tests.tui.core.typists import Typist
from tests.tui.drawing.judges import FORBIDDEN, PyteJudge, TmuxJudge, need_tmux
from tests.tui.drawing.shows import FallbackShow, answer, compact

TYPES: Final = (LINES, STYLED)
SIZES: Final = (60, 100, 40, 100)
PARAGRAPHS: Final = [
    f"Paragraph {number} says {' '.join(f'p{number}word{word}' for word in range(30))}."
    for number in range(1, 4)
]
TABLE: Final = "| name | value |\n|---|---|\n| alpha | one and a half |\n| beta | two |"
STREAMED: Final = "\n\n".join([TABLE, *PARAGRAPHS])


def apply(window: Window, operations: Sequence[BlockOperation], types: dict[str, str]) -> None:
    """Let an application do what a projector asks for."""
    for operation in operations:
        match operation:
            case AppendBlock(name, type_name, data):
                types[name] = type_name
                window.message(append, name, data, type_name=type_name)
            case UpdateBlock(name, data):
                window.message(update, name, data, type_name=types[name])
            case ExtendBlock(name, fragment):
                window.extend(name, fragment)
            case ReplaceSuffix(name, retain, replacement):
                base = window._states[name]
                window.output(window._framed(replace_suffix, name, base, retain, replacement))
            case SealBlock(name):
                window.seal(name)


def project(window: Window, states: Iterator[TurnState]) -> Iterator[None]:
    """Show a turn in Blocks, and stop after each of its states."""
    projector = TerminalProjector("m", TYPES, with_reasoning=True)
    types: dict[str, str] = {}
    for state in states:
        apply(window, projector.project(state), types)
        yield


@case("T04")
def test_blocks_are_laid_out_anew_and_stand_there_once() -> None:
    window = Window(100, 24).output("$ chat\n").open()
    turn = list(grown([block("prose", markdown=STREAMED)], 9))
    changes = iter(SIZES)
    for number, _ in enumerate(project(window, iter(turn)), 1):
        if number % (len(turn) // 4) == 0:
            window.resize(next(changes, 100), 24)
        window.look()
    streamed = window.transcript()

    once = Window(100, 24).output("$ chat\n").open()
    for _ in project(once, iter(turn)):
        pass

    assert streamed == once.transcript(), "as if the window had never had another size"
    text = " ".join(" ".join(streamed).split())
    for paragraph in PARAGRAPHS:
        assert text.count(paragraph) == 1
    assert text.count("one and a half") == 1


@case("T04")
@pytest.mark.parametrize("kind", ["pyte", "tmux"])
def test_without_blocks_every_paragraph_stands_in_the_scrollback_once(kind: str) -> None:
    if kind == "tmux":
        need_tmux()
    judge = PyteJudge(100, 24) if kind == "pyte" else TmuxJudge(100, 24)
    show = FallbackShow(judge, 100, 24, reflows=judge.reflows)
    states = list(answer(STREAMED, 9))
    sizes = iter(SIZES)
    for number, turn in enumerate(states, 1):
        show.show(turn)
        if number % (len(states) // 5) == 0 and (columns := next(sizes, None)):
            show.resize(columns, 24)
            show.paint()

    said = compact(show.leave())
    judge.close()

    assert said.endswith(compact(PARAGRAPHS[-1:]))
    for word in (f"p{number}word{at}" for number in range(1, 4) for at in range(10, 30)):
        # Where rows are cut as the window becomes narrower, that is the terminal's own loss.
        assert said.count(word) == 1 or (kind == "pyte" and said.count(word) == 0), word
    assert said.count("oneandahalf") == 1
    assert not FORBIDDEN.search(show.out)


@case("T05")
@pytest.mark.parametrize("cut", range(0, 200, 7))
def test_a_block_and_what_follows_it_do_not_depend_on_where_reads_end(cut: int) -> None:
    data = framed(opening()) + framed(
        append("1", "in a Block", block_id="a", context_id="context_1")
    )
    data += b"hello\r\n\x1b]0;title\x1b\\there"
    window = Window(20, 6)

    window.output(data[: cut % len(data)]).look()
    # Time has no influence.
    window.wait(60)
    window.output(data[cut % len(data) :])

    assert window.text()[:3] == ["in a Block", "hello", "there"]
    assert "\\" not in "".join(window.look())


@case("T07")
@pytest.mark.parametrize(
    ("number", "seen"), [(0, "pre LINK post"), (1, "kept"), (2, "")], ids=["OSC 8", "title", "BEL"]
)
def test_control_strings_of_any_end_hide_no_text(number: int, seen: str) -> None:
    text = case_input("T07")["texts"][number]

    in_output = Window(40, 6).output(text, "\nbehind")
    in_block = Window(60, 6).open().append("one", text).append("two", "behind")

    rows = [row for row in in_output.text() if row]
    assert rows == [*([seen] if seen else []), "behind"]
    shown = "".join(in_block.text())
    assert all(word in shown for word in seen.split())
    assert shown.endswith("behind")
    # Whatever it was, it is labelled and was not sent.
    assert "␛]" in shown
    assert in_block.commands == []


@case("T08")
def test_all_rows_of_a_table_are_equally_wide_in_blocks_and_without() -> None:
    given = case_input("T08")
    turn = grown([block("prose", markdown=given["markdown"])])
    window = Window(given["width"], 24, colours="none").open()
    for _ in project(window, turn):
        pass
    said = message(block("prose", markdown=given["markdown"]))
    without = message_rows(said, TerminalLook(given["width"]))

    for rows in (
        window.transcript(),
        ["".join(span.text for span in row.spans).rstrip() for row in without],
    ):
        widths = {width(row) for row in rows if row.startswith(("│", "┌", "├", "└", "╭", "╰", "|"))}
        assert len(widths) == 1, rows
        assert max(widths) <= given["width"]


@case("T09")
@pytest.mark.parametrize("ambiguous_width", [1, 2])
def test_one_setting_decides_for_text_and_frames(ambiguous_width: AmbiguousWidth) -> None:
    text = case_input("T09")["text"]
    columns = 13
    cells = width(text, ambiguous_width=ambiguous_width)
    assert (cells <= columns) == (ambiguous_width == 1)
    emulator = best_emulator(columns, 10, ambiguous_width=ambiguous_width)
    window = Window(columns, 10, emulator=emulator, ambiguous_width=ambiguous_width).open()
    window.append("one", f"{text}\n{text * 3}").output("\n", text)
    frames = [compose(window.core._picture())]
    # With the marks, lines and arrows that the host draws itself.
    for keys in (["prefix", "?"], ["escape"], ["shift-page-up"], ["prefix", "/", "…"]):
        window.keys(*keys).output("more\n")
        frames.append(compose(window.core._picture()))

    for frame in frames:
        for row in frame.rows:
            said = "".join(span.text for span in row)
            assert width(said, ambiguous_width=ambiguous_width) <= columns, said
    whole_row = text in "".join(span.text for span in frames[0].rows[0])
    assert whole_row == (ambiguous_width == 1)


@case("T09")
@pytest.mark.parametrize("ambiguous_width", [1, 2])
def test_in_the_chat_too(ambiguous_width: AmbiguousWidth) -> None:
    text = case_input("T09")["text"]
    look = TerminalLook(20, ambiguous_width=ambiguous_width)
    said = message(
        block("prose", markdown=f"{text} {text}\n\n| {text} |\n|---|\n| {text} |\n\n> {text}")
    )

    rows = ["".join(span.text for span in row.spans).rstrip() for row in message_rows(said, look)]

    assert max(width(row, ambiguous_width=ambiguous_width) for row in rows) <= 20


@case("T12")
@pytest.mark.parametrize("number", range(4))
def test_what_is_almost_a_frame_shows_nothing_and_the_next_one_works(number: int) -> None:
    frame = case_input("T12")["frames"][number]
    window = Window(30, 6).output("before").open()

    window.output(frame, "after\n").append("one", "a Block")

    assert [row for row in window.text() if row] == ["beforeafter", "a Block"]
    assert window.commands == []


@case("T14")
def test_right_edges_line_up_where_signs_have_a_presentation() -> None:
    given = case_input("T14")
    parts = given["text"].split(" | ")
    for part, cells in zip(parts, given["columns"], strict=True):
        assert cells is None or width(part) == cells + 2
    window = Window(20, 8).open()

    # Above in a Block, below as ordinary output: padded by the widths of the policy.
    rows = [part + " " * (6 - width(part)) + "|" for part in parts]
    window.append("one", "\n".join(rows))
    window.output("\n".join(row.replace("\ufe0e", "") for row in rows[:3]))
    window.look()

    edges = [
        [column for column in range(20) if window.outer.buffer[row][column].data == "|"]
        for row in range(7)
    ]
    assert edges == [[6]] * 7


@case("T15")
def test_a_tick_of_a_spinner_in_a_program_writes_its_row() -> None:
    window = Window(80, 24).output("a row of text that is there\n" * 200, "| working")
    window.look()

    for tick in range(100):
        window.output(f"\r{'/-|'[tick % 3]} working {tick} s").look()
        assert 0 < len(window.written) < 200
        assert window.written.count(b"H") <= 2, "its row, and the cursor"


@case("T15")
def test_a_tick_of_a_spinner_in_a_block_writes_its_row() -> None:
    window = Window(80, 24).open().append("text", "a row of text\n" * 200).append("spin", "|")
    window.output("> what is typed")
    window.look()

    for tick in range(100):
        window.update("spin", f"{'/-|'[tick % 3]} working {tick} s").look()
        assert 0 < len(window.written) < 200


@case("T15")
def test_a_tick_of_the_chat_writes_its_row() -> None:
    typist = Typist()
    typist.open()
    typist.submitted(typist.ask("why"), "turn_1")
    typist.begin("turn_1")
    view = FallbackView(TerminalLook(80), 24)
    view.show(typist.state, with_reasoning=False)
    view.paint(typist.chat.prompt(columns=80, rows_max=12, now_s=typist.now_s))

    written = []
    for _ in range(100):
        typist.wait(0.1)
        prompt = typist.chat.prompt(columns=80, rows_max=12, now_s=typist.now_s)
        written.append(view.paint(prompt))

    assert sum(map(bool, written)) >= 9, "it counts seconds"
    assert max(map(len, written)) < 200
    assert not FORBIDDEN.search(b"".join(written))
