"""Targets of the terminal's end: operations in any order, and streams damaged and cut anywhere."""

from __future__ import annotations

import random
from itertools import count
from typing import Any, Final

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
    ContentSnapshot,
    ContextClose,
    ContextOpen,
    Effect,
    Endpoint,
    ExtendBody,
    Limits,
    Operation,
    OperationIdentity,
    PassThrough,
    ReplaceSuffixBody,
    Reply,
    SealBody,
    Stopped,
    TerminalSession,
    UpdateBody,
    WireMessage,
    encode_frames,
    encode_message,
)
from blockwire.terminal.content import Data, Layout, Line, Span, Style
from blockwire.terminal.decoder import FrameDecoder
from blockwire.terminal.preconditions import Sheet
from blockwire.terminal.types import CONTENT_TYPES
from blockwire.terminal.vocabulary import LINES, PLAIN, STYLED
from fuzz.chances import damaged, pieces, text, value

__all__ = ["endpoint", "session"]

STEPS_MAX: Final = 60
RETAINED_BYTES_MAX: Final = 1_100_000

_BLOCK_IDS: Final = ("a", "b", "c", "d")
_CONTEXT_IDS: Final = ("c1", "c1", "c1", "c2", "c3")
_TYPES: Final = (PLAIN, STYLED, LINES)
_STYLES: Final = (
    Style(foreground="red"), Style(background="#00ff00", attributes=("bold",)),
    Style(link="https://example.org/"), Style(),
)  # fmt: skip
_LAYOUTS: Final = (
    Layout(), Layout(align="right"), Layout(wrap="none", first_prefix=(Span(text="> "),)),
    Layout(fill=Style(background="blue")), Layout(fill=Style(foreground="blue")),
)  # fmt: skip


def _span(chance: random.Random, *, has_breaks: bool) -> Span:
    words = text(chance, 12)
    if not has_breaks:
        words = words.replace("\r", "").replace("\n", "")
    return (
        Span(text=words, style=chance.choice(_STYLES))
        if chance.random() < 0.3
        else Span(text=words)
    )


def _data(chance: random.Random, type_name: str, items_min: int = 0) -> Data:
    if type_name == PLAIN:
        return text(chance, 20) or "x" * items_min
    length = chance.randint(items_min, 3)
    if type_name == STYLED:
        return tuple(_span(chance, has_breaks=True) for _ in range(length))
    return tuple(
        Line(spans=spans, layout=chance.choice(_LAYOUTS))
        if chance.random() < 0.3
        else Line(spans=spans)
        for spans in (
            tuple(
                _span(chance, has_breaks=chance.random() < 0.1) for _ in range(chance.randint(0, 2))
            )
            for _ in range(length)
        )
    )


def _operation(chance: random.Random, known: TerminalSession) -> Operation:
    ids = {"operation_id": str(chance.randint(0, 80)), "context_id": chance.choice(_CONTEXT_IDS)}
    block_id = chance.choice(_BLOCK_IDS)
    context = known.contexts.get(ids["context_id"])
    block = context.blocks.get(block_id) if context else None
    base = block.content_state if block and chance.random() < 0.9 else "0"
    type_name = block.content_type if block and chance.random() < 0.9 else chance.choice(_TYPES)
    match chance.randrange(8):
        case 0:
            kind = chance.choice((*_TYPES, "text/none"))
            data: Any = _data(chance, kind) if kind in _TYPES else value(chance)
            content = ContentSnapshot(type=kind, data=data)
            lifecycle: Any = "sealed" if chance.random() < 0.1 else "mutable"
            appending = AppendBody(block_id=block_id, lifecycle=lifecycle, content=content)
            return BlockAppend(version=1, **ids, body=appending)
        case 1:
            kind = chance.choice(_TYPES)
            content = ContentSnapshot(type=kind, data=_data(chance, kind))
            return BlockUpdate(
                version=1, **ids, body=UpdateBody(block_id=block_id, content=content)
            )
        case 2 if chance.random() < 0.3:
            return BlockSeal(version=1, **ids, body=SealBody(block_id=block_id))
        case 3 | 4:
            extending = ExtendBody(
                block_id=block_id, base_operation_id=base, fragment=_data(chance, type_name, 1)
            )
            return BlockExtend(version=1, **ids, body=extending)
        case _:
            replacing = ReplaceSuffixBody(
                block_id=block_id, base_operation_id=base, retain=chance.randint(0, 12),
                replacement=_data(chance, type_name),
            )  # fmt: skip
            return BlockReplaceSuffix(version=1, **ids, body=replacing)


def _request(chance: random.Random) -> WireMessage:
    request_id = f"r{chance.randint(0, 15)}"
    match chance.randrange(4):
        case 0:
            return CapabilityQuery(
                version=chance.choice((1, 1, 7)), request_id=request_id, body=EMPTY
            )
        case 1:
            context_id = chance.choice(_CONTEXT_IDS)
            return ContextClose(version=1, request_id=request_id, context_id=context_id, body=EMPTY)
        case _:
            return ContextOpen(version=1, request_id=request_id, body=EMPTY)


def _new_session() -> TerminalSession:
    numbers = count(1)
    return TerminalSession(
        new_context_id=lambda: f"c{next(numbers)}",
        optional_content_types=(STYLED, LINES),
        limits=Limits(operation_ids_max=60, blocks_max=3, block_bytes_max=400, contexts_open_max=2),
    )


def _shown(known: TerminalSession) -> list[Any]:
    return [
        (context.context_id, context.state, [
            (block.block_id, block.lifecycle, block.content_type, block.content_state,
             block.content and (block.content.data(), block.content.text(),
                                block.content.scalar_count))
            for block in context.blocks.values()])
        for context in known.contexts.values()
    ]  # fmt: skip


def _logical(type_name: str, data: Data) -> str:
    return CONTENT_TYPES[type_name].new_content(data).text()


def session(chance: random.Random) -> None:
    """What is rejected changes nothing, what succeeds changes the text as its page says."""
    known = _new_session()
    known.commit(known.prepare(ContextOpen(version=1, request_id="o", body=EMPTY)))
    for _ in range(chance.randint(1, STEPS_MAX)):
        before = _shown(known)
        match chance.randrange(20):
            case 0:
                known.evict(chance.choice(_CONTEXT_IDS), chance.choice(_BLOCK_IDS))
            case 1:
                known.refuse_invalid(
                    OperationIdentity(version=1, kind="block.seal", context_id="c1",
                                      operation_id=str(chance.randint(0, 80)))
                )  # fmt: skip
                assert _shown(known) == before, "an invalid operation changed something"
            case 2:
                known.commit(known.prepare(_request(chance)))
            case 3 if chance.random() < 0.2:
                known.invalidate(chance.choice(_CONTEXT_IDS))
            case _:
                _operate(known, _operation(chance, known), before)
    known.end_of_connection()
    assert all(context.state != "open" for context in known.contexts.values()), "one is left open"


def _operate(known: TerminalSession, operation: Operation, before: list[Any]) -> None:
    verdict = known.prepare(operation)
    assert _shown(known) == before, f"preparing changed something: {operation}"
    old = verdict.block.content if isinstance(verdict, Sheet) and verdict.block else None
    old_text = old.text() if old else ""
    changes = known.commit(verdict)
    if not isinstance(verdict, Sheet):
        assert len(changes) == 1, f"one answer: {operation}"
        assert isinstance(changes[0], Answer), f"an answer: {operation}"
        assert _shown(known) == before, f"a rejection changed something: {operation}"
        return
    assert not any(isinstance(change, Answer) for change in changes), f"not silent: {operation}"
    block = known.contexts[operation.context_id].blocks[operation.body.block_id]
    content = block.content
    if isinstance(operation, BlockSeal) or content is None:
        assert block.lifecycle == "sealed", f"not sealed: {operation}"
        return
    assert block.content_state == operation.operation_id, f"another state: {operation}"
    if isinstance(operation, BlockExtend):
        expected = old_text + _logical(block.content_type, operation.body.fragment)
    elif isinstance(operation, BlockReplaceSuffix):
        kept = old_text[: operation.body.retain]
        expected = kept + _logical(block.content_type, operation.body.replacement)
    else:
        data = operation.body.content.data
        assert isinstance(data, str | tuple), f"not read: {operation}"
        expected = _logical(block.content_type, data)
    assert content.text() == expected, f"another text: {operation}"
    assert content.scalar_count == len(expected), f"another length: {operation}"


def _stream(chance: random.Random, known: TerminalSession) -> bytes:
    """Return frames of messages and other bytes; ``known`` hears them as well, to go on from."""
    parts: list[bytes] = []
    opening = ContextOpen(version=1, request_id="o", body=EMPTY)
    messages: list[WireMessage] = [opening]
    known.commit(known.prepare(opening))
    for number in range(chance.randint(0, 25)):
        message = _request(chance) if chance.random() < 0.15 else _operation(chance, known)
        known.commit(known.prepare(message))
        messages.append(message)
        if number % 5 == 0:
            parts.append(text(chance).encode())
    for frame_id, message in enumerate(messages, start=1):
        frame = encode_frames(encode_message(message), frame_id)
        parts.insert(chance.randint(0, len(parts)) if chance.random() < 0.1 else len(parts), frame)
    return b"".join(parts)


def _told(effects: list[Effect]) -> list[Any]:
    """Return effects that can be compared: ordinary bytes joined, views left to the end."""
    found: list[Any] = []
    for effect in effects:
        if isinstance(effect, PassThrough):
            if found and isinstance(found[-1], bytes):
                found[-1] += effect.data
            else:
                found.append(effect.data)
        elif isinstance(effect, Reply):
            found.append((effect.message, effect.data))
        else:
            found.append((type(effect), getattr(effect, "operation_id", None),
                          getattr(effect, "offset", None)))  # fmt: skip
    return found


def endpoint(chance: random.Random) -> None:
    """A stream leads to the same however it is cut, stops nothing, and stays within bounds."""
    stream = _stream(chance, _new_session())
    if chance.random() < 0.8:
        stream = damaged(chance, stream)
    whole, cut = Endpoint(_new_session()), Endpoint(_new_session())
    expected = whole.receive_data(stream)
    found: list[Effect] = []
    for piece in pieces(chance, stream):
        found += cut.receive_data(piece)
        assert cut.retained_bytes <= RETAINED_BYTES_MAX, "memory grows"
    query = CapabilityQuery(version=1, request_id="afterwards", body=EMPTY)
    # CAN ends whatever was not finished.
    after = b"\x18" + encode_frames(encode_message(query), 1)
    expected += whole.receive_data(after)
    found += cut.receive_data(after)
    assert _told(found) == _told(expected), f"cut otherwise: {stream!r}"
    assert _shown(cut.session) == _shown(whole.session), f"another end: {stream!r}"
    assert not any(isinstance(effect, Stopped) for effect in found), f"stopped: {stream!r}"
    replies = [effect for effect in found if isinstance(effect, Reply)]
    assert replies[-1].message.__struct_config__.tag == "capability.response", f"deaf: {stream!r}"
    for reply in replies:
        assert len(FrameDecoder().receive_data(reply.data)) == 1, f"no frame: {reply}"
