"""Messages as a plain text document.

Spec: docs/spec/rendering/documents.md.
"""

from __future__ import annotations

from blockwire.content import Message
from blockwire.render.captions import caption_of, label_name, message_note, time_words
from blockwire.render.plainstream import plain_text

__all__ = ["TextDocument"]


class TextDocument:
    """Plain text: a line that says who speaks, then the text of the blocks."""

    def __init__(self, *, title: str | None = None, created_at: int | None = None) -> None:
        self._title = label_name(title)
        self._time = "" if created_at is None else time_words(created_at)
        self._is_empty = True

    def head(self) -> str:
        """Return title and time, where the document has them."""
        lines = [line for line in (self._title, self._time) if line]
        self._is_empty = not lines
        return "".join(f"{line}\n" for line in lines)

    def message(self, message: Message) -> str:
        """Return one message."""
        caption = caption_of(message)
        facts = (caption.role, caption.model, time_words(caption.created_at))
        line = " \u00b7 ".join([caption.name, *filter(None, facts)])
        parts = [f"== {line} ==\n", plain_text(message, with_reasoning=True)]
        note = message_note(message)
        parts.append(f"({note})\n" if note else "")
        gap, self._is_empty = "" if self._is_empty else "\n", False
        return gap + "\n".join(part for part in parts if part)

    def tail(self) -> str:
        """Return nothing: a text just ends."""
        return ""
