"""What a program prints, read whole, byte by byte and with what a short script leaves out."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.content import StreamEvent, event_members
from blockwire.engines.output import LINE_BYTES_MAX, EventLines, OutputFormat, ProgramOutput
from blockwire.errors import EngineError
from tests.engines.tools import TURN, CountingIds, fold


def read(*pieces: bytes, output: OutputFormat = "auto") -> list[StreamEvent]:
    reader = ProgramOutput(output, TURN, new_id=CountingIds().new_id)
    seen = [event for piece in pieces for event in reader.receive_data(piece)]
    return [*seen, *reader.receive_eof()]


def read_both_ways(data: bytes, output: OutputFormat = "auto") -> list[dict[str, Any]]:
    """Whole and byte by byte: the same message, and the same events of NDJSON."""
    whole = read(data, output=output)
    in_bytes = read(*(data[i : i + 1] for i in range(len(data))), output=output)
    assert fold(in_bytes) == fold(whole)
    return [dict(event_members(event)) for event in whole]


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


TEXTS: list[tuple[str, bytes, str]] = [
    ("a line", b"Hello\n", "Hello\n"),
    ("no line break", "Grüße".encode(), "Grüße"),
    ("only blanks", b" \n\n", " \n\n"),
    ("blanks first", b"\n\n  Hello", "\n\n  Hello"),
    ("a brace that is no object", b"{hello} world", "{hello} world"),
    ("an object without type", b'{"a": 1}\n{"type": "x"}\n', '{"a": 1}\n{"type": "x"}\n'),
    ("an object with another type", b'{"type": 1}', '{"type": 1}'),
    ("an object over two lines", b'{\n"type": "turn.completed"}\n', '{\n"type": "turn.completed"}\n'),
    ("JSON that is cut", b'{"type": "turn.comp', '{"type": "turn.comp'),
    ("an array", b'[{"type": "x"}]', '[{"type": "x"}]'),
    ("bytes that are no text", b"a\xff\xfeb\xe2\x82", "a\ufffd\ufffdb\ufffd"),
    ("NUL", b"a\x00b", "a\x00b"),
    ("a byte-order mark", b"\xef\xbb\xbfhi", "\ufeffhi"),
    ("a byte-order mark, then an object", b'\xef\xbb\xbf{"a": 1}\n', '\ufeff{"a": 1}\n'),
    ("half a byte-order mark", b"\xef\xbb", "\ufffd"),
]  # fmt: skip


@pytest.mark.requirement("engines:command:format", "engines:command:text")
@pytest.mark.parametrize(("data", "text"), [row[1:] for row in TEXTS], ids=[r[0] for r in TEXTS])
def test_text_becomes_one_prose_block(data: bytes, text: str) -> None:
    events = read_both_ways(data)

    assert events[0]["type"] == "content.block.started"
    assert events[-1]["type"] == "content.block.completed"
    assert "".join(event["text"] for event in events[1:-1]) == text


@pytest.mark.requirement("engines:command:format")
def test_an_event_line_is_text_where_text_is_configured() -> None:
    data = lines({"type": "turn.completed"})

    assert fold(read(data, output="text"))["content"][0]["markdown"] == data.decode()


def test_no_output_is_no_event() -> None:
    assert read(b"") == []
    assert read(b"", output="ndjson") == []


def test_whole_events_pass_as_they_are() -> None:
    events = [
        {"type": "content.block.started", "turn_id": TURN, "block": {"id": "b", "type": "prose", "markdown": ""}},
        {"type": "content.block.delta", "turn_id": TURN, "block_id": "b", "field": "markdown", "text": "Hi"},
        {"type": "content.block.completed", "turn_id": TURN, "block_id": "b"},
        {"type": "turn.completed", "turn_id": TURN, "status": "completed"},
    ]  # fmt: skip

    assert read_both_ways(lines(*events)) == events


def test_what_a_short_script_leaves_out_is_filled_in() -> None:
    events = read_both_ways(
        lines(
            {"type": "content.block.started", "block": {"type": "prose"}},
            {"type": "content.block.delta", "text": "one"},
            {"type": "content.block.started", "block": {"type": "reasoning"}},
            {"type": "content.block.delta", "text": "two"},
            {"type": "content.block.completed"},
            {"type": "content.block.delta", "text": "three"},
            {"type": "content.block.completed"},
            {"type": "turn.completed"},
        ).replace(b"\n", b"\r\n\r\n")
    )

    assert [(e["block_id"], e["field"], e["text"]) for e in events if "text" in e] == [
        ("block_new_1", "markdown", "one"),
        ("block_new_2", "text", "two"),
        ("block_new_1", "markdown", "three"),
    ]
    assert {event["turn_id"] for event in events} == {TURN}
    assert events[-1]["status"] == "completed"


@pytest.mark.parametrize("output", ["auto", "ndjson"])
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_a_byte_order_mark_before_the_first_event_means_nothing(
    output: OutputFormat, end: bytes
) -> None:
    events = read_both_ways(b'\xef\xbb\xbf{"type": "turn.completed"}' + end, output)

    assert [event["type"] for event in events] == ["turn.completed"]


def test_a_last_line_needs_no_line_break() -> None:
    assert read_both_ways(b'{"type": "turn.failed"}')[0]["status"] == "failed"


BAD_LINES: list[tuple[str, bytes]] = [
    ("no JSON", b"oops"),
    ("cut JSON", b'{"type": "turn.'),
    ("a name twice", b'{"type": "turn.completed", "type": "turn.failed"}'),
    ("no object", b"[1]"),
    ("no type", b'{"text": "x"}'),
    ("a missing member", b'{"type": "content.block.delta", "body": "x"}'),
    ("a wrong member", b'{"type": "content.block.started", "block": 7}'),
    ("a status of another word", b'{"type": "turn.completed", "status": "failed"}'),
    ("a block id that is none", b'{"type": "content.block.delta", "block_id": [], "text": "x"}'),
    ("no UTF-8", b'{"type": "x", "text": "\xff"}'),
    ("half a character", b'{"type": "x", "text": "\\ud800"}'),
    ("a key in camelCase", b'{"type": "x", "filePath": 1}'),
]


@pytest.mark.requirement("engines:command:bad-line")
@pytest.mark.parametrize("bad", [row[1] for row in BAD_LINES], ids=[row[0] for row in BAD_LINES])
def test_a_bad_line_is_named_after_the_good_ones_were_read(bad: bytes) -> None:
    good = b'{"type": "content.block.started", "block": {"type": "prose"}}\n\n'
    reader = ProgramOutput("ndjson", TURN, new_id=CountingIds().new_id)
    seen: list[StreamEvent] = []

    with pytest.raises(EngineError) as caught:
        seen.extend(reader.receive_data(good + bad + b"\n" + good))

    assert caught.value.code == "engine_protocol_error"
    assert "Line 3 " in caught.value.detail
    assert len(seen) <= 1


@pytest.mark.requirement("engines:command:line-cap")
@pytest.mark.parametrize("ends_with", [b"", b"\n"])
def test_a_line_beyond_the_bound_is_refused_and_not_kept(ends_with: bytes) -> None:
    reader = EventLines(TURN, new_id=CountingIds().new_id)

    with pytest.raises(EngineError) as caught:
        list(reader.receive_data(b'{"type": "' + b"x" * LINE_BYTES_MAX + ends_with))

    assert caught.value.code == "engine_protocol_error"


@pytest.mark.parametrize("size_bytes", [65_537, 1_048_577, 8_000_000])
def test_a_long_line_within_the_bound_is_read(size_bytes: int) -> None:
    data = lines({"type": "tool.log", "text": "x" * size_bytes})
    pieces = [data[i : i + 65_536] for i in range(0, len(data), 65_536)]

    assert len(event_members(read(*pieces)[0])["text"]) == size_bytes  # type: ignore[arg-type]


def test_a_first_line_that_never_ends_becomes_text_at_the_bound() -> None:
    reader = ProgramOutput("auto", TURN, new_id=CountingIds().new_id)
    data = b'{"' + b"x" * LINE_BYTES_MAX

    assert list(reader.receive_data(data[:-10])) == []
    assert len(list(reader.receive_data(data[-10:]))) == 2


@given(data=st.binary(max_size=200), cut=st.integers(0, 200))
def test_text_does_not_depend_on_how_it_was_cut(data: bytes, cut: int) -> None:
    assert fold(read(data[:cut], data[cut:], output="text")) == fold(read(data, output="text"))


@given(data=st.binary(max_size=200), output=st.sampled_from(["auto", "ndjson", "text"]))
def test_no_bytes_raise_anything_but_an_engine_error(data: bytes, output: OutputFormat) -> None:
    with contextlib.suppress(EngineError):
        read(b"{" + data, data, output=output)
