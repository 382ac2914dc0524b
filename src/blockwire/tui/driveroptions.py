"""What a chat is driven with.

Spec: docs/spec/chat/drawing.md, "The driver".
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Final, Protocol, TypeAlias

from msgspec import Struct, field

from blockwire.client import AsyncClient, ConnectionChange
from blockwire.content import ConversationState, StreamEvent
from blockwire.render import TerminalLook

__all__ = ["ON_ENTER", "ON_LEAVE", "ChatOptions", "Gateway", "Step"]

ON_ENTER: Final = b"\x1b[?2004h\x1b[?1004h"
ON_LEAVE: Final = b"\x1b[?2026l\x1b[?7h\x1b[?25h\x1b[?2004l\x1b[?1004l\x1b[0m"

Step: TypeAlias = tuple[ConversationState, StreamEvent]


class Gateway(Protocol):
    """The gateway at hand, also after it has come back somewhere else."""

    @property
    def is_own(self) -> bool:
        """Whether it ends with this process."""

    @property
    def client(self) -> AsyncClient:
        """Of the gateway where it is now."""

    def read(
        self,
        open_stream: Callable[[AsyncClient, float | None], AsyncGenerator[Step, None]],
        on_connection: Callable[[ConnectionChange], None],
    ) -> AsyncGenerator[Step, None]:
        """Yield what a stream yields, wherever the gateway is."""


class ChatOptions(Struct, frozen=True, kw_only=True):
    """How a chat is driven.

    Attributes:
        look: Of the terminal.
        output_fd: Whose size is looked at.
        is_animated: Whether anything moves by itself.
        is_remote: Whether the way to the terminal is long.
        rings: Whether the bell says that something waits for the person.
        remember: Keeps an input for the next start.
        environment: Says which desktop has a clipboard.
    """

    look: TerminalLook
    output_fd: int = 1
    is_animated: bool = True
    is_remote: bool = False
    rings: bool = False
    remember: Callable[[str], None] = lambda _text: None
    environment: Mapping[str, str] = field(default_factory=dict)
