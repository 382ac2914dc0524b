"""Cases that are no rows: they look at what is free in an answer, or stands beside the answers.

Spec: docs/spec/terminal/tools.md, "How a terminal is judged". :data:`EXCHANGES` in
:mod:`blockwire.conform.vectors` says which requirement each is about.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from blockwire.conform.answers import code_of
from blockwire.conform.connection import Connection, Mismatch
from blockwire.conform.probes import operation
from blockwire.conform.wire import Message, encode_message, frames

__all__ = ["play_exchange"]

Exchange: TypeAlias = Callable[[Connection, str], None]

ASK_DA1: Final = (b"\x1b[c", b"\x1b[0c")
_DA1: Final = re.compile(rb"\x1b\[\?[0-9;]*c")
CANARY: Final = "canary7f3a"
"""What no answer may hold but in its ids."""
CONTENT: Final = f"{CANARY}content"
ID: Final = f"{CANARY}id"


def play_exchange(name: str, connection: Connection, tag: str) -> None:
    """Play one of them; raises :class:`Mismatch`."""
    _EXCHANGES[name](connection, tag)


# the request for attributes ---------------------------------------------------------------
def _attributes(connection: Connection, tag: str) -> None:
    """DA1 is answered, behind what came before it and before what comes after it."""
    query = _request("capability.query", f"{tag}-da1")
    refused = operation("block.seal", f"{tag}-none", f"{tag}-da1", {"block_id": "x"})
    for before, ask in zip((query, refused), ASK_DA1, strict=True):
        last = _request("capability.query", f"{tag}-da1-{len(ask)}")
        data = connection.encode(before) + ask + connection.encode(last)
        _judge_order(connection.listen(data), before, last)


def _judge_order(heard: list[Message | bytes], before: Message, last: Message) -> None:
    written = b"".join(item for item in heard if isinstance(item, bytes))
    count = len(_DA1.findall(written))
    if count != 1:
        raise Mismatch(f"ESC [ c was answered {count} times, not once")
    at = {_name(item): number for number, item in enumerate(heard) if not isinstance(item, bytes)}
    first, second = at.get(_name(before)), at.get(_name(last))
    if first is None or second is None:
        raise Mismatch("a message beside ESC [ c was not answered")
    between = b"".join(item for item in heard[first:second] if isinstance(item, bytes))
    if _DA1.search(between) is None:
        raise Mismatch("ESC [ c was not answered in its turn")


def _name(message: Message) -> str:
    name: str = message.get("request_id") or message["operation_id"]
    return name


# frames that are none ---------------------------------------------------------------------
_QUERY: Final = encode_message(
    {"version": 1, "kind": "capability.query", "request_id": "bad-frame", "body": {}}
)
_GOOD: Final = frames(_QUERY)
BAD_FRAMES: Final[Mapping[str, bytes]] = MappingProxyType(
    {
        "a leading zero": _GOOD.replace(b";1;0;0;", b";01;0;0;"),
        "another version": _GOOD.replace(b"9002;1;", b"9002;2;"),
        "no payload": b"\x1b]9002;1;1;0;0;\x1b\\",
        "no base64": b"\x1b]9002;1;1;0;0;ey!9\x1b\\",
        "an index without a beginning": _GOOD.replace(b";1;0;0;", b";1;1;0;"),
        "a fragment that is too short": _GOOD.replace(b";1;0;0;", b";1;0;1;"),
        "cancelled": _GOOD[:-2] + b"\x18",
        "no JSON": frames(b"{"),
        "no fields": b"\x1b]9002;\x1b\\",
        "bytes that are no UTF-8": b"\x1b]9002;1;1;0;0;%s\x1b\\" % base64.b64encode(b"\xff"),
    }
)


def _bad_frames(connection: Connection, _tag: str) -> None:
    """Nothing is written for a frame that is none: no reply, and no report either."""
    for name, frame in BAD_FRAMES.items():
        heard = connection.listen(frame)
        if heard:
            raise Mismatch(f"{name}: nothing was asked, and it wrote {str(heard[0])[:60]!r}")


# what an answer may hold ------------------------------------------------------------------
def _diagnostics(connection: Connection, tag: str) -> None:
    """No answer repeats content, and no ``message`` an id."""
    request = _request("context.open", f"{tag}{ID}open")
    replies = connection.ask(connection.encode(request))
    context_id = str(replies[0].get("context_id", "none")) if replies else "none"
    refused = 0
    for message in _refused_messages(context_id, f"{tag}{ID}"):
        for reply in connection.ask(connection.encode(message)):
            refused += code_of(reply) is not None
            _judge_diagnostic(reply)
    if not refused:
        raise Mismatch("it refused nothing of what is wrong")


def _judge_diagnostic(reply: Message) -> None:
    body = reply["body"]
    told = str(body.get("message", body.get("error", {}).get("message", ""))).casefold()
    for what, canary in (("content", CONTENT), ("an id", ID)):
        if canary in told:
            raise Mismatch(f"the message of {code_of(reply)} holds {what}: {told[:80]!r}")


def _refused_messages(context_id: str, mark: str) -> Iterator[Message]:
    """Yield one message for each way to be refused, with a canary in each of its strings."""
    plain = {"type": "text/plain", "data": CONTENT}
    block = {"block_id": f"{mark}b"}
    base = {**block, "base_operation_id": f"{mark}1"}
    rows: tuple[tuple[str, str, Message], ...] = (
        ("block.append", "1", {**block, "lifecycle": "mutable", "content": plain}),
        ("block.append", "2", {**block, "lifecycle": "mutable", "content": plain}),
        ("block.append", "1", {**block, "lifecycle": "mutable", "content": plain}),
        ("block.append", "3", {**block, "lifecycle": CONTENT, "content": plain}),
        ("block.update", "4", {**block, "content": {"type": CONTENT, "data": CONTENT}}),
        ("block.update", "5", {"block_id": f"{mark}c", "content": plain}),
        ("block.update", "6", {**block, "content": plain, CONTENT: CONTENT}),
        ("block.extend", "7", {**base, "base_operation_id": f"{mark}0", "fragment": CONTENT}),
        ("block.extend", "8", {**base, "fragment": [{"text": CONTENT}]}),
        ("block.extend", "9", {**base, "fragment": {CONTENT: CONTENT}}),
        ("block.replace_suffix", "10", {**base, "retain": 999, "replacement": CONTENT}),
        ("block.replace_suffix", "11", {**base, "retain": CONTENT, "replacement": CONTENT}),
        ("block.seal", "12", block),
        ("block.update", "13", {**block, "content": plain}),
    )
    for kind, number, body in rows:
        yield operation(kind, context_id, f"{mark}{number}", body)
    yield operation("block.seal", f"{mark}none", f"{mark}14", block)
    for kind in ("capability.query", "context.open"):
        yield _request(kind, f"{mark}open") | {"body": {CONTENT: CONTENT}}
        yield _request(kind, f"{mark}{kind}") | {CONTENT: CONTENT}
    yield _request("context.close", f"{mark}open") | {"context_id": f"{mark}none"}
    yield _request("context.close", f"{mark}close") | {"context_id": f"{mark}none"}


def _request(kind: str, request_id: str) -> Message:
    return {"version": 1, "kind": kind, "request_id": request_id, "body": {}}


_EXCHANGES: Final[Mapping[str, Exchange]] = MappingProxyType(
    {"attributes": _attributes, "bad frames": _bad_frames, "diagnostics": _diagnostics}
)
