"""Targets without I/O: each attack makes one input from a seed and asserts what must hold."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any, Final

from blockwire.content import (
    BlockDelta,
    ConversationSnapshot,
    ConversationState,
    Redactor,
    StreamEvent,
    apply,
    check_keys,
    convert_record,
    cut_merged,
    decode_delta_line,
    decode_event,
    encode_event,
    event_members,
)
from blockwire.content.merging import Merged, merge_entries
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import SAFE_INTEGER_MAX, Json, decode_json, encode_json, equal_json
from blockwire.render import MarkdownStream, TerminalLook, markdown_rows
from blockwire.render.incremental import normalise_markdown
from blockwire.sse import SseDecoder, encode_comment, encode_sse
from blockwire.text import clusters, width, wrap
from fuzz.chances import damaged, damaged_json, pieces, text, value

__all__ = ["delta_lines", "events", "json_door", "keys", "markdown", "merging", "redactor", "sse",
           "wrapping"]  # fmt: skip

SSE_RETAINED_EXTRA_BYTES: Final = 64
SSE_EVENT_BYTES: Final = 256
STEPS: Final = 24


def sse(chance: random.Random) -> None:
    """Events of a damaged stream are the same however it is cut, and memory is bounded."""
    stream = b"".join(
        chance.choice(
            (encode_comment(), b"retry: 1\n", b"id\n",
             encode_sse(encode_json(value(chance)), event="a.b", id=str(chance.randint(0, 99))))
        )
        for _ in range(chance.randint(1, 5))
    )  # fmt: skip
    stream = damaged(chance, stream)
    whole = SseDecoder(event_bytes_max=SSE_EVENT_BYTES)
    cut = SseDecoder(event_bytes_max=SSE_EVENT_BYTES)
    expected = whole.receive_data(stream) + whole.receive_eof()
    found: list[Any] = []
    for piece in pieces(chance, stream):
        found += cut.receive_data(piece)
        assert cut.retained_bytes <= SSE_EVENT_BYTES + SSE_RETAINED_EXTRA_BYTES, "memory grows"
    found += cut.receive_eof()
    assert found == expected, f"cut otherwise: {stream!r}"
    assert cut.last_event_id == whole.last_event_id, f"another id: {stream!r}"


def json_door(chance: random.Random) -> None:
    """What the door lets in can be written and read again, and is the same."""
    data = damaged(chance, encode_json(value(chance)))
    try:
        read = decode_json(data)
    except RemoteProtocolError:
        return
    again = decode_json(encode_json(read))
    assert equal_json(read, again), f"not the same: {data!r}"


_STARTS: Final[tuple[dict[str, Json], ...]] = (
    {"id": "b1", "type": "prose", "markdown": ""},
    {"id": "b2", "type": "reasoning", "text": "", "visibility": "private"},
    {"id": "b3", "type": "tool", "tool": "ls", "status": "pending", "input": {}},
    {"id": "b4", "type": "code", "text": ""},
    {"id": "b5", "type": "acme_chart", "data": [1]},
)
_ENDS: Final = ("completed", "failed", "cancelled")


def _told(state: ConversationState) -> bytes:
    """Return all messages of ``state`` as text, to compare."""
    return encode_json([*state.iter_messages()])


def _random_event(chance: random.Random) -> dict[str, Json]:
    turn: dict[str, Json] = {"turn_id": chance.choice(("t1", "t1", "t1", "t2"))}
    block_id = f"b{chance.randint(1, 5)}"
    status = chance.choice(_ENDS)
    options: tuple[dict[str, Json], ...] = (
        {"type": "turn.started", **turn, "role": "assistant", "created_at": 1},
        {"type": "content.block.started", **turn, "block": dict(chance.choice(_STARTS))},
        {"type": "content.block.delta", **turn, "block_id": block_id,
         "field": chance.choice(("markdown", "text")), "text": text(chance)},
        {"type": "content.block.delta", **turn, "block_id": block_id,
         "field": chance.choice(("markdown", "text")), "text": text(chance)},
        {"type": "content.block.updated", **turn, "block_id": block_id,
         "set": {"status": chance.choice(("running", "completed")), "output": value(chance)}},
        {"type": "content.block.completed", **turn, "block_id": block_id},
        {"type": "turn.suspended", **turn, "request": {"id": "r1", "kind": "ask", "prompt": "?"}},
        {"type": "turn.resumed", **turn},
        {"type": f"turn.{status}", **turn, "status": status},
        {"type": "message.created", "message": {
            "id": f"m{chance.randint(1, 3)}", "role": "user", "status": "completed",
            "created_at": 1, "content": [{"id": "b", "type": "prose", "markdown": text(chance)}]}},
        {"type": "acme.news", "x": value(chance)},
    )  # fmt: skip
    return chance.choice(options)


def _script(chance: random.Random, *, damage: float) -> list[StreamEvent]:
    """Return events that follow one another, with numbers; refused ones are left out."""
    state = ConversationState("c")
    script: list[StreamEvent] = []
    for _ in range(STEPS):
        members: Json = _random_event(chance)
        if script and isinstance(last := script[-1], BlockDelta) and chance.random() < 0.7:
            # Neighbours in one block: what streams consist of.
            members = {**event_members(last), "text": text(chance)}
        if chance.random() < damage:
            members = damaged_json(chance, members)
        if isinstance(members, dict):
            seq = state.seq + 1
            members = {**members, "conversation_id": "c", "seq": seq, "prev_seq": seq - 1, "ts": 5}
        before = _told(state)
        try:
            event = decode_event(members)
            after = apply(state, event)
        except RemoteProtocolError:
            assert _told(state) == before, f"a refusal changed: {members!r}"
            continue
        assert _told(state) == before, f"the old state changed: {members!r}"
        again = decode_event(decode_json(encode_event(event)))
        assert again == event, f"not what was written: {members!r}"
        if not isinstance(event, ConversationSnapshot):
            state = after
            script.append(event)
    return script


def events(chance: random.Random) -> None:
    """Events are refused or applied; nothing in between, and repeats change nothing."""
    script = _script(chance, damage=0.3)
    state = ConversationState("c")
    for event in script:
        state = apply(state, event)
        assert apply(state, event) is state, "a repeat changed something"
        assert event_members(event)["seq"] == state.seq, "the cursor is elsewhere"


def merging(chance: random.Random) -> None:
    """Merged deltas make the same state, from the start and from every cursor inside."""
    script = _script(chance, damage=0.0)
    merged = merge_entries(map(Merged, script), chars_max=chance.choice((None, 1, 30)))
    whole = ConversationState("c")
    for event in script:
        whole = apply(whole, event)
    cursor = chance.randint(0, whole.seq)
    part = ConversationState("c")
    for event in script[:cursor]:
        part = apply(part, event)
    for entry in merged:
        rest: StreamEvent | None = entry.event
        if isinstance(rest, BlockDelta):
            rest = cut_merged(rest, entry.pairs, cursor)
        if rest is not None and rest.seq > cursor:
            part = apply(part, rest)
    assert _told(part) == _told(whole), f"cut at {cursor}: {script!r}"


_LINE: Final = (
    b'{"type":"content.block.delta","turn_id":"t1","block_id":"b1","field":"markdown",'
    b'"text":"it.","producer_seq":7}'
)


def delta_lines(chance: random.Random) -> None:
    """The short way to read a line says what the strict reader says, or nothing."""
    line = damaged(chance, _LINE)
    fast = decode_delta_line(line)
    if fast is None:
        return
    strict = decode_json(line)
    assert isinstance(strict, dict), f"no object: {line!r}"
    number = strict.pop("producer_seq")
    assert type(number) is int, f"no integer: {line!r}"
    assert 1 <= number <= SAFE_INTEGER_MAX, f"no number: {line!r}"
    assert (decode_event(strict), number) == fast, f"read otherwise: {line!r}"


def keys(chance: random.Random) -> None:
    """What a door converts obeys the rule, keeps, converted again, every value, or is refused."""
    data = encode_json(value(chance))
    if chance.random() < 0.5:
        data = damaged(chance, data)
    try:
        converted = convert_record(data)
    except RemoteProtocolError:
        return
    check_keys(converted)
    again = convert_record(encode_json(converted))
    assert equal_json(again, converted), f"not stable: {data!r}"


_MARKDOWN: Final = (
    "# ", "## ", "\n", "\n\n", "- ", "1. ", "> ", "```", "```py\n", "~~~\n", "|a|b|\n|-|-|\n|1|2|\n",
    "*", "**", "_", "`", "[a](b)", "![", "<b>", "&amp;", "---\n", "===\n", "    ", "\t", "\\", "word ",
    "two words ", "\u4e2d\u6587", "\U0001f468\u200d\U0001f469", "e\u0301", "\x1b[31m", "\x00", "\r\n",
    "http://x.y ", "2) ", "+ ", "* * *\n", ": ", "$x$", "[^1]", "\u202e",
)  # fmt: skip


def markdown(chance: random.Random) -> None:
    """Rows that a stream gives out are those of the whole text, however it is cut."""
    source = "".join(chance.choices(_MARKDOWN, k=chance.randint(0, 30)))
    look = TerminalLook(chance.choice((1, 8, 20, 80)))
    whole = markdown_rows(normalise_markdown(source), look)
    stream = MarkdownStream(look)
    rows: list[Any] = []
    cuts = sorted(chance.choices(range(len(source) + 1), k=chance.randint(0, 12)))
    for start, end in pairwise([0, *cuts, len(source)]):
        rows += stream.feed(source[start:end]).rows
        assert rows == whole[: len(rows)], f"{look.columns} columns, {cuts}: {source!r}"
    rows += stream.finish().rows
    assert rows == whole, f"{look.columns} columns, {cuts}: {source!r}"


_SECRETS: Final = ("s3cret/value", "another one", "pass\nword of two lines", "\u00e9t\u00e9-key")
_TALE: Final = (
    "Authorization: Bearer ", "api_key=", "sk-ant-", "https://a:b@c.d/e?token=", "/home/x/y.py",
    "Traceback (most recent call last):\n", '  File "/a/b.py", line 3\n', "=", ":", " ", "\n", '"',
    "password", "x" * 30, "AKIA", "eyJ", "-----BEGIN PRIVATE KEY-----\n", "%2F", "\\u00e9", *_SECRETS,
)  # fmt: skip
_REDACTOR: Final = Redactor(_SECRETS)


def redactor(chance: random.Random) -> None:
    """Redacting again changes nothing, and no secret is left whole."""
    tale = "".join(chance.choices((*_TALE, text(chance)), k=chance.randint(0, 60)))
    redacted = _REDACTOR.redact(tale)
    assert _REDACTOR.redact(redacted) == redacted, f"not stable: {tale!r}"
    assert not any(secret in redacted for secret in _SECRETS), f"left: {tale!r}"


def wrapping(chance: random.Random) -> None:
    """Rows joined are the line, and none is wider than it may be."""
    line = text(chance, chance.choice((5, 40, 300)))
    line = "".join(char for char in line if char.isprintable() or char == "\u200d")
    cells = chance.choice((1, 2, 5, 20, 80))
    for mode in ("word", "character"):
        rows = wrap(line, cells, mode=mode)
        assert "".join(rows) == line, f"{mode} {cells}: {line!r}"
        for row in rows:
            drawn = row.rstrip(" ") if mode == "word" else row
            parts = list(clusters(drawn))
            assert width(drawn) <= cells or (len(parts) == 1 and width(parts[0]) > cells), (
                f"{mode} {cells}, too wide: {line!r}"
            )
