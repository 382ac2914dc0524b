"""What has to come back, and whether it did.

Spec: docs/spec/terminal/tools.md, "How a terminal is judged".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from blockwire.conform.connection import Connection, Mismatch
from blockwire.conform.shape import RESPONSE_KINDS
from blockwire.conform.wire import Message

__all__ = ["code_of", "compare", "failure", "plain", "response", "with_types"]


def response(request: Mapping[str, Any], body: Message) -> Message:
    """Return a response to a request, in its version."""
    return {
        "version": request.get("version", 1),
        "kind": RESPONSE_KINDS[request["kind"]],
        "request_id": request["request_id"],
        "body": body,
    }


def failure(identity: Mapping[str, Any], code: str) -> Message:
    """Return the answer to a request or an operation that failed with ``code``."""
    kind, named = identity["kind"], {}
    if "context_id" in identity:
        named["context_id"] = identity["context_id"]
    if kind in RESPONSE_KINDS:
        body: Message = {"outcome": "error", "error": {"code": code}}
        return response(identity, body) | named
    named["operation_id"] = identity["operation_id"]
    return {"version": 1, "kind": "protocol.error", **named, "body": {"code": code}}


def with_types(answer: Message, connection: Connection) -> Message:
    """Return an expected answer with the content types that this terminal advertises."""
    if answer["body"].get("outcome") != "supported":
        return answer
    listed = sorted(connection.optional_types or ())
    return answer | {"body": answer["body"] | {"optional_content_types": listed}}


def plain(reply: Message) -> Message:
    """Return a reply without what is free: diagnostics, and the order of content types."""
    body = dict(reply["body"])
    body.pop("message", None)
    if "error" in body:
        body["error"] = {"code": body["error"]["code"]}
    if "optional_content_types" in body:
        body["optional_content_types"] = sorted(body["optional_content_types"])
    return reply | {"body": body}


def compare(
    replies: Sequence[Message], expected: Sequence[Message], codes: Sequence[str] = ()
) -> None:
    """Compare what came with what had to come.

    Args:
        replies: Without what is free, see :func:`plain`.
        expected: The same; a Context id that is None may be any.
        codes: Where several codes conform, all of them.

    Raises:
        Mismatch: They differ.
    """
    for number, wanted in enumerate(expected):
        if number >= len(replies):
            raise Mismatch(f"expected {_told(wanted)}, got no answer")
        reply = replies[number]
        if codes and code_of(reply) in codes:
            wanted = wanted | {"body": reply["body"]}  # noqa: PLW2901 - any of them conforms
        if reply != _filled(wanted, reply):
            raise Mismatch(f"expected {_told(wanted)}, got {_told(reply)}")
    if len(replies) > len(expected):
        raise Mismatch(f"expected no answer, got {_told(replies[len(expected)])}")


def _filled(wanted: Message, reply: Message) -> Message:
    """Return what is wanted with the id that the terminal chose, where it may."""
    if "context_id" in wanted and wanted["context_id"] is None:
        return wanted | {"context_id": reply.get("context_id")}
    return wanted


def code_of(reply: Message) -> str | None:
    """Return the code of an error; None for every other answer."""
    body = reply["body"]
    code: str | None = body.get("code") or body.get("error", {}).get("code")
    return code


def _told(message: Message) -> str:
    ids = " ".join(
        str(message[name])
        for name in ("request_id", "operation_id", "context_id")
        if message.get(name)
    )
    what = code_of(message) or message["body"].get("outcome", "")
    listed = message["body"].get("optional_content_types")
    return f"{message['kind']} {what}{'' if listed is None else f' {listed}'} ({ids})"
