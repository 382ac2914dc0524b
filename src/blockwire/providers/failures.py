"""What a provider says about a failure, in our words: a code, a sentence, whether to try again.

Spec: docs/spec/providers.md, "Failures".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import Json, decode_json
from blockwire.providers.members import clean_name, count_of, text_of

__all__ = ["ProviderFailure", "decode_http_error", "failure_of"]

# Unicode scalars of a provider's message that reach a block; it may quote a whole request.
MESSAGE_CHARS_MAX: Final = 2000

# Bytes of an HTTP error body that are looked at.
BODY_BYTES_MAX: Final = 65_536

# Codes of ours for what has as many names as there are providers. Other codes of a provider stay
# what they are (``insufficient_quota``, ``tool_use_failed``), in lower case.
_OUR_CODES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "error": "provider_error",
        "engine_overloaded_error": "provider_overloaded",
        "overloaded": "provider_overloaded",
        "overloaded_error": "provider_overloaded",
        "insufficient_system_resource": "provider_overloaded",
        "server_is_overloaded": "provider_overloaded",
        "slow_down": "provider_overloaded",
        "bad_gateway": "provider_unavailable",
        "service_unavailable": "provider_unavailable",
        "service_unavailable_error": "provider_unavailable",
        "unavailable": "provider_unavailable",
        "too_many_requests": "provider_rate_limited",
    }
)
_OUR_CODES_OF_STATUS: Final[Mapping[int, str]] = MappingProxyType(
    {
        401: "provider_auth_failed",
        402: "provider_quota_exceeded",
        403: "provider_auth_failed",
        404: "provider_not_found",
        408: "provider_unavailable",
        413: "request_too_large",
        429: "provider_rate_limited",
        500: "provider_unavailable",
        502: "provider_unavailable",
        503: "provider_unavailable",
        504: "provider_unavailable",
        529: "provider_overloaded",
    }
)
_RETRYABLE: Final = frozenset(
    {
        "aborted",
        "api_error",
        "deadline_exceeded",
        "internal",
        "internal_error",
        "internal_server_error",
        "network_error",
        "provider_overloaded",
        "provider_rate_limited",
        "provider_unavailable",
        "rate_limit_error",
        "rate_limit_exceeded",
        "resource_exhausted",
        "server_error",
        "timeout",
        "timeout_error",
        "vector_store_timeout",
    }
)
_CODE: Final = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")
# Between the words of ``InternalServerError``, and of what is not snake case otherwise.
_WORD_ENDS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[-. ]+")
_NO_MESSAGE: Final = "The provider reported an error and did not say more."


class ProviderFailure(Struct, frozen=True, kw_only=True):
    """A failure as an error block tells it.

    Attributes:
        code: Snake case: ours where we have one, else the provider's own.
        message: The provider's sentence, not redacted yet.
        retryable: Whether the same request may work later.
        provider_code: The provider's own code as it came, a string or a number.
    """

    code: str
    message: str
    retryable: bool = False
    provider_code: str | int | None = None


def failure_of(error: Json, *, status: int | None = None) -> ProviderFailure:
    """Return what an ``error`` member or an error event means.

    Args:
        error: A string, or an object with any of ``code``, ``type``, ``status``, ``message``.
        status: HTTP status of the response, where it was not 200.
    """
    record: Mapping[str, Json] = error if isinstance(error, dict) else {"message": error}
    own_codes = [record.get(name) for name in ("code", "status", "type", "error_type")]
    words = [code for code in own_codes if isinstance(code, str) and code.strip()]
    numbers = [_status_of(value) for value in (*own_codes, record.get("status_code"), status)]
    number = next(filter(None, numbers), None)
    codes = [code for code in map(_our_code, words) if code is not None]
    # The word "error" says nothing, and must not hide a telling status or a telling type.
    code = next((code for code in codes if code != "provider_error"), None)
    code = code or _OUR_CODES_OF_STATUS.get(number or 0, "provider_error")
    own = words[0] if words else number or count_of(record, "code")
    return ProviderFailure(
        code=code,
        message=_message_of(record),
        # What the server could not do it may do later, whatever it calls that.
        retryable=code in _RETRYABLE or (number is not None and number >= 500),
        provider_code=clean_name(own) if isinstance(own, str) else own,
    )


def _status_of(value: Json) -> int | None:
    """Return the HTTP status of an error that ``value`` is; some have numbers of their own."""
    number = value if type(value) is int else 0
    if isinstance(value, str) and len(value) == 3 and value.isascii() and value.isdecimal():
        number = int(value)
    return number if 400 <= number <= 599 else None


def _our_code(word: str) -> str | None:
    code = _WORD_ENDS.sub("_", word.strip()).lower()
    return _OUR_CODES.get(code, code) if _CODE.match(code) else None


def _message_of(record: Mapping[str, Json]) -> str:
    for name in ("message", "detail", "error", "msg"):
        message = text_of(record, name).strip()
        if message:
            return message[:MESSAGE_CHARS_MAX]
    return _NO_MESSAGE


def decode_http_error(status: int, body: bytes) -> ProviderFailure:
    """Return what a response with an error status means.

    Args:
        status: HTTP status, 400 or more.
        body: Whatever came with it, JSON or not; only its beginning counts.
    """
    try:
        value = decode_json(body[:BODY_BYTES_MAX])
    except RemoteProtocolError:
        value = None
    # Gemini wraps the error of a stream in an array.
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, dict):
        return failure_of(f"The provider answered with HTTP status {status}.", status=status)
    error = value.get("error")
    return failure_of(value if error is None else error, status=status)
