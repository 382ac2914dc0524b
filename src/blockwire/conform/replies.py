"""What the scripted terminal says, and which rule a refusal of it is about.

Spec: docs/spec/terminal/tools.md, "How an application is judged".
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

from blockwire.conform.wire import Message

__all__ = [
    "CHECK_OF_CODE",
    "DA1_ANSWER",
    "LONGER_WINDOWS",
    "TYPES",
    "WINDOWS",
    "Answer",
    "Windows",
    "check_of_wrong",
    "operation_error",
    "query_answer",
    "supported",
]

Answer: TypeAlias = Literal["supported", "unsupported", "error", "none", "other id"]

DA1_ANSWER: Final = b"\x1b[?62;22c"
TYPES: Final = ("text/styled", "text/lines")


class Windows(NamedTuple):
    """How long it is looked whether something happens that nothing announces.

    Attributes:
        watch_s: Behind the query, whether anything else is written before it is answered; below
            every cap.
        settle_s: How long nothing comes from a program that waits for an answer.
        late_s: How long behind the cap an answer is too late.
    """

    watch_s: float
    settle_s: float
    late_s: float


WINDOWS: Final = Windows(watch_s=0.15, settle_s=0.15, late_s=0.3)
LONGER_WINDOWS: Final = Windows(watch_s=0.5, settle_s=2.0, late_s=0.7)
"""For a second look: nobody fails because a machine was slow."""

CHECK_OF_CODE: Final = {
    "content_state_mismatch": "bases",
    "operation_id_reused": "ids",
    "context_not_open": "contexts",
}
# how the reader tells a wrong frame -> check
_CHECK_OF_DETAIL: Final = {
    "a frame does not end with ESC \\": "terminators",
    "something stands between the frames of a message": "adjacent",
    "a message begins before the last one ended": "adjacent",
}


def check_of_wrong(detail: str) -> str:
    """Return the check that a wrong frame or message is about."""
    return _CHECK_OF_DETAIL.get(detail, "messages" if "message is no" in detail else "frames")


def query_answer(answer: Answer, request_id: str) -> Message | None:
    """Return the answer to a query; None for silence."""
    if answer == "none":
        return None
    if answer == "supported":
        return supported(request_id)
    if answer == "other id":
        return supported(f"{request_id}-of-somebody-else")
    body: Message = {"outcome": answer}
    if answer == "error":
        body["error"] = {"code": "internal_error"}
    return supported(request_id) | {"body": body}


def supported(request_id: str) -> Message:
    """Return the answer that supports all of :data:`TYPES`."""
    body = {"outcome": "supported", "optional_content_types": list(TYPES)}
    return {"version": 1, "kind": "capability.response", "request_id": request_id, "body": body}


def operation_error(message: Message, code: str) -> Message:
    """Return what says that an operation was refused."""
    reply = {name: message[name] for name in ("version", "operation_id", "context_id")}
    return reply | {"kind": "protocol.error", "body": {"code": code}}
