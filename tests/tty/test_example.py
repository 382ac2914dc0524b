"""The example of the how-to, on a terminal with Blocks and on one without."""

from typing import Final

import pytest

from tests.suites import PROJECT
from tests.tty.terminals import Answers, ProgramTerminal

SOURCE: Final = (PROJECT / "docs" / "examples" / "terminal_blocks.py").read_text(encoding="utf-8")
TEXTS: Final = ["What is a fold?", "A function that eats a list."]


@pytest.mark.parametrize(
    ("answers", "blocks", "screen"),
    [("all", TEXTS, b""), ("device", [], "\r\n".join([*TEXTS, ""]).encode())],
)
def test_one_program_serves_both(answers: Answers, blocks: list[str], screen: bytes) -> None:
    with ProgramTerminal(SOURCE, answers=answers) as terminal:
        assert terminal.read_to_end() == 0

        assert terminal.brain.texts() == blocks
        assert terminal.brain.screen == screen
        assert terminal.is_restored()


def test_it_runs_on_uvloop_as_well() -> None:
    source = SOURCE.replace("import asyncio", "import uvloop").replace("asyncio.run", "uvloop.run")
    with ProgramTerminal(source) as terminal:
        assert terminal.read_to_end() == 0

        assert terminal.brain.texts() == TEXTS
        assert terminal.is_restored()


def test_it_takes_fifteen_lines() -> None:
    assert len([line for line in SOURCE.splitlines() if line.strip()]) <= 15
