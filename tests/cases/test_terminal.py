"""What people see in a terminal while an answer streams: nothing twice, nothing swallowed, no flicker."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import struct
import termios
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from blockwire.render import TerminalLook, plain_text, transcript_text
from blockwire.text import label_controls
from tests.render.turns import block, message
from tests.support.cases import case, case_input
from tests.support.programs import Terminal, command, environment

pytestmark = pytest.mark.timeout(60)

PARAGRAPHS = [
    f"Paragraph {number} says {' '.join(f'p{number}word{word}' for word in range(30))}."
    for number in range(1, 4)
]
TABLE = "| name | value |\n|---|---|\n| alpha | one and a half |\n| beta | two |"
AGENT = """#!/bin/sh
cat > /dev/null
for number in 1 2 3 4; do
  cat "part$number"
  read -r go < "gate$number"
done
"""
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x1b\x07]*(?:\x07|\x1b\\)")


def agent(folder: Path, script: str) -> None:
    (folder / "agent.sh").write_text(script, encoding="utf-8")
    (folder / "c.toml").write_text(
        '[engines.x]\nkind = "command"\ncommand = ["sh", "agent.sh"]\n', encoding="utf-8"
    )


def shows(terminal: Terminal, text: str) -> bool:
    return text.encode() in terminal.output


def resize(terminal: Terminal, columns: int) -> None:
    assert terminal._fd is not None
    fcntl.ioctl(terminal._fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.kill(terminal.process.pid, signal.SIGWINCH)


@case("T04")
def test_four_changes_of_the_width_leave_every_paragraph_once(tmp_path: Path) -> None:
    agent(tmp_path, AGENT)
    for number, part in enumerate([TABLE, *PARAGRAPHS], 1):
        (tmp_path / f"part{number}").write_text(f"{part}\n\n", encoding="utf-8")
        os.mkfifo(tmp_path / f"gate{number}")
    arguments = command("ask", "--store", "memory:", "--config", "c.toml", "tell me")
    env = environment(tmp_path)
    with Terminal(arguments, env=env, columns=100, cwd=tmp_path) as terminal:
        seen = ["two", *(f"p{number}word28" for number in range(1, 4))]
        for number, (last, columns) in enumerate(zip(seen, (60, 100, 40, 100), strict=True), 1):
            # A paragraph's last word may yet grow: the one before it is there.
            terminal.read(partial(shows, terminal, last))
            resize(terminal, columns)
            (tmp_path / f"gate{number}").write_text("go\n", encoding="utf-8")
        assert terminal.read_to_end() == 0

        written = terminal.output.decode()

    text = " ".join(ESCAPE.sub("", written).split())
    for paragraph in PARAGRAPHS:
        assert text.count(paragraph) == 1
    assert text.count("one and a half") == 1
    for erasing in ("\x1b[2J", "\x1b[3J", "\x1b[H", "\x1b[A", "\x1bM"):
        assert erasing not in written, "what was printed is history, and stays"


@case("T07")
@pytest.mark.parametrize("number", range(3))
def test_a_control_string_of_any_end_swallows_nothing(number: int) -> None:
    text = case_input("T07")["texts"][number]
    visible = [("pre", "LINK", "post"), ("kept",), ()][number]
    answer = message(block("tool", tool="t", status="completed", output=text))

    for rendered in (
        plain_text(answer),
        transcript_text([answer], TerminalLook(columns=200, escapes=False, colour=False)),
        label_controls(text),
    ):
        for word in visible:
            assert word in rendered
        assert "\x1b" not in rendered
        assert "\x07" not in rendered


IDLE = """cat > /dev/null
printf 'thinking\\n\\n'
read -r go < gate
printf 'done'
"""


@case("T15")
def test_an_idle_turn_writes_nothing_that_repaints(tmp_path: Path) -> None:
    """History is printed once: while nothing arrives there is nothing to draw, at any rate."""
    agent(tmp_path, IDLE)
    os.mkfifo(tmp_path / "gate")
    arguments = command("ask", "--store", "memory:", "--config", "c.toml", "wait")
    with Terminal(arguments, env=environment(tmp_path), cwd=tmp_path) as terminal:
        terminal.read(lambda: b"thinking" in terminal.output)
        before = len(terminal.output)
        # A hundred changes of the screen's size are the most that could make it draw.
        for count in range(100):
            resize(terminal, 80 - count % 2)
        (tmp_path / "gate").write_text("go\n", encoding="utf-8")
        assert terminal.read_to_end() == 0

    written = terminal.output[before:]
    assert len(written) < 200
    assert b"\x1b[2J" not in written
    assert b"\x1b[H" not in written


def test_the_cases_are_those_that_were_read() -> None:
    """The suites' samples are what these tests were written for."""
    steps: dict[str, Any] = case_input("T04")
    assert "100, 40, 100" in " ".join(steps["steps"])
