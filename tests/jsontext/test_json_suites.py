"""The public JSON and UTF-8 suites, at our door."""

from typing import Any, Final

import pytest

from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import decode_json, encode_json
from tests.suites import suite_json, suite_path

FILES: Final[list[dict[str, Any]]] = suite_json("json/manifest.json")["files"]
SEQUENCES: Final[list[dict[str, Any]]] = suite_json("utf8/utf8tests.json")["cases"]


def accepts(text: bytes) -> bool:
    """Return whether ``text`` is taken; if so, it must survive being written and read again."""
    try:
        value = decode_json(text)
    except RemoteProtocolError:
        return False
    assert repr(decode_json(encode_json(value))) == repr(value)
    return True


def transform_verdict(file: str) -> str:
    """Return the verdict on a file of test_transform, for which the manifest has none."""
    bad = "same_key" in file or "invalid_codepoint" in file
    return "reject" if bad else "accept"


def test_the_suites_are_whole() -> None:
    assert len(FILES) == 340
    assert len(SEQUENCES) > 100


@pytest.mark.parametrize("row", FILES, ids=lambda row: row["file"])
@pytest.mark.requirement("content:json:refused")
def test_every_file_is_taken_or_refused_as_the_manifest_says(row: dict[str, Any]) -> None:
    taken = accepts((suite_path("json") / row["file"]).read_bytes())
    verdict = row.get("osc9002_json_layer") or transform_verdict(row["file"])
    if verdict != "no_crash":
        assert taken == (verdict == "accept")


@pytest.mark.parametrize("row", SEQUENCES, ids=lambda row: row["id"])
@pytest.mark.parametrize("form", ['"{}"', '{{"{}":1}}', '[{{"a":["{}"]}}]'])
def test_every_byte_sequence_is_taken_in_a_string_if_it_is_valid(
    row: dict[str, Any], form: str
) -> None:
    before, after = form.format("|").encode().split(b"|")
    sequence = bytes.fromhex(row["hex"])
    # Good UTF-8 may still be no JSON string: raw controls are not allowed in one.
    expected = row["valid"] and min(sequence) >= 0x20
    assert accepts(before + sequence + after) == expected
