"""Who may come in: tokens and share links.

Spec: docs/spec/gateway/auth.md.
"""

from __future__ import annotations

from typing import Protocol

__all__ = ["AccessStore"]


class AccessStore(Protocol):
    """The part of a store that keeps hashed secrets."""
