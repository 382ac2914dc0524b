"""How each type of block looks in a terminal.

Spec: docs/spec/rendering/terminal.md. The same looks serve ``ask``, ``watch`` and ``show``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, cast

from blockwire.content import Block, Message
from blockwire.jsontext import Json, encode_json
from blockwire.render.incremental import normalise_markdown
from blockwire.render.layout import wrap_spans
from blockwire.render.markdown import code_rows, markdown_rows
from blockwire.render.spans import Row, Span, Style, TerminalLook, clean

__all__ = ["block_rows", "heading_row", "is_shown", "reasoning_label", "reasoning_rows"]

OUTPUT_LINES_MAX: Final = 8
"""Lines of a tool's output that are shown; the rest is counted."""
LINE_CHARS_MAX: Final = 400
"""Characters of one line of a tool's values that are shown."""

_BOLD: Final = Style(bold=True)
_DIM: Final = Style(dim=True)
_MUTED: Final = Style(dim=True, italic=True)
_ERROR: Final = Style(colour="red", bold=True)
_MARKS: Final[Mapping[str, tuple[str, Style]]] = MappingProxyType(
    {
        "pending": ("\u25cb", Style(colour="yellow")),
        "running": ("\u25d0", Style(colour="yellow")),
        "completed": ("\u2713", Style(colour="green")),
        "failed": ("\u2717", Style(colour="red")),
        "cancelled": ("\u2013", Style(dim=True)),
    }
)
_ROLE_NAMES: Final[Mapping[str, str]] = MappingProxyType({"user": "you"})


def heading_row(message: Message) -> Row:
    """Return the row above a message: who speaks, and which model."""
    role = cast("str", message["role"])
    name = cast("str", message.get("author") or _ROLE_NAMES.get(role, role))
    colour = Style(bold=True, colour="blue" if role == "user" else "magenta")
    spans = [Span(clean(name), colour)]
    model = message.get("model")
    if isinstance(model, str) and model:
        spans.append(Span(f"  {clean(model)}", _DIM))
    return Row(tuple(spans), is_soft=True)


def is_shown(block: Block, *, with_reasoning: bool) -> bool:
    """Return whether a block is drawn at all; empty text and unasked reasoning are not."""
    kind = block["type"]
    if kind == "reasoning":
        return with_reasoning and bool(cast("str", block["text"]).strip())
    if kind == "prose":
        return bool(cast("str", block["markdown"]).strip())
    return True


def _wrapped(text: str, look: TerminalLook, style: Style, *, prefix: str = "") -> list[Row]:
    """Return every line of ``text``, wrapped, in one style."""
    rows: list[Row] = []
    first = (Span(prefix, style),) if prefix else ()
    rest = (Span(" " * len(prefix)),) if prefix else ()
    for line in normalise_markdown(text).split("\n"):
        rows += wrap_spans([Span(clean(line), style)], look, first_prefix=first, rest_prefix=rest)
        first = rest
    return rows


def _prose(block: Block, look: TerminalLook) -> list[Row]:
    return markdown_rows(normalise_markdown(cast("str", block["markdown"])), look)


def _code(block: Block, look: TerminalLook) -> list[Row]:
    text = normalise_markdown(cast("str", block["text"])).removesuffix("\n")
    return code_rows(text, cast("str", block.get("language") or ""), look)


def _duration(block: Block) -> str:
    started, completed = block.get("started_at"), block.get("completed_at")
    if not isinstance(started, int) or not isinstance(completed, int) or completed < started:
        return ""
    seconds = (completed - started) / 1000
    if seconds < 60:
        return f"  {seconds:.1f} s"
    return f"  {int(seconds // 60)} min {int(seconds % 60)} s"


def _tool(block: Block, look: TerminalLook) -> list[Row]:
    status = cast("str", block["status"])
    mark, style = _MARKS[status]
    title = [
        Span(f"{mark} ", style),
        Span(clean(cast("str", block["tool"])), _BOLD),
        Span(f"  {status}{_duration(block)}", _DIM),
    ]
    rows = wrap_spans(title, look, rest_prefix=(Span("  "),))
    if block.get("input") not in (None, {}, ""):
        rows += _value_rows(block["input"], look, "  \u2190 ", _DIM)
    if block.get("output") is not None:
        rows += _value_rows(block["output"], look, "  \u2192 ", Style())
    if block.get("error") is not None:
        rows += _value_rows(block["error"], look, "  \u2717 ", Style(colour="red"))
    return rows


def _value_rows(value: Json, look: TerminalLook, prefix: str, style: Style) -> list[Row]:
    text = value if isinstance(value, str) else encode_json(value).decode()
    lines = normalise_markdown(text).rstrip("\n").split("\n")
    shown = [
        line if len(line) <= LINE_CHARS_MAX else f"{line[:LINE_CHARS_MAX]}\u2026"
        for line in lines[:OUTPUT_LINES_MAX]
    ]
    rows = _wrapped("\n".join(shown), look, style, prefix=prefix)
    if len(lines) > OUTPUT_LINES_MAX:
        rows += _wrapped(f"{len(lines) - OUTPUT_LINES_MAX} more lines", look, _MUTED, prefix="    ")
    return rows


def reasoning_label() -> Row:
    """Return the row above reasoning."""
    return Row((Span("thinking", _MUTED),))


def reasoning_rows(text: str, look: TerminalLook) -> list[Row]:
    """Return reasoning, muted."""
    return _wrapped(text.rstrip("\n"), look, _DIM, prefix="  ")


def _reasoning(block: Block, look: TerminalLook) -> list[Row]:
    return [reasoning_label(), *reasoning_rows(cast("str", block["text"]), look)]


def _error(block: Block, look: TerminalLook) -> list[Row]:
    rows = _wrapped(cast("str", block["message"]), look, _ERROR, prefix="\u2717 ")
    hint = "  may be tried again" if block.get("retryable") is True else ""
    return rows + _wrapped(f"{block['code']}{hint}", look, _DIM, prefix="  ")


def _notice(block: Block, look: TerminalLook) -> list[Row]:
    return _wrapped(cast("str", block["message"]), look, _MUTED, prefix="\u2013 ")


def _attachment(block: Block, look: TerminalLook) -> list[Row]:
    name, media_type = cast("str", block["name"]), cast("str", block["media_type"])
    spans = [Span("+ ", _DIM), Span(clean(name), _BOLD), Span(f"  {clean(media_type)}", _DIM)]
    return wrap_spans(spans, look, rest_prefix=(Span("  "),))


def _speech(block: Block, look: TerminalLook) -> list[Row]:
    return _wrapped(cast("str", block["text"]), look, _MUTED, prefix="\u266a ")


def _unknown(block: Block, look: TerminalLook) -> list[Row]:
    rows = _wrapped(f"[{block['type']}]", look, _DIM)
    fallback = block.get("fallback_text")
    if isinstance(fallback, str) and fallback:
        rows += _wrapped(fallback, look, Style(), prefix="  ")
    return rows


_LOOKS: Final[Mapping[str, Callable[[Block, TerminalLook], list[Row]]]] = MappingProxyType(
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
    """Return the rows of one complete block."""
    return _LOOKS.get(cast("str", block["type"]), _unknown)(block, look)
