"""An engine whose answers a test says, bit by bit, while a conversation is on the screen."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.acceptance.terminals.outer import chat
from tests.support.programs import environment

_ENGINE: Final = """
import os, sys
sys.stdin.read()
with open(sys.argv[1], "rb", buffering=0) as said:
    while not (data := said.read(65_536)).endswith(b"\\x04"):
        os.write(1, data)
    os.write(1, data[:-1])
"""


class Answers:
    """Answers, said by :meth:`say` and ended by :meth:`end`, one after another; in a folder of its own.

    Attributes:
        env: The environment of a conversation that hears it.
    """

    def __init__(self, folder: Path) -> None:
        self.env = environment(folder)
        self._config = folder / "blockwire.toml"
        said, engine = folder / "said", folder / "engine.py"
        engine.write_text(_ENGINE, encoding="utf-8")
        self._config.write_text(
            f'[engines.told]\nkind = "command"\n'
            f'command = ["{sys.executable}", "{engine}", "{said}"]\n',
            encoding="utf-8",
        )
        os.mkfifo(said)
        # For both: who opens one end alone waits for the other.
        self._fd = os.open(said, os.O_RDWR)

    def chat(self, *options: str) -> list[str]:
        """Return the command of a conversation."""
        return chat("--config", str(self._config), "--engine", "told", *options)

    def say(self, text: str) -> None:
        """Add to the answer."""
        os.write(self._fd, text.encode())

    def end(self) -> None:
        """End the answer; it may not have begun."""
        self.say("\x04")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._fd)
