"""Codes that rows of the route table have in common, each set by what its routes do.

Spec: docs/spec/error-codes.md. A code that one route alone answers with stands in its own row, and
those that any route has in ``http.operation``.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "BODY_ERRORS", "CONTENT_ERRORS", "CONVERSATION_ERRORS", "CURSOR_ERRORS", "FILE_ERRORS",
    "HELD_ERRORS", "KEY_ERRORS", "STREAM_ERRORS", "TURN_ERRORS",
]  # fmt: skip

BODY_ERRORS: Final = (
    "body_too_large", "request_timeout", "gateway_stopping", "unsupported_media_type",
    "unsupported_encoding", "invalid_json",
    "duplicate_member", "invalid_unicode", "number_out_of_range", "nesting_too_deep",
    "unknown_field", "missing_member", "invalid_member", "invalid_name", "invalid_enum",
    "invalid_key",
)  # fmt: skip
"""Of any route that reads a JSON body, or makes sure that there is none."""

CONVERSATION_ERRORS: Final = ("conversation_not_found",)
"""Of any route that is about one conversation."""

TURN_ERRORS: Final = (*CONVERSATION_ERRORS, "turn_not_found")
"""Of any route that is about one turn."""

CURSOR_ERRORS: Final = ("invalid_cursor",)
"""Of any route that goes on where the caller was."""

KEY_ERRORS: Final = ("idempotency_key_reused", "invalid_idempotency_key")
"""Of any route that takes an ``Idempotency-Key``."""

FILE_ERRORS: Final = ("attachment_too_large", "quota_exceeded", "storage_exceeded")
"""Of any route that stores files, sent as such or inside a body."""

CONTENT_ERRORS: Final = ("block_exists", "limit_exceeded", *FILE_ERRORS)
"""Of any route whose body has the content of a message."""

STREAM_ERRORS: Final = ("too_many_streams",)
"""Of any route that may send or take for long."""

HELD_ERRORS: Final = (*STREAM_ERRORS, "gateway_stopping")
"""Of any route that may wait for news."""
