"""A folder in which ``blockwire chat`` finds an engine that says what a test has written down."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from tests.acceptance.terminals.outer import Outer, chat
from tests.support.programs import environment

# It answers with the file that the question names, line by line.
_SAYING: Final = """
import json, pathlib, sys
question = json.load(sys.stdin)["messages"][-1]["content"][0]["markdown"]
name = question.split()[-1]
for line in pathlib.Path(sys.argv[1], name + ".md").read_text(encoding="utf-8").splitlines(True):
    print(line, end="", flush=True)
"""
_SPINNER: Final = re.compile("[\u2800-\u28ff]")


class Place:
    """The folder, and what is run in it.

    Attributes:
        folder: It.
        env: The environment of a program that knows nothing else.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = environment(folder)
        self._config = folder / "c.toml"
        program = folder / "saying.py"
        program.write_text(_SAYING, encoding="utf-8")
        self._config.write_text(
            f'[engines.saying]\nkind = "command"\ncommand = ["python3", "{program}", "{folder}"]\n',
            encoding="utf-8",
        )

    def say(self, name: str, markdown: str) -> None:
        """Let the engine answer ``markdown`` to questions that end in the word ``name``."""
        (self.folder / f"{name}.md").write_text(markdown, encoding="utf-8")

    def chat(self, *options: str) -> list[str]:
        """Return the command of a conversation with the engine."""
        return chat("--config", str(self._config), "--engine", "saying", *options)


def until_answered(outer: Outer, text: str) -> None:
    """Wait until an answer that ends in ``text`` is there, and nothing runs any more."""
    outer.until(lambda: text in outer.screen_text() and not _SPINNER.search(outer.screen_text()))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)
