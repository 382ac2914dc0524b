"""How each type of block looks in a terminal.

Spec: docs/spec/rendering/terminal.md. The same looks serve ``ask``, ``watch`` and ``show``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, cast

from blockwire.content import Block
from blockwire.jsontext import Json, encode_json
from blockwire.render.incremental import normalise_markdown
from blockwire.render.layout import indent, wrap_spans
from blockwire.render.markdown import code_rows, markdown_rows
from blockwire.render.plain import request_options, value_text
from blockwire.render.spans import PLAIN, Row, Span, Style, TerminalLook, clean, spans_width

__all__ = ["block_rows", "heading_row", "is_shown", "request_rows", "status_rows"]

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


def heading_row(envelope: Mapping[str, Json]) -> Row:
    """Return the row above a message: who speaks, and which model."""
    role = cast("str", envelope["role"])
    author = envelope.get("author")
    name = author if isinstance(author, str) and author else _ROLE_NAMES.get(role, role)
    colour = Style(bold=True, colour="blue" if role == "user" else "magenta")
    spans = [Span(clean(name), colour)]
    model = envelope.get("model")
    if isinstance(model, str) and model:
        spans.append(Span(f"  {clean(model)}", _DIM))
    return Row(tuple(spans), is_soft=True)


def status_rows(status: str) -> list[Row]:
    """Return what stands below a message of this status; nothing below a finished one."""
    words = _STATUS_WORDS.get(status)
    return [Row((Span(words, _DIM),))] if words is not None else []


def request_rows(request: Mapping[str, Json], look: TerminalLook) -> list[Row]:
    """Return what a suspended turn asks: the prompt, and the options it offers."""
    prompt = cast("str", request["prompt"])
    rows = _wrapped(prompt, look, _BOLD, mark=Span("? ", _QUESTION))
    for number, option in enumerate(request_options(request), 1):
        mark = Span(f"  {number}. ", Style(colour="yellow"))
        rows += _wrapped(value_text(option, chars_max=LINE_CHARS_MAX), look, PLAIN, mark=mark)
    return rows


def is_shown(block: Block, *, with_reasoning: bool) -> bool:
    """Return whether a block is drawn at all: unasked or empty reasoning is not."""
    if block["type"] != "reasoning":
        return True
    return with_reasoning and bool(cast("str", block["text"]).strip())


def _wrapped(text: str, look: TerminalLook, style: Style, *, mark: Span | None = None) -> list[Row]:
    """Return every line of ``text``, wrapped, in one style, hanging on ``mark``."""
    rows: list[Row] = []
    first: tuple[Span, ...] = (mark,) if mark is not None else ()
    rest = indent(spans_width(first, look))
    for line in normalise_markdown(text).split("\n"):
        spans = [Span(clean(line, ambiguous_width=look.ambiguous_width), style)]
        rows += wrap_spans(spans, look, first_prefix=first, rest_prefix=rest)
        first = rest
    return rows


def _prose(block: Block, look: TerminalLook) -> list[Row]:
    return markdown_rows(normalise_markdown(cast("str", block["markdown"])), look)


def _code(block: Block, look: TerminalLook) -> list[Row]:
    text = normalise_markdown(cast("str", block["text"])).removesuffix("\n")
    language = cast("str", block.get("language") or "")
    return code_rows(text, language, look) if text or language else []


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
        Span(clean(cast("str", block["tool"])), _BOLD),
        Span(f"  {status}{_duration(block)}", _DIM),
    ]
    first = (Span(f"{mark} ", style),)
    rest = indent(spans_width(first, look))
    rows = wrap_spans(title, look, first_prefix=first, rest_prefix=rest)
    if block.get("input") not in (None, {}, ""):
        rows += _value_rows(block["input"], look, Span("  \u2190 ", _DIM), _DIM)
    if block.get("output") is not None:
        rows += _value_rows(block["output"], look, Span("  \u2192 ", _DIM), PLAIN)
    if block.get("error") is not None:
        rows += _value_rows(block["error"], look, Span("  \u2717 ", _RED), _RED)
    return rows


def _value_rows(value: Json, look: TerminalLook, mark: Span, style: Style) -> list[Row]:
    text = value if isinstance(value, str) else encode_json(value).decode()
    lines = normalise_markdown(text).rstrip("\n").split("\n")
    shown = [
        line if len(line) <= LINE_CHARS_MAX else f"{line[:LINE_CHARS_MAX]}\u2026"
        for line in lines[:OUTPUT_LINES_MAX]
    ]
    rows = _wrapped("\n".join(shown), look, style, mark=mark)
    left = len(lines) - OUTPUT_LINES_MAX
    if left > 0:
        words = f"{left} more line{'s' if left > 1 else ''}"
        rows += _wrapped(words, look, _MUTED, mark=Span(" " * spans_width((mark,), look)))
    return rows


def _reasoning(block: Block, look: TerminalLook) -> list[Row]:
    text = cast("str", block["text"]).strip("\n")
    label = Row((Span("thinking", _MUTED),))
    return [label, *_wrapped(text, look, _DIM, mark=Span("  "))]


def _error(block: Block, look: TerminalLook) -> list[Row]:
    message = cast("str", block["message"])
    rows = _wrapped(message, look, _RED._replace(bold=True), mark=Span("\u2717 ", _RED))
    hint = "  may be tried again" if block.get("retryable") is True else ""
    hanging = Span(" " * spans_width((Span("\u2717 "),), look))
    return rows + _wrapped(f"{block['code']}{hint}", look, _DIM, mark=hanging)


def _notice(block: Block, look: TerminalLook) -> list[Row]:
    return _wrapped(cast("str", block["message"]), look, _MUTED, mark=Span("\u2013 ", _DIM))


def _attachment(block: Block, look: TerminalLook) -> list[Row]:
    name, media_type = cast("str", block["name"]), cast("str", block["media_type"])
    spans = [Span(clean(name), _BOLD), Span(f"  {clean(media_type)}", _DIM)]
    return wrap_spans(spans, look, first_prefix=(Span("+ ", _DIM),), rest_prefix=indent(2))


def _speech(block: Block, look: TerminalLook) -> list[Row]:
    return _wrapped(cast("str", block["text"]), look, _MUTED, mark=Span("\u266a ", _DIM))


def _unknown(block: Block, look: TerminalLook) -> list[Row]:
    rows = _wrapped(f"[{block['type']}]", look, _DIM)
    fallback = block.get("fallback_text")
    if isinstance(fallback, str) and fallback:
        rows += _wrapped(fallback, look, PLAIN, mark=Span("  "))
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
    """Return the rows of one block as it stands; none where there is nothing to see."""
    return _LOOKS.get(cast("str", block["type"]), _unknown)(block, look)
