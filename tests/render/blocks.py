"""A terminal of content objects, as far as a projector can tell one from a real one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from blockwire.content import TurnState
from blockwire.render.blockoperations import (
    AppendBlock,
    BlockOperation,
    ExtendBlock,
    ReplaceSuffix,
    SealBlock,
    UpdateBlock,
)
from blockwire.render.projector import TerminalProjector
from blockwire.terminal import CONTENT_TYPES, Content, Data, Layout, Line, Span

__all__ = ["TYPES", "ContentTerminal", "data_bytes", "project_all", "show_blocks"]

TYPES = [("text/lines", "text/styled"), ("text/styled",), ()]
"""What terminals have beside text/plain."""


class ContentTerminal:
    """Applies operations as a terminal would, and refuses what one would.

    Attributes:
        blocks: Content by name, in the order of appending.
        sealed: Names of Blocks that nothing changes any more.
        data_bytes: Of everything that was carried.
    """

    def __init__(self) -> None:
        self.blocks: dict[str, Content] = {}
        self.types: dict[str, str] = {}
        self.sealed: set[str] = set()
        self.data_bytes = 0

    def apply(self, operations: Iterable[BlockOperation]) -> None:
        """Apply operations in order."""
        for operation in operations:
            assert operation.name not in self.sealed, operation
            self._apply(operation)

    def _apply(self, operation: BlockOperation) -> None:
        name = operation.name
        match operation:
            case AppendBlock(type=type_name, data=data):
                assert name not in self.blocks
                self.types[name] = type_name
                self._replace(name, data)
            case UpdateBlock(data=data):
                assert name in self.blocks
                self._replace(name, data)
            case ExtendBlock(fragment=data):
                assert data
                assert self.blocks[name].refuse_extend(data) is None, operation
                self.blocks[name].extend(data)
                self.data_bytes += data_bytes(data)
            case ReplaceSuffix(retain=retain, replacement=data):
                content = self.blocks[name]
                assert retain > 0
                assert content.refuse_replace_suffix(retain, data) is None, operation
                content.replace_suffix(retain, data)
                self.data_bytes += data_bytes(data)
            case SealBlock():
                self.sealed.add(name)

    def _replace(self, name: str, data: Data) -> None:
        content_type = CONTENT_TYPES[self.types[name]]
        assert content_type.refuse_data(data) is None, data
        self.blocks[name] = content_type.new_content(data)
        self.data_bytes += data_bytes(data)

    def shown(self) -> list[Data]:
        """Return the content of every Block, in order."""
        return [content.data() for content in self.blocks.values()]

    def texts(self) -> list[str]:
        """Return the logical text of every Block, in order."""
        return [content.text() for content in self.blocks.values()]


def data_bytes(data: Data) -> int:
    """Return about what data takes on the wire."""
    if isinstance(data, str):
        return len(data.encode())
    size = 0
    for item in data:
        spans = item.spans if isinstance(item, Line) else (item,)
        size += 30 + sum(20 + len(span.text.encode()) for span in spans)
    return size


def project_all(
    states: Iterable[TurnState], types: Sequence[str], *, with_reasoning: bool = True
) -> ContentTerminal:
    """Return a terminal that was shown every one of ``states``."""
    terminal = ContentTerminal()
    projector = TerminalProjector("m", types, with_reasoning=with_reasoning)
    for state in states:
        terminal.apply(projector.project(state))
        assert projector.project(state) == []
    return terminal


def show_blocks(terminal: ContentTerminal) -> str:
    """Return what Blocks hold, a line each; layouts and styles in front of and within it."""
    rows: list[str] = []
    for name, content in terminal.blocks.items():
        rows.append(f"=== {name} {terminal.types[name].removeprefix('text/')}")
        for line in content.lines():
            layout = _show_layout(line.layout) if line.layout else ""
            rows.append((layout + "".join(map(_show_span, line.spans))).rstrip())
    return "\n".join([*rows, ""])


def _show_layout(layout: Layout) -> str:
    first, rest = (
        "".join(map(_show_span, prefix or ()))
        for prefix in (layout.first_prefix, layout.rest_prefix)
    )
    wrap = f"{layout.wrap} " if layout.wrap else ""
    return f"{wrap}[{first}|{rest}] " if wrap or first or rest else ""


def _show_span(span: Span) -> str:
    style = span.style
    if not style:
        return span.text
    words = [
        str(word) for word in (style.foreground, *(style.attributes or ()), style.link) if word
    ]
    return f"{{{' '.join(words)}: {span.text}}}"
