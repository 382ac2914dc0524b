"""A title for a conversation that nobody gave one: the first line of its first question.

Spec: docs/spec/gateway/conversations.md, "Titles".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, cast

from blockwire.content import Block, Message, visible_message

__all__ = ["TITLE_CHARS_MAX", "auto_title"]

TITLE_CHARS_MAX: Final = 80
"""Unicode scalar values of an automatic title, the ellipsis included."""

_LOOKED_AT_CHARS: Final = 2_000
"""Of a text that may have megabytes; what comes later begins no title."""

# What a line of Markdown begins with that is no word: quotes, headings, items, fences, rules.
_LINE_START: Final = re.compile(r"(?:>|#{1,6}(?=\s|$)|[-*+](?=\s|$)|\d{1,9}[.)](?=\s|$)|\s)+")
_NOT_A_LINE: Final = re.compile(r"(?:`{3,}|~{3,}).*|[-*_=\s|:+]*")
_LINK: Final = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*(?:\s[^()]*)?\)|\[[^\[\]]*\])")
_TAG: Final = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?-->")
# An escaped character is one; a star between blanks is one, too.
_MARKS: Final = re.compile(
    r"\\([!-/:-@\[-`{-~])|(?<=\S)\*+|\*+(?=\S)|`+|~~|(?<!\w)_+(?=\S)|(?<=\S)_+(?!\w)"
)
_BLANKS: Final = re.compile(r"\s+")


def auto_title(message: Message, redact: Callable[[str], str]) -> str | None:
    """Return the title that a conversation gets from its first ``message``, or None for none.

    Only what everybody may see of a user's message becomes a title: no markup, no control
    character, at most :data:`TITLE_CHARS_MAX` characters, cut between words where it can be.
    """
    if message["role"] != "user":
        return None
    shown = visible_message("public", message)
    blocks = cast("list[Block]", shown["content"]) if shown is not None else []
    for block in blocks:
        text = block.get("markdown") if block["type"] == "prose" else None
        title = _first_line(redact(text[:_LOOKED_AT_CHARS])) if isinstance(text, str) else None
        if title is not None:
            return title
    return None


def _first_line(text: str) -> str | None:
    for line in text.splitlines():
        if _NOT_A_LINE.fullmatch(line):
            continue
        start = _LINE_START.match(line)
        rest = _LINK.sub(r"\1", line[start.end() if start else 0 :])
        rest = _MARKS.sub(lambda mark: mark[1] or "", _TAG.sub("", rest))
        printable = "".join(c if c.isprintable() else " " for c in rest)
        title = _BLANKS.sub(" ", printable).strip()
        if title:
            return _cut(title)
    return None


def _cut(title: str) -> str:
    if len(title) <= TITLE_CHARS_MAX:
        return title
    head = title[: TITLE_CHARS_MAX - 1]
    word_end = len(head) if title[len(head)] == " " else head.rfind(" ")
    # A line without blanks, as of most of the world's long sentences in Chinese, is cut anywhere.
    kept = head[:word_end] if word_end >= TITLE_CHARS_MAX // 2 else head
    return f"{kept.rstrip()}…"
