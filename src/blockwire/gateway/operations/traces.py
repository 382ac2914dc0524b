"""Errors that are kept, without the way they took.

Spec: docs/spec/gateway/limits.md. A traceback knows each frame on its way, and through it every
caller. Where a caller keeps the error, both wait for the collector of cycles, with all that the
request had.
"""

from __future__ import annotations

from typing import TypeVar

__all__ = ["untraced"]

_Error = TypeVar("_Error", bound=Exception)


def untraced(error: _Error) -> _Error:
    """Return ``error`` itself, without traceback, cause and context. Log them before."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)
