"""What an HTTP response that is no answer means, and when it makes sense to ask again. No I/O.

Spec: docs/spec/gateway/engines.md, "Failures".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import Final, NamedTuple

from blockwire.engines.failures import ProviderError
from blockwire.providers import decode_http_error

__all__ = ["REFUSAL_BYTES_MAX", "Refusal", "delay_s", "is_worth_another_try", "refusal_of"]

REFUSAL_BYTES_MAX: Final = 65_536
"""Bytes of an error's body that are read."""

# Unicode scalars of a provider's own sentence that reach a reader.
SENTENCE_CHARS_MAX: Final = 500

DELAY_S: Final = 0.5
DELAY_S_MAX: Final = 8.0
# A provider that wants to be left alone for longer is not waited for.
RETRY_AFTER_S_MAX: Final = 30.0


class Refusal(NamedTuple):
    """What a status means: our code, and what to say before the provider's own sentence."""

    code: str
    sentence: str


_UNAVAILABLE: Final = Refusal("provider_unavailable", "The provider is unavailable")
_REJECTED: Final = Refusal("provider_rejected_request", "The provider rejected the request")
_KEY: Final = Refusal("provider_auth_failed", "The provider refused the key")

REFUSALS: Final[Mapping[int, Refusal]] = MappingProxyType(
    {
        401: _KEY,
        402: Refusal("provider_quota_exceeded", "The provider asks for payment"),
        403: _KEY,
        404: Refusal("provider_not_found", "The provider does not know the model or address"),
        408: Refusal("provider_unavailable", "The provider took too long"),
        413: Refusal("request_too_large", "The conversation is too large for the provider"),
        429: Refusal("provider_rate_limited", "The provider limits how often it is asked"),
        529: Refusal("provider_overloaded", "The provider is overloaded"),
    }
)
# Of these the same request may work later, and of all from 500 on but one.
RETRYABLE_STATUSES: Final[frozenset[int]] = frozenset({408, 429})
NOT_IMPLEMENTED: Final = 501
# A 429 that no waiting helps against.
_QUOTA_CODES: Final[frozenset[str]] = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached"}
)


def refusal_of(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    now_ms: int,
    redact: Callable[[str], str],
) -> ProviderError:
    """Return the error for a response whose status is not a success.

    Args:
        status: HTTP status.
        headers: By lower-case name.
        body: The beginning of the body.
        now_ms: Unix time, for a ``Retry-After`` that names a date.
        redact: Returns the provider's sentence without credentials.
    """
    if 300 <= status < 400:
        # Following would hand key and conversation to whoever is named there.
        return ProviderError(
            "provider_redirected",
            f"The provider redirects elsewhere (HTTP {status}); correct `base_url`.",
        )
    refusal = REFUSALS.get(status, _UNAVAILABLE if status >= 500 else _REJECTED)
    failure = decode_http_error(status, body)
    own = redact(failure.message)[:SENTENCE_CHARS_MAX]
    retryable = status in RETRYABLE_STATUSES or (status >= 500 and status != NOT_IMPLEMENTED)
    code = refusal.code
    if failure.code in _QUOTA_CODES or failure.provider_code in _QUOTA_CODES:
        code, retryable = "provider_quota_exceeded", False
    return ProviderError(
        code,
        f"{refusal.sentence} (HTTP {status}): {own}",
        retryable=retryable,
        retry_after_s=_retry_after_s(headers, now_ms) if retryable else None,
    )


def _retry_after_s(headers: Mapping[str, str], now_ms: int) -> float | None:
    """Return the wait that the provider asks for; None where it says nothing that is sensible."""
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if value.replace(".", "", 1).isdecimal() and value.isascii() and len(value) < 12:
            return float(value) * unit_s
    try:
        date = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, date.timestamp() - now_ms / 1000)


def is_worth_another_try(error: ProviderError) -> bool:
    """Return whether asking the same again, soon, may work."""
    if not error.retryable or error.code == "engine_idle":
        # Whoever was silent until a deadline would be silent until another one.
        return False
    return error.retry_after_s is None or error.retry_after_s <= RETRY_AFTER_S_MAX


def delay_s(error: ProviderError, attempt: int, jitter: float) -> float:
    """Return how long to wait before another try.

    Args:
        error: Why the last one failed.
        attempt: How many failed so far, from 1.
        jitter: From 0 to 1, so that many clients do not come back at once.
    """
    backoff_s: float = min(DELAY_S * 2 ** (attempt - 1), DELAY_S_MAX) * (0.5 + jitter / 2)
    return max(backoff_s, error.retry_after_s or 0.0)
