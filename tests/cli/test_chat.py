"""``blockwire chat`` on a pty, with a gateway of its own, judged by a terminal of somebody else."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from blockwire.tui.driveroptions import ON_ENTER, ON_LEAVE
from tests.suites import PROJECT
from tests.support.agents import SLOW, let_go
from tests.support.programs import WAIT_S, Gateway, command, environment, run
from tests.tui.drawing.judges import FORBIDDEN
from tests.tui.drawing.terminals import ChatTerminal

pytestmark = pytest.mark.timeout(120)

LINES = "".join(f"line {number:03}\n\n" for number in range(1, 91))
SAYING = """
import pathlib, sys
question = sys.stdin.read()
print(pathlib.Path("said.md").read_text(encoding="utf-8"), flush=True)
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    (tmp_path / "saying.py").write_text(SAYING, encoding="utf-8")
    (tmp_path / "said.md").write_text(LINES, encoding="utf-8")
    agent = PROJECT / "docs" / "examples" / "_asking_agent.py"
    (tmp_path / "c.toml").write_text(
        '[engines.saying]\nkind = "command"\ncommand = ["python3", "saying.py"]\n'
        '[engines.slow]\nkind = "command"\ncommand = ["python3", "slow.py"]\n'
        f'[engines.careful]\nkind = "command"\ncommand = ["python3", "{agent}"]\nanswers = true\n',
        encoding="utf-8",
    )
    return tmp_path


def lines_of(rows: list[str]) -> list[str]:
    return [row for row in rows if row.startswith("line ")]


@pytest.mark.requirement("chat:fallback:charset")
def test_in_a_locale_of_ascii_only_ascii_is_written(place: Path) -> None:
    (place / "said.md").write_text("| a | caf\u00e9 |\n|---|---|\n| \u2014 | \u6f22 |\n", "utf-8")
    arguments = ("--config", "c.toml", "--engine", "saying")
    with ChatTerminal(*arguments, place=place, LANG="C") as terminal:
        terminal.until_shown("Ask something")
        terminal.press("first question\r")
        terminal.until_shown("| - | ??   |", "+---+------+", "saying *")
        assert terminal.leave() == 0

    assert terminal.brain.output.isascii()


def test_two_questions_and_their_answers_stand_in_the_scrollback_once(place: Path) -> None:
    """T02, T28 and T46."""
    with ChatTerminal("--config", "c.toml", "--engine", "saying", place=place) as terminal:
        terminal.judge.feed("".join(f"shell {number}\r\n" for number in range(30)).encode())
        terminal.until_shown("Ask something")
        terminal.press("first question\r")
        terminal.until_shown("line 090")
        terminal.press("second question\r")
        terminal.read(lambda: lines_of(terminal.judge.text()).count("line 090") == 2)
        assert terminal.leave() == 0
        rows = terminal.judge.text()
        assert terminal.is_restored
        assert terminal.errors().startswith("to go on: blockwire chat -c conv_")

    assert rows[:30] == [f"shell {number}" for number in range(30)]
    assert lines_of(rows) == [f"line {number:03}" for number in range(1, 91)] * 2
    assert [row for row in rows if "question" in row] == ["first question", "second question"]
    assert not [row for row in rows if row.startswith(">")]
    assert not FORBIDDEN.search(terminal.brain.output)


@pytest.mark.requirement("chat:input:type-ahead")
def test_what_is_typed_before_the_chat_is_ready_is_sent(place: Path) -> None:
    with ChatTerminal("--config", "c.toml", "--engine", "saying", place=place) as terminal:
        terminal.press("typed ahead\rand begun")
        terminal.until_shown("line 090", "> and begun")
        terminal.press("\x03\x03")
        assert terminal.read_to_end() == 0


@pytest.mark.requirement("chat:drawing:blocks")
def test_where_the_terminal_has_blocks_the_conversation_stands_in_them(place: Path) -> None:
    with ChatTerminal(
        "--config", "c.toml", "--engine", "saying", place=place, answers="all"
    ) as terminal:
        terminal.until_shown("Ask something")
        terminal.press("a question\r")
        terminal.read(lambda: any("line 090" in text for text in terminal.brain.texts()))
        assert terminal.leave() == 0
        texts = "\n".join(terminal.brain.texts())
        rows = terminal.judge.text()
        assert terminal.is_restored

    assert [line for line in texts.split("\n") if line.startswith("line")] == lines_of(
        LINES.split("\n")
    )
    assert texts.index("a question") < texts.index("line 001")
    # The prompt alone was ordinary output, and it is gone.
    assert rows == []


def test_a_question_is_answered_with_yes_and_esc_stops_an_answer(place: Path) -> None:
    with ChatTerminal("--config", "c.toml", "--engine", "careful", place=place) as terminal:
        terminal.until_shown("Ask something")
        terminal.press("Clean up\r")
        terminal.until_shown("What is the file called?")
        terminal.read(lambda: any(row.startswith("?") for row in terminal.judge.screen()))
        terminal.press("a.txt\r")
        terminal.until_shown("Delete a.txt?")
        terminal.read(lambda: terminal.quiet_bytes(0.7) == 0)
        terminal.press("y")
        terminal.until_shown("Deleted a.txt, or so I say.")
        terminal.press("/engine slow\r")
        terminal.press("wait for it\r")
        terminal.until_shown("begun")
        terminal.press("\x1b")
        terminal.until_shown("Stopped by user.")
        assert terminal.leave() == 0


def test_what_is_asked_meanwhile_waits_and_comes_back_into_the_input(place: Path) -> None:
    with ChatTerminal("--config", "c.toml", "--engine", "slow", place=place) as terminal:
        terminal.until_shown("Ask something")
        terminal.press("one\r")
        terminal.until_shown("begun")
        terminal.press("another one\r")
        terminal.until_shown("another one")
        terminal.press("\x03")
        terminal.until_shown("> another one")
        terminal.press("\x03")
        assert terminal.read_to_end() == 0
        assert terminal.is_restored


def test_a_stop_gives_the_terminal_back_and_going_on_takes_it_again(place: Path) -> None:
    """T13: modes are off while it is stopped, raw and painted again after."""
    with ChatTerminal("--config", "c.toml", "--engine", "slow", place=place) as terminal:
        terminal.until_shown("Ask something")
        terminal.press("kept")
        terminal.until_shown("> kept")
        stopped_at = len(terminal.brain.output)
        terminal.press("\x1a")
        # Nobody could let it go on here, so the kernel does not stop it: it goes on at once.
        terminal.read(lambda: terminal.brain.output[stopped_at:].count(b"\x1b[?2004h") == 1)
        terminal.until_shown("> kept")
        output = terminal.brain.output[stopped_at:]
        assert not terminal.is_restored
        terminal.press("\x03")
        assert terminal.leave() == 0
    before, _left, after = output.partition(ON_LEAVE)
    assert b"\x1b[K" in before
    assert b"kept" not in before
    assert after.startswith(ON_ENTER)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_deadly_signal_gives_the_terminal_back(place: Path, number: int) -> None:
    with ChatTerminal("--config", "c.toml", "--engine", "slow", place=place) as terminal:
        terminal.until_shown("Ask something")
        os.kill(terminal.process.pid, number)
        status = terminal.read_to_end()
        assert status in {128 + number, -number}
        assert terminal.is_restored
    assert b"\x1b[?2004l" in terminal.brain.output


@pytest.mark.requirement("chat:fallback:idle")
def test_who_does_nothing_sees_nothing_written(place: Path) -> None:
    """T41."""
    with ChatTerminal("--config", "c.toml", "--engine", "slow", place=place) as terminal:
        terminal.until_shown("Ask something", "slow")
        terminal.read(lambda: terminal.quiet_bytes(0.5) == 0)
        assert terminal.quiet_bytes(1.2) == 0
        assert terminal.leave() == 0


@pytest.mark.situation("T70")
def test_a_paste_cannot_leave_its_frame(place: Path) -> None:
    """T70."""
    with ChatTerminal("--config", "c.toml", "--engine", "slow", place=place) as terminal:
        terminal.until_shown("Ask something")
        terminal.press("\x1b[200~safe\x9b201~ \x1b[201~")
        terminal.until_shown("> safe")
        assert terminal.process.poll() is None
        terminal.press("\x03")
        assert terminal.leave() == 0


@pytest.mark.requirement("chat:fallback:resize")
def test_sizes_change_while_an_answer_is_open(place: Path) -> None:
    """T04 and T20 on a pty."""
    with ChatTerminal("--config", "c.toml", "--engine", "slow", place=place) as terminal:
        terminal.until_shown("Ask something")
        terminal.press("one\r")
        terminal.until_shown("begun")
        for columns, rows in [(60, 20), (100, 30), (40, 12), (1, 1), (80, 24)] * 3:
            terminal.resize(columns, rows)
        terminal.read(lambda: terminal.judge.screen().count(">") == 1)
        let_go(place)
        terminal.until_shown("and done")
        assert terminal.leave() == 0
        rows_shown = terminal.judge.text()
    assert rows_shown.count("begun") <= 1
    assert rows_shown.count("and done") == 1


def test_the_gateway_may_go_and_come_back(place: Path) -> None:
    env = environment(place)
    with Gateway(env, "--config", "c.toml", cwd=place) as gateway:
        url = ("--url", gateway.url)
        with ChatTerminal(*url, "--engine", "slow", place=place) as terminal:
            terminal.until_shown("Ask something")
            terminal.press("one\r")
            terminal.until_shown("begun")
            gateway.kill()
            gateway.restart()
            terminal.until_shown("interrupted")
            terminal.press("two\r")
            terminal.read(lambda: terminal.judge.text().count("begun") == 2)
            let_go(place)
            terminal.until_shown("and done")
            assert terminal.leave() == 0
            rows = terminal.judge.text()
    assert rows.count("one") == rows.count("two") == 1


def test_a_conversation_is_opened_again_whole(place: Path) -> None:
    env = environment(place)
    run("ask", "--config", "c.toml", "--engine", "saying", "said before", env=env, cwd=place)
    with ChatTerminal("--config", "c.toml", "--last", place=place) as terminal:
        terminal.until_shown("said before", "line 090")
        assert terminal.leave() == 0
        assert lines_of(terminal.judge.text()) == lines_of(LINES.split("\n"))


def test_a_conversation_that_is_not_there_is_an_error_at_once(place: Path) -> None:
    with ChatTerminal("-c", "conv_nothing", place=place) as terminal:
        assert terminal.read_to_end() == 1
        assert "conversation_not_found" in terminal.errors()
        assert terminal.is_restored


def test_what_was_typed_comes_back_at_the_next_start(place: Path) -> None:
    for text in ("first time\r", "\x1b[A"):
        with ChatTerminal("--config", "c.toml", "--engine", "slow", place=place) as terminal:
            terminal.until_shown("Ask something")
            terminal.press(text)
            terminal.until_shown("first time")
            terminal.press("\x03\x03")
            assert terminal.read_to_end() == 0


def test_commands_reach_files_and_conversations(place: Path) -> None:
    (place / "said.md").write_text("short\n", encoding="utf-8")
    (place / "note.txt").write_text("noted", encoding="utf-8")
    with ChatTerminal("--config", "c.toml", "--engine", "saying", place=place) as terminal:
        terminal.until_shown("Ask something")
        terminal.press("/attach no\t")
        terminal.until_shown("note.txt")
        terminal.press("\t")
        terminal.until_shown("> /attach note.txt")
        terminal.press("\r")
        terminal.read(lambda: not any("/attach" in row for row in terminal.judge.screen()))
        terminal.until_shown("note.txt")
        terminal.press("with a file\r")
        terminal.until_shown("with a file", "short")
        terminal.press("/export markdown out.md\r")
        terminal.until_shown("written to out.md")
        terminal.press("/export markdown out.md\r")
        terminal.until_shown("out.md is there already")
        terminal.press("/attach nothing.txt\r")
        terminal.until_shown("nothing.txt is no file")
        terminal.press("/copy\r")
        terminal.until_shown("copied")
        terminal.press("/search short\r")
        terminal.read(lambda: "1  " in "\n".join(terminal.judge.text()))
        terminal.press("/fork\r")
        terminal.read(lambda: terminal.judge.text().count("with a file") == 2)
        terminal.press("/new\r")
        terminal.press("/open\r")
        terminal.until_shown("/open NUMBER opens one")
        terminal.press("/open last\r")
        terminal.read(lambda: terminal.judge.text().count("with a file") == 3)
        assert terminal.leave() == 0
    assert b"\x1b]52;c;c2hvcnQ" in terminal.brain.output
    assert "with a file" in (place / "out.md").read_text(encoding="utf-8")


# without a screen ------------------------------------------------------------------------------
def test_a_pipe_gets_the_answer_alone(place: Path) -> None:
    told = subprocess.run(
        command("chat", "--config", "c.toml", "--engine", "saying"),
        input=b"hi",
        capture_output=True,
        env=environment(place),
        cwd=place,
        timeout=WAIT_S,
        check=True,
    )
    assert told.stdout.decode().split() == LINES.split()
    assert b"\x1b" not in told.stdout + told.stderr


def test_a_reader_that_leaves_is_no_error(place: Path) -> None:
    line = " ".join(command("chat", "--config", "c.toml", "--engine", "saying"))
    told = subprocess.run(
        ["bash", "-c", f"echo hi | {line} | head -1"],
        capture_output=True,
        env=environment(place),
        cwd=place,
        timeout=WAIT_S,
        check=True,
    )
    assert told.stdout == b"line 001\n"
    assert told.stderr == b""


def test_a_dumb_terminal_gets_no_control_sequence(place: Path) -> None:
    with ChatTerminal("--config", "c.toml", "--engine", "saying", place=place, TERM="dumb") as chat:
        chat.press("hi\n")
        chat.until_shown("line 090")
        chat.press("again\n")
        chat.read(lambda: lines_of(chat.judge.text()).count("line 090") == 2)
        chat.press("/quit\n")
        assert chat.read_to_end() == 0
        assert "a line is a question" in chat.errors()
    assert b"\x1b" not in chat.brain.output


def test_an_empty_pipe_and_two_conversations_are_wrong_usage(place: Path) -> None:
    env = environment(place)
    empty = subprocess.run(
        command("chat"), stdin=subprocess.DEVNULL, capture_output=True, env=env, check=False
    )
    assert (empty.returncode, b"the question is empty" in empty.stderr) == (2, True)
    assert run("chat", "--last", "-c", "x", env=env).returncode == 2
