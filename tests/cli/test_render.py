"""``blockwire render``: messages from files and pipes to whatever people read."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Final

import pytest

from blockwire.cli import messagefiles
from blockwire.jsontext import Json, encode_json
from tests.cli.conftest import Run
from tests.render.turns import block, message
from tests.support.programs import command, environment

ANSWER: Final = message(
    block("reasoning", text="canary: private thoughts"),
    block("prose", markdown="**bold** ü"),
    provider_data={"key": "canary"},
)
SYSTEM: Final = message(block("prose", markdown="canary: be brief"), role="system", id="msg_0")


def lines(*values: Json) -> bytes:
    return b"".join(encode_json(value) + b"\n" for value in values)


def put(home: Path, data: bytes) -> str:
    path = home / "messages"
    path.write_bytes(data)
    return str(path)


DOCUMENTS: list[tuple[str, bytes]] = [
    ("a message", encode_json(ANSWER)),
    ("a message over several lines", encode_json(ANSWER).replace(b",", b"\n,\n")),
    ("an array", b"\n\n" + encode_json([ANSWER])),
    ("an export", encode_json({"conversation": {"title": "T"}, "messages": [ANSWER]})),
    ("a page of messages", encode_json({"items": [ANSWER], "next_cursor": None})),
    ("a line", lines(ANSWER)),
    ("lines with other lines", lines(
        {"type": "archive.started", "version": 1},
        {"type": "conversation.started", "conversation": {"title": "T", "created_at": 1}},
        {"type": "message", "message": ANSWER}, {"type": "archive.completed"})),
    ("blank lines, and no end", b"\n \n" + encode_json(ANSWER)),
    ("a turn", encode_json({"id": "t", "status": "completed", "message": ANSWER})),
]  # fmt: skip


@pytest.mark.parametrize("data", [row[1] for row in DOCUMENTS], ids=[row[0] for row in DOCUMENTS])
def test_a_message_is_found_wherever_files_hold_it(blockwire: Run, home: Path, data: bytes) -> None:
    ended = blockwire("render", "--width", "80", put(home, data))

    assert (ended.status, ended.out) == (0, "assistant\n\nbold ü\n")


FORMATS: list[tuple[str, str]] = [
    ("text", "== Assistant · 1970-01-01 00:00 UTC ==\n\n**bold** ü\n"),
    ("markdown", "## Assistant\n\n1970-01-01 00:00 UTC\n\n**bold** ü\n"),
    ("html", "<p><strong>bold</strong> ü</p>"),
    ("terminal", "assistant\n\nbold ü\n"),
]


@pytest.mark.parametrize(("name", "expected"), FORMATS)
def test_each_format(blockwire: Run, home: Path, name: str, expected: str) -> None:
    ended = blockwire("render", "--format", name, put(home, lines(ANSWER)))

    assert ended.status == 0
    assert expected in ended.out
    assert (ended.out == expected) == (name != "html")


@pytest.mark.requirement("render:command:public")
@pytest.mark.parametrize("name", [row[0] for row in FORMATS])
def test_what_is_private_needs_to_be_asked_for(blockwire: Run, home: Path, name: str) -> None:
    file = put(home, lines(SYSTEM, ANSWER))
    public = blockwire("render", "--format", name, file)
    owner = blockwire("render", "--format", name, "--view", "owner", file)

    assert "canary" not in public.out
    assert public.err == ("left out as private: 1 message and 1 block; --view owner shows them\n")
    assert owner.out.count("canary") == 2
    assert owner.err == ""


def test_nothing_is_said_of_what_was_not_left_out(blockwire: Run, home: Path) -> None:
    twice = message(block("reasoning", text="a"), block("reasoning", text="b"))
    assert "private: 2 blocks;" in blockwire("render", put(home, lines(twice))).err
    only = blockwire("render", "--format", "markdown", put(home, lines(SYSTEM)))
    assert (only.status, only.out) == (0, "")
    assert "private: 1 message;" in only.err


def test_a_title_is_the_file_s_or_the_one_that_is_given(blockwire: Run, home: Path) -> None:
    export: Json = {"conversation": {"title": "From file", "created_at": 0}, "messages": [ANSWER]}
    file = put(home, encode_json(export))

    shown = blockwire("render", "--format", "markdown", file)
    assert shown.out.startswith("# From file\n\n1970-01-01 00:00 UTC\n\n## Assistant\n")
    given = blockwire("render", "--format", "markdown", "--title", "Given", file)
    assert given.out.startswith("# Given\n\n1970-01-01 00:00 UTC\n\n## Assistant\n")
    odd = put(
        home, encode_json({"conversation": {"title": 1, "created_at": "x"}, "items": [ANSWER]})
    )
    assert blockwire("render", "--format", "markdown", odd).out.startswith("## Assistant\n")


REFUSED: list[tuple[str, bytes, str, str]] = [
    ("nothing", b"", "", "there is no message in it; blockwire show --json prints some [no_messages]"),
    ("an empty list", b"[]", "", "there is no message in it; blockwire show --json prints some [no_messages]"),
    ("other lines only", lines({"type": "archive.started"}), "", "there is no message in it; blockwire show --json prints some [no_messages]"),
    ("no message", b"{}", "", "line 1: id is required (at /id) [missing_member]"),
    ("a number", b"1", "", "line 1: expected a message, which is an object (at /) [invalid_member]"),
    ("a bad message in a list", encode_json({"items": [ANSWER, 1]}), "assistant\n\nbold ü\n",
     "line 1: expected a message, which is an object (at /items/1) [invalid_member]"),
    ("a bad member", encode_json({"message": {**ANSWER, "status": "x"}}), "",
     "line 1: expected one of cancelled, completed, failed, streaming, suspended (at /message/status) [invalid_enum]"),
    ("a bad line", lines(ANSWER) + b"\n{,}\n", "assistant\n\nbold ü\n", "line 3: not JSON at column 2 [invalid_json]"),
    ("a bad document", b"\n{\n  'a'\n}", "", "not JSON at line 3 column 3 [invalid_json]"),
    ("a document that is cut", encode_json(ANSWER)[:40] + b"\n", "", "not JSON"),
]  # fmt: skip


@pytest.mark.requirement("render:command:places")
@pytest.mark.parametrize(("data", "out", "error"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])  # fmt: skip
def test_what_is_no_message_is_named_with_its_place(
    blockwire: Run, home: Path, data: bytes, out: str, error: str
) -> None:
    ended = blockwire("render", put(home, data))

    assert (ended.status, ended.out) == (1, out)
    assert ended.err.startswith(f"blockwire: {error}")


def test_a_file_that_is_not_there(blockwire: Run) -> None:
    ended = blockwire("render", "nowhere")

    assert (ended.status, ended.out) == (1, "")
    assert "[file_unreadable]" in ended.err


@pytest.mark.requirement("render:command:bounded")
def test_a_document_is_bounded_and_lines_are_not(
    blockwire: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messagefiles, "DOCUMENT_BYTES_MAX", 1_000)
    many = blockwire("render", put(home, lines(*[ANSWER] * 20)))
    assert (many.status, many.out.count("bold")) == (0, 20)
    for data in (
        encode_json([ANSWER] * 20),
        encode_json([ANSWER] * 20).replace(b",", b",\n"),
    ):
        ended = blockwire("render", put(home, data))
        assert ended.status == 1
        assert "[document_too_large]" in ended.err


def test_a_person_without_a_file_is_told_how(
    blockwire: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    ended = blockwire("render")

    assert ended.status == 2
    assert "Name a FILE, or pipe messages in." in ended.err


def started(folder: Path, *arguments: str, **changes: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command("render", *arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(folder, **changes),
    )


@pytest.mark.requirement("render:command:streams")
def test_a_line_is_printed_before_the_next_one_comes(tmp_path: Path) -> None:
    with started(tmp_path, "--format", "markdown") as program:
        assert program.stdin is not None
        assert program.stdout is not None
        for number in range(3):
            said = message(block("prose", markdown=f"answer {number}"), id=f"msg_{number}")
            program.stdin.write(lines(said))
            program.stdin.flush()
            shown = b""
            while f"answer {number}\n".encode() not in shown:
                shown += os.read(program.stdout.fileno(), 65_536)
        program.stdin.close()
        assert program.wait() == 0


def test_ctrl_c_ends_it_without_a_word(tmp_path: Path) -> None:
    with started(tmp_path, "--format", "text") as program:
        assert program.stdin is not None
        assert program.stdout is not None
        assert program.stderr is not None
        program.stdin.write(lines(ANSWER))
        program.stdin.flush()
        assert os.read(program.stdout.fileno(), 65_536).startswith(b"== Assistant")
        program.send_signal(signal.SIGINT)
        assert program.wait() == 130
        assert program.stderr.read().strip() == b""


def test_a_reader_who_leaves_ends_it_without_a_word(tmp_path: Path) -> None:
    file = put(tmp_path, lines(*[ANSWER] * 2_000))
    with started(tmp_path, "--format", "html", file) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        os.read(program.stdout.fileno(), 100)
        program.stdout.close()
        assert program.wait() == 141
        assert program.stderr.read() == b""


def test_a_page_is_utf_8_whatever_the_locale_says(tmp_path: Path) -> None:
    file = put(tmp_path, lines(ANSWER))
    with started(tmp_path, "--format", "html", file, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0") as program:  # fmt: skip
        out, _err = program.communicate()
    assert "bold</strong> ü".encode() in out
