"""Text to HTML: the one place where text of others becomes part of a page.

Spec: docs/spec/rendering/html.md.
"""

from __future__ import annotations

from html import escape
from typing import Final

from blockwire.render.spans import safe_link
from blockwire.text import label_controls

__all__ = ["LINK_REL", "html_attribute", "html_line", "html_text", "safe_href"]

LINK_REL: Final = "noopener noreferrer nofollow"
"""What every link of a page says: the page it leads to learns nothing and owes nothing."""


def html_text(text: str) -> str:
    """Return text as HTML: markup is shown, controls are labels, line breaks and tabs stay."""
    return escape(label_controls(text), quote=False)


def html_line(text: str) -> str:
    """Return text as HTML of one line."""
    return escape(label_controls(text, breaks="label", tabs="label"), quote=False)


def html_attribute(text: str) -> str:
    """Return text as the value of an attribute, which stands in double quotes."""
    return escape(label_controls(text, breaks="label", tabs="label"))


def safe_href(target: str) -> str | None:
    """Return the value of ``href`` for an address a page may link to, else None."""
    link = safe_link(target)
    return None if link is None else escape(link)
