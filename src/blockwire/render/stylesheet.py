"""The style of a page: light and dark, for reading on screens and on paper.

Spec: docs/spec/rendering/html.md.
"""

from __future__ import annotations

from typing import Final

__all__ = ["STYLESHEET"]

STYLESHEET: Final = """:root { color-scheme: light dark }
"""
"""CSS without any address in it."""
