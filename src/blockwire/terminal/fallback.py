"""How Blocks are shown where the terminal does not show them: what a program may implement.

Spec: docs/spec/terminal/application.md, "The fallback".
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

from blockwire.terminal.content import Content, Data
from blockwire.terminal.types import project_line
from blockwire.terminal.vocabulary import Lifecycle

__all__ = ["AppendOnlyFallback", "Fallback", "ShownBlock", "printed"]


class ShownBlock(Protocol):
    """A Block as a fallback sees it: after each change, with the content that it has then."""

    @property
    def block_id(self) -> str:
        """Unique in its Context."""

    @property
    def type(self) -> str:
        """The type of its content."""

    @property
    def lifecycle(self) -> Lifecycle:
        """Whether it may still change."""

    @property
    def content(self) -> Content | None:
        """What it shows; there as long as a method of the fallback is told of it."""


class Fallback(Protocol):
    """Shows Blocks by ordinary output, on a terminal or in a pipe.

    Every method is told of a change that has been checked and made, and returns the bytes to
    write, perhaps none. What it writes is nobody's Block: it owns what becomes of it. It must
    project what it shows, so that no control in it acts (:func:`printed` does).
    """

    def append(self, block: ShownBlock) -> bytes:
        """A Block was added at the end; if it is sealed, no other call follows for it."""

    def extend(self, block: ShownBlock, fragment: Data) -> bytes:
        """``fragment`` was added to the content of a Block."""

    def replace_suffix(self, block: ShownBlock, retain: int, replacement: Data) -> bytes:
        """Behind ``retain`` scalars stands ``replacement`` now."""

    def update(self, block: ShownBlock) -> bytes:
        """A Block has another content, perhaps of another type."""

    def seal(self, block: ShownBlock) -> bytes:
        """A Block will not change any more; also when its Context is closed."""


class AppendOnlyFallback:
    """Prints each Block once, whole, when it is sealed, in the order of appending.

    A Block that is still mutable holds back those behind it; so what is printed stands in the
    order in which a terminal would show it.
    """

    def __init__(self) -> None:
        # The text is there once the Block is sealed.
        self._waiting: OrderedDict[ShownBlock, bytes | None] = OrderedDict()

    def append(self, block: ShownBlock) -> bytes:
        """Keep its place; print it if it is sealed."""
        self._waiting[block] = None
        return self.seal(block) if block.lifecycle == "sealed" else b""

    def extend(self, block: ShownBlock, fragment: Data) -> bytes:  # noqa: ARG002 - of the protocol
        """Wait."""
        return b""

    def replace_suffix(
        self,
        block: ShownBlock,  # noqa: ARG002 - of the protocol
        retain: int,  # noqa: ARG002 - of the protocol
        replacement: Data,  # noqa: ARG002 - of the protocol
    ) -> bytes:
        """Wait."""
        return b""

    def update(self, block: ShownBlock) -> bytes:  # noqa: ARG002 - of the protocol
        """Wait."""
        return b""

    def seal(self, block: ShownBlock) -> bytes:
        """Print it, and what waited for it, if nothing before it waits."""
        assert block.content is not None, "it is told of before its content is given up"
        self._waiting[block] = printed(block.content)
        shown: list[bytes] = []
        for first in [*self._waiting] if block is next(iter(self._waiting)) else []:
            text = self._waiting[first]
            if text is None:
                break
            shown.append(text)
            del self._waiting[first]
        return b"".join(shown)


def printed(content: Content) -> bytes:
    """Return content as UTF-8 lines, each with LF, in which nothing acts but tabs.

    Of a layout the first prefix is printed: without it a list has no bullets.
    """
    shown: list[str] = []
    for line in content.lines():
        prefix = (line.layout.first_prefix or ()) if line.layout else ()
        text = "".join(span.text for span in (*prefix, *line.spans))
        shown.append(project_line(text).searchable)
    return "".join(f"{text}\n" for text in shown).encode()
