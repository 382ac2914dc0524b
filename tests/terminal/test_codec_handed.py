"""The reference vectors of the protocol, as far as they are about messages."""

import base64
import hashlib
from typing import Any, Final

import pytest

from blockwire.terminal import CapabilityQuery, InvalidMessage
from blockwire.terminal.framing import encode_frames
from tests.suites import handed_vectors
from tests.terminal.streams import check_invalid, check_long, check_valid, payload_of, read

# A row that another rule of ours decides. It demands that nothing is decoded; but a well-formed
# query of another version is told apart from what is invalid, since it is answered otherwise.
OTHER_VERSION: Final = "schema: version 2"


def rows(name: str) -> list[Any]:
    found = [row for row in handed_vectors(name) if row.get("layer") != "framing"]
    return [pytest.param(row, id=row["name"]) for row in found if row["normative"]]


@pytest.mark.parametrize("row", rows("codec_valid.jsonl"))
def test_a_valid_message_is_read_and_written(row: Any) -> None:
    check_valid(row)


@pytest.mark.parametrize("row", rows("codec_valid_large.jsonl"))
def test_a_long_message_is_read_and_written(row: Any) -> None:
    frames = encode_frames(payload_of(row), row["frame_id"])
    assert hashlib.sha256(frames).hexdigest() == row["frames_sha256"]

    check_long(row, frames)


@pytest.mark.parametrize(
    "row", [it for it in rows("codec_invalid.jsonl") if it.id != OTHER_VERSION]
)
def test_an_invalid_message_is_refused_and_named_as_far_as_it_names_itself(row: Any) -> None:
    check_invalid(row, base64.b64decode(row["stream_base64"]))


@pytest.mark.requirement("terminal:message:other-version")
def test_a_query_of_another_version_is_told_apart() -> None:
    [row] = [it for it in rows("codec_invalid.jsonl") if it.id == OTHER_VERSION]

    [message] = read(base64.b64decode(row.values[0]["stream_base64"]))

    assert isinstance(message, CapabilityQuery)
    assert message.version == 2


def test_nesting_that_exhausts_a_stack_is_refused() -> None:
    [row] = [it for it in handed_vectors("codec_invalid_large.jsonl") if it["layer"] == "json"]
    payload = row["payload_prefix"] + "[" * 100_000 + "]" * 100_000 + row["payload_suffix"]

    [error] = read(encode_frames(payload.encode(), 11))

    assert isinstance(error, InvalidMessage)
    assert (error.code, error.identity) == ("nesting_too_deep", None)
