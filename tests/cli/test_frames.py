"""``blockwire frames``: messages to frames, and streams of bytes to what is in them."""

import base64
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from blockwire.conform import load_cases
from blockwire.conform.streams import stream_of
from blockwire.conform.wire import Said, WireReader, encode_message, frames
from tests.cli.conftest import Run
from tests.suites import handed_vectors
from tests.support.programs import WAIT_S, command, command_after, decoded, environment, run

pytestmark = pytest.mark.timeout(120)

QUERY: Final[dict[str, Any]] = {
    "version": 1, "kind": "capability.query", "request_id": "q", "body": {},
}  # fmt: skip
LONG: Final[dict[str, Any]] = {
    "version": 1,
    "kind": "block.update",
    "operation_id": "o",
    "context_id": "c",
    "body": {"block_id": "b", "content": {"type": "text/plain", "data": "漢" * 2_000}},
}


def bytes_of(message: dict[str, Any], frame_id: int = 1) -> bytes:
    return frames(encode_message(message), frame_id)


def found(env: dict[str, str], data: bytes) -> list[dict[str, Any]]:
    ended = run("frames", "decode", "--json", env=env, stdin=data)
    assert (ended.returncode, ended.stderr) == (0, b"")
    return [decoded(line) for line in ended.stdout.splitlines()]


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path)


def test_messages_become_frames_and_frames_messages(env: dict[str, str]) -> None:
    lines = b"\n".join(json.dumps(message).encode() for message in (QUERY, LONG, QUERY))

    encoded = run("frames", "encode", "--frame-id", "2147483647", env=env, stdin=lines + b"\n\n")

    assert (encoded.returncode, encoded.stderr) == (0, b"")
    assert encoded.stdout.count(b"\x1b]9002;1;2147483647;0;0;") == 1
    assert encoded.stdout.count(b"\x1b]9002;1;1;") == 2, "ids wrap, and a long message has frames"
    assert encoded.stdout.count(b"\x1b]9002;1;2;0;0;") == 1
    assert found(env, encoded.stdout) == [{"message": it} for it in (QUERY, LONG, QUERY)]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", "invalid_json"),
        (b"\xff", "invalid_unicode"),
        (b"[]", "not_an_object"),
        (b'{"version":1,"kind":"nothing"}', "unknown_kind"),
        (b'{"version":1,"kind":"capability.query","request_id":"","body":{}}', "invalid_message"),
        (b"x" * (16 * 1024 * 1024 + 1), "document_too_large"),
    ],
    ids=["json", "utf8", "object", "kind", "message", "long"],
)
def test_a_bad_message_ends_it_with_its_line_and_code(
    env: dict[str, str], line: bytes, code: str
) -> None:
    ended = run("frames", "encode", env=env, stdin=json.dumps(QUERY).encode() + b"\n\n" + line)

    assert ended.returncode == 1
    assert found(env, ended.stdout) == [{"message": QUERY}], "what came before is written"
    assert b"line 3: " in ended.stderr
    assert f"[{code}]".encode() in ended.stderr


def test_a_file_is_read_by_its_name(blockwire: Run, tmp_path: Path) -> None:
    messages, recording = tmp_path / "messages", tmp_path / "recording"
    messages.write_text(json.dumps(QUERY), encoding="utf-8")
    recording.write_bytes(bytes_of(QUERY))

    encoded = blockwire("frames", "encode", "--file", str(messages)).out.encode()
    (said,) = WireReader().receive_data(encoded)
    assert isinstance(said, Said)
    assert said.message == QUERY
    assert decoded(blockwire("frames", "decode", "--json", str(recording)).out) == {
        "message": QUERY
    }
    missing = blockwire("frames", "decode", str(tmp_path / "nothing"))
    assert missing.status == 1
    assert "[file_unreadable]" in missing.err


def test_people_are_shown_the_same(blockwire: Run, tmp_path: Path) -> None:
    recording = tmp_path / "recording"
    bad = b"\x1b]9002;1;5;0;2;AAAA\x1b\\"
    nameless = bytes_of({**QUERY, "request_id": ""})
    recording.write_bytes(b"text\x1b[m" + bytes_of(QUERY) + bad + nameless)

    told = blockwire("frames", "decode", str(recording)).out.splitlines()
    listed = blockwire("frames", "inspect", str(recording)).out.splitlines()

    assert told[:2] == [
        "other    text␛[m",
        "message  capability.query request_id=q {}",
    ]
    assert [row.split()[0] for row in told[2:]] == ["error", "error"]
    assert [row.split()[3] for row in listed[:4]] == ["other", "frame", "error", "frame"]
    assert listed[4] == "1 messages, 2 errors, 7 other bytes"


def test_a_stream_is_told_in_its_order(env: dict[str, str]) -> None:
    invalid = {**QUERY, "body": {"x": 1}}
    nameless = {**QUERY, "request_id": ""}
    data = b"".join(
        (
            b"before",
            bytes_of(QUERY),
            b"\x1b[1m",
            bytes_of(invalid),
            bytes_of(nameless),
            b"\x1b]9002;1;1;0;0;!\x1b\\",
            bytes_of(LONG)[:4_200],
        )
    )

    things = found(env, data)

    identity = {"category": "control", "kind": "capability.query", "request_id": "q"}
    assert things[:6] == [
        {"data_base64": base64.b64encode(b"before").decode()},
        {"message": QUERY},
        {"data_base64": base64.b64encode(b"\x1b[1m").decode()},
        {"error": "invalid_message", "identity": identity},
        {"error": "invalid_message", "identity": None},
        {"error": things[5]["error"], "identity": None},
    ]
    assert things[-1].keys() == {"error", "identity"}, "the unfinished message is told at the end"


def test_every_stream_of_the_vectors_is_told_as_they_say(env: dict[str, str]) -> None:
    cases = [
        case
        for case in load_cases()
        if case.file in {"codec_invalid", "mixed_stream"} and "stream_base64" in case.row
    ]
    # One run for all: each is brought to its end by what no frame survives.
    stop, data = b"\x18\x18 \x18", b""
    for case in cases:
        data += stream_of(case.row) + stop

    things = found(env, data)

    expected = [
        event["identity"] if "identity" in event else event.get("message")
        for case in cases
        for event in case.row["expected"]["events"]
        if event.get("identity") or "message" in event
    ]
    told = [thing.get("identity") or thing.get("message") for thing in things]
    assert [it for it in told if it] == [it for it in expected if it]
    assert len(cases) > 400


@pytest.mark.parametrize("file", ["codec_invalid.jsonl", "mixed_stream.jsonl"])
def test_the_handed_streams_are_told_as_they_say(env: dict[str, str], file: str) -> None:
    rows = [row for row in handed_vectors(file) if row["normative"]]
    # Between two rows stands what ends everything: an ordinary byte behind a cancelled string.
    stop = b"\x18\x18 \x18"
    data = b"".join(base64.b64decode(row["stream_base64"]) + stop for row in rows)

    things = found(env, data)

    events = [event for row in rows for event in row["expected"]["events"]]
    identities = [event["identity"] for event in events if event.get("identity")]
    messages = [event["message"] for event in events if "message" in event]
    assert [it["identity"] for it in things if it.get("identity")] == identities
    assert [it["message"] for it in things if "message" in it] == messages


HOSTILE: Final = b"\x1b]0;pwn\x07\x1b[2J\x9b\xc2\x9b31m\r\n" + "\u202e".encode()


@pytest.mark.requirement("terminal:tool:labels")
@pytest.mark.parametrize("arguments", [["decode"], ["inspect"]])
def test_nothing_in_a_recording_acts_on_the_terminal(
    env: dict[str, str], arguments: list[str]
) -> None:
    hostile = HOSTILE.decode("utf-8", "replace")
    named = {**QUERY, "request_id": hostile}
    data = HOSTILE + bytes_of(named) + bytes_of({**named, "kind": hostile}) + HOSTILE

    ended = run("frames", *arguments, env=env, stdin=data)

    assert ended.returncode == 0
    text = ended.stdout.decode()
    assert all(line.isprintable() for line in text.splitlines()), text
    assert "\u202e" not in text
    assert "␛" in text


def test_the_list_says_where_how_long_which_frame_and_what(env: dict[str, str]) -> None:
    data = b"hello" + bytes_of(QUERY, 7) + bytes_of(LONG, 8) + b"\x1b]9002;1;9;0;2;AAAA\x1b\\"

    rows = run("frames", "inspect", env=env, stdin=data).stdout.decode().splitlines()

    assert [" ".join(row.split())[:44] for row in rows[:4]] == [
        "0 5 bytes other hello",
        f"5 {len(bytes_of(QUERY, 7))} bytes frame 7 capability.query request",
        f"{5 + len(bytes_of(QUERY, 7))} {len(bytes_of(LONG, 8))} bytes frame 8 x2 block.update opera"[
            :44
        ],
        " ".join(rows[3].split())[:44],
    ]
    assert " error" in rows[3]
    assert rows[2].endswith("…"), "content is shortened"
    assert rows[4] == "2 messages, 1 errors, 5 other bytes"


TELLS_MEMORY: Final = """
import atexit, resource, sys
atexit.register(lambda: sys.stderr.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)))
"""


@pytest.mark.slow
@pytest.mark.parametrize("action", [("decode", "--json"), ("inspect",)])
def test_large_input_is_read_in_bounded_memory(
    env: dict[str, str], action: tuple[str, ...]
) -> None:
    def peak_kib(count: int) -> int:
        process = subprocess.Popen(
            command_after(TELLS_MEMORY, "frames", *action),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=env,
        )
        assert process.stdin is not None
        assert process.stderr is not None
        piece = b"\x1b]8;;no end" + b"x" * 1_048_565
        for _number in range(count):
            process.stdin.write(piece)
        process.stdin.close()
        told = process.stderr.read()
        process.stderr.close()
        assert process.wait(WAIT_S) == 0
        return int(told)

    assert peak_kib(100) < peak_kib(1) + 20_000


@pytest.mark.parametrize("arguments", [("frames", "decode", "--json"), ("endpoint", "--json")])
def test_ctrl_c_ends_it(env: dict[str, str], arguments: tuple[str, ...]) -> None:
    process = subprocess.Popen(
        command(*arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"x\n")
    process.stdin.flush()
    assert process.stdout.readline(), "it has begun"

    process.send_signal(signal.SIGINT)
    _out, err = process.communicate(timeout=WAIT_S)

    # A shell reads death by SIGINT as 130.
    assert process.returncode in {130, -signal.SIGINT}
    assert err.strip() == b""


def test_a_reader_that_leaves_ends_it(env: dict[str, str]) -> None:
    process = subprocess.Popen(
        command("frames", "decode", "--json"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write(b"x")
    process.stdin.flush()
    assert process.stdout.readline()

    process.stdout.close()
    os.write(process.stdin.fileno(), b"y")
    process.stdin.close()

    assert process.wait(WAIT_S) == 141
    assert process.stderr.read() == b""
    process.stderr.close()
