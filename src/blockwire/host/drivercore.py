"""What the host's loop has to be given: a session, and what was chosen.

Spec: docs/spec/host/process.md, "The loop".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from blockwire.host.commands import Command
from blockwire.host.outer import OuterColours
from blockwire.text.charset import UTF_8, Charset

__all__ = ["Core", "HostSettings", "NewSession"]


class Core(Protocol):
    """A session: everything but processes, descriptors and the clock."""

    @property
    def program_size(self) -> tuple[int, int]:
        """Columns and rows of the window that the program sees."""

    def receive_output(self, data: bytes, now_s: float) -> None:
        """Take what the program wrote."""

    def receive_input(self, data: bytes, now_s: float) -> None:
        """Take what came from the outer terminal: keys, mouse, answers."""

    def resize(self, columns: int, rows: int) -> None:
        """Take the size of the window."""

    def repaint(self) -> None:
        """Take that the outer terminal shows something else: the next frame draws everything."""

    def tick(self, now_s: float) -> None:
        """Do what was to be done at :attr:`wake_at_s`."""

    @property
    def wake_at_s(self) -> float | None:
        """When :meth:`tick` is wanted; None for not."""

    def data_for_program(self) -> bytes:
        """Return what is to be written to the program, once."""

    def paint(self) -> bytes:
        """Return the next frame; nothing if it would change nothing."""

    def idle(self) -> bool:
        """Do a few milliseconds of work that can wait; return whether there is more."""

    def take_commands(self) -> list[Command]:
        """Return what the driver has to do, once."""

    def program_ended(self) -> None:
        """Take that no output will come any more."""

    def transcript(self, *, last_rows: int | None) -> Iterator[str]:
        """Yield the rows that stay on the outer terminal, safe to be written there."""


NewSession: TypeAlias = Callable[[int, int, OuterColours], Core]
"""Makes a session of the window's columns and rows and what the terminal draws with."""


class HostSettings(NamedTuple):
    """What the driver has to know.

    Attributes:
        command: The program and its arguments.
        env: Our environment.
        has_mouse: Whether the mouse of the outer terminal is ours.
        ambiguous_width: Cells of a character of ambiguous width, told to the program.
        charset: What the outer terminal can write.
        input_fd: The outer terminal.
        output_fd: Likewise.
    """

    command: Sequence[str]
    env: Mapping[str, str]
    has_mouse: bool = True
    ambiguous_width: int = 1
    charset: Charset = UTF_8
    input_fd: int = 0
    output_fd: int = 1
