"""Markdown of one block as a part of a document: what it opens ends with it.

Spec: docs/spec/rendering/markdown-document.md.
"""

from __future__ import annotations

from blockwire.render.incremental import normalise_markdown

__all__ = ["contained_prose", "joins_on"]


def contained_prose(source: str) -> str:
    """Return Markdown that reads the same and opens nothing that it does not close."""
    return normalise_markdown(source).strip("\n")


def joins_on(before: str, after: str) -> bool:
    """Return whether the end of one block and the beginning of the next would become one."""
    return bool(before and after)
