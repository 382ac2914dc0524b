"""Text to HTML: the one place where text of others becomes part of a page.

Spec: docs/spec/rendering/html.md.
"""

from __future__ import annotations

from typing import Final

from blockwire.text import label_controls

__all__ = ["LINK_REL", "html_attribute", "html_line", "html_text"]

# As browsers write what they have parsed, so that a page parsed and written anew is the same page.
_TEXT: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\xa0": "&nbsp;"})
_VALUE: Final = {**_TEXT, **str.maketrans({'"': "&quot;"})}

LINK_REL: Final = "noopener noreferrer nofollow"
"""What every link of a page says: the page it leads to learns nothing and owes nothing."""


def html_text(text: str) -> str:
    """Return text as HTML: markup is shown, controls are labels, line breaks and tabs stay."""
    return label_controls(text).translate(_TEXT)


def html_line(text: str) -> str:
    """Return text as HTML of one line."""
    return label_controls(text, breaks="label", tabs="label").translate(_TEXT)


def html_attribute(text: str) -> str:
    """Return text as the value of an attribute, which stands in double quotes."""
    return label_controls(text).translate(_VALUE)
