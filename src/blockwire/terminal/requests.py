"""Requests: how each is answered, and that the same one gets the same answer again.

Spec: docs/spec/terminal/contexts.md, "Requests".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from blockwire.terminal.bounds import PROTOCOL_VERSION
from blockwire.terminal.contexts import Ledger, StoredRequest
from blockwire.terminal.messages import (
    CapabilityQuery,
    CapabilityResponse,
    Closed,
    ContextClose,
    ContextCloseResponse,
    ContextOpenResponse,
    ControlFailure,
    ErrorBody,
    Failed,
    Opened,
    ProtocolError,
    Request,
    RequestIdentity,
    Response,
    Supported,
    Unsupported,
)
from blockwire.terminal.vocabulary import ControlErrorCode, OperationErrorCode

CONTEXT_ID_ATTEMPTS_MAX: Final = 8
"""How often a host may offer a Context id that is taken before that is its failure."""

# What `message` says beside a code: for people, the same each time, without a word of content.
SENTENCES: Final[Mapping[ControlErrorCode | OperationErrorCode, str]] = MappingProxyType(
    {
        "invalid_message": "the message breaks its schema",
        "context_not_open": "no Context of this id is open",
        "resource_exhausted": "a limit of the terminal is reached",
        "internal_error": "the terminal failed before anything changed",
        "request_id_conflict": "the request id belongs to another request",
        "operation_id_reused": "the operation id was used before",
        "block_id_reused": "the Context has a Block of this id",
        "block_not_found": "the Context has no Block of this id",
        "block_sealed": "the Block is sealed",
        "unsupported_content_type": "the content type is not on offer",
        "invalid_content": "the content does not fit its type or what it is to continue",
        "content_state_mismatch": "the base is not the current content state of the Block",
        "invalid_content_boundary": "nothing stands behind what is to be retained",
    }
)


class Offer(Struct, frozen=True, kw_only=True):
    """What this end of the connection can do, and where its Context ids come from."""

    optional_content_types: tuple[str, ...]
    is_baseline_complete: bool
    new_context_id: Callable[[], str]


class PreparedRequest(Struct, frozen=True, eq=False, gc=False):
    """A request and what is answered.

    Attributes:
        is_new: Whether the answer is to be kept and what it says to be done.
        revision: Of the ledger that was looked at.
    """

    request: Request
    response: Response
    is_new: bool
    revision: int


def answer_request(ledger: Ledger, request: Request, offer: Offer) -> PreparedRequest:
    """Return the answer to a valid request; changes nothing."""
    if request.version != PROTOCOL_VERSION:
        # Of another version nothing is known, so neither is what its request ids mean.
        response = CapabilityResponse(
            version=request.version, request_id=request.request_id, body=Unsupported()
        )
        return PreparedRequest(request, response, is_new=False, revision=ledger.revision)
    stored = ledger.requests.get(request.request_id)
    if stored is not None:
        is_same = stored.response is not None and stored.request == request
        old = stored.response if is_same else failed_request(request, "request_id_conflict")
        assert old is not None, "a valid request is stored with its answer"
        return PreparedRequest(request, old, is_new=False, revision=ledger.revision)
    if not _can_record(ledger, request.request_id):
        full = failed_request(request, "resource_exhausted")
        return PreparedRequest(request, full, is_new=False, revision=ledger.revision)
    new = _new_answer(ledger, request, offer)
    return PreparedRequest(request, new, is_new=True, revision=ledger.revision)


def _new_answer(ledger: Ledger, request: Request, offer: Offer) -> Response:
    version, request_id = request.version, request.request_id
    if isinstance(request, CapabilityQuery):
        listed = Supported(optional_content_types=offer.optional_content_types)
        body = listed if offer.is_baseline_complete else Unsupported()
        return CapabilityResponse(version=version, request_id=request_id, body=body)
    if isinstance(request, ContextClose):
        context = ledger.contexts.get(request.context_id)
        if context is None or context.state == "invalidated":
            return failed_request(request, "context_not_open")
        return ContextCloseResponse(
            version=version, request_id=request_id, context_id=context.context_id, body=Closed()
        )
    if ledger.open_count >= ledger.limits.contexts_open_max:
        return failed_request(request, "resource_exhausted")
    context_id = _unused_context_id(ledger, offer.new_context_id)
    if context_id is None:
        return failed_request(request, "internal_error")
    return ContextOpenResponse(
        version=version, request_id=request_id, context_id=context_id, body=Opened()
    )


def _unused_context_id(ledger: Ledger, new_context_id: Callable[[], str]) -> str | None:
    for _ in range(CONTEXT_ID_ATTEMPTS_MAX):
        context_id = new_context_id()
        if context_id and context_id not in ledger.contexts:
            return context_id
    return None


def record_request(ledger: Ledger, request: Request, response: Response) -> None:
    """Keep the outcome of a valid request, if there is room; its id stays as it is, if it is known."""
    chars = len(request.context_id) if isinstance(request, ContextClose) else 0
    _record(ledger, request.request_id, StoredRequest(request, response), chars)


def record_invalid(ledger: Ledger, request_id: str) -> None:
    """Take the id of an invalid request, if there is room; it stays as it is, if it is known."""
    _record(ledger, request_id, StoredRequest(), 0)


def _record(ledger: Ledger, request_id: str, stored: StoredRequest, chars: int) -> None:
    if request_id not in ledger.requests and _can_record(ledger, request_id):
        ledger.requests[request_id] = stored
        ledger.request_id_chars += len(request_id) + chars


def _can_record(ledger: Ledger, request_id: str) -> bool:
    limits = ledger.limits
    return (
        len(request_id) <= limits.id_chars_max
        and len(ledger.requests) < limits.requests_max
        and ledger.request_id_chars < limits.request_id_chars_max
    )


def fail_request(ledger: Ledger, request: Request, code: ControlErrorCode) -> Response:
    """Let a valid request fail, keep that outcome if there is room, and return the answer."""
    response = failed_request(request, code)
    record_request(ledger, request, response)
    return response


def failed_request(request: Request, code: ControlErrorCode) -> Response:
    """Return the answer that says why a valid request failed."""
    kind = request.__struct_config__.tag
    identity = RequestIdentity(
        version=request.version,
        kind=str(kind),
        request_id=request.request_id,
        context_id=request.context_id if isinstance(request, ContextClose) else None,
    )
    return failed_identity(identity, code)


def failed_identity(identity: RequestIdentity, code: ControlErrorCode) -> Response:
    """Return the answer that says why the request of this identity failed."""
    body = Failed(error=ControlFailure(code=code, message=SENTENCES[code]))
    if identity.kind == "capability.query":
        return CapabilityResponse(
            version=identity.version, request_id=identity.request_id, body=body
        )
    if identity.kind == "context.open":
        return ContextOpenResponse(
            version=identity.version, request_id=identity.request_id, body=body
        )
    assert identity.context_id is not None, "a close is identified by both ids"
    return ContextCloseResponse(
        version=identity.version,
        request_id=identity.request_id,
        context_id=identity.context_id,
        body=body,
    )


def rejection(
    version: int, operation_id: str, context_id: str, code: OperationErrorCode
) -> ProtocolError:
    """Return the answer that says why an operation was rejected."""
    return ProtocolError(
        version=version,
        operation_id=operation_id,
        context_id=context_id,
        body=ErrorBody(code=code, message=SENTENCES[code]),
    )
