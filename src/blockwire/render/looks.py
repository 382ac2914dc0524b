"""How each type of block looks in a terminal.

Spec: docs/spec/rendering/terminal.md. The same looks serve ``ask``, ``watch``, ``show`` and, as
lines that are not laid out yet, terminals with Blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, cast

from blockwire.content import Block
from blockwire.content.answers import request_options
from blockwire.jsontext import Json, encode_json
from blockwire.render.layout import FlowLine, indent, rows_of
from blockwire.render.markdown import code_lines, markdown_lines
from blockwire.render.openblocks import normalise_markdown
from blockwire.render.plain import value_text
from blockwire.render.spans import (
    PLAIN,
    Row,
    Span,
    Style,
    TerminalLook,
    clean,
    shown_text,
    spans_width,
)

__all__ = [
    "THINKING_LINE",
    "block_lines",
    "block_rows",
    "closing_lines",
    "heading_line",
    "is_shown",
    "thought_lines",
]

OUTPUT_LINES_MAX: Final = 8
"""Lines of a tool's values that are shown; the rest is counted."""
LINE_CHARS_MAX: Final = 400
"""Characters of one line of a tool's values that are shown."""

_BOLD: Final = Style(bold=True)
_DIM: Final = Style(dim=True)
_MUTED: Final = Style(dim=True, italic=True)
_RED: Final = Style(colour="red")
_QUESTION: Final = Style(colour="yellow", bold=True)
_MARKS: Final[Mapping[str, tuple[str, Style]]] = MappingProxyType(
    {
        "pending": ("\u25cb", Style(colour="yellow")),
        "running": ("\u25d0", Style(colour="yellow")),
        "completed": ("\u2713", Style(colour="green")),
        "failed": ("\u2717", _RED),
        "cancelled": ("\u2013", _DIM),
    }
)
_ROLE_NAMES: Final[Mapping[str, str]] = MappingProxyType({"user": "you"})
_STATUS_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {"streaming": "\u2026", "suspended": "waiting for an answer"}
)


def heading_line(envelope: Mapping[str, Json]) -> FlowLine:
    """Return the line above a message: who speaks, and which model."""
    role = cast("str", envelope["role"])
    author = envelope.get("author")
    name = author if isinstance(author, str) and author else _ROLE_NAMES.get(role, role)
    colour = Style(bold=True, colour="blue" if role == "user" else "magenta")
    spans = [Span(clean(name), colour)]
    model = envelope.get("model")
    if isinstance(model, str) and model:
        spans.append(Span(f"  {clean(model)}", _DIM))
    return FlowLine(tuple(spans), kind="title")


def closing_lines(
    status: str, request: Mapping[str, Json] | None, look: TerminalLook
) -> list[FlowLine]:
    """Return what stands below a message: what its turn asks for, else its status.

    Nothing stands below a finished one.
    """
    if request is not None:
        return _request_lines(request, look)
    words = _STATUS_WORDS.get(status)
    return [FlowLine((Span(words, _DIM),), kind="whole")] if words is not None else []


def _request_lines(request: Mapping[str, Json], look: TerminalLook) -> list[FlowLine]:
    prompt = cast("str", request["prompt"])
    lines = _marked(prompt, look, _BOLD, mark=Span("? ", _QUESTION))
    for number, option in enumerate(request_options(request), 1):
        mark = Span(f"  {number}. ", Style(colour="yellow"))
        lines += _marked(value_text(option, chars_max=LINE_CHARS_MAX), look, PLAIN, mark=mark)
    return lines


def is_shown(block: Block, *, with_reasoning: bool) -> bool:
    """Return whether a block is drawn at all: unasked or empty reasoning is not."""
    if block["type"] != "reasoning":
        return True
    return with_reasoning and bool(cast("str", block["text"]).strip())


def _marked(
    text: str, look: TerminalLook, style: Style, *, mark: Span | None = None
) -> list[FlowLine]:
    """Return every line of ``text`` in one style, hanging on ``mark``."""
    lines: list[FlowLine] = []
    first: tuple[Span, ...] = (mark,) if mark is not None else ()
    rest = indent(spans_width(first, look))
    for line in normalise_markdown(text).split("\n"):
        lines.append(FlowLine((Span(shown_text(line, look), style),), first, rest))
        first = rest
    return lines


def _prose(block: Block, look: TerminalLook) -> list[FlowLine]:
    return markdown_lines(normalise_markdown(cast("str", block["markdown"])), look)


def _code(block: Block, look: TerminalLook) -> list[FlowLine]:
    text = normalise_markdown(cast("str", block["text"])).removesuffix("\n")
    language = cast("str", block.get("language") or "")
    return code_lines(text, language, look) if text or language else []


def _duration(block: Block) -> str:
    started, completed = block.get("started_at"), block.get("completed_at")
    if not isinstance(started, int) or not isinstance(completed, int) or completed < started:
        return ""
    seconds = (completed - started) / 1000
    if seconds < 60:
        return f"  {seconds:.1f} s"
    return f"  {int(seconds // 60)} min {int(seconds % 60)} s"


def _tool(block: Block, look: TerminalLook) -> list[FlowLine]:
    status = cast("str", block["status"])
    mark, style = _MARKS[status]
    title = [
        Span(clean(cast("str", block["tool"])), _BOLD),
        Span(f"  {status}{_duration(block)}", _DIM),
    ]
    first = (Span(f"{mark} ", style),)
    rest = indent(spans_width(first, look))
    lines = [FlowLine(tuple(title), first, rest)]
    if block.get("input") not in (None, {}, ""):
        lines += _value_lines(block["input"], look, Span("  \u2190 ", _DIM), _DIM)
    if block.get("output") is not None:
        lines += _value_lines(block["output"], look, Span("  \u2192 ", _DIM), PLAIN)
    if block.get("error") is not None:
        lines += _value_lines(block["error"], look, Span("  \u2717 ", _RED), _RED)
    return lines


def _value_lines(value: Json, look: TerminalLook, mark: Span, style: Style) -> list[FlowLine]:
    text = value if isinstance(value, str) else encode_json(value).decode()
    given = normalise_markdown(text).rstrip("\n").split("\n")
    shown = [
        line if len(line) <= LINE_CHARS_MAX else f"{line[:LINE_CHARS_MAX]}\u2026"
        for line in given[:OUTPUT_LINES_MAX]
    ]
    lines = _marked("\n".join(shown), look, style, mark=mark)
    left = len(given) - OUTPUT_LINES_MAX
    if left > 0:
        words = f"{left} more line{'s' if left > 1 else ''}"
        lines += _marked(words, look, _MUTED, mark=Span(" " * spans_width((mark,), look)))
    return lines


THINKING_LINE: Final = FlowLine((Span("thinking", _MUTED),), kind="whole")
"""What stands above reasoning."""


def thought_lines(text: str, look: TerminalLook) -> list[FlowLine]:
    """Return lines of reasoning."""
    return _marked(text, look, _DIM, mark=Span("  "))


def _reasoning(block: Block, look: TerminalLook) -> list[FlowLine]:
    text = cast("str", block["text"]).strip("\n")
    return [THINKING_LINE, *thought_lines(text, look)]


def _error(block: Block, look: TerminalLook) -> list[FlowLine]:
    message = cast("str", block["message"])
    lines = _marked(message, look, _RED._replace(bold=True), mark=Span("\u2717 ", _RED))
    hint = "  may be tried again" if block.get("retryable") is True else ""
    hanging = Span(" " * spans_width((Span("\u2717 "),), look))
    return lines + _marked(f"{block['code']}{hint}", look, _DIM, mark=hanging)


def _notice(block: Block, look: TerminalLook) -> list[FlowLine]:
    return _marked(cast("str", block["message"]), look, _MUTED, mark=Span("\u2013 ", _DIM))


def _attachment(block: Block, _look: TerminalLook) -> list[FlowLine]:
    name, media_type = cast("str", block["name"]), cast("str", block["media_type"])
    spans = [Span(clean(name), _BOLD), Span(f"  {clean(media_type)}", _DIM)]
    return [FlowLine(tuple(spans), (Span("+ ", _DIM),), indent(2))]


def _speech(block: Block, look: TerminalLook) -> list[FlowLine]:
    return _marked(cast("str", block["text"]), look, _MUTED, mark=Span("\u266a ", _DIM))


def _unknown(block: Block, look: TerminalLook) -> list[FlowLine]:
    lines = _marked(f"[{block['type']}]", look, _DIM)
    fallback = block.get("fallback_text")
    if isinstance(fallback, str) and fallback:
        lines += _marked(fallback, look, PLAIN, mark=Span("  "))
    return lines


_LOOKS: Final[Mapping[str, Callable[[Block, TerminalLook], list[FlowLine]]]] = MappingProxyType(
    {
        "prose": _prose,
        "code": _code,
        "tool": _tool,
        "reasoning": _reasoning,
        "error": _error,
        "notice": _notice,
        "attachment": _attachment,
        "speech": _speech,
    }
)


def block_rows(block: Block, look: TerminalLook) -> list[Row]:
    """Return the rows of one block as it stands; none where there is nothing to see."""
    return rows_of(block_lines(block, look), look)


def block_lines(block: Block, look: TerminalLook) -> list[FlowLine]:
    """Return the lines of one block as it stands; none where there is nothing to see."""
    return _LOOKS.get(cast("str", block["type"]), _unknown)(block, look)
