"""Every place of a message that can hold text of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from blockwire.content import Message
from tests.render.turns import block, message

__all__ = ["NOT_IN_PAGES", "NOT_IN_TERMINAL", "NOT_IN_TEXT", "PLACES"]


def _attachment(**members: Any) -> Message:
    return message(block("attachment", **{"attachment_id": "a", "name": "n", "media_type": "image/png", **members}))  # fmt: skip


def _tool(**members: Any) -> Message:
    return message(block("tool", **{"tool": "t", "status": "completed", **members}))


PLACES: Final[list[tuple[str, Callable[[str], Message]]]] = [
    ("prose", lambda p: message(block("prose", markdown=p))),
    ("quoted prose", lambda p: message(block("prose", markdown=f"> - {p}"))),
    ("inline code", lambda p: message(block("prose", markdown=f"so ```{p}``` is"))),
    ("fence", lambda p: message(block("prose", markdown=f"~~~\n{p}\n~~~"))),
    ("info of a fence", lambda p: message(block("prose", markdown=f"~~~ {p}\n\n~~~"))),
    ("heading", lambda p: message(block("prose", markdown=f"# {p}"))),
    ("cell", lambda p: message(block("prose", markdown=f"| {p} |\n|---|\n| {p} |"))),
    ("label of a link", lambda p: message(block("prose", markdown=f"[{p}](https://a.b)"))),
    ("target of a link", lambda p: message(block("prose", markdown=f"[x]({p})"))),
    ("title of a link", lambda p: message(block("prose", markdown=f"[x](https://a.b '{p}')"))),
    ("words of a picture", lambda p: message(block("prose", markdown=f"![{p}](https://a.b)"))),
    ("link definition", lambda p: message(block("prose", markdown=f"[x]: {p}\n\n[x] ![x]"))),
    ("code.text", lambda p: message(block("code", text=p))),
    ("code.text, coloured", lambda p: message(block("code", text=p, language="html"))),
    ("code.language", lambda p: message(block("code", text="x", language=p))),
    ("tool.tool", lambda p: _tool(tool=p, status="running")),
    ("tool.tool with input", lambda p: _tool(tool=p, input={"a": 1})),
    ("tool.input", lambda p: _tool(status="running", input=p)),
    ("tool.input, inside", lambda p: _tool(input={"key": [p]})),
    ("tool.output", lambda p: _tool(output=p)),
    ("tool.error", lambda p: _tool(status="failed", error=p)),
    ("reasoning", lambda p: message(block("reasoning", text=p))),
    ("error", lambda p: message(block("error", code="c", message=p))),
    ("error.code", lambda p: message(block("error", code=p, message="m"))),
    ("notice", lambda p: message(block("notice", code="c", message=p))),
    ("attachment.name", lambda p: _attachment(name=p)),
    ("attachment.media_type", lambda p: _attachment(media_type=p)),
    ("attachment.attachment_id", lambda p: _attachment(attachment_id=p)),
    ("speech", lambda p: message(block("speech", text=p))),
    ("unknown type", lambda p: message(block(p))),
    ("unknown fallback", lambda p: message(block("chart", fallback_text=p))),
    ("unknown member", lambda p: message(block("chart", fallback_text=[p], markup=p))),
    ("author", lambda p: message(author=p)),
    ("model", lambda p: message(model=p)),
    ("role", lambda p: message(role=p)),
    ("id", lambda p: message(block("prose", markdown="x"), id=p)),
]  # fmt: skip

# Names of things that people are not shown, words after the first of a fence's info, and where
# a backslash has a meaning of its own.
_HIDDEN: Final = frozenset(
    {"id", "attachment.attachment_id", "unknown member", "info of a fence", "tool.input, inside"}
)
_LINKS: Final = frozenset(
    {"label of a link", "target of a link", "words of a picture", "title of a link"}
)
NOT_IN_TERMINAL: Final = _HIDDEN | _LINKS
NOT_IN_PAGES: Final = _HIDDEN | {"title of a link"}
NOT_IN_TEXT: Final = _HIDDEN | {"author", "model", "role", "code.language", "error.code"}
"""Places that a terminal, a page or plain text does not show as text, or not all of it."""
