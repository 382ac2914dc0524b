"""Refusals as HTTP answers: a status for each code, and one shape for all.

Spec: docs/spec/error-codes.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from blockwire.errors import (
    BlockwireError,
    BusError,
    EngineError,
    LocalProtocolError,
    RemoteProtocolError,
    StoreError,
)
from blockwire.gateway.access.limits import RETRY_AFTER_S, LimitError
from blockwire.jsontext import Json

__all__ = [
    "STATUS_BY_CODE",
    "error_body",
    "gateway_stopping",
    "internal_error",
    "retry_after_s",
    "status_of",
]

STATUS_BY_CODE: Final[Mapping[str, int]] = MappingProxyType(
    {
        # 400 is also what a refusal gets that is not listed: the request is wrong in itself.
        "invalid_cursor": 400,
        "unauthorized": 401,
        "insufficient_scope": 403,
        "host_refused": 403,
        "origin_refused": 403,
        "csrf_refused": 403,
        "not_found": 404,
        "conversation_not_found": 404,
        "turn_not_found": 404,
        "turn_handed_back": 404,
        "message_not_found": 404,
        "attachment_not_found": 404,
        "token_not_found": 404,
        "share_not_found": 404,
        "method_not_allowed": 405,
        "not_acceptable": 406,
        "request_timeout": 408,
        # The state does not allow it; another state might.
        "conversation_exists": 409,
        "token_exists": 409,
        "too_many_shares": 409,
        "idempotency_key_reused": 409,
        "idempotency_key_exists": 409,
        "turn_exists": 409,
        "turn_terminal": 409,
        "turn_not_external": 409,
        "turn_not_suspended": 409,
        "turn_not_over": 409,
        "turn_queued": 409,
        "turn_suspended": 409,
        "last_turn_mismatch": 409,
        "request_mismatch": 409,
        "message_exists": 409,
        "attachment_exists": 409,
        "epoch_fenced": 409,
        "producer_gap": 409,
        "sequence_gap": 409,
        "block_not_found": 409,
        "block_complete": 409,
        "tool_status_regression": 409,
        "limit_exceeded": 413,
        "body_too_large": 413,
        "attachment_too_large": 413,
        "quota_exceeded": 413,
        "archive_line_too_long": 413,
        "query_too_large": 414,
        "unsupported_media_type": 415,
        "image_too_large": 422,
        "not_previewable": 422,
        "unsupported_encoding": 415,
        "range_not_satisfiable": 416,
        "headers_too_large": 431,
        "turns_in_flight_exceeded": 429,
        "queue_full": 429,
        "rate_limited": 429,
        "too_many_streams": 429,
        "too_many_uploads": 429,
        "too_many_previews": 429,
        "too_many_failed_logins": 429,
        "too_many_tickets": 429,
        "internal_error": 500,
        "page_unreadable": 500,
        "preview_unavailable": 501,
        "gateway_stopping": 503,
        "store_unavailable": 503,
        "store_full": 503,
        "store_readonly": 503,
        "store_busy": 503,
        "store_corrupt": 503,
        "store_closed": 503,
        "store_locked": 503,
        "bus_unavailable": 503,
        "storage_exceeded": 507,
    }
)

_STATUS_BY_KIND: Final[tuple[tuple[type[BlockwireError], int], ...]] = (
    (RemoteProtocolError, 400),
    (EngineError, 502),
    (StoreError, 503),
    (BusError, 503),
    (LocalProtocolError, 500),
)

# A body that breaks these is wrong in itself, and its error points into it; an event that breaks
# them does not fit the state of its turn.
_BY_POINTER: Final = frozenset({"block_exists", "field_not_mutable"})

# Refusals of ours that hold nothing but our own words.
_SPOKEN: Final = frozenset(
    {"gateway_stopping", "internal_error", "page_unreadable", "preview_unavailable"}
)
_BACKEND_SENTENCE: Final = "the gateway cannot do this now"
_INTERNAL_SENTENCE: Final = "the gateway failed; its log says more"
_WAITING: Final = frozenset({413, 429, 503})


def gateway_stopping() -> RemoteProtocolError:
    """Return the refusal of what would hold up a stop."""
    return RemoteProtocolError("gateway_stopping", "the gateway stops", retryable=True)


def internal_error() -> BlockwireError:
    """Return what a peer is told about a bug of ours: nothing."""
    return LocalProtocolError("internal_error", _INTERNAL_SENTENCE)


def status_of(error: BlockwireError) -> int:
    """Return the HTTP status of a refusal."""
    if error.code in _BY_POINTER:
        return 409 if error.pointer is None else 400
    status = STATUS_BY_CODE.get(error.code)
    if status is not None:
        return status
    return next((status for kind, status in _STATUS_BY_KIND if isinstance(error, kind)), 500)


def error_body(error: BlockwireError) -> dict[str, Json]:
    """Return the answer's body; what a backend said stays in our log."""
    is_ours = status_of(error) >= 500
    message = error.detail
    if is_ours and error.code not in _SPOKEN:
        message = _BACKEND_SENTENCE
    members: dict[str, Json] = {
        "code": error.code,
        "message": message,
        "retryable": error.retryable or status_of(error) in {429, 503},
    }
    if error.pointer is not None:
        members["pointer"] = error.pointer
    return {"error": members}


def retry_after_s(error: BlockwireError) -> int | None:
    """Return the seconds for ``Retry-After``, or None where waiting is not the point."""
    if isinstance(error, LimitError):
        return error.retry_after_s
    return RETRY_AFTER_S if status_of(error) in _WAITING else None
