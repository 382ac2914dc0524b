"""Messages in few words, a session with ids that can be foretold, and vectors played through an endpoint."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any

import msgspec

from blockwire.terminal import (
    EMPTY,
    Answer,
    AppendBody,
    BlockAppend,
    BlockExtend,
    BlockReplaceSuffix,
    BlockSeal,
    BlockUpdate,
    CapabilityQuery,
    Change,
    ContentSnapshot,
    ContextClose,
    ContextOpen,
    Effect,
    Endpoint,
    ExtendBody,
    Limits,
    Operation,
    OperationIdentity,
    ReplaceSuffixBody,
    Reply,
    RequestIdentity,
    SealBody,
    TerminalSession,
    ToApplication,
    UpdateBody,
    WireMessage,
    encode_frames,
    encode_message,
)
from blockwire.terminal.content import Data
from blockwire.terminal.vocabulary import LINES, PLAIN, STYLED, Lifecycle, OperationErrorCode

OPTIONAL = (STYLED, LINES)


def query(request_id: str = "q", *, version: int = 1) -> CapabilityQuery:
    return CapabilityQuery(version=version, request_id=request_id, body=EMPTY)


def opening(request_id: str = "o") -> ContextOpen:
    return ContextOpen(version=1, request_id=request_id, body=EMPTY)


def closing(request_id: str = "c", context_id: str = "c1") -> ContextClose:
    return ContextClose(version=1, request_id=request_id, context_id=context_id, body=EMPTY)


def append(
    operation_id: str,
    data: Any = "x",
    *,
    block_id: str = "a",
    context_id: str = "c1",
    lifecycle: Lifecycle = "mutable",
    type_name: str = PLAIN,
) -> BlockAppend:
    body = AppendBody(
        block_id=block_id,
        lifecycle=lifecycle,
        content=ContentSnapshot(type=type_name, data=data),
    )
    return BlockAppend(version=1, operation_id=operation_id, context_id=context_id, body=body)


def update(
    operation_id: str,
    data: Any = "x",
    *,
    block_id: str = "a",
    context_id: str = "c1",
    type_name: str = PLAIN,
) -> BlockUpdate:
    body = UpdateBody(block_id=block_id, content=ContentSnapshot(type=type_name, data=data))
    return BlockUpdate(version=1, operation_id=operation_id, context_id=context_id, body=body)


def extend(
    operation_id: str,
    base: str,
    fragment: Data = "x",
    *,
    block_id: str = "a",
    context_id: str = "c1",
) -> BlockExtend:
    body = ExtendBody(block_id=block_id, base_operation_id=base, fragment=fragment)
    return BlockExtend(version=1, operation_id=operation_id, context_id=context_id, body=body)


def replace_suffix(
    operation_id: str,
    base: str,
    retain: int,
    replacement: Data = "x",
    *,
    block_id: str = "a",
    context_id: str = "c1",
) -> BlockReplaceSuffix:
    body = ReplaceSuffixBody(
        block_id=block_id, base_operation_id=base, retain=retain, replacement=replacement
    )
    return BlockReplaceSuffix(
        version=1, operation_id=operation_id, context_id=context_id, body=body
    )


def seal(operation_id: str, *, block_id: str = "a", context_id: str = "c1") -> BlockSeal:
    body = SealBody(block_id=block_id)
    return BlockSeal(version=1, operation_id=operation_id, context_id=context_id, body=body)


def invalid_operation(
    operation_id: str, context_id: str = "c1", kind: str = "block.seal"
) -> OperationIdentity:
    return OperationIdentity(version=1, kind=kind, operation_id=operation_id, context_id=context_id)


def invalid_request(kind: str, request_id: str, context_id: str | None = None) -> RequestIdentity:
    return RequestIdentity(version=1, kind=kind, request_id=request_id, context_id=context_id)


def numbered_contexts() -> Callable[[], str]:
    """Return a source of the ids c1, c2 and so on."""
    numbers = count(1)
    return lambda: f"c{next(numbers)}"


class World:
    """A session, and what it answered; the Contexts are c1, c2 and so on."""

    def __init__(self, *, contexts: int = 1, limits: Limits | None = None, **options: Any) -> None:
        options.setdefault("optional_content_types", OPTIONAL)
        options.setdefault("new_context_id", numbered_contexts())
        self.session = TerminalSession(limits=limits, **options)
        for number in range(contexts):
            assert self.code(opening(f"open-{number + 1}")) == "opened"

    def do(self, *messages: WireMessage) -> list[Change]:
        """Let messages happen; return all changes."""
        changes: list[Change] = []
        for message in messages:
            changes += self.session.commit(self.session.prepare(message))
        return changes

    def answer(self, message: WireMessage) -> ToApplication | None:
        """Let one message happen; return the answer."""
        answers = [it.message for it in self.do(message) if isinstance(it, Answer)]
        assert len(answers) <= 1
        return answers[0] if answers else None

    def code(self, message: WireMessage) -> str | None:
        """Let one message happen; return the code or outcome, None for silence."""
        return code_of(self.answer(message))

    def codes(self, *messages: WireMessage) -> list[str | None]:
        return [self.code(message) for message in messages]

    def text(self, block_id: str = "a", context_id: str = "c1") -> str:
        content = self.session.contexts[context_id].blocks[block_id].content
        assert content is not None
        return content.text()

    def state(self) -> Any:
        """Return all that a host can see."""
        return state_of(self.session)


def code_of(message: ToApplication | None) -> str | None:
    if message is None:
        return None
    members = plain(message)["body"]
    members = members.get("error") or members
    return str(members.get("code") or members["outcome"])


def plain(message: WireMessage) -> Any:
    """Return a message as JSON, as the other end would read it."""
    return json.JSONDecoder().decode(encode_message(message).decode())


def state_of(session: TerminalSession, names: dict[str, str] | None = None) -> list[Any]:
    """Return all Contexts in the form of the vectors; a trimmed Block has no data."""
    return [
        {
            "id": (names or {}).get(context.context_id, context.context_id),
            "state": context.state,
            "blocks": [
                {
                    "id": block.block_id,
                    "lifecycle": block.lifecycle,
                    "type": block.content_type,
                    "data": data_json(block.content.data()) if block.content else None,
                    "content_state": block.content_state,
                }
                for block in context.blocks.values()
            ],
        }
        for context in session.contexts.values()
    ]


def data_json(data: Data) -> Any:
    """Return content data as JSON."""
    return json.JSONDecoder().decode(msgspec.json.encode(data).decode())


def framed(*messages: WireMessage) -> bytes:
    """Return messages in frames."""
    return b"".join(
        encode_frames(encode_message(message), number + 1)
        for number, message in enumerate(messages)
    )


def replies(effects: Iterable[Effect]) -> list[ToApplication]:
    return [effect.message for effect in effects if isinstance(effect, Reply)]


def scripted(decisions: dict[str, str]) -> Callable[[Operation], OperationErrorCode | None]:
    """Return a host that decides by operation id; ``throw`` is its own failure."""

    def decide(operation: Operation) -> Any:
        decision = decisions.get(operation.operation_id)
        if decision == "throw":
            raise RuntimeError("the host has failed")
        return decision

    return decide


def endpoint_of(options: dict[str, Any]) -> Endpoint:
    """Return what a row of session vectors is played to."""
    numbers = count(1)
    session = TerminalSession(
        new_context_id=lambda: f"context-{next(numbers)}",
        is_baseline_complete=options["complete_baseline_supported"],
        optional_content_types=options.get("optional_content_types", ()),
        limits=Limits(**options.get("limits", {})),
    )
    return Endpoint(session, decide=scripted(options.get("host_prepare", {})))


def play(endpoint: Endpoint, step: dict[str, Any]) -> list[Effect]:
    """Return the effects of one step of a row."""
    match step.get("host"):
        case None:
            return endpoint.receive_data(base64.b64decode(step.get("bytes_base64", "")))
        case "invalidate-context":
            return endpoint.invalidate(step["context_id"])
        case "evict-block":
            return endpoint.evict(step["context_id"], step["block_id"])
        case "end-of-connection":
            return endpoint.end_of_stream()
        case unknown:
            raise AssertionError(f"a step of no kind: {unknown}")


def said(effects: Iterable[Effect]) -> list[Any]:
    """Return the replies as JSON, without what is for people."""
    return [without_sentence(plain(message)) for message in replies(effects)]


def without_sentence(message: Any) -> Any:
    for members in (message["body"], message["body"].get("error", {})):
        members.pop("message", None)
    return message


def differences(row: dict[str, Any]) -> Iterator[str]:
    """Play a row, and yield where what happens is not what it says."""
    endpoint = endpoint_of(row["options"])
    for number, step in enumerate(row["steps"]):
        found = said(play(endpoint, step))
        codes = step.get("acceptable_codes")
        if codes and [message["body"]["code"] in codes for message in found] == [True]:
            continue
        if found != step["out"]:
            yield f"step {number}: {found} instead of {step['out']}"
    final = state_of(endpoint.session)
    if final != row["final_contexts"]:
        yield f"at the end: {final} instead of {row['final_contexts']}"
