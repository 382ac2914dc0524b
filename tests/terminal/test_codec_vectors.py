"""Our vectors of messages, which readers in other languages are held to as well."""

import base64
import hashlib
from typing import Any, Final

import pytest

from blockwire.jsontext import ENVELOPED_DEPTH_MAX, decode_json
from blockwire.terminal.framing import encode_frames
from tests.spec.requirements import stated
from tests.suites import PROJECT
from tests.terminal.streams import check_invalid, check_long, check_valid, payload_of
from vectors import generate_terminal_codec
from vectors.generate_terminal_codec import INVALID_FRAME_ID

FOLDER: Final = PROJECT / "vectors" / "terminal"


def rows(name: str) -> list[Any]:
    # A row holds a message, which may nest as deep as one may.
    lines = (FOLDER / name).read_bytes().splitlines()
    found: list[Any] = [decode_json(line, depth_max=ENVELOPED_DEPTH_MAX) for line in lines]
    return [pytest.param(row, id=row["name"]) for row in found]


@pytest.mark.parametrize("row", rows("codec_valid.jsonl"))
@pytest.mark.requirement(
    "terminal:json:free-spelling",
    "terminal:json:any-scalar",
    "terminal:json:integers",
    "terminal:message:closed",
    "terminal:message:ids",
    "terminal:message:unread-data",
    "terminal:message:error-paths",
)
def test_a_valid_message_is_read_and_written(row: Any) -> None:
    check_valid(row)


@pytest.mark.parametrize("row", rows("codec_valid_large.jsonl"))
@pytest.mark.requirement("terminal:message:data")
def test_a_long_message_is_read_and_written(row: Any) -> None:
    frames = encode_frames(payload_of(row), row["frame_id"])
    assert hashlib.sha256(frames).hexdigest() == row["frames_sha256"]

    check_long(row, frames)


@pytest.mark.parametrize("row", rows("codec_invalid.jsonl"))
@pytest.mark.requirement(
    "terminal:json:unicode",
    "terminal:json:grammar",
    "terminal:json:one-object",
    "terminal:json:duplicates",
    "terminal:json:depth",
    "terminal:json:silent",
    "terminal:json:integers",
    "terminal:json:vast-numbers",
    "terminal:message:closed",
    "terminal:message:kinds",
    "terminal:message:opened",
    "terminal:message:version",
    "terminal:message:outcomes",
    "terminal:message:optional-types",
    "terminal:message:scalars",
    "terminal:message:data",
    "terminal:message:fragment",
    "terminal:message:empty-fragment",
    "terminal:message:error-paths",
    "terminal:message:identity",
    "terminal:message:extra-id",
    "terminal:message:nameless",
)
def test_an_invalid_message_is_refused_and_named_as_far_as_it_names_itself(row: Any) -> None:
    error = check_invalid(row, base64.b64decode(row["stream_base64"]))

    assert error.code == row["expected"]["events"][0]["class"]


@pytest.mark.parametrize("row", rows("codec_invalid_large.jsonl"))
@pytest.mark.requirement(
    "terminal:json:depth", "terminal:json:unicode", "terminal:json:vast-numbers"
)
def test_a_long_invalid_message_is_refused(row: Any) -> None:
    stream = encode_frames(payload_of(row), INVALID_FRAME_ID)
    assert hashlib.sha256(stream).hexdigest() == row["stream_sha256"]

    error = check_invalid(row, stream)

    assert error.code == row["expected"]["events"][0]["class"]


@pytest.mark.parametrize("name", generate_terminal_codec.FILES)
def test_the_files_are_what_the_program_writes(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == generate_terminal_codec.text_of(name)


def test_each_row_proves_a_requirement_of_the_pages_and_all_that_the_wire_shows_are_there() -> None:
    proven = {
        row.values[0]["requirement"] for name in generate_terminal_codec.FILES for row in rows(name)
    }
    pages = ("terminal/json.md", "terminal/messages.md")
    demanded = {it for state in stated() if state.page in pages for it in state.requirement_ids}
    # What no stream of bytes to a receiver can show.
    unseen = {
        "terminal:json:not-quoted",
        "terminal:json:written-strictly",
        "terminal:message:other-version",
        "terminal:message:schemas",
        "terminal:message:schemas-agree",
        "terminal:message:schema-exceptions",
    }

    assert proven == demanded - unseen
