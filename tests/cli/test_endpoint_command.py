"""``blockwire endpoint``: the vectors of sessions through the command, and lines that are none."""

import base64
import json
import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from blockwire.cli import endpoints
from blockwire.cli.endpoints import DA1_ANSWER, LineEndpoint, answer_terminal
from blockwire.conform import load_cases
from blockwire.conform.wire import Ordinary, Said, WireReader, encode_message, frames
from tests.cli.conftest import Run
from tests.suites import handed_vectors
from tests.support.programs import command, decoded, environment

pytestmark = pytest.mark.timeout(180)

OWN: Final = [case.row for case in load_cases() if case.file == "session"]


class Process:
    """The command, running; a line in gives a line out."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            command("endpoint", "--json"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(folder),
        )

    def ask(self, line: bytes | dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        data = line if isinstance(line, bytes) else json.dumps(line).encode()
        self._process.stdin.write(data + b"\n")
        self._process.stdin.flush()
        value: dict[str, Any] = decoded(self._process.stdout.readline())
        return value

    def close(self) -> None:
        with self._process:
            self._process.kill()

    def end(self) -> tuple[bytes, int]:
        rest, _errors = self._process.communicate(timeout=60)
        return rest, self._process.returncode


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    with closing(Process(tmp_path)) as running:
        yield running


def host_line(step: dict[str, Any]) -> dict[str, Any]:
    return {name: step[name] for name in ("host", "context_id", "block_id") if name in step}


def plain(reply: dict[str, Any]) -> dict[str, Any]:
    """Return a reply without its sentence, which is free."""
    body = {name: value for name, value in reply["body"].items() if name != "message"}
    if "error" in body:
        body["error"] = {"code": body["error"]["code"]}
    return reply | {"body": body}


def with_code(reply: dict[str, Any], code: str) -> dict[str, Any]:
    return reply | {"body": {"code": code}}


def lines_of(row: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for step in row["steps"]:
        if "host" in step:
            yield host_line(step), step
        else:
            data = step.get("bytes_base64")
            if data is None:
                data = base64.b64encode(frames(encode_message(step["send"]["message"]))).decode()
            yield {"bytes_base64": data}, step


class Lines:
    """The same without a process."""

    def __init__(self) -> None:
        self._endpoint = LineEndpoint()
        self._count = 0

    def ask(self, line: bytes | dict[str, Any]) -> dict[str, Any]:
        self._count += 1
        data = line if isinstance(line, bytes) else json.dumps(line).encode()
        answer: dict[str, Any] = decoded(json.dumps(self._endpoint.answer(self._count, data)))
        return answer


def assert_played(row: dict[str, Any], folder: Path) -> None:
    with closing(Process(folder)) as process:
        assert_answers(row, process)
        assert process.end() == (b"", 0)


def assert_answers(row: dict[str, Any], process: Process | Lines) -> None:
    answer = process.ask({"options": row["options"]})
    assert answer == {"replies": [], "data_base64": "", "blocks": []}

    for line, step in lines_of(row):
        answer = process.ask(line)
        codes = step.get("acceptable_codes", ())
        replies = [plain(reply) for reply in answer["replies"]]
        if codes:
            assert [reply["body"]["code"] in codes for reply in replies] == [True]
            replies = [with_code(replies[0], step["out"][0]["body"]["code"])]
        assert replies == step["out"], (row["name"], line)

    assert answer["blocks"] == [
        {
            "context_id": context["id"],
            "block_id": block["id"],
            "type": block["type"],
            "data": block["data"],
            "lifecycle": block["lifecycle"],
            "content_state": block["content_state"],
        }
        for context in row["final_contexts"]
        for block in context["blocks"]
    ]


@pytest.mark.parametrize("row", OWN, ids=lambda row: row["name"])
def test_a_session_is_played_by_lines(row: dict[str, Any]) -> None:
    assert_answers(row, Lines())


@pytest.mark.slow
def test_the_handed_sessions_run_through_the_command(tmp_path: Path) -> None:
    rows = [row for row in handed_vectors("session.jsonl") if row["normative"]]

    for row in rows:
        assert_played(row, tmp_path)

    assert len(rows) > 90


@pytest.mark.slow
def test_our_sessions_run_through_the_command(tmp_path: Path) -> None:
    for row in OWN:
        assert_played(row, tmp_path)


def test_the_endpoint_of_a_terminal_answers_until_the_application_leaves() -> None:
    (source, application), (answers, target) = os.pipe(), os.pipe()
    query = {"version": 1, "kind": "capability.query", "request_id": "q", "body": {}}
    os.write(application, b"text" + frames(encode_message(query)))
    os.close(application)

    answer_terminal(source, target, new_context_id=lambda: "c")

    (said,) = WireReader().receive_data(os.read(answers, 65_536))
    for descriptor in (source, answers, target):
        os.close(descriptor)
    assert isinstance(said, Said)
    listed = ["text/styled", "text/lines"]
    assert said.message["body"] == {"outcome": "supported", "optional_content_types": listed}


def exchange(*written: bytes) -> bytes:
    """Return all that the endpoint of a terminal answers to pieces, read once all are written."""
    (source, application), (answers, target) = os.pipe(), os.pipe()

    def write() -> None:
        with os.fdopen(application, "wb", buffering=0) as file:
            file.writelines(written)

    def answer() -> None:
        answer_terminal(source, target, new_context_id=lambda: "c")
        os.close(target)

    with ThreadPoolExecutor(2) as pool:
        writing, answering = pool.submit(write), pool.submit(answer)
        with os.fdopen(answers, "rb") as file:
            data = file.read()
        writing.result()
        answering.result()
    os.close(source)
    return data


def asked(number: int) -> bytes:
    query = {"version": 1, "kind": "capability.query", "request_id": f"q{number}", "body": {}}
    return frames(encode_message(query))


@pytest.mark.parametrize("request_bytes", [b"\x1b[c", b"\x1b[0c"])
@pytest.mark.parametrize("is_split", [False, True])
@pytest.mark.requirement("terminal:request:attributes")
def test_device_attributes_are_answered_in_their_place(
    request_bytes: bytes, *, is_split: bool
) -> None:
    stream = request_bytes + asked(1) + request_bytes * 2 + b"text\x1b[1m\x1b[1c" + asked(2)
    pieces = [stream[at : at + 1] for at in range(len(stream))] if is_split else [stream]

    data = exchange(*pieces)

    found = [
        item.message["request_id"] if isinstance(item, Said) else item.data
        for item in WireReader().receive_data(data)
        if isinstance(item, Said | Ordinary)
    ]
    joined: list[str | bytes] = []
    for item in found:
        if isinstance(item, bytes) and joined and isinstance(joined[-1], bytes):
            joined[-1] += item
        else:
            joined.append(item)
    assert joined == [DA1_ANSWER, "q1", DA1_ANSWER * 2, "q2"]


@pytest.mark.requirement("terminal:operation:unread")
def test_nothing_more_is_read_before_all_answers_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = (range(3), range(3, 5), range(5, 9))
    pieces = [b"".join(map(asked, some)) for some in numbers]
    taken = bytearray()
    taken_before_reading: list[int] = []

    def read(_source: int, _most: int) -> bytes:
        found = WireReader().receive_data(bytes(taken))
        taken_before_reading.append(sum(isinstance(item, Said) for item in found))
        return pieces.pop(0) if pieces else b""

    def write(_target: int, data: memoryview) -> int:
        taken.extend(data[:7])
        return len(data[:7])

    monkeypatch.setattr(endpoints, "os", SimpleNamespace(read=read, write=write))

    answer_terminal(0, 1, new_context_id=lambda: "c")

    assert taken_before_reading == [0, 3, 5, 9]
    said = [item for item in WireReader().receive_data(bytes(taken)) if isinstance(item, Said)]
    assert [item.message["request_id"] for item in said] == [f"q{n}" for n in range(9)]


BAD_LINES: Final = {
    b"{": "invalid_json",
    b'{"a":1,"a":2}': "duplicate_member",
    b"[]": "invalid_member",
    b"{}": "missing_member",
    b'{"host":"end-of-connection","options":{}}': "missing_member",
    b'{"bytes_base64":"!"}': "invalid_member",
    b'{"bytes_base64":1}': "invalid_member",
    b'{"bytes_base64":"","more":1}': "unknown_field",
    b'{"host":"nobody"}': "invalid_member",
    b'{"host":[]}': "invalid_member",
    b'{"host":"invalidate-context"}': "invalid_member",
    b'{"host":"invalidate-context","context_id":1}': "invalid_member",
    b'{"host":"end-of-connection","context_id":"c"}': "invalid_member",
    b'{"host_prepare":[]}': "invalid_member",
    b'{"host_prepare":{"1":"request_id_conflict"}}': "invalid_member",
    b'{"options":[]}': "invalid_member",
    b'{"options":{"more":1}}': "unknown_field",
    b'{"options":{"complete_baseline_supported":1}}': "invalid_member",
    b'{"options":{"optional_content_types":"text/styled"}}': "invalid_member",
    b'{"options":{"optional_content_types":["text/none"]}}': "unknown_content_type",
    b'{"options":{"optional_content_types":["text/plain"]}}': "content_type_listed_twice",
    b'{"options":{"limits":{"blocks_max":"2"}}}': "invalid_member",
    b'{"options":{"limits":{"nothing_max":2}}}': "invalid_member",
}


@pytest.mark.requirement("terminal:tool:bad-line")
@pytest.mark.parametrize("kind", [Process, Lines])
def test_a_bad_line_is_told_with_its_code_and_number_and_it_goes_on(
    kind: type[Process | Lines], request: pytest.FixtureRequest
) -> None:
    process: Process | Lines = Lines() if kind is Lines else request.getfixturevalue("process")

    for number, (line, code) in enumerate(BAD_LINES.items(), 1):
        answer = process.ask(line)
        assert (answer["error"], answer["line"]) == (code, number), line
        assert answer.keys() == {"error", "detail", "line"}

    # None of them has begun anything: options are still the first good line.
    assert process.ask({"options": {}}) == {"replies": [], "data_base64": "", "blocks": []}
    assert process.ask({"options": {}})["error"] == "options_not_first"
    data = base64.b64encode(b"before\x1b[1mafter").decode()
    assert process.ask({"bytes_base64": data})["data_base64"] == data


def test_a_line_that_is_too_long_is_told_and_it_goes_on(process: Process) -> None:

    assert process.ask(b" " * (16 * 1024 * 1024 + 1))["error"] == "document_too_large"
    assert process.ask({"host_prepare": {}})["blocks"] == []
    assert process.end() == (b"", 0)


def test_the_host_decides_by_operation_id_and_may_fail(process: Process) -> None:
    process.ask({"options": {"host_prepare": {"1": "resource_exhausted"}}})
    process.ask({"host_prepare": {"2": "throw"}})

    def ask(**message: Any) -> dict[str, Any]:
        data = frames(encode_message({"version": 1, **message}))
        return process.ask({"bytes_base64": base64.b64encode(data).decode()})

    opened = ask(kind="context.open", request_id="o", body={})
    assert opened["replies"][0]["context_id"] == "context-1"
    codes, answer = [], opened
    for number in ("1", "2", "3"):
        body = {
            "block_id": "b",
            "lifecycle": "mutable",
            "content": {"type": "text/plain", "data": "x"},
        }
        answer = ask(kind="block.append", operation_id=number, context_id="context-1", body=body)
        codes.append([reply["body"]["code"] for reply in answer["replies"]])

    assert codes == [["resource_exhausted"], ["internal_error"], []]
    assert [block["content_state"] for block in answer["blocks"]] == ["3"]


@pytest.mark.parametrize("flags", [[], ["--json", "--tty"]])
def test_it_wants_to_know_how_it_is_spoken_to(blockwire: Run, flags: list[str]) -> None:
    ended = blockwire("endpoint", *flags)

    assert ended.status == 2
    assert "--json or --tty?" in ended.err
