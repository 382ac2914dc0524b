"""Messages as a Markdown document.

Spec: docs/spec/rendering/markdown-document.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from html import escape
from types import MappingProxyType
from typing import Final, cast

from blockwire.content import Block, Message
from blockwire.jsontext import Json
from blockwire.render.captions import (
    caption_of,
    duration_words,
    label_name,
    message_note,
    time_words,
)
from blockwire.render.escapes import code_span, fenced, literal_line, literal_lines
from blockwire.render.prosesource import ProsePart, contained_prose, joins_on
from blockwire.render.values import VALUE_PARTS, has_value, value_text_of

__all__ = ["MarkdownDocument"]

SEPARATOR: Final = "<!-- -->"
"""Stands between two blocks that would else become one list or one piece of code."""


class MarkdownDocument:
    """Markdown: a heading for each message, its blocks below."""

    def __init__(self, *, title: str | None = None, created_at: int | None = None) -> None:
        self._title = label_name(title)
        self._time = "" if created_at is None else time_words(created_at)
        self._is_empty = True
        self._prose_count = 0

    def head(self) -> str:
        """Return title and time, where the document has them."""
        parts = [f"# {literal_line(self._title)}"] if self._title else []
        parts += [self._time] if self._time else []
        self._is_empty = not parts
        return "\n\n".join(parts) + "\n" if parts else ""

    def message(self, message: Message) -> str:
        """Return one message."""
        caption = caption_of(message)
        parts = [f"## {literal_line(caption.name)}"]
        facts = [literal_line(words) for words in (caption.role, caption.model) if words]
        facts += filter(None, [time_words(caption.created_at)])
        parts += [" \u00b7 ".join(facts)] if facts else []
        parts += self._blocks(cast("Iterable[Block]", message["content"]))
        note = message_note(message)
        parts += [f"*{note}*"] if note else []
        gap, self._is_empty = "" if self._is_empty else "\n", False
        return gap + "\n\n".join(parts) + "\n"

    def _blocks(self, blocks: Iterable[Block]) -> Iterator[str]:
        previous = ProsePart("")
        for block in blocks:
            part = self._part(block)
            if not part.text:
                continue
            if joins_on(previous, part):
                yield SEPARATOR
            yield part.text
            previous = part

    def _part(self, block: Block) -> ProsePart:
        if block["type"] != "prose":
            return ProsePart(_LOOKS.get(cast("str", block["type"]), _unknown)(block))
        self._prose_count += 1
        return contained_prose(cast("str", block["markdown"]), self._prose_count)

    def tail(self) -> str:
        """Return nothing: everything was closed where it began."""
        return ""


def _line(value: Json) -> str:
    return escape(label_name(value), quote=False)


def _code(block: Block) -> str:
    text, language = cast("str", block["text"]), cast("str", block.get("language") or "")
    return fenced(text, language) if text or language else ""


def _tool(block: Block) -> str:
    facts = " \u00b7 ".join(filter(None, (cast("str", block["status"]), duration_words(block))))
    parts = [
        f"{label}:\n\n{fenced(*value_text_of(block[member]))}"
        for member, label in VALUE_PARTS
        if has_value(block, member)
    ]
    if not parts:
        return f"> **Tool** {code_span(label_name(block['tool']))} \u00b7 {facts}"
    summary = f"<summary>Tool <code>{_line(block['tool'])}</code> \u00b7 {facts}</summary>"
    return "\n\n".join([f"<details>\n{summary}", *parts, "</details>"])


def _reasoning(block: Block) -> str:
    text = cast("str", block["text"])
    if not text.strip():
        return ""
    return f"<details>\n<summary>Thinking</summary>\n\n{literal_lines(text)}\n\n</details>"


def _quoted(label: str, text: str, facts: str = "") -> str:
    words = literal_lines(text)
    lines = [f"**{label}** {facts}".rstrip(), *(["", *words.split("\n")] if words else [])]
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _error(block: Block) -> str:
    hint = " \u00b7 may be tried again" if block.get("retryable") is True else ""
    return _quoted(
        "Error", cast("str", block["message"]), f"{code_span(label_name(block['code']))}{hint}"
    )


def _notice(block: Block) -> str:
    return _quoted("Notice", cast("str", block["message"]))


def _attachment(block: Block) -> str:
    name, media_type = label_name(block["name"]), label_name(block["media_type"])
    return f"> **Attachment** {literal_line(name)} ({literal_line(media_type)})"


def _speech(block: Block) -> str:
    return _quoted("Spoken", cast("str", block["text"]))


def _unknown(block: Block) -> str:
    fallback = block.get("fallback_text")
    return _quoted(
        literal_line(f"[{label_name(block['type'])}]"),
        fallback if isinstance(fallback, str) else "",
    )


_LOOKS: Final[Mapping[str, Callable[[Block], str]]] = MappingProxyType(
    {
        "code": _code,
        "tool": _tool,
        "reasoning": _reasoning,
        "error": _error,
        "notice": _notice,
        "attachment": _attachment,
        "speech": _speech,
    }
)
