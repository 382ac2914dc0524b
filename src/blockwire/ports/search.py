"""Finding words in what is stored.

Spec: docs/spec/gateway/search.md.
"""

from __future__ import annotations

from typing import Protocol

__all__ = ["SearchStore"]


class SearchStore(Protocol):
    """The part of a store that finds messages by their words."""
