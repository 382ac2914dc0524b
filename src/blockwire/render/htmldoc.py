"""Messages as one self-contained page.

Spec: docs/spec/rendering/html.md. No script, nothing loaded, nothing that a message could add to
either: the page forbids it by policy, the writer makes no such thing, and a sanitiser looks at
every message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, cast

from blockwire.content import Block, Message
from blockwire.render.captions import (
    caption_of,
    label_name,
    message_note,
    time_iso,
    time_words,
)
from blockwire.render.fence import fenced_html
from blockwire.render.highlight import Colours
from blockwire.render.htmlblocks import Surroundings, block_html
from blockwire.render.htmltext import html_attribute, html_line
from blockwire.render.stylesheet import STYLESHEET

__all__ = ["CONTENT_POLICY", "HtmlDocument"]

CONTENT_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
"""What a page allows itself: its own style sheet and the pictures inside of it."""

_ROLES: Final = frozenset({"user", "assistant", "system", "developer", "tool"})


class HtmlDocument:
    """A page: a header, one article for each message, no footer."""

    def __init__(
        self,
        *,
        title: str | None = None,
        created_at: int | None = None,
        images: Mapping[str, bytes] = MappingProxyType({}),
    ) -> None:
        self._title = label_name(title) or "Conversation"
        self._created_at = created_at
        self._images = images
        self._count = 0

    def head(self) -> str:
        """Return the page up to its first message."""
        title = html_line(self._title)
        when = "" if self._created_at is None else _time(self._created_at)
        started = f"<p>{when}</p>\n" if when else ""
        return (
            "<!DOCTYPE html>\n"
            '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{CONTENT_POLICY}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n'
            '<meta name="referrer" content="no-referrer">\n'
            f"<title>{title}</title>\n<style>\n{STYLESHEET}</style>\n</head>\n<body>\n"
            f"<header>\n<h1><bdi>{title}</bdi></h1>\n{started}</header>\n<main>\n"
        )

    def message(self, message: Message) -> str:
        """Return one message as an article."""
        self._count += 1
        anchor = f"msg-{self._count}"
        role = cast("str", message["role"])
        role_class = role if role in _ROLES else "other"
        around = Surroundings(self._images, Colours())
        blocks = "".join(
            block_html(block, around) for block in cast("Iterable[Block]", message["content"])
        )
        note = message_note(message)
        return fenced_html(
            f'<article id="{anchor}" class="message {role_class}" aria-labelledby="{anchor}-by">\n'
            f"{_caption(message, anchor)}{blocks}"
            + (f'<p class="note">{note}</p>\n' if note else "")
            + "</article>\n",
            with_pictures=bool(self._images),
        )

    def tail(self) -> str:
        """Return the end of the page."""
        return "</main>\n</body>\n</html>\n"


def _time(time_ms: int) -> str:
    words = time_words(time_ms)
    return f'<time datetime="{html_attribute(time_iso(time_ms))}">{words}</time>' if words else ""


def _caption(message: Message, anchor: str) -> str:
    caption = caption_of(message)
    facts = [f"<bdi>{html_line(words)}</bdi>" for words in (caption.role, caption.model) if words]
    facts += filter(None, [_time(caption.created_at)])
    line = " \u00b7 ".join(facts)
    beside = f'<p class="facts">{line}</p>\n' if facts else ""
    name = f'<h2 id="{anchor}-by"><bdi>{html_line(caption.name)}</bdi></h2>'
    return f"<header>\n{name}\n{beside}</header>\n"
