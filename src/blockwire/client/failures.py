"""What can go wrong between a program and its gateway, as one kind of exception.

Spec: docs/spec/error-codes.md. A refusal keeps the gateway's code and sentence; what happens on
the way there has codes of the client's own, and each sentence says what to do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

from blockwire.content.fields import CODE
from blockwire.errors import BlockwireError, RemoteProtocolError
from blockwire.jsontext import Json, decode_json
from blockwire.text import label_controls

__all__ = [
    "PROTOCOL",
    "PROTOCOL_HEADER",
    "RETRY_AFTER_S_MAX",
    "ClientError",
    "check_protocol",
    "client_closed",
    "connection_lost",
    "is_passing",
    "read_retry_after_s",
    "refusal",
    "refusal_of",
    "unexpected",
    "unreachable",
]

PROTOCOL: Final = "1"
"""Version of what client and gateway speak (docs/spec/gateway/routes.md, "Answers")."""

PROTOCOL_HEADER: Final = "blockwire-protocol"

RETRY_AFTER_S_MAX: Final = 3600.0
"""Seconds of ``Retry-After`` that are believed; more is more likely a mistake than a plan."""

DETAIL_CHARS_MAX: Final = 1_000
"""Unicode scalar values of a peer's sentence that are kept."""

# The request was not refused for what it is; the same one may be let in a moment later.
_PASSING: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})


class ClientError(BlockwireError):
    """A call did not succeed.

    Attributes:
        status: HTTP status of the answer; None where there was none.
        retry_after_s: Seconds that the gateway asked to wait; None where it did not.
    """

    def __init__(  # noqa: PLR0913 - what is known about a failure
        self,
        code: str,
        detail: str,
        *,
        status: int | None = None,
        retryable: bool = False,
        pointer: str | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(code, detail, retryable=retryable, pointer=pointer)
        self.status = status
        self.retry_after_s = retry_after_s


def is_passing(status: int) -> bool:
    """Return whether the same request may succeed later: 408, 429 and every 5xx."""
    return status in _PASSING or status >= HTTPStatus.INTERNAL_SERVER_ERROR


def unreachable(base_url: str, reason: str) -> ClientError:
    """Return the error for a gateway to which no connection could be made."""
    return ClientError(
        "gateway_unreachable",
        f"no connection to {base_url} ({reason}); start one with `blockwire serve`, "
        "or check the URL",
        retryable=True,
    )


def connection_lost(base_url: str, reason: str) -> ClientError:
    """Return the error for a connection that broke before the answer was complete."""
    return ClientError(
        "connection_lost",
        f"the connection to {base_url} broke ({reason}); the gateway may have done what was asked",
        retryable=True,
    )


def client_closed() -> ClientError:
    """Return the error for a call of a client that was closed."""
    return ClientError("client_closed", "the client was closed; make a new one")


def unexpected(code: str, base_url: str, what: str, status: int | None = None) -> ClientError:
    """Return the error for an answer that no gateway of ours gives."""
    detail = f"{base_url} answered {what}; is a blockwire gateway there, or a proxy in between?"
    return ClientError(code, detail, status=status)


def check_protocol(version: str | None, base_url: str) -> None:
    """Check the version that an answer names; one without a version is judged by what it holds.

    Raises:
        ClientError: ``protocol_mismatch``, saying which side to update.
    """
    if version is None or version == PROTOCOL:
        return
    is_newer = version.isascii() and version.isdecimal() and len(version) <= 9
    side = "this client" if is_newer and int(version) > int(PROTOCOL) else "the gateway"
    raise ClientError(
        "protocol_mismatch",
        f"{base_url} speaks protocol {version[:32]!a} and this client {PROTOCOL!a}: update {side}",
    )


def read_retry_after_s(value: str | None, now_ms: int) -> float | None:
    """Return the seconds that ``Retry-After`` asks for, at most :data:`RETRY_AFTER_S_MAX`.

    Args:
        value: Seconds or a date; None, and what cannot be read, asks for nothing.
        now_ms: Unix milliseconds.
    """
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdecimal():
        # A long row of digits is cut before it is converted.
        return min(float(text[:9]), RETRY_AFTER_S_MAX)
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    # HTTP dates are in GMT, also where they do not say so.
    at_ms = date.replace(tzinfo=date.tzinfo or UTC).timestamp() * 1000
    return min(max(math.ceil((at_ms - now_ms) / 1000), 0), RETRY_AFTER_S_MAX)


def refusal(
    status: int, headers: Mapping[str, str], body: bytes, *, base_url: str, now_ms: int
) -> ClientError:
    """Return the error that an answer of ``status`` is, in the gateway's words if it has some."""
    retry_after_s = read_retry_after_s(headers.get("retry-after"), now_ms)
    error = refusal_of(_read(body), status=status, retry_after_s=retry_after_s)
    if error is not None:
        return error
    if status < HTTPStatus.BAD_REQUEST:
        return unexpected("unexpected_status", base_url, f"HTTP {status}", status)
    return ClientError(
        "http_error",
        f"{base_url} answered HTTP {status}, and not in the words of a blockwire gateway",
        status=status,
        retryable=is_passing(status),
        retry_after_s=retry_after_s,
    )


def refusal_of(
    value: Json, *, status: int | None = None, retry_after_s: float | None = None
) -> ClientError | None:
    """Return the error that ``{"error": {...}}`` spells; None when ``value`` is something else."""
    error = value.get("error") if isinstance(value, dict) else None
    if not isinstance(error, dict):
        return None
    code, message, pointer = (error.get(name) for name in ("code", "message", "pointer"))
    if not (isinstance(code, str) and CODE.match(code)):
        return None
    return ClientError(
        code,
        _one_line(message) if isinstance(message, str) else "no reason was given",
        status=status,
        retryable=error.get("retryable") is True,
        pointer=_one_line(pointer) if isinstance(pointer, str) else None,
        retry_after_s=retry_after_s,
    )


def _one_line(text: str) -> str:
    """Return a peer's words as they may be printed: nothing in them reaches a terminal."""
    return label_controls(text[:DETAIL_CHARS_MAX], breaks="label", tabs="label")


def _read(body: bytes) -> Json:
    try:
        return decode_json(body)
    except RemoteProtocolError:
        return None
