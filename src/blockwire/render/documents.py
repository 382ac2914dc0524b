"""Messages as documents: Markdown, HTML and plain text, written piece by piece.

Spec: docs/spec/rendering/documents.md.

A document is head, messages, tail, so that an export of any length is written as its messages are
read. What a message holds is shown; who may see it is decided before (``content.visible``).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, Protocol, get_args

from blockwire.content import Message
from blockwire.render.htmldoc import HtmlDocument
from blockwire.render.markdowndoc import MarkdownDocument
from blockwire.render.textdoc import TextDocument

__all__ = ["DOCUMENT_FORMATS", "Document", "DocumentFormat", "open_document"]

DocumentFormat = Literal["markdown", "html", "text"]
DOCUMENT_FORMATS: Final[tuple[DocumentFormat, ...]] = get_args(DocumentFormat)


class Document(Protocol):
    """A document that is being written: what the methods return, in this order, is its text."""

    def head(self) -> str:
        """Return what comes before the messages; called once."""
        ...

    def message(self, message: Message) -> str:
        """Return one more valid message; called in conversation order, any number of times."""
        ...

    def tail(self) -> str:
        """Return what comes after the messages; called once."""
        ...


def open_document(
    document_format: DocumentFormat,
    *,
    title: str | None = None,
    created_at: int | None = None,
    images: Mapping[str, bytes] = MappingProxyType({}),
) -> Document:
    """Return a document of ``document_format`` to which messages can be added.

    Args:
        document_format: ``markdown``, ``html`` or ``text``.
        title: Of the conversation; any text.
        created_at: Of the conversation, milliseconds since 1970.
        images: Content of attachments by id, which a page then shows in place: PNG, JPEG, GIF and
            WebP. Other formats name their attachments only.
    """
    if document_format == "html":
        return HtmlDocument(title=title, created_at=created_at, images=images)
    if document_format == "markdown":
        return MarkdownDocument(title=title, created_at=created_at)
    return TextDocument(title=title, created_at=created_at)
