"""Keeping a store small: merging, retention, backup.

Spec: docs/spec/gateway/persistence.md.
"""

from __future__ import annotations

from typing import Protocol

__all__ = ["RetentionStore"]


class RetentionStore(Protocol):
    """The part of a store that makes its log shorter."""
