"""Frames amid everything else, as vectors have it: ours, which bind readers in any language."""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, Final

import pytest

from blockwire.jsontext import Json, decode_json
from blockwire.terminal.decoder import FrameDecoder
from blockwire.terminal.framing import FrameEvent, Ordinary, Payload, encode_frames
from tests.spec.requirements import stated
from tests.suites import PROJECT
from tests.terminal.frames import cut, merge, single_bytes
from tests.terminal.streams import payload_of
from vectors import generate_terminal_framing
from vectors.generate_terminal_framing import FILES

FOLDER: Final = PROJECT / "vectors" / "terminal"


def rows(name: str, layer: str = "") -> list[Any]:
    lines = (FOLDER / name).read_bytes().splitlines()
    found: list[Any] = [decode_json(line) for line in lines]
    return [pytest.param(row, id=row["name"]) for row in found if layer in row.get("layer", "")]


def read(pieces: Sequence[bytes], probe: bytes = b"") -> tuple[list[Json], list[Json]]:
    """Return what ``pieces`` bring about, and what the end or ``probe`` behind them does."""
    decoder = FrameDecoder()
    events = [event for piece in pieces for event in decoder.receive_data(piece)]
    return spelled(events), spelled(
        decoder.receive_data(probe) if probe else decoder.end_of_stream()
    )


def spelled(events: Iterable[FrameEvent]) -> list[Json]:
    """Return events as the vectors write them."""
    written: list[Json] = []
    for event in merge(events):
        if isinstance(event, Ordinary):
            data = base64.b64encode(event.data).decode()
            written.append({"type": "ordinary", "base64": data})
        elif isinstance(event, Payload):
            message = decode_json(event.data)
            written.append({"type": "message", "frame_id": event.frame_id, "message": message})
        else:
            written.append({"type": "error", "layer": "framing", "class": event.code})
    return written


@pytest.mark.parametrize("row", rows("framing.jsonl", "framing"))
@pytest.mark.requirement(
    "terminal:frame:decimals", "terminal:frame:version", "terminal:frame:base64",
    "terminal:frame:size", "terminal:assembly:table", "terminal:assembly:size",
    "terminal:scan:bare-number", "terminal:scan:bel", "terminal:scan:cancel",
    "terminal:scan:interrupt", "terminal:scan:too-long", "terminal:scan:discard",
    "terminal:scan:recovery", "terminal:end:held",
)  # fmt: skip
def test_a_bad_stream_gives_what_is_left_and_the_next_frame_is_read(row: Any) -> None:
    stream = base64.b64decode(row["stream_base64"])
    expected = row["expected"]
    probe = base64.b64decode(row["probe_appended"]["probe_base64"])

    for pieces in ([stream], single_bytes(stream)):
        assert read(pieces) == (expected["events"], expected["events_at_end_of_stream"])
        events, extra = read(pieces, probe)
        assert (events, extra) == (expected["events"], row["probe_appended"]["extra_events"])


@pytest.mark.parametrize("row", rows("framing.jsonl", "long"))
@pytest.mark.requirement("terminal:assembly:size", "terminal:scan:too-long")
def test_a_long_query_is_read_or_refused(row: Any) -> None:
    stream = generate_terminal_framing.cut(payload_of(row), row["frame_id"])
    assert hashlib.sha256(stream).hexdigest() == row["stream_sha256"]

    assert read([stream]) == (row["expected"]["events"], [])


@pytest.mark.parametrize("row", rows("framing.jsonl", "writing"))
@pytest.mark.requirement("terminal:write:cuts")
def test_a_message_is_written_as_these_frames(row: Any) -> None:
    payload = (row["unit"].encode() * row["payload_bytes"])[: row["payload_bytes"]]

    frames = encode_frames(payload, row["frame_id"])

    assert hashlib.sha256(frames).hexdigest() == row["frames_sha256"]
    assert frames.count(b"\x1b\\") == len(row["frame_sizes"])


@pytest.mark.parametrize("row", rows("framing.jsonl", "input"))
@pytest.mark.requirement("terminal:input:hold", "terminal:input:reply", "terminal:input:at-once")
def test_what_is_typed_comes_out_in_time(row: Any) -> None:
    decoder = FrameDecoder(is_input=True)

    for step in row["steps"]:
        now_s = step["at_ms"] / 1_000
        events = decoder.receive_data(base64.b64decode(step["bytes_base64"]), now_s)
        events += decoder.flush(now_s, is_reply_outstanding=step["is_answer_outstanding"])
        ordinary = b"".join(event.data for event in events if isinstance(event, Ordinary))
        assert ordinary == base64.b64decode(step["ordinary_base64"]), step


@pytest.mark.parametrize("row", rows("mixed_stream.jsonl"))
@pytest.mark.requirement(
    "terminal:scan:transparent", "terminal:scan:any-cut", "terminal:scan:number",
    "terminal:scan:no-c1", "terminal:scan:in-strings",
)  # fmt: skip
def test_a_mixed_stream_is_parted_at_any_cut(row: Any) -> None:
    stream = base64.b64decode(row["stream_base64"])
    expected = row["expected"]

    for cuts in row["splits"]:
        decoder = FrameDecoder()
        events = [event for piece in cut(stream, cuts) for event in decoder.receive_data(piece)]
        assert spelled(events + decoder.end_of_stream()) == (
            expected["events"] + expected["events_at_end_of_stream"]
        )


@pytest.mark.exhaustive
@pytest.mark.parametrize("row", rows("mixed_stream.jsonl"))
@pytest.mark.requirement("terminal:scan:any-cut")
def test_a_mixed_stream_is_parted_at_each_single_cut(row: Any) -> None:
    stream = base64.b64decode(row["stream_base64"])
    expected = row["expected"]["events"] + row["expected"]["events_at_end_of_stream"]

    for place in range(1, len(stream)):
        decoder = FrameDecoder()
        events = decoder.receive_data(stream[:place]) + decoder.receive_data(stream[place:])
        assert spelled(events + decoder.end_of_stream()) == expected, place


@pytest.mark.parametrize("name", FILES)
def test_the_files_are_what_the_program_writes(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == generate_terminal_framing.text_of(name)


def test_each_row_proves_a_requirement_of_the_page_and_all_that_the_wire_shows_are_there() -> None:
    proven = {row.values[0]["requirement"] for name in FILES for row in rows(name)}
    page = "terminal/framing.md"
    demanded = {it for state in stated() if state.page == page for it in state.requirement_ids}
    # What no stream of bytes to a receiver can show, or only all of them together.
    unseen = {
        "terminal:write:adjacent",
        "terminal:write:seven-bit",
        "terminal:write:size",
        "terminal:scan:linear",
        "terminal:scan:bound",
        "terminal:input:output-waits",
        "terminal:frame:silent",
    }

    assert proven == demanded - unseen
